// See threads_run.h.
#include "tools/stress/threads_run.h"

#include <sys/prctl.h>

#include <csignal>
#include <thread>

#include "base/status_macros.h"
#include "tools/simulation/same_observer.h"
#include "tools/stress/claims.h"
#include "tools/stress/echoes.h"
#include "tools/stress/finding.h"
#include "tools/stress/hangs.h"
#include "tools/stress/ids.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/lists.h"
#include "tools/stress/schema.h"
#include "tools/stress/stock.h"
#include "tools/stress/sums.h"
#include "tools/stress/transfers.h"
#include "tools/stress/worker.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr uint64_t kRowsUsual = 2000;
constexpr int64_t kRoundMicros = 1'500'000;
constexpr uint64_t kStepsBetweenLooks = 8;  // At the clock.

constexpr const char* kCountNames[] = {"writes",          "gets",
                                       "scans",           "mirrors_compared",
                                       "queries",         "snapshots",
                                       "reads_of_past",   "flushes",
                                       "compactions",     "splits",
                                       "region_merges",   "increments",
                                       "echoes",          "observer_changes",
                                       "transfers",       "appends",
                                       "tables_passed",   "claims",
                                       "refused_claims",  "ids",
                                       "checked_writes",  "index_changes",
                                       "family_changes",  "shelf_writes",
                                       "bulk_loads",      "truncations",
                                       "named_snapshots", "table_copies",
                                       "verifications",   "reopens",
                                       "recoveries",      "batches_lost_unkept",
                                       "rows_scanned"};
static_assert(std::size(kCountNames) == static_cast<size_t>(Count::kCounts));

/// Ends a round: the first finding, the time, enough operations, or somebody who interrupts.
class Round {
 public:
  /// `steps` are those of rounds before.
  Round(const Setup& setup, const RunEnvironment& environment, int64_t end_micros, uint64_t steps)
      : setup_(setup),
        environment_(environment),
        end_micros_(end_micros),
        looks_(steps / kStepsBetweenLooks) {}

  void Work(const Stressed& stressed, uint32_t thread, uint64_t seed) {
    Worker worker(stressed, thread, seed);
    for (uint64_t step = 0; !stop_; ++step) {
      if (const Status status = worker.Step(); !status.ok()) return Report(status);
      if (step % kStepsBetweenLooks == 0) Look();
    }
  }
  Status finding() {
    base::MutexLock lock(mutex_);
    return finding_;
  }
  uint64_t steps() const { return looks_ * kStepsBetweenLooks; }

 private:
  void Look() {
    const uint64_t looks = ++looks_;
    const bool is_enough =
        setup_.operations != 0 && looks * kStepsBetweenLooks >= setup_.operations;
    const bool is_late = environment_.clock->MonotonicMicros() >= end_micros_;
    if (is_enough || is_late || environment_.is_interrupted()) stop_ = true;
  }
  void Report(const Status& status) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (finding_.ok()) finding_ = status;
    stop_ = true;
  }

  const Setup& setup_;
  const RunEnvironment& environment_;
  const int64_t end_micros_;
  std::atomic<bool> stop_{false};  // Stored by any worker, loaded by all; guards nothing.
  std::atomic<uint64_t> looks_;    // Of all rounds.
  base::Mutex mutex_;
  Status finding_ GUARDED_BY(mutex_);
};

Status WorkOneRound(const Site& site, Round* round, uint64_t seed) {
  site.stressed().End();
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < site.stressed().workload->thread_count(); ++thread) {
    threads.emplace_back([&site, round, thread, seed] {
      round->Work(site.StressedBy(thread), thread, test::Mix(seed, thread));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return round->finding();
}

Status LookAtEverything(Site* site, uint64_t round, uint64_t choice) {
  RETURN_IF_ERROR(CheckEverything(site->stressed()));
  RETURN_IF_ERROR(CheckSums(site->stressed()));
  RETURN_IF_ERROR(CheckAccounts(site->stressed()));
  RETURN_IF_ERROR(CheckLists(site->stressed()));
  RETURN_IF_ERROR(CheckClaims(site->stressed()));
  RETURN_IF_ERROR(CheckAllStock(site->stressed()));
  if (round % 4 == 3) RETURN_IF_ERROR(CheckDeep(site->stressed()));
  return choice % 3 == 0 ? site->Reopen(choice) : Status();
}

}  // namespace

void Site::Watch(const Setup& setup, const RunEnvironment& environment) {
  watchdog_ = NewHangWatchdog(
      {.limit_micros = setup.hang_limit_micros.value_or(kHangMicrosReal),
       .slots = setup.threads + 1,
       .name_of =
           [](size_t slot) {
             return slot == 0 ? std::string("the main thread") : Format("thread {}", slot - 1);
           },
       .kept = Format("database: {}/db, as the process leaves it\nexpected state: {}/expected\n"
                      "operations: {}/operations\n",
                      directory_, directory_, directory_)},
      environment);
}

Site::~Site() {
  stressed().Begin("letting go of the database");
  database_.reset();
  stressed().End();
}

Stressed Site::StressedBy(uint32_t thread) const {
  Stressed stressed = this->stressed();
  stressed.slot = thread + 1;
  return stressed;
}

Result<std::unique_ptr<Site>> Site::Create(const Setup& setup, const RunEnvironment& environment) {
  RETURN_IF_ERROR(MakeEmptyDirectory(setup.directory));
  auto site = std::make_unique<Site>();
  site->directory_ = setup.directory;
  site->Watch(setup, environment);
  const uint64_t rows = setup.rows != 0 ? setup.rows : kRowsUsual;
  site->workload_ = std::make_unique<Workload>(setup.seed, rows, setup.threads);
  ASSIGN_OR_RETURN(site->expected_, Expected::Create(setup.directory + "/expected",
                                                     {.seed = setup.seed,
                                                      .rows = rows,
                                                      .threads = setup.threads,
                                                      .slots = site->workload_->slot_count()}));
  ASSIGN_OR_RETURN(site->log_, OperationLog::Open(setup.directory + "/operations"));
  Options options;
  options.create_if_missing = true;
  site->stressed().Begin("making the database");
  auto database = Database::Open(setup.directory + "/db", options);
  if (!database.has_value()) return In("making the database", database.error());
  for (const test::TablePlan& table : site->workload_->tables()) {
    RETURN_IF_ERROR((*database)->CreateTable(table.options));
  }
  RETURN_IF_ERROR((*database)->CreateTable(NewSums()));
  RETURN_IF_ERROR((*database)->CreateTable(NewEcho()));
  RETURN_IF_ERROR((*database)->CreateTable(NewBank()));
  RETURN_IF_ERROR((*database)->CreateTable(NewLists()));
  RETURN_IF_ERROR((*database)->CreateTable(NewClaims()));
  RETURN_IF_ERROR((*database)->CreateTable(NewStock()));
  RETURN_IF_ERROR((*database)->CreateSequence(NewIds()));
  RETURN_IF_ERROR((*database)->Write({}, FirstBalances()));
  RETURN_IF_ERROR((*database)->Close());
  site->stressed().End();
  return site;
}

Result<std::unique_ptr<Site>> Site::Open(const Setup& setup, const RunEnvironment& environment) {
  auto site = std::make_unique<Site>();
  site->directory_ = setup.directory;
  site->Watch(setup, environment);
  ASSIGN_OR_RETURN(site->expected_, Expected::Open(setup.directory + "/expected"));
  const Header& header = site->expected_->header();
  if ((setup.rows != 0 && setup.rows != header.rows) || setup.threads != header.threads) {
    return Status::InvalidArgument(Format("{}: the run that is to go on has --rows {} --threads {}",
                                          setup.directory, header.rows, header.threads));
  }
  site->workload_ = std::make_unique<Workload>(header.seed, header.rows, setup.threads);
  if (site->workload_->slot_count() != header.slots) {
    return Status::InvalidArgument(setup.directory +
                                   "/expected: written by another version of this program");
  }
  ASSIGN_OR_RETURN(site->log_, OperationLog::Open(setup.directory + "/operations"));
  return site;
}

Status Site::OpenDatabase(uint64_t choice) {
  constexpr uint64_t kMemories[] = {8 << 20, 16 << 20, 64 << 20};
  Options options;
  options.memory_bytes = kMemories[choice % 3];
  options.io = choice % 2 == 0 ? IoBackend::kPosix : IoBackend::kAuto;
  options.background_threads = 1 + static_cast<uint32_t>(choice / 3 % 3);
  options.observers[kEchoObserver] = NewEchoObserver(expected_.get());
  options.observers[test::kSameObserver] = test::NewSameObserver();
  stressed().Begin("open");
  auto database = Database::Open(directory_ + "/db", options);
  if (!database.has_value()) return In("open", database.error());
  database_ = *std::move(database);
  return {};
}

Status Site::Close() {
  stressed().Begin("close");
  const Status status = In("close", database_->Close());
  if (status.ok()) database_.reset();
  stressed().End();
  return status;
}

Status Site::Reopen(uint64_t choice) {
  {
    stressed().Begin("close with a snapshot");
    const auto snapshot = database_->TakeSnapshot();
    const Status busy = database_->Close();
    if (busy.code() != StatusCode::kBusy) {
      return Mismatch("close with a snapshot", "kBusy", busy.ToString());
    }
  }
  RETURN_IF_ERROR(Close());
  RETURN_IF_ERROR(OpenDatabase(choice));
  auto info = database_->Info();
  if (!info.has_value()) return In("info", info.error());
  if (info->recovered_operations != 0) {
    return Mismatch("open after a clean close", "nothing to recover",
                    Format("{} operations", info->recovered_operations));
  }
  expected_->Add(Count::kReopens);
  // A clean close keeps everything.
  for (uint32_t slot = 0; slot < workload_->slot_count(); ++slot) {
    expected_->slot(slot).kept = expected_->slot(slot).acked.load();
  }
  for (uint32_t thread = 0; thread < workload_->thread_count(); ++thread) {
    expected_->thread(thread).kept = expected_->thread(thread).begun.load();
  }
  KeepSums(stressed());
  RETURN_IF_ERROR(CheckSums(stressed()));
  KeepAccounts(stressed());
  RETURN_IF_ERROR(CheckAccounts(stressed()));
  KeepLists(stressed());
  RETURN_IF_ERROR(CheckLists(stressed()));
  RETURN_IF_ERROR(CheckClaims(stressed()));
  KeepStock(stressed());
  RETURN_IF_ERROR(CheckAllStock(stressed()));
  return CheckEverything(stressed());
}

std::vector<std::pair<std::string, uint64_t>> Site::Counts() {
  std::vector<std::pair<std::string, uint64_t>> counts;
  for (size_t i = 0; i < std::size(kCountNames); ++i) {
    counts.emplace_back(kCountNames[i], expected_->count(static_cast<Count>(i)));
  }
  return counts;
}

std::string Site::FindingText(const Status& finding) const {
  stressed().End();
  std::string copied = directory_ + "/found";
  Status copying = RemoveTree(copied);
  if (copying.ok()) copying = CopyTree(directory_ + "/db", copied);
  if (!copying.ok()) copied = "not copied";
  return Format(
      "{}: {}\ndatabase: {}/db, before it was closed: {}\nexpected state: {}/expected\noperations: "
      "{}/operations\n",
      StatusCodeName(finding.code()), finding.message(), directory_, copied, directory_,
      directory_);
}

Status RunRounds(Site* site, const Setup& setup, const RunEnvironment& environment) {
  const int64_t end = environment.clock->MonotonicMicros() + setup.duration_micros;
  const uint64_t life = ++site->expected().header().lives;
  uint64_t steps = 0;
  for (uint64_t round = 0;; ++round) {
    const int64_t now = environment.clock->MonotonicMicros();
    const uint64_t seed = test::Mix(test::Mix(setup.seed, life), round);
    Round work(setup, environment, std::min(end, now + kRoundMicros), steps);
    RETURN_IF_ERROR(WorkOneRound(*site, &work, seed));
    RETURN_IF_ERROR(LookAtEverything(site, round, seed));
    steps = work.steps();
    const bool is_enough = setup.operations != 0 && steps >= setup.operations;
    if (is_enough || environment.is_interrupted()) return {};
    if (environment.clock->MonotonicMicros() >= end) return {};
  }
}

namespace {

/// From opening to closing, with the whole checked at the end.
Status RunLife(Site* site, const Setup& setup, const RunEnvironment& environment) {
  RETURN_IF_ERROR(site->OpenDatabase(setup.seed));
  if (setup.is_child || setup.keep_going) RETURN_IF_ERROR(Recover(site->stressed()));
  RETURN_IF_ERROR(RunRounds(site, setup, environment));
  RETURN_IF_ERROR(CheckDeep(site->stressed()));
  RETURN_IF_ERROR(site->Reopen(setup.seed + 1));
  return site->Close();
}

}  // namespace

Result<Outcome> RunThreads(const Setup& setup, const RunEnvironment& environment) {
  // A child does not outlive what started it.
  if (setup.is_child) prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool goes_on = setup.is_child || setup.keep_going;
  ASSIGN_OR_RETURN(const std::unique_ptr<Site> site,
                   goes_on ? Site::Open(setup, environment) : Site::Create(setup, environment));
  const Status finding = RunLife(site.get(), setup, environment);
  if (finding.code() == StatusCode::kNoSpace) return finding;
  Outcome outcome;
  if (!finding.ok()) outcome.finding = site->FindingText(finding);
  outcome.interrupted = environment.is_interrupted();
  outcome.counts = site->Counts();
  return outcome;
}

}  // namespace tandem::stress
