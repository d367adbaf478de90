#include "tools/report/Disassemble.h"

#include <vector>

#include "absl/strings/str_format.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace tenon::tools {

static constexpr llvm::StringLiteral toolkitFolder = "/usr/local/cuda/bin";

std::optional<std::string> findDisassembler() {
  for (const char* name : {"nvdisasm", "cuobjdump"}) {
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
      return *found;
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name, {toolkitFolder}))
      return *found;
  }
  return std::nullopt;
}

/// A file that is removed at the end.
static absl::StatusOr<std::string> makeTemporaryFile(const char* ending) {
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("tenon", ending, path))
    return absl::InternalError("cannot make a temporary file: " + error.message());
  return path.str().str();
}

static absl::StatusOr<std::string> runOn(const std::string& tool, const std::string& cubin,
                                         const std::string& output) {
  std::vector<llvm::StringRef> arguments = {tool};
  if (llvm::StringRef(tool).ends_with("cuobjdump"))
    arguments.emplace_back("-sass");
  arguments.emplace_back(cubin);
  std::string error;
  int code = llvm::sys::ExecuteAndWait(
      tool, arguments, /*Env=*/std::nullopt,
      {llvm::StringRef(), llvm::StringRef(output), llvm::StringRef(output)},
      /*SecondsToWait=*/60, /*MemoryLimit=*/0, &error);
  auto text = llvm::MemoryBuffer::getFile(output, /*IsText=*/true);
  std::string printed = text ? (*text)->getBuffer().str() : "";
  if (code == 0)
    return printed;
  return absl::InternalError(absl::StrFormat("%s: exit code %d: %s", tool, code,
                                             error.empty() ? printed.substr(0, 500) : error));
}

absl::StatusOr<std::string> disassemble(std::span<const std::byte> cubin) {
  std::optional<std::string> tool = findDisassembler();
  if (!tool)
    return absl::FailedPreconditionError(absl::StrFormat(
        "expects nvdisasm or cuobjdump of the CUDA toolkit on PATH or in %s for SASS, but found "
        "neither",
        toolkitFolder.str()));
  absl::StatusOr<std::string> input = makeTemporaryFile("cubin"),
                              output = makeTemporaryFile("sass");
  for (const absl::StatusOr<std::string>* file : {&input, &output})
    if (!file->ok())
      return file->status();
  llvm::FileRemover removeInput(*input), removeOutput(*output);
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(*input, error);
    stream.write(reinterpret_cast<const char*>(cubin.data()), cubin.size());
    if (stream.has_error())
      error = stream.error();
    stream.clear_error();
  }
  if (error)
    return absl::InternalError(*input + ": " + error.message());
  return runOn(*tool, *input, *output);
}

} // namespace tenon::tools
