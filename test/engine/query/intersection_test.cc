// An AND over several indexes: what is read of it, and rows whose columns lie in several sources.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 20'000;

WorldOptions Options(int64_t ttl_micros = 0) {
  WorldOptions options;
  options.families.push_back(
      {.name = "f", .max_versions = 2, .ttl_micros = ttl_micros, .block_size_bytes = 512});
  for (const char* column : {"a", "b", "c"}) {
    options.indexes.push_back(
        {std::string("by_") + column, {{"", column, ColumnType::kText, false}}});
  }
  return options;
}

std::string Key(uint64_t row) { return "row" + std::to_string(100'000 + row); }

using Columns = std::vector<std::pair<std::string, std::string>>;

void Put(ReadWorld& world, const std::string& row, const Columns& columns,
         std::optional<int64_t> timestamp = std::nullopt) {
  ModelOperation put;
  put.table = kWorldTable;
  put.row = row;
  put.family = "f";
  put.columns = columns;
  put.timestamp = timestamp;
  world.Apply(put);
}

// One file: a is x in 10 % of the rows, b is y in 10 %, both in 0.1 %.
void Fill(ReadWorld& world) {
  for (uint64_t i = 0; i < kRows; ++i) {
    const bool is_both = i % 1000 == 0;
    const bool is_x = is_both || (i % 10 == 1 && i % 1000 != 1);
    const bool is_y = is_both || (i % 10 == 2 && i % 1000 != 2);
    Put(world, Key(i), {{"a", is_x ? "x" : "-"}, {"b", is_y ? "y" : "-"}, {"c", "c"}});
  }
  world.Flush(0);
}

constexpr uint64_t kBoth = kRows / 1000;

Explanation Explain(ReadWorld& world, std::string_view text, const QueryOptions& query = {}) {
  const auto explained = engine::ExplainQuery(world.resources(), world.View(world.Moments()[0]), {},
                                              *Predicate::Parse(text), query);
  BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
  return *explained;
}

// Query, count and explanation agree with the model at each moment, by the indexes and without.
void Check(ReadWorld& world, std::string_view text, const std::vector<std::string>& indexes = {},
           std::optional<int64_t> as_of = std::nullopt) {
  const Predicate predicate = *Predicate::Parse(text);
  ReadOptions options;
  options.as_of = as_of;
  ModelRead read = world.ReadOf();
  read.as_of = as_of;
  for (const ReadWorld::Moment& moment : world.Moments()) {
    const auto want = moment.model.Query(kWorldTable, predicate, {}, read);
    for (const QueryOptions& query : {QueryOptions{}, QueryOptions{.use_indexes = indexes}}) {
      const auto got = Drain(
          engine::QueryRows(world.resources(), world.View(moment), options, predicate, query));
      BOOST_CHECK_MESSAGE(got == want, text << "\n  got  " << DescribeRows(got) << "\n  want "
                                            << DescribeRows(want));
      const auto count =
          engine::CountRows(world.resources(), world.View(moment), options, predicate, query);
      BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
      BOOST_CHECK_EQUAL(*count, want.size());
    }
  }
}

void FindOverlaps(ReadWorld& world) { world.BuildOverlaps(0, nullptr, 0); }

}  // namespace

BOOST_AUTO_TEST_SUITE(intersection)

// Counterexample 17 of docs/index-rules.md: neither file has a row with a=1 and c=2.
BOOST_AUTO_TEST_CASE(ARowWhoseColumnsLieInTwoFilesIsFound) {
  for (const bool has_overlaps : {false, true}) {
    ReadWorld world(Options());
    Put(world, "r", {{"c", "2"}}, 4);
    Put(world, "s", {{"c", "2"}, {"a", "1"}}, 4);
    Put(world, "t", {{"c", "2"}}, 4);
    world.Flush(0);
    Put(world, "r", {{"a", "1"}, {"c", "1"}}, 3);
    Put(world, "u", {{"a", "1"}, {"c", "1"}}, 3);
    world.Flush(0);
    if (has_overlaps) FindOverlaps(world);
    Check(world, "a = '1' AND c = '2'", {"by_a", "by_c"});
    Check(world, "a = '1' AND c = '1'", {"by_a", "by_c"});
    BOOST_CHECK_EQUAL(Explain(world, "a = '1' AND c = '2'", {.use_indexes = {"by_a", "by_c"}}).rows,
                      2u);
  }
}

BOOST_AUTO_TEST_CASE(OnlyRowsOfTheIntersectionAreRead) {
  ReadWorld world(Options());
  Fill(world);
  const Explanation explained = Explain(world, "a = 'x' AND b = 'y'");
  BOOST_CHECK_EQUAL(explained.rows, kBoth);
  BOOST_CHECK_EQUAL(explained.candidate_rows, kBoth);
  BOOST_CHECK_EQUAL(explained.merged_rows, 0u);
  BOOST_CHECK_EQUAL(explained.index, "by_a AND by_b");
  BOOST_CHECK_EQUAL(explained.reason, "fewest rows");
  BOOST_REQUIRE_EQUAL(explained.intersected.size(), 2u);
  BOOST_CHECK_EQUAL(explained.intersected[0], "by_a: 2000 entries");
  BOOST_CHECK_EQUAL(explained.intersected[1], "by_b: 2000 entries");
  BOOST_CHECK_EQUAL(explained.entries, 4000u);
  Check(world, "a = 'x' AND b = 'y'", {"by_a", "by_b"});
}

// Two more files have other rows between those of the first, and few of its rows.
BOOST_AUTO_TEST_CASE(RowsOfOneFileAmongSeveralAreIntersected) {
  for (const bool has_overlaps : {false, true}) {
    ReadWorld world(Options());
    Fill(world);
    for (uint64_t i = 0; i < 40; ++i) {
      Put(world, Key(i * 500) + "+", {{"a", "x"}, {"b", i % 2 == 0 ? "y" : "-"}});
    }
    world.Flush(0);
    for (uint64_t i = 0; i < kRows; i += 2000) Put(world, Key(i), {{"b", "-"}});
    for (uint64_t i = 1001; i < kRows; i += 2000) Put(world, Key(i), {{"a", "x"}, {"b", "y"}});
    world.Flush(0);
    if (has_overlaps) FindOverlaps(world);
    const Explanation explained = Explain(world, "a = 'x' AND b = 'y'");
    BOOST_CHECK_EQUAL(explained.index, "by_b AND by_a");
    BOOST_CHECK_EQUAL(explained.rows, kBoth / 2 + 20 + kBoth / 2);
    // Filters are wrong about few rows, which are read and decided.
    BOOST_CHECK_LE(explained.candidate_rows, has_overlaps ? 120u : 160u);
    Check(world, "a = 'x' AND b = 'y'", {"by_a", "by_b"});
    Check(world, "a = 'x' AND b = 'y' AND c = 'c'", {"by_a", "by_b", "by_c"});
    Check(world, "a = 'x' AND b = '-'", {"by_a", "by_b"});
  }
}

// A memstore that has another column of a row decides about it, which a count has to ask.
BOOST_AUTO_TEST_CASE(AMemstoreHasTheOtherColumn) {
  ReadWorld world(Options());
  Fill(world);
  for (uint64_t i = 0; i < kRows; i += 2000) Put(world, Key(i), {{"b", "-"}});
  Put(world, Key(11), {{"b", "y"}});
  Put(world, Key(12), {{"a", "x"}});
  Put(world, Key(5), {{"a", "x"}});
  Put(world, Key(6) + "+", {{"a", "x"}, {"b", "y"}});
  world.TakeSnapshot();
  Put(world, Key(5), {{"b", "y"}});
  Check(world, "a = 'x' AND b = 'y'", {"by_a", "by_b"});
  Check(world, "b = 'y' AND a = 'x' AND c = 'c'", {"by_a", "by_b", "by_c"});
  Check(world, "a = 'x' AND b != 'y'", {"by_a", "by_b"});
  const Explanation explained = Explain(world, "a = 'x' AND b = 'y'");
  BOOST_CHECK_EQUAL(explained.index, "by_a AND by_b");
  BOOST_CHECK_EQUAL(explained.rows, kBoth / 2 + 4);
  BOOST_CHECK_LE(explained.candidate_rows, 30u);
}

BOOST_AUTO_TEST_CASE(AbsentColumnsAndAlternativesAreIntersected) {
  for (const bool has_overlaps : {false, true}) {
    ReadWorld world(Options());
    for (uint64_t i = 0; i < 2000; ++i) {
      Columns columns{{"z", "z"}};
      if (i % 10 == 0) columns.emplace_back("a", "x");
      if (i % 3 == 0) columns.emplace_back("b", std::to_string(i % 4));
      Put(world, Key(i), columns);
    }
    world.Flush(0);
    for (uint64_t i = 0; i < 2000; i += 70) Put(world, Key(i), {{"b", "1"}, {"a", "x"}});
    for (uint64_t i = 0; i < 2000; i += 110) Put(world, Key(i), {{"c", "1"}});
    world.Flush(0);
    if (has_overlaps) FindOverlaps(world);
    Check(world, "a = 'x' AND b IS NULL", {"by_a", "by_b"});
    Check(world, "a IS NULL AND b = '2'", {"by_a", "by_b"});
    Check(world, "a IS NULL AND b IS NULL AND c IS NULL", {"by_a", "by_b", "by_c"});
    Check(world, "a = 'x' AND (b = '1' OR c = '1')", {"by_a", "by_b", "by_c"});
    Check(world, "(a = 'x' OR b = '2') AND (b = '1' OR c = '1' OR c IS NULL)",
          {"by_a", "by_b", "by_c"});
    Check(world, "(a = 'x' AND b = '2') OR c = '1'", {"by_a", "by_c"});
    const QueryOptions all{.use_indexes = {"by_a", "by_b", "by_c"}};
    BOOST_CHECK_EQUAL(Explain(world, "a = 'x' AND (b = '1' OR c = '1')", all).index,
                      "(by_b, by_c) AND by_a");
  }
}

BOOST_AUTO_TEST_CASE(ThePastAndExpiredColumnsAreNotIntersected) {
  ReadWorld world(Options(/*ttl_micros=*/10));
  for (uint64_t i = 0; i < 300; ++i) Put(world, Key(i), {{"a", "x"}, {"b", std::to_string(i % 2)}});
  world.TakeSnapshot();
  world.Advance(5);
  for (uint64_t i = 0; i < 300; i += 3) Put(world, Key(i), {{"b", "1"}});
  world.Flush(0);
  for (uint64_t i = 0; i < 300; i += 7) Put(world, Key(i), {{"b", "0"}});
  world.Flush(0);
  FindOverlaps(world);
  for (int64_t passed = 0; passed < 20; passed += 4) {
    Check(world, "a = 'x' AND b = '1'", {"by_a", "by_b"});
    Check(world, "a = 'x' AND b = '0'", {"by_a", "by_b"}, /*as_of=*/12);
    Check(world, "a IS NULL AND b = '1'", {"by_a", "by_b"});
    world.Advance(4);
  }
}

// A file without a section of one of the indexes.
BOOST_AUTO_TEST_CASE(AFileWithoutASectionRulesNothingOut) {
  for (const size_t broken : {0, 1, 2}) {
    ReadWorld world(Options());
    Fill(world);
    format::StoreFile& file = world.region(0).files[0].file->store();
    file.GoOnWithout([](const format::StoreFile&, const format::BrokenSection&) {});
    file.MarkIndexBroken(world.table().indexes[broken].id, Status::Corruption("a test says so"));
    Check(world, "a = 'x' AND b = 'y'", {"by_a", "by_b"});
    Check(world, "a = 'x' AND b = 'y' AND c = 'c'", {"by_a", "by_b", "by_c"});
    const Explanation explained =
        Explain(world, "a = 'x' AND b = 'y'", {.use_indexes = {"by_a", "by_b"}});
    BOOST_CHECK_EQUAL(explained.rows, kBoth);
    BOOST_CHECK_EQUAL(explained.candidate_rows, broken == 2 ? kBoth : kRows / 10);
  }
}

BOOST_AUTO_TEST_CASE(WhatCostsMoreThanItSavesIsNotIntersected) {
  ReadWorld world(Options());
  for (uint64_t i = 0; i < kRows; ++i) {
    Put(world, Key(i), {{"a", std::to_string(i)}, {"b", i % 2 == 0 ? "y" : "-"}, {"c", "c"}});
  }
  world.Flush(0);
  const Explanation one = Explain(world, "a = '70' AND b = 'y'");
  BOOST_CHECK_EQUAL(one.index, "by_a");
  BOOST_CHECK_EQUAL(one.reason, "fewest entries");
  BOOST_REQUIRE_EQUAL(one.rejected.size(), 2u);
  BOOST_CHECK_EQUAL(one.rejected[0],
                    "index by_b: reading its 10000 entries costs more than the rows that it would "
                    "leave out");
  // Every row has it.
  const Explanation all = Explain(world, "b = 'y' AND c = 'c' AND a < '2'");
  BOOST_CHECK(all.index.find("by_c") == std::string::npos);
  BOOST_CHECK_EQUAL(all.rejected.back(),
                    "index by_c: reading its 20000 entries costs more than the rows that it would "
                    "leave out");
  const Explanation forced =
      Explain(world, "a = '70' AND b = 'y'", {.use_indexes = {"by_b", "by_a"}});
  BOOST_CHECK_EQUAL(forced.index, "by_a AND by_b");
  BOOST_CHECK_EQUAL(forced.reason, "use_index");
  BOOST_CHECK_EQUAL(forced.candidate_rows, 1u);
  Check(world, "a = '70' AND b = 'y'", {"by_b", "by_a"});
}

// Reads of blocks with rows.
size_t DataReads(ReadWorld& world, const std::function<void()>& work) {
  format::StoreFile& file = world.region(0).files[0].file->store();
  const format::DataSection& rows = **file.Carrier();
  const uint32_t first = *rows.BlockOf(0), last = *rows.BlockOf(file.row_count() - 1);
  const uint64_t begin = rows.BlockAt(first)->handle.offset;
  const uint64_t end = rows.BlockAt(last)->handle.offset;
  world.disk().control().SetTracing(true);
  work();
  const std::vector<DiskEvent> trace = world.disk().control().TakeTrace();
  world.disk().control().SetTracing(false);
  return static_cast<size_t>(std::count_if(trace.begin(), trace.end(), [&](const DiskEvent& event) {
    return event.operation == DiskOperation::kRead && event.offset >= begin && event.offset <= end;
  }));
}

// Postings would rule nothing out.
BOOST_AUTO_TEST_CASE(RowsThatAllLieInSeveralSourcesAreNotIntersected) {
  ReadWorld world(Options());
  Fill(world);
  for (uint64_t i = 0; i < kRows; ++i) Put(world, Key(i), {{"c", "-"}});
  BOOST_CHECK_EQUAL(Explain(world, "a = 'x' AND b = 'y'").index, "by_a");
  world.Flush(0);
  FindOverlaps(world);
  const Explanation explained = Explain(world, "a = 'x' AND b = 'y'");
  BOOST_CHECK_EQUAL(explained.index, "by_a");
  BOOST_CHECK_EQUAL(explained.rows, kBoth);
  Check(world, "a = 'x' AND b = 'y'", {"by_a", "by_b"});
}

// A count of conditions that are all taken reads no row; if one of them is not, it reads those of
// the others' intersection.
BOOST_AUTO_TEST_CASE(CountsOfAnIntersectionReadNoRow) {
  WorldOptions options = Options();
  options.cache_bytes = 0;
  ReadWorld world(options);
  Fill(world);
  const auto count = [&](std::string_view text) {
    const auto counted = engine::CountRows(world.resources(), world.View(world.Moments()[0]), {},
                                           *Predicate::Parse(text), {});
    BOOST_REQUIRE(counted.has_value());
    BOOST_CHECK_EQUAL(*counted, kBoth);
  };
  count("a = 'x' AND b = 'y'");  // The file's parts are loaded.
  BOOST_CHECK_EQUAL(DataReads(world, [&] { count("a = 'x' AND b = 'y'"); }), 0u);
  for (const char* more : {"d IS NULL", "c = 'c'"}) {  // No index; one of every row.
    const std::string text = "a = 'x' AND b = 'y' AND " + std::string(more);
    const size_t read = DataReads(world, [&] { count(text); });
    BOOST_CHECK_GT(read, 0u);
    BOOST_CHECK_LE(read, kBoth);
  }
}

BOOST_AUTO_TEST_CASE(SeveralIndexesHaveToServe) {
  ReadWorld world(Options());
  Fill(world);
  const auto status_of = [&](std::string_view text, const QueryOptions& query) {
    return engine::QueryRows(world.resources(), world.View(world.Moments()[0]), {},
                             *Predicate::Parse(text), query)
        .status();
  };
  const auto check = [&](std::string_view text, StatusCode code, std::string_view message,
                         const QueryOptions& query) {
    const Status status = status_of(text, query);
    BOOST_CHECK_EQUAL(status.code(), code);
    BOOST_CHECK_MESSAGE(status.message().find(message) != std::string_view::npos,
                        status.ToString());
  };
  check("a = 'x' AND b = 'y'", StatusCode::kInvalidArgument, "no condition on column 'c'",
        {.use_indexes = {"by_a", "by_c"}});
  check("a = 'x'", StatusCode::kNotFound, "no index 'by_d'", {.use_indexes = {"by_a", "by_d"}});
  check("a = 'x'", StatusCode::kInvalidArgument, "both given",
        {.use_index = "by_a", .use_indexes = {"by_a"}});
  check("a = 'x'", StatusCode::kInvalidArgument, "both given",
        {.use_indexes = {"by_a"}, .no_index = true});
  BOOST_CHECK(status_of("a = 'x'", {.use_indexes = {"by_a"}}).ok());
  BOOST_CHECK(status_of("a = 'x' OR b = 'y'", {.use_indexes = {"by_a", "by_b"}}).ok());
  BOOST_CHECK(status_of("a = 'x'", {.order_by = "by_b", .use_indexes = {"by_b"}}).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
