#ifndef TENON_IR_TARGETS_H
#define TENON_IR_TARGETS_H

#include <string>
#include <string_view>
#include <vector>

#include "ir/Attributes.h"

namespace tenon {

/// The description of the device of that name, from `ir/targets`; null where there is none. Loads
/// the dialect into the context.
TargetAttr findTarget(mlir::MLIRContext* context, std::string_view name);

/// Reads the text of a target file; null after an error. Loads the dialect into the context.
///
/// ```
/// // Comments.
/// base = "h200"               // may be missing: takes what the target of that name says
/// fit = "hopper-2026-11-22"   // may be missing: takes the constants of `ir/targets/NAME.fit`
/// #tenon.target<"h100", cuda, features = ["sm_90a"], {dram_mb_per_s = 3350000 : i64, ...}>
/// ```
/// Of a property that several of these state, the last one counts. `measured` is the file's own.
TargetAttr parseTarget(mlir::MLIRContext* context, std::string_view text);

/// The names of all targets, in alphabetical order.
std::vector<std::string> listTargets();

} // namespace tenon

#endif // TENON_IR_TARGETS_H
