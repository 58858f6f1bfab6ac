// What a merge drops, counted by reason.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "compaction/merge.h"
#include "test/compaction/merge_bench.h"

namespace tandem::compaction {
namespace {

/// A row for each reason to drop a cell, where two versions are kept and those at or below 20 have
/// expired; the second part comes after the first.
struct OneOfEach {
  explicit OneOfEach(Bench* bench_to_use) : bench(*bench_to_use) {
    FamilyOptions& family = bench.table()->families[0].options;
    family.max_versions = 2;
    family.ttl_micros = 100;
    options.table = bench.table();
    options.now_micros = 120;
  }
  /// A table has a family at least.
  void DropTheFamily() {
    format::FamilyRecord other = bench.table()->families[0];
    other.id = format::FamilyId(1);
    other.options.name = "g";
    bench.table()->families[0].dropped = true;
    bench.table()->families.push_back(other);
  }
  CellCounts Merge() {
    const auto a = bench.Write("a", older, bench.table().get());
    const auto b = bench.Write("b", newer, bench.table().get());
    if (is_dropped) DropTheFamily();
    const std::vector<MergeInput> inputs = {{a.get(), 0, a->row_count()},
                                            {b.get(), 0, b->row_count()}};
    auto writer = bench.NewWriter("merged", bench.table().get());
    const auto result = MergeFiles(inputs, options, writer.get());
    BOOST_REQUIRE_MESSAGE(result.has_value(), result.status().ToString());
    BOOST_TEST(result->cells.in == result->cells.out + result->cells.dropped.total());
    return result->cells;
  }

  Bench& bench;
  MergeOptions options;
  bool is_dropped = false;  ///< The family, after the files were written.
  const Rows older = {
      {"replaced", {{CellKind::kPut, "a", 50, 1, "1"}}},
      {"superseded", {{CellKind::kPut, "a", 51, 2, "1"}, {CellKind::kPut, "a", 52, 3, "2"}}},
      {"expired", {{CellKind::kPut, "a", 20, 4, "1"}}},
      {"deleted",
       {{CellKind::kPut, "a", 50, 5, "1"},
        {CellKind::kPut, "b", 50, 6, "1"},
        {CellKind::kPut, "c", 50, 7, "1"}}},
  };
  const Rows newer = {
      {"replaced", {{CellKind::kPut, "a", 50, 8, "2"}}},
      {"superseded", {{CellKind::kPut, "a", 53, 9, "3"}}},
      {"deleted",
       {{CellKind::kDeleteCell, "a", 50, 10, ""},
        {CellKind::kDeleteColumn, "b", 60, 11, ""},
        {CellKind::kDeleteFamily, "", 60, 12, ""}}},
      {"never there", {{CellKind::kDeleteColumn, "a", 50, 13, ""}}},
  };
};

BOOST_AUTO_TEST_SUITE(dropped_cells)

BOOST_AUTO_TEST_CASE(EachReasonToDropACellIsCounted) {
  Bench bench(1);
  BOOST_TEST(Text(OneOfEach(&bench).Merge()) ==
             "in 13, out 3, replaced 1, superseded 1, expired 1, of dropped families 0, "
             "deleted 3, markers 4");
}

BOOST_AUTO_TEST_CASE(MarkersThatOlderFilesNeedAreNotDropped) {
  Bench bench(1);
  OneOfEach merge(&bench);
  merge.options.older_may_contain = [](uint64_t) -> Result<bool> { return true; };
  BOOST_TEST(Text(merge.Merge()) ==
             "in 13, out 7, replaced 1, superseded 1, expired 1, of dropped families 0, "
             "deleted 3, markers 0");
}

// At 11 there are the Put of 'c' and, in 'replaced' and 'superseded', what there is at the end. The
// DeleteFamily hides a Put that stays, so it stays too.
BOOST_AUTO_TEST_CASE(WhatASnapshotNeedsIsNotDropped) {
  Bench bench(1);
  OneOfEach merge(&bench);
  merge.options.snapshots.emplace_back(11);
  BOOST_TEST(Text(merge.Merge()) ==
             "in 13, out 5, replaced 1, superseded 1, expired 1, of dropped families 0, "
             "deleted 2, markers 3");
}

BOOST_AUTO_TEST_CASE(CellsOfADroppedFamilyAreCounted) {
  Bench bench(1);
  OneOfEach merge(&bench);
  merge.is_dropped = true;
  BOOST_TEST(Text(merge.Merge()) ==
             "in 13, out 0, replaced 1, superseded 0, expired 0, of dropped families 8, "
             "deleted 0, markers 4");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::compaction
