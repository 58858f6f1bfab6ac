// See session.h and session_impl.h.
#include "tools/stress/session.h"

#include <algorithm>

#include "base/passing.h"
#include "base/status_macros.h"
#include "tools/stress/comparison.h"
#include "tools/stress/finding.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/schema.h"
#include "tools/stress/session_impl.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelOperation;
using tools::Format;

constexpr size_t kSnapshotsMax = 3;
constexpr int64_t kSecond = 1'000'000;

}  // namespace

Session::Session(const Script& script, const SessionPlace& place)
    : script_(script),
      place_(place),
      tables_(NewTables(script.seed, script.rows)),
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

Session::~Session() {
  if (place_.watchdog != nullptr) {
    place_.watchdog->Begin(0, [] { return "letting go of the database, behind the last step"; });
  }
  LetGo();
  if (place_.watchdog != nullptr) place_.watchdog->End(0);
}

void Session::BeginStep() {
  if (place_.watchdog == nullptr) return;
  place_.watchdog->Begin(0, [this, at = result_.step] {
    return Format("step {} of {}, line {}: {}", at + 1, script_.steps.size(),
                  script_.steps[at].line, Print(script_.steps[at]));
  });
}

Result<SessionResult> Session::Run() {
  if (place_.watchdog != nullptr) {
    place_.watchdog->Begin(0, [] { return "making the database, before the first step"; });
  }
  result_.finding = Start();
  for (result_.step = 0; result_.finding.ok() && result_.step < script_.steps.size();) {
    if (place_.is_interrupted && place_.is_interrupted()) {
      result_.interrupted = true;
      break;
    }
    BeginStep();
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
  if (place_.watchdog != nullptr) place_.watchdog->End(0);
  if (!result_.finding.ok() && simulated_ != nullptr && !place_.keep.empty()) {
    RETURN_IF_ERROR(KeepFiles(simulated_.get(), path_, place_.keep));
  }
  return result_;
}

bool Session::IsAllowed(const Status& status) const {
  if (!is_failing()) return false;
  const StatusCode code = status.code();
  return code == StatusCode::kIoError || base::MayPass(status) || code == StatusCode::kReadOnly ||
         code == StatusCode::kBusy;
}

Status Session::RunStep(const Step& step) {
  if (step.kind == Step::Kind::kCrash) return Crash(step);
  if (step.kind == Step::Kind::kKill) return Crash(step);
  if (engine_ == nullptr) return {};
  if (step.kind >= Step::Kind::kChangeIndex) return Change(step);
  switch (step.kind) {
    case Step::Kind::kWrite:
      return Write(step, true);
    case Step::Kind::kLie:
      return Write(step, false);
    case Step::Kind::kFlush:
      return Flush(step.name);
    case Step::Kind::kCompact:
      if (!exists(step.name)) return {};
      return In("compact " + step.name, engine_->Compact(NameOf(step.name)));
    case Step::Kind::kSplit:
      return Split(step);
    case Step::Kind::kMergeRegions:
      return MergeRegions(step);
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
      snapshots_.push_back({*std::move(snapshot), model_, places_});
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
    default:
      return {};
  }
}

const std::string& Session::KeyOf(const Step& step) const {
  const std::vector<std::string>& keys = tables_[0].keys;
  return keys[step.number % keys.size()];
}

// At a key of the workload, or in the middle of the largest region.
Status Session::Split(const Step& step) {
  constexpr size_t kRegionsUsed = 16;
  if (!exists(step.name)) return {};
  const std::string name = NameOf(step.name);
  for (const TableInfo& table : engine_->Info().tables) {
    if (table.options.name == name && table.regions.size() >= kRegionsUsed) return {};
  }
  SplitOptions options;
  if (step.number % 3 != 0) options.key = KeyOf(step);
  const Status status = engine_->Split(name, options).status();
  if (status.code() == StatusCode::kInvalidArgument) return {};  // There is no boundary.
  return In("split " + step.name, status);
}

// The region of a key of the workload and the one after it, or the smallest two.
Status Session::MergeRegions(const Step& step) {
  if (!exists(step.name)) return {};
  RegionMergeOptions options;
  if (step.number % 3 != 0) options.key = KeyOf(step);
  const Status status = engine_->MergeRegions(NameOf(step.name), options).status();
  if (status.code() == StatusCode::kInvalidArgument) return {};  // No region follows it.
  return In("merge regions of " + step.name, status);
}

Status Session::Write(const Step& step, bool expected) {
  WriteBatch batch;
  for (const ModelOperation& operation : InDatabase(step.operations)) operation.AddTo(&batch);
  WriteOptions options;
  options.durability = step.durability;
  Status status = engine_->Write(options, batch);
  if (status.code() == StatusCode::kBusy) {  // Flushes fell behind.
    executor_->Drain();
    status = engine_->Write(options, batch);
  }
  result_.counts.operations += step.operations.size();
  const auto is_dropped = [&](const auto& operation) { return !exists(operation.table); };
  const auto is_observed = [&](const auto& operation) {
    return places_.at(operation.table).observed;
  };
  if (std::ranges::any_of(step.operations, is_dropped)) return CheckNotFound(status, step);
  result_.counts.observed_writes += std::ranges::any_of(step.operations, is_observed) ? 1 : 0;
  if (std::ranges::any_of(step.operations, [&](const auto& put) { return model_.Refuses(put); })) {
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

// A value in it may be refused first.
Status Session::CheckNotFound(const Status& status, const Step& step) {
  if (!status.ok() && is_failing()) return {};
  if (status.code() == StatusCode::kNotFound) return {};
  if (status.code() == StatusCode::kInvalidArgument) return {};
  return Mismatch("write " + step.operations[0].Describe(), "refused: a table is dropped",
                  status.ToString());
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
  if (!table.empty() && !exists(table)) return {};
  RETURN_IF_ERROR(In("flush " + table, engine_->Flush(table.empty() ? table : NameOf(table))));
  NoteFlushed(table);
  return {};
}

/// Empty: every table.
void Session::NoteFlushed(const std::string& table) {
  for (const test::TablePlan& plan : tables_) {
    const std::string& name = plan.options.name;
    if (!table.empty() && name != table) continue;
    Journal& journal = plan.unlogged ? *loose_ : *logged_;
    journal.DropOpen();
    journal.MarkDurableThrough(name);
  }
}

Status Session::Check(const Step& step) {
  ++result_.counts.checks;
  if (step.number % 3 == 0 && !snapshots_.empty()) {
    const HeldSnapshot& held = snapshots_[step.number % snapshots_.size()];
    return CheckAt({engine_.get(), &held.model, &held.snapshot}, held.places, step);
  }
  if (step.number % 3 == 1 && !named_.empty()) {
    const NamedSnapshot& named = named_[step.number % named_.size()];
    const auto snapshot = engine_->OpenSnapshot(named.name);
    if (!snapshot.has_value()) return In("open " + named.name, snapshot.error());
    ++result_.counts.snapshot_checks;
    return CheckAt({engine_.get(), &named.model, &*snapshot}, named.places, step);
  }
  return CheckAt({engine_.get(), &model_}, places_, step);
}

/// With the definition and the name that the table had then.
Status Session::CheckAt(const Moment& moment, const Places& places, const Step& step) {
  test::TablePlan plan = PlanOf(step.name);
  plan.options = moment.model->table(step.name);
  if (!places.at(step.name).exists) {
    ReadOptions read;
    read.snapshot = moment.snapshot;
    const Status status = engine_->Scan(read, step.name, {}).status();
    if (status.code() == StatusCode::kNotFound) return {};
    return Mismatch("scan of the dropped table " + step.name, "kNotFound", status.ToString());
  }
  const NamedPlan table{plan, NameAt(places, step.name)};
  RETURN_IF_ERROR(CompareTable(moment, table, step.number % 2 == 0));
  return CompareReads(moment, table, step.number);
}

Status Session::Verify() {
  const auto report = engine_->Verify(true);
  if (!report.has_value()) return In("verify", report.error());
  if (report->findings.empty()) return {};
  // A disk that fails to answer is a finding of verify, and only that.
  if (is_failing()) return Status::IoError(report->findings[0].text);
  return Mismatch(
      "verify --deep", "no finding",
      Format("{} findings, first: {}", report->findings.size(), report->findings[0].text));
}

void SessionCounts::Add(const SessionCounts& other) {
  for (uint64_t SessionCounts::*field :
       {&SessionCounts::steps,           &SessionCounts::operations,
        &SessionCounts::checks,          &SessionCounts::kills,
        &SessionCounts::crashes,         &SessionCounts::recoveries_cut,
        &SessionCounts::faults_struck,   &SessionCounts::writes_failed,
        &SessionCounts::full_disks,      &SessionCounts::resumed,
        &SessionCounts::index_changes,   &SessionCounts::observer_changes,
        &SessionCounts::observed_writes, &SessionCounts::bulk_loads,
        &SessionCounts::truncations,     &SessionCounts::drops,
        &SessionCounts::creations,       &SessionCounts::renames,
        &SessionCounts::named_snapshots, &SessionCounts::snapshot_drops,
        &SessionCounts::snapshot_checks, &SessionCounts::changes_failed}) {
    this->*field += other.*field;
  }
}

Result<SessionResult> RunScript(const Script& script, const SessionPlace& place) {
  return Session(script, place).Run();
}

}  // namespace tandem::stress
