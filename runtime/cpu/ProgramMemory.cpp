#include "runtime/cpu/ProgramMemory.h"

#include <algorithm>

#include "runtime/program/RandomValues.h"
#include "runtime/program/SourceFiles.h"
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

/// True if the bytes of `constant` do not lie in memory as it needs them.
static bool mustBeGathered(const Constant& constant) {
  if (constant.transposed)
    return true;
  const auto* ranges = std::get_if<std::vector<FileRange>>(&constant.source);
  return ranges ? !isOnePiece(*ranges) : !std::holds_alternative<SharedBytes>(constant.source);
}

absl::StatusOr<ProgramMemory> ProgramMemory::create(const Program& program) {
  ProgramMemory memory;
  TENON_ASSIGN_OR_RETURN(memory.files, mapSourceFiles(program));
  TENON_RETURN_IF_ERROR(memory.placeConstants(program));
  TENON_RETURN_IF_ERROR(memory.placeStates(program));
  TENON_ASSIGN_OR_RETURN(memory.workspace,
                         AnonymousMemory::create(program.workspaceBytes, "the workspace"));
  return memory;
}

absl::Status ProgramMemory::placeConstants(const Program& program) {
  uint64_t gatheredBytes = 0;
  for (const Constant& constant : program.constants)
    if (mustBeGathered(constant))
      gatheredBytes += aligned(constant.bytes);
  TENON_ASSIGN_OR_RETURN(gathered, AnonymousMemory::create(gatheredBytes, "constants"));

  std::byte* place = gathered.bytes().data();
  for (const Constant& constant : program.constants) {
    if (const auto* bytes = std::get_if<SharedBytes>(&constant.source)) {
      embedded.push_back(*bytes);
      constantAddresses.push_back(bytes->data());
    } else if (mustBeGathered(constant)) {
      constantAddresses.push_back(place);
      gather(constant, place);
      place += aligned(constant.bytes);
    } else {
      constantAddresses.push_back(
          rangeBytes(std::get<std::vector<FileRange>>(constant.source).front()).data());
    }
  }
  return absl::OkStatus();
}

std::span<const std::byte> ProgramMemory::rangeBytes(const FileRange& range) const {
  return files[range.file]->bytes().subspan(range.offset, range.bytes);
}

void ProgramMemory::gather(const Constant& constant, std::byte* place) const {
  if (constant.transposed) {
    layOutTransposed(constant, files, {place, constant.bytes});
    return;
  }
  if (const auto* random = std::get_if<std::vector<RandomRange>>(&constant.source))
    for (const RandomRange& range : *random) {
      fillRandomValues(range, constant.encoding, {place, range.bytes});
      place += range.bytes;
    }
  else
    for (const FileRange& range : std::get<std::vector<FileRange>>(constant.source))
      place = std::ranges::copy(rangeBytes(range), place).out;
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
