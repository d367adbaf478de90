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

/// The names of all targets, in alphabetical order.
std::vector<std::string> listTargets();

} // namespace tenon

#endif // TENON_IR_TARGETS_H
