// The entry points of the read side. Each makes a context and returns a source or a result of it.
#include "engine/query/reader.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/query/count.h"
#include "engine/query/explain.h"
#include "engine/query/few_rows.h"
#include "engine/query/global_access.h"
#include "engine/query/query.h"
#include "engine/query/scan.h"

namespace tandem::engine {
Result<std::unique_ptr<RowSource>> ScanRows(const ScanRequest& request, TableView view) {
  uint64_t bytes = 0;
  return ScanView(request, RowsOf(request.scan), std::move(view), &bytes);
}

Result<std::unique_ptr<RowSource>> QueryRows(const QueryRequest& request, TableView view) {
  std::optional<std::unique_ptr<RowSource>> found = LookUpFewRows(request, &view);
  if (found.has_value() && *found != nullptr) return *std::move(found);
  ASSIGN_OR_RETURN(BoundPredicate predicate, BindQuery(request, *view.table));
  if (!found.has_value()) {
    std::unique_ptr<RowSource> few = OpenFewRows(request, &predicate, &view);
    if (few != nullptr) return few;
  }
  return OpenPlanned(request, std::move(predicate), std::move(view));
}

Result<uint64_t> CountRows(const QueryRequest& request, TableView view) {
  ASSIGN_OR_RETURN(const Query prepared,
                   PrepareQuery(request, PlanPurpose::kCount, std::move(view)));
  ASSIGN_OR_RETURN(const std::optional<uint64_t> count, CountByOthers(request, prepared));
  return count.has_value() ? Result<uint64_t>(*count) : CountMatches(prepared);
}

Result<Explanation> ExplainQuery(const QueryRequest& request, TableView view) {
  ReadOptions in_pieces = request.options;  // Rows of any size are explained.
  in_pieces.pieces = true;
  ASSIGN_OR_RETURN(
      const Query prepared,
      PrepareQuery({request.resources, in_pieces, request.predicate, request.query, request.values,
                    request.from, request.leads, request.limits, request.no_scan, request.global},
                   PlanPurpose::kExplanation, std::move(view)));
  ASSIGN_OR_RETURN(Explanation explanation, ExplainMatches(prepared));
  if (request.global != nullptr) ExplainGlobal(*request.global, &explanation);
  return explanation;
}

}  // namespace tandem::engine
