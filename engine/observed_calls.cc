// The calls on tables with observers. Each call looks at its table first as on any other; only if
// that has observers, it comes here and begins again: the observers are asked before anything is
// pinned.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/engine_impl.h"
#include "engine/observer/row_filter.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Status AskGet(const ObserverList& observers, const ObservedGet& get) {
  return observers.AskAll("BeforeGet",
                          [&get](Observer& observer) { return observer.BeforeGet(get); });
}

Status AskAfterGet(const ObserverList& observers, const ObservedGet& get, const RowView* row) {
  return observers.AskAll("AfterGet",
                          [&get, row](Observer& observer) { return observer.AfterGet(get, row); });
}

Status AskQuery(const ObserverList& observers, const ObservedQuery& query) {
  return observers.AskAll("BeforeQuery",
                          [&query](Observer& observer) { return observer.BeforeQuery(query); });
}

Status AskAfterQuery(const ObserverList& observers, const ObservedQuery& query) {
  return observers.AskAll("AfterQuery",
                          [&query](Observer& observer) { return observer.AfterQuery(query); });
}

// Lifetime: that of the request.
ObservedQuery ObservedOf(std::string_view table, const QueryRequest& request) {
  return {.table = table,
          .predicate = request.predicate,
          .options = request.options,
          .query = request.query};
}

bool IsAnyObserved(const std::vector<std::shared_ptr<const Table>>& tables) {
  for (const auto& table : tables) {
    if (!table->record->observers.empty()) return true;
  }
  return false;
}

}  // namespace

ObserverList EngineImpl::ObserversOf(std::string_view name) const {
  if (observers_.empty()) return {};
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  return table == nullptr ? ObserverList() : observers_.Of(*table->record);
}

Status EngineImpl::AskOf(std::string_view table, std::string_view hook,
                         const std::function<Status(Observer&, std::string_view)>& ask) const {
  return ObserversOf(table).AskAll(hook, [&](Observer& observer) { return ask(observer, table); });
}

// An empty name means all tables.
Status EngineImpl::AskBeforeCompact(std::string_view name) const {
  const auto ask = [](Observer& observer, std::string_view table) {
    return observer.BeforeCompact(table);
  };
  if (observers_.empty()) return {};
  if (!name.empty()) return AskOf(name, "BeforeCompact", ask);
  for (const auto& table : database_.regions->tables()) {
    RETURN_IF_ERROR(AskOf(table->record->name, "BeforeCompact", ask));
  }
  return {};
}

// The plan of a call's batch as its observers have left it. They are asked once, when a plan meets
// an observed table for the first time.
Result<WritePlan> EngineImpl::PlanObserved(const WriteCall& call, const MakePlan& make_plan,
                                           RowsRead* rows, std::optional<ObservedWrite>* observed) {
  if (!observed->has_value()) {
    ASSIGN_OR_RETURN(WritePlan plan, make_plan(call.batch));
    if (!IsAnyObserved(plan.tables)) {
      RETURN_IF_ERROR(AddChecks(rows, &plan));
      return plan;
    }
    const auto read = [this, rows](const ReadOptions& options, std::string_view table,
                                   std::string_view row) {
      return GetForHook(options, table, row, rows);
    };
    observed->emplace(call.batch, call.returns_values, observers_, read);
    RETURN_IF_ERROR((*observed)->Ask(plan.tables));
    rows->checks.rows.clear();  // Those of a plan that met no observer yet lack what hooks read.
  }
  ASSIGN_OR_RETURN(WritePlan plan, make_plan((*observed)->batch()));
  RETURN_IF_ERROR((*observed)->CheckTables(plan.tables));
  RETURN_IF_ERROR(AddChecks(rows, &plan));
  return plan;
}

// All reads of a batch are at one point, which lasts until it is written.
Result<std::optional<Row>> EngineImpl::GetForHook(const ReadOptions& options,
                                                  std::string_view table, std::string_view row,
                                                  RowsRead* rows) {
  if (in_child()) return Status::Busy("this process is a child that a hook has forked");
  if (options.snapshot != nullptr) {
    return Status::InvalidArgument("a hook reads at the point of its batch, and at no snapshot");
  }
  if (rows->rows.size() >= kTransactionRowsMax) {
    return Status::OverBudget("the observers of a batch read at most " +
                              std::to_string(kTransactionRowsMax) + " rows");
  }
  if (!rows->point.has_value()) {
    rows->point = TakePoint();
    rows->checks.point = rows->point->point();
  }
  ASSIGN_OR_RETURN(std::optional<Row> found, GetAt(*rows->point, options, table, row));
  rows->rows.insert({{std::string(table), std::string(row)}, false});
  return found;
}

Result<std::optional<Row>> EngineImpl::GetObserved(const ReadOptions& options,
                                                   std::string_view table, std::string_view row,
                                                   const ObserverList& observers) {
  const ObservedGet get{.table = table, .row = row, .options = options};
  RETURN_IF_ERROR(AskGet(observers, get));
  ASSIGN_OR_RETURN(RegionView view, ViewOfRow(options, table, row));
  ASSIGN_OR_RETURN(std::optional<RowFilter> filter,
                   RowFilter::Make(observers, view.table, options, true));
  std::optional<Row> found;
  if (filter.has_value()) {
    ASSIGN_OR_RETURN(found, GetRow(std::move(view), filter->whole_rows(), row));
    ASSIGN_OR_RETURN(found, filter->Apply(found));
  } else {
    ASSIGN_OR_RETURN(found, GetRow(std::move(view), options, row));
  }
  const RowView returned = found.has_value() ? found->view() : RowView();
  RETURN_IF_ERROR(AskAfterGet(observers, get, found.has_value() ? &returned : nullptr));
  return found;
}

// Requires: `pinned->open_` is for the table. It holds nothing after an error.
Result<bool> EngineImpl::GetPinnedObserved(const ReadOptions& options, std::string_view table,
                                           std::string_view row, const ObserverList& observers,
                                           PinnedRow* pinned) {
  const ObservedGet get{.table = table, .row = row, .options = options};
  RETURN_IF_ERROR(AskGet(observers, get));
  ASSIGN_OR_RETURN(RegionView view, ViewOfRow(options, table, row));
  ASSIGN_OR_RETURN(std::optional<RowFilter> filter,
                   RowFilter::Make(observers, view.table, options, true));
  const ReadOptions& read = filter.has_value() ? filter->whole_rows() : options;
  ASSIGN_OR_RETURN(bool found, pinned->open_->Read(std::move(view), read, row));
  if (found && filter.has_value()) {
    std::vector<Cell> cells;
    ASSIGN_OR_RETURN(found, filter->Apply(pinned->open_->row(), &cells));
    pinned->open_->ShowCells(std::move(cells));
  }
  const RowView* const returned = found ? &pinned->open_->row() : nullptr;
  RETURN_IF_ERROR(AskAfterGet(observers, get, returned));
  return found;
}

Result<std::vector<std::optional<Row>>> EngineImpl::MultiGetObserved(
    const ReadOptions& options, std::string_view table, std::span<const std::string_view> rows,
    const ObserverList& observers) {
  for (const std::string_view row : rows) {
    RETURN_IF_ERROR(AskGet(observers, {.table = table, .row = row, .options = options}));
  }
  ASSIGN_OR_RETURN(TableView view, ViewOfRows(options, table, rows));
  ASSIGN_OR_RETURN(std::optional<RowFilter> filter,
                   RowFilter::Make(observers, view.table, options, true));
  const ReadOptions& read = filter.has_value() ? filter->whole_rows() : options;
  ASSIGN_OR_RETURN(std::vector<std::optional<Row>> found,
                   GetRows(read_resources(), std::move(view), read, rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (filter.has_value()) {
      ASSIGN_OR_RETURN(found[i], filter->Apply(found[i]));
    }
    const RowView returned = found[i].has_value() ? found[i]->view() : RowView();
    RETURN_IF_ERROR(AskAfterGet(observers, {.table = table, .row = rows[i], .options = options},
                                found[i].has_value() ? &returned : nullptr));
  }
  return found;
}

Result<Cursor> EngineImpl::ScanObserved(const ReadOptions& options, std::string_view table,
                                        const ScanOptions& scan, const ObserverList& observers) {
  const ObservedScan observed{.table = table, .options = options, .scan = scan};
  RETURN_IF_ERROR(observers.AskAll(
      "BeforeScan", [&](Observer& observer) { return observer.BeforeScan(observed); }));
  ASSIGN_OR_RETURN(ScanCall call, BeginScan(options, table, scan));
  ASSIGN_OR_RETURN(std::optional<RowFilter> filter,
                   RowFilter::Make(observers, call.view.table, options, true));
  std::unique_ptr<RowSource> source;
  if (filter.has_value()) {
    call.scan.limit = call.scan.offset = 0;
    ASSIGN_OR_RETURN(source, OpenScan(filter->whole_rows(), table, &call));
    source = NewFilteredRows(std::move(source), *std::move(filter), scan.limit, scan.offset);
  } else {
    ASSIGN_OR_RETURN(source, OpenScan(options, table, &call));
  }
  ASSIGN_OR_RETURN(Cursor cursor, NewCursor(std::move(source), table, std::move(call.origin)));
  RETURN_IF_ERROR(observers.AskAll(
      "AfterScan", [&](Observer& observer) { return observer.AfterScan(observed); }));
  return cursor;
}

// The rows of a query on an observed table; nullptr: its observers filter nothing, and `*view` is
// what it was.
Result<std::unique_ptr<RowSource>> EngineImpl::FilteredQuery(const QueryRequest& request,
                                                             const ObserverList& observers,
                                                             TableView* view) {
  ASSIGN_OR_RETURN(std::optional<RowFilter> filter,
                   RowFilter::Make(observers, view->table, request.options, false));
  if (!filter.has_value()) return std::unique_ptr<RowSource>();
  QueryOptions unlimited = request.query;
  unlimited.limit = unlimited.offset = 0;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   QueryRows({request.resources, filter->whole_rows(), request.predicate, unlimited,
                              request.values, request.from, request.leads, request.limits,
                              request.no_scan, request.global, request.trace},
                             std::move(*view)));
  return NewFilteredRows(std::move(source), *std::move(filter), request.query.limit,
                         request.query.offset);
}

Result<Cursor> EngineImpl::QueryObserved(std::string_view table, QueryRequest request,
                                         const ObserverList& observers) {
  const ObservedQuery query = ObservedOf(table, request);
  RETURN_IF_ERROR(AskQuery(observers, query));
  ASSIGN_OR_RETURN(TableView view, ViewOf(table, &request));
  CursorOrigin origin;
  RETURN_IF_ERROR(BeginQuery(view, TokenUse::kGiven, &request, &origin));
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source, FilteredQuery(request, observers, &view));
  if (source == nullptr) {
    ASSIGN_OR_RETURN(source, QueryRows(request, std::move(view)));
  }
  ASSIGN_OR_RETURN(Cursor cursor, NewCursor(std::move(source), table, std::move(origin)));
  RETURN_IF_ERROR(AskAfterQuery(observers, query));
  return cursor;
}

// Groups are made of the rows that the observers return.
Result<Cursor> EngineImpl::AggregateObserved(std::string_view table, QueryRequest request,
                                             GroupSpec spec, const ObserverList& observers) {
  const ObservedQuery query = ObservedOf(table, request);
  RETURN_IF_ERROR(AskQuery(observers, query));
  ASSIGN_OR_RETURN(TableView view, ViewOf(table, &request));
  CursorOrigin origin;
  RETURN_IF_ERROR(BeginQuery(view, TokenUse::kTaken, &request, &origin));
  spec.table = view.table;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows, FilteredQuery(request, observers, &view));
  std::unique_ptr<RowSource> groups;
  if (rows != nullptr) {
    groups = CollectGroups(request, std::move(spec), std::move(rows));
  } else {
    GroupPlan plan;
    ASSIGN_OR_RETURN(groups, OpenGroups(request, std::move(spec), std::move(view), &plan));
  }
  origin.limits.meter = nullptr;
  ASSIGN_OR_RETURN(Cursor cursor, NewCursor(std::move(groups), table, std::move(origin)));
  RETURN_IF_ERROR(AskAfterQuery(observers, query));
  return cursor;
}

// A filtered count reads the rows.
Result<uint64_t> EngineImpl::CountObserved(std::string_view table, QueryRequest request,
                                           const ObserverList& observers) {
  ObservedQuery query = ObservedOf(table, request);
  query.counts = true;
  RETURN_IF_ERROR(AskQuery(observers, query));
  ASSIGN_OR_RETURN(TableView view, ViewOf(table, &request));
  ASSIGN_OR_RETURN(const std::unique_ptr<RowSource> source,
                   FilteredQuery(request, observers, &view));
  uint64_t count = 0;
  if (source == nullptr) {
    ASSIGN_OR_RETURN(count, CountRows(request, std::move(view)));
  } else {
    const auto batch = std::make_unique<format::RowBatch>();
    while (true) {
      ASSIGN_OR_RETURN(const bool more, source->NextBatch(batch.get()));
      if (!more) break;
      count += batch->size();
    }
  }
  RETURN_IF_ERROR(AskAfterQuery(observers, query));
  return count;
}

}  // namespace tandem::engine
