#ifndef TENON_IR_SHAREDPERCENT_H
#define TENON_IR_SHAREDPERCENT_H

#include "llvm/ADT/StringRef.h"

namespace tenon {

/// Function: of what a multiprocessor divides between shared memory and first-level cache, the most
/// percent that kernels of the function prefer as shared memory, an i64 `IntegerAttr`; a function
/// without it leaves the choice to the driver.
inline constexpr llvm::StringLiteral sharedPercentAttrName = "tenon.shared_percent";

} // namespace tenon

#endif // TENON_IR_SHAREDPERCENT_H
