#ifndef TENON_BENCH_FUSION_COSTFIT_H
#define TENON_BENCH_FUSION_COSTFIT_H

#include <map>

#include "bench/fusion/FusionPoints.h"
#include "bench/fusion/Honesty.h"

namespace tenon::bench {

/// Points that a device has measured (`measure_fusion_points`), scheduled for a target, whose
/// properties can be changed and fitted to what was measured.
class CostFit {
public:
  /// Reads objects a line from the file and schedules their points. Errors name file and line.
  static absl::StatusOr<CostFit> create(const std::string& path, const std::string& target);

  int64_t property(const std::string& name) const;
  /// InvalidArgument where the target has no such property.
  absl::Status setProperty(const std::string& name, int64_t value);

  /// With the properties as they are now.
  absl::StatusOr<std::vector<PointTimes>> predict() const;

  /// Changes one of `names` after the other, by less and less, as long as that brings the predictions
  /// nearer to what was measured: the least mean of |ln(predicted / measured)|, with the error
  /// beyond 15 % counted three times, and regrets of choices ten times. Values stay integers.
  absl::Status fit(const std::vector<std::string>& names);

private:
  CostFit() = default;
  absl::StatusOr<double> loss() const;

  struct Scheduled {
    std::string point, chain;
    passes::cost::LaunchMode mode;
    double measured[2]; ///< fused, unfused
    mlir::OwningOpRef<mlir::ModuleOp> modules[2];
  };
  std::unique_ptr<mlir::MLIRContext> context;
  TargetAttr target;
  std::vector<Scheduled> points;
};

/// `text`, a target file, with the values of these properties. InvalidArgument names one that the
/// text does not hold.
absl::StatusOr<std::string> replaceProperties(std::string text,
                                              const std::map<std::string, int64_t>& values);

} // namespace tenon::bench

#endif // TENON_BENCH_FUSION_COSTFIT_H
