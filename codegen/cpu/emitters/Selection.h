#ifndef TENON_CODEGEN_CPU_EMITTERS_SELECTION_H
#define TENON_CODEGEN_CPU_EMITTERS_SELECTION_H

#include <optional>

#include "codegen/cpu/emitters/Rows.h"

namespace tenon::codegen::cpu {

/// An element of a row, in the order in which argmax and top_k prefer elements.
struct Selected {
  mlir::Value key;   ///< i32, greater for a greater element; NaN is below everything
  mlir::Value index; ///< i32, lower first among equal keys
};

/// The preferred element of `row`; with `after`, among those that come after it. There must be
/// such an element.
Selected selectBest(VectorBuilder& builder, const RowView& row, int64_t lanes,
                    std::optional<Selected> after);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTERS_SELECTION_H
