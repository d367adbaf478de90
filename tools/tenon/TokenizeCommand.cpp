#include <iostream>
#include <memory>

#include "absl/strings/str_join.h"
#include "frontends/models/Frontend.h"
#include "nlohmann/json.hpp"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/SpecialFlag.h"
#include "tools/driver/FileKind.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  std::string model;
  std::string text = "-";
  JsonFlag json;
  runtime::EncodeOptions special;
};

absl::Status tokenize(const Options& options) {
  TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.model));
  if (kind != FileKind::Model)
    return absl::InvalidArgumentError(options.model +
                                      ": expects a GGUF file or a Hugging Face folder, which "
                                      "hold a tokeniser");
  TENON_ASSIGN_OR_RETURN(auto source, frontends::openModel(options.model));
  TENON_ASSIGN_OR_RETURN(runtime::TokenizerSpec spec, source->tokenizer());
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(std::move(spec)));
  TENON_ASSIGN_OR_RETURN(std::string text, readTextFile(options.text));
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids, tokenizer->encode(text, options.special));
  if (!options.json.replacesText())
    std::cout << absl::StrJoin(ids, " ") << "\n";
  return writeJson(options.json, {{"ids", ids}}, onOneLine);
}

} // namespace

void addTokenizeCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "tokenize", "Turn text, of a file or standard input, into a model's token ids");
  command
      ->add_option("MODEL", options->model,
                   "The GGUF file or Hugging Face folder that holds the tokeniser")
      ->required();
  command->add_option("-f,--file", options->text,
                      "The file with the text, instead of standard input, -");
  addJsonFlag(*command, options->json, "one object: ids");
  addSpecialFlag(*command, options->special);
  command->callback([options, &action] { action = [options] { return tokenize(*options); }; });
}

} // namespace tenon::tools
