#ifndef TENON_TOOLS_REPORT_DISASSEMBLE_H
#define TENON_TOOLS_REPORT_DISASSEMBLE_H

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace tenon::tools {

/// The path of a disassembler of the CUDA toolkit, nvdisasm or cuobjdump, on PATH or in
/// /usr/local/cuda/bin; nothing where this machine has neither.
std::optional<std::string> findDisassembler();

/// The machine code of a cubin as text (SASS). FailedPrecondition where this machine has no
/// disassembler, Internal where it fails.
absl::StatusOr<std::string> disassemble(std::span<const std::byte> cubin);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_DISASSEMBLE_H
