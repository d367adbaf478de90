#ifndef TENON_TOOLS_REPORT_PROVENANCE_H
#define TENON_TOOLS_REPORT_PROVENANCE_H

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// What a measurement of `program` on this machine has to say of itself:
///
///   version, commit   of Tenon
///   date              UTC, ISO 8601
///   device            the name of the GPU, or of the CPU
///   target            what the code was compiled for
///   driver            of a GPU; `none` for a CPU
///   clocks            as the machine says them now
///   counters          what counted bytes, or why nothing did
///
/// `counted` says why bytes were not counted, or that they were.
nlohmann::ordered_json describeProvenance(const runtime::Program& program,
                                          const absl::Status& counted);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_PROVENANCE_H
