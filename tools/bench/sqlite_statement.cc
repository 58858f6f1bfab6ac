// See sqlite_statement.h.
#include "tools/bench/sqlite_statement.h"

#include <sqlite3.h>

namespace tandem::bench {
namespace {

// A checkpoint each 64 MiB of log.
constexpr const char* kPragmas =
    "PRAGMA busy_timeout = 600000; PRAGMA journal_mode = WAL;"
    "PRAGMA wal_autocheckpoint = 16384; PRAGMA temp_store = MEMORY";
// The file is mapped, so that reads copy no page; but not where few of its pages are read cold:
// around each of them the system would read ahead.
constexpr const char* kMapped = "PRAGMA mmap_size = 68719476736";

void Check(sqlite3* connection, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  Fail(std::string("SQLite: ") + sqlite3_errmsg(connection));
}

}  // namespace

void CloseSqlite::operator()(sqlite3* connection) const { sqlite3_close(connection); }

void ExecuteSqlite(const SqliteConnection& connection, const std::string& text) {
  Check(connection.get(), sqlite3_exec(connection.get(), text.c_str(), nullptr, nullptr, nullptr));
}

SqliteConnection ConnectSqlite(const std::string& file, const PeerOptions& options) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open(file.c_str(), &raw);
  SqliteConnection connection(raw);
  Check(raw, code);
  ExecuteSqlite(connection, kPragmas);
  ExecuteSqlite(connection, "PRAGMA cache_size = -" + std::to_string(cache_bytes / 1024));
  if (options.reads == Reads::kWarm || options.reads == Reads::kColdMany)
    ExecuteSqlite(connection, kMapped);
  // NORMAL syncs at checkpoints alone; FULL also the log at each commit.
  const char* synchronous = options.synced ? "FULL" : "NORMAL";
  ExecuteSqlite(connection, std::string("PRAGMA synchronous = ") + synchronous);
  return connection;
}

void SettleSqlite(const SqliteConnection& connection) {
  ExecuteSqlite(connection, "PRAGMA analysis_limit = 1000; ANALYZE");
  ExecuteSqlite(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
}

SqliteStatement::SqliteStatement(const SqliteConnection& connection, const std::string& text)
    : connection_(connection.get()) {
  Check(connection_, sqlite3_prepare_v3(connection_, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                        &statement_, nullptr));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::Text(int number, std::string_view text) {
  Check(connection_, sqlite3_bind_text(statement_, number, text.data(),
                                       static_cast<int>(text.size()), SQLITE_STATIC));
  return *this;
}

SqliteStatement& SqliteStatement::Blob(int number, std::string_view bytes) {
  Check(connection_, sqlite3_bind_blob(statement_, number, bytes.data(),
                                       static_cast<int>(bytes.size()), SQLITE_STATIC));
  return *this;
}

SqliteStatement& SqliteStatement::Null(int number) {
  Check(connection_, sqlite3_bind_null(statement_, number));
  return *this;
}

void SqliteStatement::Run() {
  Check(connection_, sqlite3_step(statement_));
  Check(connection_, sqlite3_reset(statement_));
}

void SqliteStatement::Consume(Consumer* consumer) {
  int code;
  while ((code = sqlite3_step(statement_)) == SQLITE_ROW) {
    ++consumer->rows;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
      if (sqlite3_column_type(statement_, i) == SQLITE_NULL) continue;
      const void* bytes = sqlite3_column_blob(statement_, i);
      consumer->Value({static_cast<const char*>(bytes),
                       static_cast<size_t>(sqlite3_column_bytes(statement_, i))});
    }
  }
  Check(connection_, code);
  Check(connection_, sqlite3_reset(statement_));
}

uint64_t SqliteStatement::Number() {
  if (sqlite3_step(statement_) != SQLITE_ROW)
    Fail(std::string("SQLite: expected a number: ") + sqlite3_errmsg(connection_));
  const auto number = static_cast<uint64_t>(sqlite3_column_int64(statement_, 0));
  Check(connection_, sqlite3_reset(statement_));
  return number;
}

}  // namespace tandem::bench
