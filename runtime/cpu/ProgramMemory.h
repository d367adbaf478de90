#ifndef TENON_RUNTIME_CPU_PROGRAMMEMORY_H
#define TENON_RUNTIME_CPU_PROGRAMMEMORY_H

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/cpu/AnonymousMemory.h"
#include "runtime/program/Program.h"
#include "support/MappedFile.h"

namespace tenon::runtime {

/// The memory of a loaded program: constants, states and workspace.
///
/// A constant that is one piece of its file, or embedded in the program, is used where it lies, at
/// whatever alignment that place has; one whose ranges are scattered is copied together, a transposed one
/// laid out anew, and random values are made. Those, states and the workspace are aligned to 64 bytes.
class ProgramMemory {
public:
  /// Maps the source files of `program`, which has been validated, and checks that they are the
  /// ones it was compiled from: FailedPrecondition names the file, the size or fingerprint expected
  /// and found. Embedded constants are shared with `program`.
  static absl::StatusOr<ProgramMemory> create(const Program& program);

  /// The address of an argument that lies in a constant, a state or the workspace. Constants must
  /// not be written.
  std::byte* address(const BufferRef& ref) const;

  /// Makes every byte of every state zero.
  absl::Status resetStates() { return states.clear(); }

private:
  absl::Status placeConstants(const Program& program);
  std::span<const std::byte> rangeBytes(const FileRange& range) const;
  void gather(const Constant& constant, std::byte* place) const;
  absl::Status placeStates(const Program& program);

  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<SharedBytes> embedded; ///< keeps embedded constants alive
  std::vector<const std::byte*> constantAddresses;
  AnonymousMemory gathered; ///< constants that do not lie in memory as one piece
  std::vector<std::byte*> stateAddresses;
  AnonymousMemory states;
  AnonymousMemory workspace;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_PROGRAMMEMORY_H
