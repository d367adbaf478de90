#ifndef TENON_CODEGEN_CPU_EMITTERS_SELECTION_H
#define TENON_CODEGEN_CPU_EMITTERS_SELECTION_H

#include <limits>
#include <optional>

#include "codegen/cpu/emitters/Rows.h"

namespace tenon::codegen::cpu {

/// An element of a row, in the order in which argmax and top_k prefer elements.
struct Selected {
  mlir::Value key;   ///< i32, greater for a greater element; of a NaN, what the caller says
  mlir::Value index; ///< i32, lower first among equal keys
};

/// Keys of a NaN: below those of all numbers, or above them.
inline constexpr int32_t lowestKey = std::numeric_limits<int32_t>::min() + 1;
inline constexpr int32_t highestKey = std::numeric_limits<int32_t>::max();

/// The preferred element of `row`; with `after`, among those that come after it. There must be
/// such an element.
Selected selectBest(VectorBuilder& builder, const RowView& row, int64_t lanes, int32_t nanKey,
                    std::optional<Selected> after);

/// Stores `index`, i32, as element `element` (i64) of every destination of `result`, i32 or i64.
void storeIndex(KernelContext& context, mlir::Value result, mlir::Value element, mlir::Value index);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTERS_SELECTION_H
