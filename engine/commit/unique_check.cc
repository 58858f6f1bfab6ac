// See unique_check.h.
#include "engine/commit/unique_check.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/query/holders.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

const format::TableRecord& RecordOf(const WritePlan& plan, format::TableId id) {
  const auto found = std::find_if(plan.tables.begin(), plan.tables.end(),
                                  [id](const auto& table) { return table->record->id == id; });
  return *(*found)->record;  // Planning put every table there.
}

Status Violation(const WritePlan& plan, const UniqueEntry& entry, std::string_view holder) {
  const format::TableRecord& table = RecordOf(plan, entry.table);
  const format::IndexRecord& index = *table.FindIndex(entry.index);
  ASSIGN_OR_RETURN(const std::optional<std::string> value, format::DecodeEntry(index, entry.key));
  return Status::AlreadyExists("table " + base::Quote(table.name) + ", unique index " +
                               base::Quote(index.name) + ": row " + base::Quote(entry.row) +
                               " would have the value " + base::Quote(value.value_or("")) +
                               ", which row " + base::Quote(holder) + " has");
}

// Rows of the batch that would have the same new entry. Entries ascend.
Status CompareRows(const WritePlan& plan) {
  const auto is_shared = [](const UniqueEntry& a, const UniqueEntry& b) {
    return a.IsAs(b) && (a.is_new || b.is_new);
  };
  const auto found = std::adjacent_find(plan.entries.begin(), plan.entries.end(), is_shared);
  if (found == plan.entries.end()) return {};
  const UniqueEntry& next = *std::next(found);
  return found->is_new ? Violation(plan, *found, next.row) : Violation(plan, next, found->row);
}

// All regions of the table, pinned after the sequence was registered. nullopt: it is gone.
std::optional<TableView> PinAll(
    const HolderSearch& search, format::TableId id,
    const std::shared_ptr<const SnapshotRegistry::Registration>& registration) {
  TableView view;
  view.registration = registration;
  view.point = registration->point();
  bool is_whole = false;
  while (!is_whole) {
    const std::shared_ptr<const Table> table = search.regions->Find(id);
    if (table == nullptr) return std::nullopt;
    view.table = table->record;
    view.regions.clear();
    for (const auto& region : table->regions) view.regions.push_back(region->version());
    is_whole =
        std::ranges::none_of(view.regions, [](const auto& version) { return version->is_retired; });
  }
  view.point.now_micros = search.time->Now();
  return view;
}

class Search {
 public:
  using Registration = std::shared_ptr<const SnapshotRegistry::Registration>;

  Search(const HolderSearch& search, const Registration& registration, WritePlan* plan)
      : search_(search), registration_(registration), plan_(plan) {}

  Status Run() {
    const ReadResources resources = search_.resources();
    for (const UniqueEntry& entry : plan_->entries) {
      if (!entry.is_new) continue;
      if (!Pin(entry.table)) return {};
      const format::IndexRecord* index = view_->table->FindIndex(entry.index);
      plan_->is_stale |= index == nullptr;
      if (plan_->is_stale) return {};
      const auto is_outside = [&](std::string_view row) {
        const UniqueRow touched{.table = entry.table, .index = entry.index, .row = row};
        return !std::binary_search(plan_->unique_rows.begin(), plan_->unique_rows.end(), touched);
      };
      ASSIGN_OR_RETURN(const std::optional<std::string> holder,
                       FindHolder(resources, *view_, *index, entry.key, is_outside));
      if (holder.has_value()) return Violation(*plan_, entry, *holder);
    }
    return {};
  }

 private:
  // Entries come by table.
  bool Pin(format::TableId table) {
    if (view_.has_value() && view_->table->id == table) return true;
    view_ = PinAll(search_, table, registration_);
    plan_->is_stale |= !view_.has_value();
    return view_.has_value();
  }

  const HolderSearch& search_;
  const Registration& registration_;
  WritePlan* plan_;
  std::optional<TableView> view_;
};

}  // namespace

// A table that has another record now is another one: whoever has an entry there need not have had
// it under the record that the batch was planned with.
Status FindHolders(const HolderSearch& search,
                   const std::shared_ptr<const SnapshotRegistry::Registration>& registration,
                   int64_t timestamp, WritePlan* plan) {
  if (!TryWrite(timestamp, search.time->Now(), plan).ok()) return {};
  Status status = CompareRows(*plan);
  if (status.ok()) status = Search(search, registration, plan).Run();
  plan->is_stale |= plan->changes != search.regions->changes();
  if (plan->is_stale) return {};
  if (!status.ok() && status.code() != StatusCode::kAlreadyExists) return status;
  plan->read_set.violation = std::move(status);
  plan->read_set.entries = std::move(plan->entries);
  return {};
}

Result<Completion::Outcome> CheckEntries(const CompletionPoint& point, const WritePlan& plan,
                                         RecentEntries* recent) {
  using Outcome = Completion::Outcome;
  RETURN_IF_ERROR(plan.read_set.violation);
  RETURN_IF_ERROR(CompareRows(plan));
  const std::vector<UniqueEntry>& sought = plan.read_set.entries;
  for (const UniqueEntry& entry : plan.entries) {
    if (!entry.is_new) continue;
    const auto found = std::lower_bound(sought.begin(), sought.end(), entry);
    const bool was_sought =
        found != sought.end() && found->IsAs(entry) && found->row == entry.row && found->is_new;
    if (!was_sought) return Outcome::kMoved;
    // A leader that has read for the batch has seen everything.
    if (!point.reads_alone &&
        recent->MayBeNewer(entry.table, entry.index, entry.key, plan.read_set.visible)) {
      return Outcome::kMoved;
    }
  }
  for (const UniqueEntry& entry : plan.entries) {
    if (entry.is_new) recent->Note(entry.table, entry.index, entry.key, point.first);
  }
  return Outcome::kComplete;
}

}  // namespace tandem::engine
