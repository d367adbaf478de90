#ifndef TENON_TOOLS_REPORT_PROGRAMREPORT_H
#define TENON_TOOLS_REPORT_PROGRAMREPORT_H

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// What the compiled program in the file `path` holds, as text: its target, what compiled it, its files,
/// memory, each function with its ports, the kernels with the steps that run them, and the decisions of
/// fusion that made them.
std::string formatProgram(const runtime::Program& program, const std::string& path);

/// The same as one object: file, target, device, features, model, files, constant_bytes, state_bytes,
/// workspace_bytes, code_bytes, functions (name, role, rows, steps, inputs, outputs), kernels (symbol,
/// steps, tiles), report (null, or what the compiler left: version, commit, plan, launch, decisions).
nlohmann::ordered_json describeProgram(const runtime::Program& program, const std::string& path);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_PROGRAMREPORT_H
