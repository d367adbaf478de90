#ifndef TENON_IR_SCHEDULES_DECODERING_H
#define TENON_IR_SCHEDULES_DECODERING_H

#include <cstdint>

namespace tenon::schedules {

/// Keys that a warp of tensor_decode_attention takes at a time.
constexpr int64_t decodeStepKeys = 16;

/// Bytes of shared memory that a step of a warp takes in its ring: 16 keys and values of 16-bit
/// elements, rows of `keySize` and `valueSize` of them, multiples of 8. Rows that are no
/// multiple of 128 bytes are padded so that threads find them in different banks (DecodeAttention in
/// codegen/cuda/device/decode_attention.cuh).
constexpr int64_t decodeStageBytes(int64_t keySize, int64_t valueSize) {
  constexpr int64_t vectorElements = 8, vectorBytes = 16;
  int64_t key = keySize / vectorElements, value = valueSize / vectorElements;
  int64_t keyPitch = key % 8 == 0 ? key : (key + 3) / 8 * 8 + 4;
  int64_t valuePitch = value % 8 == 0 ? value : value | 1;
  return decodeStepKeys * vectorBytes * (keyPitch + valuePitch);
}

} // namespace tenon::schedules

#endif // TENON_IR_SCHEDULES_DECODERING_H
