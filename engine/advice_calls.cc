// Slow queries, and which indexes would have helped.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/advice/advise.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/group/expressions.h"
#include "engine/query/reader.h"

namespace tandem::engine {

// The watch of a query, if somebody hears of slow ones; else null.
std::unique_ptr<QueryWatch> EngineImpl::WatchOf(std::string_view call, std::string_view table,
                                                const QueryRequest& request) {
  if (options_.slow_query_micros == 0 || !monitor_.has_listener()) return nullptr;
  return std::make_unique<QueryWatch>(
      &monitor_, options_.slow_query_micros,
      WatchedCall{.table = std::string(table),
                  .call = call,
                  .predicate = request.predicate,
                  .values = request.values == nullptr ? ParameterValues() : *request.values,
                  .options = request.query,
                  .columns = request.options.columns,
                  .families = request.options.families});
}

// A cursor is watched until it ends.
void EngineImpl::EndCall(std::unique_ptr<QueryWatch> watch, Result<Cursor>* cursor) {
  if (cursor->has_value()) {
    (*cursor)->open_->Watch(std::move(watch));
  } else {
    watch->End(0, /*is_whole=*/false, cursor->error());
  }
}

void EngineImpl::EndCall(std::unique_ptr<QueryWatch> watch, Result<uint64_t>* count) {
  watch->End(count->has_value() ? **count : 0, count->has_value(), count->status());
}

Result<IndexAdvice> EngineImpl::AdviseIndexes(std::string_view table,
                                              const std::vector<AdvisedQuery>& queries,
                                              const AdviseOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(TableView view, ViewOf({}, table));
  const auto explain = [&](const AdvisedQuery& query) -> Result<Explanation> {
    ReadOptions read;
    read.columns = query.columns;
    read.families = query.families;
    read.cancelled = options.cancelled;
    QueryOptions asked = query.options;
    asked.after.clear();
    asked.before.clear();
    asked.no_scan = false;
    const ReadResources resources = read_resources();
    ASSIGN_OR_RETURN(const ExpressionRead widened, ExpressionRead::Of(read, asked));
    QueryRequest request{resources, widened.options(), query.predicate, asked};
    ASSIGN_OR_RETURN(TableView now, ViewOf(table, &request, RegionsOfQuery::kAll));
    return ExplainQuery(request, std::move(now));
  };
  const SchemaChanges changes{
      .add_index =
          [this](const IndexOptions& index, format::TableRecord* record) {
            return AddIndexTo(index, options_.functions, record);
          },
      .remove_indexes =
          [](format::TableRecord* record) {
            while (!record->indexes.empty()) {
              RETURN_IF_ERROR(RemoveIndexFrom(record->indexes.back().name, record));
            }
            return Status();
          }};
  return Advise({queries, options, options_.functions, explain, changes}, std::move(view));
}

}  // namespace tandem::engine
