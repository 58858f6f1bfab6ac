// The large set in SQLite: one table with three indexes that exist from the start, as those of the
// other engines do. A row repeated in the input replaces the first.
#include "tools/bench/contents_peer.h"
#include "tools/bench/sqlite_statement.h"

namespace tandem::bench {
namespace {

constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS contents(key BLOB NOT NULL UNIQUE, package BLOB, section BLOB,"
    "  extension BLOB);"
    "CREATE INDEX IF NOT EXISTS contents_package ON contents(package);"
    "CREATE INDEX IF NOT EXISTS contents_section ON contents(section);"
    "CREATE INDEX IF NOT EXISTS contents_extension ON contents(extension)";

SqliteConnection Connect(const std::string& path) {
  SqliteConnection connection = ConnectSqlite(path + "/contents.sqlite", {.path = path});
  ExecuteSqlite(connection, kTable);
  return connection;
}

std::string TextOf(const ContentsQuery& query) {
  const bool by_key = query.kind == ContentsQuery::Kind::kKeyPrefix;
  const std::string column = by_key ? "key" : kContentsColumns[query.column];
  std::string text = "SELECT ";
  text += query.kind == ContentsQuery::Kind::kCount ? "count(*)" : "package, section, extension";
  text += " FROM contents WHERE " + column;
  text += query.high.empty() ? " = ?1" : " >= ?1 AND " + column + " < ?2";
  if (query.limit != 0) text += " LIMIT " + std::to_string(query.limit);
  return text;
}

class SqliteContents : public ContentsPeer {
 public:
  explicit SqliteContents(const std::string& path)
      : connection_(Connect(path)),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        insert_(connection_,
                "INSERT OR REPLACE INTO contents(key, package, section, extension)"
                " VALUES (?1, ?2, ?3, ?4)") {}

  void Add(const ContentsRow& row) override {
    if (!begun_) begin_.Run();
    begun_ = true;
    insert_.Blob(1, row.key);
    for (int i = 0; i < 3; ++i) {
      if (row.columns[i].has_value()) {
        insert_.Blob(2 + i, *row.columns[i]);
      } else {
        insert_.Null(2 + i);
      }
    }
    insert_.Run();
  }

  void Commit() override {
    if (begun_) commit_.Run();
    begun_ = false;
  }

  void Settle() override { SettleSqlite(connection_); }

  void Run(const ContentsQuery& query, Consumer* consumer) override {
    SqliteStatement statement(connection_, TextOf(query));
    statement.Blob(1, query.low);
    if (!query.high.empty()) statement.Blob(2, query.high);
    if (query.kind == ContentsQuery::Kind::kCount) {
      consumer->rows += statement.Number();
    } else {
      statement.Consume(consumer);
    }
  }

 private:
  SqliteConnection connection_;
  SqliteStatement begin_, commit_, insert_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<ContentsPeer> NewSqliteContents(const std::string& path) {
  return std::make_unique<SqliteContents>(path);
}

}  // namespace tandem::bench
