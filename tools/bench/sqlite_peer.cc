// SQLite under measurement: one table with its indexes, through prepared statements, in WAL mode.
//
// A rowid table: SQLite's documentation advises against WITHOUT ROWID where rows are larger than a
// twentieth of a page, as these are. ANALYZE, bounded as PRAGMA optimize does it, is part of
// settling. `+column` in a WHERE clause keeps SQLite from using that column's index.
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peers.h"
#include "tools/bench/sqlite_statement.h"

namespace tandem::bench {
namespace {

constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS rows(key TEXT NOT NULL UNIQUE, city TEXT NOT NULL,"
    "  payload BLOB NOT NULL, status TEXT NOT NULL, ts BLOB NOT NULL)";

const char* IndexesOf(IndexSet indexes) {
  switch (indexes) {
    case IndexSet::kNone:
      break;
    case IndexSet::kThree:
      return "CREATE INDEX IF NOT EXISTS rows_city ON rows(city);"
             "CREATE INDEX IF NOT EXISTS rows_status ON rows(status);"
             "CREATE INDEX IF NOT EXISTS rows_ts ON rows(ts)";
    case IndexSet::kCity:
      return "CREATE INDEX IF NOT EXISTS rows_city ON rows(city)";
    case IndexSet::kCityTime:
      return "CREATE INDEX IF NOT EXISTS rows_city_ts ON rows(city, ts)";
    case IndexSet::kCityCoversStatus:
      return "CREATE INDEX IF NOT EXISTS rows_city_status ON rows(city, status)";
    case IndexSet::kTime:
      return "CREATE INDEX IF NOT EXISTS rows_ts ON rows(ts)";
    case IndexSet::kUniqueTime:
      return "CREATE UNIQUE INDEX IF NOT EXISTS rows_ts ON rows(ts)";
  }
  return "";
}

SqliteConnection Connect(const PeerOptions& options) {
  return ConnectSqlite(options.path + "/rows.sqlite", options);
}

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

  SqliteConnection connection_;
  SqliteStatement begin_, commit_, insert_, update_;
  bool begun_ = false;
};

std::string RowsWhere(const std::string& condition) {
  std::string text = "SELECT city, payload, status, ts FROM rows WHERE ";
  return text.append(condition);
}

/// Statements of reads over one column. Requires: the table exists.
struct ColumnReads {
  ColumnReads(const SqliteConnection& connection, const std::string& column)
      : query(connection, RowsWhere(column + " = ?1")),
        filter(connection, RowsWhere("+" + column + " = ?1")),
        count(connection, "SELECT count(*) FROM rows WHERE " + column + " = ?1") {}
  SqliteStatement query, filter, count;
};

struct Reads {
  explicit Reads(const SqliteConnection& connection)
      : city(connection, "city"),
        status(connection, "status"),
        times(connection, RowsWhere("ts >= ?1 AND ts < ?2")),
        city_times(connection, RowsWhere("city = ?1 AND ts >= ?2 AND ts < ?3")),
        statuses(connection, "SELECT status FROM rows WHERE city = ?1"),
        count_times(connection, "SELECT count(*) FROM rows WHERE ts >= ?1 AND ts < ?2"),
        get(connection, RowsWhere("key = ?1")),
        scan(connection, RowsWhere("1")) {}
  ColumnReads& Of(const std::string& column) { return column == "city" ? city : status; }

  ColumnReads city, status;
  SqliteStatement times, city_times, statuses, count_times, get, scan;
};

class SqlitePeer : public Peer {
 public:
  explicit SqlitePeer(const PeerOptions& options)
      : options_(options), connection_(Connect(options)) {
    ExecuteSqlite(connection_, kTable);
    ExecuteSqlite(connection_, IndexesOf(options.indexes));
    reads_ = std::make_unique<Reads>(connection_);
  }
  ~SqlitePeer() override { reads_.reset(); }

  std::unique_ptr<Writer> NewWriter() override { return std::make_unique<SqliteWriter>(options_); }

  void Settle() override { SettleSqlite(connection_); }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    reads_->Of(column).query.Text(1, value).Consume(consumer);
  }
  void Filter(const std::string& column, const std::string& value, Consumer* consumer) override {
    reads_->Of(column).filter.Text(1, value).Consume(consumer);
  }
  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    reads_->times.Blob(1, low).Blob(2, high).Consume(consumer);
  }
  void QueryCityTimes(const std::string& city, const std::string& low, const std::string& high,
                      Consumer* consumer) override {
    reads_->city_times.Text(1, city).Blob(2, low).Blob(3, high).Consume(consumer);
  }
  void QueryStatuses(const std::string& city, Consumer* consumer) override {
    reads_->statuses.Text(1, city).Consume(consumer);
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
  SqliteConnection connection_;
  std::unique_ptr<Reads> reads_;
};

}  // namespace

std::unique_ptr<Peer> NewSqlitePeer(const PeerOptions& options) {
  return std::make_unique<SqlitePeer>(options);
}

}  // namespace tandem::bench
