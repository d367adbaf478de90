#ifndef TENON_IR_VIEWS_H
#define TENON_IR_VIEWS_H

#include "mlir/IR/Value.h"

namespace tenon {

/// True for an operation of a function body whose result is its operand's bytes, unmoved.
bool isView(mlir::Operation* op);
/// The value whose bytes `value` shows: follows views to a kernel result, an argument, a weight, a
/// state or a constant.
mlir::Value getViewSource(mlir::Value value);

} // namespace tenon

#endif // TENON_IR_VIEWS_H
