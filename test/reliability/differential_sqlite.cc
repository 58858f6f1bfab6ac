// SQLite in the differential suite: a table with two real indexes, in memory. It answers everything
// that is asked about now.
#include <sqlite3.h>

#include <array>
#include <map>
#include <stdexcept>

#include "test/reliability/differential_store.h"

namespace tandem::reliability {
namespace {

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

class SqliteStore final : public DifferentialStore {
 public:
  SqliteStore() {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open(":memory:", &opened);
    connection_.reset(opened);
    Require(code == SQLITE_OK);
    Execute("CREATE TABLE t(k BLOB PRIMARY KEY, a INTEGER, b TEXT, c BLOB) WITHOUT ROWID");
    Execute("CREATE INDEX by_a ON t(a)");
    Execute("CREATE INDEX by_b ON t(b)");
  }
  std::string name() const override { return "SQLite"; }

  std::optional<std::string> Run(const DiffOperation& operation) override {
    if (operation.kind == DiffOperation::Kind::kSnapshot) held_[operation.slot] = true;
    if (operation.kind == DiffOperation::Kind::kRelease) held_[operation.slot] = false;
    if (operation.snapshot && held_[*operation.snapshot]) return std::nullopt;
    switch (operation.kind) {
      case DiffOperation::Kind::kBatch:
        Write(operation);
        return std::nullopt;
      case DiffOperation::Kind::kGet:
        return Rows("WHERE k = ?1", {operation.key});
      case DiffOperation::Kind::kScan:
        return Scan(operation);
      case DiffOperation::Kind::kQuery:
        return Rows("WHERE " + operation.condition.Text(true) + Tail(operation), {});
      case DiffOperation::Kind::kCount:
        return Count(operation);
      default:
        return std::nullopt;
    }
  }

 private:
  void Require(bool holds) {
    if (!holds)
      throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(connection_.get()));
  }
  void Execute(const char* text) {
    Require(sqlite3_exec(connection_.get(), text, nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  Statement Prepare(const std::string& text) {
    sqlite3_stmt* statement = nullptr;
    Require(sqlite3_prepare_v2(connection_.get(), text.c_str(), -1, &statement, nullptr) ==
            SQLITE_OK);
    return Statement(statement);
  }
  /// A statement that is prepared once.
  sqlite3_stmt* Known(const std::string& text) {
    Statement& statement = known_[text];
    if (statement == nullptr) statement = Prepare(text);
    sqlite3_reset(statement.get());
    return statement.get();
  }
  void Bind(sqlite3_stmt* statement, int place, char column, const std::string& value) {
    const auto size = static_cast<int>(value.size());
    const int code = column == 'a' ? sqlite3_bind_int64(statement, place, std::stoll(value))
                     : column == 'b'
                         ? sqlite3_bind_text(statement, place, value.data(), size, SQLITE_TRANSIENT)
                         : sqlite3_bind_blob(statement, place, value.empty() ? "" : value.data(),
                                             size, SQLITE_TRANSIENT);
    Require(code == SQLITE_OK);
  }
  void RunChange(const std::string& text, const RowChange& change, bool with_values) {
    sqlite3_stmt* statement = Known(text);
    Bind(statement, 1, 'k', change.key);
    for (size_t i = 0; with_values && i < change.columns.size(); ++i) {
      Bind(statement, static_cast<int>(i) + 2, change.columns[i].first, change.columns[i].second);
    }
    Require(sqlite3_step(statement) == SQLITE_DONE);
  }
  void Put(const RowChange& change) {
    std::string names, places, updates;
    int place = 2;
    for (const auto& [column, value] : change.columns) {
      const std::string name(1, column);
      names += ", " + name;
      places += ", ?" + std::to_string(place++);
      updates += (updates.empty() ? "" : ", ") + name + " = excluded." + name;
    }
    RunChange("INSERT INTO t(k" + names + ") VALUES(?1" + places +
                  ") ON CONFLICT(k) DO UPDATE SET " + updates,
              change, true);
  }
  void Write(const DiffOperation& operation) {
    Execute("BEGIN");
    for (const RowChange& change : operation.changes) {
      if (change.kind == RowChange::Kind::kPut) {
        Put(change);
      } else if (change.kind == RowChange::Kind::kDeleteRow) {
        RunChange("DELETE FROM t WHERE k = ?1", change, false);
      } else {
        const std::string name(1, change.columns[0].first);
        RunChange("UPDATE t SET " + name + " = NULL WHERE k = ?1", change, false);
        // A row without cells is no row.
        RunChange("DELETE FROM t WHERE k = ?1 AND a IS NULL AND b IS NULL AND c IS NULL", change,
                  false);
      }
    }
    Execute("COMMIT");
  }
  static std::string Tail(const DiffOperation& operation) {
    std::string text;
    if (operation.order_by != '\0') {
      const std::string name(1, operation.order_by);
      text = " AND " + name + " IS NOT NULL ORDER BY " + name +
             (operation.descending ? " DESC" : "") + ", k";
    } else {
      text = std::string(" ORDER BY k") + (operation.descending ? " DESC" : "");
    }
    if (operation.limit == 0) return text;
    return text + " LIMIT " + std::to_string(operation.limit) + " OFFSET " +
           std::to_string(operation.offset);
  }
  std::string Scan(const DiffOperation& operation) {
    if (operation.end.empty()) return Rows("WHERE k >= ?1" + Tail(operation), {operation.key});
    return Rows("WHERE k >= ?1 AND k < ?2" + Tail(operation), {operation.key, operation.end});
  }
  std::string Rows(const std::string& clause, const std::vector<std::string>& keys) {
    const Statement prepared =
        keys.empty() ? Prepare("SELECT k, a, b, c FROM t " + clause) : nullptr;
    sqlite3_stmt* statement =
        keys.empty() ? prepared.get() : Known("SELECT k, a, b, c FROM t " + clause);
    for (size_t i = 0; i < keys.size(); ++i) Bind(statement, static_cast<int>(i) + 1, 'k', keys[i]);
    std::string text;
    int code = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
      std::array<std::optional<std::string>, kColumnCount> row;
      for (int i = 0; i < static_cast<int>(kColumnCount); ++i) {
        if (sqlite3_column_type(statement, i + 1) == SQLITE_NULL) continue;
        row[static_cast<size_t>(i)] = Bytes(statement, i + 1);
      }
      AppendRow(Bytes(statement, 0), row, &text);
    }
    Require(code == SQLITE_DONE);
    return text;
  }
  static std::string Bytes(sqlite3_stmt* statement, int column) {
    // An integer becomes text here.
    const void* bytes = sqlite3_column_type(statement, column) == SQLITE_INTEGER
                            ? sqlite3_column_text(statement, column)
                            : sqlite3_column_blob(statement, column);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
    return size == 0 ? std::string() : std::string(static_cast<const char*>(bytes), size);
  }
  std::string Count(const DiffOperation& operation) {
    const Statement statement =
        Prepare("SELECT count(*) FROM t WHERE " + operation.condition.Text(true));
    Require(sqlite3_step(statement.get()) == SQLITE_ROW);
    return std::to_string(sqlite3_column_int64(statement.get(), 0));
  }

  std::unique_ptr<sqlite3, CloseConnection> connection_;
  std::map<std::string, Statement> known_;
  std::array<bool, kSnapshotSlots> held_{};
};

}  // namespace

std::unique_ptr<DifferentialStore> NewSqliteStore() { return std::make_unique<SqliteStore>(); }

}  // namespace tandem::reliability
