#include "runtime/program/SourceFiles.h"

#include <functional>
#include <numeric>

#include "absl/strings/str_format.h"
#include "ir/encoding/TransposeMatrices.h"
#include "support/Fingerprint.h"
#include "support/Status.h"

namespace tenon::runtime {

/// Maps `source` and checks its size.
static absl::StatusOr<std::shared_ptr<const MappedFile>> mapSized(const SourceFile& source) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(source.path));
  if (file->bytes().size() != source.bytes)
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: the program expects the file of %u bytes that it was compiled from, but found %u",
        source.path, source.bytes, file->bytes().size()));
  return file;
}

static absl::Status checkFingerprint(const SourceFile& source, uint64_t found) {
  if (found == source.fingerprint)
    return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: the program expects the file with fingerprint %016x that it was compiled from, but "
      "found %016x",
      source.path, source.fingerprint, found));
}

absl::StatusOr<std::vector<std::shared_ptr<const MappedFile>>>
mapSourceFiles(const Program& program) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (const SourceFile& source : program.files) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, mapSized(source));
    TENON_RETURN_IF_ERROR(checkFingerprint(source, fingerprintFile(*file)));
    files.push_back(std::move(file));
  }
  return files;
}

void layOutTransposed(const Constant& constant,
                      std::span<const std::shared_ptr<const MappedFile>> files,
                      std::span<std::byte> place) {
  std::vector<std::byte> stored;
  stored.reserve(constant.bytes);
  for (const FileRange& range : std::get<std::vector<FileRange>>(constant.source)) {
    std::span<const std::byte> part = files[range.file]->bytes().subspan(range.offset, range.bytes);
    stored.insert(stored.end(), part.begin(), part.end());
  }
  if (stored.empty())
    return;
  int64_t elements =
      std::reduce(constant.shape.begin(), constant.shape.end(), int64_t{1}, std::multiplies<>());
  transposeMatrices(stored, place, constant.shape.back(), constant.shape.end()[-2],
                    static_cast<int64_t>(constant.bytes) / elements);
}

absl::Status checkSourceFiles(const Program& program) {
  for (const SourceFile& source : program.files) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, mapSized(source));
    TENON_RETURN_IF_ERROR(checkFingerprint(source, fingerprintFile(file->bytes())));
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime
