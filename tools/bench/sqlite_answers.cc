// Answers of SQLite, by the plans that it chooses after ANALYZE; see answers.h.
#include <memory>
#include <string>

#include "tools/bench/answers.h"
#include "tools/bench/sqlite_statement.h"

namespace tandem::bench {
namespace {

constexpr const char* kSchema =
    "CREATE TABLE rows(key TEXT NOT NULL UNIQUE, city TEXT NOT NULL, open TEXT NOT NULL,"
    "  payload BLOB NOT NULL, status TEXT NOT NULL, ts BLOB NOT NULL);"
    "CREATE INDEX rows_city ON rows(city);"
    "CREATE INDEX rows_open ON rows(open);"
    "CREATE INDEX rows_status ON rows(status);"
    "CREATE INDEX rows_ts ON rows(ts)";

SqliteConnection Connect(const std::string& path) {
  SqliteConnection connection = ConnectSqlite(path + "/answers.sqlite", {.path = path});
  ExecuteSqlite(connection, kSchema);
  return connection;
}

std::string PageBehind(uint64_t rows) {
  return " LIMIT " + std::to_string(kPageRows) + " OFFSET " + std::to_string(rows);
}

// The values stand in the text: for cities a list has as many of them as it has.
std::string ConditionOf(Question question, const AnswerValues& values) {
  switch (question) {
    case Question::kAnd:
      return "WHERE status = ?1 AND ts >= ?2 AND ts < ?3";
    case Question::kOr: {
      std::string cities;
      for (const std::string& city : values.cities) {
        cities += (cities.empty() ? "'" : ", '") + city + "'";
      }
      return "WHERE city IN (" + cities + ")";
    }
    case Question::kNot:
      return "WHERE NOT open = 'yes'";
    case Question::kComplement:
      return "WHERE open = 'no'";
    case Question::kTop:
      return "ORDER BY ts DESC LIMIT 10";
    case Question::kTopOfStatus:
      return "WHERE status = ?1 ORDER BY ts DESC LIMIT 10";
    case Question::kCount:
      return "WHERE status = ?1";
    case Question::kCountRange:
      return "WHERE ts >= ?2 AND ts < ?3";
    case Question::kPage:
      return "ORDER BY key" + PageBehind(values.rows_before_page);
    case Question::kPageByTime:
      return "ORDER BY ts, key" + PageBehind(values.rows_before_page);
    case Question::kPageOfStatus:
      return "WHERE status = ?1 ORDER BY key" + PageBehind(values.rows_before_page_of_status);
  }
  return {};
}

std::string ColumnsOf(Question question) {
  const bool counts = question == Question::kCount || question == Question::kCountRange;
  return counts ? "CAST(COUNT(*) AS TEXT)" : "city, open, payload, status, ts";
}

class SqliteAnswers : public AnswerStore {
 public:
  explicit SqliteAnswers(const std::string& path)
      : connection_(Connect(path)),
        begin_(connection_, "BEGIN IMMEDIATE"),
        commit_(connection_, "COMMIT"),
        insert_(connection_, "INSERT INTO rows VALUES (?1, ?2, ?3, ?4, ?5, ?6)") {}

  void Insert(const W1Row& row, const std::string& open) override {
    if (!begun_) begin_.Run();
    begun_ = true;
    insert_.Text(1, row.key).Text(2, row.city).Text(3, open).Blob(4, row.payload);
    insert_.Text(5, row.status).Blob(6, row.ts).Run();
  }
  void Commit() override {
    if (begun_) commit_.Run();
    begun_ = false;
  }
  void Settle() override { SettleSqlite(connection_); }

  void Ask(Question question, const AnswerValues& values, Consumer* consumer) override {
    if (query_ == nullptr || question != asked_) {
      query_ = std::make_unique<SqliteStatement>(
          connection_,
          "SELECT " + ColumnsOf(question) + " FROM rows " + ConditionOf(question, values));
      asked_ = question;
    }
    const bool has_status = question == Question::kAnd || question == Question::kTopOfStatus ||
                            question == Question::kCount || question == Question::kPageOfStatus;
    const bool has_times = question == Question::kAnd || question == Question::kCountRange;
    if (has_status) query_->Text(1, values.status);
    if (has_times) query_->Blob(2, values.low).Blob(3, values.high);
    query_->Consume(consumer);
  }

 private:
  SqliteConnection connection_;
  SqliteStatement begin_, commit_, insert_;
  bool begun_ = false;
  std::unique_ptr<SqliteStatement> query_;  // The last one asked, prepared.
  Question asked_ = Question::kAnd;
};

}  // namespace

std::unique_ptr<AnswerStore> NewSqliteAnswers(const std::string& path) {
  return std::make_unique<SqliteAnswers>(path);
}

}  // namespace tandem::bench
