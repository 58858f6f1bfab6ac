// See world.h. Each call has its begin and its end at moments of its own, so that calls of one
// thread are in their order.
#include "test/interleave/world.h"

#include <tandem/event_listener.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/status_macros.h"
#include "engine/transaction_state.h"
#include "test/interleave/world_impl.h"
#include "tools/simulation/simulated_handles.h"

namespace tandem::test {
namespace {

// Randomness without a mutex: its callers take turns.
class PlainRandom final : public base::RandomSource {
 public:
  explicit PlainRandom(uint64_t seed) : state_(seed) {}
  void Fill(std::span<char> bytes) override {
    for (char& byte : bytes) {
      state_ = state_ * 6364136223846793005 + 1442695040888963407;
      byte = static_cast<char>(state_ >> 56);
    }
  }

 private:
  uint64_t state_;
};

TableOptions TableNamed(const std::string& name, const WorldPlan& plan) {
  TableOptions options;
  options.name = name;
  options.families.push_back({.name = "d", .max_versions = plan.unique || plan.global ? 2u : 1u});
  if (!plan.no_index) options.indexes.push_back(IndexByC());
  if (!plan.no_index) options.indexes.back().unique = plan.unique;
  if (plan.global) options.indexes.back().placement = IndexPlacement::kGlobal;
  if (plan.observers == WorldPlan::Observers::kSet) options.observers = {"counter"};
  if (plan.two_regions) options.split_keys = {"m"};
  if (plan.two_families) options.families.push_back({.name = "e"});
  return options;
}

constexpr size_t kCacheShards = 16;  // Of the block cache.

}  // namespace

void ScheduledExecutor::ScheduleAfter(int64_t delay_micros, std::shared_ptr<base::Job> job) {
  if (!queue_.Add(clock_.MonotonicMicros(), delay_micros, job)) return;
  constexpr std::array kNames = {"low job ", "middle job ", "high job "};  // By priority.
  const std::string name =
      kNames[static_cast<size_t>(job->priority())] + std::to_string(++job_count_);
  jobs_.push_back(scheduler_.Spawn(name, [this, job = std::move(job)] {
    if (queue_.TakeDue(*job)) job->Run();
  }));
}

void ScheduledExecutor::Drain() {
  while (!jobs_.empty()) scheduler_.Join(std::exchange(jobs_, {}));
}

bool ScheduledExecutor::RunUrgent() {
  const std::shared_ptr<base::Job> job = queue_.Take(Priority::kHigh);
  if (job == nullptr) return false;
  job->Run();
  return true;
}

bool ScheduledExecutor::PassTime() {
  const std::optional<int64_t> due = queue_.next_due_micros();
  if (!due.has_value()) return false;
  clock_.Advance(std::max<int64_t>(0, *due - clock_.MonotonicMicros()));
  jobs_.push_back(
      scheduler_.SpawnWhenIdle("delayed job", [job = queue_.TakeDelayed()] { job->Run(); }));
  return true;
}

World::World(const WorldPlan& plan, Scheduler* scheduler)
    : plan_(plan),
      scheduler_(*scheduler),
      disk_(plan.seed),
      clock_(kNow),
      random_(std::make_unique<PlainRandom>(plan.seed)),
      executor_(scheduler, &clock_) {
  scheduler_.Quiet(&disk_.control(), sizeof(SimulatedState));
  scheduler_.QuietArraysOf(kCacheShards);
  scheduler_.SetWhenIdle([this] { return executor_.PassTime(); });
  disk_.control().SetHook([this](const DiskEvent& event) {
    scheduler_.Note(HashOf(Describe(event)));
    scheduler_.Yield(Point::kDisk);
  });
  Open();
  for (const std::string table : {"t", "u"}) {
    if (table == "u" && !plan_.two_tables) break;
    Expect(engine_->CreateTable(TableNamed(table, plan_)), "create table " + table);
    start_.model.CreateTable(TableNamed(table, plan_));
    start_.tables.insert(table);
  }
  start_.has_index = !plan_.no_index;
  start_.is_observed = plan_.observers == WorldPlan::Observers::kSet;
}

// Calls what a plan has within the first merge.
class World::MergeListener final : public EventListener {
 public:
  explicit MergeListener(World* world) : world_(*world) {}
  void OnCompactionBegin(const CompactionEvent&) override {
    if (!world_.recording_ || std::exchange(has_begun_, true)) return;
    world_.plan_.within_merge(world_);
  }

 private:
  World& world_;
  bool has_begun_ = false;
};

World::~World() {
  held_.clear();
  engine_.reset();
  executor_.Drop();
  executor_.Drain();
  disk_.control().SetHook(nullptr);
  scheduler_.SetWhenIdle(nullptr);  // It is asked once more, after the last thread has ended.
}

void World::Open() {
  scheduler_.ForgetArrays();  // Of the database before this one.
  Options options;
  options.create_if_missing = true;
  if (plan_.observers != WorldPlan::Observers::kNone) {
    options.observers["counter"] = NewCounter();
  }
  if (plan_.within_merge) options.listener = std::make_shared<MergeListener>(this);
  auto opened = engine::Engine::Open(
      "db", options, plan_.tuning,
      {.file_system = &disk_, .clock = &clock_, .random = random_.get(), .executor = &executor_});
  Expect(opened.status(), "open");
  if (opened.has_value()) engine_ = std::move(*opened);
}

void World::InjectFault() {
  const uint32_t at = plan_.failing_syncs == 0 ? 0 : scheduler_.Pick(plan_.failing_syncs + 1);
  if (at == 0) return;
  disk_.control().InjectFault({.operations = {DiskOperation::kDataSync}, .at = at});
}

bool World::IsExcused(const Status& status) {
  return plan_.failing_syncs > 0 && disk_.control().has_struck() &&
         (status.code() == StatusCode::kIoError || status.code() == StatusCode::kReadOnly);
}

// What was acknowledged as synced is there afterwards, whatever failed.
void World::EndWithPowerCut() {
  executor_.Drain();
  disk_.control().ClearFaults();
  disk_.Crash({.kept = CrashPolicy::Kept::kNone});
  engine_.reset();
  executor_.Drop();
  executor_.Drain();
  Open();
}

void World::Run(const std::vector<Thread>& threads) {
  recording_ = true;
  InjectFault();
  std::vector<ThreadId> ids;
  scheduler_.SetExploring(false);
  for (size_t i = 0; i < threads.size(); ++i) {
    ids.push_back(scheduler_.Spawn("caller " + std::to_string(i), [&threads, i] {
      for (const auto& operation : threads[i]) operation();
    }));
  }
  scheduler_.SetExploring(true);
  scheduler_.Join(ids);
  scheduler_.SetExploring(false);
}

void CausesMet::Add(const Statistics& met) {
  caught_up += met.caught_up_writes;
  reread += met.reread_writes;
  replanned += met.replanned_writes;
  in_group += met.conflicts.in_group;
  in_memstore += met.conflicts.in_memstore;
  in_files += met.conflicts.in_files;
  in_range += met.conflicts.in_range;
}

void World::AddTo(CausesMet* causes) const {
  if (engine_ != nullptr) causes->Add(engine_->GetStatistics());
}

std::string World::Finish() {
  if (!closes_.empty()) {  // The scenario closed it, or tried.
    engine_.reset();
    executor_.Drain();
    history_.Add({.text = "the end of the database",
                  .begin = NextMoment(),
                  .end = NextMoment(),
                  .apply = [](ModelState* state) {
                    state->closed = false;
                    return true;
                  }});
    Open();
  }
  held_.clear();
  executor_.Drain();
  if (plan_.failing_syncs > 0 || plan_.power_cut) EndWithPowerCut();
  if (engine_ == nullptr) return problems_;  // It does not open.
  CheckAll();
  Expect(engine_->Close(), "close");
  engine_.reset();
  Open();
  if (engine_ == nullptr) return problems_;
  if (has_ids_ && !ids_may_go_) TakeIds(1);
  Scan();
  ReadNamedSnapshots();
  const std::string order = history_.Check(start_);
  if (!order.empty()) Problem(order);
  return problems_;
}

void World::CheckAll() {
  if (has_ids_ && !ids_may_go_) TakeIds(1);
  Scan();
  if (!copied_.empty()) Get("u/" + copied_[0].key);  // What was restored.
  ReadNamedSnapshots();
  CheckFiles();
  const auto report = engine_->Verify(true);
  Expect(report.status(), "verify");
  if (report.has_value()) {
    for (const Finding& finding : report->findings) Problem("verify found: " + finding.text);
  }
}

void World::Problem(const std::string& what) {
  if (!problems_.empty()) problems_ += "\n  ";
  problems_ += what;
}

void World::Expect(const Status& status, const std::string& context) {
  if (!status.ok()) Problem(context + ": " + status.ToString());
}

std::vector<ModelRow> World::Collect(Result<Cursor> cursor, const std::string& context) {
  std::vector<ModelRow> rows;
  while (cursor->Next()) rows.emplace_back(cursor->row());
  Expect(cursor->status(), context);
  return WithoutTimes(std::move(rows));
}

void World::Write(const Rows& rows, Durability durability) {
  WriteBatch batch;
  std::vector<ModelOperation> operations;
  for (const auto& row : rows) {
    operations.push_back(OperationOf(row));
    operations.back().AddTo(&batch);
  }
  Call call(this, "write" + TextOf(rows));
  const Status status = engine_->Write({.durability = durability}, batch);
  call.End();
  const auto has_tables = [operations](const ModelState& state) {
    return std::all_of(operations.begin(), operations.end(), [&state](const auto& operation) {
      return state.tables.contains(operation.table);
    });
  };
  if (status.code() == StatusCode::kNotFound) {
    return call.Record("no such table",
                       [has_tables](ModelState* state) { return !has_tables(*state); });
  }
  const auto apply = [has_tables, operations](ModelState* state) {
    if (!has_tables(*state)) return false;
    ++state->last_timestamp;
    for (const ModelOperation& operation : operations) {
      state->model.Apply(operation, state->last_timestamp, kNow);
    }
    return !state->model.Duplicates("t", kNow).has_value();
  };
  if (status.code() == StatusCode::kAlreadyExists) return call.RecordRefusal(apply);
  if (!recording_) {
    Expect(status, call.text());
    apply(&start_);
  }
  call.RecordStatus(status, apply);
  if (recording_ && status.ok() && MayBeLost(durability)) history_.LetLastBeLeftOut();
}

void World::Increment(const std::string& row, Durability durability) {
  Call call(this, "increment " + row);
  const ColumnDelta delta{.qualifier = "n", .delta = 1};
  const auto sums =
      engine_->IncrementColumns({.durability = durability}, "t", row, "d", {&delta, 1});
  call.End();
  if (!sums.has_value()) return call.RecordStatus(sums.status(), nullptr);
  const int64_t sum = sums->front();
  const auto apply = [row, sum](ModelState* state) {
    const auto before = state->model.Value("t", row, {.family = "d", .qualifier = "n"}, kNow);
    if (state->closed || (before.has_value() ? std::stoll(*before) : 0) + 1 != sum) return false;
    const ModelOperation put{.table = "t",
                             .row = row,
                             .family = "d",
                             .columns = {{"n", std::to_string(sum)}},
                             .timestamp = {}};
    state->model.Apply(put, ++state->last_timestamp, kNow);
    return true;
  };
  if (!recording_) apply(&start_);
  call.Record(std::to_string(sum), apply);
  if (recording_ && MayBeLost(durability)) history_.LetLastBeLeftOut();
}

void World::Append(const std::string& row, const std::string& token, Durability durability) {
  Call call(this, "append " + token + " to " + row);
  const ColumnValue column{.qualifier = "l", .value = token};
  const auto values =
      engine_->AppendColumns({.durability = durability}, "t", row, "d", {&column, 1});
  call.End();
  if (!values.has_value()) return call.RecordStatus(values.status(), nullptr);
  const auto apply = [row, token, value = values->front()](ModelState* state) {
    const auto before = state->model.Value("t", row, {.family = "d", .qualifier = "l"}, kNow);
    if (state->closed || before.value_or("") + token != value) return false;
    const ModelOperation put{
        .table = "t", .row = row, .family = "d", .columns = {{"l", value}}, .timestamp = {}};
    state->model.Apply(put, ++state->last_timestamp, kNow);
    return true;
  };
  if (!recording_) apply(&start_);
  call.Record(values->front(), apply);
  if (recording_ && MayBeLost(durability)) history_.LetLastBeLeftOut();
}

void World::DeleteCell(const std::string& row) {
  WriteBatch batch;
  const ModelOperation operation{.kind = ModelOperation::Kind::kDeleteCell,
                                 .table = "t",
                                 .row = row,
                                 .family = "d",
                                 .columns = {{"c", ""}},
                                 .timestamp = {}};
  operation.AddTo(&batch);
  Call call(this, "delete a version of " + row);
  const Status status = engine_->Write({}, batch);
  const auto apply = [operation](ModelState* state) {
    state->model.Apply(operation, ++state->last_timestamp, kNow);
    return !state->model.Duplicates("t", kNow).has_value();
  };
  if (status.code() == StatusCode::kAlreadyExists) return call.RecordRefusal(apply);
  call.RecordStatus(status, apply);
}

void World::CheckAndPut(const std::string& row, const std::string& expected,
                        const std::string& value) {
  const ModelOperation put = OperationOf({row, value});
  WriteBatch batch;
  put.AddTo(&batch);
  const Predicate condition =
      expected.empty() ? Predicate::IsNull("c") : Predicate::Equal("c", expected);
  Call call(this, "put " + row + "=" + value + " if it is " + expected);
  const auto applied = engine_->CheckAndMutate({}, "t", row, condition, batch);
  call.End();
  if (!applied.has_value()) return call.RecordStatus(applied.status(), nullptr);
  call.Record(*applied ? "put" : "not put", [=, done = *applied](ModelState* state) {
    const auto before = state->model.Value("t", row, {.family = "d", .qualifier = "c"}, kNow);
    const bool holds = expected.empty() ? !before.has_value() : before == expected;
    if (state->closed || holds != done) return false;
    if (done) state->model.Apply(put, ++state->last_timestamp, kNow);
    return true;
  });
}

void World::CopyInTransaction(const std::string& from, const std::string& to,
                              Durability durability) {
  Call call(this, "copy " + from + " to " + to);
  std::map<std::string, std::string> seen;
  ModelOperation put;
  const auto run = [&]() -> Status {
    ASSIGN_OR_RETURN(Transaction transaction, engine::TransactionState::Begin(engine_.get()));
    for (const std::string& row : {from, to}) {
      ASSIGN_OR_RETURN(const std::optional<Row> found, transaction.Get({}, "t", row));
      seen[row] = found.has_value() ? std::string(found->Find("d", "c").value_or("")) : "";
    }
    put = OperationOf({to, seen[from] + "+"});
    RETURN_IF_ERROR(transaction.Put("t", to, "d", "c", seen[from] + "+"));
    return transaction.Commit({.durability = durability});
  };
  const Status status = run();
  call.End();
  if (status.code() == StatusCode::kConflict) {
    return call.Record("conflict", [](ModelState* state) { return !state->closed; });
  }
  const auto apply = [seen, put](ModelState* state) {
    for (const auto& [row, value] : seen) {
      const auto before = state->model.Value("t", row, {.family = "d", .qualifier = "c"}, kNow);
      if (before.value_or("") != value) return false;
    }
    if (state->closed) return false;
    state->model.Apply(put, ++state->last_timestamp, kNow);
    return true;
  };
  if (!status.ok()) return call.RecordStatus(status, nullptr);
  if (!recording_) apply(&start_);
  call.Record(seen[from] + "+", apply);
  if (recording_ && MayBeLost(durability)) history_.LetLastBeLeftOut();
}

void World::PutIfFewInTransaction(const std::string& row, uint64_t few, Durability durability) {
  Call call(this, "put " + row + " if few");
  const Predicate hits = Predicate::Equal("c", "1");
  const ModelOperation put = OperationOf({row, "1"});
  uint64_t seen = 0;
  const auto run = [&]() -> Status {
    ASSIGN_OR_RETURN(Transaction transaction,
                     engine::TransactionState::Begin(engine_.get(), {.validate_ranges = true}));
    ASSIGN_OR_RETURN(seen, transaction.Count({}, "t", hits, {.use_index = "by_c"}));
    if (seen < few) RETURN_IF_ERROR(transaction.Put("t", row, "d", "c", "1"));
    return transaction.Commit({.durability = durability});
  };
  const Status status = run();
  call.End();
  if (status.code() == StatusCode::kConflict) {
    return call.Record("conflict", [](ModelState* state) { return !state->closed; });
  }
  const auto apply = [seen, few, put, hits](ModelState* state) {
    if (state->closed || state->model.Count("t", hits, kNow) != seen) return false;
    if (seen < few) state->model.Apply(put, ++state->last_timestamp, kNow);
    return true;
  };
  if (!status.ok()) return call.RecordStatus(status, nullptr);
  if (!recording_) apply(&start_);
  call.Record(std::to_string(seen), apply);
  if (recording_ && seen < few && MayBeLost(durability)) history_.LetLastBeLeftOut();
}

void World::Get(const std::string& row) {
  Call call(this, "get " + row);
  const ModelOperation place = OperationOf({row, ""});
  const auto found = engine_->Get({}, place.table, place.row);
  call.End();
  if (found.status().code() == StatusCode::kNotFound) {
    return call.Record("no such table", [place](ModelState* state) {
      return !state->closed && !state->tables.contains(place.table);
    });
  }
  if (!found.has_value()) return call.RecordStatus(found.status(), nullptr);
  std::optional<ModelRow> told;
  if (found->has_value()) told = WithoutTimes(ModelRow((*found)->view()));
  const std::string answer =
      told.has_value() ? Describe(std::vector<ModelRow>{*told}) : std::string("nothing");
  call.Record(answer, [place, told](ModelState* state) {
    if (!state->tables.contains(place.table)) return false;
    std::optional<ModelRow> expected =
        state->model.Get(place.table, place.row, {.now_micros = kNow, .columns = {}});
    if (expected.has_value()) expected = WithoutTimes(*std::move(expected));
    return !state->closed && expected == told;
  });
}

void World::LookFor(const std::string& table) {
  Call call(this, "look for " + table);
  const auto found = engine_->Get({}, table, "a");
  call.End();
  const bool is_there = found.status().code() != StatusCode::kNotFound;
  if (is_there && !found.has_value()) return call.RecordStatus(found.status(), nullptr);
  call.Record(is_there ? "there" : "no such table", [table, is_there](ModelState* state) {
    return !state->closed && is_there == state->tables.contains(table);
  });
}

void World::Scan(uint32_t threads) {
  Call call(this, threads == 1 ? "scan" : "scan on " + std::to_string(threads) + " threads");
  ReadOptions read;
  read.threads = threads;
  auto cursor = engine_->Scan(read, "t", {});
  call.End();
  if (!cursor.has_value()) return call.RecordStatus(cursor.status(), nullptr);
  const std::vector<ModelRow> rows = Collect(std::move(cursor), call.text());
  call.Record(Describe(rows), [rows](ModelState* state) {
    return !state->closed && rows == Expected(*state, std::nullopt);
  });
}

void World::ScanMerged(uint32_t threads) {
  Call call(this, "merged scan on " + std::to_string(threads) + " threads");
  ReadOptions read;
  read.threads = threads;
  ScanOptions scan;
  scan.ranges = {{"a", "b", 1}, {"b", "c", 1}};
  auto cursor = engine_->Scan(read, "t", scan);
  call.End();
  if (!cursor.has_value()) return call.RecordStatus(cursor.status(), nullptr);
  std::vector<ModelRow> rows = Collect(std::move(cursor), call.text());
  const auto rest = [](const ModelRow& row) { return row.key.substr(1); };
  if (!std::ranges::is_sorted(rows, {}, rest)) Problem(call.text() + ": out of order");
  std::ranges::sort(rows, {}, &ModelRow::key);
  call.Record(Describe(rows), [rows](ModelState* state) {
    return !state->closed && rows == Expected(*state, std::nullopt);
  });
}

void World::Query(const std::string& value) {
  Call call(this, "query c=" + value);
  const Predicate predicate = Predicate::Equal("c", value);
  auto cursor = engine_->Query({}, "t", predicate, {.use_index = "by_c"});
  // A load may have begun to build it anew.
  const bool is_refused = cursor.status().code() == StatusCode::kInvalidArgument;
  if (plan_.global && is_refused) cursor = engine_->Query({}, "t", predicate, {});
  call.End();
  if (cursor.status().code() == StatusCode::kNotFound) {
    return call.Record("no such index",
                       [](ModelState* state) { return !state->closed && !state->has_index; });
  }
  if (!cursor.has_value()) return call.RecordStatus(cursor.status(), nullptr);
  const std::vector<ModelRow> rows = Collect(std::move(cursor), call.text());
  call.Record(Describe(rows), [rows, value](ModelState* state) {
    return !state->closed && state->has_index && rows == Expected(*state, value);
  });
}

void World::Count(const std::string& value) {
  Call call(this, "count c=" + value);
  const auto count = engine_->Count({}, "t", Predicate::Equal("c", value), {.use_index = "by_c"});
  call.End();
  if (count.status().code() == StatusCode::kNotFound) {
    return call.Record("no such index",
                       [](ModelState* state) { return !state->closed && !state->has_index; });
  }
  if (!count.has_value()) return call.RecordStatus(count.status(), nullptr);
  call.Record(std::to_string(*count), [count = *count, value](ModelState* state) {
    return !state->closed && count == Expected(*state, value)->size();
  });
}

// One operation of the history at the moment when the snapshot is taken: all that is read at it
// later must be what the model holds then.
void World::TakeSnapshot() {
  Call call(this, "take a snapshot");
  auto snapshot = engine_->TakeSnapshot();
  call.End();
  if (!snapshot.has_value()) return call.RecordStatus(snapshot.status(), nullptr);
  Held held{std::move(*snapshot), std::make_shared<std::vector<Seen>>()};
  call.Record("taken", [seen = held.seen](ModelState* state) {
    return !state->closed && std::all_of(seen->begin(), seen->end(), [state](const Seen& read) {
      return read.rows == Expected(*state, read.value, read.table);
    });
  });
  held_[scheduler_.running()] = std::move(held);
}

void World::ReadSnapshot(const std::string& value) {
  const auto found = held_.find(scheduler_.running());
  if (found == held_.end()) return;  // The database was closed before.
  ReadOptions read;
  read.snapshot = &*found->second.snapshot;
  for (const std::string table : {"t", "u"}) {
    if (table == "u" && !plan_.two_tables) break;
    for (const auto& asked : {std::optional<std::string>(), std::optional<std::string>(value)}) {
      Call call(this, (asked.has_value() ? "query " : "scan ") + table + " at the snapshot");
      auto cursor = asked.has_value() ? engine_->Query(read, table, Predicate::Equal("c", *asked),
                                                       {.use_index = "by_c"})
                                      : engine_->Scan(read, table, {});
      if (cursor.status().code() == StatusCode::kNotFound) {
        found->second.seen->push_back({table, asked, std::nullopt});
        call.Record("no such table", [](ModelState*) { return true; });
        continue;
      }
      if (!cursor.has_value()) {
        call.RecordStatus(cursor.status(), nullptr);
        continue;
      }
      const std::vector<ModelRow> rows = Collect(std::move(cursor), call.text());
      found->second.seen->push_back({table, asked, rows});
      call.Record(Describe(rows), [](ModelState*) { return true; });
    }
  }
}

void World::ReleaseSnapshot() { held_.erase(scheduler_.running()); }

void World::Flush(const std::string& table) {
  Call call(this, "flush " + table);
  const Status status = engine_->Flush(table);
  call.RecordStatus(status, [](ModelState*) { return true; });
}

void World::Compact() {
  Call call(this, "compact");
  const Status status = engine_->Compact("t");
  call.RecordStatus(status, [](ModelState*) { return true; });
}

void World::Split(const std::string& row) {
  Call call(this, "split at " + row);
  const Status status = engine_->Split("t", {.key = row}).status();
  call.RecordStatus(status, [](ModelState*) { return true; });
}

void World::MergeRegions() {
  Call call(this, "merge regions");
  const Status status = engine_->MergeRegions("t", {}).status();
  call.RecordStatus(status, [](ModelState*) { return true; });
}

void World::CreateTable(const std::string& name) {
  Call call(this, "create table " + name);
  const Status status = engine_->CreateTable(TableNamed(name, plan_));
  call.RecordStatus(status, [name, options = TableNamed(name, plan_)](ModelState* state) {
    state->model.CreateTable(options);
    return state->tables.insert(name).second;
  });
}

void World::DropTable(const std::string& name) {
  Call call(this, "drop table " + name);
  const Status status = engine_->DropTable(name);
  call.RecordStatus(status, [name](ModelState* state) {
    state->model.Truncate(name);
    return state->tables.erase(name) == 1;
  });
}

void World::RenameTable(const std::string& from, const std::string& to) {
  Call call(this, "rename table " + from + " to " + to);
  const Status status = engine_->RenameTable(from, to);
  call.RecordStatus(status, [from, to](ModelState* state) {
    state->model.Rename(from, to);
    state->tables.insert(to);
    return state->tables.erase(from) == 1;
  });
}

void World::Truncate() {
  Call call(this, "truncate");
  const Status status = engine_->TruncateTable("t");
  call.RecordStatus(status, [](ModelState* state) {
    state->model.Truncate("t");
    ++state->truncations;
    return true;
  });
}

void World::DropFamily() {
  Call call(this, "drop the family 'e'");
  const Status status = engine_->DropFamily("t", "e");
  call.RecordStatus(status, [](ModelState* state) {
    state->model.EmptyFamily("t", "e");
    return true;
  });
}

void World::Close() {
  Call call(this, "close");
  const size_t at = closes_.size();
  closes_.emplace_back(call.begin(), ~uint64_t{0});
  const Status status = engine_->Close();
  call.End();
  closes_[at].second = NextMoment();
  if (status.code() == StatusCode::kBusy) {
    return call.Record("busy", [](ModelState* state) { return !state->closed; });
  }
  call.RecordStatus(status, [](ModelState* state) { return state->closed = true; });
}

}  // namespace tandem::test
