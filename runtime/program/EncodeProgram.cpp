#include "runtime/program/internal/Metadata.h"

#include <filesystem>
#include <system_error>

#include "runtime/program/Program_generated.h"
#include "runtime/program/internal/FileFormat.h"
#include "support/Hash.h"

namespace tenon::runtime::internal {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <typename T> using FlatTables = flatbuffers::Vector<Offset<T>>;

/// Encodes one program: the helpers below append sections as they meet them.
class Encoder {
public:
  Encoder(const Program& program, const std::string& folder) : program(program), folder(folder) {}

  EncodedProgram encode();

private:
  int32_t addSection(SharedBytes contents);
  std::string storedPath(const std::string& path) const;
  Offset<fbs::Constant> constant(const Constant& constant);
  /// A vector of what `encode` makes of each element.
  template <typename T, typename Encode> auto tables(const std::vector<T>& list, Encode encode) {
    std::vector<decltype(encode(list[0]))> offsets;
    for (const T& element : list)
      offsets.push_back(encode(element));
    return builder.CreateVector(offsets);
  }
  template <typename T> Offset<FlatTables<fbs::Value>> values(const std::vector<T>& list);
  Offset<fbs::Step> step(const Step& step);
  Offset<fbs::Function> function(const Function& function);
  Offset<fbs::ModelInfo> model();
  Offset<FlatTables<fbs::EncodingInfo>> encodings();
  Offset<FlatTables<fbs::SourceFile>> files();
  Offset<FlatTables<fbs::Kernel>> kernels();
  Offset<flatbuffers::Vector<uint32_t>> code();
  int32_t tokenizerSection(const TokenizerSpec& spec);
  int32_t reportSection();

  const Program& program;
  const std::string& folder;
  FlatBufferBuilder builder;
  EncodedProgram result;
  uint64_t end = pageBytes;
};

} // namespace

int32_t Encoder::addSection(SharedBytes contents) {
  uint64_t offset = nextPage(end);
  end = offset + contents.size();
  result.sections.push_back({offset, std::move(contents)});
  return static_cast<int32_t>(result.sections.size() - 1);
}

std::string Encoder::storedPath(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path absolute = fs::absolute(path, error), base = fs::absolute(folder, error);
  if (error)
    return path;
  fs::path below = absolute.lexically_normal().lexically_relative(base.lexically_normal());
  bool isBelow = !below.empty() && *below.begin() != "..";
  return (isBelow ? below : absolute.lexically_normal()).string();
}

Offset<fbs::Constant> Encoder::constant(const Constant& constant) {
  auto name = builder.CreateString(constant.name);
  auto encoding = builder.CreateString(constant.encoding);
  auto shape = builder.CreateVector(constant.shape);
  if (const auto* embedded = std::get_if<SharedBytes>(&constant.source))
    return fbs::CreateConstant(builder, name, encoding, shape, constant.bytes, 0,
                               addSection(*embedded));
  if (const auto* random = std::get_if<std::vector<RandomRange>>(&constant.source)) {
    std::vector<fbs::RandomRange> ranges;
    for (const RandomRange& range : *random)
      ranges.emplace_back(range.bytes, range.seed, range.mean, range.scale);
    return fbs::CreateConstant(builder, name, encoding, shape, constant.bytes, 0, -1,
                               builder.CreateVectorOfStructs(ranges));
  }
  std::vector<fbs::FileRange> ranges;
  for (const FileRange& range : std::get<std::vector<FileRange>>(constant.source))
    ranges.emplace_back(range.offset, range.bytes, range.file);
  return fbs::CreateConstant(builder, name, encoding, shape, constant.bytes,
                             builder.CreateVectorOfStructs(ranges), -1, 0, constant.transposed);
}

template <typename T> Offset<FlatTables<fbs::Value>> Encoder::values(const std::vector<T>& list) {
  return tables(list, [this](const T& value) {
    auto name = builder.CreateString(value.name);
    auto encoding = builder.CreateString(value.encoding);
    auto shape = builder.CreateVector(value.shape);
    uint8_t role = 0;
    if constexpr (std::is_same_v<T, Port>)
      role = static_cast<uint8_t>(value.role);
    return fbs::CreateValue(builder, name, encoding, shape, value.bytes, role);
  });
}

Offset<fbs::Step> Encoder::step(const Step& step) {
  std::vector<fbs::BufferRef> args;
  for (const BufferRef& ref : step.args)
    args.emplace_back(ref.offset, ref.bytes, ref.index, static_cast<uint8_t>(ref.space));
  auto argVector = builder.CreateVectorOfStructs(args);
  return fbs::CreateStep(builder, step.kernel, step.tiles, argVector,
                         builder.CreateString(step.name));
}

Offset<fbs::Function> Encoder::function(const Function& function) {
  auto name = builder.CreateString(function.name);
  auto inputs = values(function.inputs);
  auto outputs = values(function.outputs);
  auto steps = tables(function.steps, [this](const Step& entry) { return step(entry); });
  return fbs::CreateFunction(builder, name, static_cast<uint8_t>(function.role), function.rows,
                             inputs, outputs, steps, function.predictedNs, function.sharedPercent);
}

Offset<fbs::ModelInfo> Encoder::model() {
  if (!program.model)
    return 0;
  auto architecture = builder.CreateString(program.model->architecture);
  auto name = builder.CreateString(program.model->name);
  return fbs::CreateModelInfo(builder, architecture, name, program.model->vocabulary,
                              program.model->context, program.model->sequences,
                              program.model->pages, program.model->pagePositions);
}

Offset<FlatTables<fbs::EncodingInfo>> Encoder::encodings() {
  return tables(program.encodings, [this](const EncodingInfo& info) {
    return fbs::CreateEncodingInfo(builder, builder.CreateString(info.name), info.blockElements,
                                   info.blockBytes);
  });
}

Offset<FlatTables<fbs::SourceFile>> Encoder::files() {
  return tables(program.files, [this](const SourceFile& file) {
    return fbs::CreateSourceFile(builder, builder.CreateString(storedPath(file.path)), file.bytes,
                                 file.fingerprint);
  });
}

Offset<FlatTables<fbs::Kernel>> Encoder::kernels() {
  return tables(program.kernels, [this](const Kernel& kernel) {
    auto symbol = builder.CreateString(kernel.symbol);
    std::vector<fbs::KernelArgument> arguments;
    for (const KernelArgument& argument : kernel.args)
      arguments.emplace_back(argument.bytes, static_cast<uint8_t>(argument.access));
    auto args = builder.CreateVectorOfStructs(arguments);
    fbs::CudaLaunch storedLaunch;
    fbs::LibraryMatmul storedMatmul;
    std::vector<fbs::TensorMap> storedMaps;
    const auto* launch = std::get_if<CudaLaunch>(&kernel.launch);
    if (launch) {
      storedLaunch = {launch->threads, launch->sharedBytes, launch->pdl, launch->stamps};
      for (const TensorMap& map : launch->tensorMaps)
        storedMaps.emplace_back(map.rows, map.columns, map.argument, map.boxRows,
                                static_cast<uint8_t>(map.type));
    }
    const auto* matmul = std::get_if<LibraryMatmul>(&kernel.launch);
    if (matmul)
      storedMatmul = {matmul->m,
                      matmul->n,
                      matmul->k,
                      matmul->workspaceBytes,
                      static_cast<uint8_t>(matmul->input),
                      static_cast<uint8_t>(matmul->output),
                      matmul->tf32,
                      matmul->residual,
                      matmul->bias,
                      matmul->gelu};
    Offset<flatbuffers::Vector<const fbs::TensorMap*>> maps;
    if (!storedMaps.empty())
      maps = builder.CreateVectorOfStructs(storedMaps);
    return fbs::CreateKernel(builder, symbol, kernel.code, launch ? &storedLaunch : nullptr,
                             matmul ? &storedMatmul : nullptr, kernel.tiles, args, maps);
  });
}

Offset<flatbuffers::Vector<uint32_t>> Encoder::code() {
  std::vector<uint32_t> sections;
  for (const SharedBytes& object : program.code)
    sections.push_back(static_cast<uint32_t>(addSection(object)));
  return builder.CreateVector(sections);
}

static SharedBytes finishedBytes(const FlatBufferBuilder& builder) {
  auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

static auto encodeRewrites(FlatBufferBuilder& builder, const std::vector<RewriteStep>& steps) {
  std::vector<flatbuffers::Offset<fbs::RewriteStep>> stored;
  for (const RewriteStep& step : steps) {
    auto pattern = builder.CreateString(step.pattern);
    auto content = builder.CreateString(step.content);
    stored.push_back(
        fbs::CreateRewriteStep(builder, static_cast<uint8_t>(step.kind), pattern, content));
  }
  return builder.CreateVector(stored);
}

static auto encodeSplits(FlatBufferBuilder& builder, const std::vector<SplitStep>& steps) {
  std::vector<flatbuffers::Offset<fbs::SplitStep>> stored;
  for (const SplitStep& step : steps) {
    auto pattern = builder.CreateString(step.pattern);
    stored.push_back(
        fbs::CreateSplitStep(builder, pattern, static_cast<uint8_t>(step.behavior), step.invert));
  }
  return builder.CreateVector(stored);
}

static auto encodeAdded(FlatBufferBuilder& builder, const std::vector<AddedToken>& tokens) {
  std::vector<fbs::AddedToken> stored;
  for (const AddedToken& token : tokens)
    stored.emplace_back(token.id, token.wholeWord, token.stripsLeft, token.stripsRight,
                        token.normalized);
  return builder.CreateVectorOfStructs(stored);
}

int32_t Encoder::tokenizerSection(const TokenizerSpec& spec) {
  FlatBufferBuilder section;
  std::vector<uint8_t> kinds;
  for (TokenKind kind : spec.kinds)
    kinds.push_back(static_cast<uint8_t>(kind));
  auto preTokenizer = section.CreateString(spec.preTokenizer);
  auto tokens = section.CreateVectorOfStrings(spec.tokens);
  auto scores = section.CreateVector(spec.scores);
  auto kindVector = section.CreateVector(kinds);
  auto merges = section.CreateVectorOfStrings(spec.merges);
  auto extraEndIds = section.CreateVector(spec.extraEndIds);
  auto splits = encodeSplits(section, spec.splits);
  auto normalizers = encodeRewrites(section, spec.normalizers);
  auto pieceNormalizers = encodeRewrites(section, spec.pieceNormalizers);
  auto added = encodeAdded(section, spec.added);
  auto chatTemplate = section.CreateString(spec.chatTemplate);
  section.Finish(fbs::CreateTokenizer(section, static_cast<uint8_t>(spec.model), preTokenizer,
                                      tokens, scores, kindVector, merges, spec.bosId, spec.eosId,
                                      spec.unknownId, extraEndIds, spec.addBos, spec.addEos,
                                      spec.addSpacePrefix, splits, spec.ignoreMerges, normalizers,
                                      pieceNormalizers, added, spec.fuseUnknown, chatTemplate));
  return addSection(finishedBytes(section));
}

int32_t Encoder::reportSection() {
  auto bytes = std::as_bytes(std::span(program.report));
  return addSection(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

EncodedProgram Encoder::encode() {
  auto codeVector = code();
  auto constants =
      tables(program.constants, [this](const Constant& entry) { return constant(entry); });
  int32_t tokenizer = program.tokenizer ? tokenizerSection(*program.tokenizer) : -1;
  int32_t report = program.report.empty() ? -1 : reportSection();
  std::vector<fbs::Section> sections; // none is added from here on
  for (const Section& section : result.sections)
    sections.emplace_back(section.offset, section.contents.size(),
                          hashBytes(section.contents.bytes()));

  auto target = builder.CreateString(program.target);
  auto device = builder.CreateString(program.device);
  auto features = builder.CreateVectorOfStrings(program.features);
  auto encodingVector = encodings();
  auto fileVector = files();
  auto states = values(program.states);
  auto kernelVector = kernels();
  auto functions =
      tables(program.functions, [this](const Function& entry) { return function(entry); });
  auto modelInfo = model();
  auto sectionVector = builder.CreateVectorOfStructs(sections);
  builder.Finish(fbs::CreateProgram(builder, target, device, features, encodingVector, fileVector,
                                    constants, states, kernelVector, functions,
                                    program.workspaceBytes, modelInfo, sectionVector, codeVector,
                                    tokenizer, report));
  auto metadata = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  result.metadata.assign(metadata.begin(), metadata.end());
  return std::move(result);
}

EncodedProgram encodeProgram(const Program& program, const std::string& folder) {
  return Encoder(program, folder).encode();
}

} // namespace tenon::runtime::internal
