#include "kernels/cuda/WarpgroupFit.h"

#include <algorithm>

#include "kernels/cuda/TargetConstants.h"

namespace tenon::kernels {

VerdictOr<WarpgroupFit> WarpgroupFit::read(TargetAttr target) {
  static constexpr std::pair<llvm::StringLiteral, int64_t WarpgroupFit::*> constants[] = {
      {"wgmma_elements_per_cycle", &WarpgroupFit::tensorElements},
      {"sm_read_bytes_per_cycle", &WarpgroupFit::smReadBytes},
      {"l2_read_bytes_per_cycle", &WarpgroupFit::l2ReadBytes},
      {"dram_bytes_per_cycle", &WarpgroupFit::dramBytes},
      {"l2_tie_percent", &WarpgroupFit::l2TiePercent},
      {"power_stages_percent", &WarpgroupFit::powerStagesPercent},
      {"power_l2_percent", &WarpgroupFit::powerL2Percent},
      {"stage_cycles", &WarpgroupFit::stageCycles},
      {"stage_unhidden_percent", &WarpgroupFit::unhiddenPercent},
      {"tile_store_bytes_per_cycle", &WarpgroupFit::storeBytes},
      {"tile_store_cycles", &WarpgroupFit::storeCycles},
      {"part_exchange_cycles", &WarpgroupFit::exchangeCycles},
      {"clusters_of_three_percent", &WarpgroupFit::ofThreePercent},
      {"clusters_of_four_percent", &WarpgroupFit::ofFourPercent},
      {"decode_issue_percent", &WarpgroupFit::decodeIssuePercent},
      {"decode_unhidden_percent", &WarpgroupFit::decodeUnhiddenPercent}};
  WarpgroupFit fit = {};
  if (Verdict verdict = readConstants(target, fit, constants); !verdict)
    return verdict.refusal();
  return fit;
}

double cyclesOf(const WarpgroupStages& stages, int64_t blocks, int64_t sms,
                const WarpgroupFit& fit) {
  constexpr double rowBytes = 64 * 2, schedulers = 4;
  double slots = schedulers * static_cast<double>(fit.decodeIssuePercent) / 100.0; // a cycle
  auto rows = static_cast<double>(stages.rows), columns = static_cast<double>(stages.columns);
  double busy = static_cast<double>(blocks) / static_cast<double>(sms);
  double l2 = busy * rowBytes * stages.l2Rows / static_cast<double>(fit.l2ReadBytes);
  double tensor = rows * columns / static_cast<double>(fit.tensorElements);
  double decode = static_cast<double>(stages.instructions) / slots;
  double gemms = std::max(tensor, decode) +
                 static_cast<double>(fit.decodeUnhiddenPercent) / 100.0 * std::min(tensor, decode);
  double longest =
      std::max({gemms, rowBytes * (rows + columns) / static_cast<double>(fit.smReadBytes), l2,
                static_cast<double>(fit.stageCycles)});
  return static_cast<double>(stages.count) *
         (longest + static_cast<double>(fit.l2TiePercent) / 100.0 * l2);
}

double overlap(double stages, double memory, const WarpgroupFit& fit) {
  return std::max(stages, memory) +
         static_cast<double>(fit.unhiddenPercent) / 100.0 * std::min(stages, memory);
}

} // namespace tenon::kernels
