#include "passes/cost/MeasuredPoints.h"

#include <sqlite3.h>

#include <cassert>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"

namespace tenon::passes::cost {

static constexpr const char* schema =
    "CREATE TABLE IF NOT EXISTS kernel_times (kernel TEXT NOT NULL, target TEXT NOT NULL, "
    "launch TEXT NOT NULL, device TEXT NOT NULL, ns INTEGER NOT NULL CHECK (ns > 0), "
    "measured TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), "
    "PRIMARY KEY (kernel, target, launch, device)) WITHOUT ROWID";

static absl::Status databaseError(const std::string& path, sqlite3* database) {
  return absl::UnavailableError(
      absl::StrFormat("%s: expects a database of measured times, but SQLite says: %s", path,
                      sqlite3_errmsg(database)));
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>> MeasuredPoints::open(const std::string& path,
                                                                     const MeasuredOn& where) {
  constexpr int waitMs = 10'000;
  sqlite3* database = nullptr;
  int result =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  std::unique_ptr<MeasuredPoints> points(new MeasuredPoints(database, path, where));
  if (result != SQLITE_OK)
    return databaseError(path, database);
  sqlite3_busy_timeout(database, waitMs);
  if (sqlite3_exec(database, schema, nullptr, nullptr, nullptr) != SQLITE_OK)
    return databaseError(path, database);
  return points;
}

MeasuredPoints::~MeasuredPoints() { sqlite3_close(database); }

/// Prepares `text` and binds kernel, target, launch and device to its first parameters; null on
/// failure.
static sqlite3_stmt* prepare(sqlite3* database, const char* text, const std::string& contentKey,
                             const MeasuredOn& where) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, text, -1, &statement, nullptr) != SQLITE_OK)
    return nullptr;
  int index = 0;
  for (const std::string* parameter : {&contentKey, &where.target, &where.launch, &where.device})
    sqlite3_bind_text(statement, ++index, parameter->data(), static_cast<int>(parameter->size()),
                      SQLITE_TRANSIENT);
  return statement;
}

std::optional<int64_t> MeasuredPoints::find(const std::string& contentKey) const {
  sqlite3_stmt* statement =
      prepare(database,
              "SELECT ns FROM kernel_times WHERE kernel = ?1 AND target = ?2 AND launch = ?3 "
              "AND (?4 = '' OR device = ?4) ORDER BY measured DESC LIMIT 1",
              contentKey, where);
  absl::Cleanup finalize = [&] { sqlite3_finalize(statement); };
  if (!statement || sqlite3_step(statement) != SQLITE_ROW)
    return std::nullopt;
  return sqlite3_column_int64(statement, 0);
}

absl::Status MeasuredPoints::add(const std::string& contentKey, int64_t ns) {
  assert(!where.device.empty() && "a time was measured somewhere");
  sqlite3_stmt* statement =
      prepare(database,
              "INSERT OR REPLACE INTO kernel_times (kernel, target, launch, device, ns) "
              "VALUES (?1, ?2, ?3, ?4, ?5)",
              contentKey, where);
  absl::Cleanup finalize = [&] { sqlite3_finalize(statement); };
  if (!statement || sqlite3_bind_int64(statement, 5, ns) != SQLITE_OK ||
      sqlite3_step(statement) != SQLITE_DONE)
    return databaseError(path, database);
  return absl::OkStatus();
}

} // namespace tenon::passes::cost
