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
  /// Opens the database at `path` to look times up. Changes nothing in it, and waits 0.1 s at most
  /// for a process that writes. Errors name the file: one that is damaged or locked, or has no
  /// table of times as Tenon's.
  static absl::StatusOr<std::unique_ptr<MeasuredPoints>> open(const std::string& path,
                                                              const MeasuredOn& where);
  /// The same to add times, too: makes the database and its table where they are missing, and waits
  /// for another process that writes, at most two seconds each time.
  static absl::StatusOr<std::unique_ptr<MeasuredPoints>> openToAdd(const std::string& path,
                                                                   const MeasuredOn& where);
  ~MeasuredPoints() override;

  /// Where the database cannot be read any more, there is no time, and one warning says so.
  std::optional<int64_t> find(const std::string& contentKey) const override;
  /// Adds a point, or replaces the one that is there. `ns` at least 1; the device must be named.
  absl::Status add(const std::string& contentKey, int64_t ns);

private:
  MeasuredPoints(sqlite3* database, std::string path, MeasuredOn where)
      : database(database), path(std::move(path)), where(std::move(where)) {}
  /// Opens `path` with SQLite's flags and runs `statements`.
  static absl::StatusOr<std::unique_ptr<MeasuredPoints>>
  openWith(const std::string& path, const MeasuredOn& where, int flags, const char* statements);

  sqlite3* database;
  std::string path;
  MeasuredOn where;
  mutable bool isReadable = true;
};

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_MEASUREDPOINTS_H
