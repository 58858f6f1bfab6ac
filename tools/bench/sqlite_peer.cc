// SQLite under measurement: one table with three indexes, through prepared statements, in WAL mode.
//
// A rowid table: SQLite's documentation advises against WITHOUT ROWID where rows are larger than a
// twentieth of a page, as these are. ANALYZE, bounded as PRAGMA optimize does it, is part of
// settling. `+column` in a WHERE clause keeps SQLite from using that column's index.
#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peers.h"

namespace tandem::bench {
namespace {

constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS rows(key TEXT NOT NULL UNIQUE, city TEXT NOT NULL, payload BLOB "
    "NOT "
    "NULL, status TEXT NOT NULL, ts BLOB NOT NULL)";
constexpr const char* kIndexes =
    "CREATE INDEX IF NOT EXISTS rows_city ON rows(city);"
    "CREATE INDEX IF NOT EXISTS rows_status ON rows(status);"
    "CREATE INDEX IF NOT EXISTS rows_ts ON rows(ts)";
// A checkpoint each 64 MiB of log.
constexpr const char* kPragmas =
    "PRAGMA busy_timeout = 600000; PRAGMA journal_mode = WAL; PRAGMA cache_size = -524288;"
    "PRAGMA wal_autocheckpoint = 16384; PRAGMA temp_store = MEMORY";
// The file is mapped, so that reads copy no page; but not where few of its pages are read cold:
// around each of them the system would read ahead.
constexpr const char* kMapped = "PRAGMA mmap_size = 68719476736";

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

void Check(sqlite3* connection, int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  Fail(std::string("SQLite: ") + sqlite3_errmsg(connection));
}

void Execute(const Connection& connection, const std::string& text) {
  Check(connection.get(), sqlite3_exec(connection.get(), text.c_str(), nullptr, nullptr, nullptr));
}

Connection Connect(const PeerOptions& options) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open((options.path + "/rows.sqlite").c_str(), &raw);
  Connection connection(raw);
  Check(raw, code);
  Execute(connection, kPragmas);
  if (options.reads == Reads::kWarm || options.reads == Reads::kColdMany)
    Execute(connection, kMapped);
  // NORMAL syncs at checkpoints alone; FULL also the log at each commit.
  Execute(connection, options.synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  return connection;
}

/// A prepared statement. Lifetime: within that of its connection.
class Statement {
 public:
  Statement(const Connection& connection, const std::string& text) : connection_(connection.get()) {
    Check(connection_, sqlite3_prepare_v3(connection_, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                          &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Lifetime: the bytes have to outlive the run.
  Statement& Text(int number, std::string_view text) {
    Check(connection_, sqlite3_bind_text(statement_, number, text.data(),
                                         static_cast<int>(text.size()), SQLITE_STATIC));
    return *this;
  }
  Statement& Blob(int number, std::string_view bytes) {
    Check(connection_, sqlite3_bind_blob(statement_, number, bytes.data(),
                                         static_cast<int>(bytes.size()), SQLITE_STATIC));
    return *this;
  }

  void Run() {
    Check(connection_, sqlite3_step(statement_));
    Check(connection_, sqlite3_reset(statement_));
  }
  /// Runs it and hands each row's columns to the consumer.
  void Consume(Consumer* consumer) {
    int code;
    while ((code = sqlite3_step(statement_)) == SQLITE_ROW) {
      ++consumer->rows;
      for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
        const void* bytes = sqlite3_column_blob(statement_, i);
        consumer->Value({static_cast<const char*>(bytes),
                         static_cast<size_t>(sqlite3_column_bytes(statement_, i))});
      }
    }
    Check(connection_, code);
    Check(connection_, sqlite3_reset(statement_));
  }
  uint64_t Number() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW) Check(connection_, code == SQLITE_DONE ? SQLITE_ERROR : code);
    const auto number = static_cast<uint64_t>(sqlite3_column_int64(statement_, 0));
    Check(connection_, sqlite3_reset(statement_));
    return number;
  }

 private:
  sqlite3* connection_;
  sqlite3_stmt* statement_ = nullptr;
};

// IMMEDIATE: a writer waits for the other at the beginning of its transaction, not amid it.
class SqliteWriter : public Writer {
 public:
  explicit SqliteWriter(const PeerOptions& options)
      : connection_(Connect(options)),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        insert_(connection_,
                "INSERT INTO rows(key, city, payload, status, ts) VALUES (?1, ?2, ?3, ?4, ?5)"),
        update_(connection_, "UPDATE rows SET city = ?2, status = ?3 WHERE key = ?1") {}

  void Insert(const W1Row& row) override {
    Begin();
    insert_.Text(1, row.key).Text(2, row.city).Blob(3, row.payload).Text(4, row.status);
    insert_.Blob(5, row.ts).Run();
  }
  void Update(const W1Update& update) override {
    Begin();
    update_.Text(1, update.key).Text(2, update.city).Text(3, update.status).Run();
  }
  void Commit() override {
    if (begun_) commit_.Run();
    begun_ = false;
  }

 private:
  void Begin() {
    if (!begun_) begin_.Run();
    begun_ = true;
  }

  Connection connection_;
  Statement begin_, commit_, insert_, update_;
  bool begun_ = false;
};

std::string RowsWhere(const std::string& condition) {
  std::string text = "SELECT city, payload, status, ts FROM rows WHERE ";
  return text.append(condition);
}

/// Statements of reads over one column. Requires: the table exists.
struct ColumnReads {
  ColumnReads(const Connection& connection, const std::string& column)
      : query(connection, RowsWhere(column + " = ?1")),
        filter(connection, RowsWhere("+" + column + " = ?1")),
        count(connection, "SELECT count(*) FROM rows WHERE " + column + " = ?1") {}
  Statement query, filter, count;
};

struct Reads {
  explicit Reads(const Connection& connection)
      : city(connection, "city"),
        status(connection, "status"),
        times(connection, RowsWhere("ts >= ?1 AND ts < ?2")),
        count_times(connection, "SELECT count(*) FROM rows WHERE ts >= ?1 AND ts < ?2"),
        get(connection, RowsWhere("key = ?1")),
        scan(connection, RowsWhere("1")) {}
  ColumnReads& Of(const std::string& column) { return column == "city" ? city : status; }

  ColumnReads city, status;
  Statement times, count_times, get, scan;
};

class SqlitePeer : public Peer {
 public:
  explicit SqlitePeer(const PeerOptions& options)
      : options_(options), connection_(Connect(options)) {
    Execute(connection_, kTable);
    if (options.indexes) Execute(connection_, kIndexes);
    reads_ = std::make_unique<Reads>(connection_);
  }
  ~SqlitePeer() override { reads_.reset(); }

  std::unique_ptr<Writer> NewWriter() override { return std::make_unique<SqliteWriter>(options_); }

  void Settle() override {
    Execute(connection_, "PRAGMA analysis_limit = 1000; ANALYZE");
    Execute(connection_, "PRAGMA wal_checkpoint(TRUNCATE)");
  }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    reads_->Of(column).query.Text(1, value).Consume(consumer);
  }
  void Filter(const std::string& column, const std::string& value, Consumer* consumer) override {
    reads_->Of(column).filter.Text(1, value).Consume(consumer);
  }
  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    reads_->times.Blob(1, low).Blob(2, high).Consume(consumer);
  }
  uint64_t Count(const std::string& column, const std::string& value) override {
    return reads_->Of(column).count.Text(1, value).Number();
  }
  uint64_t CountTimes(const std::string& low, const std::string& high) override {
    return reads_->count_times.Blob(1, low).Blob(2, high).Number();
  }
  void Get(const std::string& key, Consumer* consumer) override {
    reads_->get.Text(1, key).Consume(consumer);
  }
  void Scan(Consumer* consumer) override { reads_->scan.Consume(consumer); }

 private:
  const PeerOptions options_;
  Connection connection_;
  std::unique_ptr<Reads> reads_;
};

}  // namespace

std::unique_ptr<Peer> NewSqlitePeer(const PeerOptions& options) {
  return std::make_unique<SqlitePeer>(options);
}

}  // namespace tandem::bench
