#include <filesystem>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontends/gguf/GgufFile.h"
#include "frontends/models/Frontend.h"
#include "nlohmann/json.hpp"
#include "runtime/program/ProgramFile.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/TerminalText.h"
#include "tools/driver/FileKind.h"
#include "tools/report/ProgramReport.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

using frontends::GgufFile;
using frontends::GgufMetadata;
using frontends::GgufTensor;
using frontends::ModelSource;
using frontends::SourceKey;
using frontends::SourceTensor;

namespace {

struct Options {
  std::string file;
  JsonFlag json;
};

/// Elements that are shown of an array in the metadata.
constexpr size_t shownElements = 8;

std::string typeName(const GgufTensor& tensor) {
  return std::string(tensor.encoding ? tensor.encoding->name
                                     : frontends::ggufTensorTypeName(tensor.ggufType));
}

std::string_view encodingName(const SourceTensor& tensor) {
  return tensor.encoding ? tensor.encoding->name : "unknown";
}

/// The first bytes of a file; none of a folder.
absl::StatusOr<std::string> readModelStart(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return "";
  return readFileStart(path, 4);
}

void printTable(const GgufFile& file) {
  std::cout << absl::StrFormat(
      "%s: GGUF version %d, alignment %d, %d metadata keys, %d tensors\n\n", file.path(),
      file.version(), file.alignment(), file.metadata().size(), file.tensors().size());
  for (const GgufMetadata& entry : file.metadata())
    std::cout << absl::StrFormat("%-45s %-18s %s\n", escapeControls(entry.key),
                                 entry.value.typeText(), entry.value.text(shownElements));
  std::cout << "\n";
  for (const GgufTensor& tensor : file.tensors())
    std::cout << absl::StrFormat("%-32s %-7s %-18s %12d bytes at %d\n", escapeControls(tensor.name),
                                 typeName(tensor), "[" + absl::StrJoin(tensor.shape(), ", ") + "]",
                                 tensor.byteSize, tensor.offset);
}

nlohmann::ordered_json describe(const GgufFile& file) {
  nlohmann::ordered_json object = {{"file", file.path()},
                                   {"version", file.version()},
                                   {"alignment", file.alignment()},
                                   {"metadata", nlohmann::ordered_json::array()},
                                   {"tensors", nlohmann::ordered_json::array()}};
  for (const GgufMetadata& entry : file.metadata())
    object["metadata"].push_back({{"key", entry.key},
                                  {"type", entry.value.typeText()},
                                  {"value", entry.value.text(shownElements)}});
  for (const GgufTensor& tensor : file.tensors())
    object["tensors"].push_back({{"name", tensor.name},
                                 {"type", typeName(tensor)},
                                 {"shape", tensor.shape()},
                                 {"bytes", tensor.byteSize},
                                 {"offset", tensor.offset}});
  return object;
}

/// A model of another format: its keys as Tenon understands them, its tensors by canonical names.
void printSource(const ModelSource& source) {
  std::cout << absl::StrFormat("%s: %d files, %d keys, %d tensors\n\n", source.path(),
                               source.files().size(), source.keys().size(),
                               source.tensors().size());
  for (const SourceKey& key : source.keys())
    std::cout << absl::StrFormat("%-45s %s\n", escapeControls(key.canonical),
                                 escapeControls(key.value));
  std::cout << "\n";
  for (const SourceTensor& tensor : source.tensors())
    std::cout << absl::StrFormat("%-32s %-7s %-18s %12d bytes at %d of %s\n",
                                 escapeControls(tensor.name), encodingName(tensor),
                                 "[" + absl::StrJoin(tensor.shape, ", ") + "]", tensor.byteSize,
                                 tensor.offset, source.pathOf(tensor));
}

nlohmann::ordered_json describe(const ModelSource& source) {
  nlohmann::ordered_json object = {{"file", source.path()},
                                   {"metadata", nlohmann::ordered_json::array()},
                                   {"tensors", nlohmann::ordered_json::array()}};
  for (const SourceKey& key : source.keys())
    object["metadata"].push_back(
        {{"key", key.canonical}, {"stored", key.stored}, {"value", key.value}});
  for (const SourceTensor& tensor : source.tensors())
    object["tensors"].push_back({{"name", tensor.name},
                                 {"type", encodingName(tensor)},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.byteSize},
                                 {"offset", tensor.offset},
                                 {"file", source.pathOf(tensor)}});
  return object;
}

absl::Status inspect(const Options& options) {
  TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.file));
  if (kind == FileKind::Text)
    return absl::InvalidArgumentError(
        options.file + ": is textual IR, which is text to read; inspect takes model files and "
                       "compiled programs (.tnn)");
  if (kind == FileKind::Program) {
    TENON_ASSIGN_OR_RETURN(runtime::Program program, runtime::readProgram(options.file));
    if (!options.json.replacesText())
      std::cout << formatProgram(program, options.file);
    return writeJson(options.json, describeProgram(program, options.file));
  }
  TENON_ASSIGN_OR_RETURN(std::string head, readModelStart(options.file));
  if (!head.starts_with("GGUF")) {
    TENON_ASSIGN_OR_RETURN(auto source, frontends::openModel(options.file));
    if (!options.json.replacesText())
      printSource(*source);
    return writeJson(options.json, describe(*source));
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const GgufFile> file, GgufFile::open(options.file));
  if (!options.json.replacesText())
    printTable(*file);
  return writeJson(options.json, describe(*file));
}

} // namespace

void addInspectCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a model file or a compiled program holds");
  command
      ->add_option("FILE", options->file,
                   "The GGUF file, Hugging Face folder or compiled program (.tnn)")
      ->required();
  addJsonFlag(*command, options->json, "one object");
  command->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

} // namespace tenon::tools
