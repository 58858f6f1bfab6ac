// Reads: a view is pinned in the order of rule 25, and engine/query does the rest.
#include <algorithm>
#include <span>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/counting/live_middle.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/group/expressions.h"
#include "engine/prepared_query.h"
#include "engine/query/plan.h"
#include "engine/query/query.h"
#include "engine/query/scan.h"
#include "engine/query/token.h"
#include "engine/scan/merged_scan.h"
#include "engine/scan/split_scan.h"
#include "engine/transaction/own_writes.h"
#include "engine/verify/global.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::engine {

namespace {

// Where memory is short, parts of reads are small.
constexpr uint64_t kPartsOfMemstore = 64;

// What the regions of a table had when a change of the schema took it.
template <typename Chooser>
TableView PinFormer(const FormerTable& former, const Chooser& regions_of) {
  TableView view;
  view.table = former.table->record;
  for (const auto& region : regions_of(*former.table)) {
    view.regions.push_back(former.versions[former.table->PlaceOf(region->start_key())]);
  }
  return view;
}

Result<uint64_t> CountRowsOf(std::unique_ptr<RowSource> source) {
  const auto batch = std::make_unique<format::RowBatch>();
  uint64_t rows = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, source->NextBatch(batch.get()));
    if (!more) return rows;
    rows += batch->size();
  }
}

}  // namespace

template <typename Chooser>
Result<TableView> EngineImpl::PinNamed(OpenNamedSnapshot& snapshot, std::string_view name,
                                       const Chooser& regions_of) {
  const std::shared_ptr<const Table> table = snapshot.Find(name);
  if (table == nullptr) {
    return Status::NotFound("snapshot " + base::Quote(snapshot.record().name) + " has no table " +
                            base::Quote(name));
  }
  TableView view;
  view.table = table->record;
  for (const auto& region : regions_of(*table)) {
    ASSIGN_OR_RETURN(std::shared_ptr<const RegionVersion> version, snapshot.VersionOf(*region));
    view.regions.push_back(std::move(version));
  }
  return view;
}

// The table that has the name now, or had it at `schema`; nullptr: none. It has the same rows.
Result<std::shared_ptr<const Table>> EngineImpl::TableAt(
    const SchemaHistory::Pin* schema, std::string_view name,
    std::shared_ptr<const FormerTable>* former) const {
  while (schema != nullptr) {
    SchemaHistory::Found then = history_->Find(*schema, name);
    *former = std::move(then.former);
    if (*former != nullptr) return (*former)->table;
    if (then.is_changed && !then.renamed.has_value()) return TableNotFound(name);
    std::shared_ptr<const Table> table = then.renamed.has_value()
                                             ? database_.regions->Find(*then.renamed)
                                             : database_.regions->Find(name);
    if (history_->number() != then.number) continue;  // Between the two looks.
    if (table == nullptr) return TableNotFound(name);
    return table;
  }
  std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  return table;
}

// A region that is split or merged meanwhile has no rows any more, nor has one of a table that is
// dropped: the table, which has what the region became by then, is found again. So it is where its
// record changed before all regions were pinned: merges may have left out cells of a family that
// the former record has.
template <typename Chooser>
Result<TableView> EngineImpl::PinRegionsOf(std::string_view name, const SnapshotPoint& point,
                                           const Chooser& regions_of) {
  if (point.named != nullptr) return PinNamed(point.named->snapshot(), name, regions_of);
  while (true) {
    const uint64_t changes = database_.regions->changes();
    std::shared_ptr<const FormerTable> former;
    ASSIGN_OR_RETURN(const std::shared_ptr<const Table> table,
                     TableAt(point.schema.get(), name, &former));
    Result<TableView> view = TableView();
    bool is_current = true;
    if (former != nullptr) {
      *view = PinFormer(*former, regions_of);
    } else {
      view->table = table->record;
      for (const auto& region : regions_of(*table)) {
        view->regions.push_back(region->version());
        region->CountRead();
        is_current &= !view->regions.back()->is_retired;
      }
      is_current &= database_.regions->changes() == changes;
    }
    if (!is_current) continue;
    if (point.own != nullptr) point.own->AddTo(&*view);
    return view;
  }
}

// Sequence, time and schema of one moment: no change of the schema comes in between.
SnapshotPoint EngineImpl::TakePoint() {
  while (true) {
    SnapshotPoint point;
    point.schema = history_->PinNow();
    point.registration = snapshots_->RegisterSnapshot();
    if (database_.regions->changes() == point.schema->number()) return point;
  }
}

// The point that the read's snapshot pins.
Result<SnapshotPoint> EngineImpl::PointOf(const Snapshot& snapshot) const {
  const SnapshotState& state = snapshot.state();
  if (state.handles == handles_) return state.point;
  return Status::InvalidArgument("the snapshot belongs to another database");
}

// (a) The sequence number is registered, (b) the versions are pinned, (c) then the time is read.
// For a snapshot, (a) and (c) happened when it was taken; merges since then kept what was alive at
// its time. Where a schema changed after (a), it begins again: otherwise it would show the change
// without what was written before it.
template <typename Chooser>
Result<TableView> EngineImpl::ViewOfRegions(const ReadOptions& options, std::string_view name,
                                            const Chooser& regions_of,
                                            const SnapshotPoint** taken) {
  const bool is_present = options.snapshot == nullptr;
  while (true) {
    const uint64_t changes = database_.regions->changes();
    SnapshotPoint point;
    if (is_present) {
      point.registration = snapshots_->RegisterRead();
    } else {
      ASSIGN_OR_RETURN(point, PointOf(*options.snapshot));
    }
    if (taken != nullptr) *taken = &point;
    Result<TableView> view = PinRegionsOf(name, point, regions_of);
    RETURN_IF_ERROR(view.status());
    if (is_present && database_.regions->changes() != changes) continue;
    view->point = point.point();
    if (is_present) view->point.now_micros = time_.Now();
    if (time_.TakeChange()) ReportClock();
    if (is_present) LookForHotRegions(view->point.now_micros);
    view->registration = point.pinned();
    return view;
  }
}

Result<TableView> EngineImpl::ViewOf(const ReadOptions& options, std::string_view name) {
  return ViewOfRegions(options, name, [](const Table& table) { return std::span(table.regions); });
}

// What the index finds and the rows are read at the same sequence, which is registered before both.
Result<TableView> EngineImpl::ViewOf(std::string_view name, QueryRequest* request,
                                     RegionsOfQuery which) {
  const SnapshotPoint* point = nullptr;
  Status status;
  std::vector<std::shared_ptr<Region>> chosen;
  using Regions = std::span<const std::shared_ptr<Region>>;
  const auto regions_of = [&](const Table& table) -> Regions {
    request->global = nullptr;
    if (!table.record->global_indexes.empty()) {
      Result<std::shared_ptr<const GlobalRows>> found = AskGlobal(table, *point, *request);
      status = found.has_value() ? Status() : found.error();
      if (found.has_value()) request->global = *std::move(found);
    }
    const bool has_rows = request->global != nullptr && !request->global->index.empty();
    const bool may_choose =
        has_rows || !request->query.ranges.empty() || NamesRowKey(request->predicate);
    if (!may_choose || table.regions.size() == 1 || which == RegionsOfQuery::kAll) {
      return table.regions;
    }
    const Result<BoundPredicate> predicate = BindQuery(*request, *table.record);
    if (!predicate.has_value()) return table.regions;
    chosen = table.RegionsOf(RowsUnder(*predicate));
    return chosen;
  };
  Result<TableView> view = ViewOfRegions(request->options, name, regions_of, &point);
  RETURN_IF_ERROR(view.status());
  RETURN_IF_ERROR(status);
  return view;
}

// A row as of the point.
Result<std::optional<Row>> EngineImpl::GetAt(const SnapshotPoint& point, const ReadOptions& options,
                                             std::string_view name, std::string_view row) {
  ASSIGN_OR_RETURN(TableView view, PinRegionsOf(name, point, [row](const Table& table) {
                     return table.RegionsOf(row, row);
                   }));
  view.point = point.point();
  view.registration = point.pinned();
  return GetRow(view.RegionOf(row), options, row);
}

// As a read of a snapshot: sequence, time and schema are registered before any region is pinned
// (docs/decisions/0021).
Result<std::unique_ptr<RowSource>> EngineImpl::ScanManyRegions(const ReadOptions& options,
                                                               std::string_view name,
                                                               ScanCall* call) {
  SnapshotPoint point;
  if (options.snapshot == nullptr) {
    point = TakePoint();
  } else {
    ASSIGN_OR_RETURN(point, PointOf(*options.snapshot));
  }
  // Later parts see no write that a transaction has added meanwhile.
  if (point.own != nullptr) point.own = std::make_shared<const OwnWrites>(*point.own);
  call->origin.scope.sequence = point.point().sequence.value;
  if (time_.TakeChange()) ReportClock();
  const auto pin = [this, point,
                    table = std::string(name)](const RegionsWanted& wanted) -> Result<TableView> {
    const auto regions_of = [&wanted](const Table& found) {
      return found.RegionsOf(wanted.rows, wanted.regions_max, wanted.from_end);
    };
    ASSIGN_OR_RETURN(TableView view, PinRegionsOf(table, point, regions_of));
    view.point = point.point();
    view.registration = point.pinned();
    return view;
  };
  return ScanInParts({read_resources(options), options, call->scan, call->origin.limits}, pin,
                     tuning_.scan_regions);
}

// The entries of a global index have no name to be found by.
Result<std::optional<TableView>> EngineImpl::ViewOf(format::TableId id) {
  while (const std::shared_ptr<const Table> table = database_.regions->Find(id)) {
    if (table->record->entries_of.has_value()) {
      SnapshotPoint point;
      point.registration = snapshots_->RegisterRead();
      return PinEntries(id, point, {format::KeyRange()}, /*is_present=*/true);
    }
    Result<TableView> view = ViewOf({}, table->record->name);
    if (!view.has_value() && view.error().code() != StatusCode::kNotFound) return view.error();
    if (view.has_value() && view->table->id == id) return std::optional(*std::move(view));
  }
  return std::optional<TableView>();
}

// A row is read in one go, so its sequence need not be registered (docs/decisions/0014): (a) the
// version is pinned, (b) then the sequence is read, (c) then the time.
Result<RegionView> EngineImpl::ViewOfRow(const ReadOptions& options, std::string_view name,
                                         std::string_view row) {
  if (options.snapshot != nullptr) {
    const auto regions_of = [row](const Table& table) { return table.RegionsOf(row, row); };
    ASSIGN_OR_RETURN(const TableView view, ViewOfRegions(options, name, regions_of));
    return view.RegionOf(row);
  }
  RegionView view;
  uint64_t changes = 0;
  do {
    changes = database_.regions->changes();
    const std::shared_ptr<const Table> table = database_.regions->Find(name);
    if (table == nullptr) return TableNotFound(name);
    view.table = table->record;
    Region& region = table->RegionOf(row);
    region.CountRead();
    view.region = region.version();
    view.point = {.sequence = snapshots_->visible(), .now_micros = time_.Now()};
    // It was split, or its record changed meanwhile: see PinRegionsOf. So the sequence has nothing
    // that was written after such a change.
  } while (view.region->is_retired || database_.regions->changes() != changes);
  if (time_.TakeChange()) ReportClock();
  LookForHotRegions(view.point.now_micros);
  return view;
}

Result<Cursor> EngineImpl::NewCursor(Result<std::unique_ptr<RowSource>> source,
                                     std::string_view table, CursorOrigin origin) {
  if (!source.has_value()) return source.error();
  if (origin.expressions != nullptr) {
    *source = ComputeRows(*std::move(source), std::move(origin.expressions));
  }
  return Cursor(handles_->NewCursor(std::move(*source), table, std::move(origin)));
}

Status EngineImpl::CheckThreads(const ReadOptions& options) {
  if (options.threads > 0 && options.threads <= kReadThreadsMax) return {};
  return Status::InvalidArgument("a read has 1 to " + std::to_string(kReadThreadsMax) +
                                 " threads, not " + std::to_string(options.threads));
}

// What a transaction has written is read by its own thread alone.
ReadResources EngineImpl::read_resources(const ReadOptions& options) const {
  ReadResources resources = read_resources();
  if (options.threads <= 1) return resources;
  if (options.snapshot != nullptr && options.snapshot->state().point.own != nullptr) {
    return resources;
  }
  resources.part_bytes = std::clamp<uint64_t>(tuning_.memstore_bytes / kPartsOfMemstore, 1,
                                              ReadResources().part_bytes);
  resources.readers = read_threads_ != nullptr ? read_threads_.get() : environment_.executor;
  return resources;
}

// Takes the query's token, if it has one, and begins to count what it costs.
Status EngineImpl::BeginQuery(const TableView& view, TokenUse use, QueryRequest* request,
                              CursorOrigin* origin) {
  RETURN_IF_ERROR(CheckThreads(request->options));
  ASSIGN_OR_RETURN(*origin, engine::BeginQuery(*request, database_id_, view, use));
  request->from = origin->from.has_value() ? &*origin->from : nullptr;
  request->leads = origin->leads.has_value() ? &*origin->leads : nullptr;
  request->limits = origin->limits;
  request->no_scan = options_.no_scan_tables.contains(view.table->name);
  if (request->query.expressions.empty()) return {};
  ASSIGN_OR_RETURN(origin->expressions, BindExpressions(*request->expressions, request->query,
                                                        view.table, options_.functions));
  return {};
}

Result<std::optional<Row>> EngineImpl::Get(const ReadOptions& options, std::string_view table,
                                           std::string_view row) {
  __builtin_prefetch(row.data());  // It is hashed once the region is found.
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  monitor_.CountCall(Monitor::Call::kGet);
  ASSIGN_OR_RETURN(RegionView view, ViewOfRow(options, table, row));
  if (IsObserved(*view.table)) [[unlikely]] {
    return GetObserved(options, table, row, TakeObservers(&view));
  }
  return GetRow(std::move(view), options, row);
}

Result<bool> EngineImpl::GetPinned(const ReadOptions& options, std::string_view table,
                                   std::string_view row, PinnedRow* pinned) {
  __builtin_prefetch(row.data());
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  monitor_.CountCall(Monitor::Call::kGet);
  if (pinned->open_ == nullptr || !pinned->open_->IsFor(handles_.get(), table)) {
    pinned->open_ = handles_->NewPin(table);
  }
  Result<RegionView> view = ViewOfRow(options, table, row);
  if (!view.has_value()) {
    pinned->open_->Release();
    return view.error();
  }
  if (IsObserved(*view->table)) [[unlikely]] {
    const Result<bool> found = Guarded(
        [&] { return GetPinnedObserved(options, table, row, TakeObservers(&*view), pinned); });
    const bool is_held = found.has_value() && *found;
    if (is_held) pinned->view_ = pinned->open_->row();
    if (!is_held) pinned->open_->Release();
    return found;
  }
  ASSIGN_OR_RETURN(const bool found, pinned->open_->Read(*std::move(view), options, row));
  if (found) pinned->view_ = pinned->open_->row();
  return found;
}

Result<TableView> EngineImpl::ViewOfRows(const ReadOptions& options, std::string_view table,
                                         std::span<const std::string_view> rows) {
  return ViewOfRegions(options, table,
                       [rows](const Table& found) { return found.RegionsOfEach(rows); });
}

Result<std::vector<std::optional<Row>>> EngineImpl::MultiGet(
    const ReadOptions& options, std::string_view table, std::span<const std::string_view> rows) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  monitor_.CountCall(Monitor::Call::kMultiGet);
  ASSIGN_OR_RETURN(TableView view, ViewOfRows(options, table, rows));
  if (IsObserved(*view.table)) {
    return MultiGetObserved(options, table, rows, TakeObservers(&view));
  }
  return GetRows(read_resources(), std::move(view), options, rows);
}

Result<TableView> EngineImpl::ViewOfScan(const ReadOptions& options, std::string_view table,
                                         const ScanOptions& scan, bool* are_many) {
  const KeyRanges rows = RowsOf(scan);
  const auto regions_of = [&](const Table& found) {
    auto regions = found.RegionsOf(rows, tuning_.scan_regions + 1, /*from_end=*/false);
    *are_many = regions.size() > tuning_.scan_regions || rows.size() > kPartRangesMax;
    if (*are_many) regions.clear();
    return regions;
  };
  return ViewOfRegions(options, table, regions_of);
}

// A region that was split, merged or dropped meanwhile has none.
Result<std::optional<std::string>> EngineImpl::LiveMiddleOf(const Region& region) {
  const std::optional<std::string> none;
  const std::string first = region.start_key();
  const Result<TableView> view =
      ViewOfRegions({}, region.table()->name,
                    [&first](const Table& table) { return table.RegionsOf(first, first); });
  if (!view.has_value() || view->regions.front()->id != region.id()) return none;
  return FindLiveMiddle(*view, overlaps_->memstore_memory());
}

// The table is looked at first, so that a token of another one is refused; then what is left.
Result<EngineImpl::ScanCall> EngineImpl::BeginScan(const ReadOptions& options,
                                                   std::string_view table,
                                                   const ScanOptions& scan) {
  RETURN_IF_ERROR(CheckThreads(options));
  if (HaveLeads(scan.ranges)) return BeginMergedScan(options, table, scan);
  ScanCall call;
  ASSIGN_OR_RETURN(call.view, ViewOfScan(options, table, scan, &call.are_many));
  ASSIGN_OR_RETURN(call.origin,
                   engine::BeginScan(options, scan, database_id_, call.view, environment_.clock));
  call.scan = ScanFrom(scan, call.origin.from);
  if (!call.origin.from.has_value()) return call;
  ASSIGN_OR_RETURN(call.view, ViewOfScan(options, table, call.scan, &call.are_many));
  const uint64_t sequence = call.view.point.sequence.value;
  call.origin.is_exact &= std::exchange(call.origin.scope.sequence, sequence) == sequence;
  return call;
}

// All its regions are pinned at once: each part may have the next row.
Result<EngineImpl::ScanCall> EngineImpl::BeginMergedScan(const ReadOptions& options,
                                                         std::string_view table,
                                                         const ScanOptions& scan) {
  ScanCall call;
  ScanOptions whole = scan;
  whole.ranges.clear();
  ASSIGN_OR_RETURN(call.leads, LeadsOf(scan.ranges, RowsOf(whole)));
  call.is_merged = true;
  const KeyRanges rows = engine::RowsOf(call.leads);
  ASSIGN_OR_RETURN(call.view, ViewOfRegions(options, table, [&rows](const Table& found) {
                     return found.RegionsOf(rows);
                   }));
  ASSIGN_OR_RETURN(call.origin,
                   engine::BeginScan(options, scan, database_id_, call.view, environment_.clock));
  call.scan = scan;
  if (!call.origin.from.has_value()) return call;
  call.scan.reverse = scan.reverse != call.origin.from->before;
  RETURN_IF_ERROR(CutLeads(*call.origin.from, call.scan.reverse, &call.leads));
  return call;
}

Result<std::unique_ptr<RowSource>> EngineImpl::OpenScan(const ReadOptions& options,
                                                        std::string_view table, ScanCall* call) {
  if (call->is_merged) {
    return ScanMerged({read_resources(options), options, call->scan, call->origin.limits, true},
                      call->leads, std::move(call->view));
  }
  if (call->are_many) return ScanManyRegions(options, table, call);
  return ScanRows({read_resources(options), options, call->scan, call->origin.limits, true},
                  std::move(call->view));
}

Result<Cursor> EngineImpl::Scan(const ReadOptions& options, std::string_view table,
                                const ScanOptions& scan) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  monitor_.CountCall(Monitor::Call::kScan);
  ASSIGN_OR_RETURN(ScanCall call, BeginScan(options, table, scan));
  if (IsObserved(*call.view.table)) {
    return ScanObserved(options, table, scan, TakeObservers(&call.view));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows, OpenScan(options, table, &call));
  return NewCursor(std::move(rows), table, std::move(call.origin));
}

// A copy has what is stored: no observer is asked.
Result<Cursor> EngineImpl::ScanStored(const ReadOptions& options, std::string_view table,
                                      const ScanOptions& scan) {
  monitor_.CountCall(Monitor::Call::kScan);
  ASSIGN_OR_RETURN(ScanCall call, BeginScan(options, table, scan));
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows, OpenScan(options, table, &call));
  return NewCursor(std::move(rows), table, std::move(call.origin));
}

template <typename Answer, typename Run>
Result<Answer> EngineImpl::Watched(std::unique_ptr<QueryWatch> watch, QueryRequest* request,
                                   const Run& run) {
  if (watch == nullptr) return run(nullptr);
  request->trace = watch->trace();
  Result<Answer> answer = Status::OutOfMemory();
  {
    const QueryWatch::Timing timing(watch.get());
    answer = run(watch.get());
  }
  EndCall(std::move(watch), &answer);
  return answer;
}

Result<Cursor> EngineImpl::RunQuery(std::string_view table, QueryRequest* request) {
  ASSIGN_OR_RETURN(TableView view, ViewOf(table, request));
  CursorOrigin origin;
  RETURN_IF_ERROR(BeginQuery(view, TokenUse::kGiven, request, &origin));
  if (IsObserved(*view.table)) {
    return QueryObserved(table, *request, TakeObservers(&view));
  }
  Result<std::unique_ptr<RowSource>> rows = QueryRows(*request, std::move(view));
  return NewCursor(std::move(rows), table, std::move(origin));
}

Result<uint64_t> EngineImpl::RunCount(std::string_view table, QueryRequest* request) {
  ASSIGN_OR_RETURN(TableView view, ViewOf(table, request));
  CursorOrigin origin;
  RETURN_IF_ERROR(BeginQuery(view, TokenUse::kTaken, request, &origin));
  if (IsObserved(*view.table)) {
    return CountObserved(table, *request, TakeObservers(&view));
  }
  return CountRows(*request, std::move(view));
}

EngineImpl::Question EngineImpl::QuestionOf(PreparedState* state) {
  return {state->table,   state->predicate, state->query,
          &state->values, &state->lookup,   state->asked};
}

QueryRequest EngineImpl::RequestOf(const Question& question, const ReadResources& resources,
                                   const ExpressionRead& read) {
  QueryRequest request{resources, read.options(), question.predicate, question.query,
                       question.values};
  request.expressions = &read;
  request.lookup = question.lookup;
  request.asked = question.asked;
  return request;
}

Result<Cursor> EngineImpl::Query(const ReadOptions& options, const Question& question) {
  monitor_.CountCall(Monitor::Call::kQuery);
  ASSIGN_OR_RETURN(const ExpressionRead read, ExpressionRead::Of(options, question.query));
  const ReadResources resources = read_resources(options);
  QueryRequest request = RequestOf(question, resources, read);
  return Watched<Cursor>(WatchOf("query", question.table, request), &request,
                         [&](QueryWatch*) { return RunQuery(question.table, &request); });
}

Result<uint64_t> EngineImpl::Count(const ReadOptions& options, const Question& question) {
  monitor_.CountCall(Monitor::Call::kCount);
  ASSIGN_OR_RETURN(const ExpressionRead read, ExpressionRead::Of(options, question.query));
  const ReadResources resources = read_resources(options);
  QueryRequest request = RequestOf(question, resources, read);
  return Watched<uint64_t>(WatchOf("count", question.table, request), &request,
                           [&](QueryWatch*) { return RunCount(question.table, &request); });
}

Result<Explanation> EngineImpl::Explain(const ReadOptions& options, const Question& question) {
  ASSIGN_OR_RETURN(const ExpressionRead read, ExpressionRead::Of(options, question.query));
  const ReadResources resources = read_resources(options);
  QueryRequest request = RequestOf(question, resources, read);
  ASSIGN_OR_RETURN(TableView view, ViewOf(question.table, &request, RegionsOfQuery::kAll));
  CursorOrigin origin;
  RETURN_IF_ERROR(BeginQuery(view, TokenUse::kTaken, &request, &origin));
  return ExplainQuery(request, std::move(view));
}

Result<Cursor> EngineImpl::Query(const ReadOptions& options, std::string_view table,
                                 const Predicate& predicate, const QueryOptions& query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Query(options, {table, predicate, query});
}

Result<uint64_t> EngineImpl::Count(const ReadOptions& options, std::string_view table,
                                   const Predicate& predicate, const QueryOptions& query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Count(options, {table, predicate, query});
}

Result<Explanation> EngineImpl::Explain(const ReadOptions& options, std::string_view table,
                                        const Predicate& predicate, const QueryOptions& query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Explain(options, {table, predicate, query});
}

// Of each row the columns alone are read that groups are made of.
Result<EngineImpl::GroupCall> EngineImpl::BeginGroups(const ReadOptions& options,
                                                      std::string_view table,
                                                      const Predicate& predicate,
                                                      const AggregateOptions& aggregate) {
  GroupCall call{.read = options, .query = RowsOf(aggregate), .spec = {}, .view = {}, .origin = {}};
  call.read.columns.clear();
  call.read.families.clear();
  call.read.versions = 1;
  call.read.pieces = false;
  const ReadResources resources = read_resources(options);
  QueryRequest request{resources, call.read, predicate, call.query};
  ASSIGN_OR_RETURN(call.view, ViewOf(table, &request));
  call.global = request.global;
  RETURN_IF_ERROR(BeginQuery(call.view, TokenUse::kTaken, &request, &call.origin));
  ASSIGN_OR_RETURN(call.spec, BindGroups(aggregate, call.view.table, options_.functions));
  call.read.columns = call.spec.columns;
  return call;
}

Result<Cursor> EngineImpl::Aggregate(const ReadOptions& options, std::string_view table,
                                     const Predicate& predicate,
                                     const AggregateOptions& aggregate) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  monitor_.CountCall(Monitor::Call::kQuery);
  const ReadResources resources = read_resources(options);
  const QueryOptions rows = RowsOf(aggregate);
  QueryRequest asked{resources, options, predicate, rows};
  const auto run = [&](QueryWatch* watch) -> Result<Cursor> {
    ASSIGN_OR_RETURN(GroupCall call, BeginGroups(options, table, predicate, aggregate));
    if (watch != nullptr) watch->SetColumns(call.read.columns);
    QueryRequest request{resources, call.read, predicate, call.query};
    request.limits = call.origin.limits;
    request.no_scan = options_.no_scan_tables.contains(call.view.table->name);
    request.global = call.global;
    request.trace = asked.trace;
    if (IsObserved(*call.view.table)) {
      return AggregateObserved(table, request, std::move(call.spec), TakeObservers(&call.view));
    }
    GroupPlan plan;
    ASSIGN_OR_RETURN(std::unique_ptr<RowSource> groups,
                     OpenGroups(request, std::move(call.spec), std::move(call.view), &plan));
    call.origin.limits.meter = nullptr;  // No token says how far groups came.
    return NewCursor(std::move(groups), table, std::move(call.origin));
  };
  return Watched<Cursor>(WatchOf("aggregate", table, asked), &asked, run);
}

// The groups are made to be counted; what Explain tells of their rows comes from a run of its own.
Result<Explanation> EngineImpl::ExplainAggregate(const ReadOptions& options, std::string_view table,
                                                 const Predicate& predicate,
                                                 const AggregateOptions& aggregate) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(GroupCall call, BeginGroups(options, table, predicate, aggregate));
  const ReadResources resources = read_resources(options);
  QueryRequest request{resources, call.read, predicate, call.query};
  request.limits = call.origin.limits;
  request.no_scan = options_.no_scan_tables.contains(call.view.table->name);
  request.global = call.global;
  GroupPlan plan;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   OpenGroups(request, std::move(call.spec), call.view, &plan));
  ASSIGN_OR_RETURN(const uint64_t groups, CountRowsOf(std::move(source)));
  Explanation explanation;
  if (plan.reads_rows && !plan.order_by.empty()) {
    call.query.order_by = plan.order_by;
    call.query.use_indexes = {plan.order_by};
    call.query.descending = aggregate.descending;
  }
  if (plan.reads_rows) {
    ASSIGN_OR_RETURN(explanation, ExplainQuery(request, std::move(call.view)));
  } else {
    explanation.index = plan.index;
    explanation.reason = "entries decide";
  }
  explanation.grouping = std::move(plan.text);
  explanation.groups = groups;
  return explanation;
}

Result<std::vector<RowRange>> EngineImpl::SplitScan(const ReadOptions& options,
                                                    std::string_view table, uint32_t parts) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  if (parts == 0 || parts > kSplitPartsMax) {
    return Status::InvalidArgument("a scan is split into 1 to " + std::to_string(kSplitPartsMax) +
                                   " parts, not " + std::to_string(parts));
  }
  ASSIGN_OR_RETURN(const TableView view, ViewOf(options, table));
  ASSIGN_OR_RETURN(const ReadSchema schema, ReadSchema::Make(view, options));
  return SplitRows(view, schema, parts);
}

Result<PreparedQuery> EngineImpl::Prepare(std::string_view name, const Predicate& predicate,
                                          const QueryOptions& query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  RETURN_IF_ERROR(CheckIndexesAskedFor(*table->record, &options_.functions, query));
  auto state = std::make_unique<PreparedState>();
  ASSIGN_OR_RETURN(state->uses, BoundPredicate::FindParameters(predicate, *table->record,
                                                               {.functions = &options_.functions}));
  state->table = name;
  state->predicate = predicate;
  state->asked = AskedOf(predicate);
  state->query = query;
  state->values.resize(predicate.parameter_count());
  return PreparedQuery(std::move(state));
}

Result<Cursor> EngineImpl::Query(const ReadOptions& options, PreparedQuery* query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Query(options, QuestionOf(query->state()));
}

Result<uint64_t> EngineImpl::Count(const ReadOptions& options, PreparedQuery* query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Count(options, QuestionOf(query->state()));
}

Result<Explanation> EngineImpl::Explain(const ReadOptions& options, PreparedQuery* query) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Explain(options, QuestionOf(query->state()));
}

Result<Snapshot> EngineImpl::TakeSnapshot() {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return Snapshot(handles_->NewSnapshot(TakePoint()));
}

// The rows and the entries are pinned at one point. An index that is being built has nothing to
// compare.
Status EngineImpl::VerifyGlobalIndex(std::string_view name, std::string_view index,
                                     VerifyReport* report) {
  const SnapshotPoint point = TakePoint();
  ASSIGN_OR_RETURN(TableView rows, PinRegionsOf(name, point, [](const Table& table) {
                     return std::span(table.regions);
                   }));
  rows.point = point.point();
  rows.registration = point.pinned();
  const format::GlobalIndexRecord* const global = rows.table->FindGlobal(index);
  if (global == nullptr || !global->since.has_value()) return {};
  if (format::IsUnusable(global->index)) return {};
  const std::optional<TableView> entries =
      PinEntries(global->entries, point, {format::KeyRange()}, /*is_present=*/false);
  if (!entries.has_value()) return {};
  return VerifyGlobal(read_resources(), rows, *entries, *global, report);
}

}  // namespace tandem::engine
