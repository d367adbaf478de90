#include <charconv>

#include "codegen/cuda/Nvrtc.h"

namespace tenon::codegen::cuda {

/// The integer that ends right before `text` in `line`; 0 where there is none.
static int numberBefore(std::string_view line, std::string_view text) {
  size_t end = line.find(text);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::vector<KernelResources> parsePtxasLog(std::string_view log) {
  constexpr std::string_view entry = "Compiling entry function '";
  std::vector<KernelResources> kernels;
  while (!log.empty()) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (size_t at = line.find(entry); at != std::string_view::npos) {
      line.remove_prefix(at + entry.size());
      kernels.push_back({.symbol = std::string(line.substr(0, line.find('\'')))});
    }
    if (kernels.empty())
      continue;
    KernelResources& kernel = kernels.back();
    if (line.find("stack frame") != std::string_view::npos) {
      kernel.stackBytes += numberBefore(line, " bytes stack frame");
      kernel.spillStoreBytes += numberBefore(line, " bytes spill stores");
      kernel.spillLoadBytes += numberBefore(line, " bytes spill loads");
    } else if (line.find("registers") != std::string_view::npos) {
      kernel.registers = numberBefore(line, " registers");
      kernel.staticSmemBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

} // namespace tenon::codegen::cuda
