#include "runtime/cuda/internal/AdvanceTokens.h"

#include "runtime/cuda/internal/KernelModules.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

// One block: thread t takes the rows t, t + threads, … An entry of the ring is stored at once, so that
// who finds the number of its step there finds the id too.
const char* const advanceTokensPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry tenonAdvanceTokens(
  .param .u64 idsParam, .param .u64 positionsParam, .param .u64 nextIdsParam,
  .param .u64 ringParam, .param .u64 stepsParam, .param .u64 nextPositionsParam,
  .param .u64 tokensParam, .param .u32 rowsParam, .param .u32 slotsParam)
{
  .reg .pred %end, %active, %first, %given;
  .reg .b32 %row, %threads, %rows, %id, %position, %step, %slot, %slots;
  .reg .b64 %ids, %positions, %nextIds, %ring, %steps, %offset, %address, %entry;
  .reg .b64 %nextPositions, %tokens;

  ld.param.u64 %ids, [idsParam];
  ld.param.u64 %positions, [positionsParam];
  ld.param.u64 %nextIds, [nextIdsParam];
  ld.param.u64 %ring, [ringParam];
  ld.param.u64 %steps, [stepsParam];
  ld.param.u32 %rows, [rowsParam];
  ld.param.u32 %slots, [slotsParam];
  ld.param.u64 %nextPositions, [nextPositionsParam];
  ld.param.u64 %tokens, [tokensParam];
  setp.ne.u64 %given, %nextPositions, 0;
  cvta.to.global.u64 %nextPositions, %nextPositions;
  cvta.to.global.u64 %tokens, %tokens;
  cvta.to.global.u64 %ids, %ids;
  cvta.to.global.u64 %positions, %positions;
  cvta.to.global.u64 %nextIds, %nextIds;
  cvta.to.global.u64 %ring, %ring;
  cvta.to.global.u64 %steps, %steps;
  mov.u32 %row, %tid.x;
  mov.u32 %threads, %ntid.x;
  setp.eq.u32 %first, %row, 0;

  ld.global.u32 %step, [%steps];
  bar.sync 0;
  rem.u32 %slot, %step, %slots;
  mul.lo.u32 %slot, %slot, %rows;
  add.u32 %step, %step, 1;
  @%first st.global.u32 [%steps], %step;

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
  add.u64 %entry, %nextPositions, %offset;
  @%given ld.global.s32 %position, [%entry];
  st.global.u32 [%address], %position;
  add.u64 %address, %tokens, %offset;
  ld.global.u32 %id, [%address];
  add.u32 %position, %slot, %row;
  mul.wide.u32 %offset, %position, 8;
  add.u64 %address, %ring, %offset;
  mov.b64 %entry, {%id, %step};
  st.relaxed.sys.global.u64 [%address], %entry;
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

absl::Status AdvanceTokens::enqueue(const TokenPorts& ports, const TokenRing& ring,
                                    CUstream stream) const {
  TokenPorts values = ports;
  CUdeviceptr entries = ring.entries(), steps = ring.steps();
  uint32_t slots = TokenRing::slots;
  void* parameters[] = {&values.ids,           &values.positions, &values.nextIds, &entries, &steps,
                        &values.nextPositions, &values.tokens,    &values.rows,    &slots};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  return driver->check(driver->launchKernelEx(&config, kernel, parameters, nullptr),
                       "start the kernel between tokens");
}

} // namespace tenon::runtime::internal
