// A kill after each edit of the indexes, families and types of a table when some rows are in a file
// and the log has operations from before and from after the edit: what is replayed gets the schema
// of its time, and every way to read the table shows the same as before the kill.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "test/engine/jobs/region_fixture.h"

namespace tandem::test {
namespace {

struct EditFixture : RegionFixture {
  void Create(const std::string& table) {
    TableOptions options;
    options.name = table;
    options.families = {{.name = "d", .max_versions = 3}, {.name = "m"}};
    BOOST_REQUIRE_EQUAL(engine().CreateTable(options).ToString(), "OK");
  }

  void Put(const std::string& table, const std::string& row, const std::string& column,
           const std::string& value, const std::string& family = "d") {
    WriteBatch batch;
    batch.Put(table, row, family, column, value);
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }

  static std::string TextOf(Result<Cursor> cursor) {
    if (!cursor.has_value()) return cursor.error().ToString();
    std::string text;
    while (cursor->Next()) {
      text.append(cursor->row().key()).append(":");
      for (const Cell& cell : cursor->row().cells()) {
        text.append(" ").append(cell.family).append(".").append(cell.qualifier);
        text.append("=").append(cell.value).append("@");
        text.append(std::to_string(cell.timestamp));
      }
      text.append("\n");
    }
    return text + cursor->status().ToString();
  }

  /// All versions by a scan, and the rows of two columns by index "x" if there is one. That the
  /// index gives what a scan gives is checked.
  std::string Everything(const std::string& table) {
    ReadOptions all;
    all.versions = UINT32_MAX;
    std::string text = TextOf(engine().Scan(all, table, {}));
    const Predicate digits =
        Predicate::And({Predicate::GreaterOrEqual("a", "0"), Predicate::LessOrEqual("a", "9")});
    QueryOptions scan, by_index;
    scan.no_index = true;
    by_index.use_index = "x";
    const std::string filtered = TextOf(engine().Query({}, table, digits, scan));
    const std::string found = TextOf(engine().Query({}, table, digits, by_index));
    if (found.find("index") == std::string::npos) BOOST_TEST(found == filtered);
    return text + "\n" + filtered + "\n" + found;
  }

  using Edit = std::function<Status(const std::string& table)>;
  void CheckEdit(const std::string& table, const Edit& edit) {
    BOOST_TEST_CONTEXT(table) {
      Create(table);
      for (const char* row : {"k1", "k2", "k3"}) {
        Put(table, row, "a", "1");
        Put(table, row, "w", "wide", "m");
      }
      BOOST_REQUIRE_EQUAL(engine().Flush(table).ToString(), "OK");
      // Of an index over both columns, "a" is in a file and "b" in the log.
      for (const char* row : {"k2", "k4"}) Put(table, row, "b", "2");
      for (const char* value : {"2", "3", "4", "text"}) Put(table, "k3", "a", value);
      BOOST_REQUIRE_EQUAL(edit(table).ToString(), "OK");
      Put(table, "k4", "a", "5");
      Put(table, "k5", "a", "6");
      Put(table, "k5", "b", "6");
      const std::string before = Everything(table);
      for (int life = 0; life < 2; ++life) {
        KillAndOpen();
        BOOST_TEST(Everything(table) == before);
        CheckSound();
      }
      BOOST_REQUIRE_EQUAL(engine().Flush(table).ToString(), "OK");
      BOOST_TEST(Everything(table) == before);
      KillAndOpen();
      BOOST_REQUIRE_EQUAL(engine().Compact(table).ToString(), "OK");
      BOOST_TEST(Everything(table) == before);
      CheckSound();
    }
  }

  Status Index(const std::string& table, const std::vector<std::string>& columns) {
    IndexOptions index;
    index.name = "x";
    for (const std::string& column : columns) index.columns.push_back({"d", column});
    return engine().CreateIndex(table, index);
  }
};

BOOST_FIXTURE_TEST_SUITE(EditsAndKills, EditFixture)

BOOST_AUTO_TEST_CASE(OfIndexes) {
  CheckEdit("created", [this](const std::string& table) { return Index(table, {"a"}); });
  CheckEdit("created over two", [this](const std::string& table) {
    return Index(table, {"a", "b"});
  });
  CheckEdit("dropped", [this](const std::string& table) {
    const Status status = Index(table, {"a"});
    return status.ok() ? engine().DropIndex(table, "x") : status;
  });
  CheckEdit("dropped and created", [this](const std::string& table) {
    BOOST_REQUIRE_EQUAL(Index(table, {"b"}).ToString(), "OK");
    Put(table, "k2", "b", "3");
    BOOST_REQUIRE_EQUAL(engine().DropIndex(table, "x").ToString(), "OK");
    Put(table, "k2", "b", "4");
    return Index(table, {"a", "b"});
  });
}

BOOST_AUTO_TEST_CASE(OfFamilies) {
  CheckEdit("added", [this](const std::string& table) {
    const Status status = engine().AddFamily(table, {.name = "n"});
    if (status.ok()) Put(table, "k1", "w", "new", "n");
    return status;
  });
  CheckEdit("dropped family", [this](const std::string& table) {
    Put(table, "k1", "w", "in the log", "m");
    return engine().DropFamily(table, "m");
  });
  CheckEdit("renewed", [this](const std::string& table) {
    Put(table, "k1", "w", "in the log", "m");
    BOOST_REQUIRE_EQUAL(engine().DropFamily(table, "m").ToString(), "OK");
    const Status status = engine().AddFamily(table, {.name = "m"});
    if (status.ok()) Put(table, "k2", "w", "new", "m");
    return status;
  });
  CheckEdit("fewer versions", [this](const std::string& table) {
    return engine().AlterFamily(table, {.name = "d", .max_versions = 1});
  });
  CheckEdit("more versions", [this](const std::string& table) {
    const Status status = engine().AlterFamily(table, {.name = "d", .max_versions = 5});
    if (status.ok()) {
      for (const char* value : {"7", "8"}) Put(table, "k3", "a", value);
    }
    return status;
  });
}

BOOST_AUTO_TEST_CASE(OfTypes) {
  CheckEdit("typed", [this](const std::string& table) {
    return engine().SetColumnType(table, {"d", "a", ColumnType::kInt64});
  });
  CheckEdit("typed and indexed", [this](const std::string& table) {
    const Status status = engine().SetColumnType(table, {"d", "a", ColumnType::kInt64});
    return status.ok() ? Index(table, {"a", "b"}) : status;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
