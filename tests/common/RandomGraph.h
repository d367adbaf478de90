#ifndef TENON_TESTS_COMMON_RANDOMGRAPH_H
#define TENON_TESTS_COMMON_RANDOMGRAPH_H

#include <vector>

#include "absl/status/statusor.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::tests {

/// A module in phase `input` with one function `f`, whose weights are arguments: chains of every
/// kind that fusion rules know (norms, products, residuals, gated units, rope, embeddings,
/// elementwise) over a few rows and odd lengths, in an order and of an element type that the seed
/// chooses. The same on every machine.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> makeRandomGraph(mlir::MLIRContext& context,
                                                                  uint64_t seed);

/// Values for the arguments of `f`, encoded and rounded: about 1 for activations, 1/√(row length)
/// for matrices, valid ids and positions.
std::vector<ReferenceTensor> makeRandomInputs(mlir::ModuleOp graph, uint64_t seed);

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_RANDOMGRAPH_H
