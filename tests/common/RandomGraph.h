#ifndef TENON_TESTS_COMMON_RANDOMGRAPH_H
#define TENON_TESTS_COMMON_RANDOMGRAPH_H

#include <vector>

#include "absl/status/statusor.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::tests {

/// Which operations a random graph has: those of language models, or every one of the dialect, with
/// heads of other sizes, attention without a mask, and, for some seeds, activations of 8 bits.
enum class GraphOps { Models, All };

/// A module in phase `input` with one function `f`, whose weights are arguments: chains of every
/// kind that fusion rules know (norms, products, residuals, gated units, rope, embeddings,
/// elementwise) over a few rows and odd lengths, in an order and of an element type that the seed
/// chooses. The same on every machine. From seed 1,000,000 on a third of the weights that can are in
/// groups of integers or of E4M3 numbers; from 4,000,000 on there are mixtures of experts, from
/// 5,000,000 to 6,000,000 caches are rings, and from 7,000,000 on graphs of all operations have
/// integers and bools; from 10,000,000 on rows of attention may be chunks of several sequences, and rows guesses.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
makeRandomGraph(mlir::MLIRContext& context, uint64_t seed, GraphOps ops = GraphOps::Models);

/// What the arguments of a call are, beside the usual: about 1 for activations, 1/√(row length) for
/// matrices, valid ids, sequences and positions.
enum class InputValues {
  Usual,
  WildIndices,  ///< ids, sequences and positions at and beyond both ends of their ranges
  SpecialFloats ///< one number in sixteen is NaN, infinite, zero, denormal or an extreme
};

/// Values for the arguments of `f`, encoded and rounded.
std::vector<ReferenceTensor> makeRandomInputs(mlir::ModuleOp graph, uint64_t seed,
                                              InputValues values = InputValues::Usual);

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_RANDOMGRAPH_H
