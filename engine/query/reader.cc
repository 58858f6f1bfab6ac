// The entry points of the read side. Each makes a context and returns a source or a result of it.
#include "engine/query/reader.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/query/count.h"
#include "engine/query/explain.h"
#include "engine/query/query.h"
#include "engine/query/scan.h"

namespace tandem::engine {
Result<std::unique_ptr<RowSource>> ScanRows(const ReadResources& resources, TableView view,
                                            const ReadOptions& options, const ScanOptions& scan) {
  uint64_t bytes = 0;
  return ScanView({resources, options, scan}, std::move(view), &bytes);
}

Result<std::unique_ptr<RowSource>> QueryRows(const ReadResources& resources, TableView view,
                                             const ReadOptions& options, const Predicate& predicate,
                                             const QueryOptions& query) {
  ASSIGN_OR_RETURN(Query prepared,
                   PrepareQuery({resources, options, predicate, query}, std::move(view)));
  if (!prepared.plan.access.has_value()) {
    uint64_t bytes = 0;
    ASSIGN_OR_RETURN(prepared.context->fills_cache,
                     FitsCache(resources, prepared.plan.clusters, &bytes));
  }
  const auto kept = std::make_shared<const Query>(std::move(prepared));
  std::unique_ptr<RowSource> rows = OpenQuery(*kept);
  rows->Keep(kept);
  return rows;
}

Result<uint64_t> CountRows(const ReadResources& resources, TableView view,
                           const ReadOptions& options, const Predicate& predicate,
                           const QueryOptions& query) {
  ASSIGN_OR_RETURN(
      const Query prepared,
      PrepareQuery({resources, options, predicate, query, PlanPurpose::kCount}, std::move(view)));
  return CountMatches(prepared);
}

Result<Explanation> ExplainQuery(const ReadResources& resources, TableView view,
                                 const ReadOptions& options, const Predicate& predicate,
                                 const QueryOptions& query) {
  ReadOptions in_pieces = options;  // Rows of any size are explained.
  in_pieces.pieces = true;
  ASSIGN_OR_RETURN(const Query prepared,
                   PrepareQuery({resources, in_pieces, predicate, query, PlanPurpose::kExplanation},
                                std::move(view)));
  return ExplainMatches(prepared);
}

}  // namespace tandem::engine
