// Each lead is a chain of its own.
#include "engine/scan/merged_scan.h"

#include <deque>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/read/merged_rows.h"

namespace tandem::engine {
namespace {

// What the rows of a scan are read from.
struct PreparedScan {
  std::unique_ptr<ReadContext> context;
  std::deque<std::vector<Cluster>> clusters;  // Of each lead.
};

}  // namespace

Result<std::unique_ptr<RowSource>> ScanMerged(const ScanRequest& request,
                                              const std::vector<LeadRows>& leads, TableView view) {
  const ScanOptions& scan = request.scan;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  schema.needs_cells = true;
  const auto prepared = std::make_shared<PreparedScan>();
  prepared->context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  ReadContext* const context = prepared->context.get();
  context->Limit(request.limits);
  context->may_end_early = scan.limit > 0;
  // Leads read ahead of each other: only a row that was given says how far the scan has come.
  if (context->meter != nullptr) context->meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  auto merged = std::make_unique<MergedRows>(scan.limit, scan.offset, scan.reverse);
  uint64_t bytes = 0;
  for (const LeadRows& lead : leads) {
    if (lead.rows.empty()) continue;
    ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(context->view, lead.rows));
    RETURN_IF_ERROR(LoadFamilies(context->schema.merged, &clusters));
    if (context->fills_cache) {
      ASSIGN_OR_RETURN(context->fills_cache, FitsCache(request.resources, clusters, &bytes));
    }
    if (scan.limit == 0) RETURN_IF_ERROR(CheckScanCost(*context, clusters));
    if (clusters.empty()) continue;
    prepared->clusters.push_back(std::move(clusters));
    merged->Add(lead.lead.size(), std::make_unique<LimitIterator>(
                                      ConcatenatingIterator(context, prepared->clusters.back(),
                                                            /*access=*/nullptr, scan.reverse),
                                      merged->rows_asked()));
  }
  merged->Keep(prepared);
  return std::unique_ptr<RowSource>(std::move(merged));
}

}  // namespace tandem::engine
