// Counters in SQLite: an increment is an upsert, a transfer two updates in a transaction.
#include "tools/bench/counters.h"
#include "tools/bench/sqlite_statement.h"

namespace tandem::bench {
namespace {

SqliteConnection Connect(const std::string& path) {
  return ConnectSqlite(path + "/counters.sqlite", {.path = path, .synced = true});
}

constexpr const char* kAdd =
    "INSERT INTO counters(key, number) VALUES (?1, 1)"
    " ON CONFLICT(key) DO UPDATE SET number = number + 1";
constexpr const char* kTake =
    "INSERT INTO counters(key, number) VALUES (?1, -1)"
    " ON CONFLICT(key) DO UPDATE SET number = number - 1";

class SqliteCounterWriter : public CounterWriter {
 public:
  explicit SqliteCounterWriter(const std::string& path)
      : connection_(Connect(path)),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        put_(connection_, "INSERT OR REPLACE INTO counters(key, number) VALUES (?1, ?2)"),
        add_(connection_, kAdd),
        take_(connection_, kTake) {}

  void Put(const std::string& key, uint64_t value) override {
    const std::string number = std::to_string(value);
    put_.Text(1, key).Text(2, number).Run();
  }
  void Increment(const std::string& key) override { add_.Text(1, key).Run(); }
  void Transfer(const std::string& from, const std::string& to) override {
    begin_.Run();
    take_.Text(1, from).Run();
    add_.Text(1, to).Run();
    commit_.Run();
  }

 private:
  SqliteConnection connection_;
  SqliteStatement begin_, commit_, put_, add_, take_;
};

class SqliteCounters : public CounterStore {
 public:
  explicit SqliteCounters(const std::string& path) : path_(path), connection_(Connect(path)) {
    ExecuteSqlite(connection_,
                  "CREATE TABLE counters(key TEXT PRIMARY KEY, number INTEGER NOT NULL)");
  }

  std::unique_ptr<CounterWriter> NewWriter() override {
    return std::make_unique<SqliteCounterWriter>(path_);
  }
  int64_t Number(const std::string& key) override {
    SqliteStatement number(connection_,
                           "SELECT coalesce(max(number), 0) FROM counters WHERE key = ?1");
    return static_cast<int64_t>(number.Text(1, key).Number());
  }

 private:
  const std::string path_;
  SqliteConnection connection_;
};

}  // namespace

std::unique_ptr<CounterStore> NewSqliteCounters(const std::string& path) {
  return std::make_unique<SqliteCounters>(path);
}

}  // namespace tandem::bench
