#ifndef TENON_TOOLS_CALIBRATE_CUDAPROBES_H
#define TENON_TOOLS_CALIBRATE_CUDAPROBES_H

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// Programs of one step for calibration, from CUDA sources of their own; `target` says for which
/// architecture and how many multiprocessors.

/// `blocks` blocks that do nothing; with programmatic dependent launch where the target has it.
absl::StatusOr<runtime::Program> makeEmptyProbe(TargetAttr target, int64_t blocks);
/// Reads `bytes` bytes once, 16 bytes a load, eight loads of a thread in flight.
absl::StatusOr<runtime::Program> makeReadProbe(TargetAttr target, int64_t bytes);
/// Copies `bytes` / 2 bytes: as many are read as written.
absl::StatusOr<runtime::Program> makeCopyProbe(TargetAttr target, int64_t bytes);
/// Fused multiply-adds in f32, `flops` of them counted two each.
absl::StatusOr<runtime::Program> makeFmaProbe(TargetAttr target, int64_t* flops);
/// A product of three [side, side] in bf16 by cuBLASLt.
runtime::Program makeLibraryProbe(TargetAttr target, int64_t side);

} // namespace tenon::tools

#endif // TENON_TOOLS_CALIBRATE_CUDAPROBES_H
