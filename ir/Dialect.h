#ifndef TENON_IR_DIALECT_H
#define TENON_IR_DIALECT_H

#include "ir/Attributes.h"
#include "ir/Interfaces.h"
#include "ir/Types.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/TenonDialect.h.inc"

#define GET_OP_CLASSES
#include "ir/TenonOps.h.inc"

#endif // TENON_IR_DIALECT_H
