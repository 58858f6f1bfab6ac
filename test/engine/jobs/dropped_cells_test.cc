// What flushes and merges tell of the cells that they drop: in their events, and in sums.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

std::string Text(const CellCounts& cells) {
  const DroppedCells& dropped = cells.dropped;
  return "in " + std::to_string(cells.in) + ", out " + std::to_string(cells.out) + ", replaced " +
         std::to_string(dropped.replaced) + ", superseded " + std::to_string(dropped.superseded) +
         ", expired " + std::to_string(dropped.expired) + ", of dropped families " +
         std::to_string(dropped.of_dropped_families) + ", deleted " +
         std::to_string(dropped.deleted) + ", markers " + std::to_string(dropped.delete_markers);
}

CellCounts SumOf(const std::vector<CellCounts>& all) {
  CellCounts sum;
  for (const CellCounts& one : all) {
    sum.in += one.in;
    sum.out += one.out;
    sum.dropped.replaced += one.dropped.replaced;
    sum.dropped.superseded += one.dropped.superseded;
    sum.dropped.expired += one.dropped.expired;
    sum.dropped.of_dropped_families += one.dropped.of_dropped_families;
    sum.dropped.deleted += one.dropped.deleted;
    sum.dropped.delete_markers += one.dropped.delete_markers;
  }
  return sum;
}

/// What each flush and each merge that succeeded said.
struct CellListener final : EventListener {
  void OnFlushEnd(const FlushEvent& event) override {
    if (event.status.ok()) flushes.push_back(event.cells);
  }
  void OnCompactionEnd(const CompactionEvent& event) override {
    if (event.status.ok()) merges.push_back(event.cells);
  }
  std::vector<CellCounts> flushes, merges;
};

struct DroppedFixture : TestEngine {
  DroppedFixture() {
    options.listener = told;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  }
  void PutAt(std::string_view row, int64_t timestamp) {
    BOOST_REQUIRE_EQUAL(Put(row, "c", "1", Durability::kWritten, timestamp).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }
  void Compact() { BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK"); }
  /// That events and sums say the same, and that all cells are counted.
  void CheckSums() {
    const Statistics statistics = (**this).GetStatistics();
    BOOST_CHECK_EQUAL(Text(statistics.flush_cells), Text(SumOf(told->flushes)));
    BOOST_CHECK_EQUAL(Text(statistics.compaction_cells), Text(SumOf(told->merges)));
    for (const auto* each : {&told->flushes, &told->merges}) {
      for (const CellCounts& cells : *each) {
        BOOST_CHECK_MESSAGE(cells.in == cells.out + cells.dropped.total(), Text(cells));
      }
    }
  }

  const std::shared_ptr<CellListener> told = std::make_shared<CellListener>();
};

BOOST_FIXTURE_TEST_SUITE(Dropped, DroppedFixture)

BOOST_AUTO_TEST_CASE(AFlushAndAMergeTellWhatTheyDrop) {
  PutAt("a", 5);
  PutAt("a", 5);
  PutAt("a", 6);
  PutAt("b", 5);
  WriteBatch batch;
  batch.DeleteRow("t", "b");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  Flush();
  BOOST_REQUIRE_EQUAL(told->flushes.size(), 1u);
  BOOST_CHECK_EQUAL(Text(told->flushes[0]),
                    "in 5, out 1, replaced 1, superseded 1, expired 0, of dropped families 0, "
                    "deleted 1, markers 1");
  PutAt("a", 7);
  Flush();
  Compact();
  BOOST_REQUIRE_EQUAL(told->merges.size(), 1u);
  BOOST_CHECK_EQUAL(Text(told->merges[0]),
                    "in 2, out 1, replaced 0, superseded 1, expired 0, of dropped families 0, "
                    "deleted 0, markers 0");
  CheckSums();
}

// A flush whose files are ready when the catalog finds the disk full is told when it succeeds.
BOOST_AUTO_TEST_CASE(AFlushThatIsTriedAgainTellsTheSame) {
  PutAt("a", 5);
  PutAt("a", 6);
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kWrite || !event.name.starts_with("manifest-")) return;
    disk.control().InjectFault({.status = Status::NoSpace("injected")});
  });
  BOOST_CHECK_EQUAL((**this).Flush("t").code(), StatusCode::kNoSpace);
  disk.control().SetHook(nullptr);
  disk.control().ClearFaults();
  BOOST_CHECK(told->flushes.empty());
  Flush();
  BOOST_REQUIRE_EQUAL(told->flushes.size(), 1u);
  BOOST_CHECK_EQUAL(told->flushes[0].in, 2u);
  BOOST_CHECK_EQUAL(told->flushes[0].dropped.superseded, 1u);
  CheckSums();
}

// Rows that are trees in the memstore, rows that are streamed, and snapshots.
BOOST_AUTO_TEST_CASE(AllCellsOfRandomWorkAreCounted) {
  TestRandom random{"dropped cells"};
  std::optional<Snapshot> snapshot;
  for (int round = 0; round < 12; ++round) {
    WriteBatch batch;
    for (int i = 0; i < 400; ++i) {
      const std::string row = "row" + std::to_string(random.Below(40));
      const std::string column = "c" + std::to_string(random.Below(3));
      const int64_t timestamp = 1 + static_cast<int64_t>(random.Below(9));
      const uint64_t kind = random.Below(10);
      if (kind == 0) {
        batch.DeleteColumn("t", row, "d", column);
      } else if (kind == 1) {
        batch.DeleteRow("t", row);
      } else {
        batch.Put("t", row, "d", column, std::to_string(i), timestamp);
      }
    }
    // More cells than a flush reads at once, in one row.
    for (int i = 0; round % 4 == 1 && i < 5000; ++i) {
      batch.Put("t", "wide", "d", std::to_string(i), "v");
    }
    if (round % 4 == 2) batch.DeleteFamily("t", "wide", "d");
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    if (round % 3 == 0) snapshot = *(**this).TakeSnapshot();
    Flush();
    executor.Drain();
    if (round % 5 == 4) Compact();
  }
  snapshot.reset();
  Compact();
  CheckSums();
  BOOST_CHECK_GT(SumOf(told->flushes).dropped.total(), 1000u);
  BOOST_CHECK_GT(SumOf(told->merges).dropped.total(), 1000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
