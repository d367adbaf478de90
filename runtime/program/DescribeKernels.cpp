#include "runtime/program/DescribeKernels.h"

namespace tenon::runtime {

static void describeBy(const Step& step, Kernel& kernel) {
  kernel.tiles = step.tiles;
  kernel.args.clear();
  for (const BufferRef& ref : step.args) {
    bool isReadOnly = ref.space == Space::Constant || ref.space == Space::Input;
    kernel.args.push_back({ref.bytes, isReadOnly ? Access::Read : Access::ReadWrite});
  }
}

void describeKernelsBySteps(Program& program) {
  std::vector<bool> isDescribed(program.kernels.size());
  for (const Function& function : program.functions)
    for (const Step& step : function.steps)
      if (step.kernel < isDescribed.size() && !isDescribed[step.kernel]) {
        describeBy(step, program.kernels[step.kernel]);
        isDescribed[step.kernel] = true;
      }
}

} // namespace tenon::runtime
