// See session.h.
//
// States of a session: up (a database is open), failing (up, and errors are allowed: a fault was
// injected, the power is about to fail or space is short), down (a recovery failed because the
// power failed in it; nothing but crash and kill does anything). Step by step:
// 1. A step runs; its Status is OK, a Mismatch, or an error of the database.
// 2. An error is a finding unless the session is failing and the code is one that a bad disk gives.
// 3. What a failed write left open stands in the journal until a recovery tells, or until a later
//    write succeeds, which says that it left nothing.
#include "tools/stress/session.h"

#include <algorithm>
#include <limits>

#include "base/status_macros.h"
#include "tools/stress/comparison.h"
#include "tools/stress/finding.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/schema.h"
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

constexpr size_t kSnapshotsMax = 3;
constexpr int64_t kSecond = 1'000'000;

/// Sizes that make files, segments and compactions many.
engine::Tuning TuningOf(uint64_t seed) {
  engine::Tuning tuning;
  tuning.memstore_bytes = 8192 << (seed % 4);
  tuning.memstores_total_bytes = 64 * tuning.memstore_bytes;
  tuning.block_cache_bytes = (seed / 4) % 2 == 0 ? 64 << 10 : 4 << 20;
  tuning.log_segment_bytes = 32 << 10;
  tuning.section_alignment = 64;
  tuning.compaction_runs = 4 + static_cast<uint32_t>((seed / 8) % 4);
  return tuning;
}

class Session {
 public:
  Session(const Script& script, const SessionPlace& place);
  ~Session() { LetGo(); }

  Result<SessionResult> Run();

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
    Model model;
  };

  Status RunStep(const Step& step);
  bool IsAllowed(const Status& status) const;
  bool is_failing() const { return power_fails_ || faulty_ || space_short_; }

  // Work.
  Status Write(const Step& step, bool expected);
  Status Acknowledge(const Step& step);
  bool Refuses(const ModelOperation& operation) const;
  Status CheckRefused(const Status& status, const Step& step);
  Status Flush(const std::string& table);
  Status Check(const Step& step);
  Status Verify();

  // Lives.
  Status Start();
  Status Open();
  Status LearnTime();
  Status Reopen();
  Status Crash(const Step& step);
  Status OpenAgain(bool killed, uint64_t power_off_at);
  Status Recover(bool killed);
  Status CheckAll();
  void LetGo();

  // A bad disk.
  void Inject(const Step& step);
  Status Heal();
  Status Resume();

  void Note(std::string_view text);
  void NoteDisk();
  int64_t now() { return now_ = std::max(now_, clock_.WallMicros()); }
  Journal& JournalOf(const Step& step) {
    return step.durability == Durability::kMemory ? *loose_ : *logged_;
  }

  const Script& script_;
  const SessionPlace& place_;
  std::vector<std::string> keys_;
  std::vector<TableOptions> tables_;
  test::ManualClock clock_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<test::SimulatedDisk> simulated_;
  std::unique_ptr<base::FileSystem> real_;
  std::string path_;
  std::unique_ptr<test::InlineExecutor> executor_;  // Outlives the engine.
  std::unique_ptr<engine::Engine> engine_;
  Model model_;
  std::unique_ptr<Journal> logged_, loose_;
  std::deque<HeldSnapshot> snapshots_;
  int64_t now_ = 0, last_timestamp_ = 0;
  bool power_fails_ = false, faulty_ = false, space_short_ = false;
  SessionResult result_;
};

Session::Session(const Script& script, const SessionPlace& place)
    : script_(script),
      place_(place),
      keys_(NewKeys(script.seed, script.rows)),
      tables_(NewTables(script.seed, keys_)),
      random_(base::NewSeededRandom(script.seed)) {
  result_.trace = 0xcbf29ce484222325;
  if (place.directory.empty()) {
    simulated_ = std::make_unique<test::SimulatedDisk>(script.seed);
    simulated_->control().SetTracing(true);
    path_ = "database";
  } else {
    real_ = base::NewPosixFileSystem();
    path_ = place.directory;
  }
}

void Session::Note(std::string_view text) {
  for (const char byte : text) {
    result_.trace = (result_.trace ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  }
}

void Session::NoteDisk() {
  if (simulated_ == nullptr) return;
  for (const test::DiskEvent& event : simulated_->control().TakeTrace()) {
    Note(test::Describe(event));
  }
}

Result<SessionResult> Session::Run() {
  result_.finding = Start();
  for (result_.step = 0; result_.finding.ok() && result_.step < script_.steps.size();) {
    if (place_.is_interrupted && place_.is_interrupted()) {
      result_.interrupted = true;
      break;
    }
    const Status status = RunStep(script_.steps[result_.step]);
    Note(status.ToString());
    NoteDisk();
    if (!status.ok() && !IsAllowed(status)) {
      result_.finding = status;
      break;
    }
    ++result_.step;
    ++result_.counts.steps;
  }
  if (!result_.finding.ok() && simulated_ != nullptr && !place_.keep.empty()) {
    RETURN_IF_ERROR(KeepFiles(simulated_.get(), path_, place_.keep));
  }
  return result_;
}

bool Session::IsAllowed(const Status& status) const {
  if (!is_failing()) return false;
  const StatusCode code = status.code();
  return code == StatusCode::kIoError || code == StatusCode::kNoSpace ||
         code == StatusCode::kReadOnly || code == StatusCode::kBusy;
}

Status Session::RunStep(const Step& step) {
  if (step.kind == Step::Kind::kCrash) return Crash(step);
  if (step.kind == Step::Kind::kKill) return Crash(step);
  if (engine_ == nullptr) return {};
  switch (step.kind) {
    case Step::Kind::kWrite:
      return Write(step, true);
    case Step::Kind::kLie:
      return Write(step, false);
    case Step::Kind::kFlush:
      return Flush(step.name);
    case Step::Kind::kCompact:
      return In("compact " + step.name, engine_->Compact(step.name));
    case Step::Kind::kWork:
      if (step.number == 0) executor_->Drain();
      for (uint64_t i = 0; i < step.number; ++i) executor_->RunOne();
      return {};
    case Step::Kind::kAdvance:
      clock_.Advance(static_cast<int64_t>(step.number % kSecond));
      return {};
    case Step::Kind::kSnapshot: {
      if (snapshots_.size() == kSnapshotsMax) snapshots_.pop_front();
      auto snapshot = engine_->TakeSnapshot();
      if (!snapshot.has_value()) return In("snapshot", snapshot.error());
      snapshots_.push_back({*std::move(snapshot), model_});
      return {};
    }
    case Step::Kind::kRelease:
      if (!snapshots_.empty()) snapshots_.pop_front();
      return {};
    case Step::Kind::kCheck:
      return Check(step);
    case Step::Kind::kVerify:
      return Verify();
    case Step::Kind::kReopen:
      return Reopen();
    case Step::Kind::kPowerOffAt:
    case Step::Kind::kFault:
    case Step::Kind::kSpace:
      Inject(step);
      return {};
    case Step::Kind::kHeal:
      return Heal();
    case Step::Kind::kCrash:
    case Step::Kind::kKill:
      break;
  }
  return {};
}

Status Session::Write(const Step& step, bool expected) {
  WriteBatch batch;
  for (const ModelOperation& operation : step.operations) operation.AddTo(&batch);
  WriteOptions options;
  options.durability = step.durability;
  Status status = engine_->Write(options, batch);
  if (status.code() == StatusCode::kBusy) {  // Flushes fell behind.
    executor_->Drain();
    status = engine_->Write(options, batch);
  }
  result_.counts.operations += step.operations.size();
  if (std::ranges::any_of(step.operations, [&](const auto& put) { return Refuses(put); })) {
    return CheckRefused(status, step);
  }
  if (!expected) return In("lie", status);
  if (status.ok()) return Acknowledge(step);
  ++result_.counts.writes_failed;
  // A full disk leaves nothing of a batch; other errors leave it open.
  if (status.code() == StatusCode::kIoError) {
    JournalOf(step).Append({step.operations, std::max(now(), last_timestamp_ + 1), true});
  }
  return In("write", status);
}

/// Whether a value does not fit the index over its column.
bool Session::Refuses(const ModelOperation& operation) const {
  if (operation.kind != ModelOperation::Kind::kPut) return false;
  const auto table = std::ranges::find(tables_, operation.table, &TableOptions::name);
  for (const IndexOptions& index : table->indexes) {
    const IndexColumn& indexed = index.columns[0];
    for (const auto& [qualifier, value] : operation.columns) {
      if (operation.family != indexed.family || qualifier != indexed.qualifier) continue;
      if (!test::FitsType(indexed.type, value)) return true;
    }
  }
  return false;
}

Status Session::CheckRefused(const Status& status, const Step& step) {
  if (status.code() == StatusCode::kInvalidArgument || (!status.ok() && is_failing())) return {};
  return Mismatch("write " + step.operations[0].Describe(),
                  "refused: a value does not fit an index", status.ToString());
}

Status Session::Acknowledge(const Step& step) {
  JournalBatch entry{step.operations, std::max(now(), last_timestamp_ + 1)};
  last_timestamp_ = entry.timestamp;
  for (const ModelOperation& operation : step.operations) {
    model_.Apply(operation, entry.timestamp, 0);
  }
  Journal& journal = JournalOf(step);
  journal.DropOpen();
  const bool surely_writes = entry.surely_writes();
  journal.Append(std::move(entry));
  if (!surely_writes) return {};
  if (step.durability == Durability::kWritten) journal.MarkWritten();
  if (step.durability == Durability::kSynced) journal.MarkDurable();
  return {};
}

Status Session::Flush(const std::string& table) {
  RETURN_IF_ERROR(In("flush " + table, engine_->Flush(table)));
  for (const TableOptions& options : tables_) {
    if (!table.empty() && options.name != table) continue;
    Journal& journal = options.name == kLoose ? *loose_ : *logged_;
    journal.DropOpen();
    journal.MarkDurableThrough(options.name);
  }
  return {};
}

Status Session::Check(const Step& step) {
  ++result_.counts.checks;
  const auto table = std::ranges::find(tables_, step.name, &TableOptions::name);
  Moment moment{engine_.get(), &model_};
  if (step.number % 3 == 0 && !snapshots_.empty()) {
    const HeldSnapshot& held = snapshots_[step.number % snapshots_.size()];
    moment = {engine_.get(), &held.model, &held.snapshot};
  }
  RETURN_IF_ERROR(CompareTable(moment, *table, step.number % 2 == 0));
  return CompareReads(moment, *table, keys_, step.number);
}

Status Session::Verify() {
  const auto report = engine_->Verify(true);
  if (!report.has_value()) return In("verify", report.error());
  if (report->findings.empty()) return {};
  // A disk that fails to answer is a finding of verify, and only that.
  if (is_failing()) return Status::IoError(report->findings[0]);
  return Mismatch("verify --deep", "no finding",
                  Format("{} findings, first: {}", report->findings.size(), report->findings[0]));
}

void Session::LetGo() {
  snapshots_.clear();
  engine_.reset();
  executor_.reset();
}

Status Session::Start() {
  RETURN_IF_ERROR(Open());
  for (const TableOptions& table : tables_) {
    RETURN_IF_ERROR(In("create " + table.name, engine_->CreateTable(table)));
    model_.CreateTable(table);
  }
  logged_ = std::make_unique<Journal>(std::vector<std::string>{kNorth, kSouth}, model_);
  loose_ = std::make_unique<Journal>(std::vector<std::string>{kLoose}, model_);
  return LearnTime();
}

Status Session::Open() {
  executor_ = std::make_unique<test::InlineExecutor>(clock_);
  Options options;
  options.create_if_missing = true;
  base::FileSystem* const files =
      simulated_ != nullptr ? static_cast<base::FileSystem*>(simulated_.get()) : real_.get();
  auto engine = engine::Engine::Open(path_, options, TuningOf(script_.seed),
                                     {.file_system = files,
                                      .clock = &clock_,
                                      .random = random_.get(),
                                      .executor = executor_.get()});
  if (!engine.has_value()) return In("open", engine.error());
  engine_ = *std::move(engine);
  return {};
}

/// One put tells which time the database goes by: it may be ahead of the clock, never behind.
Status Session::LearnTime() {
  Step step;
  step.operations.push_back({ModelOperation::Kind::kPut,
                             kSouth,
                             "a row for the time",
                             "d",
                             {{"note", "x"}},
                             std::nullopt});
  WriteBatch batch;
  step.operations[0].AddTo(&batch);
  RETURN_IF_ERROR(In("write after opening", engine_->Write({}, batch)));
  const auto row = engine_->Get({}, kSouth, step.operations[0].row);
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
  for (const TableOptions& table : tables_) {
    RETURN_IF_ERROR(CompareTable(moment, table, false));
  }
  return {};
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
  for (const TableOptions& table : tables_) {
    auto rows = ReadAll(engine_->Scan(read, table.name, {}));
    if (!rows.has_value()) return In("scan after recovery", rows.error());
    content.push_back(*std::move(rows));
  }
  ASSIGN_OR_RETURN(const Model logged, logged_->Recover({content[0], content[1]}, killed));
  ASSIGN_OR_RETURN(const Model loose, loose_->Recover({content[2]}, false));
  model_.TakeTable(kNorth, logged);
  model_.TakeTable(kSouth, logged);
  model_.TakeTable(kLoose, loose);
  RETURN_IF_ERROR(LearnTime());
  RETURN_IF_ERROR(Verify());
  return CheckAll();
}

DiskOperation OperationOf(const std::string& name) {
  for (int at = 0; at <= static_cast<int>(DiskOperation::kDirectorySync); ++at) {
    const auto operation = static_cast<DiskOperation>(at);
    std::string known(test::DiskOperationName(operation));
    std::ranges::replace(known, ' ', '-');
    if (known == name) return operation;
  }
  return DiskOperation::kRead;
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

/// A fault that struck may have turned the database read-only: it is opened anew, as after the end
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
                             kNorth,
                             "a row after a full disk",
                             "d",
                             {{"note", "x"}},
                             last_timestamp_ + 1});
  WriteBatch batch;
  step.operations[0].AddTo(&batch);
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

}  // namespace

void SessionCounts::Add(const SessionCounts& other) {
  for (uint64_t SessionCounts::*field :
       {&SessionCounts::steps, &SessionCounts::operations, &SessionCounts::checks,
        &SessionCounts::kills, &SessionCounts::crashes, &SessionCounts::recoveries_cut,
        &SessionCounts::faults_struck, &SessionCounts::writes_failed, &SessionCounts::full_disks,
        &SessionCounts::resumed}) {
    this->*field += other.*field;
  }
}

Result<SessionResult> RunScript(const Script& script, const SessionPlace& place) {
  return Session(script, place).Run();
}

}  // namespace tandem::stress
