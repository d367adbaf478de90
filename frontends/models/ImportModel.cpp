#include "frontends/models/ImportModel.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/builder/GraphBuilder.h"
#include "frontends/models/Architecture.h"
#include "frontends/models/internal/MetadataKeys.h"
#include "frontends/models/internal/ModelGraph.h"
#include "ir/encoding/CacheEncoding.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/program/Program.h"
#include "support/Fingerprint.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {
namespace {

/// The symbol of the model's `tenon.file`; those of a split model's other parts are `model.2` and
/// so on.
constexpr std::string_view fileSymbol = "model";
constexpr int64_t highestSequences = 1 << 16;

absl::StatusOr<const Architecture*> findArchitecture(const ModelSource& source) {
  TENON_ASSIGN_OR_RETURN(std::string_view name, source.text("architecture"));
  std::string known;
  for (const Architecture* architecture : allArchitectures()) {
    if (architecture->name == name)
      return architecture;
    absl::StrAppend(&known, known.empty() ? "'" : ", '", std::string(architecture->name), "'");
  }
  return source.keyError("architecture", "one of " + known, quoteName(name));
}

/// Names what would else show as a missing tensor or key: a file of a vocabulary alone, and a mixture
/// of experts, whose feed-forward layers lie in tensors `ffn_*_exps`, of a family without them.
absl::Status checkKind(const ModelSource& source, const Architecture& architecture) {
  if (source.tensors().empty())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: holds a vocabulary and no weights; expects a file with the model's "
                        "tensors",
                        source.path()));
  TENON_ASSIGN_OR_RETURN(int64_t experts, source.countOrZero("expert_count", highestSequences));
  bool mayHaveExperts = architecture.experts != Experts::None;
  if (experts > 0 && mayHaveExperts)
    return absl::OkStatus();
  for (const SourceTensor& tensor : source.tensors())
    if (tensor.name.find("_exps.") != tensor.name.npos ||
        tensor.name.find("_gate_inp.") != tensor.name.npos)
      return mayHaveExperts
                 ? source.keyError("expert_count",
                                   absl::StrFormat("at least 1 where there is tensor %s",
                                                   quoteName(tensor.name)),
                                   "0 or none")
                 : absl::UnimplementedError(absl::StrFormat(
                       "%s: is a mixture of experts, which architecture '%s' has not: it has "
                       "tensor %s",
                       source.pathOf(tensor), architecture.name, quoteName(tensor.name)));
  if (experts > 0)
    return source.keyError(
        "expert_count",
        absl::StrFormat("to be absent or 0: architecture '%s' has no mixtures of experts",
                        architecture.name),
        absl::StrCat(experts));
  return absl::OkStatus();
}

/// What the options come to for this model.
struct Capacities {
  int64_t contextLength; ///< positions that a sequence may have
  int64_t sequences;
  RingShape ring; ///< without a window where the caches are dense

  bool isStream() const { return ring.window > 0; }
  /// Places of a sequence in a cache.
  int64_t places() const { return isStream() ? ring.kept + ring.ring : contextLength; }
  /// How far apart positions are that heads are rotated for.
  int64_t reach() const { return isStream() ? ring.kept + ring.window : contextLength; }
};

std::string entryName(const EntryShape& entry) {
  return absl::StrFormat("%s_%d", stringifyRole(entry.role).str(), entry.rows);
}

absl::Status checkEntries(const std::vector<EntryShape>& entries) {
  if (entries.empty())
    return absl::InvalidArgumentError("import options: expects at least one entry shape");
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].role == Role::Other)
      return absl::InvalidArgumentError(
          "import options: expects entries for decode, prefill or mixed, but got another role");
    if (entries[i].rows < 1 || entries[i].rows > highestRows)
      return absl::InvalidArgumentError(absl::StrFormat(
          "import options: entry '%s' expects 1 to %d rows", entryName(entries[i]), highestRows));
    for (size_t j = 0; j < i; ++j)
      if (entryName(entries[i]) == entryName(entries[j]))
        return absl::InvalidArgumentError(
            absl::StrFormat("import options: expects entries to differ, but got '%s' twice",
                            entryName(entries[i])));
  }
  return absl::OkStatus();
}

/// Whether prefill of so many rows is left out, see `ImportOptions::fitEntries`.
bool isLeftOut(const EntryShape& entry, const ImportOptions& options, int64_t most) {
  return options.fitEntries && entry.role == Role::Prefill && entry.rows > most;
}

/// The cache of a stream: as many places after the kept ones as the window and the other rows of a
/// call take, which may be tokens of one sequence.
absl::Status resolveStream(const ModelSource& source, const Architecture& architecture,
                           const Hyperparameters& p, const ImportOptions& options,
                           Capacities& capacities) {
  int64_t kept = options.keptTokens, window = options.window;
  if (kept < 0 || window < 1 || window > p.contextLength || kept > p.contextLength - window)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects first tokens and a window (sinks, window of --cache) of at most %d together, "
        "the model's context, but got %d and %d",
        source.path(), p.contextLength, kept, window));
  if (!architecture.pairing || architecture.isEncoder || p.window != 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a model that rotates its heads and has no window of its own for "
        "--cache=window",
        source.path()));
  if (options.contextLength != 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects no context (--context) beside a window (--cache=window), but got %d and %d",
        source.path(), options.contextLength, window));
  int64_t rows = 1;
  for (const EntryShape& entry : options.entries)
    if (!isLeftOut(entry, options, window))
      rows = std::max(rows, entry.rows);
  capacities.contextLength = runtime::ModelInfo::endlessContext;
  capacities.ring = {.kept = kept, .ring = window + rows - 1, .window = window};
  return absl::OkStatus();
}

/// An encoder has no caches; a text is as long as the rows of a call.
absl::StatusOr<Capacities> resolveEncoder(const ModelSource& source, const Hyperparameters& p,
                                          const ImportOptions& options) {
  if (options.contextLength != 0 || options.sequences != 0 ||
      options.cache != CacheType::Activations)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects neither a context, sequences nor a type of caches (--context, --cache) for an "
        "encoder, which has no caches",
        source.path()));
  bool hasEntry = false;
  for (const EntryShape& entry : options.entries) {
    if (entry.role != Role::Prefill || isLeftOut(entry, options, p.contextLength))
      continue;
    hasEntry = true;
    if (entry.rows > p.contextLength)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: expects texts of at most %d tokens (--shapes), the model's context, "
                          "but got %d",
                          source.path(), p.contextLength, entry.rows));
  }
  if (!hasEntry)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects shapes prefill:ROWS (--shapes) for an encoder, which takes all tokens of a "
        "text in one call, but got none",
        source.path()));
  return Capacities{.contextLength = p.contextLength, .sequences = 1, .ring = {}};
}

absl::StatusOr<Capacities> resolveCapacities(const ModelSource& source,
                                             const Architecture& architecture,
                                             const Hyperparameters& p,
                                             const ImportOptions& options) {
  TENON_RETURN_IF_ERROR(checkEntries(options.entries));
  Capacities capacities{options.contextLength, options.sequences, {}};
  if (options.keptTokens != 0 || options.window != 0)
    TENON_RETURN_IF_ERROR(resolveStream(source, architecture, p, options, capacities));
  if (architecture.isEncoder)
    return resolveEncoder(source, p, options);
  if (capacities.contextLength == 0)
    capacities.contextLength = std::min(p.contextLength, defaultContextLength);
  if (!capacities.isStream() &&
      (capacities.contextLength < 1 || capacities.contextLength > p.contextLength))
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a context of 1 to %d positions (--context), the model's, but got "
        "%d",
        source.path(), p.contextLength, capacities.contextLength));
  int64_t decodeRows = 1;
  for (const EntryShape& entry : options.entries)
    if (entry.role == Role::Decode)
      decodeRows = std::max(decodeRows, entry.rows);
  if (capacities.sequences == 0)
    capacities.sequences = decodeRows;
  if (capacities.sequences < 1 || capacities.sequences > highestSequences)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects 1 to %d sequences (--cache=sequences), but got %d",
                        source.path(), highestSequences, capacities.sequences));
  return capacities;
}

/// The 16-bit type that more bytes of the weights have; f16 where none has one.
ActivationType suitWeights(const ModelSource& source) {
  uint64_t f16Bytes = 0, bf16Bytes = 0;
  for (const SourceTensor& tensor : source.tensors()) {
    std::string_view encoding = tensor.encoding ? tensor.encoding->name : "";
    f16Bytes += encoding == "f16" ? tensor.byteSize : 0;
    bf16Bytes += encoding == "bf16" ? tensor.byteSize : 0;
  }
  return bf16Bytes > f16Bytes ? ActivationType::BF16 : ActivationType::F16;
}

mlir::Type activationElementType(mlir::MLIRContext& context, ActivationType type,
                                 const ModelSource& source) {
  switch (type) {
  case ActivationType::SuitsWeights:
    return activationElementType(context, suitWeights(source), source);
  case ActivationType::F16:
    return mlir::Float16Type::get(&context);
  case ActivationType::BF16:
    return mlir::BFloat16Type::get(&context);
  case ActivationType::F32:
    break;
  }
  return mlir::Float32Type::get(&context);
}

/// The element type of the caches of heads of `size` elements; null where it is that of the
/// activations.
absl::StatusOr<mlir::Type> cacheElementType(mlir::MLIRContext& context, const ModelSource& source,
                                            CacheType type, int64_t size) {
  switch (type) {
  case CacheType::Activations:
    return mlir::Type();
  case CacheType::F32:
    return mlir::Float32Type::get(&context);
  case CacheType::F16:
    return mlir::Float16Type::get(&context);
  case CacheType::BF16:
    return mlir::BFloat16Type::get(&context);
  case CacheType::Q8:
  case CacheType::FP8:
  case CacheType::Q4:
    break;
  }
  const Encoding* encoding = findCacheEncoding(type == CacheType::Q8    ? CacheQuants::Int8
                                               : type == CacheType::FP8 ? CacheQuants::E4M3
                                                                        : CacheQuants::Int4,
                                               size);
  if (!encoding)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects heads of a multiple of 8 elements, 256 at most, for caches of "
                        "8 and 4 bits (--cache), but got %d",
                        source.path(), size));
  return BlockType::get(&context, encoding->name);
}

absl::Status declareStates(GraphBuilder& builder, mlir::MLIRContext& context,
                           const ModelSource& source, const Hyperparameters& p,
                           const Capacities& capacities, const ImportOptions& options) {
  CacheType type = options.cache;
  int64_t layers = p.blocks + (options.draftIds ? 1 : 0);
  auto layout =
      StateLayoutAttr::get(&context, capacities.isStream() ? StateLayout::Ring : StateLayout::Dense,
                           capacities.ring.kept);
  TENON_ASSIGN_OR_RETURN(mlir::Type keyType, cacheElementType(context, source, type, p.headSize));
  TENON_ASSIGN_OR_RETURN(mlir::Type valueType,
                         cacheElementType(context, source, type, p.valueSize));
  for (int64_t layer = 0; layer < layers; ++layer) {
    auto declare = [&](const std::string& name, int64_t size, mlir::Type element) {
      builder.declareState(name, {capacities.sequences, capacities.places(), p.kvHeads, size},
                           element, layout);
    };
    declare(keyStateName(layer), p.headSize, keyType);
    declare(valueStateName(layer), p.valueSize, valueType);
  }
  return absl::OkStatus();
}

/// Declares the model's files; returns their symbols.
std::vector<std::string> declareFiles(GraphBuilder& builder, const ModelSource& source) {
  std::vector<std::string> symbols;
  for (const std::shared_ptr<const MappedFile>& file : source.files()) {
    std::string symbol(fileSymbol);
    if (!symbols.empty())
      absl::StrAppend(&symbol, ".", symbols.size() + 1);
    builder.declareFile(symbol, file->path(), file->bytes().size(), fingerprintFile(*file));
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

/// Erases the files, but for the model's main one, that no weight lies in.
void eraseUnusedFiles(mlir::ModuleOp module) {
  for (auto file : llvm::make_early_inc_range(module.getOps<FileOp>()))
    if (file.getSymName() != llvm::StringRef(fileSymbol) &&
        mlir::SymbolTable::symbolKnownUseEmpty(file, module))
      file.erase();
}

/// Nothing for a family whose heads are not rotated.
absl::StatusOr<RopeFrequencies> readRotation(const ModelSource& source,
                                             const Architecture& architecture,
                                             const Hyperparameters& p, int64_t contextLength) {
  if (!architecture.pairing)
    return RopeFrequencies();
  return readRopeFrequencies(source, p, contextLength, architecture.windowedRopeBase,
                             architecture.truncatesYarn);
}

/// Builds the function for texts of up to `rows` tokens; stops at the first error, which the
/// builder keeps.
void buildEncoder(const ModelGraph::Shared& shared, int64_t rows, const ImportOptions& options) {
  GraphBuilder& builder = shared.builder;
  mlir::MLIRContext* context = builder.getActivationType().getContext();
  mlir::Type i32 = mlir::IntegerType::get(context, 32), f32 = mlir::Float32Type::get(context);
  builder.beginFunction(absl::StrFormat("encode_%d", rows));
  ModelGraph::Inputs inputs;
  inputs.ids = builder.input("ids", {rows}, i32);
  inputs.mask = builder.input("mask", {rows}, f32);
  std::vector<int32_t> places(rows);
  std::iota(places.begin(), places.end(), 0);
  inputs.positions = builder.intConstant({rows}, places, {.name = "positions"});
  inputs.sequences = builder.intConstant({1}, {0}, {.name = "sequences"});

  ModelGraph graph(shared, inputs);
  Value x = shared.architecture.buildEmbedding(graph);
  std::vector<Value> blocks;
  for (int64_t layer = 0; layer < shared.parameters.blocks && builder.getStatus().ok(); ++layer) {
    x = graph.block(layer, x);
    blocks.push_back(x);
  }
  builder.output("embedding", graph.pool(x));
  for (size_t layer = 0; options.blockOutputs && layer < blocks.size(); ++layer)
    builder.output(absl::StrFormat("blk.%d.output", layer), blocks[layer]);
  builder.endFunction();
}

/// The rows of an entry that have logits, as an input says; 0 where all have.
int64_t countOutputRows(const EntryShape& entry, int64_t sequences) {
  if (entry.role == Role::Decode)
    return 0;
  return entry.role == Role::Prefill ? 1 : std::min(entry.rows, sequences);
}

/// The tokens behind the rows of a chunk or of several: the next row's, and behind rows with an output
/// what is chosen there.
Value findFollowing(GraphBuilder& builder, const ModelGraph::Inputs& inputs, Value outputRows,
                    Value chosen) {
  int64_t rows = inputs.ids.getShape().front();
  Value last = builder.intConstant({1}, {0}, {.name = "following.last"});
  Value following = last;
  if (rows > 1)
    following = builder.concat(
        {builder.slice(inputs.ids, {1}, {rows - 1}, {1}, {.name = "following.next"}), last}, 0,
        {.name = "following.ids"});
  return builder.scatter(following, outputRows, chosen, 0, /*accumulate=*/false,
                         {.name = "following"});
}

/// The results of an entry that are tokens: `chosen` after each row of logits, guesses behind them and
/// what is right of the call's.
void addTokenOutputs(ModelGraph& graph, const ModelGraph::Inputs& inputs, const EntryShape& entry,
                     Value chosen, Value hidden, const ImportOptions& options) {
  GraphBuilder& builder = graph.builder();
  builder.output("next_ids", chosen, PortRole::NextIds);
  if (entry.role != Role::Decode)
    return;
  Value drafts;
  if (options.draftIds) {
    Value scores = graph.logits(graph.draftHidden(hidden, chosen));
    drafts = builder.argmax(scores, {.name = "draft_ids"});
    builder.output("draft_ids", drafts, PortRole::DraftIds);
  }
  constexpr int64_t rowsOfStep = 2;
  const bool isStep = options.draftIds && entry.rows == rowsOfStep;
  if (!isStep && (!options.acceptedIds || entry.rows == 1 || entry.rows > AcceptOp::mostRows))
    return;
  GraphBuilder::Accepted accepted =
      builder.accept(chosen, inputs.ids, inputs.positions, drafts, {.name = "accepted_ids"});
  builder.output("accepted_ids", accepted.ids, PortRole::AcceptedIds);
  if (!isStep)
    return;
  builder.output("step_ids", accepted.nextIds, PortRole::StepIds);
  builder.output("step_positions", accepted.nextPositions, PortRole::StepPositions);
}

/// Builds one entry function for caches of so many sequences; stops at the first error, which the
/// builder keeps.
void buildEntry(const ModelGraph::Shared& shared, const EntryShape& entry, int64_t sequences,
                const ImportOptions& options) {
  GraphBuilder& builder = shared.builder;
  mlir::Type i32 = mlir::IntegerType::get(builder.getActivationType().getContext(), 32);
  int64_t sequencesOfRows = entry.role == Role::Prefill ? 1 : entry.rows;
  int64_t outputRowCount = countOutputRows(entry, sequences);
  builder.beginFunction(entryName(entry), entry.role, entry.rows);
  ModelGraph::Inputs inputs;
  inputs.ids = builder.input("ids", {entry.rows}, i32, PortRole::Ids);
  inputs.sequences = builder.input("sequences", {sequencesOfRows}, i32, PortRole::Sequences);
  inputs.positions = builder.input("positions", {entry.rows}, i32, PortRole::Positions);
  inputs.areChunks = entry.role == Role::Mixed;
  Value outputRows = outputRowCount > 0
                         ? builder.input("output_rows", {outputRowCount}, i32, PortRole::OutputRows)
                         : Value();

  ModelGraph graph(shared, inputs);
  Value x = shared.architecture.buildEmbedding(graph);
  std::vector<Value> blocks;
  for (int64_t layer = 0; layer < shared.parameters.blocks && builder.getStatus().ok(); ++layer) {
    x = graph.block(layer, x);
    blocks.push_back(x);
  }
  // The head that guesses sees all rows.
  Value hidden = options.draftIds ? graph.normOutput(x) : Value();
  Value normed = hidden;
  if (outputRows)
    normed = builder.embedding(hidden ? hidden : x, outputRows, {.name = "output_rows"});
  if (!hidden)
    normed = graph.normOutput(outputRows ? normed : x);
  Value logits = graph.logits(normed);
  builder.output("logits", logits, PortRole::Logits);
  if (options.nextIds || options.draftIds || options.acceptedIds) {
    Value chosen = builder.argmax(logits, {.name = "next_ids"});
    addTokenOutputs(graph, inputs, entry, chosen, hidden, options);
    // Its caches hold what rows of a prompt leave there.
    if (options.draftIds && outputRows)
      graph.draftHidden(hidden, findFollowing(builder, inputs, outputRows, chosen));
  }
  for (size_t layer = 0; options.blockOutputs && layer < blocks.size(); ++layer)
    builder.output(absl::StrFormat("blk.%d.output", layer), blocks[layer]);
  builder.endFunction();
}

} // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext& context, const ModelSource& source, const ImportOptions& options) {
  TENON_ASSIGN_OR_RETURN(const Architecture* architecture, findArchitecture(source));
  TENON_RETURN_IF_ERROR(checkKind(source, *architecture));
  TENON_RETURN_IF_ERROR(checkKeys(source, *architecture, options.ignoredKeys));
  TENON_ASSIGN_OR_RETURN(Hyperparameters parameters, readHyperparameters(source, *architecture));
  TENON_ASSIGN_OR_RETURN(Capacities capacities,
                         resolveCapacities(source, *architecture, parameters, options));
  TENON_ASSIGN_OR_RETURN(RopeFrequencies frequencies,
                         readRotation(source, *architecture, parameters, capacities.reach()));
  TENON_ASSIGN_OR_RETURN(std::string_view name, source.text("name", architecture->name));

  GraphBuilder builder(context, activationElementType(context, options.activations, source));
  std::vector<std::string> fileSymbols = declareFiles(builder, source);
  // An encoder is no model that goes on with a text.
  if (!architecture->isEncoder)
    builder.setModel({.architecture = std::string(architecture->name),
                      .name = std::string(name),
                      .file = std::string(fileSymbol),
                      .vocabulary = parameters.vocabulary,
                      .contextLength = capacities.contextLength,
                      .sequences = capacities.sequences});
  if (!architecture->isEncoder)
    TENON_RETURN_IF_ERROR(declareStates(builder, context, source, parameters, capacities, options));
  TENON_ASSIGN_OR_RETURN(mlir::Type cacheType,
                         cacheElementType(context, source, options.cache, parameters.headSize));
  WeightTable weights(source, builder, std::move(fileSymbols));
  if (architecture->pairing)
    for (std::string_view tensor :
         {ropeFactorsTensor, longRopeFactorsTensor, shortRopeFactorsTensor})
      weights.markUsed(tensor);
  if (options.draftIds && !parameters.hasDraftHead)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects a model with a head that guesses the token after the next "
                        "(nextn_predict_layers) for --draft=mtp, but it has none",
                        source.path()));
  if (parameters.hasDraftHead && !options.draftIds)
    for (const SourceTensor& tensor : source.tensors())
      if (tensor.name.starts_with(draftTensors))
        weights.markUsed(tensor.name);
  ModelGraph::Shared shared{*architecture, source,          parameters,
                            frequencies,   weights,         builder,
                            cacheType,     capacities.ring, options.cache == CacheType::Q4};
  for (const EntryShape& entry : options.entries)
    if (!isLeftOut(entry, options,
                   capacities.isStream() ? options.window : capacities.contextLength)) {
      if (!architecture->isEncoder)
        buildEntry(shared, entry, capacities.sequences, options);
      else if (entry.role == Role::Prefill)
        buildEncoder(shared, entry.rows, options);
    }
  if (builder.getStatus().ok())
    builder.fail(weights.checkAllUsed(architecture->name));
  TENON_ASSIGN_OR_RETURN(mlir::OwningOpRef<mlir::ModuleOp> module, builder.finish());
  eraseUnusedFiles(*module);
  return module;
}

} // namespace tenon::frontends
