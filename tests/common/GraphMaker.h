#ifndef TENON_TESTS_COMMON_GRAPHMAKER_H
#define TENON_TESTS_COMMON_GRAPHMAKER_H

#include <random>

#include "frontends/builder/GraphBuilder.h"
#include "tests/common/RandomGraph.h"

namespace tenon::tests {

/// Rows of the embedding table.
inline constexpr int64_t ids = 50;

/// From this seed on weights are also in groups (`ir/encoding/families`): a smaller seed keeps its
/// graph.
inline constexpr uint64_t firstWithGroups = 1'000'000;
/// From this one on also in E2M1 numbers and in eight groups together.
inline constexpr uint64_t firstWithFp4 = 2'000'000;

/// From this seed on graphs of all operations also have rounding, comparisons and powers, and
/// attention with operands of its scores.
inline constexpr uint64_t firstWithScores = 3'000'000;

/// From this seed on graphs have mixtures of experts.
inline constexpr uint64_t firstWithExperts = 4'000'000;

/// From this seed on graphs with attention are streams: their caches are rings.
inline constexpr uint64_t firstWithStreams = 5'000'000;

/// From this seed on graphs of all operations gather and scatter, and have windows, sums of what
/// stands before and remainders.
inline constexpr uint64_t firstWithIndexed = 6'000'000;

/// From this seed on graphs of all operations have integers of 32 and 64 bits, bools, and attention
/// whose weights are a result.
inline constexpr uint64_t firstWithIntegers = 7'000'000;

/// From this seed on rows of attention may be chunks of several sequences, and the largest results of rows
/// choices that verify guesses.
inline constexpr uint64_t firstWithChunks = 10'000'000;

/// From this seed on products may take their inputs in another order.
inline constexpr uint64_t firstWithOrders = 11'000'000;

/// Positions that a stream may be at.
inline constexpr int64_t streamPositions = int64_t(1) << 30;

/// More rows than kernels of a few rows take are consecutive tokens of one sequence, as in prefill;
/// fewer are tokens of a sequence each, as in decode.
inline constexpr int64_t mostDecodeRows = 16;

/// Draws the operations of a random graph (`makeRandomGraph`).
class GraphMaker {
public:
  GraphMaker(mlir::MLIRContext& context, uint64_t seed, GraphOps ops)
      : random(seed), hasAll(ops == GraphOps::All), hasGroups(seed >= firstWithGroups),
        hasFp4(seed >= firstWithFp4), hasScores(hasAll && seed >= firstWithScores),
        hasExperts(seed >= firstWithExperts),
        isStream(seed >= firstWithStreams && seed < firstWithIndexed),
        hasIndexed(hasAll && seed >= firstWithIndexed),
        hasIntegers(hasAll && seed >= firstWithIntegers), hasChunks(seed >= firstWithChunks),
        hasOrders(seed >= firstWithOrders), builder(context, activationType(context)) {}

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> make();

private:
  mlir::Type activationType(mlir::MLIRContext& context) {
    constexpr const char* names[] = {"f32", "f16", "bf16"};
    return getElementType(&context, *findEncoding(names[upTo(3)]));
  }
  /// A number in [0, count).
  int64_t upTo(int64_t count) { return static_cast<int64_t>(random() % count); }
  bool oneIn(int64_t count) { return upTo(count) == 0; }
  int64_t oneOf(std::initializer_list<int64_t> list) { return *(list.begin() + upTo(list.size())); }
  mlir::MLIRContext* context() const { return builder.getActivationType().getContext(); }
  mlir::Type i32() { return mlir::IntegerType::get(context(), 32); }
  mlir::Type i64() { return mlir::IntegerType::get(context(), 64); }
  mlir::Type truth() { return mlir::IntegerType::get(context(), 1); }
  frontends::Value argument(llvm::ArrayRef<int64_t> shape, mlir::Type type = {},
                            const std::string& prefix = "a") {
    return builder.input(prefix + std::to_string(arguments++), shape, type);
  }
  int64_t widthOf(frontends::Value value) { return value.getShape().back(); }
  mlir::Type weightType(int64_t depth);
  mlir::Type groupType(int64_t depth);
  frontends::Value first(int64_t width);
  frontends::Value norm(frontends::Value x);
  frontends::Value unary(frontends::Value x);
  frontends::Value binary(frontends::Value x);
  frontends::Value elements(frontends::Value x);
  frontends::Value matmul(frontends::Value x, int64_t width);
  frontends::Value gated(frontends::Value x);
  frontends::Value mixture(frontends::Value x);
  frontends::Value swapped(frontends::Value x);
  frontends::Value onePlus(frontends::Value x);
  frontends::Value otherUnary(frontends::Value x);
  frontends::Value otherBinary(frontends::Value x);
  frontends::Value stepped(frontends::Value x);
  frontends::Value indexed(frontends::Value x);
  frontends::Value masked(frontends::Value x);
  frontends::Value counted(frontends::Value x);
  frontends::Value weighed(frontends::Value x);
  frontends::Value integers(frontends::Value x);
  frontends::AttentionOptions scored(frontends::AttentionOptions options, int64_t queries);
  frontends::Value moved(frontends::Value x);
  frontends::Value dequantized(frontends::Value x);
  frontends::Value other(frontends::Value x);
  void addSelection(frontends::Value x);
  void add(frontends::Value value) { builder.output("y" + std::to_string(outputs++), value); }
  frontends::Value attention(frontends::Value x);
  frontends::Value block(frontends::Value x);
  frontends::Value next(frontends::Value x);
  frontends::Value heads(frontends::Value x, int64_t count, int64_t size, bool normed,
                         int64_t views = 1);
  frontends::Value rotated(frontends::Value x, frontends::Value positions);
  frontends::StateValue written(frontends::Value values);
  void finish(frontends::Value x);

  std::mt19937_64 random;
  bool hasAll;     ///< operations
  bool hasGroups;  ///< weights
  bool hasFp4;     ///< among them
  bool hasScores;  ///< operands of attention's scores, and what came with them
  bool hasExperts; ///< mixtures of them
  bool isStream;
  bool hasIndexed;  ///< elements chosen by index, and what came with them
  bool hasIntegers; ///< and bools, and weights of attention
  bool hasChunks;   ///< of several sequences, and guesses
  bool hasOrders;   ///< of products' inputs
  frontends::GraphBuilder builder;
  int arguments = 0, states = 0, outputs = 0;
  int64_t rows = 1, capacity = 24;
  bool areChunks = false;                      ///< the rows, once an attention needs them
  frontends::Value rowSequences, rowPositions; ///< once an attention needs them
  int64_t kept = 0;                            ///< of a ring
  std::vector<frontends::Value> pool;          ///< values [rows, width]
};

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_GRAPHMAKER_H
