// The enumerator of crash states: it takes every choice there is, and what it finds becomes small.
#define BOOST_TEST_DYN_LINK
#include "test/reliability/crash_states.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/reliability/shrink.h"
#include "test/support/forgetful_file_system.h"
#include "test/support/print.h"

namespace tandem::reliability {
namespace {

using test::CrashPolicy;
using test::SimulatedDisk;

BOOST_AUTO_TEST_SUITE(crash_states)

BOOST_AUTO_TEST_CASE(EveryPendingEffectIsMissingOnceAndAloneOnce) {
  SimulatedDisk disk;
  const auto directory = *disk.OpenDirectory("db", true);
  const auto file = *directory->Create("f");
  BOOST_TEST(file->Write(0, std::string(1000, 'x')).ok());
  BOOST_TEST(file->Write(1000, "end").ok());
  BOOST_REQUIRE_EQUAL(disk.pending_count(), 5u);  // The name, and twice a growth and bytes.
  std::map<CrashPolicy::Kept, int> counts;
  for (const CrashPolicy& policy : CrashPolicies(disk, 1)) ++counts[policy.kept];
  BOOST_TEST(counts[CrashPolicy::Kept::kNone] == 1);
  BOOST_TEST(counts[CrashPolicy::Kept::kAll] == 1);
  BOOST_TEST(counts[CrashPolicy::Kept::kPrefix] == 4);
  BOOST_TEST(counts[CrashPolicy::Kept::kOnly] == 5);
  BOOST_TEST(counts[CrashPolicy::Kept::kAllBut] == 5);
  BOOST_TEST(counts[CrashPolicy::Kept::kTorn] == 4);
  BOOST_TEST(counts[CrashPolicy::Kept::kTornAmongAll] == 1);
  BOOST_TEST(counts[CrashPolicy::Kept::kRandom] == 8);
  BOOST_TEST(file->DataSync().ok());
  BOOST_TEST(directory->Sync().ok());
  BOOST_TEST(CrashPolicies(disk, 1).size() == 2u);
}

BOOST_AUTO_TEST_CASE(AWorkloadIsCrashedEverywhereAndInsideRecovery) {
  const Workload workload = FixedWorkloads(1)[0];
  const CrashSettings settings;
  CrashEnumerator enumerator(workload, settings);
  const auto finding = enumerator.Run();
  BOOST_TEST(!finding.has_value(), (finding ? finding->Describe(workload) : ""));
  BOOST_TEST(enumerator.counts().operations > 30u);
  BOOST_TEST(enumerator.counts().distinct - enumerator.counts().nested > 60u);
  BOOST_TEST(enumerator.counts().nested > 100u);
}

BOOST_AUTO_TEST_CASE(ALogThatIsNeverSyncedIsFoundAndShrunkToOneWrite) {
  const Workload workload = FixedWorkloads(1)[0];
  CrashSettings settings;
  settings.over = [](SimulatedDisk* disk) {
    return std::make_unique<test::ForgetfulFileSystem>(disk,
                                                       test::Forgotten{.synced_prefix = "log-"});
  };
  const auto find = [&](const Workload& smaller) { return FindByCrash(smaller, settings); };
  const auto finding = find(workload);
  BOOST_TEST_REQUIRE(finding.has_value());
  const Shrunk shrunk = Shrink(workload, *finding, {.find = find});
  BOOST_TEST(shrunk.workload.steps.size() <= 2u, shrunk.finding.Describe(shrunk.workload));
  BOOST_TEST(shrunk.finding.injected.size() == 1u);
}

// Regions are flushed one after the other, and an unlogged batch over two of them was once in half
// after a crash in between.
BOOST_AUTO_TEST_CASE(ABatchOverRegionsIsWholeAlsoWhereNoLogWasAskedFor) {
  const std::vector<Workload> workloads = FixedWorkloads(1);
  const auto workload = std::find_if(workloads.begin(), workloads.end(), [](const Workload& each) {
    return each.name == "memory-batches-over-regions";
  });
  BOOST_TEST_REQUIRE((workload != workloads.end()));
  const auto finding = FindByCrash(*workload, {});
  BOOST_TEST(!finding.has_value(), (finding ? finding->Describe(*workload) : ""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::reliability
