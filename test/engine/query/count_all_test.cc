// All rows counted without looking at each (engine/counting/all_rows.h), at every moment of random
// tables: with memstores that hold nothing but Puts, and with others.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "test/engine/read_world.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr uint64_t kKeys = 300, kValues = 4;

std::string Key(uint64_t row) { return "row" + std::to_string(1'000 + row); }

// A table whose memstores have deletes or not.
class CountedWorld {
 public:
  explicit CountedWorld(TestRandom* random)
      : random_(*random),
        world_({.families = {{.name = "d", .block_size_bytes = 1024}},
                .indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}},
                .file_ids = random->Next()}) {}

  ReadWorld& world() { return world_; }
  /// What is known of memstores and files has so much memory: of some of them it is not known.
  void LimitMemory(uint64_t bytes) { memory_ = std::make_shared<engine::OverlapMemory>(bytes); }

  /// From now on Puts are of a column without an index alone.
  void LeaveIndexes() { leaves_indexes_ = true; }
  void Put(uint64_t row) {
    const std::string column = leaves_indexes_ || random_.OneIn(4) ? "e" : "c";
    world_.Apply({.kind = ModelOperation::Kind::kPut,
                  .table = kWorldTable,
                  .row = Key(row),
                  .family = "d",
                  .columns = {{column, std::to_string(random_.Below(kValues))}},
                  .timestamp = {}});
    world_.Advance(1);
  }
  void Delete(uint64_t row) {
    world_.Apply({.kind = ModelOperation::Kind::kDeleteRow,
                  .table = kWorldTable,
                  .row = Key(row),
                  .family = {},
                  .columns = {},
                  .timestamp = {}});
    world_.Advance(1);
  }
  void Write(uint64_t operations, uint64_t delete_one_in) {
    for (uint64_t i = 0; i < operations; ++i) {
      const uint64_t row = random_.Below(kKeys);
      delete_one_in > 0 && random_.OneIn(delete_one_in) ? Delete(row) : Put(row);
    }
  }

  // Counts and offsets are those of the model, at every moment.
  void Check() {
    for (const ReadWorld::Moment& moment : world_.Moments()) {
      const auto read = world_.ReadOf();
      const std::vector<ModelRow> rows = moment.model.Scan(kWorldTable, {}, read);
      CheckCount(moment, {}, rows.size());
      for (const Predicate& predicate :
           {Predicate::NotEqual("c", "1"), Predicate::Not(Predicate::Equal("c", "2")),
            Predicate::IsNull("c"), Predicate::Equal("c", "3")}) {
        CheckCount(moment, predicate, moment.model.Query(kWorldTable, predicate, {}, read).size());
      }
      if (rows.empty()) continue;
      QueryOptions after_some;
      after_some.offset = random_.Below(rows.size());
      after_some.limit = 1 + random_.Below(3);
      const auto found =
          Drain(engine::QueryRows(Resources(), world_.View(moment), {}, {}, after_some));
      BOOST_CHECK_EQUAL(DescribeRows(found),
                        DescribeRows(moment.model.Query(kWorldTable, {}, after_some, read)));
    }
  }

  // How many rows a count of all looks at is within the budget.
  bool CountsWithin(uint64_t rows) {
    ReadOptions options;
    options.budget.rows = rows;
    const auto count =
        engine::CountRows(Resources(), world_.View(world_.Moments()[0]), options, {}, {});
    return count.has_value();
  }

 private:
  void CheckCount(const ReadWorld::Moment& moment, const Predicate& predicate, uint64_t expected) {
    for (int run = 0; run < 2; ++run) {  // The second finds what the first has derived.
      const auto count = engine::CountRows(Resources(), world_.View(moment), {}, predicate, {});
      BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
      BOOST_TEST(*count == expected, predicate.ToString() << ": " << *count << " of " << expected);
    }
  }

  engine::ReadResources Resources() {
    engine::ReadResources resources = world_.resources();
    if (memory_ != nullptr) resources.overlap_memory = memory_;
    return resources;
  }

  TestRandom& random_;
  ReadWorld world_;
  std::shared_ptr<engine::OverlapMemory> memory_;  // Null: enough.
  bool leaves_indexes_ = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(CountAll)

BOOST_AUTO_TEST_CASE(CountsAreThoseOfTheModelAtEveryMoment) {
  TestRandom random("counts of all rows");
  for (int round = 0; round < 300; ++round) {
    CountedWorld table(&random);
    if (random.OneIn(2)) table.LimitMemory(random.Below(8000));
    const uint64_t files = random.Below(4);
    for (uint64_t file = 0; file < files; ++file) {
      table.Write(random.Below(400), random.Below(6));
      if (random.OneIn(3)) table.world().TakeSnapshot();
      table.world().Flush(0);
    }
    table.world().BuildOverlaps(0, &random, 0);
    const uint64_t deletes = random.OneIn(3) ? 20 : 0;
    if (random.OneIn(3)) table.LeaveIndexes();
    for (uint64_t step = 1 + random.Below(3); step > 0; --step) {
      table.Write(1 + random.Below(random.OneIn(2) ? 30 : 200), deletes);
      if (random.OneIn(2)) table.world().TakeSnapshot();
      table.Check();
      if (random.OneIn(2)) table.world().SwitchMemstore(0);
    }
    table.Write(1 + random.Below(20), deletes);
    table.Check();
  }
}

// However many of them the memstores have, as long as they are Puts.
BOOST_AUTO_TEST_CASE(RowsOfMemstoresAreNotLookedAt) {
  TestRandom random("rows of memstores");
  CountedWorld table(&random);
  for (int file = 0; file < 2; ++file) {
    for (uint64_t row = file; row < kKeys / 2; ++row) table.Put(row);
    table.world().Flush(0);
  }
  table.world().BuildOverlaps(0, &random, 0);
  table.Write(400, 0);
  table.world().SwitchMemstore(0);
  table.Write(400, 0);
  table.Check();
  BOOST_CHECK(table.CountsWithin(1));
  table.Delete(kKeys / 4);
  table.Check();
  BOOST_CHECK(!table.CountsWithin(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
