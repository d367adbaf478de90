#include "passes/memory/VerifyPlan.h"

#include "ir/Dialect.h"
#include "passes/Passes.h"
#include "passes/memory/Liveness.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_VERIFYPLANPASS
#include "passes/Passes.h.inc"

static LogicalResult verifyKernels(func::FuncOp function) {
  for (auto kernel : function.getOps<KernelOp>()) {
    if (!kernel.getScheduleAttr())
      return kernel.emitOpError("expects a schedule in a planned function");
    if (!kernel.getBuffersAttr())
      return kernel.emitOpError("expects buffers in a planned function");
  }
  return success();
}

static BufferAttr getBuffer(const LiveResult& live) {
  return llvm::dyn_cast<BufferAttr>(KernelOp(live.kernel).getBuffersAttr().getValue()[live.result]);
}

/// Buffers stand exactly at the results that live in the workspace, and inside it.
static LogicalResult verifyPlaces(func::FuncOp function, llvm::ArrayRef<LiveResult> results) {
  auto workspace = function->getAttrOfType<IntegerAttr>(TenonDialect::workspaceAttrName);
  if (!workspace || workspace.getInt() < 0)
    return function.emitOpError("expects its bytes of workspace as '")
           << TenonDialect::workspaceAttrName << "' in a planned module";
  size_t places = 0;
  for (auto kernel : function.getOps<KernelOp>())
    places += llvm::count_if(kernel.getBuffersAttr(), llvm::IsaPred<BufferAttr>);
  for (const LiveResult& live : results) {
    KernelOp kernel = live.kernel;
    BufferAttr buffer = getBuffer(live);
    if (!buffer)
      return kernel.emitOpError("expects a buffer for result #") << live.result;
    if (buffer.getOffset() + buffer.getBytes() > workspace.getInt())
      return kernel.emitOpError("expects buffers inside the workspace of ")
             << workspace.getInt() << " bytes, but got " << buffer;
  }
  if (places != results.size())
    return function.emitOpError("expects no buffer for states and outputs, but got ")
           << places << " buffers for " << results.size() << " results that need one";
  return success();
}

LogicalResult verifyPlan(func::FuncOp function) {
  if (failed(verifyKernels(function)))
    return failure();
  std::vector<LiveResult> results = computeLiveness(function);
  if (failed(verifyPlaces(function, results)))
    return failure();
  // A sweep over the steps: only results in use at the same time are compared.
  std::vector<const LiveResult*> inUse;
  for (const LiveResult& live : results) {
    llvm::erase_if(inUse,
                   [&](const LiveResult* other) { return other->lastStep < live.firstStep; });
    BufferAttr buffer = getBuffer(live);
    for (const LiveResult* other : inUse) {
      BufferAttr taken = getBuffer(*other);
      bool disjoint = buffer.getOffset() + buffer.getBytes() <= taken.getOffset() ||
                      taken.getOffset() + taken.getBytes() <= buffer.getOffset();
      if (disjoint)
        continue;
      KernelOp kernel = live.kernel;
      return (kernel.emitOpError("expects a buffer of its own for result #")
              << live.result << ", but " << buffer << " overlaps " << taken)
                 .attachNote(KernelOp(other->kernel).getLoc())
             << "result #" << other->result << " of this kernel is still in use";
    }
    inUse.push_back(&live);
  }
  return success();
}

namespace {

class VerifyPlanPass : public impl::VerifyPlanPassBase<VerifyPlanPass> {
public:
  void runOnOperation() override {
    if (!getOperation().isExternal() && failed(verifyPlan(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace tenon::passes
