#include "passes/Passes.h"

#include "passes/relax/DeferNorms.h"
#include "passes/schedule/ScheduleKernels.h"

namespace tenon::passes {

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

void registerPasses() {
  registerTenonPasses();
  registerTenonSchedulePasses();
  registerDeferNormsPass();
}

} // namespace tenon::passes
