// What scripts/compare-tokenizers asks for the splits and ids of Tenon:
//   tokenizer_probe splits NAME   the lengths in bytes of the pieces of a pre-tokeniser
//   tokenizer_probe ids FILE      the ids of a GGUF file's tokeniser, without BOS and EOS
//   tokenizer_probe json FILE     the ids of a tokenizer.json, all that it adds and finds included
// Reads one text a line, as hexadecimal bytes; writes one line of numbers for each.

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/GgufTokenizer.h"
#include "frontends/hf/HfTokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/PreTokenizer.h"
#include "support/Status.h"

namespace tenon::runtime {
namespace {

using Answer = std::function<absl::StatusOr<std::vector<int64_t>>(std::string_view)>;

absl::StatusOr<std::string> readHex(std::string_view line) {
  const auto digit = [](char c) { return std::string_view("0123456789abcdef").find(c); };
  std::string bytes;
  for (size_t i = 0; i < line.size(); i += 2) {
    const size_t high = digit(line[i]);
    const size_t low = i + 1 < line.size() ? digit(line[i + 1]) : std::string_view::npos;
    if (high > 15 || low > 15)
      return absl::InvalidArgumentError("expects lines of pairs of digits 0 to f");
    bytes += char(high << 4 | low);
  }
  return bytes;
}

absl::StatusOr<TokenizerSpec> readGguf(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const auto file, frontends::GgufFile::open(path));
  return frontends::readGgufTokenizer(*file);
}

absl::StatusOr<TokenizerSpec> readJson(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const frontends::JsonFile file, frontends::JsonFile::open(path));
  return frontends::readTokenizerJson(file);
}

absl::StatusOr<Answer> makeAnswer(std::string_view mode, const std::string& name) {
  if (mode == "splits") {
    TENON_ASSIGN_OR_RETURN(internal::PreTokenizer created, internal::PreTokenizer::create(name));
    auto preTokenizer = std::make_shared<internal::PreTokenizer>(std::move(created));
    return [preTokenizer](std::string_view text) -> absl::StatusOr<std::vector<int64_t>> {
      TENON_ASSIGN_OR_RETURN(const auto pieces, preTokenizer->split(text));
      std::vector<int64_t> lengths;
      for (std::string_view piece : pieces)
        lengths.push_back(int64_t(piece.size()));
      return lengths;
    };
  }
  if (mode != "ids" && mode != "json")
    return absl::InvalidArgumentError("expects splits, ids or json");
  const bool isJson = mode == "json";
  TENON_ASSIGN_OR_RETURN(TokenizerSpec spec, isJson ? readJson(name) : readGguf(name));
  TENON_ASSIGN_OR_RETURN(auto created, Tokenizer::create(std::move(spec)));
  std::shared_ptr<Tokenizer> tokenizer = std::move(created);
  const EncodeOptions options{.addSpecial = isJson, .parseSpecial = isJson};
  return [tokenizer, options](std::string_view text) -> absl::StatusOr<std::vector<int64_t>> {
    TENON_ASSIGN_OR_RETURN(const auto ids, tokenizer->encode(text, options));
    return std::vector<int64_t>(ids.begin(), ids.end());
  };
}

absl::Status run(std::string_view mode, const std::string& name) {
  TENON_ASSIGN_OR_RETURN(const Answer answer, makeAnswer(mode, name));
  for (std::string line; std::getline(std::cin, line);) {
    TENON_ASSIGN_OR_RETURN(const std::string text, readHex(line));
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, answer(text));
    for (size_t i = 0; i < numbers.size(); ++i)
      std::cout << (i ? " " : "") << numbers[i];
    std::cout << '\n';
  }
  return absl::OkStatus();
}

} // namespace
} // namespace tenon::runtime

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: tokenizer_probe splits NAME | ids FILE\n";
    return 2;
  }
  const absl::Status status = tenon::runtime::run(argv[1], argv[2]);
  if (!status.ok())
    std::cerr << "error: " << std::string(status.message()) << '\n';
  return status.ok() ? 0 : 1;
}
