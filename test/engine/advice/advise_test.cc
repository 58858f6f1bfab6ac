// What AdviseIndexes says, against the same database with the advised indexes: which index a plan
// chooses then, how many blocks it reads, and how large the index is.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tandem/advice.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

/// A table without an index: of row i `city` is one of 40, in no order of keys, `age` 0 to 99,
/// `name` its own, `state` rarely 'open', `day` rises with the key.
struct AdviseFixture : TestEngine {
  static constexpr int kRows = 3000;

  AdviseFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.indexes.clear();
    table.families[0].block_size_bytes = 1024;
    table.columns = {{.qualifier = "age", .type = ColumnType::kInt64},
                     {.qualifier = "day", .type = ColumnType::kInt64}};
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    Fill(0, kRows, 1);
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
    executor.Drain();
  }
  static std::string Key(int i) { return "row" + std::to_string(100'000 + i); }
  /// As good as random, and the same in each run.
  static uint64_t Mixed(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
    i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
    return (i ^ (i >> 31)) >> 8;
  }
  /// Rows of [low, high), every `step`-th.
  void Fill(int low, int high, int step) {
    for (int i = low; i < high; i += step) {
      WriteBatch batch;
      const uint64_t mixed = Mixed(static_cast<uint64_t>(i));
      batch.Put("t", Key(i), "d", "city", "city" + std::to_string(mixed % 40));
      batch.Put("t", Key(i), "d", "age", std::to_string(mixed / 40 % 100));
      batch.Put("t", Key(i), "d", "name", "name" + std::to_string(mixed % 1'000'000));
      batch.Put("t", Key(i), "d", "state", mixed % 50 == 0 ? "open" : "done");
      batch.Put("t", Key(i), "d", "day", std::to_string(i / 30));
      batch.Put("t", Key(i), "d", "pad", std::string(60, static_cast<char>('a' + i % 26)));
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    }
  }

  static AdvisedQuery Asked(std::string_view text, QueryOptions query = {}, uint64_t count = 1) {
    AdvisedQuery asked;
    asked.predicate = *Predicate::Parse(text);
    asked.options = std::move(query);
    asked.count = count;
    return asked;
  }
  IndexAdvice Advise(const std::vector<AdvisedQuery>& queries, AdviseOptions advise = {}) {
    Result<IndexAdvice> advice = (**this).AdviseIndexes("t", queries, advise);
    BOOST_REQUIRE_EQUAL(advice.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(advice->queries.size(), queries.size());
    return *std::move(advice);
  }
  Explanation ExplainOf(const AdvisedQuery& query) {
    ReadOptions read;
    read.columns = query.columns;
    read.families = query.families;
    const Result<Explanation> explanation =
        (**this).Explain(read, "t", query.predicate, query.options);
    BOOST_REQUIRE_EQUAL(explanation.status().ToString(), "OK");
    return *explanation;
  }
  /// Makes the advised indexes in the files that are there.
  void Build(const IndexAdvice& advice) {
    for (const AdvisedIndex& index : advice.indexes) {
      BOOST_REQUIRE_EQUAL((**this).CreateIndex("t", index.options).ToString(), "OK");
    }
    executor.Drain();
    for (const AdvisedIndex& index : advice.indexes) {
      const Result<IndexStatistics> built =
          (**this).GetIndexStatistics("t", index.options.name, nullptr);
      BOOST_REQUIRE_EQUAL(built.status().ToString(), "OK");
      BOOST_REQUIRE_EQUAL(built->files_without, 0u);
    }
  }
  void CheckNear(uint64_t expected, uint64_t found, double share, std::string_view what) {
    const double most = std::max(1.0, share * static_cast<double>(expected));
    BOOST_CHECK_MESSAGE(
        std::abs(static_cast<double>(expected) - static_cast<double>(found)) <= most,
        what << ": built " << expected << ", advised " << found);
  }
  static std::string DescribeAdvice(const IndexAdvice& advice, size_t query) {
    std::string text = "; advised:";
    for (const AdvisedIndex& index : advice.indexes) {
      text += " " + index.options.name + " (" + index.options.ToString() + ") saves " +
              std::to_string(index.blocks_saved);
    }
    text += "; the query by";
    for (const size_t index : advice.queries[query].indexes) {
      text += " " + advice.indexes[index].options.name;
    }
    return text + " reads " + std::to_string(advice.queries[query].blocks_then) + " blocks";
  }
  /// Builds what was advised and compares.
  void CheckBuilt(const std::vector<AdvisedQuery>& queries, const IndexAdvice& advice) {
    Build(advice);
    for (const AdvisedIndex& index : advice.indexes) {
      const IndexStatistics built = *(**this).GetIndexStatistics("t", index.options.name, nullptr);
      CheckNear(built.entries, index.entries, 0, "entries of " + index.options.ToString());
      CheckNear(built.size_bytes, index.size_bytes, 0.25, "bytes of " + index.options.ToString());
    }
    for (size_t i = 0; i < queries.size(); ++i) {
      const QueryAdvice& said = advice.queries[i];
      const Explanation then = ExplainOf(queries[i]);
      const std::string text = queries[i].predicate.ToString();
      if (said.indexes.empty()) {
        BOOST_CHECK_MESSAGE(!said.why.empty(), text);
        continue;
      }
      for (const size_t index : said.indexes) {
        const std::string& name = advice.indexes[index].options.name;
        BOOST_CHECK_MESSAGE(then.index.find(name) != std::string::npos,
                            text << ": expected " << name << ", found " << then.index << ", "
                                 << then.reason << DescribeAdvice(advice, i) << " plan entries "
                                 << then.entries << " blocks " << then.candidate_blocks);
      }
      CheckNear(then.candidate_blocks, said.blocks_then, 0.1, "blocks of " + text);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(advise, AdviseFixture)

BOOST_AUTO_TEST_CASE(IndexOfTheColumn) {
  const std::vector<AdvisedQuery> queries = {Asked("name = 'name40'", {}, 7)};
  const uint64_t before = ExplainOf(queries[0]).candidate_blocks;
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:name");
  BOOST_TEST(advice.indexes[0].options.name == "by_name");
  BOOST_TEST(advice.queries[0].blocks_now == before);
  BOOST_TEST(advice.indexes[0].blocks_saved == 7 * (before - advice.queries[0].blocks_then));
  BOOST_TEST(advice.rows == uint64_t{kRows});
  BOOST_TEST(advice.rows_read == uint64_t{kRows});
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(SingleValuesComeBeforeTheRange) {
  const std::vector<AdvisedQuery> queries = {Asked("age BETWEEN 10 AND 30 AND city = 'city7'")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:city, d:age::int64");
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(SidesOfAnOrTogether) {
  const std::vector<AdvisedQuery> queries = {Asked("name = 'name40' OR age = 3")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 2u);
  BOOST_TEST(advice.indexes[0].blocks_saved == 0u);
  BOOST_TEST(advice.indexes[1].blocks_saved > 0u);
  BOOST_TEST(advice.queries[0].indexes.size() == 2u);
  CheckBuilt(queries, advice);
}

// Two ranges, which no index over both columns serves: a plan intersects their rows.
BOOST_AUTO_TEST_CASE(RangesOfAnAndTogether) {
  const std::vector<AdvisedQuery> queries = {Asked("age > 90 AND day < 40")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 2u);
  BOOST_TEST(advice.queries[0].indexes.size() == 2u);
  CheckBuilt(queries, advice);
  BOOST_TEST(ExplainOf(queries[0]).intersected.size() == 2u);
}

// With an index that the table has.
BOOST_AUTO_TEST_CASE(IntersectedWithWhatIsThere) {
  IndexOptions age;
  age.name = "of_age";
  age.columns = {{.family = "d", .qualifier = "age", .type = ColumnType::kInt64}};
  BOOST_REQUIRE_EQUAL((**this).CreateIndex("t", age).ToString(), "OK");
  executor.Drain();
  const std::vector<AdvisedQuery> queries = {Asked("age > 90 AND day < 40")};
  const IndexAdvice advice = Advise(queries);
  BOOST_TEST(advice.queries[0].index_now == "of_age");
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:day::int64");
  BOOST_TEST(advice.queries[0].blocks_then < advice.queries[0].blocks_now);
  CheckBuilt(queries, advice);
  BOOST_TEST(ExplainOf(queries[0]).index.find("of_age") != std::string::npos);
}

// Of two queries each has its index; a third one has both conditions.
BOOST_AUTO_TEST_CASE(WhatOthersNeedIsIntersected) {
  std::vector<AdvisedQuery> queries = {Asked("age = 3", {}, 50), Asked("day < 9", {}, 50),
                                       Asked("age < 5 AND day < 20")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 2u);
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(FunctionsAndCastsAsInTheCondition) {
  const std::vector<AdvisedQuery> queries = {Asked("upper(name) = 'NAME40'"),
                                             Asked("day::uint64 = 17")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 2u);
  std::vector<std::string> texts;
  for (const AdvisedIndex& index : advice.indexes) texts.push_back(index.options.ToString());
  std::ranges::sort(texts);
  BOOST_TEST(texts[0] == "d:day::uint64");
  BOOST_TEST(texts[1] == "upper(d:name)::text");
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(ConditionOfAllQueriesMakesItPartial) {
  const std::vector<AdvisedQuery> queries = {Asked("state = 'open' AND age = 3"),
                                             Asked("state = 'open' AND age = 4"),
                                             Asked("state = 'open' AND age = 20")};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.where == "state = 'open'");
  BOOST_TEST(advice.indexes[0].entries < uint64_t{kRows} / 10);
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(ColumnsThatAreAskedForAreIncluded) {
  std::vector<AdvisedQuery> queries = {Asked("city = 'city7'")};
  queries[0].columns = {{.family = "d", .qualifier = "age"}};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:city INCLUDE (d:age)");
  BOOST_TEST(advice.queries[0].blocks_then == 0u);
  CheckBuilt(queries, advice);
}

// No record of an index has all columns of a family. Other families cost nothing.
BOOST_AUTO_TEST_CASE(OfWholeFamiliesTheirBlocksCount) {
  BOOST_REQUIRE_EQUAL((**this).AddFamily("t", {.name = "e", .block_size_bytes = 1024}).ToString(),
                      "OK");
  for (int i = 0; i < kRows; ++i) {
    WriteBatch batch;
    batch.Put("t", Key(i), "e", "pad", std::string(120, 'e'));
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  executor.Drain();
  std::vector<AdvisedQuery> queries(2, Asked("city = 'city7'"));
  queries[0].columns = {{.family = "d", .qualifier = "age"}};
  queries[0].families = {"d"};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:city");
  BOOST_TEST(advice.queries[0].blocks_now < advice.queries[1].blocks_now);
  BOOST_TEST(advice.queries[0].blocks_then < advice.queries[1].blocks_then);
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(CountsReadNothingByTheirIndex) {
  std::vector<AdvisedQuery> queries = {Asked("city = 'city7'")};
  queries[0].is_count = true;
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_TEST(advice.queries[0].blocks_then == 0u);
}

BOOST_AUTO_TEST_CASE(QueriesThatNoIndexHelps) {
  const IndexAdvice advice = Advise(
      {Asked("TRUE"), Asked("state = 'done' AND pad CONTAINS 'zz'"), Asked("city != 'city7'"),
       Asked("name = 'name40'", {.no_index = true}), Asked("_row = 'row100007'"),
       Asked("pad IS NULL"), Asked("day BETWEEN 0 AND 60 AND pad CONTAINS 'zz'")});
  for (const QueryAdvice& query : advice.queries) {
    BOOST_TEST(query.indexes.empty());
    BOOST_TEST(!query.why.empty());
    BOOST_TEST(query.blocks_then == query.blocks_now);
  }
  BOOST_TEST(advice.indexes.empty());
  BOOST_TEST(advice.queries[1].why.find("reading all rows in order is cheaper") !=
             std::string::npos);
  // It would lead to fewer blocks, but to more rows than a plan picks.
  BOOST_TEST(advice.queries[6].why.find("reading all rows in order is cheaper") !=
             std::string::npos);
  BOOST_TEST(advice.queries[3].why.find("no_index") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(NotWhatIsThere) {
  IndexOptions both;
  both.name = "both";
  both.columns = {{.family = "d", .qualifier = "city"}, {.family = "d", .qualifier = "name"}};
  BOOST_REQUIRE_EQUAL((**this).CreateIndex("t", both).ToString(), "OK");
  executor.Drain();
  const IndexAdvice advice = Advise({Asked("city = 'city7'")});
  BOOST_TEST(advice.indexes.empty());
  BOOST_TEST(advice.queries[0].index_now == "both");
  BOOST_TEST(!advice.queries[0].why.empty());
}

// An index would find at once that nothing matches; the column is rather misspelt.
BOOST_AUTO_TEST_CASE(NoneOfAColumnThatNoRowHas) {
  const std::vector<AdvisedQuery> queries = {Asked("nmae = 'name40'", {}, 100),
                                             Asked("nmae = 'name40' AND city = 'city7'"),
                                             Asked("nmae = 'x' OR age = 3"), Asked("age = 4")};
  const IndexAdvice advice = Advise(queries);
  for (const AdvisedIndex& index : advice.indexes) {
    BOOST_TEST(index.options.ToString().find("nmae") == std::string::npos);
  }
  for (const size_t query : {0, 2}) {
    BOOST_TEST(advice.queries[query].indexes.empty());
    BOOST_TEST(advice.queries[query].why == "no row in files has a value of d:nmae");
  }
  BOOST_REQUIRE_EQUAL(advice.queries[1].indexes.size(), 1u);
  BOOST_REQUIRE_EQUAL(advice.queries[3].indexes.size(), 1u);
  CheckBuilt(queries, advice);
  // As soon as one row has it, it is a column as any other.
  WriteBatch batch;
  batch.Put("t", Key(kRows), "d", "nmae", "name41");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  const IndexAdvice then = Advise({queries[0]});
  BOOST_REQUIRE_EQUAL(then.indexes.size(), 1u);
  BOOST_TEST(then.indexes[0].options.ToString() == "d:nmae");
}

// The second one counts what it saves beside the first.
BOOST_AUTO_TEST_CASE(OneForSeveralQueries) {
  const std::vector<AdvisedQuery> queries = {
      Asked("city = 'city7'", {}, 3), Asked("city = 'city8' AND age = 5", {}, 2),
      Asked("city = 'city9' AND age > 90", {}, 5), Asked("name = 'name40'", {}, 1)};
  const IndexAdvice advice = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 2u);
  BOOST_TEST(advice.indexes[0].options.ToString() == "d:city, d:age::int64");
  BOOST_TEST((advice.indexes[0].queries == std::vector<size_t>{0, 1, 2}));
  BOOST_TEST(advice.indexes[1].options.ToString() == "d:name");
  BOOST_TEST(advice.indexes[0].blocks_saved > advice.indexes[1].blocks_saved);
  CheckBuilt(queries, advice);
}

BOOST_AUTO_TEST_CASE(BoundsAndErrors) {
  AdviseOptions one;
  one.indexes_max = 1;
  BOOST_TEST(Advise({Asked("name = 'name40'"), Asked("age = 3")}, one).indexes.size() == 1u);
  const auto code = [this](std::vector<AdvisedQuery> queries, std::string_view table = "t") {
    return (**this).AdviseIndexes(table, queries, {}).error().code();
  };
  BOOST_TEST((code({}) == StatusCode::kInvalidArgument));
  BOOST_TEST((code({Asked("age = 3")}, "none") == StatusCode::kNotFound));
  BOOST_TEST((code({Asked("nowhere:age = 3")}) == StatusCode::kNotFound));
  BOOST_TEST((code({Asked("age = ?")}) == StatusCode::kInvalidArgument));
  BOOST_TEST((code({kAdvisedQueriesMax + 1, Asked("age = 3")}) == StatusCode::kInvalidArgument));
  const auto broken = (**this).AdviseIndexes("t", {Asked("age = 3"), Asked("age = 'x'")}, {});
  BOOST_TEST(std::string(broken.error().message()).starts_with("query 2: "));
  std::atomic<bool> cancelled{true};
  AdviseOptions stopped;
  stopped.cancelled = &cancelled;
  BOOST_TEST(((**this).AdviseIndexes("t", {Asked("age = 3")}, stopped).error().code() ==
              StatusCode::kCancelled));
}

// A third of the rows is read, in groups.
BOOST_AUTO_TEST_CASE(SampleIsExtrapolated) {
  Fill(kRows, 6 * 2048, 1);
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  executor.Drain();
  const std::vector<AdvisedQuery> queries = {Asked("city = 'city7' AND age > 49")};
  AdviseOptions sampled;
  sampled.rows_max = 6 * 2048 / 3;
  const IndexAdvice advice = Advise(queries, sampled);
  BOOST_TEST(advice.rows == 6u * 2048);
  BOOST_TEST(advice.rows_read == 2u * 2048);
  const IndexAdvice whole = Advise(queries);
  BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
  BOOST_REQUIRE_EQUAL(whole.indexes.size(), 1u);
  CheckNear(whole.indexes[0].entries, advice.indexes[0].entries, 0.01, "entries");
  CheckNear(whole.indexes[0].size_bytes, advice.indexes[0].size_bytes, 0.25, "bytes");
  CheckNear(whole.queries[0].blocks_then, advice.queries[0].blocks_then, 0.35, "blocks");
}

// Rows lie in several files and in a memstore, whose rows have no blocks.
BOOST_AUTO_TEST_CASE(RowsInSeveralFiles) {
  Fill(0, kRows, 3);
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  Fill(5, 400, 7);
  const std::vector<AdvisedQuery> queries = {Asked("name = 'name40' OR city = 'city7' AND age = 3"),
                                             Asked("day BETWEEN 3 AND 7")};
  const IndexAdvice advice = Advise(queries);
  BOOST_TEST(!advice.indexes.empty());
  for (const QueryAdvice& query : advice.queries) BOOST_TEST(query.blocks_then <= query.blocks_now);
}

// A plan over files that lie otherwise would do without the second of two indexes that saves little
// more than it costs.
BOOST_AUTO_TEST_CASE(NoneForAnIntersectionThatHardlyPays) {
  for (int day = 0; day < kRows / 30; ++day) {
    const std::vector<AdvisedQuery> queries = {
        Asked("city > 'city41' AND day = '" + std::to_string(day) + "'")};
    const IndexAdvice advice = Advise(queries);
    BOOST_REQUIRE(!advice.indexes.empty());
    BOOST_TEST(advice.indexes[0].options.name == "by_day");
    for (const AdvisedIndex& index : advice.indexes) BOOST_TEST(index.options.name != "by_city");
  }
}

// Nearly all rows are done: neither an index to intersect with nor one over both columns is worth
// the one or two blocks that it would save, whichever of the two conditions comes first.
BOOST_AUTO_TEST_CASE(NoneOfAConditionOfNearlyAllRows) {
  for (int age = 0; age < 30; ++age) {
    const std::string of_age = "age = " + std::to_string(age);
    for (const std::string& text :
         {"state = 'done' AND " + of_age, of_age + " AND state = 'done'"}) {
      const IndexAdvice advice = Advise({Asked(text)});
      BOOST_REQUIRE_EQUAL(advice.indexes.size(), 1u);
      BOOST_TEST(advice.indexes[0].options.name == "by_age", text);
    }
  }
}

// Random queries, one at a time: the index that is advised for each is built and asked.
BOOST_AUTO_TEST_CASE(RandomQueriesAgainstBuiltIndexes) {
  TestRandom random("advise");
  const auto value = [&random](std::string_view column) {
    if (column == "city") return "'city" + std::to_string(random.Below(44)) + "'";
    if (column == "name") return "'name" + std::to_string(random.Below(1'000'000)) + "'";
    if (column == "state") return std::string(random.OneIn(2) ? "'open'" : "'done'");
    return std::to_string(random.Below(column == "age" ? 100 : kRows / 30));
  };
  const auto condition = [&] {
    constexpr std::string_view kColumns[] = {"city", "age", "name", "state", "day"};
    const std::string column(kColumns[random.Below(std::size(kColumns))]);
    switch (random.Below(6)) {
      case 0:
        return column + " > " + value(column);
      case 1:
        return column + " IN (" + value(column) + ", " + value(column) + ")";
      case 2:
        return "lower(" + column + ") = 'city" + std::to_string(random.Below(40)) + "'";
      default:
        return column + " = " + value(column);
    }
  };
  std::vector<AdvisedQuery> queries;
  for (size_t round = 0; round < Trials(40); ++round) {
    std::string text = condition();
    const uint64_t more = random.Below(3);
    for (uint64_t i = 0; i < more; ++i) {
      text += (random.OneIn(4) ? " OR " : " AND ") + condition();
    }
    const std::vector<AdvisedQuery> one = {Asked(text)};
    BOOST_TEST_CONTEXT(text) {
      const IndexAdvice advice = Advise(one);
      CheckBuilt(one, advice);
      for (const AdvisedIndex& index : advice.indexes) {
        BOOST_REQUIRE_EQUAL((**this).DropIndex("t", index.options.name).ToString(), "OK");
      }
      BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
      executor.Drain();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
