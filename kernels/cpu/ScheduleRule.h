#ifndef TENON_KERNELS_CPU_SCHEDULERULE_H
#define TENON_KERNELS_CPU_SCHEDULERULE_H

#include <initializer_list>

#include "ir/Dialect.h"
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

/// The one operation of the region, if it is an `OpTy`; null otherwise.
template <typename OpTy> OpTy soleOp(KernelOp kernel) {
  mlir::Block& block = kernel.getBlock();
  return llvm::hasNItems(block, 2) ? llvm::dyn_cast<OpTy>(block.front()) : OpTy();
}

/// True where the CPU has an emitter for operands of the types of `op`.
bool isMultiplied(MatmulOp op);

/// A schedule with those of the parameters given that are not zero.
ScheduleAttr makeSchedule(mlir::MLIRContext* context, llvm::StringRef emitter, int64_t tiles,
                          std::initializer_list<std::pair<llvm::StringRef, int64_t>> parameters);
inline ScheduleAttr
makeSchedule(KernelOp kernel, llvm::StringRef emitter, int64_t tiles,
             std::initializer_list<std::pair<llvm::StringRef, int64_t>> parameters) {
  return makeSchedule(kernel->getContext(), emitter, tiles, parameters);
}
/// A schedule whose tiles are `rows_per_tile` of `rows` rows of `rowElements` elements each.
ScheduleAttr makeRowSchedule(KernelOp kernel, llvm::StringRef emitter, int64_t rows,
                             int64_t rowElements);
/// One chunk, added in `lanes` lanes that combine by halving.
OrderAttr makeOrder(mlir::MLIRContext* context, int64_t lanes, int64_t chunk = 0);

/// Elements that make a tile worth a thread's while: some microseconds of elementwise work,
/// against one or two for a step's barrier.
inline constexpr int64_t elementsPerTile = 4096;

} // namespace tenon::kernels

namespace tenon::kernels::rules {

/// The rules, each defined in the file of its name.
extern const ScheduleRule attention;
extern const ScheduleRule copies;
extern const ScheduleRule elementwise;
extern const ScheduleRule kvWrite;
extern const ScheduleRule matmul;
extern const ScheduleRule rows;
extern const ScheduleRule sequence;

} // namespace tenon::kernels::rules

#endif // TENON_KERNELS_CPU_SCHEDULERULE_H
