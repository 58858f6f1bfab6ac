// Many small worlds; see small_world.h.
#define BOOST_TEST_DYN_LINK
#include "test/model/small_world.h"

#include <boost/test/unit_test.hpp>
#include <iostream>

#include "test/model/run.h"

namespace tandem::test {
namespace {

constexpr uint64_t kPart = 40;  // Of the operations; each is followed by many queries.

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(SmallWorlds) {
  Counters counters;
  const uint64_t operations = Operations() / kPart;
  for (uint64_t seed = Seed(); counters.operations < operations; ++seed) {
    const SmallWorld world = NewSmallWorld(seed);
    const auto failure = RunSmallWorld(world, &counters);
    if (!failure.has_value()) continue;
    const SmallWorld shrunk = Shrink(world);
    Counters ignored;
    BOOST_FAIL(*failure << "\n  cut down: " << RunSmallWorld(shrunk, &ignored).value_or("passes")
                        << "\n  " << shrunk.Describe() << "\n  again with: TANDEM_SEED=" << seed
                        << " TANDEM_OPERATIONS=" << kPart
                        << " build/test_model --run_test=model/SmallWorlds");
  }
  std::cout << "counters: SmallWorlds: " << counters.Describe() << std::endl;
  if (operations < 5000) return;
  BOOST_TEST(counters.stale_hits > 0u);
  BOOST_TEST(counters.deletes_over_files > 0u);
  BOOST_TEST(counters.families_over_files > 0u);
  BOOST_TEST(counters.rows_in_several_files > 0u);
  BOOST_TEST(counters.by_partial > counters.partial_scanned);
  BOOST_TEST(counters.partial_scanned > 0u);
  BOOST_TEST(counters.absent_columns > 0u);
  BOOST_TEST(counters.by_first_column > 0u);
  BOOST_TEST(counters.bulk_loads > 0u);
  BOOST_TEST(counters.rows_from_index > 0u);
  BOOST_TEST(counters.offsets_by_key > 0u);
  BOOST_TEST(counters.offsets_in_order > 0u);
  BOOST_TEST(counters.offsets_decided > 0u);
  BOOST_TEST(counters.offsets_read > 0u);
  BOOST_TEST(counters.live_counts > 0u);
  BOOST_TEST(counters.snapshot_checks > 0u);
  BOOST_TEST(counters.power_cuts > 0u);
  BOOST_TEST(counters.truncations > 0u);
  BOOST_TEST(counters.checked_writes > 0u);
  BOOST_TEST(counters.index_changes > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
