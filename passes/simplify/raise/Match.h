#ifndef TENON_PASSES_SIMPLIFY_RAISE_MATCH_H
#define TENON_PASSES_SIMPLIFY_RAISE_MATCH_H

#include <optional>

#include "ir/Dialect.h"

/// What an expression of elementwise operations and reductions means, however it is written.
namespace tenon::passes::raise {

/// The number that all elements of a constant are, through reshapes.
std::optional<double> splatOf(mlir::Value value);

/// A product: `factor` times each of `values`, through `tenon.mul`, `scale`, `neg` and divisions by
/// constants. A value that other operations read, too, is not taken apart.
struct Product {
  double factor = 1;
  llvm::SmallVector<mlir::Value, 4> values;
};
Product productOf(mlir::Value value);

/// `value` + `constant`, whichever side.
struct Sum {
  mlir::Value value;
  double constant;
};
std::optional<Sum> sumOf(mlir::Value value);

/// x where `value` is the mean of x over its innermost axis; null elsewhere.
mlir::Value meanOf(mlir::Value value);

/// x where `value` is x²; null elsewhere.
mlir::Value squareOf(mlir::Value value);

/// Whether both are the same value, or the same pure operation on the same values.
bool isSame(mlir::Value lhs, mlir::Value rhs);

/// Whether `value` is `expected`, but for its rounding to f32 or less digits in the text.
bool isNear(double value, double expected);

} // namespace tenon::passes::raise

#endif // TENON_PASSES_SIMPLIFY_RAISE_MATCH_H
