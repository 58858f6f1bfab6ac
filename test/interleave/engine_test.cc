// Every scenario under many schedules; see explorer.h for how to run more of them, or one again.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "test/interleave/scenarios.h"
#include "test/support/small_pages.h"

namespace tandem::test {
namespace {

using Cause = uint64_t CausesMet::*;

struct SmallPages {
  SmallPages() { UseSmallPages(); }
};
BOOST_GLOBAL_FIXTURE(SmallPages);

const bool kIsQuick = std::getenv("TANDEM_QUICK") != nullptr;

/// Writes have to meet each of the causes in some schedule. Returns with how many preemptions all
/// schedules were run; -1: not even those with none.
int32_t ExploreNamed(const std::string& name, const std::vector<Cause>& causes = {}) {
  for (const EngineScenario& scenario : EngineScenarios()) {
    if (scenario.name != name) continue;
    CausesMet met;
    const Exploration found = Explore(ScenarioOf(scenario, &met), scenario.budget);
    BOOST_TEST(found.failure.empty(), found.failure);
    BOOST_TEST_MESSAGE(name << ": caught up " << met.caught_up << ", read again " << met.reread
                            << ", planned again " << met.replanned << ", conflicts in groups "
                            << met.in_group << ", in memstores " << met.in_memstore << ", in files "
                            << met.in_files << ", in ranges " << met.in_range);
    for (const Cause cause : causes) BOOST_TEST(((met.*cause) > 0 || kIsQuick));
    return found.complete_preemptions;
  }
  BOOST_FAIL("there is no scenario of this name");
  return -1;
}

BOOST_AUTO_TEST_SUITE(interleave)

BOOST_AUTO_TEST_CASE(AFamilyGoesBesideASnapshotAndAMerge) {
  ExploreNamed("AFamilyGoesBesideASnapshotAndAMerge");
}
BOOST_AUTO_TEST_CASE(AFamilyGoesBesideAScan) { ExploreNamed("AFamilyGoesBesideAScan"); }
BOOST_AUTO_TEST_CASE(WritersReaderAndFlush) { ExploreNamed("WritersReaderAndFlush"); }
BOOST_AUTO_TEST_CASE(ReadsBesideAFlush) { ExploreNamed("ReadsBesideAFlush"); }
BOOST_AUTO_TEST_CASE(ReadsBesideACompaction) { ExploreNamed("ReadsBesideACompaction"); }
BOOST_AUTO_TEST_CASE(GetsBesideAMerge) { ExploreNamed("GetsBesideAMerge"); }
BOOST_AUTO_TEST_CASE(ReadsBesideAMemstoreSwitch) { ExploreNamed("ReadsBesideAMemstoreSwitch"); }
BOOST_AUTO_TEST_CASE(WritersAndLogRoll) { ExploreNamed("WritersAndLogRoll"); }
BOOST_AUTO_TEST_CASE(LogRollsThenAPowerCut) { ExploreNamed("LogRollsThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(ExtensionsBesideRolls) { ExploreNamed("ExtensionsBesideRolls"); }
BOOST_AUTO_TEST_CASE(CloseBesideCalls) { ExploreNamed("CloseBesideCalls"); }
BOOST_AUTO_TEST_CASE(SnapshotGoesWhileACompactionBegins) {
  ExploreNamed("SnapshotGoesWhileACompactionBegins");
}
BOOST_AUTO_TEST_CASE(OverlapsBesideAMerge) { ExploreNamed("OverlapsBesideAMerge"); }
BOOST_AUTO_TEST_CASE(OverlapsBesideSwitches) { ExploreNamed("OverlapsBesideSwitches"); }
BOOST_AUTO_TEST_CASE(AScanOnThreadsBesideAFlush) { ExploreNamed("AScanOnThreadsBesideAFlush"); }
BOOST_AUTO_TEST_CASE(AScanOnThreadsBesideASplit) { ExploreNamed("AScanOnThreadsBesideASplit"); }
BOOST_AUTO_TEST_CASE(AScanOnThreadsBesideClose) { ExploreNamed("AScanOnThreadsBesideClose"); }
BOOST_AUTO_TEST_CASE(AMergedScanOnThreadsBesideAFlush) {
  ExploreNamed("AMergedScanOnThreadsBesideAFlush");
}
BOOST_AUTO_TEST_CASE(AMergedScanOnThreadsBesideASplit) {
  ExploreNamed("AMergedScanOnThreadsBesideASplit");
}
BOOST_AUTO_TEST_CASE(AMergedScanOnThreadsBesideClose) {
  ExploreNamed("AMergedScanOnThreadsBesideClose");
}
BOOST_AUTO_TEST_CASE(ASplitBesideWritersAndReaders) {
  ExploreNamed("ASplitBesideWritersAndReaders");
}
BOOST_AUTO_TEST_CASE(SplitsBesideFlushesAndMerges) { ExploreNamed("SplitsBesideFlushesAndMerges"); }
BOOST_AUTO_TEST_CASE(ASplitThenAPowerCut) { ExploreNamed("ASplitThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(AMergeOfRegionsBesideWritersAndAFlush) {
  ExploreNamed("AMergeOfRegionsBesideWritersAndAFlush");
}
BOOST_AUTO_TEST_CASE(AMergeOfRegionsThenAPowerCut) { ExploreNamed("AMergeOfRegionsThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(CreateTableBesideWrites) { ExploreNamed("CreateTableBesideWrites"); }
BOOST_AUTO_TEST_CASE(BatchesOverTables) { ExploreNamed("BatchesOverTables"); }
BOOST_AUTO_TEST_CASE(ChangesOfTheCatalog) { ExploreNamed("ChangesOfTheCatalog"); }
BOOST_AUTO_TEST_CASE(ASyncFails) { ExploreNamed("ASyncFails"); }
BOOST_AUTO_TEST_CASE(AFlushSyncsBesideWriters) { ExploreNamed("AFlushSyncsBesideWriters"); }
BOOST_AUTO_TEST_CASE(AFlushFailsToSyncBesideAWriter) {
  ExploreNamed("AFlushFailsToSyncBesideAWriter");
}
BOOST_AUTO_TEST_CASE(ATruncationBesideWritersAndReaders) {
  ExploreNamed("ATruncationBesideWritersAndReaders");
}

BOOST_AUTO_TEST_CASE(ATruncationBesideFlushesAndMerges) {
  ExploreNamed("ATruncationBesideFlushesAndMerges");
}
BOOST_AUTO_TEST_CASE(ATruncationThenASnapshot) { ExploreNamed("ATruncationThenASnapshot"); }
BOOST_AUTO_TEST_CASE(ARenameBesideAGet) { ExploreNamed("ARenameBesideAGet"); }
BOOST_AUTO_TEST_CASE(ARenameThenASnapshot) { ExploreNamed("ARenameThenASnapshot"); }
BOOST_AUTO_TEST_CASE(ATruncationBesideASplit) { ExploreNamed("ATruncationBesideASplit"); }
BOOST_AUTO_TEST_CASE(ADropBesideBatchesOverTables) { ExploreNamed("ADropBesideBatchesOverTables"); }
BOOST_AUTO_TEST_CASE(IncrementsBesideAFlush) {
  ExploreNamed("IncrementsBesideAFlush", {&CausesMet::caught_up, &CausesMet::reread});
}
BOOST_AUTO_TEST_CASE(IncrementsBesideSwitchesAndAMerge) {
  ExploreNamed("IncrementsBesideSwitchesAndAMerge");
}
BOOST_AUTO_TEST_CASE(AppendsBesideAFlush) {
  ExploreNamed("AppendsBesideAFlush", {&CausesMet::caught_up, &CausesMet::reread});
}
BOOST_AUTO_TEST_CASE(ADeleteCellBesideAPut) { ExploreNamed("ADeleteCellBesideAPut"); }
BOOST_AUTO_TEST_CASE(ChecksBesideATruncation) {
  ExploreNamed("ChecksBesideATruncation", {&CausesMet::replanned});
}
BOOST_AUTO_TEST_CASE(IncrementsBesideASplit) { ExploreNamed("IncrementsBesideASplit"); }
BOOST_AUTO_TEST_CASE(IncrementsThenAPowerCut) { ExploreNamed("IncrementsThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(TransactionsBesideAFlush) {
  ExploreNamed("TransactionsBesideAFlush", {&CausesMet::in_group, &CausesMet::in_memstore,
                                            &CausesMet::in_files, &CausesMet::reread});
}
BOOST_AUTO_TEST_CASE(TransactionsBesideASplit) { ExploreNamed("TransactionsBesideASplit"); }
BOOST_AUTO_TEST_CASE(TransactionsThenAPowerCut) { ExploreNamed("TransactionsThenAPowerCut"); }
// Of schedules with two preemptions, as many as TANDEM_TRIALS allows.
BOOST_AUTO_TEST_CASE(ThreeWritersOfTwoRows) {
  const int32_t preemptions =
      ExploreNamed("ThreeWritersOfTwoRows", {&CausesMet::in_group, &CausesMet::in_memstore});
  BOOST_TEST((preemptions >= 1 || kIsQuick));
}
BOOST_AUTO_TEST_CASE(CheckedRangesBesideAFlush) {
  ExploreNamed("CheckedRangesBesideAFlush", {&CausesMet::in_range});
}
BOOST_AUTO_TEST_CASE(CheckedRangesBesideASplit) { ExploreNamed("CheckedRangesBesideASplit"); }
BOOST_AUTO_TEST_CASE(CheckedRangesThenAPowerCut) { ExploreNamed("CheckedRangesThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(WritersWaitForFlushes) { ExploreNamed("WritersWaitForFlushes"); }
// Those of unique_scenarios.cc.
BOOST_AUTO_TEST_CASE(WritersOfOneValue) { ExploreNamed("WritersOfOneValue"); }
BOOST_AUTO_TEST_CASE(ARevealBesideWriters) { ExploreNamed("ARevealBesideWriters"); }
BOOST_AUTO_TEST_CASE(SwapsBesideWriters) { ExploreNamed("SwapsBesideWriters"); }
BOOST_AUTO_TEST_CASE(UniqueWritesBesideAFlushAndASplit) {
  ExploreNamed("UniqueWritesBesideAFlushAndASplit");
}
BOOST_AUTO_TEST_CASE(UniqueWritesThenAPowerCut) { ExploreNamed("UniqueWritesThenAPowerCut"); }
// Those of global_scenarios.cc.
BOOST_AUTO_TEST_CASE(WritersOfOneIndexedRow) { ExploreNamed("WritersOfOneIndexedRow"); }
BOOST_AUTO_TEST_CASE(ARevealBesideAFlush) { ExploreNamed("ARevealBesideAFlush"); }
BOOST_AUTO_TEST_CASE(GlobalQueriesBesideASplit) { ExploreNamed("GlobalQueriesBesideASplit"); }
BOOST_AUTO_TEST_CASE(ALoadBesideGlobalQueries) { ExploreNamed("ALoadBesideGlobalQueries"); }

BOOST_AUTO_TEST_SUITE_END()

// Those of file_scenarios.cc.
BOOST_AUTO_TEST_SUITE(interleave_files)

BOOST_AUTO_TEST_CASE(AnIndexIsCreatedBesideWritersAndAFlush) {
  ExploreNamed("AnIndexIsCreatedBesideWritersAndAFlush");
}
BOOST_AUTO_TEST_CASE(AnIndexIsDroppedBesideReadsAndAFlush) {
  ExploreNamed("AnIndexIsDroppedBesideReadsAndAFlush");
}
BOOST_AUTO_TEST_CASE(AnIndexIsBuiltBesideACompaction) {
  ExploreNamed("AnIndexIsBuiltBesideACompaction");
}
BOOST_AUTO_TEST_CASE(AnIndexIsBuiltBesideASplit) { ExploreNamed("AnIndexIsBuiltBesideASplit"); }
BOOST_AUTO_TEST_CASE(AnIndexIsBuiltInASharedFile) { ExploreNamed("AnIndexIsBuiltInASharedFile"); }
BOOST_AUTO_TEST_CASE(AnIndexIsBuiltBesideAMergeOfRegions) {
  ExploreNamed("AnIndexIsBuiltBesideAMergeOfRegions");
}
BOOST_AUTO_TEST_CASE(ANamedSnapshotBesideAnIndexBuild) {
  ExploreNamed("ANamedSnapshotBesideAnIndexBuild");
}
BOOST_AUTO_TEST_CASE(ALoadBesidePutsAFlushAndASnapshot) {
  ExploreNamed("ALoadBesidePutsAFlushAndASnapshot");
}
BOOST_AUTO_TEST_CASE(ALoadBesideAScan) { ExploreNamed("ALoadBesideAScan"); }
BOOST_AUTO_TEST_CASE(ALoadBesideASplit) { ExploreNamed("ALoadBesideASplit"); }
BOOST_AUTO_TEST_CASE(ALoadBesideATruncation) { ExploreNamed("ALoadBesideATruncation"); }
BOOST_AUTO_TEST_CASE(ALoadBesideATransaction) {
  ExploreNamed("ALoadBesideATransaction", {&CausesMet::in_files});
}
BOOST_AUTO_TEST_CASE(ALoadThenAPowerCut) { ExploreNamed("ALoadThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(ANamedSnapshotBesideBatchesOverTables) {
  ExploreNamed("ANamedSnapshotBesideBatchesOverTables");
}
BOOST_AUTO_TEST_CASE(ANamedSnapshotBesideASplit) { ExploreNamed("ANamedSnapshotBesideASplit"); }
BOOST_AUTO_TEST_CASE(ANamedSnapshotGoesBesideAReader) {
  ExploreNamed("ANamedSnapshotGoesBesideAReader");
}
BOOST_AUTO_TEST_CASE(AMergeWithinAMergeBesideReadsAndASplit) {
  ExploreNamed("AMergeWithinAMergeBesideReadsAndASplit");
}
BOOST_AUTO_TEST_CASE(ANamedSnapshotGoesBesideACompaction) {
  ExploreNamed("ANamedSnapshotGoesBesideACompaction");
}
BOOST_AUTO_TEST_CASE(ANamedSnapshotThenAPowerCut) { ExploreNamed("ANamedSnapshotThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(AnAttachBesideWritesAndAFlush) {
  ExploreNamed("AnAttachBesideWritesAndAFlush");
}
BOOST_AUTO_TEST_CASE(AnAttachThenAPowerCut) { ExploreNamed("AnAttachThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(ARestoreBesideWritesAndAFlush) {
  ExploreNamed("ARestoreBesideWritesAndAFlush");
}
BOOST_AUTO_TEST_CASE(ARestoreThenAPowerCut) { ExploreNamed("ARestoreThenAPowerCut"); }
BOOST_AUTO_TEST_CASE(ObservedWritesBesideAFlush) { ExploreNamed("ObservedWritesBesideAFlush"); }
BOOST_AUTO_TEST_CASE(AnObserverComesBesideWrites) { ExploreNamed("AnObserverComesBesideWrites"); }
BOOST_AUTO_TEST_CASE(IdsAreTakenBesideAFlush) { ExploreNamed("IdsAreTakenBesideAFlush"); }
BOOST_AUTO_TEST_CASE(IdsAreTakenWhereASyncFails) { ExploreNamed("IdsAreTakenWhereASyncFails"); }
BOOST_AUTO_TEST_CASE(ASequenceIsDroppedBesideWhoTakesIds) {
  ExploreNamed("ASequenceIsDroppedBesideWhoTakesIds");
}

BOOST_AUTO_TEST_CASE(ACopyBesideWritersAndAMerge) { ExploreNamed("ACopyBesideWritersAndAMerge"); }
BOOST_AUTO_TEST_CASE(ACopyBesideWritersThatWait) { ExploreNamed("ACopyBesideWritersThatWait"); }
BOOST_AUTO_TEST_CASE(ACopyBesideALoadAndASplit) { ExploreNamed("ACopyBesideALoadAndASplit"); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
