#ifndef TENON_KERNELS_CPU_SCHEDULERULE_H
#define TENON_KERNELS_CPU_SCHEDULERULE_H

#include "kernels/Schedules.h"
#include "kernels/regions/Regions.h"

namespace tenon::kernels {

/// What rules ask of a CPU target.
struct CpuTarget {
  int64_t lanes;     ///< f32 elements in a native vector
  int64_t registers; ///< vector registers
  int64_t l2Bytes;   ///< second-level cache of a core
};

/// How kernels with one kind of hero are computed. A rule is one file in this folder and one line
/// in the list in `ScheduleRules.cpp`.
struct ScheduleRule {
  /// True for a region that the rule knows to schedule.
  bool (*matches)(KernelOp kernel);
  /// The schedule; sets `order` on the reductions of the region.
  ScheduleAttr (*choose)(KernelOp kernel, const CpuTarget& target);
  /// Other schedules of a scheduled region that compute the same bits, worth measuring; null where
  /// there are none.
  llvm::SmallVector<ScheduleAttr> (*alternatives)(KernelOp kernel,
                                                  const CpuTarget& target) = nullptr;
};

/// The rules in the order in which they are asked.
llvm::ArrayRef<const ScheduleRule*> allCpuRules();

/// True where the CPU has an emitter for operands of the types of `op`.
bool isMultiplied(MatmulOp op);

/// A schedule whose tiles are `rows_per_tile` of `rows` rows of `rowElements` elements each.
ScheduleAttr makeRowSchedule(KernelOp kernel, llvm::StringRef emitter, int64_t rows,
                             int64_t rowElements);

/// Elements that make a tile worth a thread's while: some microseconds of elementwise work,
/// against one or two for a step's barrier.
inline constexpr int64_t elementsPerTile = 4096;

} // namespace tenon::kernels

namespace tenon::kernels::rules {

/// The rules, each defined in the file of its name.
extern const ScheduleRule attention;
extern const ScheduleRule copies;
extern const ScheduleRule elementwise;
extern const ScheduleRule experts;
extern const ScheduleRule kvWrite;
extern const ScheduleRule matmul;
extern const ScheduleRule rows;
extern const ScheduleRule sequence;

} // namespace tenon::kernels::rules

#endif // TENON_KERNELS_CPU_SCHEDULERULE_H
