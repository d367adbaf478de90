#include <algorithm>
#include <numeric>

#include "ir/SharedPercent.h"
#include "passes/Passes.h"
#include "passes/memory/Liveness.h"
#include "passes/memory/VerifyPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"

namespace {

/// Offsets are multiples of this: what `cudaMalloc` promises, and more than any vector load or
/// cache line of a CPU needs.
constexpr int64_t bufferAlignment = 256; // bytes

/// Places results in one workspace, "greedy by size" (Pisarchyk and Lee 2020, arXiv 2001.03288):
///
/// 1. Take the results in descending order of bytes, in program order among equals.
/// 2. Among those already placed that live at the same time, walk up in order of offset and take
///    the lowest gap that is large enough.
///
/// Example: results a (64 bytes, steps 0–1), b (64, 1–2), c (64, 2–3): a at 0, b at 256 beside it,
/// c at 0 again, because a is dead.
class WorkspacePlanner {
public:
  explicit WorkspacePlanner(std::vector<LiveResult> results) : results(std::move(results)) {}

  void run() {
    std::vector<size_t> order(results.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t a, size_t b) {
      return results[a].bytes != results[b].bytes ? results[a].bytes > results[b].bytes : a < b;
    });
    offsets.resize(results.size());
    for (size_t index : order)
      place(index);
  }

  llvm::ArrayRef<LiveResult> getResults() const { return results; }
  int64_t getOffset(size_t index) const { return offsets[index]; }
  int64_t getWorkspaceBytes() const { return workspaceBytes; }

private:
  void place(size_t index) {
    const LiveResult& result = results[index];
    int64_t offset = 0;
    for (size_t other : placedByOffset) {
      const LiveResult& placed = results[other];
      if (placed.firstStep > result.lastStep || placed.lastStep < result.firstStep)
        continue;
      if (offset + result.bytes <= offsets[other])
        break;
      int64_t end = offsets[other] + placed.bytes;
      offset = std::max(offset, llvm::divideCeilSigned(end, bufferAlignment) * bufferAlignment);
    }
    offsets[index] = offset;
    workspaceBytes = std::max(workspaceBytes, offset + result.bytes);
    auto above = llvm::upper_bound(placedByOffset, offset, [&](int64_t value, size_t other) {
      return value < offsets[other];
    });
    placedByOffset.insert(above, index);
  }

  std::vector<LiveResult> results;
  std::vector<int64_t> offsets;
  std::vector<size_t> placedByOffset;
  int64_t workspaceBytes = 0;
};

/// Refuses results whose sizes, each rounded up to the alignment, add up to more than an offset can
/// say: what is planned below cannot overflow.
static LogicalResult checkTotal(func::FuncOp function, llvm::ArrayRef<LiveResult> results) {
  int64_t total = 0;
  for (const LiveResult& result : results)
    if (llvm::AddOverflow(total, result.bytes, total) ||
        llvm::AddOverflow(total, bufferAlignment, total))
      return function.emitOpError("expects results of less than 2^63 bytes in all, but got more");
  return success();
}

/// Notes the share of shared memory that the target gives to functions of one row.
static void grantSharedMemory(func::FuncOp function) {
  auto entry = function->getAttrOfType<EntryAttr>(TenonDialect::entryAttrName);
  auto target = function->getParentOp()->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  if (!entry || entry.getRows() != 1 || !target)
    return;
  if (std::optional<int64_t> percent = target.getProperty("one_row_shared_percent"))
    function->setAttr(sharedPercentAttrName,
                      Builder(function.getContext()).getI64IntegerAttr(*percent));
}

class PlanMemoryPass : public impl::PlanMemoryPassBase<PlanMemoryPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Builder builder(&getContext());
    WorkspacePlanner planner(computeLiveness(function));
    if (failed(checkTotal(function, planner.getResults())))
      return signalPassFailure();
    planner.run();
    for (auto kernel : function.getOps<KernelOp>()) {
      llvm::SmallVector<Attribute> buffers(kernel.getNumResults(), builder.getUnitAttr());
      kernel.setBuffersAttr(builder.getArrayAttr(buffers));
    }
    for (auto [index, live] : llvm::enumerate(planner.getResults())) {
      KernelOp kernel = live.kernel;
      llvm::SmallVector<Attribute> buffers(kernel.getBuffersAttr().getValue());
      buffers[live.result] = BufferAttr::get(&getContext(), planner.getOffset(index), live.bytes);
      kernel.setBuffersAttr(builder.getArrayAttr(buffers));
    }
    function->setAttr(TenonDialect::workspaceAttrName,
                      builder.getI64IntegerAttr(planner.getWorkspaceBytes()));
    grantSharedMemory(function);
    if (failed(verifyPlan(function)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tenon::passes
