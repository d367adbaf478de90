#ifndef TENON_KERNELS_CUDA_DECODERING_H
#define TENON_KERNELS_CUDA_DECODERING_H

#include <algorithm>
#include <cstdint>

namespace tenon::kernels {

/// Keys that a warp of tensor_decode_attention takes at a time.
constexpr int64_t decodeStepKeys = 16;

/// Bytes of shared memory that a step of a warp takes in its ring: 16 keys and values of 16-bit
/// elements, rows of `keySize` and `valueSize` of them, multiples of 8. Rows that are no
/// multiple of 128 bytes are padded so that threads find them in different banks (DecodeKeys in
/// codegen/cuda/device/decode_keys.cuh).
constexpr int64_t decodeStageBytes(int64_t keySize, int64_t valueSize) {
  constexpr int64_t vectorElements = 8, vectorBytes = 16;
  int64_t key = keySize / vectorElements, value = valueSize / vectorElements;
  int64_t keyPitch = key % 8 == 0 ? key : (key + 3) / 8 * 8 + 4;
  int64_t valuePitch = value % 8 == 0 ? value : value | 1;
  return decodeStepKeys * vectorBytes * (keyPitch + valuePitch);
}

/// The same of heads of quants of so many bytes, each after its scale, where rows are an odd number
/// of vectors, so that eight of them lie in banks that differ (DecodeQuants in
/// codegen/cuda/device/decode_quants.cuh).
constexpr int64_t decodeQuantStageBytes(int64_t keyBytes, int64_t valueBytes) {
  constexpr int64_t vectorBytes = 16, scaleBytes = 4;
  int64_t key = (keyBytes + vectorBytes - 1) / vectorBytes | 1;
  int64_t value = (valueBytes + vectorBytes - 1) / vectorBytes | 1;
  return decodeStepKeys * (vectorBytes * (key + value) + 2 * scaleBytes);
}

/// Registers of a thread beside keys, values and sums: what ptxas takes without a limit is 36 to 58
/// (sm_90a, 2 to 16 rows of heads of 64 to 256), and held to 128 in all, heads of 128 take 30 of
/// them and spill none.
constexpr int64_t roomyDecodeRegisters = 64, tightDecodeRegisters = 32;

/// Warps of tensor_decode_attention without a ring that a multiprocessor's `registers` hold, a
/// multiple of 4 and at most 16: a thread has 16 keys and values of 16-bit elements and the values'
/// f32 sums over 32 lanes, and `others` beside them.
constexpr int64_t decodeWarps(int64_t keySize, int64_t valueSize, int64_t registers,
                              int64_t others = roomyDecodeRegisters) {
  constexpr int64_t lanes = 32, unit = 4, most = 16;
  int64_t ofWarp = lanes * (others + (keySize + 2 * valueSize) / 4);
  return std::min(registers / ofWarp / unit * unit, most);
}

/// Whether `threads` of a multiprocessor with `registers` find registers for two sets of 16 keys
/// and values each, used in turn, and 28 beside those and the values' sums, 32 where a row's own
/// length cuts it. ptxas then spills none (sm_90a, 128 registers of a thread: heads of 64 take 124,
/// of 80 127).
constexpr bool fitsTwoDecodeSets(int64_t keySize, int64_t valueSize, int64_t threads,
                                 int64_t registers, bool inParts) {
  int64_t others = inParts ? 32 : 28;
  return threads * (others + (2 * keySize + 3 * valueSize) / 4) <= registers;
}

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_DECODERING_H
