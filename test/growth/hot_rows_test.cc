// What a row costs that is written again and again before it is flushed: readers look at the
// logarithm of its updates, and a flush at what somebody still sees.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/commit/group_writes.h"
#include "test/allocations/allocations.h"
#include "test/engine/hot_table.h"
#include "test/growth/growth.h"

namespace tandem::test {
namespace {

void PutTimes(HotTable* table, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) table->Put("a", static_cast<int64_t>(i));
}

void PutAndDeleteTimes(HotTable* table, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    table->Put("a", static_cast<int64_t>(i));
    table->DeleteColumn("a", static_cast<int64_t>(i));
  }
}

BOOST_AUTO_TEST_SUITE(HotRows)

BOOST_AUTO_TEST_CASE(AGetLooksAtTheLogarithmOfTheUpdates) {
  Check({.cost = "cells that a Get looks at after n puts of the row, one version kept",
         .n = 4096,
         .bound = AtMost(40),
         .measure = [](uint64_t n) {
           HotTable table(1);
           PutTimes(&table, n);
           return table.Get().cells;
         }});
  Check({.cost = "cells that a Get looks at after n puts of the row, all versions kept",
         .n = 4096,
         .bound = AtMostLogarithmic(34, 4),
         .measure = [](uint64_t n) {
           HotTable table(kUnlimited);
           PutTimes(&table, n);
           return table.Get().cells;
         }});
  Check({.cost = "cells that a Get looks at after n puts and deletes of the row in turn",
         .n = 4096,
         .bound = AtMostLogarithmic(34, 4),
         .measure = [](uint64_t n) {
           HotTable table(kUnlimited);
           PutAndDeleteTimes(&table, n);
           return table.Get().cells;
         }});
}

BOOST_AUTO_TEST_CASE(AnIncrementLooksAtFewCells) {
  Check({.cost = "cells that an increment looks at after n puts of its column, all versions kept",
         .n = 4096,
         .bound = AtMost(40),
         .measure = [](uint64_t n) {
           HotTable table(kUnlimited);
           PutTimes(&table, n);
           return table.CellsOfColumn("a");
         }});
  Check({.cost = "cells that an increment looks at after n increments in the group, one row",
         .n = 256,
         .bound = AtMost(40),
         .measure = [](uint64_t n) {
           const auto record = HotRecord(1);
           engine::GroupWrites writes;
           format::Cell cell = NewHotCell(format::CellKind::kPut, record->families[0].id, "a", 0);
           for (uint64_t i = 1; i <= n; ++i) {
             cell.sequence = format::SequenceNumber(i);
             cell.timestamp = static_cast<int64_t>(i);
             writes.Add(*record, "r", {cell});
           }
           std::vector<format::Cell> seen;
           BOOST_CHECK(writes.Append(record->id, "r", cell, &seen));
           BOOST_CHECK_EQUAL(seen.back().timestamp, static_cast<int64_t>(n));
           return seen.size();
         }});
}

BOOST_AUTO_TEST_CASE(ASnapshotLooksAtTheLogarithmOfTheUpdates) {
  Check({.cost = "cells that a Get looks at whose snapshot is older than n puts and deletes",
         .n = 4096,
         .bound = AtMostLogarithmic(40, 3),
         .measure = [](uint64_t n) {
           HotTable table(kUnlimited);
           table.Put("a", 0);
           const format::SequenceNumber snapshot = table.sequence();
           PutAndDeleteTimes(&table, n);
           return table.Get({}, snapshot).cells;
         }});
}

BOOST_AUTO_TEST_CASE(AFlushReadsWhatIsSeen) {
  Check({.cost = "cells that a flush reads of a row put n times, one version kept",
         .n = 4096,
         .bound = AtMost(34),
         .measure = [](uint64_t n) {
           HotTable table(1);
           PutTimes(&table, n);
           return table.FlushedCells();
         }});
}

BOOST_AUTO_TEST_CASE(SnapshotsThatSeeTheSameAreNotCollected) {
  Check({.cost = "bytes allocated by a flush for a row put 4096 times, beside n later snapshots",
         .n = 256,
         .bound = AtMost(65'536),
         .measure = [](uint64_t n) {
           HotTable table(1);
           PutTimes(&table, 4096);
           std::vector<format::SequenceNumber> snapshots;
           for (uint64_t i = 0; i < n; ++i) {
             snapshots.emplace_back(table.sequence().value + i);
           }
           const uint64_t before = ThisThreadsAllocations().bytes;
           BOOST_CHECK_LE(table.FlushedCells(snapshots), 34u);
           return static_cast<double>(ThisThreadsAllocations().bytes - before);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
