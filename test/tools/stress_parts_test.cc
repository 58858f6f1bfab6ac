// The parts of the stress harness: what it expects has to be right, and it has to notice what is
// wrong.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/tools/require_ok.h"
#include "tools/simulation/minimize.h"
#include "tools/stress/contents.h"
#include "tools/stress/expected.h"
#include "tools/stress/finding.h"
#include "tools/stress/generator.h"
#include "tools/stress/journal.h"
#include "tools/stress/schema.h"
#include "tools/stress/shelves.h"
#include "tools/stress/survival.h"
#include "tools/stress/workload.h"

namespace tandem::test {
namespace {

using stress::Journal;
using stress::Mode;
using stress::Script;

constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

BOOST_AUTO_TEST_SUITE(stress_parts)

BOOST_AUTO_TEST_CASE(AScriptIsReadBackAsItWas) {
  for (const Mode mode : {Mode::kPlain, Mode::kCrash, Mode::kFaults}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const std::string text = Print(stress::NewScript(mode, seed, 30, 400));
      const auto read = stress::ParseScript(text);
      RequireOk(read.status());
      BOOST_TEST(Print(*read) == text);
      BOOST_TEST(read->steps.size() > 400u);
      BOOST_TEST(read->steps[10].line == 15u);
    }
  }
}

BOOST_AUTO_TEST_CASE(AStepOfEachKindIsReadBackAsItWas) {
  const std::string text =
      "tandem-operations 1\nmode faults\nseed 7\nrows 4\n"
      "write synced put north a\\x20\\xff d - gen 5 note 100*x ; delete-row south b 7\n"
      "lie memory put loose r d 1 '' ''\nflush\nflush north\ncompact south\nwork 0\nadvance 9\n"
      "snapshot\nrelease\ncheck loose 3\nverify\nreopen\nkill\npower-off-at 2\n"
      "crash random 9 torn 4\nfault directory-sync 3 sticky io\nheal\nspace 100\n"
      "change-index north 3\nobserve south\ntruncate loose\ndrop south\ncreate south\n"
      "load put north a d - note x ; put north b h 3 tag y\nrename loose\nname-snapshot\n"
      "drop-snapshot 1\n";
  const auto read = stress::ParseScript(text);
  RequireOk(read.status());
  BOOST_TEST(Print(*read) == text);
  BOOST_TEST(read->steps[0].operations[0].row == "a \xff");
  BOOST_TEST(read->steps[0].operations[0].columns[1].second == std::string(100, 'x'));
  BOOST_TEST(read->steps[1].operations[0].columns[0].first == "");
}

BOOST_AUTO_TEST_CASE(BadScriptsAreRefusedWithTheirLine) {
  const std::string head = "tandem-operations 1\nmode crash\nseed 1\nrows 9\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "line 0: expected the head"},
      {"tandem-operations 2\n", "line 1: expected version 1"},
      {"tandem-operations 1\nmode slow\n", "line 2: expected a mode: plain, crash, faults"},
      {"tandem-operations 1\nmode crash\nseed x\n", "line 3: expected a number"},
      {"tandem-operations 1\nmode crash\nseed 1\nrows 3\n", "line 4: expected 4 to 1000000 rows"},
      {head + "\n# fine\njump\n", "line 7: expected a step: write, lie"},
      {head + "work\n", "line 5: expected a number from 0, found 'the end of the line'"},
      {head + "work 1 2\n", "line 5: expected the end of the line, found '2'"},
      {head + "check east 1\n", "line 5: expected a table"},
      {head + "write loud put north a d 1 x y\n", "line 5: expected a level: memory"},
      {head + "write synced put loose a d 1 x y\n", "line 5: expected the level memory"},
      {head + "write memory put north a d 1 x y\n", "line 5: expected the level memory"},
      {head + "write synced put north a q 1 x y\n", "line 5: expected a family"},
      {head + "write synced put north '' d 1 x y\n", "line 5: expected a row key"},
      {head + "write synced put north a d 1 x y x z\n", "line 5: expected different columns"},
      {head + "write synced put north a d then x y\n", "line 5: expected a time or -"},
      {head + "write synced put north a d 1 x\n", "line 5: expected a word"},
      {head + "write synced put north a d 1 x 9999999*y\n", "line 5: expected COUNT*WORD"},
      {head + "write synced delete-row north a 1 extra\n", "line 5: expected the end of the line"},
      {head + "observe loose\n", "line 5: expected a table: north or south, found 'loose'"},
      {head + "load put north a d 1 x y ; put south a d 1 x y\n", "line 5: expected puts of one"},
      {head + "load delete-row north a 1\n", "line 5: expected puts of one table"},
      {head + "load put loose a d 1 x y\n", "line 5: expected the level memory"},
      {head + "crash some 1 torn 0\n", "line 5: expected one of: none, all, random"},
      {head + "fault write 1 twice io\n", "line 5: expected one of: once, sticky, partly"}};
  for (const auto& [text, message] : cases) {
    const auto read = stress::ParseScript(text);
    BOOST_REQUIRE_MESSAGE(!read.has_value(), text);
    BOOST_TEST(read.error().code() == StatusCode::kInvalidArgument);
    BOOST_TEST(std::string(read.error().message()).starts_with(message), read.error().message()
                                                                             << " for " << text);
  }
}

BOOST_AUTO_TEST_CASE(ShrinkingLeavesWhatTheFailureNeeds) {
  const std::vector<size_t> needed = {3, 17, 40, 99};
  std::vector<size_t> all(100);
  std::iota(all.begin(), all.end(), size_t{0});
  size_t tries = 0;
  const auto fails = [&](const std::vector<size_t>& kept) {
    ++tries;
    return std::ranges::includes(kept, needed);
  };
  BOOST_TEST(Minimize(all, fails, 10'000) == needed);
  BOOST_TEST(tries < 200u);
  // Either of two is enough: one goes, whichever.
  const auto either = [](const std::vector<size_t>& kept) {
    return std::ranges::count(kept, 5u) + std::ranges::count(kept, 60u) >= 1;
  };
  BOOST_TEST(Minimize(all, either, 10'000).size() == 1u);
  // Without tries enough what is left fails all the same.
  BOOST_TEST(fails(Minimize(all, fails, 12)));
  BOOST_TEST(Minimize(std::vector{1}, [](const auto&) { return true; }).empty());
}

// The state of a generation is worked out from eight operations at most; it has to be that of the
// whole history.
BOOST_AUTO_TEST_CASE(AGenerationIsTheSumOfAllBefore) {
  const stress::Workload workload(5, 130, 2);
  for (const uint32_t slot : {0u, 1u, 33u, 64u, 100u, 131u, 140u}) {
    for (const TablePlan& plan : workload.tables()) {
      const TableOptions& table = plan.options;
      if (workload.is_loose(slot) != (table.name == stress::kLoose)) continue;
      const ModelRead all{0, kAllVersions, {}};
      Model whole;
      for (const TablePlan& each : workload.tables()) whole.CreateTable(each.options);
      for (uint64_t generation = 1; generation <= 40; ++generation) {
        WriteBatch batch;
        workload.AddTo(slot, generation, &batch);
        BOOST_TEST(batch.operation_count() > 0u);
        for (const ModelOperation& operation :
             workload.OperationsOf(slot, generation, table.name)) {
          whole.Apply(operation, 0, 0);
        }
        const auto state = workload.StateAt(slot, generation, table.name, all);
        BOOST_REQUIRE(state == whole.Get(table.name, workload.key(slot), all));
        BOOST_TEST(*workload.Find(workload.key(slot)) == slot);
      }
    }
  }
}

struct JournalWorld {
  JournalWorld() {
    for (const TablePlan& table : stress::NewTables(1, 8)) {
      model.CreateTable(table.options);
    }
    journal.emplace(std::vector<std::string>{stress::kNorth, stress::kSouth}, model);
  }
  /// Batch `number` puts its own row and a shared one.
  stress::JournalBatch Batch(int number) {
    stress::JournalBatch batch;
    for (const auto& row : {"own" + std::to_string(number), std::string("shared")}) {
      batch.operations.push_back({ModelOperation::Kind::kPut,
                                  stress::kNorth,
                                  row,
                                  "d",
                                  {{"note", std::to_string(number)}},
                                  number});
    }
    return batch;
  }
  void Append(int number) { journal->Append(Batch(number)); }
  /// A truncation of the table that batches are written to.
  void AppendEmptied(bool open) {
    stress::JournalBatch batch;
    batch.open = open;
    batch.emptied = stress::kNorth;
    journal->Append(std::move(batch));
  }
  std::vector<std::vector<ModelRow>> Content(const std::vector<int>& numbers) {
    Model found = model;
    for (const int number : numbers) {
      for (const ModelOperation& operation : Batch(number).operations) {
        found.Apply(operation, 0, 0);
      }
    }
    const ModelRead all{0, kAllVersions, {}};
    return {found.Scan(stress::kNorth, {}, all), found.Scan(stress::kSouth, {}, all)};
  }
  Status Recover(const std::vector<std::vector<ModelRow>>& content, bool killed) {
    return Journal(*journal).Recover(content, killed).status();
  }
  Model model;
  std::optional<Journal> journal;
};

BOOST_AUTO_TEST_CASE(AJournalTakesPrefixesAndNothingElse) {
  JournalWorld world;
  for (int number = 1; number <= 4; ++number) {
    world.Append(number);
    if (number == 1) world.journal->MarkDurable();
    if (number == 3) world.journal->MarkWritten();
  }
  RequireOk(world.Recover(world.Content({1}), false));
  RequireOk(world.Recover(world.Content({1, 2}), false));
  RequireOk(world.Recover(world.Content({1, 2, 3, 4}), false));
  RequireOk(world.Recover(world.Content({1, 2, 3}), true));
  const auto is_noticed = [&](const std::vector<std::vector<ModelRow>>& content, bool killed) {
    const Status status = world.Recover(content, killed);
    BOOST_TEST(stress::IsMismatch(status), status.ToString());
  };
  is_noticed(world.Content({}), false);               // What was durable is gone.
  is_noticed(world.Content({1, 3}), false);           // A hole.
  is_noticed(world.Content({1, 2}), true);            // What survives a process is gone.
  is_noticed(world.Content({1, 2, 3, 4, 5}), false);  // Nobody wrote that.
  auto half = world.Content({1, 2});
  std::erase_if(half[0], [](const ModelRow& row) { return row.key == "own2"; });
  is_noticed(half, false);
}

BOOST_AUTO_TEST_CASE(AJournalTakesATruncationAsAWhole) {
  JournalWorld world;
  for (const int number : {1, 2}) world.Append(number);
  world.journal->MarkDurable();
  world.AppendEmptied(true);
  const auto is_noticed = [&](const std::vector<std::vector<ModelRow>>& content) {
    const Status status = world.Recover(content, false);
    BOOST_TEST(stress::IsMismatch(status), status.ToString());
  };
  // It failed: it may be there or not.
  RequireOk(world.Recover(world.Content({1, 2}), false));
  RequireOk(world.Recover(world.Content({}), false));
  auto half = world.Content({1, 2});
  half[0].pop_back();
  is_noticed(half);
  // A later write was acknowledged, so that it left nothing.
  world.journal->DropOpen();
  is_noticed(world.Content({}));
  // It was acknowledged: what was written after it may be lost.
  world.AppendEmptied(false);
  world.journal->MarkDurableThrough(stress::kNorth);
  world.Append(3);
  RequireOk(world.Recover(world.Content({3}), false));
  RequireOk(world.Recover(world.Content({}), false));
  is_noticed(world.Content({1, 2}));
  is_noticed(world.Content({1, 2, 3}));
}

// Whatever comes by chance, no kind of step is left out.
BOOST_AUTO_TEST_CASE(ScriptsHaveStepsOfEveryKind) {
  std::map<Mode, std::set<stress::Step::Kind>> kinds;
  for (const Mode mode : {Mode::kCrash, Mode::kFaults}) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      for (const stress::Step& step : stress::NewScript(mode, seed, 30, 2000).steps) {
        kinds[mode].insert(step.kind);
      }
    }
  }
  using Kind = stress::Step::Kind;
  for (const auto& [mode, found] : kinds) {
    for (Kind kind = Kind::kWrite; kind <= Kind::kDropSnapshot;
         kind = static_cast<Kind>(static_cast<int>(kind) + 1)) {
      const bool is_fault = kind == Kind::kFault || kind == Kind::kHeal || kind == Kind::kSpace;
      const bool is_cut = kind == Kind::kKill || kind == Kind::kPowerOffAt;
      if (kind == Kind::kLie || (mode == Mode::kCrash ? is_fault : is_cut)) continue;
      BOOST_TEST(found.contains(kind),
                 "kind " << static_cast<int>(kind) << " in mode " << stress::NameOf(mode));
    }
  }
}

/// Two shelves, written in this order; generations 3 and 5 of them are acknowledged.
stress::StockBounds BoundsOfShelves() {
  stress::StockBounds bounds;
  bounds.shelves = {{.low = 3, .high = 3, .write = {10, 11}},
                    {.low = 5, .high = 6, .write = {20, 21}}};
  return bounds;
}

BOOST_AUTO_TEST_CASE(ShelvesHaveOneOfTheirGenerations) {
  using Found = std::vector<uint64_t>;
  const auto is_right = [](const stress::StockBounds& bounds, const Found& found) {
    const Status status = stress::CheckShelves("here", bounds, found);
    BOOST_TEST((status.ok() || stress::IsMismatch(status)), status.ToString());
    return status.ok();
  };
  stress::StockBounds bounds = BoundsOfShelves();
  for (const Found& found : {Found{3, 5}, Found{3, 6}}) BOOST_TEST(is_right(bounds, found));
  for (const Found& found : {Found{2, 5}, Found{4, 5}, Found{3, 7}, Found{0, 5}, Found{3, 0}}) {
    BOOST_TEST(!is_right(bounds, found));
  }
  // A generation that deletes the rows has begun, or nothing was ever written.
  bounds.shelves[1].high = 8;
  BOOST_TEST(is_right(bounds, {3, 0}));
  BOOST_TEST(!is_right(bounds, {3, 8}));
  bounds.shelves[0] = {};
  BOOST_TEST(is_right(bounds, {0, 5}));
}

BOOST_AUTO_TEST_CASE(ATruncationTakesTheShelvesBeforeIt) {
  using Found = std::vector<uint64_t>;
  const auto is_right = [](const stress::StockBounds& bounds, const Found& found) {
    return stress::CheckShelves("here", bounds, found).ok();
  };
  constexpr uint64_t kNotYet = std::numeric_limits<uint64_t>::max();
  // Before both, and between them.
  stress::StockBounds bounds = BoundsOfShelves();
  bounds.before = bounds.last = {5, 6};
  BOOST_TEST(is_right(bounds, {3, 5}));
  BOOST_TEST(!is_right(bounds, {0, 5}));
  bounds.before = bounds.last = {15, 16};
  BOOST_TEST(is_right(bounds, {0, 5}));
  for (const Found& found : {Found{3, 5}, Found{0, 0}}) BOOST_TEST(!is_right(bounds, found));
  // Beside the second write: before it or after it.
  bounds.before = bounds.last = {19, 22};
  for (const Found& found : {Found{0, 5}, Found{0, 0}}) BOOST_TEST(is_right(bounds, found));
  BOOST_TEST(!is_right(bounds, {3, 5}));
  // Not over when the read began: it takes both or none.
  bounds.before = {};
  bounds.next = bounds.last = {30, kNotYet};
  for (const Found& found : {Found{3, 5}, Found{0, 0}, Found{0, 6}}) {
    BOOST_TEST(is_right(bounds, found));
  }
  for (const Found& found : {Found{3, 0}, Found{0, 5}}) BOOST_TEST(!is_right(bounds, found));
  // One that was over has taken the first shelf, which says nothing of the next one.
  bounds.before = {15, 16};
  for (const Found& found : {Found{0, 5}, Found{0, 0}}) BOOST_TEST(is_right(bounds, found));
}

BOOST_AUTO_TEST_CASE(AContentIsWhatItWasOrWasToBecome) {
  stress::ContentState state{};
  const auto recovers = [&state](uint64_t now, uint64_t next, uint64_t found) {
    state.now = now;
    state.next = next;
    return stress::RecoverContent("here", found, &state).ok();
  };
  BOOST_TEST(recovers(7, 7, 7));
  BOOST_TEST(recovers(7, stress::kNothing, stress::kNothing));
  BOOST_TEST((state.now == stress::kNothing && state.next == stress::kNothing));
  BOOST_TEST(recovers(stress::kNothing, stress::kUnread, 9));
  BOOST_TEST((state.now == 9u && state.next == 9u));
  BOOST_TEST(!recovers(7, 7, 8));
  BOOST_TEST(!recovers(7, 7, stress::kNothing));
  BOOST_TEST(!recovers(stress::kUnread, stress::kUnread, stress::kNothing));
  BOOST_TEST(!recovers(stress::kNothing, stress::kNothing, 8));
}

// Two counters, the numbers of which lie among each other in time.
BOOST_AUTO_TEST_CASE(NothingSurvivesWithoutWhatCameBefore) {
  stress::CounterState first{}, second{};
  first.Returned(1, 10, 11);
  first.Returned(2, 20, 21);
  second.Returned(7, 15, 16);
  second.Returned(8, 22, 25);
  const auto is_right = [&](uint64_t of_first, uint64_t of_second) {
    stress::Survival survival;
    survival.Note(first, of_first, "first");
    survival.Note(second, of_second, "second");
    const Status status = survival.Check();
    BOOST_TEST((status.ok() || stress::IsMismatch(status)), status.ToString());
    return status.ok();
  };
  BOOST_TEST(is_right(2, 8));
  BOOST_TEST(is_right(2, 7));
  BOOST_TEST(is_right(1, 7));
  BOOST_TEST(is_right(1, 6));
  BOOST_TEST(is_right(0, 6));
  BOOST_TEST(!is_right(2, 6));
  BOOST_TEST(!is_right(0, 7));
  BOOST_TEST(!is_right(1, 8));
  // What has not returned, or has been decided by an earlier recovery, says nothing.
  first.GoOnFrom(1);
  BOOST_TEST(is_right(1, 8));
  stress::Survival survival;
  survival.Note(stress::CounterState{}, 5, "new");
  BOOST_TEST(survival.Check().ok());
}

BOOST_AUTO_TEST_CASE(TheExpectedStateSurvivesItsOwner) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("expected");
  {
    auto expected =
        stress::Expected::Create(path, {.seed = 9, .rows = 8, .threads = 2, .slots = 10});
    RequireOk(expected.status());
    (*expected)->slot(9).acked = 77;
    (*expected)->thread(1).entries[63].touched[11].generation = 78;
  }
  {
    auto expected = stress::Expected::Open(path);
    RequireOk(expected.status());
    BOOST_TEST((*expected)->slot(9).acked == 77u);
    BOOST_TEST((*expected)->thread(1).entries[63].touched[11].generation == 78u);
    BOOST_TEST((*expected)->header().seed == 9u);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  BOOST_TEST(stress::Expected::Open(path).error().code() == StatusCode::kInvalidArgument);
  std::filesystem::resize_file(path, 10);
  BOOST_TEST(stress::Expected::Open(path).error().code() == StatusCode::kInvalidArgument);
  BOOST_TEST(stress::Expected::Open(path + "s").error().code() == StatusCode::kNotFound);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
