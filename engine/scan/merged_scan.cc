// Each lead is a chain of its own.
#include "engine/scan/merged_scan.h"

#include <atomic>
#include <utility>

#include "base/status_macros.h"
#include "engine/parallel/cached_blocks.h"
#include "engine/parallel/lead_read.h"
#include "engine/parallel/reader_loop.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/read/merged_rows.h"

namespace tandem::engine {
namespace {

// What the rows of a scan are read from.
struct PreparedScan {
  std::unique_ptr<ReadContext> context;
  std::vector<std::vector<Cluster>> clusters;  // Of each lead.
  std::vector<LeadClusters> leads;             // Those that have some.
};

// Finds the clusters of all leads, and whether their blocks may fill the cache. To find where a
// lead begins may take several reads of files, one after the other: where the first lead shows that
// they are not cached, the threads of the read find the others side by side.
Status FindLeads(const ScanRequest& request, const std::vector<LeadRows>& leads,
                 PreparedScan* prepared) {
  ReadContext* const context = prepared->context.get();
  std::vector<std::vector<Cluster>>& clusters = prepared->clusters;
  clusters.resize(leads.size());
  std::atomic<uint64_t> bytes = 0;  // Relaxed: a sum.
  std::atomic<bool> fits = context->fills_cache;
  const auto find = [&](size_t i) -> Status {
    RETURN_IF_ERROR(context->cancellation.Check());
    if (leads[i].rows.empty()) return {};
    ASSIGN_OR_RETURN(clusters[i], FindClusters(context->view, leads[i].rows));
    RETURN_IF_ERROR(LoadFamilies(context->schema.merged, &clusters[i]));
    if (!fits.load(std::memory_order_relaxed)) return {};
    uint64_t all = bytes.load(std::memory_order_relaxed);
    const uint64_t before = all;
    ASSIGN_OR_RETURN(const bool fit, FitsCache(request.resources, clusters[i], &all));
    bytes.fetch_add(all - before, std::memory_order_relaxed);
    if (!fit) fits.store(false, std::memory_order_relaxed);
    return {};
  };
  RETURN_IF_ERROR(find(0));
  const uint32_t threads = SeemCached(clusters[0]) ? 1 : request.options.threads;
  RETURN_IF_ERROR(RunOnReaders(request.resources.readers, threads, leads.size() - 1,
                               [&](size_t i) { return find(i + 1); }));
  context->fills_cache = fits.load(std::memory_order_relaxed);
  for (size_t i = 0; i < leads.size(); ++i) {
    if (!clusters[i].empty()) prepared->leads.push_back({leads[i].lead.size(), clusters[i]});
  }
  return {};
}

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
  if (!leads.empty()) RETURN_IF_ERROR(FindLeads(request, leads, prepared.get()));
  if (scan.limit == 0) {
    for (const auto& clusters : prepared->clusters) {
      RETURN_IF_ERROR(CheckScanCost(*context, clusters));
    }
  }
  const LeadRead read{.context = context,
                      .leads = prepared->leads,
                      .reverse = scan.reverse,
                      .rows = merged->rows_asked()};
  const uint32_t threads = ThreadsFor(read, request.options.threads);
  if (threads > 1) {
    AddLeads(read, threads, merged.get());
  } else {
    for (const LeadClusters& lead : prepared->leads) {
      merged->Add(lead.lead_bytes, std::make_unique<LimitIterator>(
                                       ConcatenatingIterator(context, lead.clusters,
                                                             /*access=*/nullptr, scan.reverse),
                                       merged->rows_asked()));
    }
  }
  merged->Keep(prepared);
  return std::unique_ptr<RowSource>(std::move(merged));
}

}  // namespace tandem::engine
