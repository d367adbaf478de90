#ifndef TENON_KERNELS_REGIONS_GEMMREGION_H
#define TENON_KERNELS_REGIONS_GEMMREGION_H

#include "ir/Dialect.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// GEMMs of one or more inputs with several weights, with what stands before and after them, in
/// a region:
///
/// * prologue: how each input is made of the region's arguments, operations on elements, weighted
///   sums and at most one norm an input; what it makes may be a result too (a residual sum);
/// * orders: GEMMs may take the elements of an input in another order, by indices in memory
///   (weights whose columns were sorted by their groups);
/// * groups: GEMMs that elementwise operations after them join column by column (gate and up
///   before a GLU; the output and down projections of a parallel block before their sum); groups
///   stand side by side (Q, K and V), and each has GEMMs of the same depths in the same order.
///
/// ```mlir
/// %n = tenon.rms_norm %x, %g ...                 // prologue of input 0
/// %a = tenon.matmul %n, %gate ...                // group 0, GEMM 0, of input 0
/// %b = tenon.matmul %n, %up ...                  // group 0, GEMM 1, of input 0
/// %y = tenon.glu silu %a, %b ...                 // epilogue of group 0
/// %z = tenon.matmul %h, %w ...                   // input 1, were its depth that of the others
/// ```
struct GemmRegion {
  struct Input {
    mlir::Value value;               ///< [..., depth]
    mlir::Operation* norm = nullptr; ///< rms_norm or layer_norm that it is made of, or null
    int64_t depth = 0;
    /// Of i32, [..., depth]: GEMMs take element order[k], 0 where there is none, as their element
    /// k; null where they take it as it is.
    mlir::BlockArgument order = nullptr;
  };
  struct Gemm {
    MatmulOp op;
    unsigned input = 0; ///< index into `inputs`
  };
  struct Group {
    llvm::SmallVector<Gemm, 2> gemms;
    int64_t firstLine = 0;                    ///< columns of the groups before
    int64_t columns = 0;                      ///< of each GEMM
    llvm::SmallVector<mlir::Value, 4> yields; ///< results made of this group
  };
  llvm::SmallVector<Group, 4> groups;
  llvm::SmallVector<Input, 2> inputs; ///< in the order in which GEMMs first take them
  llvm::SmallVector<mlir::Value, 2> prologueYields;
  int64_t rows = 0;  ///< of every input
  int64_t lines = 0; ///< columns of all groups

  MatmulOp first() const { return groups.front().gemms.front().op; }
  int64_t joined() const { return groups.front().gemms.size(); }
  /// Whether GEMMs take an input in another order.
  bool isReordered() const;
  /// The first tile of a group where each group's columns are tiles of `lines` of their own; the
  /// number of tiles after the last.
  int64_t firstTile(size_t group, int64_t lines) const;
  int64_t tiles(int64_t lines) const { return firstTile(groups.size(), lines); }
  /// The depths of a group's GEMMs, which are those of every group.
  llvm::SmallVector<int64_t, 2> depths() const;
};

/// Reads the region of `kernel`, or says why it is none of that kind. Inputs have no orders.
VerdictOr<GemmRegion> readGemmRegion(KernelOp kernel);
/// The same, and inputs may have orders.
VerdictOr<GemmRegion> readReorderedGemmRegion(KernelOp kernel);

/// The region of one GEMM of a value in memory, without results.
GemmRegion regionOfGemm(MatmulOp op);

/// Reads the region of a kernel of GEMMs: one of several, or one GEMM with any operations on
/// its elements, broadcast ones too. Says why it is neither, as readGemmRegion does.
VerdictOr<GemmRegion> readGemms(KernelOp kernel);

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_GEMMREGION_H
