// Which queries are answered without a plan, and that their rows are those that a plan finds.
// (Random histories: test/engine/read/reader_random_test.cc.)
#define BOOST_TEST_DYN_LINK
#include "engine/query/few_rows.h"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/query.h"
#include "engine/read/few_rows_finder.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr size_t kOverflowBytes = 70'000;

// Rows of one family with an index on column a.
class Rows {
 public:
  Rows() : world_({.families = {{.name = "f"}}, .indexes = {{"by_a", {{"f", "a"}}}}}) {}

  void Put(const std::string& row, const std::string& column, const std::string& value) {
    world_.Apply({ModelOperation::Kind::kPut, kWorldTable, row, "f", {{column, value}}, {}});
  }
  void Flush() { world_.Flush(0); }
  void Merge() { world_.Merge(0, 0, world_.file_count(0)); }
  ReadWorld& world() { return world_; }

  /// nullopt: the query has to be planned. Every block is cached when it looks.
  std::optional<std::vector<ModelRow>> Few(const Predicate& predicate,
                                           const ReadOptions& options = {},
                                           const QueryOptions& query = {}, size_t moment = 0) {
    Drain(engine::ScanRows(world_.resources(), View(moment), {}, {}));
    return FewAsCached(predicate, options, query, moment);
  }
  std::optional<std::vector<ModelRow>> FewAsCached(const Predicate& predicate,
                                                   const ReadOptions& options = {},
                                                   const QueryOptions& query = {},
                                                   size_t moment = 0) {
    engine::TableView view = View(moment);
    const engine::ReadResources resources = world_.resources();
    const engine::QueryRequest request{resources, options, predicate, query};
    auto bound = engine::BindQuery(request, *view.table);
    BOOST_REQUIRE(bound.has_value());
    auto source = engine::OpenFewRows(request, &*bound, &view);
    if (source == nullptr) return std::nullopt;
    return Drain(std::move(source));
  }
  /// A run of the prepared query `a = ?1` by what is kept of an earlier one; nullopt: nothing is,
  /// or it does not serve this run.
  std::optional<std::vector<ModelRow>> FewByLookup(const engine::ParameterValues& values,
                                                   const QueryOptions& query = {},
                                                   size_t moment = 0) {
    engine::TableView view = View(moment);
    const engine::ReadResources resources = world_.resources();
    const ReadOptions options;
    engine::QueryRequest request{resources, options, kPrepared, query, &values};
    request.lookup = &lookup_;
    auto found = engine::LookUpFewRows(request, &view);
    if (!found.has_value()) return std::nullopt;
    BOOST_REQUIRE(*found != nullptr);
    return Drain(*std::move(found));
  }
  /// Runs the query once, prepared.
  bool KeepsLookup(const Predicate& prepared, const std::string& value,
                   const QueryOptions& query = {}) {
    Drain(engine::ScanRows(world_.resources(), View(0), {}, {}));
    lookup_ = nullptr;
    const engine::ParameterValues values{value};
    const engine::ReadResources resources = world_.resources();
    const ReadOptions options;
    engine::QueryRequest request{resources, options, prepared, query, &values};
    request.lookup = &lookup_;
    auto source = engine::QueryRows(request, View(0));
    BOOST_REQUIRE(source.has_value());
    Drain(*std::move(source));
    return lookup_ != nullptr;
  }
  std::vector<ModelRow> Planned(const Predicate& predicate, size_t moment = 0) {
    return Drain(
        engine::QueryRows(world_.resources(), View(moment), {}, predicate, {.use_index = "by_a"}));
  }
  bool AreFew(const Predicate& predicate) { return Few(predicate).has_value(); }

 private:
  engine::TableView View(size_t moment) { return world_.View(world_.Moments()[moment]); }

  static inline const Predicate kPrepared = Predicate::Equal("a", Parameter(1));

  ReadWorld world_;
  std::shared_ptr<const engine::PreparedLookup> lookup_;
};

const Predicate kOne = Predicate::Equal("a", "1");

// p and r match.
void Load(Rows* rows) {
  rows->Put("p", "a", "1");
  rows->Put("q", "a", "2");
  rows->Put("r", "a", "1");
  rows->Put("r", "b", "x");
  rows->Flush();
}

BOOST_AUTO_TEST_SUITE(FewRowsSuite)

BOOST_AUTO_TEST_CASE(RowsOfOneFileNeedNoPlan) {
  Rows rows;
  Load(&rows);
  BOOST_TEST(!rows.FewAsCached(kOne).has_value());  // No block is in memory.
  const auto few = rows.Few(kOne);
  BOOST_REQUIRE(few.has_value());
  BOOST_TEST(few->size() == 2u);
  BOOST_TEST((*few == rows.Planned(kOne)));
  const auto none = rows.Few(Predicate::Equal("a", "3"));
  BOOST_TEST((none.has_value() && none->empty()));
  const auto range = rows.Few(Predicate::GreaterOrEqual("a", "2"));
  BOOST_TEST((!range.has_value() || range->size() == 1));
  const auto first = rows.Few(kOne, {}, {.limit = 1});
  BOOST_TEST((first.has_value() && first->size() == 1));
}

BOOST_AUTO_TEST_CASE(OtherConditionsAndOptionsArePlanned) {
  Rows rows;
  Load(&rows);
  BOOST_TEST(rows.AreFew(kOne));
  BOOST_TEST(!rows.AreFew(Predicate::And({kOne, Predicate::Equal("b", "x")})));
  BOOST_TEST(!rows.AreFew(Predicate::Equal("b", "x")));
  BOOST_TEST(!rows.AreFew(Predicate::IsNull("a")));
  BOOST_TEST(!rows.AreFew(Predicate()));
  BOOST_TEST(!rows.Few(kOne, {.columns = {{"f", "b"}}}).has_value());
  BOOST_TEST(!rows.Few(kOne, {.families = {"f"}}).has_value());
  BOOST_TEST(!rows.Few(kOne, {.versions = 0}).has_value());
  BOOST_TEST(!rows.Few(kOne, {.as_of = 100}).has_value());
  BOOST_TEST(!rows.Few(kOne, {.since = 0}).has_value());
  BOOST_TEST(!rows.Few(kOne, {}, {.order_by = "by_a"}).has_value());
  BOOST_TEST(!rows.Few(kOne, {}, {.use_index = "by_a"}).has_value());
  BOOST_TEST(!rows.Few(kOne, {}, {.no_index = true}).has_value());
}

// Requires: the look-up needs no plan. Returns what it finds, which a plan finds as well.
std::vector<std::string> KeysOfFew(Rows* rows, const Predicate& predicate) {
  const auto few = rows->Few(predicate);
  BOOST_REQUIRE(few.has_value());
  BOOST_TEST((*few == rows->Planned(predicate)));
  std::vector<std::string> keys;
  for (const ModelRow& row : *few) keys.push_back(row.key);
  return keys;
}

using Keys = std::vector<std::string>;
const Predicate kTwo = Predicate::Equal("a", "2");

BOOST_AUTO_TEST_CASE(RowsOfAFileAndAMemstoreNeedNoPlan) {
  Rows rows;
  Load(&rows);
  rows.Put("s", "a", "2");
  BOOST_TEST(KeysOfFew(&rows, kOne) == Keys({"p", "r"}));
  BOOST_TEST(KeysOfFew(&rows, kTwo) == Keys({"q", "s"}));
  rows.Put("r", "b", "y");  // Another column.
  BOOST_TEST(KeysOfFew(&rows, kOne) == Keys({"p", "r"}));
  rows.Put("p", "a", "2");  // The posting in the file is dead.
  BOOST_TEST(KeysOfFew(&rows, kOne) == Keys({"r"}));
  BOOST_TEST(KeysOfFew(&rows, kTwo) == Keys({"p", "q", "s"}));
  rows.Put("r", "a", "1");  // Again what the file says.
  rows.Put("o", "a", "1");
  rows.Put("t", "a", "1");
  BOOST_TEST(KeysOfFew(&rows, kOne) == Keys({"o", "r", "t"}));
  const auto first = rows.Few(kOne, {}, {.limit = 2});
  BOOST_TEST((first.has_value() && first->size() == 2 && first->back().key == "r"));
  BOOST_TEST((KeysOfFew(&rows, Predicate::Equal("a", "3")).empty()));
}

BOOST_AUTO_TEST_CASE(ALookupBesideAMemstoreNeedsNoPlan) {
  Rows rows;
  Load(&rows);
  BOOST_REQUIRE(rows.KeepsLookup(Predicate::Equal("a", Parameter(1)), "2"));
  rows.Put("p", "a", "2");
  for (const char* value : {"1", "2"}) {
    const auto found = rows.FewByLookup({value});
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST((*found == rows.Planned(Predicate::Equal("a", value))));
  }
}

BOOST_AUTO_TEST_CASE(RowsOfOtherSourcesBesideAMemstoreArePlanned) {
  Rows rows;
  Load(&rows);
  rows.Put("r", "b", "y");
  BOOST_TEST(rows.AreFew(kOne));
  BOOST_TEST(!rows.Few(kOne, {.versions = 2}).has_value());
  rows.world().SwitchMemstore(0);
  rows.Put("p", "b", "z");
  BOOST_TEST(!rows.AreFew(kOne));  // There are two memstores.
  rows.Flush();
  BOOST_TEST(!rows.AreFew(kOne));  // And two files.
}

// The Put is older than that of the file, and another one does not decide alone.
BOOST_AUTO_TEST_CASE(ARowThatAMemstoreDoesNotDecideIsPlanned) {
  Rows rows;
  Load(&rows);
  rows.world().Apply({ModelOperation::Kind::kPut, kWorldTable, "q", "f", {{"a", "1"}}, 1});
  BOOST_TEST(!rows.AreFew(kOne));
  BOOST_TEST(!rows.AreFew(kTwo));  // Its posting may not be dead.
}

BOOST_AUTO_TEST_CASE(ARowWithADeleteInAMemstoreIsReadByAPlan) {
  Rows rows;
  Load(&rows);
  rows.Put("s", "a", "1");
  rows.world().Apply({ModelOperation::Kind::kDeleteColumn, kWorldTable, "r", "f", {{"b", ""}}, {}});
  BOOST_TEST(KeysOfFew(&rows, kOne) == Keys({"p", "r", "s"}));
}

BOOST_AUTO_TEST_CASE(ManyEntriesOfAMemstoreArePlanned) {
  Rows rows;
  Load(&rows);
  for (size_t i = 0; i < engine::kFewRowsMax; ++i) {
    rows.Put("row" + std::to_string(100 + i), "a", "2");
  }
  BOOST_TEST(rows.AreFew(kTwo));
  rows.Put("sow", "a", "2");
  BOOST_TEST(!rows.AreFew(kTwo));
  BOOST_TEST(rows.AreFew(kOne));
}

// A file, and then random operations in a memstore, read at several moments.
BOOST_AUTO_TEST_CASE(RandomRowsAreThoseOfAPlan) {
  TestRandom random("FewRowsSuite/RandomRowsAreThoseOfAPlan");
  size_t few_rows = 0, planned = 0;
  for (int round = 0; round < 200; ++round) {
    Rows rows;
    const auto change = [&] {
      const std::string row = "r" + std::to_string(random.Below(20));
      const std::string value = std::to_string(random.Below(4));
      std::optional<int64_t> timestamp;
      if (random.OneIn(20)) timestamp = 1 + static_cast<int64_t>(random.Below(20));
      const auto kind =
          random.OneIn(25) ? ModelOperation::Kind::kDeleteColumn : ModelOperation::Kind::kPut;
      const std::string column = random.OneIn(3) ? "b" : "a";
      const bool is_put = kind == ModelOperation::Kind::kPut;
      rows.world().Apply({kind, kWorldTable, row, "f", {{column, is_put ? value : ""}}, timestamp});
      rows.world().Advance(static_cast<int64_t>(random.Below(2)));
    };
    for (int i = 0; i < 15; ++i) change();
    rows.Flush();
    for (uint64_t i = random.Below(15); i > 0; --i) {
      change();
      if (random.OneIn(8)) rows.world().TakeSnapshot();
    }
    for (size_t moment = 0; moment < rows.world().Moments().size(); ++moment) {
      for (int value = 0; value < 4; ++value) {
        const Predicate is_value = Predicate::Equal("a", std::to_string(value));
        const auto few = rows.Few(is_value, {}, {}, moment);
        ++(few.has_value() ? few_rows : planned);
        if (few.has_value()) BOOST_TEST_REQUIRE((*few == rows.Planned(is_value, moment)));
      }
    }
  }
  BOOST_TEST(few_rows > 500u);
  BOOST_TEST(planned > 10u);
}

BOOST_AUTO_TEST_CASE(RowsOfSeveralFilesArePlanned) {
  Rows rows;
  Load(&rows);
  rows.Put("s", "a", "2");
  rows.Flush();
  BOOST_TEST(rows.AreFew(kOne));
  BOOST_TEST(!rows.AreFew(kTwo));  // Both have an entry.
  rows.Put("r", "b", "y");
  rows.Flush();
  BOOST_TEST(!rows.AreFew(kOne));  // A row is in both.
  rows.Merge();
  BOOST_TEST(rows.AreFew(kOne));
}

BOOST_AUTO_TEST_CASE(AReaderThatDoesNotSeeAllOfAFilePlans) {
  Rows rows;
  rows.Put("p", "a", "1");
  rows.world().TakeSnapshot();
  rows.Put("q", "a", "2");
  rows.Flush();
  BOOST_TEST(rows.Few(kOne).has_value());
  BOOST_TEST(!rows.Few(kOne, {}, {}, 1).has_value());
}

BOOST_AUTO_TEST_CASE(ManyRowsArePlanned) {
  Rows rows;
  for (size_t i = 0; i < engine::kFewRowsMax; ++i) {
    rows.Put("row" + std::to_string(100 + i), "a", "1");
  }
  rows.Flush();
  BOOST_TEST(rows.AreFew(kOne));
  rows.Put("sow", "a", "1");
  rows.Flush();
  rows.Merge();
  BOOST_TEST(!rows.AreFew(kOne));
}

// The rows before it are returned once.
BOOST_AUTO_TEST_CASE(ARowThatIsNotPlainIsReadByAPlan) {
  Rows rows;
  Load(&rows);
  rows.Put("qq", "a", "1");
  rows.Put("qq", "b", std::string(kOverflowBytes, 'b'));
  rows.Flush();
  rows.Merge();
  const auto few = rows.Few(kOne);
  BOOST_REQUIRE(few.has_value());
  BOOST_TEST(few->size() == 3u);
  BOOST_TEST((*few == rows.Planned(kOne)));
}

BOOST_AUTO_TEST_CASE(APreparedQueryKeepsItsLookup) {
  Rows rows;
  Load(&rows);
  BOOST_TEST(!rows.FewByLookup({"1"}).has_value());  // None is kept yet.
  BOOST_REQUIRE(rows.KeepsLookup(Predicate::Equal("a", Parameter(1)), "2"));
  for (const char* value : {"1", "2", "3", ""}) {
    const auto found = rows.FewByLookup({value});
    BOOST_REQUIRE(found.has_value());
    BOOST_TEST((*found == rows.Planned(Predicate::Equal("a", value))));
  }
  const auto first = rows.FewByLookup({"1"}, {.limit = 1});
  BOOST_TEST((first.has_value() && first->size() == 1));
  BOOST_TEST(!rows.FewByLookup({std::nullopt}).has_value());
  BOOST_TEST(!rows.FewByLookup({"1"}, {.no_index = true}).has_value());
  BOOST_TEST(!rows.FewByLookup({"1"}, {.ranges = {{.start = "q"}}}).has_value());
}

BOOST_AUTO_TEST_CASE(ALookupIsOfAnEqualityWithAParameter) {
  Rows rows;
  Load(&rows);
  BOOST_TEST(!rows.KeepsLookup(kOne, "1"));
  BOOST_TEST(!rows.KeepsLookup(Predicate::Less("a", Parameter(1)), "2"));
  BOOST_TEST(!rows.KeepsLookup(Predicate::NotEqual("a", Parameter(1)), "2"));
  BOOST_TEST(!rows.KeepsLookup(Predicate::Not(Predicate::Equal("a", Parameter(1))), "2"));
  BOOST_TEST(!rows.KeepsLookup(Predicate::Equal("b", Parameter(1)), "x"));
  const Predicate one = Predicate::Equal("a", Parameter(1));
  BOOST_TEST(!rows.KeepsLookup(one, "1", {.ranges = {{.start = "q"}}}));
  BOOST_TEST(!rows.KeepsLookup(one, "1", {.use_index = "by_a"}));
  BOOST_TEST(rows.KeepsLookup(one, "1"));
}

// The plan's predicate is made of the lookup.
BOOST_AUTO_TEST_CASE(ALookupThatMeetsARowThatIsNotPlainIsPlanned) {
  Rows rows;
  Load(&rows);
  rows.Put("qq", "a", "1");
  rows.Put("qq", "b", std::string(kOverflowBytes, 'b'));
  rows.Flush();
  rows.Merge();
  BOOST_REQUIRE(rows.KeepsLookup(Predicate::Equal("a", Parameter(1)), "2"));
  const auto found = rows.FewByLookup({"1"});
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->size() == 3u);
  BOOST_TEST((*found == rows.Planned(kOne)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
