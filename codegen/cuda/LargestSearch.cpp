#include "codegen/cuda/LargestSearch.h"

#include "absl/strings/str_format.h"
#include "kernels/regions/Regions.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

void surroundSearch(KernelContext& context) {
  ArgmaxOp op = findSearch(context.kernel);
  if (!op)
    return;
  PhaseStructure& structure = context.structure;
  int64_t rows = op.getType().getNumElements();
  structure.headers.push_back("largest.cuh");
  structure.declarations.format("__device__ unsigned long long largestKeys[%d];", rows);
  structure.declarations.line("__device__ unsigned largestArrivals;");
  Phase clear = {PhaseKind::Load, {}, {{MemorySpace::Shared, "largest"}}, CodeWriter(1)};
  clear.code.format("__shared__ LargestSearch<%d, %d> largest;", rows, structure.searchers);
  clear.code.line("largest.clear();");
  structure.phases.insert(structure.phases.begin(), std::move(clear));
  std::vector<Access> writes = {{MemorySpace::Scratch, "largestKeys"}};
  for (OpResult result : context.kernel->getResults())
    if (context.kernel.getYield().getValues()[result.getResultNumber()] == op.getResult())
      writes.push_back({MemorySpace::Global, "r" + std::to_string(result.getResultNumber())});
  CodeWriter& code =
      structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "largest"}}, std::move(writes));
  code.openFormat("largest.finish(largestKeys, &largestArrivals, %d, [&](int row, int index)",
                  context.schedule().getTiles());
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[row] = index;", pointer);
  code.close(");");
}

} // namespace tenon::codegen::cuda
