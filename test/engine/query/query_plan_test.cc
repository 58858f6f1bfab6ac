// How queries are planned, what they refuse, and how they are explained.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

WorldOptions Options() {
  WorldOptions options;
  options.families.push_back({.name = "f", .block_size_bytes = 512});
  options.indexes.push_back({"by_name", {{"", "name", ColumnType::kText, false}}});
  options.indexes.push_back({"by_size", {{"", "size", ColumnType::kInt64, false}}});
  options.indexes.push_back({"by_name_too", {{"", "name", ColumnType::kBytes, true}}});
  return options;
}

void Put(ReadWorld& world, const std::string& row, const std::string& name,
         const std::string& size) {
  ModelOperation put;
  put.table = kWorldTable;
  put.row = row;
  put.family = "f";
  put.columns = {{"name", name}, {"size", size}};
  world.Apply(put);
}

std::string Key(uint64_t row) { return "row" + std::to_string(100'000 + row); }

// 20,000 rows in one file: names n0 to n99, one size a row.
void Fill(ReadWorld& world) {
  for (uint64_t i = 0; i < 20'000; ++i) {
    Put(world, Key(i), "n" + std::to_string(i % 100), std::to_string(i));
  }
  world.Flush(0);
}

Status StatusOf(ReadWorld& world, const Predicate& predicate, const QueryOptions& query = {}) {
  return engine::QueryRows(world.resources(), world.View(world.Moments()[0]), {}, predicate, query)
      .status();
}

Explanation Explain(ReadWorld& world, const Predicate& predicate, const QueryOptions& query = {}) {
  const auto explained =
      engine::ExplainQuery(world.resources(), world.View(world.Moments()[0]), {}, predicate, query);
  BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
  return *explained;
}

Predicate Parsed(std::string_view text) { return *Predicate::Parse(text); }

void CheckRefused(ReadWorld& world, std::string_view text, StatusCode code,
                  std::string_view message, const QueryOptions& query = {}) {
  const Status status = StatusOf(world, Parsed(text), query);
  BOOST_CHECK_EQUAL(status.code(), code);
  BOOST_CHECK_MESSAGE(status.message().find(message) != std::string_view::npos,
                      text << ": " << status.ToString());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(query_plan)

BOOST_AUTO_TEST_CASE(WhatCannotBeMeantIsRefused) {
  ReadWorld world(Options());
  CheckRefused(world, "g:name = 'x'", StatusCode::kNotFound, "no family 'g'");
  CheckRefused(world, "size > 'big'", StatusCode::kInvalidArgument, "column 'size'");
  CheckRefused(world, "size PREFIX '1'", StatusCode::kInvalidArgument, "neither bytes nor text");
  CheckRefused(world, "size = '1.5'", StatusCode::kInvalidArgument, "column 'size'");
  QueryOptions query;
  query.use_index = "by_color";
  CheckRefused(world, "name = 'x'", StatusCode::kNotFound, "no index 'by_color'", query);
  query.use_index = "by_size";
  CheckRefused(world, "name = 'x'", StatusCode::kInvalidArgument,
               "index 'by_size' cannot serve the predicate: no condition on column 'size'", query);
  CheckRefused(world, "name = 'x' OR size = 1", StatusCode::kInvalidArgument,
               "may match without the condition on column 'size'", query);
  query.use_index = "by_name_too";
  CheckRefused(world, "name = 'x'", StatusCode::kInvalidArgument, "cast them (name::bytes)", query);
  query.no_index = true;
  CheckRefused(world, "name = 'x'", StatusCode::kInvalidArgument, "both given", query);
  query.order_by = query.use_index;
  CheckRefused(world, "name = 'x'", StatusCode::kInvalidArgument, "both given", query);
  query = {};
  query.order_by = "by_color";
  CheckRefused(world, "TRUE", StatusCode::kNotFound, "no index 'by_color'", query);
  ReadOptions options;
  options.versions = 0;
  const auto source = engine::QueryRows(world.resources(), world.View(world.Moments()[0]), options,
                                        Predicate(), {});
  BOOST_CHECK_EQUAL(source.status().code(), StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(WhatIsNoPredicateIsRefused) {
  ReadWorld world(Options());
  Put(world, "a", "x", "1");
  using Kind = Predicate::Kind;
  for (const Kind kind : {Kind::kTrue, Kind::kAnd, Kind::kOr, Kind::kNot}) {
    const Predicate predicate = Predicate::Compare(kind, "name", {"x"});
    const Status status = StatusOf(world, predicate);
    BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
    BOOST_CHECK(status.message().find("is no comparison") != std::string_view::npos);
    BOOST_CHECK_EQUAL(engine::CountRows(world.resources(), world.View(world.Moments()[0]), {},
                                        Predicate::Not(predicate), {})
                          .status()
                          .code(),
                      StatusCode::kInvalidArgument);
  }
  Predicate deep = Predicate::Equal("name", "x");
  for (int i = 0; i < 20'000; ++i) deep = Predicate::Not(std::move(deep));
  const Status status = StatusOf(world, deep);
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
  BOOST_CHECK(status.message().find("more than 200 levels") != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(AnUnknownQualifierIsAbsentEverywhere) {
  ReadWorld world(Options());
  Put(world, "a", "x", "1");
  BOOST_CHECK_EQUAL(Explain(world, Parsed("color = 'red'")).rows, 0);
  BOOST_CHECK_EQUAL(Explain(world, Parsed("color IS NULL")).rows, 1);
  BOOST_CHECK_EQUAL(Explain(world, Parsed("NOT color = 'red'")).rows, 1);
  BOOST_CHECK_EQUAL(Explain(world, Parsed("color != 'red'")).rows, 0);
}

BOOST_AUTO_TEST_CASE(TheIndexWithTheFewestEntriesDrives) {
  ReadWorld world(Options());
  Fill(world);
  const Explanation by_size = Explain(world, Parsed("name = 'n7' AND size BETWEEN 103 AND 107"));
  BOOST_CHECK_EQUAL(by_size.index, "by_size");
  BOOST_CHECK_EQUAL(by_size.entries, 5);
  BOOST_CHECK_EQUAL(by_size.candidate_rows, 5);
  BOOST_CHECK_EQUAL(by_size.rows, 1);
  BOOST_CHECK_EQUAL(by_size.files, 1);
  BOOST_CHECK_EQUAL(by_size.files_scanned, 0);
  BOOST_REQUIRE_EQUAL(by_size.rejected.size(), 2);
  BOOST_CHECK(by_size.rejected[0].starts_with("index by_name: reading its 200 entries costs more"));

  const Explanation by_name = Explain(world, Parsed("name = 'n7' AND size > 5"));
  BOOST_CHECK_EQUAL(by_name.index, "by_name");
  BOOST_CHECK_EQUAL(by_name.entries, 200);

  const Explanation either = Explain(world, Parsed("name = 'n7' OR size IN (1, 2)"));
  BOOST_CHECK_EQUAL(either.index, "by_name, by_size");
  BOOST_CHECK_EQUAL(either.rows, 202);

  // Bounds on one column are taken together.
  const Explanation narrow = Explain(world, Parsed("size >= 10 AND size < 13 AND size != 11"));
  BOOST_CHECK_EQUAL(narrow.entries, 2);
  BOOST_CHECK_EQUAL(narrow.rows, 2);

  const Explanation never = Explain(world, Parsed("size > 5 AND size < 5"));
  BOOST_CHECK_EQUAL(never.candidate_rows, 0);
}

BOOST_AUTO_TEST_CASE(SingleRowKeysAreLookedUp) {
  ReadWorld world(Options());
  Fill(world);
  Put(world, Key(3), "n3", "-3");
  Put(world, "new", "n7", "-4");
  const std::string three = "_row IN ('" + Key(3) + "', '" + Key(19'999) + "', 'new', 'none')";
  const Explanation keys = Explain(world, Parsed(three));
  BOOST_CHECK_EQUAL(keys.index, "_row");
  BOOST_CHECK_EQUAL(keys.reason, "single row keys are asked for");
  BOOST_CHECK_EQUAL(keys.rows, 3);
  BOOST_CHECK_LE(keys.candidate_blocks, 2);

  // Whatever has the fewest entries drives.
  BOOST_CHECK_EQUAL(Explain(world, Parsed(three + " AND name = 'n7'")).index, "_row");
  BOOST_CHECK_EQUAL(Explain(world, Parsed(three + " AND name = 'n7'")).rows, 1);
  const Explanation one = Explain(world, Parsed(three + " AND size = -3"));
  BOOST_CHECK_EQUAL(one.index, "by_size");
  BOOST_CHECK_EQUAL(one.rows, 1);
  QueryOptions query;
  query.use_index = "by_name";
  BOOST_CHECK_EQUAL(Explain(world, Parsed(three + " AND name = 'n7'"), query).index, "by_name");

  // Beside the entries of an index.
  const Explanation either = Explain(world, Parsed("_row = '" + Key(5) + "' OR size IN (6, 7)"));
  BOOST_CHECK_EQUAL(either.index, "by_size, _row");
  BOOST_CHECK_EQUAL(either.rows, 3);
  BOOST_CHECK_EQUAL(Explain(world, Parsed(three + " OR (_row = 'x' AND name = 'n7')")).rows, 3);

  // One key is a range of rows as another; ranges are scanned from the first to the last.
  BOOST_CHECK_EQUAL(Explain(world, Parsed("_row = 'new'")).index, "");
  const Explanation ranges = Explain(world, Parsed("_row < '" + Key(2) + "' OR _row = 'new'"));
  BOOST_CHECK_EQUAL(ranges.index, "");
  BOOST_CHECK_EQUAL(ranges.rows, 3);
  CheckRefused(world, three, StatusCode::kInvalidArgument, "cannot serve the predicate", query);

  // More of them than a scan costs.
  std::vector<std::string> all;
  for (uint64_t i = 0; i < 20'000; ++i) all.push_back(Key(i));
  const Explanation many = Explain(world, Predicate::Compare(Predicate::Kind::kIn, "_row", all));
  BOOST_CHECK_EQUAL(many.index, "");
  BOOST_CHECK_EQUAL(many.rows, 20'000);
}

// The same rows in a memstore as in a file: the same choice.
BOOST_AUTO_TEST_CASE(EntriesInMemstoresCount) {
  ReadWorld world(Options());
  for (uint64_t i = 0; i < 20'000; ++i) {
    Put(world, Key(i), i % 100 == 0 ? "rare" : "common", std::to_string(i));
    if (i == 9'999) world.SwitchMemstore(0);
  }
  const auto check = [&](std::string_view text, const std::string& index, uint64_t entries) {
    const Explanation explained = Explain(world, Parsed(text));
    BOOST_CHECK_EQUAL(explained.index, index);
    BOOST_CHECK_EQUAL(explained.entries, entries);
    return explained;
  };
  const Explanation both = check("name = 'common' AND size < 10", "by_size", 10);
  BOOST_CHECK_EQUAL(both.memstore_entries, 10u);
  BOOST_CHECK_EQUAL(both.rows, 9u);
  check("name = 'rare' AND size < 1000", "by_name", 200);
  check("name = 'rare' OR size < 10", "by_name, by_size", 210);
  const Explanation most = check("name = 'common'", "", 0);
  BOOST_CHECK(most.reason.starts_with("19800 entries lead to"));
  // An update adds an entry.
  for (uint64_t i = 0; i < 10; ++i) Put(world, Key(i), "common", std::to_string(i));
  check("name = 'common' AND size < 10", "by_size", 20);
  world.Flush(0);  // The older one of two memstores.
  const Explanation after = check("name = 'common' AND size < 10", "by_size", 20);
  BOOST_CHECK_EQUAL(after.memstore_entries, 10u);
}

BOOST_AUTO_TEST_CASE(AScanIsChosenWhereItIsCheaper) {
  ReadWorld world(Options());
  Fill(world);
  // An index that decides spares the conditions.
  BOOST_CHECK_EQUAL(Explain(world, Parsed("size > 100")).index, "by_size");
  const Explanation most = Explain(world, Parsed("size > 100 AND color != 'none'"));
  BOOST_CHECK_EQUAL(most.index, "");
  BOOST_CHECK(most.reason.find("cheaper") != std::string::npos);
  BOOST_CHECK_EQUAL(most.candidate_blocks, most.total_blocks);
  BOOST_CHECK_EQUAL(most.candidate_bytes, most.total_bytes);
  BOOST_CHECK_EQUAL(most.files_scanned, 1);
  const Explanation other = Explain(world, Parsed("color = 'red'"));
  BOOST_CHECK_EQUAL(other.index, "");
  BOOST_CHECK_EQUAL(other.rejected[0], "index by_name: no condition on column 'name'");
  // Row keys cut what is scanned.
  const Explanation keys = Explain(world, Parsed("_row >= 'row100010' AND _row < 'row100020'"));
  BOOST_CHECK_EQUAL(keys.rows, 10);
  BOOST_CHECK(keys.candidate_blocks <= 2);
}

BOOST_AUTO_TEST_CASE(ACountOfSingleSourceRowsReadsNoDataBlock) {
  ReadWorld world(Options());
  Fill(world);
  const auto count = [&](std::string_view text) {
    const auto counted =
        engine::CountRows(world.resources(), world.View(world.Moments()[0]), {}, Parsed(text), {});
    BOOST_REQUIRE_MESSAGE(counted.has_value(), counted.status().ToString());
    return *counted;
  };
  format::StoreFile& file = world.View(world.Moments()[0]).regions[0]->files[0].file->store();
  const format::DataSection* data = *file.Carrier();
  BOOST_CHECK_EQUAL(count("name = 'n5'"), 200);
  BOOST_CHECK_EQUAL(count("size BETWEEN 5 AND 14"), 10);
  BOOST_CHECK_EQUAL(count("name = 'n5' OR size < 10"), 209);
  BOOST_CHECK_EQUAL(count("TRUE"), 20'000);
  BOOST_CHECK_EQUAL(count("NOT name IS NULL"), 20'000);
  BOOST_REQUIRE(data->LoadBlocks().ok());
  for (uint32_t block = 0; block < data->block_count(); ++block) {
    BOOST_REQUIRE(data->CachedRows(*data->BlockAt(block)) == nullptr);
  }
}

BOOST_AUTO_TEST_CASE(AValueOfManyRowsStreamsInKeyOrder) {
  ReadWorld world(Options());
  for (uint64_t i = 0; i < 12'000; ++i) {
    Put(world, Key(i * 7919 % 12'000), i % 12 == 0 ? "a" : i % 12 == 1 ? "c" : "b", "1");
    if (i == 9000) world.Flush(0);
  }
  const auto moment = world.Moments()[0];
  for (const bool descending : {false, true}) {
    for (const uint64_t limit : {0, 3, 900, 1500, 11'500}) {
      QueryOptions query;
      query.order_by = "by_name";
      query.descending = descending;
      query.limit = limit;
      const auto rows =
          Drain(engine::QueryRows(world.resources(), world.View(moment), {}, Predicate(), query));
      BOOST_CHECK(rows == moment.model.Query(kWorldTable, Predicate(), query, world.ReadOf()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
