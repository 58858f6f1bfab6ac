// Writing, holding and checking; lives and crashes are in session_lives.cc.
#include "test/model/session.h"

#include <algorithm>
#include <limits>

#include "test/model/paths.h"

namespace tandem::test {

Session::Session(const SessionPlan& plan, Counters* counters)
    : plan_(plan),
      counters_(*counters),
      dice_(3 * plan.seed + static_cast<uint64_t>(plan.disk)),
      store_({.disk = plan.disk,
              .parent = plan.parent,
              .seed = plan.seed,
              .tuning = SmallTuning(plan.seed)}),
      checker_(&dice_, counters) {}

Session::~Session() { LetGo(); }

void Session::Run() {
  Create();
  while (written_ < plan_.operations) {
    ++step_;
    Step();
  }
  CheckEverything();
  Verify();
  Reopen();
  CheckEverything();
  Verify();
}

void Session::Step() {
  store_.clock().Advance(static_cast<int64_t>(dice_.Below(60)));
  const uint64_t choice = dice_.Below(1000);
  if (choice < 900) return Work();
  if (choice < 945) return Maintain();
  if (choice < 965) return Hold();
  if (choice < 990) return AdvanceCursor();
  if (choice < 993) return WriteBad();
  if (choice < 995) {  // The wall clock steps back; the engine's time does not.
    checker_.CheckRows(Now(), tables_[0], 1);  // It has seen the time from which it steps back.
    store_.clock().SetWall(now_micros_ - static_cast<int64_t>(dice_.Below(100'000)));
    return;
  }
  if (written_ * 2 > plan_.rows && dice_.Chance(20)) EndLife();
}

void Session::Work() {
  RequireOk(Write(NewBatch()), "write");
  if (written_ < next_check_) {
    if (dice_.Chance(2)) checker_.CheckRows(Now(), dice_.Pick(tables_), 3);
    return;
  }
  const uint64_t rows = std::min<uint64_t>(plan_.rows, 500);
  next_check_ = written_ + 200 + 2 * rows + dice_.Below(4 * rows + 1);
  Check();
}

int64_t Session::now() {
  now_micros_ = std::max(now_micros_, store_.clock().WallMicros());
  return now_micros_;
}

Moment Session::Now() { return {&store_.engine(), &model_, nullptr, now()}; }

Session::Batch Session::NewBatch() {
  Batch batch;
  batch.unlogged = dice_.Chance(4);
  if (batch.unlogged) {
    batch.options.durability = Durability::kMemory;
  } else {
    const uint64_t level = dice_.Below(20);
    batch.options.durability = level == 0  ? Durability::kSynced
                               : level < 6 ? Durability::kBuffered
                                           : Durability::kWritten;
  }
  for (uint64_t count = dice_.Chance(50) ? 1 : 1 + dice_.Below(7); count > 0; --count) {
    const TablePlan* table = &dice_.Pick(tables_);
    while (table->unlogged != batch.unlogged || (table->large && !dice_.Chance(5))) {
      table = &dice_.Pick(tables_);
    }
    batch.operations.push_back(Generator(&dice_, table).Operation(now()));
  }
  return batch;
}

Status Session::Write(const Batch& batch) {
  WriteBatch encoded;
  for (const ModelOperation& operation : batch.operations) operation.AddTo(&encoded);
  Status status = store_.engine().Write(batch.options, encoded);
  if (status.code() == StatusCode::kBusy) {  // Flushes fell behind.
    store_.executor().Drain();
    status = store_.engine().Write(batch.options, encoded);
  }
  JournalBatch entry;
  entry.operations = batch.operations;
  entry.now_micros = now();
  entry.timestamp = std::max(now_micros_, last_timestamp_ + 1);
  written_ += batch.operations.size();
  counters_.operations += batch.operations.size();
  if (!status.ok()) {
    JournalOf(batch).Append(std::move(entry));
    return status;
  }
  Acknowledge(batch, std::move(entry));
  return status;
}

void Session::Acknowledge(const Batch& batch, JournalBatch entry) {
  last_timestamp_ = entry.timestamp;
  for (const ModelOperation& operation : batch.operations) {
    model_.Apply(operation, entry.timestamp, entry.now_micros);
  }
  if (store_.simulated() == nullptr) return;
  entry.last_sequence = store_.engine().Info().last_sequence;
  Journal& journal = JournalOf(batch);
  const bool surely_writes = entry.surely_writes();
  journal.Append(std::move(entry));
  if (!surely_writes) return;
  if (batch.options.durability == Durability::kWritten) journal.MarkWritten();
  if (batch.options.durability == Durability::kSynced) journal.MarkDurable();
}

void Session::WriteBad() {
  const TablePlan& table = tables_[dice_.Below(3)];
  Batch batch = NewBatch();
  if (batch.unlogged) return;
  const auto at = static_cast<std::ptrdiff_t>(dice_.Below(batch.operations.size() + 1));
  const ModelOperation bad = Generator(&dice_, &table).BadPut();
  if (!model_.Refuses(bad)) throw Failure("the test's bad put is good: " + bad.Describe());
  batch.operations.insert(batch.operations.begin() + at, bad);
  WriteBatch encoded;
  for (const ModelOperation& operation : batch.operations) operation.AddTo(&encoded);
  const Status status = store_.engine().Write(batch.options, encoded);
  if (status.code() != StatusCode::kInvalidArgument) {
    throw Failure("expected InvalidArgument, found " + status.ToString() + ": " + bad.Describe());
  }
  ++counters_.refused;
}

/// Fills the memstore quickly.
void Session::WriteFiller(const TablePlan& plan) {
  Batch batch;
  batch.unlogged = plan.unlogged;
  batch.options.durability = plan.unlogged ? Durability::kMemory : Durability::kBuffered;
  batch.operations.push_back(Generator(&dice_, &plan).Put(now()));
  batch.operations[0].columns = {{"note", std::string(2000 + dice_.Below(3000), 'f')}};
  RequireOk(Write(batch), "write");
}

Status Session::Flush(const std::string& table) {
  if (Status status = store_.engine().Flush(table); !status.ok()) return status;
  ++counters_.flushes;
  for (const TablePlan& plan : tables_) {
    if (!table.empty() && plan.options.name != table) continue;
    (plan.unlogged ? unlogged_ : logged_)->MarkDurableThrough(plan.options.name);
  }
  return Status();
}

void Session::Maintain() {
  const uint64_t choice = dice_.Below(20);
  if (choice < 12) {
    store_.executor().RunOne();
  } else if (choice < 15) {
    store_.executor().Drain();
  } else if (choice < 19) {
    RequireOk(Flush(dice_.Chance(10) ? "" : dice_.Pick(tables_).options.name), "flush");
  } else {
    const std::string& table = dice_.Pick(tables_).options.name;
    RequireOk(store_.engine().Compact(table), "compact " + table);
    ++counters_.compactions;
  }
}

void Session::Hold() {
  if (dice_.Chance(50)) {
    if (snapshots_.size() < 3 && dice_.Chance(60)) {
      auto snapshot = store_.engine().TakeSnapshot();
      RequireOk(snapshot.status(), "take a snapshot");
      snapshots_.push_back({*std::move(snapshot), model_, now()});
    } else if (!snapshots_.empty()) {
      snapshots_.erase(snapshots_.begin() +
                       static_cast<std::ptrdiff_t>(dice_.Below(snapshots_.size())));
    }
    return;
  }
  if (cursors_.size() >= 3) return;
  const TablePlan& plan = dice_.Pick(tables_);
  Generator generator(&dice_, &plan);
  const ScanOptions scan = generator.NewScan();
  const ModelRead read{now(), 1, {}};
  if (dice_.Chance(50)) {
    auto cursor = store_.engine().Scan({}, plan.options.name, scan);
    RequireOk(cursor.status(), "open a cursor");
    cursors_.push_back({*std::move(cursor), model_.Scan(plan.options.name, scan, read), 0,
                        plan.options.name + ": a scan held since step " + std::to_string(step_)});
    return;
  }
  const Predicate predicate = generator.NewPredicate();
  auto cursor = store_.engine().Query({}, plan.options.name, predicate, {});
  RequireOk(cursor.status(), predicate.ToString());
  cursors_.push_back({*std::move(cursor), model_.Query(plan.options.name, predicate, {}, read), 0,
                      plan.options.name + ": query " + predicate.ToString() + " held since step " +
                          std::to_string(step_)});
}

void Session::AdvanceCursor() {
  if (cursors_.empty()) return;
  const size_t at = dice_.Below(cursors_.size());
  HeldCursor& held = cursors_[at];
  for (uint64_t count = dice_.Chance(30) ? held.rows.size() + 1 : dice_.Below(20); count > 0;
       --count) {
    std::vector<ModelRow> expected, found;
    if (held.next < held.rows.size()) expected.push_back(held.rows[held.next++]);
    if (held.cursor.Next()) found.emplace_back(held.cursor.row());
    RequireOk(held.cursor.status(), held.context);
    RequireSameRows(expected, found, held.context + ", at row " + std::to_string(held.next));
    if (!expected.empty()) continue;
    ++counters_.cursors_finished;
    cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(at));
    return;
  }
}

bool Session::IsDeep(const TablePlan& plan) {
  for (const TableInfo& table : store_.engine().Info().tables) {
    if (table.options.name != plan.options.name) continue;
    return std::any_of(table.regions.begin(), table.regions.end(), [](const RegionInfo& region) {
      return region.files.size() >= 3 && region.memstores >= 2;
    });
  }
  throw Failure("the table " + plan.options.name + " is not listed");
}

/// Writes and flushes until the table has 3 files and 2 memstores, or for a while.
void Session::Deepen(const TablePlan& plan) {
  for (int i = 0; i < 60 && !IsDeep(plan); ++i) {
    const DatabaseInfo info = store_.engine().Info();
    size_t files = 0;
    for (const TableInfo& table : info.tables) {
      if (table.options.name != plan.options.name) continue;
      for (const RegionInfo& region : table.regions) files = std::max(files, region.files.size());
    }
    if (files >= 3) {
      WriteFiller(plan);
      continue;
    }
    for (int count = 0; count < 4; ++count) {
      RequireOk(Write(NewBatch()), "write");
    }
    WriteFiller(plan);
    RequireOk(Flush(plan.options.name), "flush " + plan.options.name);
  }
}

void Session::Check() {
  const TablePlan& plan = dice_.Pick(tables_);
  if (plan.large && dice_.Chance(50)) return;
  if (dice_.Chance(80)) Deepen(plan);
  ++counters_.checks;
  counters_.deep_checks += IsDeep(plan) ? 1 : 0;
  checker_.CheckTable(Now(), plan, plan.large ? 3 : 6);
  if (!snapshots_.empty()) {
    const HeldSnapshot& held = snapshots_[dice_.Below(snapshots_.size())];
    checker_.CheckTable({&store_.engine(), &held.model, &held.snapshot, held.now_micros}, plan, 3);
    ++counters_.snapshot_checks;
  }
  if (dice_.Chance(25)) CountPaths(&store_, plan, model_, now(), &counters_);
  if (dice_.Chance(5)) Verify();
}

void Session::CheckEverything() {
  for (const TablePlan& plan : tables_) checker_.CheckTable(Now(), plan, 2);
}

void Session::Verify() {
  const auto report = store_.engine().Verify(true);
  RequireOk(report.status(), "verify");
  ++counters_.verifications;
  if (!report->findings.empty()) {
    throw Failure("verify found " + std::to_string(report->findings.size()) +
                  " things, first: " + report->findings[0]);
  }
}

}  // namespace tandem::test
