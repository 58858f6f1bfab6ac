// Reads of the past by timestamp: as_of and since choose among the versions that are left after
// deletes and the family's limit, wherever the cells lie. Each fact is checked in the memstore,
// after a flush and after a compaction.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct HistoryFixture : TestEngine {
  void Create(uint32_t max_versions, int64_t ttl_micros = 0) {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable(max_versions, ttl_micros)).ToString(),
                        "OK");
  }
  void PutAt(std::string_view row, std::string_view column, int64_t timestamp,
             std::string_view value) {
    BOOST_REQUIRE(Put(row, column, value, Durability::kWritten, timestamp).ok());
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }
  /// The check holds now, after a flush and after a compaction.
  void Always(const std::function<void()>& check) {
    check();
    Flush();
    check();
    BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
    check();
  }

  static ReadOptions Between(std::optional<int64_t> since, std::optional<int64_t> as_of,
                             uint32_t versions = 1) {
    ReadOptions options;
    options.since = since;
    options.as_of = as_of;
    options.versions = versions;
    return options;
  }
  /// The rows of a cursor as "row{qualifier=value@timestamp ...}".
  static std::string Shown(Result<Cursor> cursor) {
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string text;
    while (cursor->Next()) text += (text.empty() ? "" : " ") + Shown(cursor->row());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return text;
  }
  static std::string Shown(const RowView& row) {
    std::string text;
    for (const Cell& cell : row.cells()) {
      text += (text.empty() ? "" : " ") + std::string(cell.qualifier) + "=" +
              std::string(cell.value) + "@" + std::to_string(cell.timestamp);
    }
    return std::string(row.key()) + "{" + text + "}";
  }
  std::string Scanned(const ReadOptions& options) { return Shown((**this).Scan(options, "t", {})); }
  std::string Got(const ReadOptions& options, std::string_view row) {
    const auto got = (**this).Get(options, "t", row);
    BOOST_REQUIRE(got.has_value());
    return got->has_value() ? Shown((*got)->view()) : "-";
  }
};

BOOST_FIXTURE_TEST_SUITE(History, HistoryFixture)

BOOST_AUTO_TEST_CASE(BoundsChooseAmongTheVersionsWhateverTheirOrderOfArrival) {
  Create(4);
  for (const int64_t timestamp : {30, 10, 40, 20}) {
    PutAt("r", "q", timestamp, "v" + std::to_string(timestamp));
  }
  Always([&] {
    BOOST_CHECK_EQUAL(Got(Between({}, 25, 9), "r"), "r{q=v20@20 q=v10@10}");
    BOOST_CHECK_EQUAL(Got(Between({}, 20), "r"), "r{q=v20@20}");
    BOOST_CHECK_EQUAL(Got(Between(30, {}, 9), "r"), "r{q=v40@40 q=v30@30}");
    BOOST_CHECK_EQUAL(Got(Between(20, 30, 9), "r"), "r{q=v30@30 q=v20@20}");
    BOOST_CHECK_EQUAL(Got(Between(20, 30, 1), "r"), "r{q=v30@30}");
    BOOST_CHECK_EQUAL(Got(Between({}, 9), "r"), "-");
    BOOST_CHECK_EQUAL(Got(Between(30, 20), "r"), "-");
    BOOST_CHECK_EQUAL(Scanned(Between({}, 9)), "");
    BOOST_CHECK_EQUAL(Scanned(Between(INT64_MIN, INT64_MAX, 2)), "r{q=v40@40 q=v30@30}");
  });
}

BOOST_AUTO_TEST_CASE(WhatTheLimitCutStaysGone) {
  Create(2);
  for (const int64_t timestamp : {1, 3, 2}) PutAt("r", "q", timestamp, "v");
  Always([&] {
    BOOST_CHECK_EQUAL(Got(Between({}, 1, 9), "r"), "-");
    BOOST_CHECK_EQUAL(Got(Between({}, 2, 9), "r"), "r{q=v@2}");
  });
}

BOOST_AUTO_TEST_CASE(DeletesHideForThePastToo) {
  Create(3);
  for (const int64_t timestamp : {1, 2, 3}) PutAt("r", "q", timestamp, "v");
  PutAt("s", "q", 1, "kept");
  WriteBatch batch;
  batch.DeleteColumn("t", "r", "d", "q", 2);
  BOOST_REQUIRE(Write(batch).ok());
  PutAt("r", "q", 1, "again");  // After the delete: it exists, whatever its timestamp.
  Always([&] {
    BOOST_CHECK_EQUAL(Got(Between({}, 2, 9), "r"), "r{q=again@1}");
    BOOST_CHECK_EQUAL(Scanned(Between({}, 1)), "r{q=again@1} s{q=kept@1}");
  });
}

BOOST_AUTO_TEST_CASE(ADeletedCellRevealsTheVersionBelowInThePast) {
  Create(2);
  for (const int64_t timestamp : {10, 20, 30}) PutAt("r", "q", timestamp, "v");
  WriteBatch batch;
  batch.DeleteCell("t", "r", "d", "q", 30);
  BOOST_REQUIRE(Write(batch).ok());
  Always([&] {
    BOOST_CHECK_EQUAL(Got(Between({}, {}, 9), "r"), "r{q=v@20}");
    BOOST_CHECK_EQUAL(Got(Between({}, 29), "r"), "r{q=v@20}");
    BOOST_CHECK_EQUAL(Got(Between(21, {}), "r"), "-");
    BOOST_CHECK_EQUAL(Got(Between({}, 19), "r"), "-");
  });
}

BOOST_AUTO_TEST_CASE(PredicatesSeeThePast) {
  Create(2);
  PutAt("p", "c", 1, "old");
  PutAt("p", "c", 5, "new");
  PutAt("q", "c", 5, "old");
  PutAt("r", "other", 1, "x");
  PutAt("r", "c", 6, "old");
  const Predicate is_old = Predicate::Equal("c", "old");
  const Predicate is_null = Predicate::IsNull("c");
  Always([&] {
    for (const bool no_index : {false, true}) {
      QueryOptions query;
      query.no_index = no_index;
      const auto rows = [&](const ReadOptions& options, const Predicate& predicate) {
        const std::string text = Shown((**this).Query(options, "t", predicate, query));
        const auto count = (**this).Count(options, "t", predicate, query);
        BOOST_CHECK_EQUAL(*count, static_cast<uint64_t>(std::count(text.begin(), text.end(), '{')));
        const auto explained = (**this).Explain(options, "t", predicate, query);
        BOOST_CHECK_EQUAL(explained->rows, *count);
        return text;
      };
      BOOST_CHECK_EQUAL(rows(Between({}, 4), is_old), "p{c=old@1}");
      BOOST_CHECK_EQUAL(rows(Between({}, 5), is_old), "q{c=old@5}");
      BOOST_CHECK_EQUAL(rows(Between({}, {}), is_old), "q{c=old@5} r{c=old@6 other=x@1}");
      BOOST_CHECK_EQUAL(rows(Between({}, 4), is_null), "r{other=x@1}");
      BOOST_CHECK_EQUAL(rows(Between(6, {}), is_null), "");
      BOOST_CHECK_EQUAL(rows(Between({}, 5), Predicate::Not(is_old)), "p{c=new@5} r{other=x@1}");
      BOOST_CHECK_EQUAL(rows(Between({}, 4), Predicate()), "p{c=old@1} r{other=x@1}");
    }
  });
}

BOOST_AUTO_TEST_CASE(OrderIsThatOfThePast) {
  Create(2);
  PutAt("p", "c", 1, "1");
  PutAt("p", "c", 5, "9");
  PutAt("q", "c", 1, "5");
  PutAt("r", "c", 1, "3");
  PutAt("r", "c", 2, "7");
  QueryOptions query;
  query.order_by = "by_c";
  Always([&] {
    BOOST_CHECK_EQUAL(Shown((**this).Query(Between({}, 1), "t", {}, query)),
                      "p{c=1@1} r{c=3@1} q{c=5@1}");
    BOOST_CHECK_EQUAL(Shown((**this).Query(Between({}, 2), "t", {}, query)),
                      "p{c=1@1} q{c=5@1} r{c=7@2}");
    BOOST_CHECK_EQUAL(Shown((**this).Query(Between(2, {}), "t", {}, query)), "r{c=7@2} p{c=9@5}");
  });
}

BOOST_AUTO_TEST_CASE(ASnapshotSeesThePastAsItWasThen) {
  Create(2);
  PutAt("r", "q", 1, "a");
  PutAt("r", "q", 3, "b");
  Result<Snapshot> snapshot = (**this).TakeSnapshot();
  PutAt("r", "q", 2, "late");
  PutAt("r", "q", 4, "c");
  ReadOptions old = Between({}, 2);
  old.snapshot = &*snapshot;
  Always([&] {
    BOOST_CHECK_EQUAL(Got(old, "r"), "r{q=a@1}");
    BOOST_CHECK_EQUAL(Got(Between({}, 2), "r"), "-");  // Two newer versions have cut it.
    BOOST_CHECK_EQUAL(Got(Between({}, 3), "r"), "r{q=b@3}");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
