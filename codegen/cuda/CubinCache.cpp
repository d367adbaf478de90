#include "codegen/cuda/CubinCache.h"

#include <cstring>
#include <map>
#include <span>

#include "absl/strings/str_format.h"
#include "support/CacheFolder.h"
#include "support/SecureHash.h"
#include "support/Status.h"

namespace tenon::codegen::cuda {

/// An entry is length-prefixed strings: the cubin, the PTX, and the resources as a log in ptxas's
/// words.
static void appendString(std::string& bytes, std::string_view text) {
  uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  bytes.append(text);
}

/// Takes a length-prefixed string off the front; false where there is none.
static bool takeString(std::string_view& bytes, std::string_view& text) {
  uint64_t size;
  if (bytes.size() < sizeof(size))
    return false;
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  if (bytes.size() < size)
    return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

static std::string formatResources(const std::vector<KernelResources>& kernels) {
  std::string log;
  for (const KernelResources& kernel : kernels)
    log += absl::StrFormat("Compiling entry function '%s'\n%d bytes stack frame, %d bytes spill "
                           "stores, %d bytes spill loads\nUsed %d registers, %d bytes smem\n",
                           kernel.symbol, kernel.stackBytes, kernel.spillStoreBytes,
                           kernel.spillLoadBytes, kernel.registers, kernel.staticSmemBytes);
  return log;
}

std::optional<CompiledSource> CubinCache::find(const std::string& key) const {
  std::optional<std::string> content = entries.find(key);
  if (!content)
    return std::nullopt;
  std::string_view bytes = *content, cubin, ptx, log;
  if (!takeString(bytes, cubin) || !takeString(bytes, ptx) || !takeString(bytes, log))
    return std::nullopt;
  CompiledSource compiled;
  auto cubinBytes = std::as_bytes(std::span(cubin));
  compiled.cubin.assign(cubinBytes.begin(), cubinBytes.end());
  compiled.ptx = ptx;
  compiled.kernels = parsePtxasLog(log);
  return compiled;
}

bool CubinCache::store(const std::string& key, const CompiledSource& compiled) const {
  std::string content;
  appendString(content,
               {reinterpret_cast<const char*>(compiled.cubin.data()), compiled.cubin.size()});
  appendString(content, compiled.ptx);
  appendString(content, formatResources(compiled.kernels));
  return entries.store(key, content);
}

/// The names that lines of `text` include in quotes.
static std::vector<std::string_view> namesIncluded(std::string_view text) {
  constexpr std::string_view directive = "#include \"";
  std::vector<std::string_view> names;
  for (size_t at = text.find(directive); at != text.npos; at = text.find(directive, at)) {
    bool beginsLine = at == 0 || text[at - 1] == '\n';
    at += directive.size();
    if (beginsLine)
      names.push_back(text.substr(at, text.find('"', at) - at));
  }
  return names;
}

/// What keys need of a device header.
struct HashedHeader {
  std::string hash; ///< of its text
  std::vector<std::string_view> includes;
};

/// By name; hashed once for the process, since a model has dozens of kernels.
static const std::map<std::string_view, HashedHeader>& hashedHeaders() {
  static const auto headers = [] {
    std::map<std::string_view, HashedHeader> hashed;
    for (const DeviceHeader& header : deviceHeaders())
      hashed[header.name] = {hashSecurely(header.text), namesIncluded(header.text)};
    return hashed;
  }();
  return headers;
}

std::set<std::string_view> includedHeaders(std::string_view source) {
  std::set<std::string_view> reached;
  std::vector<std::string_view> open = namesIncluded(source);
  while (!open.empty()) {
    auto header = hashedHeaders().find(open.back());
    open.pop_back();
    if (header != hashedHeaders().end() && reached.insert(header->first).second)
      open.insert(open.end(), header->second.includes.begin(), header->second.includes.end());
  }
  return reached;
}

std::string cubinKey(const Nvrtc& nvrtc, std::string_view source, const std::string& architecture) {
  std::string key = nvrtc.describeOptions(architecture) + "\n";
  for (std::string_view name : includedHeaders(source))
    key.append(name).append(" ").append(hashedHeaders().at(name).hash);
  return key.append("\n").append(source);
}

absl::StatusOr<CompiledSource> compileCached(const std::string& source, const std::string& name,
                                             const std::string& architecture) {
  TENON_ASSIGN_OR_RETURN(const Nvrtc* nvrtc, Nvrtc::get());
  std::string key = cubinKey(*nvrtc, source, architecture);
  CubinCache cache(cacheFolder());
  if (std::optional<CompiledSource> found = cache.find(key))
    return *std::move(found);
  TENON_ASSIGN_OR_RETURN(CompiledSource compiled, nvrtc->compile(source, name, architecture));
  cache.store(key, compiled);
  return compiled;
}

} // namespace tenon::codegen::cuda
