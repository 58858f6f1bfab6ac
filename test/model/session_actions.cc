// Doing what a session chose, or what a record says: each action with dice of its own, so that it
// does the same whatever other actions were cut away.
#include <algorithm>
#include <set>
#include <string>

#include "base/status_macros.h"
#include "engine/transaction_state.h"
#include "format/functions.h"
#include "test/model/paths.h"
#include "test/model/session.h"
#include "tools/simulation/bulk_load.h"
#include "tools/simulation/table_copy.h"

namespace tandem::test {

const TablePlan& Session::PlanOf(const std::string& table) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&table](const TablePlan& plan) {
    return plan.options.name == table;
  });
  if (found == tables_.end()) throw Failure("there is no table " + table);
  return *found;
}

void Session::Do(SessionAction action) {
  if (action.seed == 0) {  // It is a new one.
    action.seed = dice_.Next() | 1;
    action.advance_micros += std::exchange(next_advance_micros_, 0);
  }
  record_.push_back(action);
  own_dice_ = Dice(action.seed);
  store_.clock().Advance(action.advance_micros);
  Perform(action);
  if (plan_.trace != nullptr) NoteIn(plan_.trace);
}

// What was answered equals the model's answers, so their counts say it all.
void Session::NoteIn(RunTrace* trace) {
  trace->Add(record_.back().Describe());
  trace->Add(counters_.Describe());
  trace->Add(store_.executor().due_count());
  trace->Add(store_.executor().delayed_count());
  // Info reads directories of files. A session that chooses asks it as well, and a replay does not:
  // asked here after each action, it makes no difference there.
  trace->Add(store_.engine().Info().last_sequence);
  trace->Add(static_cast<uint64_t>(now()));
}

void Session::Perform(const SessionAction& action) {
  using Kind = SessionAction::Kind;
  switch (action.kind) {
    case Kind::kWrite:
      return RequireOk(Write(action), "write");
    case Kind::kWriteBad:
      return RefuseBad(action);
    case Kind::kFlush:
      return RequireOk(Flush(action.table), "flush");
    case Kind::kCompact:
      if (action.seed / 2 % 2 == 0) RequireOk(CopyTable(action.table), "copy " + action.table);
      RequireOk(store_.engine().Compact(action.table), "compact " + action.table);
      ++counters_.compactions;
      return;
    case Kind::kSplit:
      return RequireOk(Split(action), "split " + action.table);
    case Kind::kMergeRegions:
      return RequireOk(MergeRegions(action), "merge regions of " + action.table);
    case Kind::kRunOne:
      store_.executor().RunOne();
      return;
    case Kind::kDrain:
      return store_.executor().Drain();
    case Kind::kTakeSnapshot:
      return TakeSnapshot();
    case Kind::kReleaseSnapshot:
      if (snapshots_.empty()) return;
      snapshots_.erase(snapshots_.begin() +
                       static_cast<std::ptrdiff_t>(own_dice_.Below(snapshots_.size())));
      return;
    default:
      return PerformMore(action);
  }
}

void Session::PerformMore(const SessionAction& action) {
  using Kind = SessionAction::Kind;
  switch (action.kind) {
    case Kind::kTruncate:
    case Kind::kDropAndCreate:
      return RequireOk(Empty(action), "removing the rows of " + action.table);
    case Kind::kRenameTwice:
      RequireOk(store_.engine().RenameTable(action.table, "renamed"), "rename " + action.table);
      RequireOk(store_.engine().RenameTable("renamed", action.table), "rename it back");
      ++counters_.schema_edits;
      return;
    case Kind::kChangeIndexes:
      return RequireOk(ChangeIndexes(action), "changing an index of " + action.table);
    case Kind::kRenewFamily:
      return RequireOk(RenewFamily(action), "dropping and adding a family of " + action.table);
    case Kind::kAlterFamily:
      return RequireOk(AlterFamily(action), "altering a family of " + action.table);
    case Kind::kOpenCursor:
      return OpenCursor(PlanOf(action.table));
    case Kind::kAdvanceCursor:
      return AdvanceCursor();
    case Kind::kCheckRows:
      checker_.CheckRows(Now(), PlanOf(action.table), 3);
      return checker_.CheckManyRows(Now(), PlanOf(action.table));
    case Kind::kCheckTable:
      return CheckTable(PlanOf(action.table));
    case Kind::kCheckSnapshot:
      return CheckSnapshot(PlanOf(action.table));
    case Kind::kVerify:
      return Verify();
    case Kind::kSetClock:
      return SetClock();
    case Kind::kReopen:
      return Reopen();
    case Kind::kCrash:
    case Kind::kKill:
      return EndByCrash(action);
    default:
      throw Failure("an action of no kind");
  }
}

// The wall clock steps back, or so far ahead that it is not believed: the engine's time does
// neither.
void Session::SetClock() {
  constexpr int64_t kDayMicros = 24 * 3'600'000'000ll;
  checker_.CheckRows(Now(), tables_[0], 1);  // It has seen the time from which the clock steps.
  is_clock_ahead_ = !is_clock_ahead_ && own_dice_.Chance(50);
  const int64_t step = is_clock_ahead_
                           ? kDayMicros * static_cast<int64_t>(2 + own_dice_.Below(20'000))
                           : -static_cast<int64_t>(own_dice_.Below(100'000));
  store_.clock().SetWall(now_micros_ + step);
}

// A life ends and begins with a clock that is right.
void Session::BringClockBack() {
  if (is_clock_ahead_) store_.clock().SetWall(now_micros_);
  is_clock_ahead_ = false;
}

Status Session::Apply(const SessionAction& action) {
  constexpr uint64_t kOneIn = 4;
  const bool reads = std::any_of(action.batch.begin(), action.batch.end(),
                                 [](const ModelOperation& operation) { return operation.reads(); });
  const bool may_be_lost = action.durability == Durability::kMemory || IsUnlogged(action);
  if (!reads && !may_be_lost && action.seed / 2 % kOneIn == 0) return ApplyInTransaction(action);
  const bool is_asked = std::ranges::any_of(action.batch, [this](const ModelOperation& operation) {
    const TableOptions& table = PlanOf(operation.table).options;
    return !table.observers.empty() ||
           std::ranges::any_of(table.indexes, [](const auto& index) { return index.unique; });
  });
  if (!may_be_lost && !is_asked && action.seed / 2 % kOneIn == 1 && MayBeLoaded(action.batch)) {
    ++counters_.bulk_loads;
    return LoadInBulk(&store_.engine(), action.batch, [this] { begun_micros_ = now(); });
  }
  WriteBatch encoded;
  for (const ModelOperation& operation : action.batch) operation.AddTo(&encoded);
  return store_.engine().Write({.durability = action.durability}, encoded);
}

// The same batch. Each row is read before it is written.
Status Session::ApplyInTransaction(const SessionAction& action) {
  ASSIGN_OR_RETURN(Transaction transaction, engine::TransactionState::Begin(&store_.engine()));
  for (const ModelOperation& operation : action.batch) {
    RETURN_IF_ERROR(transaction.Get({}, operation.table, operation.row).status());
    RETURN_IF_ERROR(operation.AddTo(&transaction));
  }
  ++counters_.transactions;
  return transaction.Commit({.durability = action.durability});
}

// An index of any type may refuse what the generator makes.
Status Session::Write(SessionAction action) {
  std::erase_if(action.batch, [this](const auto& operation) { return model_.Refuses(operation); });
  if (action.batch.empty()) return {};
  begun_micros_.reset();
  const uint64_t sequence_before = store_.LastSequence();
  Status status = Apply(action);
  if (status.code() == StatusCode::kBusy) {  // Flushes fell behind.
    store_.executor().Drain();
    status = Apply(action);
  }
  JournalBatch entry;
  entry.operations = action.batch;
  entry.now_micros = now();
  entry.timestamp = std::max(begun_micros_.value_or(now_micros_), last_timestamp_ + 1);
  entry.is_logged = action.durability != Durability::kMemory || entry.reads();
  entry.adds = !begun_micros_.has_value() || store_.LastSequence() > sequence_before;
  written_ += action.batch.size();
  counters_.operations += action.batch.size();
  if (status.ok() || status.code() == StatusCode::kAlreadyExists) {
    const std::optional<std::string> duplicates = DuplicatesAfter(entry);
    if (duplicates.has_value() == status.ok()) {
      throw Failure("a unique index, " + duplicates.value_or("no duplicates") +
                    ", and the write: " + status.ToString());
    }
    if (!status.ok()) {
      ++counters_.refused;
      return {};
    }
  } else {
    JournalOf(action).Append(std::move(entry));
    return status;
  }
  Acknowledge(action, std::move(entry));
  return status;
}

// What the batch leaves that no unique index allows.
std::optional<std::string> Session::DuplicatesAfter(const JournalBatch& entry) const {
  std::set<std::string> tables;
  Model after;
  for (const ModelOperation& operation : entry.operations) {
    const auto& indexes = model_.table(operation.table).indexes;
    if (std::ranges::none_of(indexes, &IndexOptions::unique)) continue;
    if (tables.insert(operation.table).second) after.TakeTable(operation.table, model_);
    after.Apply(operation, entry.timestamp, entry.now_micros);
  }
  for (const std::string& table : tables) {
    const auto duplicates = after.Duplicates(table, entry.now_micros);
    if (duplicates.has_value()) return duplicates;
  }
  return std::nullopt;
}

void Session::Acknowledge(const SessionAction& action, JournalBatch entry) {
  last_timestamp_ = entry.timestamp;
  for (const ModelOperation& operation : action.batch) {
    model_.Apply(operation, entry.timestamp, entry.now_micros);
  }
  if (store_.simulated() == nullptr) return;
  entry.last_sequence = store_.LastSequence();
  Journal& journal = JournalOf(action);
  const bool surely_writes = entry.surely_writes();
  journal.Append(std::move(entry));
  if (!surely_writes || IsUnlogged(action)) return;
  if (action.durability == Durability::kWritten) journal.MarkWritten();
  if (action.durability == Durability::kSynced) journal.MarkDurable();
}

void Session::RefuseBad(const SessionAction& action) {
  WriteBatch encoded;
  for (const ModelOperation& operation : action.batch) operation.AddTo(&encoded);
  const Status status = store_.engine().Write({.durability = action.durability}, encoded);
  const bool is_bad = std::any_of(action.batch.begin(), action.batch.end(),
                                  [this](const auto& o) { return model_.Refuses(o); });
  if (is_bad && status.code() != StatusCode::kInvalidArgument) {
    throw Failure("expected InvalidArgument, found " + status.ToString());
  }
  ++counters_.refused;
}

// What was logged before is durable with it.
Status Session::Empty(const SessionAction& action) {
  JournalBatch entry;
  entry.emptied = action.table;
  const bool is_truncated = action.kind == SessionAction::Kind::kTruncate;
  const Status status = is_truncated ? store_.engine().TruncateTable(action.table)
                                     : store_.engine().DropTable(action.table);
  if (!status.ok()) {
    logged_->Append(std::move(entry));
    return status;
  }
  model_.Truncate(action.table);
  for (HeldSnapshot& held : snapshots_) held.former.insert(action.table);
  ++counters_.schema_edits;
  if (!is_truncated) RETURN_IF_ERROR(store_.engine().CreateTable(PlanOf(action.table).options));
  if (store_.simulated() == nullptr) return {};
  entry.last_sequence = store_.LastSequence();
  logged_->Append(std::move(entry));
  logged_->MarkDurable();
  return {};
}

// Those that the table was created with stay, or are dropped and created again under a new id; the
// others, over any column and of any type, come and go.
Status Session::ChangeIndexes(const SessionAction& action) {
  TablePlan& plan = *std::find_if(tables_.begin(), tables_.end(), [&](const TablePlan& known) {
    return known.options.name == action.table;
  });
  std::vector<IndexOptions>& indexes = plan.options.indexes;
  IndexOptions index;
  index.name = "extra_" + std::to_string(own_dice_.Below(3));
  const bool is_replaced = own_dice_.Chance(25);
  if (is_replaced) index = own_dice_.Pick(indexes);
  if (index.unique) return {};  // It would not refuse duplicates before they were looked for.
  const auto found = std::find_if(indexes.begin(), indexes.end(), [&](const IndexOptions& known) {
    return known.name == index.name;
  });
  if (found != indexes.end()) {
    RETURN_IF_ERROR(store_.engine().DropIndex(action.table, index.name));
    ApplyIndexes(&plan, [&](auto* known) {
      std::erase_if(*known, [&](const IndexOptions& other) { return other.name == index.name; });
    });
    if (!is_replaced) return {};
  } else {
    static const std::vector<ColumnType> kTypes = {ColumnType::kBytes, ColumnType::kText,
                                                   ColumnType::kInt64};
    index.columns = {{own_dice_.Pick(plan.options.families).name,
                      own_dice_.Pick(plan.columns).qualifier, own_dice_.Pick(kTypes),
                      own_dice_.Chance(50)}};
    if (own_dice_.Chance(40)) index.columns[0].functions = RandomFunctions(&own_dice_);
    if (own_dice_.Chance(15)) {
      index.columns[0] = {.functions = RandomKeyFunctions(&own_dice_), .is_row_key = true};
    }
    const bool is_of_family = own_dice_.Chance(15);
    if (is_of_family) {
      index.columns[0] = {.family = own_dice_.Pick(plan.options.families).name,
                          .functions = RandomFamilyFunctions(&own_dice_)};
    }
    while (HasOrder(index) && index.columns.size() < 3 && own_dice_.Chance(40)) {
      IndexColumn column{own_dice_.Pick(plan.options.families).name,
                         own_dice_.Pick(plan.columns).qualifier, own_dice_.Pick(kTypes),
                         own_dice_.Chance(50)};
      const bool is_new = std::ranges::none_of(index.columns, [&](const IndexColumn& other) {
        return other.family == column.family && other.qualifier == column.qualifier;
      });
      if (is_new) index.columns.push_back(std::move(column));
    }
    if (!format::AreTrigrams(index.columns[0].functions) && !is_of_family && own_dice_.Chance(40)) {
      index.where = RandomWhere(&own_dice_, plan);
    }
    while (HasOrder(index) && index.include.size() < 3 && own_dice_.Chance(40)) {
      const ColumnName column{own_dice_.Pick(plan.options.families).name,
                              own_dice_.Pick(plan.columns).qualifier};
      const auto is_it = [&](const auto& other) {
        return other.family == column.family && other.qualifier == column.qualifier;
      };
      const bool is_new =
          std::ranges::none_of(index.columns, is_it) && std::ranges::none_of(index.include, is_it);
      if (is_new) index.include.push_back(column);
    }
  }
  const Status status = store_.engine().CreateIndex(action.table, index);
  if (status.code() == StatusCode::kAlreadyExists) return {};  // By chance, under another name.
  RETURN_IF_ERROR(status);
  ApplyIndexes(&plan, [&](auto* known) { known->push_back(index); });
  return {};
}

// Indexes over its columns go first, some of them come again. Snapshots are let go: they would read
// with the indexes of before, whatever comes.
Status Session::RenewFamily(const SessionAction& action) {
  TablePlan& plan = *std::find_if(tables_.begin(), tables_.end(), [&](const TablePlan& known) {
    return known.options.name == action.table;
  });
  if (plan.options.families.size() == 1) return {};
  const FamilyOptions family = plan.options.families.back();
  std::vector<IndexOptions> over_it;
  for (const IndexOptions& index : plan.options.indexes) {
    const auto is_of_it = [&](const auto& column) { return column.family == family.name; };
    if (DependsOn(index, family.name) || std::ranges::any_of(index.include, is_of_it)) {
      over_it.push_back(index);
    }
  }
  if (!over_it.empty()) {
    const Status refused = store_.engine().DropFamily(action.table, family.name);
    if (refused.code() != StatusCode::kInvalidArgument) {
      throw Failure("a family with an index was dropped: " + refused.ToString());
    }
  }
  const auto drop = [](const IndexOptions& index) {
    return [index](std::vector<IndexOptions>* known) {
      std::erase_if(*known, [&](const IndexOptions& other) { return other.name == index.name; });
    };
  };
  for (const IndexOptions& index : over_it) {
    RETURN_IF_ERROR(store_.engine().DropIndex(action.table, index.name));
    ApplyIndexes(&plan, drop(index));
  }
  snapshots_.clear();
  RETURN_IF_ERROR(store_.engine().DropFamily(action.table, family.name));
  model_.EmptyFamily(action.table, family.name);
  plan.options = model_.table(action.table);
  if (store_.simulated() != nullptr) {
    JournalBatch entry;
    entry.emptied = action.table;
    entry.family = family.name;
    entry.last_sequence = store_.LastSequence();
    logged_->Append(std::move(entry));
    logged_->MarkDurable();
  }
  ++counters_.schema_edits;
  RETURN_IF_ERROR(store_.engine().AddFamily(action.table, family));
  for (IndexOptions& index : over_it) {
    if (own_dice_.Chance(30)) continue;
    index.unique = false;  // It would not refuse duplicates before they were looked for.
    const Status status = store_.engine().CreateIndex(action.table, index);
    if (status.code() == StatusCode::kAlreadyExists) continue;  // One that never was unique.
    RETURN_IF_ERROR(status);
    ApplyIndexes(&plan, [&](auto* known) { known->push_back(index); });
  }
  return {};
}

// Where it fails, nobody knows.
Status Session::AlterFamily(const SessionAction& action) {
  TablePlan& plan = *std::find_if(tables_.begin(), tables_.end(), [&](const TablePlan& known) {
    return known.options.name == action.table;
  });
  JournalBatch entry;
  entry.emptied = action.table;
  const FamilyOptions before = own_dice_.Pick(plan.options.families);
  entry.altered = before;
  entry.altered->max_versions = 1 + static_cast<uint32_t>(own_dice_.Below(5));
  constexpr int64_t kTimes[] = {0, 60'000, 200'000, 1'000'000};
  if (entry.altered->ttl_micros != 0 || own_dice_.Chance(10)) {
    entry.altered->ttl_micros = kTimes[own_dice_.Below(std::size(kTimes))];
  }
  Journal& journal = plan.unlogged ? *unlogged_ : *logged_;
  const Status status = store_.engine().AlterFamily(action.table, *entry.altered);
  entry.now_micros = now();
  if (status.code() == StatusCode::kUnsupported) {  // Too often since it was compacted.
    ++counters_.limits_refused;
    return store_.engine().Compact(action.table);
  }
  if (!status.ok()) {
    journal.Append(std::move(entry));
    return status;
  }
  const bool is_same = entry.altered->max_versions == before.max_versions &&
                       entry.altered->ttl_micros == before.ttl_micros;
  if (is_same) return {};  // It makes nothing durable.
  model_.AlterFamily(action.table, *entry.altered, entry.now_micros);
  plan.options = model_.table(action.table);
  for (HeldSnapshot& held : snapshots_) held.former.insert(action.table);
  ++counters_.schema_edits;
  ++counters_.limits_changed;
  if (store_.simulated() == nullptr) return {};
  entry.last_sequence = store_.LastSequence();
  journal.Append(std::move(entry));
  journal.MarkDurable();
  return {};
}

// Snapshots have the rows of their time, and the indexes of now unless the rows are gone since.
void Session::ApplyIndexes(TablePlan* plan,
                           const std::function<void(std::vector<IndexOptions>*)>& change) {
  const std::string& table = plan->options.name;
  model_.ChangeIndexes(table, change);
  plan->options = model_.table(table);
  for (HeldSnapshot& held : snapshots_) {
    if (!held.former.contains(table)) held.model.TakeSchema(plan->options);
  }
  ++counters_.schema_edits;
}

Status Session::Flush(const std::string& table) {
  if (Status status = store_.engine().Flush(table); !status.ok()) return status;
  ++counters_.flushes;
  for (const TablePlan& plan : tables_) {
    if (!table.empty() && plan.options.name != table) continue;
    (plan.unlogged ? unlogged_ : logged_)->MarkDurableThrough(plan.options.name);
  }
  return {};
}

// On the simulated disk, where directories are cheap. What is not logged may be lost region by
// region, but not what is attached. To a table with observers nothing is attached.
Status Session::CopyTable(const std::string& table) {
  const TablePlan& plan = PlanOf(table);
  if (store_.simulated() == nullptr || plan.unlogged || !plan.options.observers.empty()) return {};
  ++counters_.table_copies;
  return CopyOntoItself(&store_.engine(), table, &copies_);
}

// At a key of the table, or in the middle of the largest region. Too many regions would leave none
// with more than a row.
Status Session::Split(const SessionAction& action) {
  // What regions of an unlogged table lose is no end of the batches.
  if (PlanOf(action.table).unlogged) return {};
  constexpr size_t kRegionsUsed = 12;
  engine::Engine& engine = store_.engine();
  for (const TableInfo& table : engine.Info().tables) {
    if (table.options.name == action.table && table.regions.size() >= kRegionsUsed) {
      return {};
    }
  }
  SplitOptions split;
  if (own_dice_.Chance(60)) split.key = own_dice_.Pick(PlanOf(action.table).keys);
  split.dry_run = own_dice_.Chance(10);
  const Status status = engine.Split(action.table, split).status();
  if (status.code() == StatusCode::kInvalidArgument) return {};  // No boundary is there.
  counters_.splits += status.ok();
  return status;
}

// The two from a key of the table on, or the smallest.
Status Session::MergeRegions(const SessionAction& action) {
  if (PlanOf(action.table).unlogged) return Status();
  RegionMergeOptions merge;
  if (own_dice_.Chance(70)) merge.key = own_dice_.Pick(PlanOf(action.table).keys);
  merge.dry_run = own_dice_.Chance(10);
  const Status status = store_.engine().MergeRegions(action.table, merge).status();
  if (status.code() == StatusCode::kInvalidArgument) return Status();  // No region follows it.
  counters_.region_merges += status.ok();
  return status;
}

// The oldest of several goes first. All memstores are flushed by it.
void Session::CreateSnapshot() {
  engine::Engine& engine = store_.engine();
  if (named_snapshots_.size() >= 3) {
    RequireOk(engine.DropSnapshot(named_snapshots_.front().name), "drop a snapshot");
    named_snapshots_.erase(named_snapshots_.begin());
  }
  NamedSnapshot named{"named " + std::to_string(++named_), model_, now()};
  RequireOk(engine.CreateSnapshot(named.name, {}), "create a snapshot");
  named_snapshots_.push_back(std::move(named));
  for (const TablePlan& plan : tables_) {
    (plan.unlogged ? unlogged_ : logged_)->MarkDurableThrough(plan.options.name);
  }
}

// As its table was then, whatever became of it.
void Session::CheckNamedSnapshot(const TablePlan& plan) {
  const NamedSnapshot& named = named_snapshots_[own_dice_.Below(named_snapshots_.size())];
  const auto snapshot = store_.engine().OpenSnapshot(named.name);
  RequireOk(snapshot.status(), "open " + named.name);
  TablePlan then = plan;
  then.options = named.model.table(plan.options.name);
  checker_.CheckTable({&store_.engine(), &named.model, &*snapshot, named.now_micros}, then, 3);
  ++counters_.named_snapshot_checks;
}

void Session::TakeSnapshot() {
  if (own_dice_.Chance(40)) return CreateSnapshot();
  auto snapshot = store_.engine().TakeSnapshot();
  RequireOk(snapshot.status(), "take a snapshot");
  snapshots_.push_back({*std::move(snapshot), model_, now()});
}

void Session::OpenCursor(const TablePlan& plan) {
  Generator generator(&own_dice_, &plan);
  const ScanOptions scan = generator.NewScan();
  const ModelRead read{now(), 1, {}};
  if (own_dice_.Chance(50)) {
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
  const size_t at = own_dice_.Below(cursors_.size());
  HeldCursor& held = cursors_[at];
  for (uint64_t count = own_dice_.Chance(30) ? held.rows.size() + 1 : own_dice_.Below(20);
       count > 0; --count) {
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

void Session::CheckTable(const TablePlan& plan) {
  ++counters_.checks;
  counters_.deep_checks += IsDeep(plan) ? 1 : 0;
  checker_.CheckTable(Now(), plan, plan.large_puts > 0 ? 3 : 6);
  // Few checks are of large rows: what they meet is always counted.
  if (plan.large_puts > 0 || own_dice_.Chance(25))
    CountPaths(&store_, plan, model_, now(), &counters_);
}

void Session::CheckSnapshot(const TablePlan& plan) {
  if (!named_snapshots_.empty() && own_dice_.Chance(40)) return CheckNamedSnapshot(plan);
  if (snapshots_.empty()) return;
  const HeldSnapshot& held = snapshots_[own_dice_.Below(snapshots_.size())];
  TablePlan then = plan;
  then.options = held.model.table(plan.options.name);
  checker_.CheckTable({&store_.engine(), &held.model, &held.snapshot, held.now_micros}, then, 3);
  ++counters_.snapshot_checks;
}

void Session::CheckEverything() {
  for (const TablePlan& plan : tables_) checker_.CheckTable(Now(), plan, 2);
}

void Session::Verify() {
  RequireSequences(store_.engine().Info());
  const auto report = store_.engine().Verify(true);
  RequireOk(report.status(), "verify");
  ++counters_.verifications;
  if (!report->findings.empty()) {
    throw Failure("verify found " + std::to_string(report->findings.size()) +
                  " things, first: " + report->findings[0].text);
  }
}

void Session::Finish() {
  own_dice_ = Dice(plan_.seed);
  CheckEverything();
  Verify();
  Reopen();
  CheckEverything();
  Verify();
  if (plan_.trace != nullptr) NoteIn(plan_.trace);
}

}  // namespace tandem::test
