#ifndef TENON_RUNTIME_PROGRAM_SOURCEFILES_H
#define TENON_RUNTIME_PROGRAM_SOURCEFILES_H

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/Program.h"
#include "support/MappedFile.h"

namespace tenon::runtime {

/// Maps the source files of `program`, in their order, and checks that they are the ones it was
/// compiled from: FailedPrecondition names the file, the size or fingerprint expected and found. A
/// file is read for that once (`fingerprintFile`).
absl::StatusOr<std::vector<std::shared_ptr<const MappedFile>>>
mapSourceFiles(const Program& program);

/// Writes a transposed constant of a validated program, whose files are mapped as `files`, to
/// `place` in the layout of its shape.
void layOutTransposed(const Constant& constant,
                      std::span<const std::shared_ptr<const MappedFile>> files,
                      std::span<std::byte> place);

/// The same check, for which every file is read now.
absl::Status checkSourceFiles(const Program& program);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_SOURCEFILES_H
