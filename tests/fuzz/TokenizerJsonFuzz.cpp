// tokenizer.json: the reader, and the tokeniser that it describes.

#include <string>

#include "frontends/hf/HfTokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto file =
      frontends::JsonFile::parse("tokenizer.json", {reinterpret_cast<const char*>(data), size});
  if (!file.ok())
    return 0;
  auto spec = frontends::readTokenizerJson(*file);
  if (!spec.ok())
    return 0;
  auto tokenizer = runtime::Tokenizer::create(*std::move(spec));
  if (!tokenizer.ok())
    return 0;
  for (bool parseSpecial : {false, true}) {
    auto ids =
        (*tokenizer)
            ->encode("Once e\u0301 12345\n\n \xff<s>  a\u2581b", {.parseSpecial = parseSpecial});
    if (!ids.ok())
      continue;
    for (int32_t id : *ids)
      fuzz::require((*tokenizer)->decode(id).ok(),
                    "the tokeniser gave an id that it cannot decode");
  }
  return 0;
}
