#ifndef TENON_IR_ATTRIBUTES_H
#define TENON_IR_ATTRIBUTES_H

#include <optional>

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"

#include "ir/TenonEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TenonAttributes.h.inc"

#endif // TENON_IR_ATTRIBUTES_H
