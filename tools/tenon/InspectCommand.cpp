#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontends/gguf/GgufFile.h"
#include "nlohmann/json.hpp"
#include "support/Status.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

using frontends::GgufFile;
using frontends::GgufMetadata;
using frontends::GgufTensor;

namespace {

struct Options {
  std::string file;
  bool json = false;
  size_t maxElements = 8;
};

std::string typeName(const GgufTensor& tensor) {
  return std::string(tensor.encoding ? tensor.encoding->name
                                     : frontends::ggufTensorTypeName(tensor.ggufType));
}

void printTable(const GgufFile& file, size_t maxElements) {
  std::cout << absl::StrFormat(
      "%s: GGUF version %d, alignment %d, %d metadata keys, %d tensors\n\n", file.path(),
      file.version(), file.alignment(), file.metadata().size(), file.tensors().size());
  for (const GgufMetadata& entry : file.metadata())
    std::cout << absl::StrFormat("%-45s %-18s %s\n", entry.key, entry.value.typeText(),
                                 entry.value.text(maxElements));
  std::cout << "\n";
  for (const GgufTensor& tensor : file.tensors())
    std::cout << absl::StrFormat("%-32s %-7s %-18s %12d bytes at %d\n", tensor.name,
                                 typeName(tensor), "[" + absl::StrJoin(tensor.shape(), ", ") + "]",
                                 tensor.byteSize, tensor.offset);
}

void printJson(const GgufFile& file, size_t maxElements) {
  nlohmann::ordered_json object = {{"file", file.path()},
                                   {"version", file.version()},
                                   {"alignment", file.alignment()},
                                   {"metadata", nlohmann::ordered_json::array()},
                                   {"tensors", nlohmann::ordered_json::array()}};
  for (const GgufMetadata& entry : file.metadata())
    object["metadata"].push_back({{"key", entry.key},
                                  {"type", entry.value.typeText()},
                                  {"value", entry.value.text(maxElements)}});
  for (const GgufTensor& tensor : file.tensors())
    object["tensors"].push_back({{"name", tensor.name},
                                 {"type", typeName(tensor)},
                                 {"shape", tensor.shape()},
                                 {"bytes", tensor.byteSize},
                                 {"offset", tensor.offset}});
  std::cout << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

absl::Status inspect(const Options& options) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const GgufFile> file, GgufFile::open(options.file));
  if (options.json)
    printJson(*file, options.maxElements);
  else
    printTable(*file, options.maxElements);
  return absl::OkStatus();
}

} // namespace

void addInspectCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a GGUF file holds");
  command->add_option("FILE", options->file, "The GGUF file")->required();
  command->add_option("--elements", options->maxElements, "Elements shown of each array")
      ->capture_default_str();
  command->add_flag("--json", options->json, "One JSON object instead of a table");
  command->callback([options, &action] { action = [options] { return inspect(*options); }; });
}

} // namespace tenon::tools
