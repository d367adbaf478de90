#include "runtime/cuda/internal/RandomFill.h"

#include <algorithm>

#include "runtime/cuda/internal/KernelModules.h"
#include "runtime/program/RandomValues.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

// Value i of RandomValues.h for i = thread, thread + all threads, …; `type` is 0 for f32, 1 for
// f16, 2 for bf16, 3 for the words of two bytes of blocks of `blockBytes`, of which `runs` of
// RandomBlock set bits; the last word may have one byte.
const char* const randomFillPtx = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry tenonFillRandom(
  .param .u64 destinationParam, .param .u64 countParam, .param .u64 seedParam,
  .param .f32 scaleParam, .param .f32 meanParam, .param .u32 typeParam,
  .param .u64 bytesParam, .param .u32 blockBytesParam, .param .u32 runCountParam,
  .param .align 4 .b8 runsParam[64])
{
  .reg .pred %end, %wide, %isF16, %isBlock, %isDone, %isBefore, %isBetween, %isBehind, %isAligned;
  .reg .b16 %half, %upper;
  .reg .b32 %word, %runs, %left, %first, %runStride, %runCount, %bits, %mask, %distance, %other;
  .reg .b64 %blockBytes, %place, %run, %bytes;
  .reg .b32 %block, %blocks, %threads, %thread, %type, %step;
  .reg .b64 %destination, %count, %seed, %i, %stride, %offset, %h, %t;
  .reg .f32 %scale, %mean, %value;

  ld.param.u64 %destination, [destinationParam];
  ld.param.u64 %count, [countParam];
  ld.param.u64 %seed, [seedParam];
  ld.param.f32 %scale, [scaleParam];
  ld.param.f32 %mean, [meanParam];
  ld.param.u32 %type, [typeParam];
  cvta.to.global.u64 %destination, %destination;
  setp.eq.u32 %wide, %type, 0;
  setp.eq.u32 %isF16, %type, 1;
  setp.eq.u32 %isBlock, %type, 3;
  ld.param.u64 %bytes, [bytesParam];
  ld.param.u32 %word, [blockBytesParam];
  cvt.u64.u32 %blockBytes, %word;
  ld.param.u32 %runs, [runCountParam];
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %stride, %blocks, %threads;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %t, %thread;
  add.u64 %i, %i, %t;

NEXT:
  setp.ge.u64 %end, %i, %count;
  @%end bra DONE;
  add.u64 %h, %i, 1;
  mul.lo.u64 %h, %h, 0x9e3779b97f4a7c15;
  add.u64 %h, %h, %seed;
  shr.u64 %t, %h, 30;
  xor.b64 %h, %h, %t;
  mul.lo.u64 %h, %h, 0xbf58476d1ce4e5b9;
  shr.u64 %t, %h, 27;
  xor.b64 %h, %h, %t;
  mul.lo.u64 %h, %h, 0x94d049bb133111eb;
  shr.u64 %t, %h, 31;
  xor.b64 %h, %h, %t;
  shr.u64 %h, %h, 40;
  cvt.u32.u64 %step, %h;
  @%isBlock bra BLOCK;
  sub.s32 %step, %step, 8388608;
  cvt.rn.f32.s32 %value, %step;
  mul.rn.f32 %value, %value, 0f34000000;
  mul.rn.f32 %value, %value, %scale;
  add.rn.f32 %value, %value, %mean;
  @%wide bra STORE32;
  @%isF16 cvt.rn.f16.f32 %half, %value;
  @!%isF16 cvt.rn.bf16.f32 %half, %value;
STORE16:
  shl.b64 %offset, %i, 1;
  add.u64 %offset, %destination, %offset;
  st.global.b16 [%offset], %half;
  bra STEP;
BLOCK:
  shr.u32 %step, %step, 8;
  shl.b64 %offset, %i, 1;
  rem.u64 %place, %offset, %blockBytes;
  cvt.u32.u64 %word, %place;
  mov.u64 %run, runsParam;
  mov.u32 %left, %runs;
RUN:
  setp.eq.u32 %isDone, %left, 0;
  @%isDone bra WORD;
  ld.param.u32 %first, [%run];
  ld.param.u32 %runStride, [%run+4];
  ld.param.u32 %runCount, [%run+8];
  ld.param.u16 %half, [%run+12];
  ld.param.u16 %upper, [%run+14];
  cvt.u32.u16 %bits, %half;
  cvt.u32.u16 %mask, %upper;
  add.u64 %run, %run, 16;
  sub.u32 %left, %left, 1;
  setp.lt.u32 %isBefore, %word, %first;
  @%isBefore bra RUN;
  sub.u32 %distance, %word, %first;
  rem.u32 %other, %distance, %runStride;
  setp.ne.u32 %isBetween, %other, 0;
  @%isBetween bra RUN;
  div.u32 %other, %distance, %runStride;
  setp.ge.u32 %isBehind, %other, %runCount;
  @%isBehind bra RUN;
  and.b32 %bits, %bits, %mask;
  not.b32 %mask, %mask;
  and.b32 %step, %step, %mask;
  or.b32 %step, %step, %bits;
  bra RUN;
WORD:
  cvt.u16.u32 %half, %step;
  or.b64 %t, %destination, %bytes;
  and.b64 %t, %t, 1;
  setp.eq.u64 %isAligned, %t, 0;
  @%isAligned bra STORE16;
  add.u64 %t, %destination, %offset;
  st.global.u8 [%t], %half;
  add.u64 %offset, %offset, 1;
  setp.ge.u64 %isDone, %offset, %bytes;
  @%isDone bra STEP;
  shr.u16 %half, %half, 8;
  st.global.u8 [%t+1], %half;
  bra STEP;
STORE32:
  shl.b64 %offset, %i, 2;
  add.u64 %offset, %destination, %offset;
  st.global.f32 [%offset], %value;
STEP:
  add.u64 %i, %i, %stride;
  bra NEXT;
DONE:
  ret;
}
)";

static constexpr uint32_t threads = 256;
/// Enough blocks for eight on each of the 132 multiprocessors of an H200; threads take turns.
static constexpr uint64_t maxBlocks = 1056;

absl::StatusOr<RandomFill> RandomFill::create(const Device& device) {
  RandomFill fill(device.driver());
  TENON_ASSIGN_OR_RETURN(fill.module, loadModule(device, randomFillPtx, "the random generator"));
  TENON_RETURN_IF_ERROR(fill.driver->check(
      fill.driver->moduleGetFunction(&fill.kernel, fill.module.get(), "tenonFillRandom"),
      "find the random generator"));
  return fill;
}

absl::Status RandomFill::enqueue(const RandomRange& range, const std::string& encoding,
                                 CUdeviceptr destination, CUstream stream) const {
  std::optional<RandomBlock> block = findRandomBlock(encoding, range);
  uint64_t bytes = range.bytes, seed = range.seed;
  uint64_t count = block ? (bytes + 1) / 2 : bytes / randomUnitBytes(encoding);
  float scale = range.scale, mean = range.mean;
  uint32_t type = block ? 3 : encoding == "f32" ? 0 : encoding == "f16" ? 1 : 2;
  static_assert(sizeof(RandomBlock::runs) == 64, "as the kernel's parameter");
  RandomBlock runs = block.value_or(RandomBlock{1, {}, 0});
  void* parameters[] = {&destination, &count, &seed,       &scale,      &mean,
                        &type,        &bytes, &runs.bytes, &runs.count, runs.runs};
  CUlaunchConfig config{};
  config.gridDimX = static_cast<uint32_t>(std::min((count + threads - 1) / threads, maxBlocks));
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = threads;
  config.hStream = stream;
  return driver->check(driver->launchKernelEx(&config, kernel, parameters, nullptr),
                       "make random values");
}

} // namespace tenon::runtime::internal
