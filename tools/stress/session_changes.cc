// What a session changes of tables and of named snapshots; see session_impl.h.
#include <algorithm>
#include <array>

#include "base/status_macros.h"
#include "tools/simulation/bulk_load.h"
#include "tools/simulation/same_observer.h"
#include "tools/stress/finding.h"
#include "tools/stress/session_impl.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelOperation;
using test::TablePlan;
using tools::Format;

constexpr size_t kNamedMax = 3;
constexpr uint64_t kExtraIndexes = 3;

std::string RenamedOf(const std::string& table) { return table + "-renamed"; }

/// One of those that a table is not made with; its columns are of the types that they have.
IndexOptions ExtraIndex(uint64_t number) {
  const std::array<IndexColumn, 5> columns = {IndexColumn{"d", "note", ColumnType::kBytes},
                                              IndexColumn{"w", "size", ColumnType::kInt64},
                                              IndexColumn{"d", "word", ColumnType::kText},
                                              IndexColumn{"h", "tag", ColumnType::kBytes, true},
                                              IndexColumn{"d", "gen", ColumnType::kInt64}};
  IndexOptions index;
  index.name = Format("extra_{}", number % kExtraIndexes);
  test::Dice dice(number);
  const uint64_t first = dice.Below(columns.size());
  index.columns = {columns[first]};
  if (dice.Chance(30)) {
    index.columns[0].functions = {Function::Substring(1, 2)};
    index.columns[0].type = ColumnType::kBytes;
  } else if (dice.Chance(50)) {
    index.columns.push_back(columns[(first + 1 + dice.Below(columns.size() - 1)) % columns.size()]);
  }
  return index;
}

std::vector<std::string> NamesOf(const std::vector<IndexOptions>& indexes) {
  std::vector<std::string> names;
  for (const IndexOptions& index : indexes) names.push_back(index.name);
  std::ranges::sort(names);
  return names;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace

TablePlan& Session::PlanOf(const std::string& table) {
  return *std::ranges::find_if(tables_,
                               [&](const TablePlan& plan) { return plan.options.name == table; });
}

std::string Session::NameAt(const Places& places, const std::string& table) {
  return places.at(table).renamed ? RenamedOf(table) : table;
}

std::vector<ModelOperation> Session::InDatabase(std::vector<ModelOperation> operations) const {
  for (ModelOperation& operation : operations) operation.table = NameOf(operation.table);
  return operations;
}

Status Session::Change(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kChangeIndex:
      return ChangeIndex(step);
    case Step::Kind::kObserve:
      return Observe(step.name);
    case Step::Kind::kLoad:
      return Load(step);
    case Step::Kind::kTruncate:
    case Step::Kind::kDrop:
      return Empty(step);
    case Step::Kind::kCreate:
      return Create(step.name);
    case Step::Kind::kRename:
      return Rename(step.name);
    case Step::Kind::kNameSnapshot:
      return NameSnapshot();
    case Step::Kind::kDropSnapshot:
      return DropSnapshot(step.number);
    default:
      return {};
  }
}

Status Session::Changed(const Status& status, const std::string& table, uint64_t* count) {
  if (status.ok()) {
    ++*count;
  } else {
    ++result_.counts.changes_failed;
    doubts_.insert(table);
  }
  return status;
}

Status Session::ChangeIndex(const Step& step) {
  if (!exists(step.name)) return {};
  const IndexOptions index = ExtraIndex(step.number);
  const bool is_there =
      std::ranges::count(PlanOf(step.name).options.indexes, index.name, &IndexOptions::name) > 0;
  const Status status = is_there ? engine_->DropIndex(NameOf(step.name), index.name)
                                 : engine_->CreateIndex(NameOf(step.name), index);
  if (status.code() == StatusCode::kAlreadyExists) return {};  // Under another name.
  RETURN_IF_ERROR(In(Format("{} index {}", is_there ? "drop" : "create", index.name),
                     Changed(status, step.name, &result_.counts.index_changes)));
  TakeIndexes(step.name, [&](std::vector<IndexOptions>* known) {
    if (!is_there) return known->push_back(index);
    std::erase_if(*known, [&](const IndexOptions& other) { return other.name == index.name; });
  });
  return {};
}

// Snapshots have the rows of their time, and the indexes of now unless the rows are gone since.
void Session::TakeIndexes(const std::string& table,
                          const std::function<void(std::vector<IndexOptions>*)>& change) {
  model_.ChangeIndexes(table, change);
  TablePlan& plan = PlanOf(table);
  plan.options = model_.table(table);
  for (HeldSnapshot& held : snapshots_) {
    if (!held.former.contains(table)) held.model.TakeSchema(plan.options);
  }
}

Status Session::Observe(const std::string& table) {
  if (!exists(table)) return {};
  std::vector<std::string> observers;
  if (!places_.at(table).observed) observers.emplace_back(test::kSameObserver);
  RETURN_IF_ERROR(
      In("set the observers of " + table, Changed(engine_->SetObservers(NameOf(table), observers),
                                                  table, &result_.counts.observer_changes)));
  places_.at(table).observed = !observers.empty();
  return {};
}

// A load is durable as a whole, and what was written before it. A table with observers takes none.
Status Session::Load(const Step& step) {
  const std::string& table = step.operations[0].table;
  if (std::ranges::any_of(step.operations, [&](const auto& put) { return model_.Refuses(put); })) {
    return {};
  }
  std::optional<int64_t> begun;
  const Status status = test::LoadInBulk(engine_.get(), InDatabase(step.operations),
                                         [&] { begun = clock_.WallMicros(); });
  if (!exists(table) || places_.at(table).observed) {
    const StatusCode code = exists(table) ? StatusCode::kInvalidArgument : StatusCode::kNotFound;
    if (status.code() == code || (!status.ok() && is_failing())) return {};
    return Mismatch("load of a table that is dropped or observed", "refused", status.ToString());
  }
  const int64_t timestamp = std::max(begun.value_or(0), std::max(now(), last_timestamp_ + 1));
  if (status.ok()) {
    ++result_.counts.bulk_loads;
    Step synced = step;
    synced.durability = Durability::kSynced;
    return Acknowledge(synced);
  }
  ++result_.counts.changes_failed;
  if (status.code() == StatusCode::kIoError) {
    logged_->Append({.operations = step.operations, .timestamp = timestamp, .open = true});
  }
  return In("load", status);
}

// What was logged before is durable with it. No two tables are dropped at a time, so that there is
// one to write to.
Status Session::Empty(const Step& step) {
  const std::string& table = step.name;
  const bool drops = step.kind == Step::Kind::kDrop;
  const bool all_exist =
      std::ranges::all_of(places_, [](const auto& at) { return at.second.exists; });
  if (!exists(table) || (drops && !all_exist)) return {};
  Journal& journal = PlanOf(table).unlogged ? *loose_ : *logged_;
  JournalBatch entry;
  entry.emptied = table;
  const Status status =
      drops ? engine_->DropTable(NameOf(table)) : engine_->TruncateTable(NameOf(table));
  uint64_t* const count = drops ? &result_.counts.drops : &result_.counts.truncations;
  if (const Status changed = Changed(status, table, count); !changed.ok()) {
    entry.open = true;
    journal.Append(std::move(entry));
    return In((drops ? "drop " : "truncate ") + table, changed);
  }
  if (drops) places_.at(table) = {.exists = false};
  model_.Truncate(table);
  for (HeldSnapshot& held : snapshots_) held.former.insert(table);
  journal.DropOpen();
  journal.Append(std::move(entry));
  journal.MarkDurable();
  logged_->DropOpen();
  logged_->MarkDurable();
  return {};
}

Status Session::Create(const std::string& table) {
  if (exists(table)) return {};
  RETURN_IF_ERROR(In("create " + table, Changed(engine_->CreateTable(PlanOf(table).options), table,
                                                &result_.counts.creations)));
  places_.at(table) = {};
  return {};
}

Status Session::Rename(const std::string& table) {
  if (!exists(table)) return {};
  Place& place = places_.at(table);
  const std::string to = place.renamed ? table : RenamedOf(table);
  RETURN_IF_ERROR(In("rename " + table, Changed(engine_->RenameTable(NameOf(table), to), table,
                                                &result_.counts.renames)));
  place.renamed = !place.renamed;
  return {};
}

// All memstores are flushed by it.
Status Session::NameSnapshot() {
  if (named_.size() >= kNamedMax) return {};
  NamedSnapshot named{Format("named-{}", ++named_count_), model_, places_};
  const Status status = engine_->CreateSnapshot(named.name, {});
  named.in_doubt = !status.ok();
  if (!status.ok()) {
    ++result_.counts.changes_failed;
    absent_.push_back(std::move(named));
    return In("create a named snapshot", status);
  }
  ++result_.counts.named_snapshots;
  named_.push_back(std::move(named));
  NoteFlushed("");
  return {};
}

Status Session::DropSnapshot(uint64_t number) {
  if (named_.empty()) return {};
  const auto named = named_.begin() + static_cast<std::ptrdiff_t>(number % named_.size());
  if (const Status status = engine_->DropSnapshot(named->name); !status.ok()) {
    ++result_.counts.changes_failed;
    named->in_doubt = true;
    return In("drop a named snapshot", status);
  }
  ++result_.counts.snapshot_drops;
  named_.erase(named);
  return {};
}

Status Session::CheckSchema(bool after_crash) {
  const DatabaseInfo info = engine_->Info();
  size_t count = 0;
  for (TablePlan& plan : tables_) {
    RETURN_IF_ERROR(CheckTableSchema(info, &plan, after_crash));
    count += exists(plan.options.name) ? 1 : 0;
  }
  if (info.tables.size() != count) {
    return Mismatch("the number of tables", std::to_string(count),
                    std::to_string(info.tables.size()));
  }
  if (after_crash) doubts_.clear();
  return CheckNamedSnapshots(after_crash);
}

Status Session::CheckTableSchema(const DatabaseInfo& info, TablePlan* plan, bool after_crash) {
  const std::string table = plan->options.name;  // A copy: the definition may change.
  Place found{.exists = false};
  const TableOptions* options = nullptr;
  for (const TableInfo& each : info.tables) {
    if (each.options.name != table && each.options.name != RenamedOf(table)) continue;
    if (options != nullptr) return Mismatch("table " + table, "one of that name", "two");
    options = &each.options;
    found = {.exists = true,
             .renamed = each.options.name != table,
             .observed = !each.options.observers.empty()};
  }
  if (after_crash && doubts_.contains(table)) {
    places_.at(table) = found;
    if (options == nullptr) return {};
    plan->options.indexes = options->indexes;
    plan->options.columns = options->columns;
    return {};
  }
  const auto describe = [](const Place& place) {
    return Format("{}{}{}", place.exists ? "there" : "dropped", place.renamed ? ", renamed" : "",
                  place.observed ? ", observed" : "");
  };
  const Place& known = places_.at(table);
  if (known != found) return Mismatch("table " + table, describe(known), describe(found));
  if (options == nullptr) return {};
  const std::vector<std::string> expected = NamesOf(plan->options.indexes);
  const std::vector<std::string> indexes = NamesOf(options->indexes);
  if (indexes == expected) return {};
  return Mismatch("indexes of " + table, Joined(expected), Joined(indexes));
}

Status Session::CheckNamedSnapshots(bool after_crash) {
  const auto listed = engine_->ListSnapshots();
  if (!listed.has_value()) return In("list of named snapshots", listed.error());
  std::vector<std::string> found, expected;
  for (const NamedSnapshotInfo& info : *listed) found.push_back(info.name);
  if (after_crash) {
    std::ranges::move(absent_, std::back_inserter(named_));
    absent_.clear();
    std::erase_if(named_, [&](const NamedSnapshot& named) {
      return named.in_doubt && std::ranges::count(found, named.name) == 0;
    });
    for (NamedSnapshot& named : named_) named.in_doubt = false;
  }
  for (const NamedSnapshot& named : named_) expected.push_back(named.name);
  std::ranges::sort(found);
  std::ranges::sort(expected);
  if (found == expected) return {};
  return Mismatch("named snapshots", Joined(expected), Joined(found));
}

}  // namespace tandem::stress
