#include "runtime/cuda/internal/AdvanceTokens.h"

#include "runtime/cuda/internal/KernelModules.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

// One block: thread t takes the rows t, t + threads, …
const char* const advanceTokensPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry tenonAdvanceTokens(
  .param .u64 idsParam, .param .u64 positionsParam, .param .u64 nextIdsParam,
  .param .u32 rowsParam)
{
  .reg .pred %end, %active;
  .reg .b32 %row, %threads, %rows, %id, %position;
  .reg .b64 %ids, %positions, %nextIds, %offset, %address;

  ld.param.u64 %ids, [idsParam];
  ld.param.u64 %positions, [positionsParam];
  ld.param.u64 %nextIds, [nextIdsParam];
  ld.param.u32 %rows, [rowsParam];
  cvta.to.global.u64 %ids, %ids;
  cvta.to.global.u64 %positions, %positions;
  cvta.to.global.u64 %nextIds, %nextIds;
  mov.u32 %row, %tid.x;
  mov.u32 %threads, %ntid.x;

NEXT:
  setp.ge.u32 %end, %row, %rows;
  @%end bra DONE;
  mul.wide.u32 %offset, %row, 4;
  add.u64 %address, %nextIds, %offset;
  ld.global.u32 %id, [%address];
  add.u64 %address, %ids, %offset;
  st.global.u32 [%address], %id;
  add.u64 %address, %positions, %offset;
  ld.global.s32 %position, [%address];
  setp.ge.s32 %active, %position, 0;
  @%active add.s32 %position, %position, 1;
  st.global.u32 [%address], %position;
  add.u32 %row, %row, %threads;
  bra NEXT;
DONE:
  ret;
}
)";

absl::StatusOr<AdvanceTokens> AdvanceTokens::create(const Device& device) {
  AdvanceTokens advance(device.driver());
  TENON_ASSIGN_OR_RETURN(advance.module,
                         loadModule(device, advanceTokensPtx, "the kernel between tokens"));
  TENON_RETURN_IF_ERROR(
      advance.driver->check(advance.driver->moduleGetFunction(&advance.kernel, advance.module.get(),
                                                              "tenonAdvanceTokens"),
                            "find the kernel between tokens"));
  return advance;
}

absl::Status AdvanceTokens::enqueue(const TokenPorts& ports, CUstream stream) const {
  TokenPorts values = ports;
  void* parameters[] = {&values.ids, &values.positions, &values.nextIds, &values.rows};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  return driver->check(driver->launchKernelEx(&config, kernel, parameters, nullptr),
                       "start the kernel between tokens");
}

} // namespace tenon::runtime::internal
