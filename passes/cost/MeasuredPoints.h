#ifndef TENON_PASSES_COST_MEASUREDPOINTS_H
#define TENON_PASSES_COST_MEASUREDPOINTS_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "passes/cost/CostModel.h"

struct sqlite3;

namespace tenon::passes::cost {

/// Times measured on one device with one driver, in an SQLite database that may hold those of
/// others. Several processes may use one file at a time.
class MeasuredPoints : public MeasuredTimes {
public:
  /// Opens or makes the database at `path`. Errors name the file.
  static absl::StatusOr<std::unique_ptr<MeasuredPoints>>
  open(const std::string& path, const std::string& target, const std::string& driver);
  ~MeasuredPoints() override;

  std::optional<int64_t> find(const std::string& contentKey) const override;
  /// Adds a point, or replaces the one that is there. `ns` at least 1.
  absl::Status add(const std::string& contentKey, int64_t ns);

private:
  MeasuredPoints(sqlite3* database, std::string path, std::string target, std::string driver)
      : database(database), path(std::move(path)), target(std::move(target)),
        driver(std::move(driver)) {}

  sqlite3* database;
  std::string path, target, driver;
};

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_MEASUREDPOINTS_H
