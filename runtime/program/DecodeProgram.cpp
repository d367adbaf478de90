#include "runtime/program/internal/Metadata.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_format.h"
#include "runtime/program/Program_generated.h"
#include "runtime/program/internal/FileFormat.h"
#include "support/Hash.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

namespace {

using FlatString = flatbuffers::String;
template <typename T> using FlatVector = flatbuffers::Vector<T>;
template <typename T> using FlatTables = flatbuffers::Vector<flatbuffers::Offset<T>>;

/// False if the elements of `list` lie where they cannot be read: FlatBuffers' verifier checks the
/// alignment of a vector's length only.
template <typename E> bool isAligned(const FlatVector<E>& list) {
  return list.size() == 0 ||
         reinterpret_cast<uintptr_t>(list.Data()) % alignof(std::remove_pointer_t<E>) == 0;
}

/// Copies strings and vectors out of a verified FlatBuffer. Offsets inside a hostile buffer may
/// share one string a million times, so the sum of the copies is limited to the buffer's size;
/// once it is exceeded, or a vector is misaligned, copies are empty and `failed` is true.
class BoundedCopy {
public:
  explicit BoundedCopy(uint64_t bytes) : left(bytes) {}

  bool failed() const { return hasFailed; }

  std::string text(const FlatString* string) {
    return charge(string->size()) ? string->str() : std::string();
  }

  /// Every element of `list` through `convert`; nothing for an absent list.
  template <typename E, typename Convert> auto map(const FlatVector<E>* list, Convert convert) {
    std::vector<std::decay_t<decltype(convert(list->Get(0)))>> result;
    hasFailed = hasFailed || (list && !isAligned(*list));
    if (list && charge(list->size() * flatbuffers::IndirectHelper<E>::element_stride))
      for (flatbuffers::uoffset_t i = 0; i < list->size() && !hasFailed; ++i)
        result.push_back(convert(list->Get(i)));
    return result;
  }

  template <typename T> std::vector<T> numbers(const FlatVector<T>* list) {
    return map(list, [](T value) { return value; });
  }

  std::vector<std::string> texts(const FlatTables<FlatString>* list) {
    return map(list, [this](const FlatString* string) { return text(string); });
  }

private:
  bool charge(uint64_t bytes) {
    hasFailed = hasFailed || bytes > left;
    left -= hasFailed ? 0 : bytes;
    return !hasFailed;
  }

  uint64_t left;
  bool hasFailed = false;
};

/// Decodes verified metadata whose sections have been found intact.
class Decoder {
public:
  Decoder(const fbs::Program& metadata, std::span<const SharedBytes> sections, uint64_t bytes,
          const std::string& folder)
      : metadata(metadata), sections(sections), copy(bytes), folder(folder) {}

  absl::StatusOr<Program> decode();

private:
  absl::StatusOr<SharedBytes> section(int64_t index, std::string_view user) const;
  std::string resolvedPath(const std::string& path) const;
  absl::StatusOr<Constant> constant(const fbs::Constant& constant);
  absl::StatusOr<Kernel> kernel(const fbs::Kernel& kernel);
  template <typename T> std::vector<T> values(const FlatTables<fbs::Value>* list);
  Step step(const fbs::Step& step);
  Function function(const fbs::Function& function);
  absl::Status decodeSections(Program& program);

  const fbs::Program& metadata;
  std::span<const SharedBytes> sections;
  BoundedCopy copy;
  const std::string& folder;
};

} // namespace

absl::StatusOr<SharedBytes> Decoder::section(int64_t index, std::string_view user) const {
  if (index < 0 || static_cast<uint64_t>(index) >= sections.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("the %s expects one of the %u sections, but names section %d", user,
                        sections.size(), index));
  return sections[index];
}

std::string Decoder::resolvedPath(const std::string& path) const {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

absl::StatusOr<Constant> Decoder::constant(const fbs::Constant& constant) {
  Constant result{copy.text(constant.name()),
                  copy.text(constant.encoding()),
                  copy.numbers(constant.shape()),
                  constant.bytes(),
                  {},
                  constant.transposed()};
  int sources =
      (constant.ranges() != nullptr) + (constant.random() != nullptr) + (constant.section() != -1);
  if (sources != 1)
    return absl::InvalidArgumentError(
        absl::StrFormat("constant %s expects either file ranges, random ranges or a section, but "
                        "has %d of them",
                        result.name, sources));
  if (constant.section() != -1) {
    TENON_ASSIGN_OR_RETURN(result.source, section(constant.section(), "constant " + result.name));
  } else if (constant.random()) {
    result.source = copy.map(constant.random(), [](const fbs::RandomRange* range) {
      return RandomRange{range->bytes(), range->seed(), range->mean(), range->scale()};
    });
  } else {
    result.source = copy.map(constant.ranges(), [](const fbs::FileRange* range) {
      return FileRange{range->file(), range->offset(), range->bytes()};
    });
  }
  return result;
}

absl::StatusOr<Kernel> Decoder::kernel(const fbs::Kernel& kernel) {
  Kernel result{copy.text(kernel.symbol()), kernel.code(), {}, kernel.tiles(), {}};
  result.args = copy.map(kernel.args(), [](const fbs::KernelArgument* argument) {
    return KernelArgument{argument->bytes(), static_cast<Access>(argument->access())};
  });
  const fbs::CudaLaunch* launch = kernel.launch();
  const fbs::LibraryMatmul* matmul = kernel.matmul();
  if (launch && matmul)
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel %s expects a launch or a matmul, but has both", result.symbol));
  if (kernel.tensor_maps() && !launch)
    return absl::InvalidArgumentError(
        absl::StrFormat("kernel %s expects a launch beside its tensor maps", result.symbol));
  if (launch)
    result.launch =
        CudaLaunch{launch->threads(), launch->shared_bytes(), launch->pdl(), launch->stamps(),
                   copy.map(kernel.tensor_maps(), [](const fbs::TensorMap* map) {
                     return TensorMap{map->argument(), map->box_rows(), map->rows(), map->columns(),
                                      static_cast<MatmulType>(map->type())};
                   })};
  if (matmul)
    result.launch = LibraryMatmul{matmul->m(),
                                  matmul->n(),
                                  matmul->k(),
                                  static_cast<MatmulType>(matmul->input()),
                                  static_cast<MatmulType>(matmul->output()),
                                  matmul->tf32(),
                                  matmul->workspace_bytes(),
                                  matmul->residual(),
                                  matmul->bias(),
                                  matmul->gelu()};
  return result;
}

template <typename T> std::vector<T> Decoder::values(const FlatTables<fbs::Value>* list) {
  return copy.map(list, [this](const fbs::Value* value) {
    T made{copy.text(value->name()), copy.text(value->encoding()), copy.numbers(value->shape()),
           value->bytes()};
    if constexpr (std::is_same_v<T, Port>)
      made.role = static_cast<PortRole>(value->role());
    return made;
  });
}

Step Decoder::step(const fbs::Step& step) {
  auto args = copy.map(step.args(), [](const fbs::BufferRef* ref) {
    return BufferRef{static_cast<Space>(ref->space()), ref->index(), ref->offset(), ref->bytes()};
  });
  return {step.kernel(), step.tiles(), std::move(args), copy.text(step.name())};
}

Function Decoder::function(const fbs::Function& function) {
  return {copy.text(function.name()),
          static_cast<Role>(function.role()),
          function.rows(),
          values<Port>(function.inputs()),
          values<Port>(function.outputs()),
          copy.map(function.steps(), [this](const fbs::Step* entry) { return step(*entry); }),
          function.predicted_ns(),
          function.shared_percent()};
}

static absl::StatusOr<TokenizerSpec> decodeTokenizer(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || !verifier.VerifyBuffer<fbs::Tokenizer>())
    return absl::InvalidArgumentError("the tokeniser section is no valid FlatBuffer");
  const auto& stored = *flatbuffers::GetRoot<fbs::Tokenizer>(data);
  BoundedCopy copy(bytes.size());
  TokenizerSpec spec;
  spec.model = static_cast<TokenizerModel>(stored.model());
  spec.preTokenizer = copy.text(stored.pre_tokenizer());
  spec.tokens = copy.texts(stored.tokens());
  spec.scores = copy.numbers(stored.scores());
  spec.kinds = copy.map(stored.kinds(), [](uint8_t kind) { return static_cast<TokenKind>(kind); });
  spec.merges = copy.texts(stored.merges());
  spec.bosId = stored.bos_id();
  spec.eosId = stored.eos_id();
  spec.unknownId = stored.unknown_id();
  spec.extraEndIds = copy.numbers(stored.extra_end_ids());
  spec.addBos = stored.add_bos();
  spec.addEos = stored.add_eos();
  spec.addSpacePrefix = stored.add_space_prefix();
  auto rewrite = [&](const fbs::RewriteStep* step) {
    return RewriteStep{static_cast<RewriteKind>(step->kind()), copy.text(step->pattern()),
                       copy.text(step->content())};
  };
  spec.splits = copy.map(stored.splits(), [&](const fbs::SplitStep* step) {
    return SplitStep{copy.text(step->pattern()), static_cast<SplitBehavior>(step->behavior()),
                     step->invert()};
  });
  spec.ignoreMerges = stored.ignore_merges();
  spec.normalizers = copy.map(stored.normalizers(), rewrite);
  spec.pieceNormalizers = copy.map(stored.piece_normalizers(), rewrite);
  spec.added = copy.map(stored.added(), [](const fbs::AddedToken* token) {
    return AddedToken{token->id(), token->whole_word(), token->strips_left(), token->strips_right(),
                      token->normalized()};
  });
  spec.fuseUnknown = stored.fuse_unknown();
  if (stored.chat_template())
    spec.chatTemplate = copy.text(stored.chat_template());
  if (copy.failed())
    return absl::InvalidArgumentError(
        "the tokeniser section holds overlapping or misaligned values");
  return spec;
}

absl::Status Decoder::decodeSections(Program& program) {
  for (const fbs::Constant* entry : *metadata.constants()) {
    TENON_ASSIGN_OR_RETURN(Constant decoded, constant(*entry));
    program.constants.push_back(std::move(decoded));
    if (copy.failed())
      break;
  }
  for (const fbs::Kernel* entry : *metadata.kernels()) {
    TENON_ASSIGN_OR_RETURN(Kernel decoded, kernel(*entry));
    program.kernels.push_back(std::move(decoded));
    if (copy.failed())
      break;
  }
  for (uint32_t index : copy.numbers(metadata.code())) {
    TENON_ASSIGN_OR_RETURN(SharedBytes object, section(index, "list of objects"));
    program.code.push_back(std::move(object));
  }
  if (metadata.tokenizer() != -1) {
    TENON_ASSIGN_OR_RETURN(SharedBytes bytes, section(metadata.tokenizer(), "tokeniser"));
    TENON_ASSIGN_OR_RETURN(program.tokenizer, decodeTokenizer(bytes.bytes()));
  }
  if (metadata.report() != -1) {
    TENON_ASSIGN_OR_RETURN(SharedBytes bytes, section(metadata.report(), "report"));
    program.report.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<Program> Decoder::decode() {
  Program program;
  program.target = copy.text(metadata.target());
  program.device = copy.text(metadata.device());
  program.features = copy.texts(metadata.features());
  program.encodings = copy.map(metadata.encodings(), [this](const fbs::EncodingInfo* info) {
    return EncodingInfo{copy.text(info->name()), info->block_elements(), info->block_bytes()};
  });
  program.files = copy.map(metadata.files(), [this](const fbs::SourceFile* file) {
    return SourceFile{resolvedPath(copy.text(file->path())), file->bytes(), file->fingerprint()};
  });
  program.states = values<State>(metadata.states());
  program.functions = copy.map(metadata.functions(),
                               [this](const fbs::Function* entry) { return function(*entry); });
  program.workspaceBytes = metadata.workspace_bytes();
  if (const fbs::ModelInfo* model = metadata.model())
    program.model = ModelInfo{copy.text(model->architecture()),
                              copy.text(model->name()),
                              model->vocabulary(),
                              model->context(),
                              model->sequences(),
                              model->pages(),
                              model->page_positions()};
  TENON_RETURN_IF_ERROR(decodeSections(program));
  if (copy.failed())
    return absl::InvalidArgumentError("the metadata holds overlapping or misaligned values");
  return program;
}

static bool isZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

/// The sections of the file in order, after checking that they fill it from the first page up to
/// the metadata, without overlap, and that each has its hash.
static absl::StatusOr<std::vector<SharedBytes>>
decodeSectionTable(const FlatVector<const fbs::Section*>& table, std::span<const std::byte> file,
                   uint64_t metadataOffset, const std::shared_ptr<const void>& owner) {
  if (!isAligned(table))
    return absl::InvalidArgumentError("the metadata holds a misaligned table of sections");
  std::vector<SharedBytes> sections;
  uint64_t end = pageBytes;
  for (const fbs::Section* entry : table) {
    uint64_t offset = nextPage(end);
    if (entry->offset() != offset)
      return absl::DataLossError(absl::StrFormat("section %u expects offset %u, but found %u",
                                                 sections.size(), offset, entry->offset()));
    if (offset > metadataOffset || entry->bytes() > metadataOffset - offset)
      return absl::DataLossError(absl::StrFormat(
          "section %u expects at most %u bytes before the metadata, but found %u", sections.size(),
          metadataOffset - std::min(offset, metadataOffset), entry->bytes()));
    if (!isZero(file.subspan(end, offset - end)))
      return absl::DataLossError(
          absl::StrFormat("the file is damaged: expects zeros before section %u", sections.size()));
    auto contents = file.subspan(offset, entry->bytes());
    if (uint64_t hash = hashBytes(contents); hash != entry->hash())
      return absl::DataLossError(
          absl::StrFormat("the file is damaged: section %u expects hash %016x, but found %016x",
                          sections.size(), entry->hash(), hash));
    sections.emplace_back(contents, owner);
    end = offset + entry->bytes();
  }
  if (nextPage(end) != metadataOffset || !isZero(file.subspan(end, metadataOffset - end)))
    return absl::DataLossError("the file is damaged: expects zeros up to the next page between "
                               "the last section and the metadata");
  return sections;
}

absl::StatusOr<Program> decodeProgram(std::span<const std::byte> file,
                                      std::span<const std::byte> metadata,
                                      std::shared_ptr<const void> owner,
                                      const std::string& folder) {
  const auto* data = reinterpret_cast<const uint8_t*>(metadata.data());
  flatbuffers::Verifier verifier(data, metadata.size());
  if (metadata.size() >= FLATBUFFERS_MAX_BUFFER_SIZE || !fbs::VerifyProgramBuffer(verifier))
    return absl::InvalidArgumentError("the metadata is no valid FlatBuffer");
  const fbs::Program& root = *fbs::GetProgram(data);
  uint64_t metadataOffset = static_cast<uint64_t>(metadata.data() - file.data());
  TENON_ASSIGN_OR_RETURN(std::vector<SharedBytes> sections,
                         decodeSectionTable(*root.sections(), file, metadataOffset, owner));
  return Decoder(root, sections, metadata.size(), folder).decode();
}

} // namespace tenon::runtime::internal
