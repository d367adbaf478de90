#ifndef TENON_IR_PRODUCTREGION_H
#define TENON_IR_PRODUCTREGION_H

#include <string>

#include "ir/Dialect.h"

namespace tenon {

/// Products of one input with several weights, with what stands before and after them, in a region:
///
/// * prologue: how the input is made of the region's arguments, operations on elements and at most
///   one norm; what it makes may be a result too (a residual sum);
/// * groups: products that elementwise operations behind them join column by column (gate and up
///   before a GLU); groups stand side by side (Q, K and V), each of the same number of products.
///
/// ```mlir
/// %n = tenon.rms_norm %x, %g ...                 // prologue
/// %a = tenon.matmul %n, %gate ...                // group 0, product 0
/// %b = tenon.matmul %n, %up ...                  // group 0, product 1
/// %y = tenon.glu silu %a, %b ...                 // epilogue of group 0
/// ```
struct ProductRegion {
  struct Group {
    llvm::SmallVector<MatmulOp, 2> products;
    int64_t firstLine = 0;                    ///< columns of the groups before
    int64_t columns = 0;                      ///< of each product
    llvm::SmallVector<mlir::Value, 4> yields; ///< results made of this group
  };
  llvm::SmallVector<Group, 4> groups;
  mlir::Value input;               ///< [..., depth], of every product
  mlir::Operation* norm = nullptr; ///< rms_norm or layer_norm of the prologue, or null
  llvm::SmallVector<mlir::Value, 2> prologueYields;
  int64_t rows = 0, depth = 0;
  int64_t lines = 0; ///< columns of all groups

  MatmulOp first() const { return groups.front().products.front(); }
  int64_t joined() const { return groups.front().products.size(); }
};

/// Reads the region of `kernel`. Returns why it is none of that kind, in a sentence without final
/// period; empty, and `region` filled, where it is.
std::string readProductRegion(KernelOp kernel, ProductRegion& region);

} // namespace tenon

#endif // TENON_IR_PRODUCTREGION_H
