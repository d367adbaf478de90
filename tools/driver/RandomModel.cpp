#include "tools/driver/RandomModel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "frontends/gguf/GgufWriter.h"
#include "ir/encoding/BlockFormat.h"
#include "support/Status.h"
#include "tools/driver/internal/RandomTensors.h"
#include "tools/driver/internal/RandomWeights.h"
#include "tools/driver/internal/SyntheticVocabulary.h"

namespace tenon::tools {

using frontends::GgufWriter;

// From the config.json of meta-llama/Llama-3.2-1B, meta-llama/Llama-3.1-8B, EleutherAI/pythia-2.8b,
// Qwen/Qwen3-30B-A3B and openai/gpt-oss-20b.
static constexpr ModelShape shapes[] = {
    {.name = "llama-3.2-1b",
     .architecture = "llama",
     .layers = 16,
     .hidden = 2048,
     .ffn = 8192,
     .heads = 32,
     .kvHeads = 8,
     .vocabulary = 128256,
     .context = 131072,
     .ropeBase = 500000.0f,
     .ropeFactor = 32.0f,
     .tiedOutput = true},
    {.name = "llama-3.1-8b",
     .architecture = "llama",
     .layers = 32,
     .hidden = 4096,
     .ffn = 14336,
     .heads = 32,
     .kvHeads = 8,
     .vocabulary = 128256,
     .context = 131072,
     .ropeBase = 500000.0f,
     .ropeFactor = 8.0f},
    {.name = "pythia-2.8b",
     .architecture = "gptneox",
     .layers = 32,
     .hidden = 2560,
     .ffn = 10240,
     .heads = 32,
     .kvHeads = 32,
     .vocabulary = 50304,
     .context = 2048,
     .rotaryDivisor = 4},
    {.name = "qwen3-30b-a3b",
     .architecture = "qwen3moe",
     .layers = 48,
     .hidden = 2048,
     .ffn = 6144,
     .heads = 32,
     .kvHeads = 4,
     .vocabulary = 151936,
     .context = 40960,
     .ropeBase = 1000000.0f,
     .normEpsilon = 1e-6f,
     .headSize = 128,
     .experts = 128,
     .chosenExperts = 8,
     .expertFfn = 768},
    {.name = "gpt-oss-20b",
     .architecture = "gpt-oss",
     .layers = 24,
     .hidden = 2880,
     .ffn = 2880,
     .heads = 64,
     .kvHeads = 8,
     .vocabulary = 201088,
     .context = 131072,
     .ropeBase = 150000.0f,
     .headSize = 64,
     .experts = 32,
     .chosenExperts = 4,
     .expertFfn = 2880},
};

std::span<const ModelShape> namedModelShapes() { return shapes; }

/// The sizes that a text may give a shape.
static constexpr std::pair<std::string_view, int64_t ModelShape::*> fields[] = {
    {"layers", &ModelShape::layers},
    {"hidden", &ModelShape::hidden},
    {"ffn", &ModelShape::ffn},
    {"heads", &ModelShape::heads},
    {"kv-heads", &ModelShape::kvHeads},
    {"vocabulary", &ModelShape::vocabulary},
    {"context", &ModelShape::context},
    {"experts", &ModelShape::experts},
    {"expert-ffn", &ModelShape::expertFfn}};

std::vector<std::string> modelShapeFields() {
  std::vector<std::string> names;
  for (auto [name, field] : fields)
    names.emplace_back(name);
  return names;
}

static absl::StatusOr<ModelShape> findNamedShape(std::string_view name) {
  std::string names;
  for (const ModelShape& shape : shapes) {
    if (shape.name == name)
      return shape;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(shape.name));
  }
  return absl::NotFoundError(
      absl::StrFormat("random model expects one of %s, but got '%s'", names, name));
}

/// Gives `shape` the size that `text` says, `layers=2`.
static absl::Status setField(ModelShape& shape, const std::string& text) {
  std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  const auto* field =
      std::ranges::find(fields, name, [](const auto& entry) { return entry.first; });
  if (field == std::end(fields) || !absl::SimpleAtoi(value, &(shape.*field->second)))
    return absl::InvalidArgumentError(
        absl::StrFormat("random model expects sizes, SIZE=NUMBER, of %s, but got '%s'",
                        absl::StrJoin(modelShapeFields(), ", "), text));
  return absl::OkStatus();
}

absl::StatusOr<ModelShape> findModelShape(const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(text, ',');
  TENON_ASSIGN_OR_RETURN(ModelShape shape, findNamedShape(parts.front()));
  for (const std::string& part : std::span(parts).subspan(1))
    TENON_RETURN_IF_ERROR(setField(shape, part));
  return shape;
}

/// The longest axis: no product of two overflows, and no tensor exceeds 2^63 bytes.
static constexpr int64_t longestAxis = int64_t(1) << 24;

static constexpr int64_t mostExperts = 4096;

static absl::Status checkField(std::string_view field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "random model expects %s from %d to %d, but got %d", field, least, most, value));
}

static absl::Status checkShape(const ModelShape& shape) {
  TENON_RETURN_IF_ERROR(checkField("layers", shape.layers, 1, 1024));
  TENON_RETURN_IF_ERROR(checkField("hidden", shape.hidden, 1, longestAxis));
  TENON_RETURN_IF_ERROR(checkField("ffn", shape.ffn, 1, longestAxis));
  TENON_RETURN_IF_ERROR(checkField("heads", shape.heads, 1, longestAxis));
  TENON_RETURN_IF_ERROR(checkField("kv-heads", shape.kvHeads, 1, longestAxis));
  TENON_RETURN_IF_ERROR(
      checkField("vocabulary", shape.vocabulary, smallestVocabulary, longestAxis));
  TENON_RETURN_IF_ERROR(checkField("context", shape.context, 1, longestAxis));
  if (shape.architecture == "qwen3moe" || shape.isGptOss()) {
    TENON_RETURN_IF_ERROR(checkField("experts", shape.experts, shape.chosenExperts, mostExperts));
    TENON_RETURN_IF_ERROR(checkField("expert-ffn", shape.expertFfn, 1, longestAxis));
  } else {
    TENON_RETURN_IF_ERROR(checkField("experts", shape.experts, 0, 0));
    TENON_RETURN_IF_ERROR(checkField("expert-ffn", shape.expertFfn, 0, 0));
  }
  if (shape.headSize == 0 && shape.hidden % (shape.heads * shape.rotaryDivisor * 2) != 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "random model expects a hidden size that is a multiple of %d (heads, times 2 for the "
        "rotary pairs of 1/%d of each head), but got %d",
        shape.heads * shape.rotaryDivisor * 2, shape.rotaryDivisor, shape.hidden));
  bool dividesHeads = shape.heads % shape.kvHeads == 0;
  if (!dividesHeads || (shape.architecture == "gptneox" && shape.kvHeads != shape.heads))
    return absl::InvalidArgumentError(absl::StrFormat(
        "random model expects kv-heads that %s the %d heads, but got %d",
        shape.architecture == "gptneox" ? "equal" : "divide", shape.heads, shape.kvHeads));
  return absl::OkStatus();
}

/// llama.cpp's `enum llama_ftype` for a file mostly in `encoding`; 0, all in f32, for others.
static uint32_t fileType(const Encoding& encoding) {
  constexpr uint32_t f32 = 0, f16 = 1, bf16 = 32;
  if (const BlockFormat* format = findBlockFormat(encoding.name))
    return format->ggufFileType.value_or(f32);
  return encoding.name == "f16" ? f16 : encoding.name == "bf16" ? bf16 : f32;
}

static void addMetadata(GgufWriter& writer, const ModelShape& shape, const Encoding& encoding) {
  std::string prefix = std::string(shape.architecture) + ".";
  auto addU32 = [&](const char* key, int64_t value) {
    writer.addU32(prefix + key, static_cast<uint32_t>(value));
  };
  int64_t headSize = shape.headElements();
  writer.addString("general.architecture", shape.architecture);
  writer.addString("general.name", absl::StrFormat("%s with random weights", shape.name));
  addU32("context_length", shape.context);
  addU32("embedding_length", shape.hidden);
  addU32("block_count", shape.layers);
  addU32("feed_forward_length", shape.ffn);
  addU32("rope.dimension_count", headSize / shape.rotaryDivisor);
  addU32("attention.head_count", shape.heads);
  writer.addF32(prefix + "rope.freq_base", shape.ropeBase);
  if (shape.architecture == "gptneox") {
    writer.addBool(prefix + "use_parallel_residual", true);
    writer.addF32(prefix + "attention.layer_norm_epsilon", shape.normEpsilon);
  } else {
    addU32("attention.head_count_kv", shape.kvHeads);
    addU32("attention.key_length", headSize);
    addU32("attention.value_length", headSize);
    addU32("vocab_size", shape.vocabulary);
    writer.addF32(prefix + "attention.layer_norm_rms_epsilon", shape.normEpsilon);
  }
  if (shape.experts > 0) {
    addU32("expert_count", shape.experts);
    addU32("expert_used_count", shape.chosenExperts);
    addU32("expert_feed_forward_length", shape.expertFfn);
  }
  if (shape.isGptOss()) {
    addU32("attention.sliding_window", 128);
    writer.addString(prefix + "rope.scaling.type", "yarn");
    writer.addF32(prefix + "rope.scaling.factor", 32);
    addU32("rope.scaling.original_context_length", 4096);
  }
  writer.addU32("general.file_type", fileType(encoding));
  if (encoding.isBlockQuantized())
    writer.addU32("general.quantization_version", 2);
  addSyntheticVocabulary(writer, shape.vocabulary);
}

/// Makes elements `first`, … of `tensor` and encodes them into `encoded`.
static void makeElements(const RandomTensor& tensor, uint64_t seed, uint64_t first,
                         std::span<std::byte> encoded) {
  GaussianSequence sequence(seed, tensor.name, tensor.mean, tensor.deviation);
  const Encoding& encoding = *tensor.encoding;
  std::array<float, 4096> values;
  uint64_t count = encoded.size() / encoding.blockBytes * encoding.blockSize;
  for (uint64_t done = 0; done < count; done += values.size()) {
    std::span<float> piece(values.data(), std::min<uint64_t>(values.size(), count - done));
    sequence.fill(first + done, piece);
    int64_t pieceBytes = encoding.bytesFor(static_cast<int64_t>(piece.size()));
    encoding.encodeF32(piece, encoded.subspan(encoding.bytesFor(done), pieceBytes));
  }
}

/// Makes elements `first`, … of `tensor` on all cores.
static void makeOnAllCores(const RandomTensor& tensor, uint64_t seed, uint64_t first,
                           std::span<std::byte> encoded) {
  constexpr uint64_t unitElements = 1 << 18;
  uint64_t unitBytes = tensor.encoding->bytesFor(unitElements);
  uint64_t units = (encoded.size() + unitBytes - 1) / unitBytes;
  std::atomic<uint64_t> nextUnit = 0;
  auto work = [&] {
    for (uint64_t unit; (unit = nextUnit.fetch_add(1)) < units;) {
      uint64_t offset = unit * unitBytes;
      uint64_t bytes = std::min<uint64_t>(unitBytes, encoded.size() - offset);
      makeElements(tensor, seed, first + unit * unitElements, encoded.subspan(offset, bytes));
    }
  };
  std::vector<std::jthread> threads;
  uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (uint64_t i = 1; i < std::min(cores, units); ++i)
    threads.emplace_back(work);
  work();
}

/// Writes `tensor` in pieces of a bounded size.
static absl::Status writeTensor(const RandomTensor& tensor, uint64_t seed, GgufWriter& writer,
                                std::vector<std::byte>& buffer) {
  if (!tensor.values.empty())
    return writer.append(std::as_bytes(std::span(tensor.values)));
  constexpr int64_t pieceElements = 1 << 24;
  for (int64_t first = 0; first < tensor.elements(); first += pieceElements) {
    int64_t count = std::min(pieceElements, tensor.elements() - first);
    buffer.resize(static_cast<size_t>(tensor.encoding->bytesFor(count)));
    makeOnAllCores(tensor, seed, static_cast<uint64_t>(first), buffer);
    TENON_RETURN_IF_ERROR(writer.append(buffer));
  }
  return absl::OkStatus();
}

/// Brings `writer` to the first byte of the tensors' data.
static absl::Status beginModel(const ModelShape& shape, const Encoding& encoding,
                               std::span<const RandomTensor> tensors, GgufWriter& writer) {
  addMetadata(writer, shape, encoding);
  for (const RandomTensor& tensor : tensors)
    TENON_RETURN_IF_ERROR(writer.addTensor(tensor.name, tensor.shape, *tensor.encoding));
  return absl::OkStatus();
}

absl::Status writeRandomModel(const ModelShape& shape, const Encoding& encoding, uint64_t seed,
                              const std::string& path, const ProgressCallback& progress) {
  TENON_RETURN_IF_ERROR(checkShape(shape));
  std::vector<RandomTensor> tensors = listTensors(shape, encoding);
  TENON_ASSIGN_OR_RETURN(auto writer, GgufWriter::create(path));
  TENON_RETURN_IF_ERROR(beginModel(shape, encoding, tensors, *writer));
  uint64_t total = 0, done = 0;
  for (const RandomTensor& tensor : tensors)
    total += tensor.encoding->bytesFor(tensor.elements());
  std::vector<std::byte> buffer;
  for (const RandomTensor& tensor : tensors) {
    TENON_RETURN_IF_ERROR(writeTensor(tensor, seed, *writer, buffer));
    done += tensor.encoding->bytesFor(tensor.elements());
    if (progress)
      progress(done, total);
  }
  return writer->finish();
}

absl::StatusOr<std::shared_ptr<const MappedFile>> makeModelMetadata(const ModelShape& shape,
                                                                    const Encoding& encoding) {
  TENON_RETURN_IF_ERROR(checkShape(shape));
  std::vector<RandomTensor> tensors = listTensors(shape, encoding);
  auto writer = GgufWriter::createInMemory(std::string(shape.name));
  TENON_RETURN_IF_ERROR(beginModel(shape, encoding, tensors, *writer));
  for (const RandomTensor& tensor : tensors)
    TENON_RETURN_IF_ERROR(tensor.values.empty()
                              ? writer->appendHole()
                              : writer->append(std::as_bytes(std::span(tensor.values))));
  return writer->finishInMemory();
}

} // namespace tenon::tools
