#include "runtime/cpu/ProgramMemory.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "support/Fingerprint.h"
#include "support/Status.h"

namespace tenon::runtime {

/// Constants and states start at multiples of a cache line, which is also the widest vector.
static constexpr uint64_t alignmentBytes = 64;

static uint64_t aligned(uint64_t bytes) {
  return (bytes + alignmentBytes - 1) / alignmentBytes * alignmentBytes;
}

/// True if the ranges follow one another in one file.
static bool isOnePiece(const std::vector<FileRange>& ranges) {
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].file != ranges[0].file ||
        ranges[i].offset != ranges[i - 1].offset + ranges[i - 1].bytes)
      return false;
  return true;
}

absl::StatusOr<ProgramMemory> ProgramMemory::create(const Program& program) {
  ProgramMemory memory;
  TENON_RETURN_IF_ERROR(memory.mapFiles(program));
  TENON_RETURN_IF_ERROR(memory.placeConstants(program));
  TENON_RETURN_IF_ERROR(memory.placeStates(program));
  TENON_ASSIGN_OR_RETURN(memory.workspace,
                         AnonymousMemory::create(program.workspaceBytes, "the workspace"));
  return memory;
}

absl::Status ProgramMemory::mapFiles(const Program& program) {
  for (const SourceFile& source : program.files) {
    TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(source.path));
    if (file->bytes().size() != source.bytes)
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: the program expects the file of %u bytes that it was compiled from, but found %u",
          source.path, source.bytes, file->bytes().size()));
    if (uint64_t found = fingerprintFile(file->bytes()); found != source.fingerprint)
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: the program expects the file with fingerprint %016x that it was compiled from, but "
          "found %016x",
          source.path, source.fingerprint, found));
    files.push_back(std::move(file));
  }
  return absl::OkStatus();
}

absl::Status ProgramMemory::placeConstants(const Program& program) {
  uint64_t gatheredBytes = 0;
  auto scatteredRanges = [](const Constant& constant) {
    const auto* ranges = std::get_if<std::vector<FileRange>>(&constant.source);
    return ranges && !isOnePiece(*ranges) ? ranges : nullptr;
  };
  for (const Constant& constant : program.constants)
    if (scatteredRanges(constant))
      gatheredBytes += aligned(constant.bytes);
  TENON_ASSIGN_OR_RETURN(gathered, AnonymousMemory::create(gatheredBytes, "constants"));

  auto rangeBytes = [this](const FileRange& range) {
    return files[range.file]->bytes().data() + range.offset;
  };
  std::byte* place = gathered.bytes().data();
  for (const Constant& constant : program.constants) {
    if (const auto* bytes = std::get_if<SharedBytes>(&constant.source)) {
      embedded.push_back(*bytes);
      constantAddresses.push_back(bytes->data());
    } else if (const auto* ranges = scatteredRanges(constant)) {
      constantAddresses.push_back(place);
      uint64_t offset = 0;
      for (const FileRange& range : *ranges) {
        std::memcpy(place + offset, rangeBytes(range), range.bytes);
        offset += range.bytes;
      }
      place += aligned(offset);
    } else {
      constantAddresses.push_back(
          rangeBytes(std::get<std::vector<FileRange>>(constant.source).front()));
    }
  }
  return absl::OkStatus();
}

absl::Status ProgramMemory::placeStates(const Program& program) {
  uint64_t bytes = 0;
  for (const State& state : program.states)
    bytes += aligned(state.bytes);
  TENON_ASSIGN_OR_RETURN(states, AnonymousMemory::create(bytes, "states"));
  std::byte* place = states.bytes().data();
  for (const State& state : program.states) {
    stateAddresses.push_back(place);
    place += aligned(state.bytes);
  }
  return absl::OkStatus();
}

std::byte* ProgramMemory::address(const BufferRef& ref) const {
  switch (ref.space) {
  case Space::Constant:
    return const_cast<std::byte*>(constantAddresses[ref.index]) + ref.offset;
  case Space::State:
    return stateAddresses[ref.index] + ref.offset;
  default:
    return workspace.bytes().data() + ref.offset;
  }
}

} // namespace tenon::runtime
