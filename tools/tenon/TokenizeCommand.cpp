#include <iostream>
#include <iterator>
#include <memory>

#include "absl/strings/str_join.h"
#include "frontends/gguf/GgufFile.h"
#include "nlohmann/json.hpp"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/common/GgufTokenizer.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

struct Options {
  std::string model;
  bool json = false;
  bool noSpecial = false;
  bool parseSpecial = false;
};

absl::Status tokenize(const Options& options) {
  TENON_ASSIGN_OR_RETURN(auto file, frontends::GgufFile::open(options.model));
  TENON_ASSIGN_OR_RETURN(runtime::TokenizerSpec spec, readGgufTokenizer(*file));
  TENON_ASSIGN_OR_RETURN(auto tokenizer, runtime::Tokenizer::create(std::move(spec)));
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  TENON_ASSIGN_OR_RETURN(std::vector<int32_t> ids,
                         tokenizer->encode(text, {.addSpecial = !options.noSpecial,
                                                  .parseSpecial = options.parseSpecial}));
  if (options.json)
    std::cout << nlohmann::json({{"ids", ids}}).dump() << "\n";
  else
    std::cout << absl::StrJoin(ids, " ") << "\n";
  return absl::OkStatus();
}

} // namespace

void addTokenizeCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("tokenize", "Turn the text on standard input into a model's token ids");
  command->add_option("MODEL", options->model, "The GGUF file that holds the tokeniser")
      ->required();
  command->add_flag("--json", options->json, "One object, {\"ids\": […]}");
  command->add_flag("--no-special", options->noSpecial,
                    "Without the BOS and EOS tokens that the model asks for");
  command->add_flag("--parse-special", options->parseSpecial,
                    "Read the texts of control tokens (<s>) as these tokens");
  command->callback([options, &action] { action = [options] { return tokenize(*options); }; });
}

} // namespace tenon::tools
