#include "codegen/cuda/DependentLaunch.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace tenon::codegen::cuda {

/// True for memory that another kernel, or another launch of this one, may write at the same time.
static bool isShared(const Access& access) {
  return access.space == MemorySpace::Appended || access.space == MemorySpace::Global ||
         access.space == MemorySpace::Scratch;
}

static const Access* findShared(const std::vector<Access>& accesses) {
  auto found = std::find_if(accesses.begin(), accesses.end(), isShared);
  return found == accesses.end() ? nullptr : &*found;
}

void placeWait(PhaseStructure& structure) {
  auto first =
      std::find_if(structure.phases.begin(), structure.phases.end(), [](const Phase& phase) {
        return findShared(phase.reads) || findShared(phase.writes);
      });
  structure.wait.reset();
  if (structure.pdl && first != structure.phases.end())
    structure.wait = first - structure.phases.begin();
}

Verdict verifyWait(const PhaseStructure& structure) {
  if (!structure.pdl)
    return Verdict::accept();
  if (!structure.wait || *structure.wait >= structure.phases.size())
    return Refusal{"the kernel never waits for the one before"};
  for (size_t i = 0; i < *structure.wait; ++i) {
    const Phase& phase = structure.phases[i];
    if (const Access* read = findShared(phase.reads))
      return Refusal{absl::StrFormat("phase %d reads %s before the wait", i, read->name)};
    if (const Access* write = findShared(phase.writes))
      return Refusal{absl::StrFormat("phase %d stores %s before the wait", i, write->name)};
  }
  return Verdict::accept();
}

Verdict finishPhases(PhaseStructure& structure) {
  placeWait(structure);
  for (const Verdict& verdict : {structure.verify(), verifyWait(structure)})
    if (!verdict)
      return Refusal{"expects phases that a kernel can have, but " + verdict.reason()};
  return Verdict::accept();
}

} // namespace tenon::codegen::cuda
