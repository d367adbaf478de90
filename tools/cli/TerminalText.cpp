#include "tools/cli/TerminalText.h"

#include <cstdint>
#include <iostream>
#include <streambuf>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace tenon::tools {

namespace {

/// The first byte of U+0080 to U+00BF in UTF-8; the controls C1 end at U+009F.
constexpr char leadByte = '\xc2';

bool isControl(char c) {
  auto byte = static_cast<uint8_t>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

bool isC1(char c) { return static_cast<uint8_t>(c) >= 0x80 && static_cast<uint8_t>(c) <= 0x9f; }

std::string escapeByte(char c) { return absl::StrFormat("\\x%02x", static_cast<uint8_t>(c)); }

/// Passes bytes on to another buffer; holds back the first byte of what may be a control C1.
class TerminalBuffer final : public std::streambuf {
public:
  explicit TerminalBuffer(std::streambuf* to) : to(to) {}

protected:
  int_type overflow(int_type next) override {
    if (traits_type::eq_int_type(next, traits_type::eof()))
      return traits_type::not_eof(next);
    char byte = traits_type::to_char_type(next);
    return xsputn(&byte, 1) == 1 ? next : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize count) override {
    std::string bytes = held;
    bytes.append(text, static_cast<size_t>(count));
    held.clear();
    if (bytes.ends_with(leadByte)) {
      held = leadByte;
      bytes.pop_back();
    }
    std::string escaped = escapeControls(bytes);
    bool passed = to->sputn(escaped.data(), std::ssize(escaped)) == std::ssize(escaped);
    return passed ? count : 0;
  }

  int sync() override { return to->pubsync(); }

private:
  std::streambuf* to;
  std::string held;
};

void filter(std::ostream& stream, int descriptor) {
  if (!::isatty(descriptor))
    return;
  // Never freed: the stream is flushed after the last destructor.
  stream.rdbuf(new TerminalBuffer(stream.rdbuf()));
}

} // namespace

std::string escapeControls(std::string_view text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    bool startsC1 = text[i] == leadByte && i + 1 < text.size() && isC1(text[i + 1]);
    bool endsC1 = i > 0 && text[i - 1] == leadByte && isC1(text[i]);
    if (isControl(text[i]) || startsC1 || endsC1)
      escaped += escapeByte(text[i]);
    else
      escaped += text[i];
  }
  return escaped;
}

void filterTerminals() {
  filter(std::cout, STDOUT_FILENO);
  filter(std::cerr, STDERR_FILENO);
}

} // namespace tenon::tools
