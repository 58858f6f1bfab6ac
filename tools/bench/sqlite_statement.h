// SQLite as every measurement here uses it: connections in WAL mode with the cache of all engines,
// and prepared statements. Every call ends the process when SQLite reports an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tools/bench/peer.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tandem::bench {

struct CloseSqlite {
  void operator()(sqlite3* connection) const;
};
using SqliteConnection = std::unique_ptr<sqlite3, CloseSqlite>;

/// Opens or creates the database in `file`; of the options, `synced` and `reads` count.
SqliteConnection ConnectSqlite(const std::string& file, const PeerOptions& options);
/// Runs statements that return nothing.
void ExecuteSqlite(const SqliteConnection& connection, const std::string& text);
/// ANALYZE, bounded as PRAGMA optimize does it, and the log moved into the file.
void SettleSqlite(const SqliteConnection& connection);

/// Lifetime: within that of its connection; bytes that are bound have to outlive the run.
class SqliteStatement {
 public:
  SqliteStatement(const SqliteConnection& connection, const std::string& text);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  SqliteStatement& Text(int number, std::string_view text);
  SqliteStatement& Blob(int number, std::string_view bytes);
  SqliteStatement& Null(int number);

  void Run();
  /// Runs it and hands each row's columns that are not NULL to the consumer.
  void Consume(Consumer* consumer);
  /// Runs it for one row of one number.
  uint64_t Number();

 private:
  sqlite3* connection_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace tandem::bench
