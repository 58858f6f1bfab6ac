// How the lives of a session's database begin and end, and how its disk goes bad; see
// session_impl.h.
#include <algorithm>
#include <limits>

#include "base/status_macros.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/same_observer.h"
#include "tools/stress/comparison.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/stress/session_impl.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::CrashPolicy;
using test::DiskFault;
using test::DiskOperation;
using test::Model;
using test::ModelOperation;
using test::ModelRow;
using tools::Format;

constexpr int64_t kSecond = 1'000'000;

DiskOperation OperationOf(const std::string& name) {
  for (int at = 0; at <= static_cast<int>(DiskOperation::kDirectorySync); ++at) {
    const auto operation = static_cast<DiskOperation>(at);
    std::string known(test::DiskOperationName(operation));
    std::ranges::replace(known, ' ', '-');
    if (known == name) return operation;
  }
  return DiskOperation::kRead;
}

}  // namespace

void Session::LetGo() {
  snapshots_.clear();
  engine_.reset();
  executor_.reset();
}

Status Session::Start() {
  RETURN_IF_ERROR(Open());
  for (const test::TablePlan& plan : tables_) {
    RETURN_IF_ERROR(In("create " + plan.options.name, engine_->CreateTable(plan.options)));
    model_.CreateTable(plan.options);
    places_[plan.options.name] = {};
  }
  logged_ = std::make_unique<Journal>(std::vector<std::string>{kNorth, kSouth}, model_);
  loose_ = std::make_unique<Journal>(std::vector<std::string>{kLoose}, model_);
  return LearnTime();
}

Status Session::Open() {
  executor_ = std::make_unique<test::InlineExecutor>(clock_);
  Options options;
  options.create_if_missing = true;
  options.observers[test::kSameObserver] = test::NewSameObserver();
  base::FileSystem* const files =
      simulated_ != nullptr ? static_cast<base::FileSystem*>(simulated_.get()) : real_.get();
  auto engine = engine::Engine::Open(path_, options, test::RandomTuning(script_.seed),
                                     {.file_system = files,
                                      .clock = &clock_,
                                      .random = random_.get(),
                                      .executor = executor_.get()});
  if (!engine.has_value()) return In("open", engine.error());
  engine_ = *std::move(engine);
  return {};
}

/// One put shows which time the database uses: it may be ahead of the clock, never behind.
Status Session::LearnTime() {
  Step step;
  step.operations.push_back({ModelOperation::Kind::kPut,
                             LoggedTable(),
                             "a row for the time",
                             "d",
                             {{"note", "x"}},
                             std::nullopt});
  WriteBatch batch;
  InDatabase(step.operations)[0].AddTo(&batch);
  RETURN_IF_ERROR(In("write after opening", engine_->Write({}, batch)));
  const auto row = engine_->Get({}, NameOf(LoggedTable()), step.operations[0].row);
  if (!row.has_value()) return In("get after opening", row.error());
  const bool there = row->has_value() && (*row)->cells().size() == 1;
  const int64_t assigned = there ? (*row)->cells()[0].timestamp : 0;
  if (assigned < now() || assigned <= last_timestamp_) {
    return Mismatch("the time that a put was given after opening",
                    Format("more than {} and {}", now(), last_timestamp_),
                    there ? std::to_string(assigned) : "no row");
  }
  clock_.Advance(std::max<int64_t>(0, assigned - clock_.WallMicros()));
  last_timestamp_ = assigned - 1;
  now();
  return Acknowledge(step);
}

Status Session::Reopen() {
  if (!snapshots_.empty() && !is_failing()) {
    const Status busy = engine_->Close();
    if (busy.code() != StatusCode::kBusy) {
      return Mismatch("close with snapshots", "kBusy", busy.ToString());
    }
  }
  snapshots_.clear();
  if (const Status closed = engine_->Close(); !closed.ok()) {
    if (!IsAllowed(closed)) return In("close", closed);
    return OpenAgain(true, 0);
  }
  logged_->DropOpen();
  loose_->DropOpen();
  logged_->MarkDurable();
  loose_->MarkDurable();
  if (simulated_ != nullptr) {
    power_fails_ = faulty_ = space_short_ = false;
    simulated_->control().ClearFaults();
    simulated_->control().SetSpaceBudget(std::nullopt);
    simulated_->Crash({.kept = CrashPolicy::Kept::kNone});  // Nothing is left to lose.
  }
  LetGo();
  RETURN_IF_ERROR(Open());
  const DatabaseInfo info = engine_->Info();
  if (info.recovered_operations != 0 || info.torn_bytes != 0) {
    return Mismatch(
        "open after a clean close", "nothing to recover",
        Format("{} operations, {} torn bytes", info.recovered_operations, info.torn_bytes));
  }
  RETURN_IF_ERROR(LearnTime());
  return CheckAll();
}

Status Session::CheckAll() {
  const Moment moment{engine_.get(), &model_};
  for (const test::TablePlan& plan : tables_) {
    const std::string& table = plan.options.name;
    if (exists(table)) RETURN_IF_ERROR(CompareTable(moment, {plan, NameOf(table)}, false));
  }
  return CheckSchema(false);
}

Status Session::Crash(const Step& step) {
  if (simulated_ == nullptr) return {};
  const bool killed = step.kind == Step::Kind::kKill;
  // Behind a power that failed there is nothing left to kill.
  if (killed && (engine_ == nullptr || power_fails_)) return {};
  if (!killed) {
    const CrashPolicy::Kept kept = step.name == "none"  ? CrashPolicy::Kept::kNone
                                   : step.name == "all" ? CrashPolicy::Kept::kAll
                                                        : CrashPolicy::Kept::kRandom;
    simulated_->Crash({.kept = kept, .seed = step.number, .torn = step.how == "torn"});
    ++result_.counts.crashes;
  }
  return OpenAgain(killed, step.again);
}

/// Opens after the end of a process. What the engine of the ended one still does while it is let go
/// reaches no file.
Status Session::OpenAgain(bool killed, uint64_t power_off_at) {
  auto& control = simulated_->control();
  result_.counts.kills += killed ? 1 : 0;
  if (killed) simulated_->KillProcess();
  LetGo();
  control.ClearFaults();
  control.SetSpaceBudget(std::nullopt);
  control.PowerOn();
  power_fails_ = faulty_ = space_short_ = false;
  clock_.SetWall(std::max(now(), last_timestamp_ + 1) + 1000);
  if (power_off_at != 0) control.PowerOffAt(power_off_at);
  const Status opened = Open();
  control.PowerOn();
  if (!opened.ok()) {
    if (power_off_at == 0 || opened.code() == StatusCode::kCorruption) return opened;
    ++result_.counts.recoveries_cut;
    return {};
  }
  return Recover(killed);
}

Status Session::Recover(bool killed) {
  std::vector<std::vector<ModelRow>> content;
  ReadOptions read;
  read.versions = std::numeric_limits<uint32_t>::max();
  RETURN_IF_ERROR(CheckSchema(true));
  for (const test::TablePlan& plan : tables_) {
    if (!exists(plan.options.name)) {
      content.emplace_back();
      continue;
    }
    auto rows = ReadAll(engine_->Scan(read, NameOf(plan.options.name), {}));
    if (!rows.has_value()) return In("scan after recovery", rows.error());
    content.push_back(*std::move(rows));
  }
  ASSIGN_OR_RETURN(const Model logged, logged_->Recover({content[0], content[1]}, killed));
  ASSIGN_OR_RETURN(const Model loose, loose_->Recover({content[2]}, false));
  model_.TakeTable(kNorth, logged);
  model_.TakeTable(kSouth, logged);
  model_.TakeTable(kLoose, loose);
  for (const test::TablePlan& plan : tables_) model_.TakeSchema(plan.options);
  RETURN_IF_ERROR(LearnTime());
  RETURN_IF_ERROR(Verify());
  return CheckAll();
}

void Session::Inject(const Step& step) {
  if (simulated_ == nullptr) return;
  auto& control = simulated_->control();
  if (step.kind == Step::Kind::kPowerOffAt) {
    power_fails_ = true;
    return control.PowerOffAt(std::max<uint64_t>(1, step.number));
  }
  if (step.kind == Step::Kind::kSpace) {
    space_short_ = true;
    ++result_.counts.full_disks;
    return control.SetSpaceBudget(simulated_->used_bytes() + step.number);
  }
  DiskFault fault;
  if (step.name != "any") fault.operations = {OperationOf(step.name)};
  fault.at = std::max<uint64_t>(1, step.number);
  fault.sticky = step.how == "sticky";
  fault.partly = step.how == "partly";
  if (step.error == "space") fault.status = Status::NoSpace("injected: the disk is full");
  faulty_ = true;
  control.InjectFault(std::move(fault));
}

/// A fault that struck may have turned the database read-only: it is reopened, as after the end
/// of the process. Where only space was short it has to go on by itself.
Status Session::Heal() {
  if (simulated_ == nullptr || power_fails_) return {};
  auto& control = simulated_->control();
  const bool struck = control.has_struck();
  result_.counts.faults_struck += struck ? 1 : 0;
  control.ClearFaults();
  control.SetSpaceBudget(std::nullopt);
  if (faulty_ && struck) return OpenAgain(true, 0);
  const bool was_short = space_short_;
  faulty_ = space_short_ = false;
  return was_short ? Resume() : CheckAll();
}

Status Session::Resume() {
  Step step;
  step.durability = Durability::kSynced;
  step.operations.push_back({ModelOperation::Kind::kPut,
                             LoggedTable(),
                             "a row after a full disk",
                             "d",
                             {{"note", "x"}},
                             last_timestamp_ + 1});
  WriteBatch batch;
  InDatabase(step.operations)[0].AddTo(&batch);
  Status status;
  for (int attempt = 0; attempt < 10; ++attempt) {
    executor_->Drain();
    status = engine_->Write({.durability = Durability::kSynced}, batch);
    if (status.ok()) break;
    clock_.Advance(kSecond);
  }
  if (!status.ok()) {
    return Mismatch("a synced write after space has returned, tried for 10 s", "OK",
                    status.ToString());
  }
  ++result_.counts.resumed;
  RETURN_IF_ERROR(Acknowledge(step));
  RETURN_IF_ERROR(CheckAll());
  RETURN_IF_ERROR(In("flush after space has returned", engine_->Flush({})));
  return CheckAll();
}

}  // namespace tandem::stress
