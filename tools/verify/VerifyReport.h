#ifndef TENON_TOOLS_VERIFY_VERIFYREPORT_H
#define TENON_TOOLS_VERIFY_VERIFYREPORT_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/verify/VerifyFunction.h"

namespace tenon::tools {

/// The checks of one call.
struct VerifiedCall {
  std::string function;
  int64_t position = 0; ///< of its first row
  std::vector<StepCheck> checks;
};

/// Two tables: by kind of kernel and by layer, each with its steps, the elements that differ from
/// the split chain, and the largest and the mean error against the reference.
std::string formatVerification(const VerifiedCall& call);

/// An object a step: function, position, step, name, kernel, kind, layer, fused, elements,
/// differing_elements (null for a kernel of one operation), max_ulp, mean_ulp, max_relative,
/// not_finite, far.
nlohmann::json describeVerification(const VerifiedCall& call);

/// OK where no fused kernel differs from its split chain and no kernel's result is far from the
/// reference; else an error that names the kernels.
absl::Status verdictOf(const std::vector<VerifiedCall>& calls);

} // namespace tenon::tools

#endif // TENON_TOOLS_VERIFY_VERIFYREPORT_H
