// Conditions on fields of typed row keys: what they mean, what is refused, which rows they read.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/key_field_fixture.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

const FieldPool kUsers{"user", true, {"a", "aa", "ab", "b", "bob", "c"}};
const FieldPool kTimes{
    "at", false, {"-3600000000", "-1", "0", "1", "86400000000", "1767225600000000"}};
const FieldPool kNumbers{"n", false, {"0", "1", "2", "255", "256", "18446744073709551615"}};
const FieldPool kBytes{"kind", true, {std::string("\0\0", 2), "aa", "ab", "zz", "\xff\xff"}};
const FieldPool kIds{
    "id",
    false,
    {"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-0000000000ff",
     "123e4567-e89b-12d3-a456-426614174000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}};

const std::vector<FieldDesign> kDesigns = {
    {{"user:text, at:timestamp desc", "salt(3), user:text, at:timestamp desc",
      "mod(at, 2), user:text, at:timestamp desc"},
     {kUsers, kTimes}},
    {{"salt(4), user:text, at:int64, kind:bytes(2)", "salt(2), user:text, at:int64, kind:bytes(2)"},
     {kUsers, kTimes, kBytes}},
    {{"hash(user, 2), user:text(3), at:timestamp"}, {kUsers, kTimes}},
    {{"mod(at, 3), user:text desc, at:int64"}, {kUsers, kTimes}},
    {{"user:text, reverse(n), n:uint64, id:uuid desc"}, {kUsers, kNumbers, kIds}},
    {{"at:int64 desc, n:uint64, kind:bytes"}, {kTimes, kNumbers, kBytes}},
    {{"hash(n, 1), kind:bytes, n:uint64, user:text"}, {kBytes, kNumbers, kUsers}},
    {{"kind:bytes desc, reverse(user), user:text desc, at:int64"}, {kBytes, kUsers, kTimes}},
    {{"salt(300), id:uuid, user:text", "salt(2), id:uuid, user:text"}, {kIds, kUsers}},
};

// Numbers from 0 on, so many that rows of a few users are worth skipping over.
FieldPool ManyNumbers(const char* name) {
  FieldPool pool{name, false, {}};
  for (int i = 0; i < 1200; ++i) pool.values.push_back(std::to_string(i));
  return pool;
}
const FieldPool kFew{"user", true, {"a", "ab", "b"}};

const std::vector<FieldDesign> kDesignsToSkip = {
    {{"user:text, n:int64"}, {kFew, ManyNumbers("n")}},
    {{"user:text, n:uint64 desc", "salt(2), user:text, n:uint64 desc",
      "salt(3), user:text, n:uint64 desc"},
     {kFew, ManyNumbers("n")}},
    {{"hash(user, 1), user:text desc, n:int64"}, {kFew, ManyNumbers("n")}},
    {{"id:uuid, user:text, n:int64"}, {{"id", false, kIds.values}, kFew, ManyNumbers("n")}},
};

// A table "t" of a design with rows of random fields, and of keys that have none.
class RandomTable {
 public:
  RandomTable(const FieldDesign& design, TestRandom* random) : design_(design), random_(*random) {
    TableOptions table = {.name = "t",
                          .families = {{.name = "d", .max_versions = 2}},
                          .row_key = design.declarations.front()};
    table.indexes = {{.name = "by_c", .columns = {{.qualifier = "c"}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Step() {
    switch (random_.Below(10)) {
      case 0:
        BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
        return;
      case 1:
        if (random_.OneIn(3)) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
        return;
      case 2:
        (void)database->ChangeRowKey("t", Any(design_.declarations));  // Perhaps it cannot be told.
        return;
      case 3:
        (void)database->Split("t", {.key = KeyOf(RandomFields())});  // May be at one.
        return;
      case 4:
        snapshot_ = std::make_unique<Snapshot>(*database->TakeSnapshot());
        return;
      default:
        PutRows(12);
    }
  }
  void PutRows(int count) {
    WriteBatch batch;
    for (int i = 0; i < count; ++i) PutRow(&batch);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // Queries of each kind, at a snapshot or not.
  void Compare(int depth) {
    ReadOptions read;
    if (random_.OneIn(2)) read.snapshot = snapshot_.get();
    const std::vector<FieldRow> rows = AllRows(read);
    for (int i = 0; i < 12; ++i) CompareOne(read, rows, RandomCondition(depth));
  }
  // Of these queries, how many were skip scans.
  uint64_t skips() const { return skips_; }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database = OpenSmall(directory.path());

 private:
  template <typename T>
  const T& Any(const std::vector<T>& all) {
    return all[random_.Below(all.size())];
  }
  std::vector<RowKeyField> RandomFields() {
    std::vector<RowKeyField> fields;
    for (const FieldPool& pool : design_.fields) fields.push_back({pool.name, Any(pool.values)});
    return fields;
  }
  std::string KeyOf(const std::vector<RowKeyField>& fields) {
    const Result<std::string> key = database->KeyForWrite({}, "t", fields);
    BOOST_REQUIRE_EQUAL(key.status().ToString(), "OK");
    return *key;
  }
  void PutRow(WriteBatch* batch) {
    const std::string c = std::to_string(random_.Below(4));
    if (random_.OneIn(12)) {  // A key that is none of the declaration, most often.
      const size_t bytes_max = design_.fields.back().values.size() > 100 ? 1 : 9;
      return batch->Put("t", "\xf0" + random_.Text(bytes_max, "ab\1\xff"), "d", "c", c);
    }
    const std::vector<RowKeyField> fields = RandomFields();
    const std::string key = KeyOf(fields);
    if (random_.OneIn(10)) return batch->DeleteRow("t", key);
    if (random_.OneIn(4)) {
      batch->DeleteColumn("t", key, "d", "c");
    } else {
      batch->Put("t", key, "d", "c", c);
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      batch->Put("t", key, "d", "f" + std::to_string(i), fields[i].value);
    }
  }

  std::vector<FieldRow> AllRows(const ReadOptions& read) {
    auto cursor = database->Scan(read, "t", {});
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<FieldRow> rows;
    while (cursor->Next()) {
      FieldRow& row = rows.emplace_back();
      row.key = cursor->row().key();
      for (const Cell& cell : cursor->row().cells()) {
        if (cell.qualifier == "c") {
          row.c = cell.value;
        } else {
          row.fields.emplace_back(cell.value);
        }
      }
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }

  FieldCondition RandomCondition(int depth) {
    using Kind = FieldCondition::Kind;
    FieldCondition condition;
    const uint64_t choice = depth == 0 ? 9 : random_.Below(10);
    if (choice >= 6) return RandomComparison();
    condition.kind = choice < 3 ? Kind::kAnd : choice < 5 ? Kind::kOr : Kind::kNot;
    const uint64_t children = condition.kind == Kind::kNot ? 1 : 1 + random_.Below(3);
    for (uint64_t i = 0; i < children; ++i) {
      condition.children.push_back(RandomCondition(depth - 1));
    }
    return condition;
  }
  FieldCondition RandomComparison() {
    using Comparison = Predicate::Kind;
    static const std::vector<Comparison> kAny = {
        Comparison::kEqual,    Comparison::kEqual,       Comparison::kEqual,
        Comparison::kNotEqual, Comparison::kLess,        Comparison::kIn,
        Comparison::kIn,       Comparison::kLessOrEqual, Comparison::kGreater,
        Comparison::kIsNull,   Comparison::kPrefix,      Comparison::kGreaterOrEqual,
        Comparison::kBetween,  Comparison::kContains,    Comparison::kIsNotNull};
    FieldCondition condition;
    condition.field = random_.Below(design_.fields.size() + (random_.OneIn(4) ? 1 : 0));
    condition.comparison = Any(kAny);
    const bool is_of_c = condition.field == design_.fields.size();
    const std::vector<std::string> digits = {"0", "1", "2", "3", "4"};
    const auto& values = is_of_c ? digits : design_.fields[condition.field].values;
    const bool is_text = is_of_c || design_.fields[condition.field].is_text;
    const bool asks_text = condition.comparison == Comparison::kPrefix ||
                           condition.comparison == Comparison::kContains;
    if (asks_text && !is_text) condition.comparison = Comparison::kBetween;
    size_t count = 1;
    if (condition.comparison == Comparison::kIn) count = random_.Below(4);
    if (condition.comparison == Comparison::kBetween) count = 2;
    if (condition.comparison >= Comparison::kIsNull) count = 0;
    for (size_t i = 0; i < count; ++i) condition.values.push_back(Any(values));
    if (asks_text && is_text) {
      std::string& part = condition.values[0];
      part.resize(std::min<size_t>(part.size(), random_.Below(4)));
    }
    return condition;
  }

  void CompareOne(const ReadOptions& read, const std::vector<FieldRow>& rows,
                  const FieldCondition& condition) {
    const Predicate predicate = PredicateOf(condition, design_);
    const std::string text = predicate.ToString();
    BOOST_TEST_INFO("row key " << design_.declarations.front() << "; " << text);
    QueryOptions query;
    std::vector<std::string> expected;
    const bool has_ranges = !rows.empty() && random_.OneIn(4);
    if (has_ranges) {
      query.ranges = {{.start = Any(rows).key, .end = ""}};
      if (random_.OneIn(2)) query.ranges[0].end = Any(rows).key + "x";
    }
    for (const FieldRow& row : rows) {
      const bool is_in =
          !has_ranges || (row.key >= query.ranges[0].start &&
                          (query.ranges[0].end.empty() || row.key < query.ranges[0].end));
      if (is_in && Satisfies(row, condition, design_)) expected.push_back(row.key);
    }
    if (has_ranges && !query.ranges[0].end.empty() &&
        query.ranges[0].end <= query.ranges[0].start) {
      query.ranges.clear();
      return;
    }
    CheckCount(read, predicate, query, expected.size(), text);
    CheckGroups(read, predicate, has_ranges ? std::nullopt : std::optional(expected.size()), text);
    CheckInOrder(read, predicate, query, rows, expected, text);
    CheckMerged(read, predicate, has_ranges, expected, text);
    query.no_index = random_.OneIn(3);
    query.descending = random_.OneIn(2);
    if (query.descending) std::ranges::reverse(expected);
    CheckEqual(read, predicate, query, expected, text);
    CheckPages(read, predicate, query, expected, text);
    query.offset = random_.Below(4);
    query.limit = 1 + random_.Below(5);
    expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(std::min<size_t>(
                                                            query.offset, expected.size())));
    expected.resize(std::min<size_t>(expected.size(), query.limit));
    CheckEqual(read, *Predicate::Parse(text), query, expected, text);
  }
  void CheckCount(const ReadOptions& read, const Predicate& predicate, const QueryOptions& query,
                  uint64_t expected, const std::string& text) {
    const Result<uint64_t> count = database->Count(read, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
    BOOST_REQUIRE_MESSAGE(*count == expected, text << " counts " << *count << " of " << expected);
    const Result<Explanation> plan = database->Explain(read, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
    BOOST_REQUIRE_MESSAGE(plan->rows == expected, text << ": " << plan->reason);
  }
  // Rows of groups are as many as match.
  void CheckGroups(const ReadOptions& read, const Predicate& predicate,
                   std::optional<uint64_t> expected, const std::string& text) {
    if (!expected.has_value()) return;  // Groups have no ranges.
    auto groups = database->Aggregate(
        read, "t", predicate, {.group_by = {"c"}, .values = {{.kind = AggregateKind::kRows}}});
    BOOST_REQUIRE_EQUAL(groups.status().ToString(), "OK");
    uint64_t rows = 0;
    while (groups->Next()) rows += std::stoull(std::string(*groups->values()[0]));
    BOOST_REQUIRE_EQUAL(groups->status().ToString(), "OK");
    BOOST_REQUIRE_MESSAGE(rows == *expected, text << " has groups of " << rows);
  }
  // In the order of an index, which leaves out rows without its column.
  void CheckInOrder(const ReadOptions& read, const Predicate& predicate, QueryOptions query,
                    const std::vector<FieldRow>& rows, const std::vector<std::string>& matching,
                    const std::string& text) {
    std::vector<std::pair<std::string, std::string>> expected;
    for (const FieldRow& row : rows) {
      const bool matches = std::ranges::binary_search(matching, row.key);
      if (matches && !row.c.empty()) expected.emplace_back(row.c, row.key);
    }
    std::ranges::sort(expected);
    query.order_by = "by_c";
    const std::vector<std::string> found = KeysOf(read, predicate, query);
    BOOST_REQUIRE_MESSAGE(
        std::ranges::equal(found, expected, {}, {}, &std::pair<std::string, std::string>::second),
        text << " in the order of by_c");
  }
  // Merged by the keys without what leads them.
  void CheckMerged(const ReadOptions& read, const Predicate& predicate, bool has_ranges,
                   std::vector<std::string> expected, const std::string& text) {
    const Result<RowKeyEpochs> keys = database->RowKeysOf(read, "t");
    BOOST_REQUIRE_EQUAL(keys.status().ToString(), "OK");
    const Result<ScanOptions> in_order = keys->InFieldOrder({});
    if (has_ranges || !in_order.has_value() || in_order->ranges.empty()) return;
    const auto is_raw = [](const std::string& key) { return key.front() == '\xf0'; };
    std::erase_if(expected, is_raw);  // None of the ranges has them, or one has.
    std::vector<std::string> found = KeysOf(read, predicate, {.ranges = in_order->ranges});
    std::erase_if(found, is_raw);
    std::ranges::sort(found);
    BOOST_REQUIRE_MESSAGE(found == expected, text << " merged");
  }
  std::vector<std::string> KeysOf(const ReadOptions& read, const Predicate& predicate,
                                  const QueryOptions& query, std::string* token = nullptr) {
    auto cursor = database->Query(read, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    if (token != nullptr) *token = *cursor->Token();
    return keys;
  }
  void CheckEqual(const ReadOptions& read, const Predicate& predicate, const QueryOptions& query,
                  const std::vector<std::string>& expected, const std::string& text) {
    const std::vector<std::string> found = KeysOf(read, predicate, query);
    const std::string plan = database->Explain(read, "t", predicate, query)->reason;
    skips_ += plan.find("by a skip scan") != std::string::npos ? 1 : 0;
    BOOST_REQUIRE_MESSAGE(found == expected, design_.declarations.front()
                                                 << ": " << text << " finds " << found.size()
                                                 << " rows, not " << expected.size() << "; "
                                                 << plan);
  }
  void CheckPages(const ReadOptions& read, const Predicate& predicate, QueryOptions query,
                  const std::vector<std::string>& expected, const std::string& text) {
    std::vector<std::string> all;
    query.limit = 1 + random_.Below(9);
    while (true) {
      const auto page = KeysOf(read, predicate, query, &query.after);
      all.insert(all.end(), page.begin(), page.end());
      if (page.size() < query.limit) break;
    }
    BOOST_REQUIRE_MESSAGE(all == expected, text << " by pages");
  }

  const FieldDesign& design_;
  TestRandom& random_;
  std::unique_ptr<Snapshot> snapshot_;
  uint64_t skips_ = 0;
};

struct EventsFixture {
  EventsFixture() {
    BOOST_REQUIRE(
        database
            ->CreateTable({.name = "t", .families = {{.name = "d"}}, .row_key = keys.ToString()})
            .ok());
    BOOST_REQUIRE(database->CreateTable({.name = "bytes", .families = {{.name = "d"}}}).ok());
    Put(KeyOf("ann", "2026-01-01"));
    Put(KeyOf("ann", "2026-01-02", "xx"));
    Put(KeyOf("bob", "2026-01-01"));
    Put("raw");
  }
  std::string KeyOf(const std::string& user, const std::string& at, const std::string& tag = "yy") {
    return *keys.Encode(std::vector<RowKeyField>{{"user", user},
                                                 {"at", at},
                                                 {"n", "1"},
                                                 {"id", "00000000-0000-0000-0000-000000000001"},
                                                 {"tag", tag}});
  }
  void Put(const std::string& key) {
    WriteBatch batch;
    batch.Put("t", key, "d", "a", "1");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // The users, or keys without one, each followed by a blank.
  std::string Found(const char* text) {
    auto cursor = database->Query({}, "t", *Predicate::Parse(text), {});
    if (!cursor.has_value()) return "error";
    std::string users;
    for (const RowView& row : *cursor) {
      const auto fields = keys.Decode(row.key());
      users += (fields.has_value() ? fields->front().value : std::string(row.key())) + " ";
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return users;
  }

  const RowKeySchema keys =
      *RowKeySchema::Parse("user:text, at:timestamp, n:int64, id:uuid, tag:bytes(2)");
  TemporaryDirectory directory;
  std::unique_ptr<Database> database = OpenSmall(directory.path());
};

}  // namespace

BOOST_AUTO_TEST_SUITE(key_fields)

BOOST_AUTO_TEST_CASE(TheyHoldAsTheFieldsSay) {
  TestRandom random("key_fields");
  for (size_t trial = 0; trial < Trials(2); ++trial) {
    for (const FieldDesign& design : kDesigns) {
      RandomTable table(design, &random);
      for (int step = 0; step < 30; ++step) {
        table.Step();
        if (step % 5 == 4) table.Compare(3);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ASkipScanFindsWhatTheFieldsSay) {
  TestRandom random("key_fields");
  uint64_t skips = 0;
  for (size_t trial = 0; trial < Trials(1); ++trial) {
    for (const FieldDesign& design : kDesignsToSkip) {
      RandomTable table(design, &random);
      for (int part = 0; part < 8; ++part) {
        table.PutRows(600);
        for (int step = 0; step < 4; ++step) table.Step();
      }
      for (int i = 0; i < 4; ++i) {
        table.Compare(static_cast<int>(random.Below(2)));
        table.Step();
      }
      skips += table.skips();
    }
  }
  BOOST_TEST(skips > 0U);
}

BOOST_FIXTURE_TEST_CASE(WhatFieldsDoNotHaveIsRefused, EventsFixture) {
  const auto error = [this](const char* text, const char* table = "t") {
    const auto cursor = database->Query({}, table, *Predicate::Parse(text), {});
    BOOST_REQUIRE_MESSAGE(!cursor.has_value(), text);
    BOOST_CHECK_EQUAL(cursor.error().code(), StatusCode::kInvalidArgument);
    return std::string(cursor.error().message());
  };
  BOOST_TEST(error("_row.usr = 'ann'") ==
             "row key: there is no field 'usr'; the fields are user, at, n, id, tag");
  BOOST_TEST(error("a = 1 OR NOT _row.user = 'ann'", "bytes") ==
             "_row.user: the row keys of table 'bytes' are bytes, without fields");
  BOOST_TEST(error("_row.at > 'yesterday'") ==
             "row key: field 'at': 'yesterday' is no time: expected microseconds since 1970, "
             "2026-11-20T10:11:12Z or 2026-11-20");
  BOOST_TEST(error("_row.n IN (1, 2.5)") == "row key: field 'n': '2.5' is no int64");
  BOOST_TEST(error("_row.n < 9223372036854775808") ==
             "row key: field 'n': '9223372036854775808' is no int64");
  BOOST_TEST(
      error("_row.id = 'x'") ==
      "row key: field 'id': 'x' is no UUID: expected 32 hex digits, with hyphens or without");
  BOOST_TEST(error("_row.tag = 'abc'") ==
             "row key: field 'tag': 'abc' has 3 bytes, expected exactly 2");
  BOOST_TEST(error("_row.user = x'ff'") ==
             "row key: field 'user': '\\xff' is no UTF-8; bytes may be any");
  BOOST_TEST(error("_row.n PREFIX '1'") == "_row.n is neither bytes nor text: it has no prefixes");
  BOOST_TEST(error("_row.id CONTAINS '1'") ==
             "_row.id is neither bytes nor text: it has no CONTAINS");
  BOOST_TEST(error("(_row.user, _row.n) > ('a', 'b')") == "row key: field 'n': 'b' is no int64");
  auto prepared = database->Prepare("t", *Predicate::Parse("_row.n = ?"));
  BOOST_REQUIRE_EQUAL(prepared.status().ToString(), "OK");
  BOOST_TEST(prepared->Bind(1, "x").ToString() ==
             "InvalidArgument: parameter ?1: row key: field 'n': 'x' is no int64");
  const auto where = IndexOptions::Parse("a WHERE _row.n = 1");
  BOOST_REQUIRE(where.has_value());
  BOOST_TEST(!database->CreateIndex("t", *where).ok());
  const auto groups = database->Aggregate({}, "t", {}, {.group_by = {"_row.user"}, .values = {}});
  BOOST_TEST(groups.status().ToString() ==
             "InvalidArgument: _row: rows neither group by their keys, nor are these computed");
}

BOOST_FIXTURE_TEST_CASE(PartsOfTextsAndBytesAreLookedFor, EventsFixture) {
  BOOST_TEST(Found("_row.user PREFIX 'an'") == "ann ann ");
  BOOST_TEST(Found("_row.user LIKE '%o%'") == "bob ");
  BOOST_TEST(Found("_row.user REGEXP '^.n'") == "ann ann ");
  BOOST_TEST(Found("_row.user PREFIX ''") == "ann ann bob ");
  BOOST_TEST(Found("_row.tag PREFIX 'y'") == "ann bob ");
  BOOST_TEST(Found("_row.tag PREFIX 'yyy'") == "");
  BOOST_TEST(Found("_row.user IS NULL") == "raw ");
  BOOST_TEST(Found("NOT _row.user = 'ann'") == "bob raw ");
  BOOST_TEST(Found("_row.at = '2026-01-01' AND _row.n = +1") == "error");
  BOOST_TEST(Found("_row.at = '2026-01-01T00:00:00Z'") == "ann bob ");
  BOOST_TEST(Found("_row.user IN ()") == "");
  BOOST_TEST(Found("(_row.user, _row.at) > ('ann', '2026-01-01')") == "ann bob ");
}

BOOST_FIXTURE_TEST_CASE(TheyAreBoundAsParameters, EventsFixture) {
  auto query = database->Prepare("t", *Predicate::Parse("_row.user = ? AND _row.at >= ?"));
  BOOST_REQUIRE_EQUAL(query.status().ToString(), "OK");
  BOOST_REQUIRE(query->Bind(1, "ann").ok() && query->Bind(2, "2026-01-02").ok());
  BOOST_TEST(*database->Count({}, &*query) == 1U);
  BOOST_REQUIRE(query->Bind(2, "2026-01-01").ok());
  BOOST_TEST(*database->Count({}, &*query) == 2U);
}

// The key decides whether a row is written.
BOOST_FIXTURE_TEST_CASE(TheyDecideWrites, EventsFixture) {
  const auto written = [this](const char* text) {
    WriteBatch batch;
    batch.Put("t", KeyOf("ann", "2026-01-01"), "d", "a", "2");
    const auto applied = database->CheckAndMutate({}, "t", KeyOf("ann", "2026-01-01"),
                                                  *Predicate::Parse(text), batch);
    BOOST_REQUIRE_EQUAL(applied.status().ToString(), "OK");
    return *applied;
  };
  BOOST_TEST(!written("_row.user = 'bob'"));
  BOOST_TEST(written("_row.user = 'ann' AND _row.at < '2026-01-02' AND a = 1"));
}

// A transaction conflicts with changes of the rows that its conditions leave.
BOOST_FIXTURE_TEST_CASE(TheyBoundWhatATransactionHasRead, EventsFixture) {
  const auto committed = [this](const std::string& changed) {
    auto transaction = database->Begin({.validate_ranges = true});
    BOOST_REQUIRE_EQUAL(transaction.status().ToString(), "OK");
    const auto count = transaction->Count(
        {}, "t", *Predicate::Parse("_row.user = 'ann' AND _row.at >= '2026-01-02'"));
    BOOST_TEST(*count == 1U);
    BOOST_REQUIRE(transaction->Put("t", "own", "d", "a", "1").ok());
    Put(changed);
    return transaction->Commit().code();
  };
  BOOST_TEST((committed(KeyOf("bob", "2026-01-02")) == StatusCode::kOk));
  BOOST_TEST((committed(KeyOf("ann", "2026-01-01")) == StatusCode::kOk));
  BOOST_TEST((committed(KeyOf("ann", "2026-01-02", "xx")) == StatusCode::kConflict));
}

BOOST_FIXTURE_TEST_CASE(RangesAreExplained, EventsFixture) {
  const auto reason = [this](const char* text, QueryOptions query = {}) {
    const auto plan = database->Explain({}, "t", *Predicate::Parse(text), query);
    BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
    return plan->reason;
  };
  BOOST_TEST(reason("_row.user = 'ann'") ==
             "no index leads to all rows that may match; row keys from 'ann\\x00' to below "
             "'ann\\x01'");
  BOOST_TEST(reason("_row.user IN ('ann', 'bob') AND a = 1") ==
             "no index leads to all rows that may match; 2 ranges of row keys, the first from "
             "'ann\\x00' to below 'ann\\x01'");
  BOOST_TEST(reason("_row.user = 'ann' AND _row.user = 'bob'") ==
             "no index leads to all rows that may match; no range of row keys");
  BOOST_TEST(reason("_row.user = 'ann' OR a = 1") == "no index leads to all rows that may match");
  // Without a scan, where the ranges bound it.
  BOOST_TEST(database->Count({}, "t", *Predicate::Parse("_row.user = 'ann'"), {.no_scan = true})
                 .has_value());
  BOOST_TEST(
      !database->Count({}, "t", *Predicate::Parse("_row.n = 5"), {.no_scan = true}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
