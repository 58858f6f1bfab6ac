// What planning costs as the number of conditions grows: n log n at most, whatever their shape. The
// counter is bytes allocated by the calling thread: each copy of an interval, a key or a range is
// an allocation or part of one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/tandem.h"
#include "test/allocations/allocations.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

using Kind = Predicate::Kind;
using Maker = std::function<Predicate(int number)>;

struct PlanningFixture {
  PlanningFixture() {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 8 << 20;
    options.io = IoBackend::kPosix;
    auto opened = Database::Open(directory.Path("db"), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = std::move(*opened);
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.indexes = {{.name = "by_a", .columns = {{.family = "d", .qualifier = "a"}}},
                     {.name = "by_b",
                      .columns = {{.family = "d", .qualifier = "b", .type = ColumnType::kInt64}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    PutRow("1");
    BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
    PutRow("2");
  }
  void PutRow(const std::string& key) {
    WriteBatch batch;
    batch.Put("t", key, "d", "a", key);
    batch.Put("t", key, "d", "b", key);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  /// Bytes allocated to plan and run.
  uint64_t Cost(const Predicate& predicate) {
    const uint64_t before = ThisThreadsAllocations().bytes;
    const auto explained = database->Explain({}, "t", predicate);
    BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
    return ThisThreadsAllocations().bytes - before;
  }
  void CheckGrowth(const std::string& what, bool is_and, const Maker& make) {
    constexpr int kFew = 250;
    uint64_t costs[2];
    for (const int times : {1, 16}) {
      std::vector<Predicate> children;
      for (int i = 0; i < kFew * times; ++i) children.push_back(make(i));
      costs[times == 16] =
          Cost(is_and ? Predicate::And(std::move(children)) : Predicate::Or(std::move(children)));
    }
    BOOST_TEST_MESSAGE(what << ": " << costs[0] << " bytes for 250 conditions, " << costs[1]
                            << " for 4000");
    BOOST_CHECK_MESSAGE(costs[1] <= costs[0] * 16 * 3 / 2, what << ": " << costs[0]
                                                                << " bytes for 250 conditions, "
                                                                << costs[1] << " for 4000");
  }

  TemporaryDirectory directory{"/dev/shm"};
  std::unique_ptr<Database> database;
};

Predicate Leaf(Kind kind, const std::string& column, int number) {
  return Predicate::Compare(kind, column, {std::to_string(number)});
}

BOOST_FIXTURE_TEST_SUITE(planning_cost, PlanningFixture)

BOOST_AUTO_TEST_CASE(GrowsAsTheConditionsDo) {
  const auto leaf = [](Kind kind, const std::string& column) -> Maker {
    return [=](int number) { return Leaf(kind, column, number); };
  };
  CheckGrowth("a != i", true, leaf(Kind::kNotEqual, "a"));
  CheckGrowth("b != i", true, leaf(Kind::kNotEqual, "b"));
  CheckGrowth("a = i", false, leaf(Kind::kEqual, "a"));
  CheckGrowth("NOT b = i", true,
              [](int number) { return Predicate::Not(Leaf(Kind::kEqual, "b", number)); });
  CheckGrowth("either of two", false,
              [](int number) { return Leaf(Kind::kEqual, number % 2 == 0 ? "a" : "b", number); });
  CheckGrowth("both of two", false, [](int number) {
    return Predicate::And({Leaf(Kind::kEqual, "a", number), Leaf(Kind::kEqual, "b", number)});
  });
  CheckGrowth("one of two each", true, [](int number) {
    return Predicate::Or({Leaf(Kind::kNotEqual, "a", number), Leaf(Kind::kNotEqual, "b", number)});
  });
  CheckGrowth("columns without an index", false,
              [](int number) { return Leaf(Kind::kEqual, "c" + std::to_string(number), number); });
  CheckGrowth("row keys", false, leaf(Kind::kEqual, "_row"));
}

// Inserting into a sorted list moves what it holds, which allocates nothing, so this cost cannot be
// counted: 400,000 columns inserted one by one take minutes, sorted a second.
BOOST_AUTO_TEST_CASE(ManyColumnsAreSorted, *boost::unit_test::timeout(60)) {
  constexpr int kColumns = 400'000;
  std::vector<Predicate> children;
  for (int i = 0; i < kColumns; ++i) {
    // 7919 is prime: every number below kColumns comes once, out of order.
    children.push_back(Leaf(Kind::kEqual, "c" + std::to_string(int64_t{i} * 7919 % kColumns), i));
  }
  const auto count = database->Count({}, "t", Predicate::Or(std::move(children)));
  BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
  BOOST_CHECK_EQUAL(*count, 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
