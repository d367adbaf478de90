#include "runtime/program/ValidateProgram.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/program/ModelPorts.h"
#include "runtime/program/RandomValues.h"
#include "runtime/program/internal/ValidateKernel.h"
#include "support/Status.h"

namespace tenon::runtime {

namespace {

/// No machine that Tenon targets has more memory; sums of sizes below it cannot overflow.
constexpr uint64_t maxBytes = uint64_t{1} << 40;
/// A tile writes at least one byte.
constexpr int64_t maxTiles = int64_t{1} << 40;

using internal::invalid;
using internal::quoted;

std::string shapeText(const std::vector<int64_t>& shape) {
  return "[" + absl::StrJoin(shape, ", ") + "]";
}

class Validator {
public:
  explicit Validator(const Program& program) : program(program) {}

  absl::Status validate();

private:
  absl::Status validateEncodings();
  template <typename T> absl::Status validateValue(const std::string& what, const T& value);
  absl::Status validateConstant(const Constant& constant);
  absl::Status validateFileRange(const FileRange& range);
  absl::Status validateTransposed(const std::string& what, const Constant& constant);
  absl::Status validateRandomRange(const Constant& constant, const RandomRange& range);
  absl::Status validateMemory();
  absl::Status validateKernels();
  absl::Status validateModel();
  absl::Status validateTokenizer(const TokenizerSpec& spec);
  absl::Status validateFunction(const Function& function);
  absl::Status validateStep(const Function& function, const std::string& what, const Step& step);
  template <typename T>
  absl::Status addressedBytes(const std::vector<T>& list, std::string_view kind, uint32_t index,
                              uint64_t& bytes);
  absl::Status validateArgument(const Function& function, const BufferRef& ref);
  absl::Status validateSignature(const Function& function);
  absl::Status validatePort(const std::vector<Port>& ports, const Port& expected);

  const Program& program;
  uint64_t loadedBytes = 0; ///< of workspace, states and constants that are made
};

} // namespace

absl::Status Validator::validateEncodings() {
  std::set<std::string_view> names;
  for (const EncodingInfo& info : program.encodings) {
    if (info.name.empty() || !names.insert(info.name).second)
      return invalid("encoding %s expects a unique name", quoted(info.name));
    if (info.blockElements == 0 || info.blockBytes == 0)
      return invalid("encoding %s expects positive block sizes, but found %u elements in %u bytes",
                     quoted(info.name), info.blockElements, info.blockBytes);
  }
  return absl::OkStatus();
}

/// The bytes of a tensor, or an error without context.
static absl::StatusOr<uint64_t> tensorBytes(const EncodingInfo& info,
                                            const std::vector<int64_t>& shape) {
  uint64_t elements = 1;
  for (int64_t extent : shape)
    if (extent <= 0 || __builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements))
      return invalid("expects positive extents whose product fits 64 bits, but has shape %s",
                     shapeText(shape));
  uint64_t innermost = shape.empty() ? 1 : static_cast<uint64_t>(shape.back());
  if (innermost % info.blockElements != 0)
    return invalid("of encoding %s expects an innermost extent divisible by %u, but has shape %s",
                   info.name, info.blockElements, shapeText(shape));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements / info.blockElements, info.blockBytes, &bytes) ||
      bytes > maxBytes)
    return invalid("expects at most %u bytes, but has shape %s of %s", maxBytes, shapeText(shape),
                   info.name);
  return bytes;
}

template <typename T>
absl::Status Validator::validateValue(const std::string& what, const T& value) {
  auto info = std::ranges::find(program.encodings, value.encoding, &EncodingInfo::name);
  if (info == program.encodings.end())
    return invalid("%s expects one of the program's encodings, but found %s", what,
                   quoted(value.encoding));
  absl::StatusOr<uint64_t> bytes = tensorBytes(*info, value.shape);
  if (!bytes.ok())
    return invalid("%s %s", what, std::string(bytes.status().message()));
  if (*bytes != value.bytes)
    return invalid("%s expects %u bytes for shape %s of %s, but found %u", what, *bytes,
                   shapeText(value.shape), value.encoding, value.bytes);
  return absl::OkStatus();
}

absl::Status Validator::validateFileRange(const FileRange& range) {
  if (range.file >= program.files.size())
    return invalid("expects one of the %u files, but names file %u", program.files.size(),
                   range.file);
  const SourceFile& file = program.files[range.file];
  if (range.offset > file.bytes || range.bytes > file.bytes - range.offset)
    return invalid("expects a range within the %u bytes of %s, but found %u bytes at offset %u",
                   file.bytes, quoted(file.path), range.bytes, range.offset);
  return absl::OkStatus();
}

absl::Status Validator::validateRandomRange(const Constant& constant, const RandomRange& range) {
  uint64_t unitBytes = randomUnitBytes(constant.encoding);
  bool isBlock = findRandomBlock(constant.encoding, range).has_value();
  auto info = std::ranges::find(program.encodings, constant.encoding, &EncodingInfo::name);
  if (unitBytes == 0 || (info->blockElements == 1) == isBlock || info->blockBytes != unitBytes)
    return invalid("expects an encoding that random values have, but found %s", constant.encoding);
  if (range.bytes % unitBytes != 0)
    return invalid("expects random ranges of whole %s values, but found %u bytes",
                   constant.encoding, range.bytes);
  if (!std::isfinite(range.mean) || !std::isfinite(range.scale))
    return invalid("expects a finite mean and scale of random values, but found %g and %g",
                   range.mean, range.scale);
  return absl::OkStatus();
}

absl::Status Validator::validateConstant(const Constant& constant) {
  std::string what = "constant " + quoted(constant.name);
  TENON_RETURN_IF_ERROR(validateValue(what, constant));
  uint64_t sourceBytes = 0;
  auto addRange = [&](uint64_t bytes, const absl::Status& status) -> absl::Status {
    if (!status.ok())
      return invalid("%s %s", what, std::string(status.message()));
    if (bytes > maxBytes - sourceBytes)
      return invalid("%s expects at most %u bytes of source, exceeded by a range of %u bytes", what,
                     maxBytes, bytes);
    sourceBytes += bytes;
    return absl::OkStatus();
  };
  if (const auto* embedded = std::get_if<SharedBytes>(&constant.source))
    sourceBytes = embedded->size();
  else if (const auto* random = std::get_if<std::vector<RandomRange>>(&constant.source))
    for (const RandomRange& range : *random)
      TENON_RETURN_IF_ERROR(addRange(range.bytes, validateRandomRange(constant, range)));
  else
    for (const FileRange& range : std::get<std::vector<FileRange>>(constant.source))
      TENON_RETURN_IF_ERROR(addRange(range.bytes, validateFileRange(range)));
  if (sourceBytes != constant.bytes)
    return invalid("%s expects %u bytes of source, but found %u", what, constant.bytes,
                   sourceBytes);
  return validateTransposed(what, constant);
}

absl::Status Validator::validateTransposed(const std::string& what, const Constant& constant) {
  if (!constant.transposed)
    return absl::OkStatus();
  if (!std::holds_alternative<std::vector<FileRange>>(constant.source))
    return invalid("%s expects ranges of files to be transposed, but found another source", what);
  auto info = std::ranges::find(program.encodings, constant.encoding, &EncodingInfo::name);
  if (constant.shape.size() < 2 || info->blockElements != 1)
    return invalid("%s expects at least two axes of plain elements to be transposed, but found "
                   "shape %s of %s",
                   what, shapeText(constant.shape), constant.encoding);
  return absl::OkStatus();
}

absl::Status Validator::validateMemory() {
  TENON_RETURN_IF_ERROR(validateEncodings());
  for (const SourceFile& file : program.files)
    if (file.path.empty())
      return invalid("file %u expects a path", &file - program.files.data());
  if (program.workspaceBytes > maxBytes)
    return invalid("the workspace expects at most %u bytes, but found %u", maxBytes,
                   program.workspaceBytes);
  loadedBytes = program.workspaceBytes;
  for (const State& state : program.states) {
    TENON_RETURN_IF_ERROR(validateValue("state " + quoted(state.name), state));
    loadedBytes += state.bytes;
    if (loadedBytes > maxBytes)
      return invalid("workspace and states expect at most %u bytes together, exceeded by state %s",
                     maxBytes, quoted(state.name));
  }
  for (const Constant& constant : program.constants) {
    TENON_RETURN_IF_ERROR(validateConstant(constant));
    if (std::holds_alternative<std::vector<FileRange>>(constant.source) && !constant.transposed)
      continue;
    loadedBytes += constant.bytes;
    if (loadedBytes > maxBytes)
      return invalid("workspace, states and constants expect at most %u bytes together, exceeded "
                     "by constant %s",
                     maxBytes, quoted(constant.name));
  }
  return absl::OkStatus();
}

absl::Status Validator::validateKernels() {
  if (program.device != "cpu" && program.device != "cuda")
    return invalid("expects device \"cpu\" or \"cuda\", but found %s", quoted(program.device));
  for (const std::string& feature : program.features)
    if (feature.empty())
      return invalid("expects names of CPU features, but found an empty one");
  for (const Kernel& kernel : program.kernels) {
    if (kernel.symbol.empty())
      return invalid("kernel %u expects a symbol", &kernel - program.kernels.data());
    TENON_RETURN_IF_ERROR(internal::validateKernel(program, kernel));
  }
  return absl::OkStatus();
}

absl::Status Validator::validateTokenizer(const TokenizerSpec& spec) {
  if (spec.model > TokenizerModel::WordPiece)
    return invalid("the tokeniser expects a model from 0 to 4, but found %d",
                   static_cast<int>(spec.model));
  for (TokenKind kind : spec.kinds)
    if (kind < TokenKind::Normal || kind > TokenKind::Byte)
      return invalid("the tokeniser expects token kinds from 1 to 6, but found %d",
                     static_cast<int>(kind));
  return absl::OkStatus();
}

absl::Status Validator::validateModel() {
  if (program.tokenizer)
    TENON_RETURN_IF_ERROR(validateTokenizer(*program.tokenizer));
  if (!program.model)
    return absl::OkStatus();
  // Token ids, positions and sequences are i32 in the signatures of the roles.
  for (int64_t count :
       {program.model->vocabulary, program.model->context, program.model->sequences})
    if (count <= 0 || count > INT32_MAX)
      return invalid("the model expects vocabulary, context and sequences between 1 and 2^31 - 1, "
                     "but found %d",
                     count);
  const ModelInfo& model = *program.model;
  if (model.pages == 0 && model.pagePositions == 0)
    return absl::OkStatus();
  if (model.pages < 1 || model.pages > INT32_MAX || model.pagePositions < 1 ||
      model.pagePositions > INT32_MAX || model.blocks() > model.pages)
    return invalid(
        "the model expects pages for a context of %d positions, but found %d pages of %d",
        model.context, model.pages, model.pagePositions);
  return absl::OkStatus();
}

template <typename T>
absl::Status Validator::addressedBytes(const std::vector<T>& list, std::string_view kind,
                                       uint32_t index, uint64_t& bytes) {
  if (index >= list.size())
    return invalid("expects one of the %u %s, but names number %u", list.size(), kind, index);
  bytes = list[index].bytes;
  return absl::OkStatus();
}

absl::Status Validator::validateArgument(const Function& function, const BufferRef& ref) {
  uint64_t bytes = program.workspaceBytes;
  switch (ref.space) {
  case Space::Constant:
    TENON_RETURN_IF_ERROR(addressedBytes(program.constants, "constants", ref.index, bytes));
    break;
  case Space::State:
    TENON_RETURN_IF_ERROR(addressedBytes(program.states, "states", ref.index, bytes));
    break;
  case Space::Workspace:
    if (ref.index != 0)
      return invalid("expects index 0 for the workspace, but found %u", ref.index);
    break;
  case Space::Input:
    TENON_RETURN_IF_ERROR(addressedBytes(function.inputs, "inputs", ref.index, bytes));
    break;
  case Space::Output:
    TENON_RETURN_IF_ERROR(addressedBytes(function.outputs, "outputs", ref.index, bytes));
    break;
  default:
    return invalid("expects a space from 0 to 4, but found %d", static_cast<int>(ref.space));
  }
  if (ref.offset > bytes || ref.bytes > bytes - ref.offset)
    return invalid("expects a range within %u bytes, but found %u bytes at offset %u", bytes,
                   ref.bytes, ref.offset);
  return absl::OkStatus();
}

absl::Status Validator::validateStep(const Function& function, const std::string& what,
                                     const Step& step) {
  if (step.kernel >= program.kernels.size())
    return invalid("%s expects one of the %u kernels, but names kernel %u", what,
                   program.kernels.size(), step.kernel);
  if (step.tiles <= 0 || step.tiles > maxTiles)
    return invalid("%s expects between 1 and %d tiles, but found %d", what, maxTiles, step.tiles);
  if (absl::Status status = internal::validateLaunch(program.kernels[step.kernel], step);
      !status.ok())
    return invalid("%s %s", what, std::string(status.message()));
  for (const BufferRef& ref : step.args)
    if (absl::Status status = validateArgument(function, ref); !status.ok())
      return invalid("%s: argument %u %s", what, &ref - step.args.data(),
                     std::string(status.message()));
  if (absl::Status status = internal::validateAgainstKernel(program.kernels[step.kernel], step);
      !status.ok())
    return invalid("%s %s", what, std::string(status.message()));
  return absl::OkStatus();
}

/// The port of `expected`'s role must be `expected` in all but its name.
absl::Status Validator::validatePort(const std::vector<Port>& ports, const Port& expected) {
  auto text = [](const Port& port) {
    return absl::StrFormat("%s: %s of %s", quoted(port.name), shapeText(port.shape), port.encoding);
  };
  std::optional<size_t> found = findPort(ports, expected.role);
  if (!found)
    return invalid("expects %s, but it is missing", text(expected));
  const Port& port = ports[*found];
  // An encoding is what the program says it is: f32 and i32 must have the meaning that the
  // generation loop relies on.
  if (port.encoding == expected.encoding && port.shape == expected.shape &&
      port.bytes != expected.bytes)
    return invalid("expects 4 bytes an element in %s, but found %u bytes", text(port), port.bytes);
  if (!holdsTheSame(port, expected))
    return invalid("expects %s, but found %s", text(expected), text(port));
  return absl::OkStatus();
}

absl::Status Validator::validateSignature(const Function& function) {
  if (function.role > Role::Mixed)
    return invalid("expects a role from 0 to 3, but found %d", static_cast<int>(function.role));
  if (function.predictedNs < 0)
    return invalid("expects a predicted time of at least 0 ns, but found %d", function.predictedNs);
  if (function.sharedPercent < 0 || function.sharedPercent > 100)
    return invalid("expects 0 to 100 percent of shared memory, but found %d",
                   function.sharedPercent);
  if (function.role == Role::Other)
    return absl::OkStatus();
  if (!program.model)
    return invalid("expects a model, which its role needs");
  ModelPorts ports = modelPorts(function.role, function.rows, *program.model);
  if (function.inputs.size() > ports.inputs.size())
    return invalid("expects %u inputs, but found %u", ports.inputs.size(), function.inputs.size());
  for (const Port& port : ports.inputs)
    TENON_RETURN_IF_ERROR(validatePort(function.inputs, port));
  TENON_RETURN_IF_ERROR(validatePort(function.outputs, ports.logits));
  if (findPort(function.outputs, PortRole::NextIds))
    TENON_RETURN_IF_ERROR(validatePort(function.outputs, ports.nextIds));
  for (const Port& port : ports.guesses)
    if (findPort(function.outputs, port.role))
      TENON_RETURN_IF_ERROR(validatePort(function.outputs, port));
  return absl::OkStatus();
}

absl::Status Validator::validateFunction(const Function& function) {
  std::string what = "function " + quoted(function.name);
  uint64_t calledBytes = loadedBytes;
  auto validatePorts = [&](const std::vector<Port>& ports, const char* kind) -> absl::Status {
    for (const Port& port : ports) {
      TENON_RETURN_IF_ERROR(validateValue(what + ": " + kind + " " + quoted(port.name), port));
      if (port.role > PortRole::StepPositions)
        return invalid("%s: %s %s expects a role from 0 to 11, but found %d", what, kind,
                       quoted(port.name), static_cast<int>(port.role));
      calledBytes += port.bytes;
      if (calledBytes > maxBytes)
        return invalid("%s expects at most %u bytes of arguments and what is loaded together, "
                       "exceeded by %s %s",
                       what, maxBytes, kind, quoted(port.name));
    }
    return absl::OkStatus();
  };
  TENON_RETURN_IF_ERROR(validatePorts(function.inputs, "input"));
  TENON_RETURN_IF_ERROR(validatePorts(function.outputs, "output"));
  if (absl::Status status = validateSignature(function); !status.ok())
    return invalid("%s %s", what, std::string(status.message()));
  for (const Step& step : function.steps)
    TENON_RETURN_IF_ERROR(validateStep(
        function,
        absl::StrFormat("%s: step %u %s", what, &step - function.steps.data(), quoted(step.name)),
        step));
  return absl::OkStatus();
}

absl::Status Validator::validate() {
  TENON_RETURN_IF_ERROR(validateMemory());
  TENON_RETURN_IF_ERROR(validateKernels());
  TENON_RETURN_IF_ERROR(validateModel());
  std::set<std::string_view> names;
  for (const Function& function : program.functions) {
    if (function.name.empty() || !names.insert(function.name).second)
      return invalid("function %s expects a unique name", quoted(function.name));
    TENON_RETURN_IF_ERROR(validateFunction(function));
  }
  return absl::OkStatus();
}

absl::Status validateProgram(const Program& program) { return Validator(program).validate(); }

} // namespace tenon::runtime
