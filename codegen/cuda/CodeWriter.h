#ifndef TENON_CODEGEN_CUDA_CODEWRITER_H
#define TENON_CODEGEN_CUDA_CODEWRITER_H

#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

namespace tenon::codegen::cuda {

/// Collects lines of source with indentation.
class CodeWriter {
public:
  explicit CodeWriter(int depth = 0) : depth(depth) {}

  void line(std::string_view statement) {
    if (!statement.starts_with('#'))
      content.append(size_t{2} * depth, ' ');
    content += statement;
    content += '\n';
  }
  /// A line made as by absl::StrFormat.
  template <typename... Args>
  void format(const absl::FormatSpec<Args...>& pattern, const Args&... args) {
    line(absl::StrFormat(pattern, args...));
  }
  /// `head {`, and what follows one step further in.
  void open(std::string_view head) {
    line(std::string(head) + " {");
    ++depth;
  }
  template <typename... Args>
  void openFormat(const absl::FormatSpec<Args...>& pattern, const Args&... args) {
    open(absl::StrFormat(pattern, args...));
  }
  /// `} tail`, one step out.
  void close(std::string_view tail = "") {
    --depth;
    line("}" + std::string(tail));
  }
  /// `#pragma unroll` in front of the loop that follows.
  void unroll() { line("#pragma unroll"); }
  /// Lines as another writer indented them.
  void append(const CodeWriter& other) { content += other.content; }

  const std::string& text() const { return content; }

private:
  std::string content;
  int depth;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_CODEWRITER_H
