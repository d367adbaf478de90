#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/WeightedVectors.h"
#include "kernels/cuda/ExpertGemv.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// A thread takes `vector` columns of a row and adds its vectors one after the other.
static LogicalResult emitWeightedSum(KernelContext& context) {
  FailureOr<WeightedSumKernel> kernel = context.read<WeightedSumKernel>();
  if (failed(kernel))
    return failure();
  WeightedSumOp op = kernel->op;
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  int64_t vector = kernel->schedule.vector, threads = context.structure.threads;
  int64_t vectors = op.getType().getNumElements() / vector;
  if (!llvm::isPowerOf2_64(vector) || shape[2] % vector != 0)
    return op.emitOpError("expects a vector of a power of two that divides the columns, but got ")
           << vector;
  if (failed(context.expectTiles(llvm::divideCeil(vectors, threads))))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"memory.cuh"};
  std::vector<Access> reads = context.arguments(true);
  llvm::append_range(reads, context.arguments(false));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("const long long place = tile * %d + threadIdx.x;", threads);
  code.openFormat("if (place < %d)", vectors);
  code.format("const long long row = place / %d, column = place %% %d * %d;", shape[2] / vector,
              shape[2] / vector, vector);
  std::string load = absl::StrFormat("loadVector(x, %s + (row * %d + vector) * %d + column);",
                                     context.pointer(op.getInput()), shape[1], shape[2]);
  std::string weight =
      absl::StrFormat("toFloat(%s[row * %d + vector])", context.pointer(op.getWeights()), shape[1]);
  WeightedVectors addends = {shape[1], vector, /*unrolled=*/4, load, weight};
  addends.printSum(code, "sum");
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("storeVector(%s + row * %d + column, sum);", pointer, shape[2]);
  code.close();
  return success();
}

extern constexpr Emitter weightedSum = {WeightedSumKernel::name, emitWeightedSum};

} // namespace tenon::codegen::cuda::emitters
