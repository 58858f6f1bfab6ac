// Titles in SQLite: a table of FTS5, whose words are those of unicode61. `optimize` merges its
// segments.
#include "tools/bench/sqlite_statement.h"
#include "tools/bench/titles.h"

namespace tandem::bench {
namespace {

SqliteConnection Connect(const std::string& path) {
  SqliteConnection connection = ConnectSqlite(path + "/titles.sqlite", {.path = path});
  ExecuteSqlite(connection, "CREATE VIRTUAL TABLE titles USING fts5(title)");
  return connection;
}

class SqliteTitles : public TitleStore {
 public:
  explicit SqliteTitles(const std::string& path)
      : connection_(Connect(path)),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        insert_(connection_, "INSERT INTO titles(title) VALUES (?1)"),
        query_(connection_, "SELECT title FROM titles WHERE titles MATCH ?1 ORDER BY rowid") {}

  void Insert(uint64_t, std::string_view title) override {
    if (!begun_) begin_.Run();
    begun_ = true;
    insert_.Text(1, title).Run();
  }
  void Commit() override {
    if (begun_) commit_.Run();
    begun_ = false;
  }
  void Settle() override {
    ExecuteSqlite(connection_, "INSERT INTO titles(titles) VALUES ('optimize')");
    SettleSqlite(connection_);
  }
  void QueryBoth(const std::string& first, const std::string& second, Consumer* consumer) override {
    const std::string words = first + " AND " + second;
    query_.Text(1, words).Consume(consumer);
  }

 private:
  SqliteConnection connection_;
  SqliteStatement begin_, commit_, insert_, query_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<TitleStore> NewSqliteTitles(const std::string& path) {
  return std::make_unique<SqliteTitles>(path);
}

}  // namespace tandem::bench
