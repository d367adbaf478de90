#ifndef TENON_KERNELS_REGIONS_REGIONS_H
#define TENON_KERNELS_REGIONS_REGIONS_H

#include "ir/Dialect.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// What regions an emitter computes: some operations on elements around at most one hero, the
/// operation that decides how the kernel works. The one description that fusion's legality, the
/// schedule rules and code generation share.
struct RegionForm {
  /// For sentences: `the GEMM`.
  llvm::StringLiteral name;
  /// True for a hero; null where the form has none, a chain of operations on elements.
  bool (*isHero)(mlir::Operation& op);
  /// True for an operation that the emitter computes element by element.
  bool (*isElement)(mlir::Operation& op);
  /// Whether operations on elements may stand before the hero's operands.
  bool hasPrologue;
  /// Whether an argmax of what the region computes may end it (`acceptsSearch`).
  bool hasSearch = false;
};

/// On an operation of a region: the schedule, a `ScheduleAttr`, that it has as a part of a kernel
/// whose emitter computes operations one by one, or alone, where the kernel is cut.
inline constexpr llvm::StringLiteral partAttrName = "part";

/// An operation of which a thread needs the operands' elements at its own position alone, or a row
/// that it can read by itself: elementwise, constant of one value, embedding, dequantize.
bool isElementOperation(mlir::Operation& op);
/// The same of an operation that neither takes nor makes integers or bools as numbers: an index of
/// a row is none.
bool isFloatOperation(mlir::Operation& op);

/// True where the region holds a hero of `form`; for a form without one, where it holds operations
/// on elements alone.
bool concerns(const RegionForm& form, KernelOp kernel);

/// Whether the emitter of `form` computes the region of `kernel`. Asked for: exactly one hero, or
/// norms of one value (`isSibling`); all else on elements; positions that are those of the hero's
/// result (of the first result without a hero), to which every other shape broadcasts; float
/// results of that whole shape; nothing before the hero unless there is a prologue. Beside a hero
/// there are float results alone.
Verdict acceptsForm(const RegionForm& form, KernelOp kernel);

/// Rows of which tiles that compute columns search the largest element together.
inline constexpr int64_t mostSearchedRows = 64;
/// Whether tiles of results of shape `positions` can search the largest element of each row for
/// `op`:
/// `op` reads elements at these positions, the region yields its result and nothing in it reads that.
Verdict acceptsSearch(ArgmaxOp op, llvm::ArrayRef<int64_t> positions);

/// The argmax that ends the region, for which every tile computes a part of the rows; null where
/// there is none, or where it is all that the region holds.
ArgmaxOp findSearch(KernelOp kernel);

/// What the emitters of the code generators compute.
namespace forms {
extern const RegionForm cpuElementwise;
extern const RegionForm cudaElementwise;
extern const RegionForm cudaMatmul; ///< all emitters of GEMMs
extern const RegionForm cudaRows;   ///< norms and softmax
} // namespace forms

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_REGIONS_H
