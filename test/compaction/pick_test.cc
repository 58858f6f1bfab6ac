// Which runs a merge takes of hand-made regions.
#define BOOST_TEST_DYN_LINK
#include "compaction/pick.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using compaction::kMergeRunsMax;
using compaction::MergePolicy;
using compaction::RunDescription;
using compaction::RunRange;

std::vector<RunDescription> Runs(const std::vector<uint64_t>& bytes) {
  std::vector<RunDescription> runs;
  for (const uint64_t size : bytes) runs.push_back({.bytes = size, .rows = size, .deletes = 0});
  return runs;
}

/// "0-4" for the runs 0 to 3; "-" for none.
std::string PickedOf(const std::vector<RunDescription>& runs, const MergePolicy& policy = {},
                     size_t busy = 0) {
  const std::optional<RunRange> range = compaction::PickMerge(runs, policy, busy);
  if (!range.has_value()) return "-";
  return std::to_string(range->first) + "-" + std::to_string(range->end);
}

std::string Picked(const std::vector<uint64_t>& bytes, const MergePolicy& policy = {}) {
  return PickedOf(Runs(bytes), policy);
}

BOOST_AUTO_TEST_SUITE(Pick)

BOOST_AUTO_TEST_CASE(FewRunsAreLeftAlone) {
  BOOST_CHECK_EQUAL(Picked({}), "-");
  BOOST_CHECK_EQUAL(Picked({5}), "-");
  BOOST_CHECK_EQUAL(Picked({5, 5, 5}), "-");
  BOOST_CHECK_EQUAL(Picked({1, 100, 10'000}), "-");
}

BOOST_AUTO_TEST_CASE(SimilarRunsAboveTheBaseBecomeOne) {
  BOOST_CHECK_EQUAL(Picked({1000, 10, 10, 10}), "-");
  BOOST_CHECK_EQUAL(Picked({1000, 10, 10, 10, 10}), "1-5");
  BOOST_CHECK_EQUAL(Picked({1000, 10, 25, 10, 10}), "1-5");  // 2.5 times: still similar.
  BOOST_CHECK_EQUAL(Picked({1000, 10, 26, 10, 10}), "-");
  BOOST_CHECK_EQUAL(Picked({1000, 40, 10, 10, 10, 10, 1}), "2-6");
  // The newest first, and all of a backlog at once, as far as one merge goes.
  BOOST_CHECK_EQUAL(Picked({9000, 90, 90, 90, 90, 10, 10, 10, 10}), "5-9");
  BOOST_CHECK_EQUAL(Picked({9000, 10, 10, 10, 10, 10, 10}), "1-7");
  BOOST_CHECK_EQUAL(Picked(std::vector<uint64_t>(40, 10)), "24-40");
}

BOOST_AUTO_TEST_CASE(TheBaseIsMergedWhenTheOthersOutweighIt) {
  BOOST_CHECK_EQUAL(Picked({800, 200, 70, 29}), "-");
  BOOST_CHECK_EQUAL(Picked({800, 200, 70, 30}), "0-4");
  BOOST_CHECK_EQUAL(Picked({10, 10, 10, 10}), "0-4");
  BOOST_CHECK_EQUAL(Picked({1, 1, 1, 1'000'000}), "0-4");
}

BOOST_AUTO_TEST_CASE(DeletesBringTheBaseIn) {
  std::vector<RunDescription> runs = Runs({100'000, 300, 90, 20});
  runs[0].rows = 1000;
  runs[2].deletes = 200;
  runs[3].deletes = 49;
  BOOST_CHECK_EQUAL(PickedOf(runs), "-");
  runs[3].deletes = 50;
  BOOST_CHECK_EQUAL(PickedOf(runs), "0-4");
  // Of rows so large that a delete may be of a thousandth of one.
  runs[0].bytes = 1'000'000'000;
  BOOST_CHECK_EQUAL(PickedOf(runs), "-");
}

BOOST_AUTO_TEST_CASE(ManyUnlikeRunsLoseThoseThatCostLeast) {
  BOOST_CHECK_EQUAL(Picked({100'000, 9000, 3000, 1000, 300, 100, 30, 10}), "-");
  BOOST_CHECK_EQUAL(Picked({100'000, 9000, 3000, 1000, 300, 100, 30, 10, 3}), "7-9");
  BOOST_CHECK_EQUAL(Picked({100'000, 2, 90, 2, 90, 2, 90, 2, 90}), "1-8");
  BOOST_CHECK_EQUAL(Picked({100'000, 9000, 2, 9000, 300, 2, 300, 2, 8000}), "5-8");
}

// What recovery, failures and former versions leave: it gets small in steps of bounded size.
BOOST_AUTO_TEST_CASE(AnyRegionComesToRest) {
  TestRandom random("pick/AnyRegionComesToRest");
  for (int trial = 0; trial < 500; ++trial) {
    MergePolicy policy{.runs_max = static_cast<uint32_t>(random.Below(12))};
    if (random.OneIn(4)) policy.bytes_max = random.Below(100'000);
    std::vector<RunDescription> runs;
    for (uint64_t i = random.Below(200); i > 0; --i) {
      const uint64_t bytes = 1 + random.Below(uint64_t{1} << random.Below(30));
      runs.push_back({.bytes = bytes, .rows = bytes / 50, .deletes = random.Below(bytes / 50 + 1)});
    }
    while (const auto range = compaction::PickMerge(runs, policy)) {
      BOOST_REQUIRE_LE(range->first + 2, range->end);
      BOOST_REQUIRE_LE(range->end, runs.size());
      BOOST_REQUIRE_LE(range->end - range->first, kMergeRunsMax);
      const auto first = runs.begin() + static_cast<ptrdiff_t>(range->first);
      const auto end = runs.begin() + static_cast<ptrdiff_t>(range->end);
      RunDescription merged;
      for (auto run = first; run != end; ++run) {
        merged.bytes += run->bytes;
        merged.rows += run->rows;
        merged.deletes += run->deletes;
      }
      BOOST_REQUIRE_LE(merged.bytes, policy.bytes_max);
      *first = merged;
      runs.erase(first + 1, end);
    }
    if (policy.bytes_max == UINT64_MAX) {
      BOOST_CHECK_LE(runs.size(), std::max<size_t>(policy.runs_max, 2));
    }
  }
}

BOOST_AUTO_TEST_CASE(ALimitOfBytesLeavesWhatIsLarger) {
  const MergePolicy policy{.runs_max = 8, .bytes_max = 100};
  BOOST_CHECK_EQUAL(Picked({80, 10, 10, 10}, policy), "-");
  BOOST_CHECK_EQUAL(Picked({60, 10, 10, 10}, policy), "0-4");
  BOOST_CHECK_EQUAL(Picked({80, 10, 10, 10, 10}, policy), "1-5");
  BOOST_CHECK_EQUAL(Picked({9000, 70, 60, 50, 60, 5, 5, 2, 1}, policy), "7-9");
  BOOST_CHECK_EQUAL(Picked({9000, 70, 60, 50, 60, 70, 60, 50, 60}, policy), "-");
}

// The base and what is merged with it are left alone; above them an idle region has fewer runs.
BOOST_AUTO_TEST_CASE(RunsAboveThoseThatAreBeingMergedArePicked) {
  const auto picked = [](size_t busy, const std::vector<uint64_t>& bytes, uint64_t most) {
    return PickedOf(Runs(bytes), {.bytes_max = most}, busy);
  };
  BOOST_CHECK_EQUAL(picked(1, {100, 90, 90, 90}, 1000), "-");
  BOOST_CHECK_EQUAL(picked(1, {100, 90, 90, 90, 90}, 1000), "1-5");
  BOOST_CHECK_EQUAL(picked(1, {100, 90, 90, 90, 90}, 359), "-");
  BOOST_CHECK_EQUAL(picked(2, {100, 90, 90, 90, 90}, 1000), "-");
  BOOST_CHECK_EQUAL(picked(5, {9, 9, 9, 9, 9}, 1000), "-");
  // Four busy: four others.
  BOOST_CHECK_EQUAL(picked(4, {100, 9, 9, 9, 400, 90, 20, 5}, 1000), "-");
  BOOST_CHECK_EQUAL(picked(4, {100, 9, 9, 9, 400, 90, 20, 5, 1}, 1000), "7-9");
  // And never fewer than three.
  BOOST_CHECK_EQUAL(picked(8, {100, 9, 9, 9, 9, 9, 9, 9, 90, 20, 5}, 1000), "-");
  BOOST_CHECK_EQUAL(picked(8, {100, 9, 9, 9, 9, 9, 9, 9, 90, 20, 5, 1}, 1000), "10-12");
  BOOST_CHECK_EQUAL(picked(8, {100, 9, 9, 9, 9, 9, 9, 9, 5, 5, 5}, 1000), "8-11");
  BOOST_CHECK_EQUAL(picked(20, std::vector<uint64_t>(24, 9), 1000), "20-24");
}

BOOST_AUTO_TEST_CASE(RunsThatOverlapInAgeAreMergedTogether) {
  using compaction::RunAge;
  const RunAge in_order[] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  BOOST_TEST((compaction::WidenToWhole(in_order, {1, 3}) == RunRange{1, 3}));
  // The oldest got a file that is as new as the third.
  const RunAge joined[] = {{1, 6}, {3, 4}, {5, 7}, {8, 9}};
  BOOST_TEST((compaction::WidenToWhole(joined, {1, 3}) == RunRange{0, 3}));
  // What is taken in may reach further.
  const RunAge chain[] = {{1, 4}, {3, 6}, {5, 8}, {7, 9}, {10, 11}};
  BOOST_TEST((compaction::WidenToWhole(chain, {2, 3}) == RunRange{0, 4}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
