#include "tools/calibrate/Probe.h"

#include "absl/strings/str_replace.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "support/Status.h"
#include "tools/measure/RepeatKernels.h"

namespace tenon::tools {

TimerOptions Prober::timerFor(const char* launch) const {
  TimerOptions timer{.executor = {.threads = options.threads},
                     .position = 0,
                     .replaceSample = options.replaceSample};
  timer.executor.setLaunch(launch);
  return timer;
}

absl::StatusOr<double> Prober::timeGraph(const std::string& text, Grouping grouping,
                                         const char* launch) const {
  mlir::MLIRContext& context = *target.getContext();
  TENON_ASSIGN_OR_RETURN(auto module, frontends::parseModuleText(context, text, "calibration"));
  (*module)->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(&context, Phase::Simplified));
  TENON_ASSIGN_OR_RETURN(auto planned, planIsolated(*module, target, grouping));
  TENON_ASSIGN_OR_RETURN(KernelTimer timer,
                         KernelTimer::create(*module, *planned, timerFor(launch)));
  TENON_RETURN_IF_ERROR(sampleInTurns({&timer}, options.rounds));
  return static_cast<double>(timer.medianNs());
}

absl::StatusOr<double> Prober::timeProgram(runtime::Program program, int64_t touchedBytes,
                                           int64_t expectedNs, const char* launch) const {
  TENON_ASSIGN_OR_RETURN(KernelTimer timer,
                         KernelTimer::load(std::move(program), {}, target, touchedBytes, expectedNs,
                                           timerFor(launch)));
  TENON_RETURN_IF_ERROR(sampleInTurns({&timer}, options.rounds));
  return static_cast<double>(timer.medianNs());
}

absl::StatusOr<double> timeBeyond(const char* what, double ns, double less) {
  if (ns > less)
    return ns - less;
  return noiseError(what);
}

std::string productGraph(int64_t rows, int64_t columns, int64_t depth, const std::string& type) {
  int64_t bytes = columns * depth * (type == "f32" ? 4 : 2);
  return absl::StrReplaceAll(R"(
tenon.file @file "random" bytes BYTES fingerprint 0
tenon.weight @w : tensor<NxKxT> from [#tenon.range<@file, offset = 0, bytes = BYTES>]
func.func @f(%x: tensor<MxKxT>) -> tensor<MxNxT> {
  %w = tenon.get_weight @w : tensor<NxKxT>
  %y = tenon.matmul %x, %w : (tensor<MxKxT>, tensor<NxKxT>) -> tensor<MxNxT>
  return %y : tensor<MxNxT>
})",
                             {{"BYTES", std::to_string(bytes)},
                              {"<Mx", "<" + std::to_string(rows) + "x"},
                              {"<Nx", "<" + std::to_string(columns) + "x"},
                              {"NxT", std::to_string(columns) + "x" + type},
                              {"KxT", std::to_string(depth) + "x" + type}});
}

std::string sumGraph(int64_t rows, int64_t columns, const std::string& type) {
  return absl::StrReplaceAll(
      R"(
func.func @f(%a: tensor<MxN>, %b: tensor<MxN>) -> tensor<MxN> {
  %s = tenon.add %a, %b : (tensor<MxN>, tensor<MxN>) -> tensor<MxN>
  return %s : tensor<MxN>
})",
      {{"MxN", std::to_string(rows) + "x" + std::to_string(columns) + "x" + type}});
}

} // namespace tenon::tools
