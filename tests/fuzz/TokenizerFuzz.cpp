// Text: any bytes with the vocabularies of real models, and with vocabularies that make no sense.
// The last byte of an input chooses which.

#include <array>
#include <bitset>
#include <filesystem>
#include <fuzzer/FuzzedDataProvider.h>
#include <optional>
#include <set>

#include "frontends/gguf/GgufFile.h"
#include "frontends/gguf/GgufTokenizer.h"
#include "runtime/text/PreTokenizers.h"
#include "runtime/text/StreamingDetokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/ByteTable.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;
using namespace tenon::runtime;

static constexpr std::array vocabularies = {"deepseek-coder", "falcon", "gpt-2",
                                            "llama-spm",      "phi-3",  "starcoder"};

/// The tokeniser of that number, read at its first use from the folder `vocab` beside this
/// program's.
static const Tokenizer& realTokenizer(size_t index) {
  static std::array<std::unique_ptr<Tokenizer>, vocabularies.size()> loaded;
  if (!loaded[index]) {
    std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::string path = (folder / "../vocab" / vocabularies[index]).string() + ".gguf";
    auto file = frontends::GgufFile::open(path);
    fuzz::require(file.ok(), file.status().ToString());
    auto spec = frontends::readGgufTokenizer(**file);
    fuzz::require(spec.ok(), spec.status().ToString());
    auto tokenizer = Tokenizer::create(*std::move(spec));
    fuzz::require(tokenizer.ok(), tokenizer.status().ToString());
    loaded[index] = *std::move(tokenizer);
  }
  return *loaded[index];
}

/// Encodes and decodes; the decoded bytes, or nothing where the text is refused.
static std::optional<std::string> roundTrip(const Tokenizer& tokenizer, const std::string& text,
                                            const EncodeOptions& options) {
  auto ids = tokenizer.encode(text, options);
  if (!ids.ok())
    return std::nullopt;
  std::string bytes;
  StreamingDetokenizer stream(tokenizer);
  for (int32_t id : *ids) {
    auto piece = tokenizer.decode(id);
    fuzz::require(piece.ok(), "the tokeniser gave an id that it cannot decode");
    fuzz::require(stream.push(id).ok(), "the stream refuses an id of the tokeniser");
    bytes += *piece;
  }
  stream.flush();
  return bytes;
}

/// `text` without the bytes that the vocabulary has no token for, which are left out: some have none
/// for bytes that UTF-8 never uses.
static std::string withoutUnknownBytes(size_t index, std::string text) {
  static std::array<std::optional<std::bitset<256>>, vocabularies.size()> known;
  if (!known[index]) {
    const TokenizerSpec& spec = realTokenizer(index).spec();
    std::set<std::string> texts;
    for (size_t id = 0; id < spec.tokens.size(); ++id)
      if (spec.kinds[id] == TokenKind::Normal)
        texts.insert(spec.tokens[id]);
    known[index].emplace();
    for (size_t byte = 0; byte < 256; ++byte)
      known[index]->set(byte, texts.contains(internal::characterOfByte(uint8_t(byte))));
  }
  std::erase_if(text, [&](char byte) { return !known[index]->test(uint8_t(byte)); });
  return text;
}

static void encodeWithRealVocabulary(size_t index, bool parseSpecial, const std::string& text) {
  const Tokenizer& tokenizer = realTokenizer(index);
  auto bytes = roundTrip(tokenizer, text, {.addSpecial = false, .parseSpecial = parseSpecial});
  fuzz::require(bytes.has_value(), "a real vocabulary refuses a text");
  if (tokenizer.spec().model == TokenizerModel::ByteLevelBpe && !parseSpecial)
    fuzz::require(*bytes == withoutUnknownBytes(index, text),
                  "decoding does not give the text back");
}

/// Short texts of few letters, so that tokens and merges meet; now and then any bytes.
static std::vector<std::string> makeTexts(FuzzedDataProvider& input) {
  std::vector<std::string> texts(input.ConsumeIntegralInRange<size_t>(0, 40));
  for (std::string& text : texts)
    text = input.ConsumeRandomLengthString(12);
  return texts;
}

static TokenizerSpec makeSpec(FuzzedDataProvider& input) {
  TokenizerSpec spec;
  spec.model = static_cast<TokenizerModel>(input.ConsumeIntegralInRange<int>(0, 5));
  size_t known = input.ConsumeIntegralInRange<size_t>(0, preTokenizers().size());
  spec.preTokenizer = known < preTokenizers().size() ? std::string(preTokenizers()[known].name)
                                                     : input.ConsumeRandomLengthString(8);
  spec.tokens = makeTexts(input);
  bool lengthsAgree = input.ConsumeBool();
  size_t count = lengthsAgree ? spec.tokens.size() : input.ConsumeIntegralInRange<size_t>(0, 40);
  for (size_t i = 0; i < count; ++i) {
    spec.scores.push_back(input.ConsumeFloatingPoint<float>());
    spec.kinds.push_back(static_cast<TokenKind>(input.ConsumeIntegralInRange<int>(0, 7)));
  }
  spec.merges = makeTexts(input);
  // Merges of tokens that exist, or most specs would be refused for them.
  if (input.ConsumeBool() && !spec.tokens.empty())
    for (std::string& merge : spec.merges)
      merge = input.PickValueInArray({"a b", "ab c", "a a", "aa aa"});
  for (int32_t* id : {&spec.bosId, &spec.eosId, &spec.unknownId})
    *id = input.ConsumeIntegralInRange<int32_t>(-2, 45);
  spec.extraEndIds = {input.ConsumeIntegral<int32_t>()};
  spec.addBos = input.ConsumeBool();
  spec.addEos = input.ConsumeBool();
  spec.addSpacePrefix = input.ConsumeBool();
  return spec;
}

static void encodeWithMadeVocabulary(FuzzedDataProvider& input) {
  auto tokenizer = Tokenizer::create(makeSpec(input));
  if (!tokenizer.ok())
    return;
  for (size_t id = 0; id < (*tokenizer)->spec().tokens.size(); ++id)
    fuzz::require((*tokenizer)->decode(static_cast<int32_t>(id)).ok(), "a token has no text");
  bool parseSpecial = input.ConsumeBool();
  roundTrip(**tokenizer, input.ConsumeRemainingBytesAsString(), {.parseSpecial = parseSpecial});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  auto choice = input.ConsumeIntegral<uint8_t>();
  size_t index = choice % 8;
  if (index < vocabularies.size())
    encodeWithRealVocabulary(index, choice & 128, input.ConsumeRemainingBytesAsString());
  else
    encodeWithMadeVocabulary(input);
  return 0;
}
