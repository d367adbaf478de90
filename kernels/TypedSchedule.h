#ifndef TENON_KERNELS_TYPEDSCHEDULE_H
#define TENON_KERNELS_TYPEDSCHEDULE_H

#include <optional>

#include "kernels/Schedules.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// One parameter of the schedules of a kernel kind: its name in `#tenon.schedule`, the member of
/// the kind's struct `Schedule` that holds it, and the values that it may have.
///
/// ```cpp
/// struct NarrowGemmSchedule {
///   int64_t tiles = 0, threads = 0, stages = 0, heldPieces = 0;
///   static constexpr Parameter<NarrowGemmSchedule> parameters[] = {
///       threadsParameter(&NarrowGemmSchedule::threads),
///       {"stages", &NarrowGemmSchedule::stages, 1, 8},
///       {"held_pieces", &NarrowGemmSchedule::heldPieces, 1, 10, /*absent=*/0}};
/// };
/// // #tenon.schedule<"narrow_gemm", tiles = 192, {stages = 5 : i64, threads = 256 : i64}>
/// ```
template <typename Schedule> struct Parameter {
  /// The largest value of most parameters: far above any that a block can have, and so small that
  /// GEMMs of a few of them fit 64 bits.
  static constexpr int64_t largest = 1 << 20;

  llvm::StringLiteral name;
  int64_t Schedule::* member;
  int64_t least = 1, most = largest;
  /// What it means where the schedule does not name it; a schedule with that value is printed
  /// without it. Nothing where a schedule must name it.
  std::optional<int64_t> absent = std::nullopt;
  bool inWholeWarps = false; ///< a multiple of 32
};

/// The threads of a block, whole warps.
template <typename Schedule>
constexpr Parameter<Schedule> threadsParameter(int64_t Schedule::* member) {
  constexpr int64_t warp = 32, mostThreads = 1024;
  return {"threads", member, warp, mostThreads, std::nullopt, /*inWholeWarps=*/true};
}

/// A parameter that is 1 or absent.
template <typename Schedule>
constexpr Parameter<Schedule> flagParameter(llvm::StringLiteral name, int64_t Schedule::* member) {
  return {name, member, 1, 1, /*absent=*/0};
}

namespace typed {

/// What a parameter may be.
struct ParameterRange {
  llvm::StringLiteral name;
  int64_t least, most;
  std::optional<int64_t> absent;
  bool inWholeWarps;
};

/// As in IR, for refusals.
std::string print(ScheduleAttr schedule);
/// The value of a parameter of `schedule`, or why it may not have it.
VerdictOr<int64_t> readParameter(ScheduleAttr schedule, const ParameterRange& range);
/// Whether `schedule` names no other parameters than `names`.
Verdict checkNames(ScheduleAttr schedule, llvm::ArrayRef<llvm::StringRef> names);
ScheduleAttr makeSchedule(mlir::MLIRContext* context, llvm::StringRef kind, int64_t tiles,
                          llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> parameters);

} // namespace typed

/// Reads `attribute` into a `Schedule`. Refuses, naming the parameter, one that is missing, is out
/// of its range, or belongs to no schedule of that kind.
template <typename Schedule> VerdictOr<Schedule> parseSchedule(ScheduleAttr attribute) {
  Schedule schedule;
  schedule.tiles = attribute.getTiles();
  llvm::SmallVector<llvm::StringRef> names;
  for (const Parameter<Schedule>& parameter : Schedule::parameters) {
    VerdictOr<int64_t> value =
        typed::readParameter(attribute, {parameter.name, parameter.least, parameter.most,
                                         parameter.absent, parameter.inWholeWarps});
    if (!value)
      return value.refusal();
    schedule.*parameter.member = *value;
    names.push_back(parameter.name);
  }
  if (Verdict verdict = typed::checkNames(attribute, names); !verdict)
    return verdict.refusal();
  return schedule;
}

/// The attribute from which `parseSchedule` reads `schedule`, of the kind `kind`.
template <typename Schedule>
ScheduleAttr printSchedule(mlir::MLIRContext* context, llvm::StringRef kind,
                           const Schedule& schedule) {
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> values;
  for (const Parameter<Schedule>& parameter : Schedule::parameters)
    if (int64_t value = schedule.*parameter.member; value != parameter.absent)
      values.emplace_back(parameter.name, value);
  return typed::makeSchedule(context, kind, schedule.tiles, values);
}

/// Reads a `Kernel` of one operation, its member `op`, which is all that the region holds.
template <typename Kernel> VerdictOr<Kernel> readSole(KernelOp kernel) {
  auto op = soleOp<decltype(Kernel::op)>(kernel);
  if (!op)
    return Refusal{"expects a region of one " + decltype(Kernel::op)::getOperationName().str() +
                   " for the emitter " + Kernel::name.str()};
  auto schedule = parseSchedule<decltype(Kernel::schedule)>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return Kernel{op, *schedule};
}

/// `rms_norm` of `tenon.rms_norm`, after which kinds of kernels of one operation are named.
constexpr llvm::StringRef withoutDialect(llvm::StringRef operation) {
  return operation.substr(sizeof("tenon.") - 1);
}

} // namespace tenon::kernels

#endif // TENON_KERNELS_TYPEDSCHEDULE_H
