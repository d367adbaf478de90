#include "tools/measure/RepeatKernels.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_format.h"
#include "support/Status.h"
#include "tools/driver/RandomConstants.h"

namespace tenon::tools {

using runtime::BufferRef;
using runtime::Constant;
using runtime::FileRange;
using runtime::Program;
using runtime::Space;

namespace {

class Repeater {
public:
  Repeater(Program program, const RepeatOptions& options)
      : program(std::move(program)), options(options) {}

  absl::StatusOr<Program> repeat();

private:
  void countCopies();
  absl::Status copyConstants();
  void copyStates();
  runtime::Function makeFunction(const runtime::Function& function, const char* name,
                                 int64_t firstCopy, int64_t repetitions) const;
  BufferRef place(const BufferRef& ref, int64_t copy) const;

  Program program;
  const RepeatOptions& options;
  int64_t copies = 1;
  size_t constants = 0; ///< of the original
  size_t states = 0;
  std::vector<bool> isCopied;        ///< by constant
  std::vector<uint32_t> firstCopies; ///< by constant: of its copies but the first
};

} // namespace

void Repeater::countCopies() {
  uint64_t bytes = 0;
  for (const Constant& constant : program.constants) {
    isCopied.push_back(std::holds_alternative<std::vector<FileRange>>(constant.source));
    bytes += isCopied.back() ? constant.bytes : 0;
  }
  for (const runtime::State& state : program.states)
    bytes += state.bytes;
  if (bytes == 0 || options.touchedBytes == 0)
    return;
  int64_t wanted = (options.coldBytes + options.touchedBytes - 1) / options.touchedBytes;
  int64_t most =
      std::min<int64_t>(options.mostBytes / static_cast<int64_t>(bytes), 4 * options.repetitions);
  copies = std::max<int64_t>(1, std::min(wanted, most));
}

/// Appends copies of each constant that comes from files, and makes all of them random.
absl::Status Repeater::copyConstants() {
  constants = program.constants.size();
  firstCopies.resize(constants);
  for (size_t i = 0; i < constants; ++i) {
    firstCopies[i] = static_cast<uint32_t>(program.constants.size());
    for (int64_t copy = 1; isCopied[i] && copy < copies; ++copy) {
      Constant next = program.constants[i];
      next.name += absl::StrFormat(".%d", copy);
      program.constants.push_back(std::move(next));
    }
  }
  return randomizeConstants(program, /*seed=*/1);
}

/// States become constants, whose bytes the runtime makes; kernels write them all the same. A program
/// that states so is refused, since constants may be shared: these are this program's alone.
void Repeater::copyStates() {
  for (const runtime::Step& step : program.functions.front().steps) {
    if (step.kernel >= program.kernels.size())
      continue; // which loading refuses
    std::span<runtime::KernelArgument> described(program.kernels[step.kernel].args);
    for (size_t i = 0; i < std::min(step.args.size(), described.size()); ++i)
      if (step.args[i].space == Space::State)
        described[i].access = runtime::Access::Read;
  }
  states = program.constants.size();
  for (const runtime::State& state : program.states)
    for (int64_t copy = 0; copy < copies; ++copy)
      program.constants.push_back(
          {absl::StrFormat("%s.%d", state.name, copy), state.encoding, state.shape, state.bytes,
           std::vector<runtime::RandomRange>{
               {.bytes = state.bytes, .seed = static_cast<uint64_t>(copy) + 1, .scale = 1}}});
  program.states.clear();
}

BufferRef Repeater::place(const BufferRef& ref, int64_t copy) const {
  BufferRef placed = ref;
  if (ref.space == Space::State) {
    placed.space = Space::Constant;
    placed.index = static_cast<uint32_t>(states + ref.index * copies + copy);
  } else if (ref.space == Space::Constant && isCopied[ref.index] && copy > 0) {
    placed.index = static_cast<uint32_t>(firstCopies[ref.index] + copy - 1);
  }
  return placed;
}

runtime::Function Repeater::makeFunction(const runtime::Function& function, const char* name,
                                         int64_t firstCopy, int64_t repetitions) const {
  runtime::Function repeated = function;
  repeated.name = name;
  repeated.steps.clear();
  for (int64_t repetition = 0; repetition < repetitions; ++repetition)
    for (const runtime::Step& step : function.steps) {
      runtime::Step next = step;
      for (BufferRef& ref : next.args)
        ref = place(ref, (firstCopy + repetition) % copies);
      repeated.steps.push_back(std::move(next));
    }
  return repeated;
}

absl::StatusOr<Program> Repeater::repeat() {
  if (program.functions.size() != 1)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a program of one function to repeat, but got %u", program.functions.size()));
  countCopies();
  TENON_RETURN_IF_ERROR(copyConstants());
  copyStates();
  runtime::Function original = std::move(program.functions.front());
  int64_t repetitions = options.repetitions;
  program.functions = {makeFunction(original, "short", 3 * repetitions, repetitions),
                       makeFunction(original, "long", 0, 3 * repetitions)};
  return std::move(program);
}

absl::StatusOr<Program> repeatKernels(Program program, const RepeatOptions& options) {
  return Repeater(std::move(program), options).repeat();
}

} // namespace tenon::tools
