#include "tools/run/RunGraph.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/program/Program.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/driver/UsageError.h"
#include "tools/run/Npz.h"

namespace tenon::tools {

using runtime::Function;
using runtime::Port;

/// How NumPy holds the values of an encoding.
static NpyType arrayType(const std::string& encoding) {
  if (encoding == "f32")
    return NpyType::F32;
  if (encoding == "f16")
    return NpyType::F16;
  if (encoding == "bf16")
    return NpyType::U16;
  if (encoding == "i32")
    return NpyType::I32;
  if (encoding == "i64")
    return NpyType::I64;
  if (encoding == "bool")
    return NpyType::Bool;
  return NpyType::U8;
}

/// The shape of the array: that of the port, or the bytes of a block-quantised one.
static std::vector<int64_t> arrayShape(const Port& port) {
  if (arrayType(port.encoding) == NpyType::U8)
    return {static_cast<int64_t>(port.bytes)};
  return port.shape;
}

static std::string describe(NpyType type, const std::vector<int64_t>& shape) {
  return absl::StrFormat("%s [%s]", npyTypeName(type), absl::StrJoin(shape, ", "));
}

absl::StatusOr<size_t> findFunction(const runtime::Program& program, const std::string& name) {
  if (name.empty() && program.functions.size() == 1)
    return 0;
  auto found = std::ranges::find(program.functions, name, &Function::name);
  if (found != program.functions.end())
    return found - program.functions.begin();
  if (program.functions.empty())
    return absl::InvalidArgumentError("expects a module with a function to call, but it has none");
  auto appendName = [](std::string* out, const Function& function) { *out += function.name; };
  return usageError(absl::StrFormat("--function: expects one of %s, but got %s",
                                    absl::StrJoin(program.functions, ", ", appendName),
                                    name.empty() ? "none" : "'" + name + "'"));
}

/// The least and the most that an index of a language model may be; nothing for other ports.
static std::optional<std::pair<int64_t, int64_t>>
findRange(const runtime::Program& program, const Function& function, runtime::PortRole role) {
  if (!program.model || function.role == runtime::Role::Other)
    return std::nullopt;
  switch (role) {
  case runtime::PortRole::Ids:
    return std::pair(int64_t(0), program.model->vocabulary - 1);
  case runtime::PortRole::Sequences:
    return std::pair(int64_t(0), program.model->sequences - 1);
  case runtime::PortRole::Positions:
    return std::pair(int64_t(-1), program.model->context - 1);
  case runtime::PortRole::OutputRows:
    return std::pair(int64_t(0), function.rows - 1);
  case runtime::PortRole::BlockTable:
    return std::pair(int64_t(-1), program.model->pages - 1);
  default:
    return std::nullopt;
  }
}

/// Kernels take an index outside its range for an inactive row: a caller of `run` must hear of it.
static absl::Status checkIndices(const runtime::Program& program, const Function& function,
                                 const Port& port, std::span<const std::byte> bytes,
                                 const std::string& path) {
  auto range = findRange(program, function, port.role);
  if (!range)
    return absl::OkStatus();
  for (size_t i = 0; i < bytes.size() / sizeof(int32_t); ++i) {
    int32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
    if (value < range->first || value > range->second)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: array '%s' expects integers from %d to %d, but element %u is %d",
                          path, port.name, range->first, range->second, i, value));
  }
  return absl::OkStatus();
}

/// Refuses arrays that the function has no input for: a misspelt name would go unnoticed.
static absl::Status checkNames(const NpzFile& file, const Function& function,
                               const std::string& path) {
  auto appendName = [](std::string* out, const Port& port) { *out += port.name; };
  for (const std::string& name : file.names())
    if (std::ranges::find(function.inputs, name, &Port::name) == function.inputs.end())
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: function %s has the inputs %s, but the file has an array '%s'", path,
                          function.name, absl::StrJoin(function.inputs, ", ", appendName), name));
  return absl::OkStatus();
}

/// Refuses results without a file, and a file for them that is the inputs'.
static absl::Status checkGraphRun(const GraphRunOptions& options) {
  if (options.output.empty())
    return usageError("--function: expects -o, too, a file for the results");
  std::error_code ignored;
  if (!options.inputs.empty() &&
      std::filesystem::equivalent(options.inputs, options.output, ignored))
    return usageError(
        absl::StrFormat("-o: expects another file than -f, but both are %s", options.output));
  return absl::OkStatus();
}

void addGraphRunOptions(CLI::App& command, GraphRunOptions& options) {
  command.add_option("--function", options.function,
                     "The function to call on arrays, with -f and -o (default: the only one)");
  command.add_option("-o,--output,--outputs", options.output,
                     "Calls a function, and writes its results to this file, a NumPy .npz archive; "
                     "- for standard output");
}

absl::Status readGraphRunOptions(const GraphRunOptions& options, FlagRules& rules) {
  if (!options.isGiven())
    return absl::OkStatus();
  rules.deny(Need::Text, "--function and -o call a function on arrays");
  return checkGraphRun(options);
}

/// The bytes that an array of that header has, which are known to fit the archive.
static uint64_t arrayBytes(const NpyHeader& header) {
  uint64_t bytes = static_cast<uint64_t>(npyTypeBytes(header.type));
  for (int64_t length : header.shape)
    bytes *= static_cast<uint64_t>(length);
  return bytes;
}

/// The array for a port, unpacked once its header fits; the message names the file and the array.
static absl::StatusOr<NpyArray> readInput(const NpzFile& file, const Port& port,
                                          const std::string& path) {
  if (!file.has(port.name))
    return absl::NotFoundError(
        absl::StrFormat("%s: expects an array '%s', but there is none", path, port.name));
  TENON_ASSIGN_OR_RETURN(NpyHeader header, file.header(port.name));
  NpyType type = arrayType(port.encoding);
  bool sameShape =
      type == NpyType::U8 ? arrayBytes(header) == port.bytes : header.shape == arrayShape(port);
  if (header.type != type || !sameShape)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: array '%s' expects %s for %s, but got %s", path, port.name,
        describe(type, arrayShape(port)), port.encoding, describe(header.type, header.shape)));
  return file.read(port.name);
}

/// The arrays of the function's inputs, in their order.
static absl::StatusOr<std::vector<NpyArray>>
readInputs(const runtime::Program& program, const Function& function, const std::string& path) {
  std::vector<NpyArray> arrays;
  if (path.empty() && function.inputs.empty())
    return arrays;
  if (path.empty())
    return usageError(
        absl::StrFormat("-f: expects a file with the inputs of %s, but got none", function.name));
  TENON_ASSIGN_OR_RETURN(NpzFile file, NpzFile::open(inputPath(path)));
  TENON_RETURN_IF_ERROR(checkNames(file, function, path));
  for (const Port& port : function.inputs) {
    TENON_ASSIGN_OR_RETURN(arrays.emplace_back(), readInput(file, port, path));
    TENON_RETURN_IF_ERROR(checkIndices(program, function, port, arrays.back().bytes, path));
  }
  return arrays;
}

/// Fails where the results of a call are larger than the machine's memory, before they are allocated.
static absl::Status checkOutputs(const Function& function) {
  auto memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  uint64_t bytes = 0;
  for (const Port& port : function.outputs)
    bytes += port.bytes; // `validateProgram` bounds the sum
  if (bytes <= memory)
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("function '%s': expects results that fit the machine's %u bytes of memory, "
                      "but they have %u",
                      function.name, memory, bytes));
}

absl::Status runGraph(runtime::Executor& executor, const GraphRunOptions& options) {
  TENON_RETURN_IF_ERROR(checkGraphRun(options));
  const runtime::Program& program = executor.program();
  TENON_ASSIGN_OR_RETURN(size_t index, findFunction(program, options.function));
  const Function& function = program.functions[index];
  TENON_RETURN_IF_ERROR(checkOutputs(function));

  TENON_RETURN_IF_ERROR(checkOutput(outputPath(options.output)));
  TENON_ASSIGN_OR_RETURN(std::vector<NpyArray> inputArrays,
                         readInputs(program, function, options.inputs));
  std::vector<std::span<const std::byte>> inputs;
  for (const NpyArray& array : inputArrays)
    inputs.push_back(array.bytes);
  NpyArrays outputArrays;
  std::vector<std::span<std::byte>> outputs;
  for (const Port& port : function.outputs) {
    NpyArray& array = outputArrays[port.name];
    array = {arrayType(port.encoding), arrayShape(port), std::vector<std::byte>(port.bytes)};
    outputs.push_back(array.bytes);
  }
  TENON_RETURN_IF_ERROR(executor.run(index, inputs, outputs));
  return writeNpz(outputPath(options.output), outputArrays);
}

} // namespace tenon::tools
