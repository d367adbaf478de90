#ifndef TENON_BENCH_CPU_LOADEDMODEL_H
#define TENON_BENCH_CPU_LOADEDMODEL_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/cpu/CpuExecutor.h"

namespace tenon::bench {

/// The rows of the prefill function of a loaded model.
inline constexpr int64_t prefillRows = 64;

/// The positions that a loaded model's caches hold.
inline constexpr int64_t contextLength = 1024;

/// A model file compiled for this machine with one-row decode and prefill of `prefillRows`.
class LoadedModel {
public:
  /// `activations` as `--activations` names them.
  static absl::StatusOr<LoadedModel> load(const std::string& path, const std::string& activations,
                                          int threads);

  /// Feeds one token; returns the greedy next one.
  absl::StatusOr<int32_t> decode(int32_t id, int32_t position);
  /// Feeds `prefillRows` tokens from position 0 on; returns the greedy token after the last.
  absl::StatusOr<int32_t> prefill(std::span<const int32_t> ids);

  /// Bytes of weights that a decode step reads.
  int64_t decodeBytes() const { return weightBytes; }
  int64_t vocabulary() const { return static_cast<int64_t>(logits.size()); }
  /// The logits of the last call.
  std::span<const float> lastLogits() const { return logits; }

private:
  std::unique_ptr<runtime::CpuExecutor> executor;
  size_t decodeFunction = 0, prefillFunction = 0;
  int64_t weightBytes = 0;
  std::vector<float> logits;
};

} // namespace tenon::bench

#endif // TENON_BENCH_CPU_LOADEDMODEL_H
