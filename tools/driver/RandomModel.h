#ifndef TENON_TOOLS_DRIVER_RANDOMMODEL_H
#define TENON_TOOLS_DRIVER_RANDOMMODEL_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "ir/encoding/Encoding.h"
#include "support/MappedFile.h"

namespace tenon::tools {

/// The shape of a model, as its GGUF metadata state it. Every field may be overridden.
struct ModelShape {
  std::string_view name;
  /// `llama`, `gptneox`, `qwen3moe` or `gpt-oss`: `general.architecture`.
  std::string_view architecture;
  int64_t layers;
  int64_t hidden;
  int64_t ffn;
  /// Query heads; each has `headSize` elements, where not 0, or hidden / heads.
  int64_t heads;
  /// Key and value heads; the same as `heads` for gptneox.
  int64_t kvHeads;
  int64_t vocabulary;
  int64_t context;
  /// The elements of a head that are rotated, as 1 of `rotaryDivisor`.
  int64_t rotaryDivisor = 1;
  float ropeBase = 10000.0f;
  float normEpsilon = 1e-5f;
  /// Llama 3's frequency scaling (`rope_freqs.weight`), where not 0: frequencies whose wavelength
  /// exceeds the original context of 8192 are divided by this.
  float ropeFactor = 0.0f;
  /// Whether the output layer shares `token_embd.weight`.
  bool tiedOutput = false;
  int64_t headSize = 0;
  /// Of a mixture of experts: how many, how many of them a row chooses, and the FFN of each.
  int64_t experts = 0;
  int64_t chosenExperts = 0;
  int64_t expertFfn = 0;

  /// Elements of a head.
  int64_t headElements() const { return headSize != 0 ? headSize : hidden / heads; }
  bool isGptOss() const { return architecture == "gpt-oss"; }
};

/// `llama-3.2-1b`, `llama-3.1-8b`, `pythia-2.8b`, `qwen3-30b-a3b`, `gpt-oss-20b`.
std::span<const ModelShape> namedModelShapes();
/// The names of the sizes that a shape may be given: `layers`, `hidden`, …
std::vector<std::string> modelShapeFields();
/// The shape that `text` means: a name, and sizes in place of its own, `llama-3.2-1b,layers=2,ffn=512`.
/// NotFound, with the names that there are, where it names none; InvalidArgument for a size that
/// there is not, or that is no number.
absl::StatusOr<ModelShape> findModelShape(const std::string& text);

/// Told how far a long task is: `done` of `total` bytes.
using ProgressCallback = std::function<void(uint64_t done, uint64_t total)>;

/// Writes a GGUF file of that shape with random weights to `path`, for benchmarks and tests of
/// models whose files are too large to keep.
///
/// Matrices are Gaussian with deviation 1/sqrt(inputs) and stored in `encoding`, or in f16 where
/// their rows are no whole blocks of it, as llama.cpp does; of gpt-oss the experts, the others in
/// q8_0 beside mxfp4, as llama.cpp's file type MXFP4_MOE has them, and else in bf16, as its
/// safetensors have them. Norm weights are Gaussian about 1, biases about 0; both stay f32. The tokeniser is a SentencePiece-style vocabulary with byte
/// fallback. The bytes depend on the shape, the encoding and the seed alone, whatever the number
/// of threads; all cores work. Refuses shapes that are no model (heads that do not divide the
/// hidden size, a vocabulary too small for the bytes), naming the field.
absl::Status writeRandomModel(const ModelShape& shape, const Encoding& encoding, uint64_t seed,
                              const std::string& path, const ProgressCallback& progress = nullptr);

/// The file that `writeRandomModel` would write, but with zeros instead of random weights, in
/// memory: for programs whose weights are made when they are loaded. Its path is the shape's name.
absl::StatusOr<std::shared_ptr<const MappedFile>> makeModelMetadata(const ModelShape& shape,
                                                                    const Encoding& encoding);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_RANDOMMODEL_H
