#include "codegen/cuda/PhaseStructure.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace tenon::codegen::cuda {

static const char* nameOf(PhaseKind kind) {
  constexpr const char* names[] = {"load", "prologue", "main loop", "epilogue", "store"};
  return names[static_cast<int>(kind)];
}

static const char* nameOf(MemorySpace space) {
  constexpr const char* names[] = {"constant", "settled", "appended", "global",
                                   "scratch",  "shared",  "registers"};
  return names[static_cast<int>(space)];
}

CodeWriter& PhaseStructure::begin(PhaseKind kind, std::vector<Access> reads,
                                  std::vector<Access> writes) {
  phases.push_back({kind, std::move(reads), std::move(writes), CodeWriter(1)});
  return phases.back().code;
}

Verdict PhaseStructure::verify() const {
  bool stores = false;
  PhaseKind last = PhaseKind::Load;
  for (const Phase& phase : phases) {
    if (phase.kind < last)
      return Refusal{
          absl::StrFormat("a %s phase stands after a %s phase", nameOf(phase.kind), nameOf(last))};
    last = phase.kind;
    for (const Access& write : phase.writes) {
      if (write.space == MemorySpace::Constant || write.space == MemorySpace::Settled)
        return Refusal{absl::StrFormat("a %s phase writes the %s %s", nameOf(phase.kind),
                                       nameOf(write.space), write.name)};
      bool global = write.space == MemorySpace::Global;
      if (global && phase.kind != PhaseKind::Store && phase.kind != PhaseKind::Prologue)
        return Refusal{absl::StrFormat("a %s phase writes %s in global memory", nameOf(phase.kind),
                                       write.name)};
      stores |= global;
    }
  }
  if (!stores)
    return Refusal{"no phase stores a result"};
  return Verdict::accept();
}

static std::string describe(const std::vector<Access>& accesses) {
  return absl::StrJoin(accesses, ", ", [](std::string* out, const Access& access) {
    absl::StrAppend(out, access.name, " (", nameOf(access.space), ")");
  });
}

static void printPhase(CodeWriter& code, const Phase& phase) {
  std::string comment = absl::StrFormat("// %s", nameOf(phase.kind));
  if (!phase.reads.empty())
    comment += ": reads " + describe(phase.reads);
  if (!phase.writes.empty())
    comment += (phase.reads.empty() ? ": writes " : "; writes ") + describe(phase.writes);
  code.line(comment);
  code.append(phase.code);
}

static void printWait(CodeWriter& code, bool stamps) {
  code.line("asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");");
  if (stamps)
    code.line("stampWait(stamps[tile]);");
}

std::string PhaseStructure::print() const {
  CodeWriter code;
  for (const std::string& header : headers)
    code.line("#include \"" + header + "\"");
  if (stamps)
    code.line("#include \"stamps.cuh\"");
  code.line("using namespace tenon;");
  code.append(declarations);
  std::vector<std::string> declared, names;
  for (const Parameter& parameter : parameters) {
    declared.push_back(parameter.type + " " + parameter.name);
    names.push_back(parameter.name);
  }
  if (stamps) {
    declared.push_back("BlockStamps* stamps");
    names.push_back("stamps");
  }
  std::vector<std::string> passed = declared;
  for (size_t i = 0; i < tensorMaps.size(); ++i) {
    names.push_back(absl::StrFormat("map%d", i));
    passed.push_back("const TensorMap& " + names.back());
    declared.push_back("const __grid_constant__ TensorMap " + names.back());
  }
  code.open(absl::StrFormat("__device__ __forceinline__ void %s_tile(const long long tile, %s)",
                            symbol, absl::StrJoin(passed, ", ")));
  for (size_t i = 0; i < phases.size(); ++i) {
    if (wait == i)
      printWait(code, stamps);
    printPhase(code, phases[i]);
  }
  code.close();
  std::string bounds = absl::StrFormat("%d", threads);
  if (blocksPerSm > 0)
    bounds += absl::StrFormat(", %d", blocksPerSm);
  std::string cluster =
      clusterBlocks > 1 ? absl::StrFormat("__cluster_dims__(%d, 1, 1) ", clusterBlocks) : "";
  code.open(absl::StrFormat("extern \"C\" __global__ void __launch_bounds__(%s) %s%s(%s)", bounds,
                            cluster, symbol, absl::StrJoin(declared, ", ")));
  if (stamps)
    code.line("stampEntry(stamps[blockIdx.x]);");
  if (pdl && triggersAtEntry)
    code.line("asm volatile(\"griddepcontrol.launch_dependents;\");");
  code.line(absl::StrFormat("%s_tile(blockIdx.x, %s);", symbol, absl::StrJoin(names, ", ")));
  if (stamps)
    code.line("stampExit(stamps[blockIdx.x]);");
  code.close();
  return code.text();
}

} // namespace tenon::codegen::cuda
