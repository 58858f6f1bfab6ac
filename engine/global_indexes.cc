// Global indexes: what a query asks of them, and building those that were added to a table
// (docs/decisions/0046-entries-of-global-indexes-are-rows-of-a-table.md).
//
// From the edit that adds an index on, each write keeps its entries (engine/commit). What was there
// before is built by a task: it walks the row keys, and for some rows at a time commits a batch
// that changes nothing of them and writes their entries. Rows that change meanwhile are read again
// by the commit, as of any other batch. When all are done the log is synced, and one edit says from
// which sequence on the index serves. A task that is interrupted begins again with the first row.
//
// A load of files (engine/jobs/load_linker) lets the indexes of its table begin anew, without
// entries.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/engine_impl.h"
#include "engine/predicate/bound.h"
#include "engine/query/access_paths.h"
#include "engine/query/global_access.h"
#include "engine/query/plan.h"
#include "engine/query/query.h"
#include "engine/query/scan.h"
#include "engine/read/row_source.h"

namespace tandem::engine {
namespace {

constexpr size_t kBuiltRows = 256;  // By one batch.
constexpr int64_t kBusyDelayMicros = 50'000;
constexpr int64_t kRetryDelayMicros = 1'000'000;

// A local index is asked in each region, a global one once, and then each of its rows is looked up:
// by docs/performance.md a row costs about what a region does, and the entries what these do.
constexpr size_t kRegionsOnce = 10;

bool HasLocalIndex(const format::TableRecord& table, const BoundPredicate& predicate) {
  return std::ranges::any_of(table.indexes, [&](const format::IndexRecord& index) {
    return AccessPathFinder::LeafServed(predicate.root(), index) != nullptr;
  });
}

// Why no global index serves a read at the point; empty: they may.
std::string WhyNoGlobal(const SnapshotPoint& point, const QueryRequest& request) {
  if (request.query.no_index) return "no_index is given";
  if (request.query.any_version) return "entries are of the newest versions, and any one may match";
  if (point.named != nullptr) return "named snapshots have no entries of global indexes";
  if (point.own != nullptr) return "a transaction reads its own writes, which have no entries yet";
  if (request.options.as_of.has_value() || request.options.since.has_value()) {
    return "entries are of the current state, and the read is of other timestamps";
  }
  return {};
}

// Why the index does not serve at the sequence; empty: it does.
std::string WhyNotReady(const format::GlobalIndexRecord& global, format::SequenceNumber sequence) {
  if (!global.since.has_value()) return "it is being built";
  return *global.since > sequence ? "the snapshot is older than its entries" : "";
}

// The index that the options name alone.
std::string AskedFor(const QueryOptions& options) {
  if (!options.use_index.empty() || options.use_indexes.empty()) return options.use_index;
  return options.use_indexes.size() == 1 ? options.use_indexes.front() : std::string();
}

}  // namespace

// The regions with entries in the ranges; nullopt: the table is gone. The point is registered. The
// time is not later than that of the rows, so what has expired there has expired here.
std::optional<TableView> EngineImpl::PinEntries(format::TableId id, const SnapshotPoint& point,
                                                const KeyRanges& ranges, bool is_present) {
  while (const std::shared_ptr<const Table> table = database_.regions->Find(id)) {
    TableView view{
        .table = table->record, .regions = {}, .point = point.point(), .registration = {}};
    bool is_current = true;
    for (const auto& region : table->RegionsOf(ranges)) {
      view.regions.push_back(region->version());
      is_current &= !view.regions.back()->is_retired;
    }
    if (!is_current) continue;
    view.registration = point.pinned();
    if (is_present) view.point.now_micros = time_.Now();
    return view;
  }
  return std::nullopt;
}

// nullptr: the predicate cannot be bound, which is said where it is bound for the query.
Result<std::shared_ptr<const GlobalRows>> EngineImpl::AskGlobal(const Table& table,
                                                                const SnapshotPoint& point,
                                                                const QueryRequest& request) {
  const ReadResources resources = read_resources();
  auto found = std::make_shared<GlobalRows>();
  QueryRequest plain = request;
  plain.global = nullptr;
  const Result<BoundPredicate> predicate = BindQuery(plain, *table.record);
  if (!predicate.has_value()) return std::shared_ptr<const GlobalRows>();
  const std::string why_none = WhyNoGlobal(point, request);
  const std::string asked_for = AskedFor(request.query);
  const bool is_other_asked_for = !asked_for.empty() || !request.query.use_indexes.empty();
  for (const format::GlobalIndexRecord& global : table.record->global_indexes) {
    const auto reject = [&](std::string why) {
      found->unused.push_back({global.index.name, std::move(why)});
    };
    const bool is_asked_for = global.index.name == asked_for;
    std::string why = why_none.empty() ? format::WhyUnusable(global.index) : why_none;
    if (why.empty()) why = WhyNotReady(global, point.point().sequence);
    if (why.empty() && is_other_asked_for && !is_asked_for) why = "another index is asked for";
    std::optional<KeyRanges> ranges;
    if (why.empty()) {
      ranges = EntryRanges(global.index, *predicate);
      if (!ranges.has_value()) why = WhyNoEntryRanges(global.index);
    }
    std::optional<TableView> entries;
    if (why.empty()) {
      entries = PinEntries(global.entries, point, *ranges, request.options.snapshot == nullptr);
      if (!entries.has_value()) why = "it was dropped";
    }
    if (!why.empty()) {
      reject(std::move(why));
      continue;
    }
    size_t most = is_asked_for ? SIZE_MAX : kGlobalEntriesMax;
    if (!found->index.empty() && found->rows.empty()) {
      reject("another one has no entries");
      continue;
    }
    if (!found->index.empty()) most = found->rows.size() - 1;
    if (!is_asked_for && HasLocalIndex(*table.record, *predicate)) {
      const size_t regions = table.regions.size();
      most = std::min(most, regions < kRegionsOnce ? 0 : regions - kRegionsOnce);
    }
    if (most == 0) {
      reject("a local index reads few regions for less");
      continue;
    }
    ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> rows,
                     RowsOfEntries(resources, request.options, *std::move(entries), global.index,
                                   *ranges, most));
    if (!rows.has_value()) {
      reject("it has more than " + std::to_string(most) + " entries, which would cost more");
      continue;
    }
    if (!found->index.empty()) found->unused.push_back({found->index, "more entries"});
    found->index = global.index.name;
    found->id = global.index.id;
    found->rows = *std::move(rows);
  }
  return std::shared_ptr<const GlobalRows>(std::move(found));
}

// One run does a part of the work, so that a close does not wait for more.
void EngineImpl::BuildGlobalIndexes() {
  if (builds_global_.exchange(true, std::memory_order_acq_rel)) return;
  Result<int64_t> delay = Guarded([this] { return BuildSomeEntries(); });
  builds_global_.store(false, std::memory_order_release);
  if (!delay.has_value()) {
    global_position_ = {};
    health_.Log("building a global index: " + delay.error().ToString());
    if (base::MayPass(delay.error())) global_builds_->Schedule(kRetryDelayMicros);
  } else if (*delay >= 0) {
    global_builds_->Schedule(*delay);
  }
}

// How long to wait before more is done; negative: nothing is left.
Result<int64_t> EngineImpl::BuildSomeEntries() {
  GatePass pass(calls_);
  if (!pass.inside() || !health_.CheckWritable().ok()) return -1;
  schema_->DropEntriesOfNone();
  for (const auto& table : database_.regions->tables()) {
    for (const format::GlobalIndexRecord& global : table->record->global_indexes) {
      const bool is_left = global.since.has_value() || format::IsUnusable(global.index);
      if (is_left || !WhyNotBuilt(global.entries).empty()) continue;
      Result<int64_t> delay = BuildEntries(*table, global);
      if (delay.has_value() || base::MayPass(delay.error())) return delay;
      // Its rows cannot have entries: others go on.
      {
        const base::MutexLock lock(global_failures_mutex_);
        global_failures_[global.entries] =
            "its build was given up, until the database is opened again: " +
            std::string(delay.error().message());
      }
      return Status{delay.error().code(), "table " + base::Quote(table->record->name) + ", index " +
                                              base::Quote(global.index.name) + ": " +
                                              std::string(delay.error().message())};
    }
  }
  return -1;
}

std::string EngineImpl::WhyNotBuilt(format::TableId entries) const {
  const base::MutexLock lock(global_failures_mutex_);
  const auto found = global_failures_.find(entries);
  return found == global_failures_.end() ? std::string() : found->second;
}

Result<int64_t> EngineImpl::BuildEntries(const Table& table,
                                         const format::GlobalIndexRecord& global) {
  if (global_position_.entries != global.entries) {
    global_position_ = {.entries = global.entries, .next = {}};
  }
  const std::string name = table.record->name;
  std::optional<std::string> next;
  ASSIGN_OR_RETURN(const std::optional<std::vector<std::string>> rows,
                   RowsToBuild(name, global, global_position_.next, &next));
  if (!rows.has_value()) return kBusyDelayMicros;
  if (!rows->empty()) {
    std::optional<WritePlan> plan =
        PlanEntries(table.record->id, global.index.id, *rows, *database_.regions);
    if (!plan.has_value()) return 0;
    const Status admitted =
        gate_->Admit({.tables = plan->tables, .bytes = plan->size_bytes, .no_wait = true});
    if (admitted.code() == StatusCode::kBusy) return kBusyDelayMicros;
    RETURN_IF_ERROR(admitted);
    RETURN_IF_ERROR(queue_->Commit(&*plan, Durability::kBuffered));
    if (plan->is_stale) return 0;
  }
  if (next.has_value()) {
    global_position_.next = *std::move(next);
    return 0;
  }
  // The edit is durable at once; the entries are in the log, whose end a power cut may take.
  RETURN_IF_ERROR(queue_->SyncThrough(queue_->last_sequence()));
  const format::TableId entries = global.entries;
  const Status status = ChangeTable(name, [&](format::TableRecord* record) -> Status {
    for (format::GlobalIndexRecord& built : record->global_indexes) {
      if (built.entries != entries) continue;
      built.since = queue_->last_sequence();
      return {};
    }
    return Status::Conflict("the index was dropped");
  });
  const bool is_gone =
      status.code() == StatusCode::kConflict || status.code() == StatusCode::kNotFound;
  if (!status.ok() && !is_gone) return status;
  global_position_ = {};
  return 0;
}

// Some row keys from `first` on, of one region. `*next`: where the next ones begin; nullopt: these
// were the last. nullopt: a load has shown that the index is built anew, and not yet its rows.
Result<std::optional<std::vector<std::string>>> EngineImpl::RowsToBuild(
    std::string_view name, const format::GlobalIndexRecord& global, const std::string& first,
    std::optional<std::string>* next) {
  const std::string_view first_row = first;
  ASSIGN_OR_RETURN(TableView view, ViewOfRows(ReadOptions(), name, {&first_row, 1}));
  if (view.point.sequence < view.regions.front()->changed_through) {
    return std::optional<std::vector<std::string>>();
  }
  const std::string end = view.regions.front()->end_key;
  const format::IndexColumnRecord& column = global.index.columns.front();
  ReadOptions options;
  const format::FamilyRecord* const family = view.table->FindFamily(column.family);
  std::vector<std::string> rows;
  if (family == nullptr || family->dropped) return std::optional(std::move(rows));
  options.columns.push_back({.family = family->options.name, .qualifier = column.qualifier});
  options.pieces = true;
  ScanOptions scan;
  scan.limit = kBuiltRows;
  uint64_t bytes = 0;
  const ReadResources resources = read_resources();
  const ScanRequest request{resources, options, scan, ReadLimits::Of(options, resources.clock)};
  format::KeyRange range{.low = first, .high = {}};
  if (!end.empty()) range.high = end;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   ScanView(request, {range}, std::move(view), &bytes));
  RowReader reader(std::move(source));
  RowView row;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, reader.Next(&row));
    if (!is_row) break;
    if (rows.empty() || rows.back() != row.key()) rows.emplace_back(row.key());
  }
  if (rows.size() >= kBuiltRows) {
    *next = rows.back() + '\0';
  } else if (!end.empty()) {
    *next = end;
  }
  return std::optional(std::move(rows));
}

}  // namespace tandem::engine
