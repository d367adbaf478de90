#ifndef TENON_PASSES_COST_MEASUREDPOINTS_H
#define TENON_PASSES_COST_MEASUREDPOINTS_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "passes/cost/CostModel.h"

struct sqlite3;

namespace tenon::passes::cost {

/// Where times were measured, or are asked for.
struct MeasuredOn {
  std::string target; ///< its name
  std::string device; ///< the device and its driver; empty: whichever was measured last
  std::string launch; ///< `stream`, `graph`, `graph-pdl`; `none` on a CPU
};

/// Times measured on one device in one launch mode, in an SQLite database that may hold those of
/// others. Several processes may use one file at a time.
class MeasuredPoints : public MeasuredTimes {
public:
  /// Opens or makes the database at `path`. Errors name the file.
  static absl::StatusOr<std::unique_ptr<MeasuredPoints>> open(const std::string& path,
                                                              const MeasuredOn& where);
  ~MeasuredPoints() override;

  std::optional<int64_t> find(const std::string& contentKey) const override;
  /// Adds a point, or replaces the one that is there. `ns` at least 1; the device must be named.
  absl::Status add(const std::string& contentKey, int64_t ns);

private:
  MeasuredPoints(sqlite3* database, std::string path, MeasuredOn where)
      : database(database), path(std::move(path)), where(std::move(where)) {}

  sqlite3* database;
  std::string path;
  MeasuredOn where;
};

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_MEASUREDPOINTS_H
