#include "tools/driver/FileKind.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontends/models/Frontend.h"
#include "runtime/program/ProgramFile.h"
#include "support/MappedFile.h"
#include "support/Status.h"

namespace tenon::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ggufMagic = "GGUF";
constexpr std::string_view whatIsRead =
    "; of a model from Hugging Face Tenon reads the folder with its config.json and safetensors "
    "files";

/// A file that is told by bytes at one place.
struct Signature {
  std::string_view bytes;
  size_t offset;
  std::string_view name;
};

constexpr Signature signatures[] = {
    {std::string_view("PK\x03\x04", 4), 0, "a zip archive (a PyTorch checkpoint or .npz is one)"},
    {std::string_view("ustar", 5), 257, "a tar archive"},
    {std::string_view("\x1f\x8b", 2), 0, "a gzip archive"},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     0, "an xz archive"},
    {std::string_view("\x28\xb5\x2f\xfd", 4), 0, "a zstd archive"},
    {std::string_view("BZh", 3), 0, "a bzip2 archive"},
    {std::string_view("\x93NUMPY", 6), 0, "a NumPy array (.npy)"},
    {std::string_view("\x89HDF", 4), 0, "an HDF5 file"},
    {std::string_view("\x7f"
                      "ELF",
                      4),
     0, "an ELF binary"},
    {std::string_view("lmgg", 4), 0, "a ggml file of before GGUF"},
    {std::string_view("fmgg", 4), 0, "a ggml file of before GGUF"},
    {std::string_view("tjgg", 4), 0, "a ggml file of before GGUF"},
    {std::string_view("algg", 4), 0, "a ggml adapter of before GGUF"},
    {std::string_view("SQLite format 3", 15), 0, "an SQLite database"},
};

/// A length of 64 bits and then a JSON object.
bool isSafetensors(std::string_view head) {
  constexpr uint64_t longestHeader = 100'000'000; // what the safetensors library allows
  uint64_t length = 0;
  if (head.size() <= sizeof(length) || head[sizeof(length)] != '{')
    return false;
  std::memcpy(&length, head.data(), sizeof(length));
  return length >= 2 && length <= longestHeader;
}

/// A protocol buffer whose field 1, the IR's version, is a small number, and whose field 2 is text.
bool isOnnx(std::string_view head, std::string_view path) {
  return path.ends_with(".onnx") ||
         (head.size() > 2 && head[0] == 0x08 && head[1] > 0 && head[1] < 32 && head[2] == 0x12);
}

bool isBinary(std::string_view head) {
  return std::ranges::any_of(head, [](unsigned char c) {
    return c == 0 || (c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f');
  });
}

/// The text after blanks and comments.
std::string_view skipComments(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    if (!text.starts_with("//"))
      return text;
    text.remove_prefix(std::min(text.size(), text.find('\n')));
  }
}

/// True where text may be a module: it begins with an operation, an alias or a value.
bool beginsAsIr(std::string_view text) {
  text = skipComments(text);
  if (text.empty() || std::string_view("#!\"%").find(text[0]) != std::string_view::npos)
    return true;
  for (std::string_view word : {"module", "builtin.", "func.", "tenon."})
    if (text.starts_with(word))
      return true;
  return false;
}

std::string firstWord(std::string_view text) {
  constexpr size_t longest = 24;
  text = skipComments(text);
  return std::string(text.substr(0, std::min(longest, text.find_first_of(" \t\r\n"))));
}

} // namespace

std::string describeForeignFile(std::span<const std::byte> head, std::string_view path) {
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.empty())
    return "an empty file";
  if (frontends::findFrontend(std::string(path), head) || runtime::isProgramFile(head))
    return "";
  if (text.size() < ggufMagic.size() && ggufMagic.starts_with(text))
    return absl::StrFormat("a GGUF file that was cut off after %u bytes", text.size());
  for (const Signature& signature : signatures)
    if (text.size() >= signature.offset &&
        text.substr(signature.offset).starts_with(signature.bytes))
      return std::string(signature.name);
  if (isSafetensors(text))
    return "a safetensors file";
  if (isOnnx(text, path))
    return "an ONNX file";
  if (text.starts_with("ML\xEFR"))
    return ""; // the parser names bytecode
  if (text.starts_with("\x80\x02") || text.starts_with("\x80\x04"))
    return "a Python pickle (an old PyTorch checkpoint is one)";
  if (path.ends_with(".mlir"))
    return "";
  if (isBinary(text))
    return absl::StrFormat("a file of unknown format, which begins with \"%s\"",
                           absl::CHexEscape(std::string(text.substr(0, 8))));
  if (text[0] == '{' || text[0] == '[')
    return "a JSON file";
  if (!beginsAsIr(text))
    return absl::StrFormat("text that is no IR: it begins with '%s'",
                           absl::CHexEscape(firstWord(text)));
  return "";
}

static absl::Status refuse(const std::string& path, const std::string& what,
                           std::string_view advice = "") {
  std::string formats = absl::StrJoin(
      frontends::allFrontends(), ", ", [](std::string* text, const frontends::Frontend* frontend) {
        absl::StrAppend(text, std::string(frontend->name), " models");
      });
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: is %s; Tenon reads %s, textual IR (.mlir) and, where a program is run or "
      "inspected, .tnn%s",
      path, what, formats, advice));
}

/// Says of a path that names no file what else it looks like.
static absl::Status describeAbsent(const std::string& path, const absl::Status& status) {
  if (absl::StrContains(path, "://"))
    return refuse(path, "an address, which Tenon does not fetch");
  bool isHubName = std::ranges::count(path, '/') == 1 && path.front() != '/' &&
                   path.front() != '.' && !fs::exists(fs::path(path).parent_path()) &&
                   !path.ends_with(".gguf") && !path.ends_with(".mlir") && !path.ends_with(".tnn");
  if (isHubName)
    return absl::NotFoundError(absl::StrFormat(
        "%s; where it names a model of a hub, download its folder or a GGUF file of it",
        status.message()));
  return status;
}

absl::StatusOr<FileKind> identifyFile(const std::string& path) {
  if (path == "-")
    return FileKind::Text;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    if (frontends::findFrontend(path, {}))
      return FileKind::Model;
    return refuse(path, "a folder without config.json", whatIsRead);
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (absl::IsNotFound(file.status()))
    return describeAbsent(path, file.status());
  TENON_RETURN_IF_ERROR(file.status());
  constexpr size_t headBytes = 4096;
  std::span<const std::byte> bytes = (*file)->bytes();
  std::span<const std::byte> head = bytes.first(std::min(headBytes, bytes.size()));
  if (std::string foreign = describeForeignFile(head, path); !foreign.empty()) {
    bool isModel = absl::StrContains(foreign, "safetensors") ||
                   absl::StrContains(foreign, "PyTorch") || absl::StrContains(foreign, "ONNX");
    return refuse(path, foreign, isModel ? whatIsRead : "");
  }
  if (runtime::isProgramFile(head))
    return FileKind::Program;
  return frontends::findFrontend(path, head) ? FileKind::Model : FileKind::Text;
}

} // namespace tenon::tools
