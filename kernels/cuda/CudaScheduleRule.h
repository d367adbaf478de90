#ifndef TENON_KERNELS_CUDA_CUDASCHEDULERULE_H
#define TENON_KERNELS_CUDA_CUDASCHEDULERULE_H

#include "ir/Dialect.h"
#include "kernels/cpu/ScheduleRule.h"
#include "kernels/regions/ProductRegion.h"
#include "kernels/regions/Regions.h"

namespace tenon::kernels {

/// The most rows that kernels for few rows take, which read each weight once.
inline constexpr int64_t mostFewRows = 16;

/// Which GEMMs a GPU's libraries may compute.
enum class LibraryGemms {
  None,
  ManyRows, ///< those of more than `mostFewRows`
  All,      ///< from the target's `library_rows` on
};

/// What a GPU's libraries may do.
struct LibraryUse {
  LibraryGemms gemms = LibraryGemms::None;
  bool tf32 = false; ///< round the factors of f32 GEMMs to TF32
};

/// What rules ask of a CUDA target.
struct CudaTarget {
  int64_t sms;               ///< streaming multiprocessors
  bool bulkCopies;           ///< cp.async.bulk: sm_90 and later
  bool warpgroups;           ///< wgmma: sm_90a
  int64_t smemBytesPerSm;    ///< shared memory of a multiprocessor
  int64_t registersPerSm;    ///< of 32 bits
  int64_t smemBytesPerBlock; ///< shared memory that a block may have
  LibraryUse libraries;      ///< cuBLASLt
  // What was measured to be best on the device; `ir/targets` says how.
  int64_t libraryRows;     ///< from which on cuBLASLt computes a product
  int64_t bulkRingBytes;   ///< of a block whose warps bring weights by bulk copies
  int64_t bulkEarlyBytes;  ///< of those, on their way before it waits
  int64_t quantsRingBytes; ///< the same two of quantised blocks on tensor cores
  int64_t quantsEarlyBytes;
  int64_t gemvWarps;           ///< that keep the memory busy while they load into registers
  int64_t narrowBlocksPerSm;   ///< of narrow_gemm
  int64_t decodeBlocksPerSm;   ///< of decode attention
  int64_t decodeRingBytes;     ///< of keys and values, of a block of decode attention
  int64_t decodeRingElements;  ///< of a head, from which on its keys and values go through it
  int64_t prefillTilesPerSm;   ///< from which on prefill attention takes 128 rows a block
  int64_t elementVectorsPerSm; ///< from which on elementwise kernels take 256 threads a block
};

/// How kernels with one kind of hero are computed on a GPU. A rule is one file in this folder and
/// one line in the list in `CudaScheduleRules.cpp`.
struct CudaScheduleRule {
  /// True for a region that the rule knows to schedule.
  bool (*matches)(KernelOp kernel, const CudaTarget& target);
  /// The schedule; sets `order` on the reductions of the region.
  ScheduleAttr (*choose)(KernelOp kernel, const CudaTarget& target);
  /// What the rule's emitters compute, for one whose regions hold more than one operation.
  const RegionForm* form = nullptr;
  /// Instead of `form`, where the rule's regions have more than one hero: why the rule schedules no
  /// such region; empty where it does, or where the region is no business of its.
  std::string (*explain)(KernelOp kernel, const CudaTarget& target) = nullptr;
  /// Other schedules of a scheduled region that compute the same bits, worth measuring; null where
  /// there are none.
  llvm::SmallVector<ScheduleAttr> (*alternatives)(KernelOp kernel,
                                                  const CudaTarget& target) = nullptr;
};

/// The rules in the order in which they are asked.
llvm::ArrayRef<const CudaScheduleRule*> allCudaRules();

/// The schedule of a kernel of one row reduction; sets its order, which follows from the operation and
/// the target alone.
ScheduleAttr scheduleRows(mlir::Operation& hero, const CudaTarget& target);

/// True where that order adds chunks of so many lanes.
bool hasChunksOf(mlir::Operation& hero, int64_t elements, const CudaTarget& target);

/// Whether warps should bring rows of W through rings of bulk copies for one product alone.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target);
/// The schedule of one product that does; sets the product's order.
ScheduleAttr scheduleBulkCopies(MatmulOp op, const CudaTarget& target);

/// Whether tensor cores can multiply the factors as they are: one 16-bit type, one batch, rows of
/// multiples of 16 bytes.
bool suitsTensorCores(MatmulOp op);
/// Whether an input lies in memory, or is the norm of one that does.
bool readsMemory(const ProductRegion::Input& input);
/// Why tensor cores do not compute a region of products with 2 to 16 rows; empty where they do.
std::string refuseNarrowGemm(const ProductRegion& region, const CudaTarget& target);
/// The schedule that does, of a product alone and of a region; the product's order is taken away.
ScheduleAttr scheduleNarrowGemm(MatmulOp op, const CudaTarget& target);
ScheduleAttr scheduleNarrowGemm(const ProductRegion& region, const CudaTarget& target);
/// That or the schedule below, whichever is faster, of a product alone; its order is taken away.
ScheduleAttr scheduleFewRows(MatmulOp op, const CudaTarget& target);
/// Whether products of 3 to 16 rows go to tensor cores from warps that hold x.
bool suitsHeldGemm(const ProductRegion& region, const CudaTarget& target);
/// The schedule that does, for a region without an order for its products.
ScheduleAttr scheduleHeldGemm(const ProductRegion& region, const CudaTarget& target);

/// True where a block of `schedule` for the region of `kernel` fits the shared memory that a block may
/// have and the registers of a multiprocessor.
bool fitsBlock(KernelOp kernel, ScheduleAttr schedule, const CudaTarget& target);

/// Whether warpgroups multiply a region of one product, or of two that one epilogue joins, of many rows.
bool suitsHopperGemm(const ProductRegion& region, const CudaTarget& target);
/// The schedule that does; its products have no order.
ScheduleAttr scheduleHopperGemm(const ProductRegion& region, const CudaTarget& target);

/// Other schedules of a product whose weights come by bulk copies: other warps a block, stages of
/// their rings, and stages filled before the kernel waits, where a block fits. Nothing for another
/// emitter.
llvm::SmallVector<ScheduleAttr> bulkAlternatives(KernelOp kernel, const CudaTarget& target);

/// `schedule` with other values of some parameters, and as many tiles; without those given as 0.
ScheduleAttr withParameters(ScheduleAttr schedule,
                            std::initializer_list<std::pair<llvm::StringRef, int64_t>> given);
/// Elements of 16 bytes of the narrowest element type among the region's tensors.
int64_t widestVector(KernelOp kernel);
/// The largest power of two, at most `limit`, that divides `extent`.
int64_t dividingPower(int64_t extent, int64_t limit);

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

/// The rules, each defined in the file of its name.
extern const CudaScheduleRule attention;
extern const CudaScheduleRule copies;
extern const CudaScheduleRule elementwise;
extern const CudaScheduleRule heads;
extern const CudaScheduleRule kvWrite;
extern const CudaScheduleRule matmul;
extern const CudaScheduleRule products;
extern const CudaScheduleRule rope;
extern const CudaScheduleRule rows;
extern const CudaScheduleRule selection;

} // namespace tenon::kernels::cuda_rules

#endif // TENON_KERNELS_CUDA_CUDASCHEDULERULE_H
