#include "runtime/program/SourceFiles.h"

#include "absl/strings/str_format.h"
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

absl::Status checkSourceFiles(const Program& program) {
  for (const SourceFile& source : program.files) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, mapSized(source));
    TENON_RETURN_IF_ERROR(checkFingerprint(source, fingerprintFile(file->bytes())));
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime
