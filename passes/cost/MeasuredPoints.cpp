#include "passes/cost/MeasuredPoints.h"

#include <sqlite3.h>

#include <cassert>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "support/Warning.h"

namespace tenon::passes::cost {

static constexpr const char* schema =
    "PRAGMA trusted_schema = OFF; CREATE TABLE IF NOT EXISTS kernel_times (kernel TEXT NOT NULL, "
    "target TEXT NOT NULL, "
    "launch TEXT NOT NULL, device TEXT NOT NULL, ns INTEGER NOT NULL CHECK (ns > 0), "
    "measured TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), "
    "PRIMARY KEY (kernel, target, launch, device)) WITHOUT ROWID";

static constexpr const char* layout =
    "SELECT kernel, target, launch, device, ns, measured FROM kernel_times LIMIT 1";

static absl::Status databaseError(const std::string& path, sqlite3* database) {
  return absl::UnavailableError(
      absl::StrFormat("%s: expects a database of measured times, but SQLite says: %s", path,
                      sqlite3_errmsg(database)));
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>> MeasuredPoints::openWith(const std::string& path,
                                                                         const MeasuredOn& where,
                                                                         int flags,
                                                                         const char* statements) {
  sqlite3* database = nullptr;
  int result = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  std::unique_ptr<MeasuredPoints> points(new MeasuredPoints(database, path, where));
  if (result != SQLITE_OK)
    return databaseError(path, database);
  constexpr int readWaitMs = 100, writeWaitMs = 2'000;
  sqlite3_busy_timeout(database, flags & SQLITE_OPEN_READONLY ? readWaitMs : writeWaitMs);
  if (sqlite3_exec(database, statements, nullptr, nullptr, nullptr) != SQLITE_OK)
    return databaseError(path, database);
  // The table is there, and has the columns that are asked for.
  sqlite3_stmt* statement = nullptr;
  result = sqlite3_prepare_v2(database, layout, -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (result != SQLITE_OK)
    return databaseError(path, database);
  return points;
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>> MeasuredPoints::open(const std::string& path,
                                                                     const MeasuredOn& where) {
  return openWith(path, where, SQLITE_OPEN_READONLY, "PRAGMA trusted_schema = OFF");
}

absl::StatusOr<std::unique_ptr<MeasuredPoints>> MeasuredPoints::openToAdd(const std::string& path,
                                                                          const MeasuredOn& where) {
  return openWith(path, where, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, schema);
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
  if (!isReadable)
    return std::nullopt;
  sqlite3_stmt* statement =
      prepare(database,
              "SELECT ns FROM kernel_times WHERE kernel = ?1 AND target = ?2 AND launch = ?3 "
              "AND (?4 = '' OR device = ?4) ORDER BY measured DESC LIMIT 1",
              contentKey, where);
  absl::Cleanup finalize = [&] { sqlite3_finalize(statement); };
  int result = statement ? sqlite3_step(statement) : SQLITE_ERROR;
  if (result == SQLITE_ROW)
    return sqlite3_column_int64(statement, 0);
  isReadable = result == SQLITE_DONE;
  if (!isReadable)
    warnOnce(std::string(databaseError(path, database).message()) + "; no times are taken from it");
  return std::nullopt;
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
