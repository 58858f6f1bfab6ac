// The parts are merged by a loser tree. The rows of a batch are views of the batches of the parts,
// so a batch ends where a part has to read its next one.
#include "engine/scan/merged_scan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/loser_tree.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/read/concatenating_iterator.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// One part: its rows, and those that were read of it and not given yet.
struct Part {
  size_t lead_bytes = 0;
  std::vector<Cluster> clusters;
  std::unique_ptr<LimitIterator> source;
  format::RowBatch batch;
  std::span<const RowView> rows;
  bool has_ended = false;

  std::string_view key() const { return rows.front().key(); }
  std::string_view rest() const { return key().substr(lead_bytes); }
  Status Fill() {
    ASSIGN_OR_RETURN(const bool more, source->NextBatch(&batch));
    has_ended = !more;
    rows = more ? batch.rows() : std::span<const RowView>();
    return {};
  }
};

class MergedScan final : public RowSource {
 public:
  MergedScan(std::unique_ptr<ReadContext> context, const ScanOptions& scan)
      : context_(std::move(context)),
        left_(scan.limit == 0 ? UINT64_MAX : scan.limit),
        limit_(scan.limit),
        offset_(scan.offset),
        reverse_(scan.reverse) {}

  ReadContext* context() { return context_.get(); }
  /// Adds the rows of these clusters, whose keys begin with as many bytes that are left out.
  void Add(size_t lead_bytes, std::vector<Cluster> clusters) {
    Part& part = *parts_.emplace_back(std::make_unique<Part>());
    part.lead_bytes = lead_bytes;
    part.clusters = std::move(clusters);
    // Any part may have all the rows that are passed over.
    const bool is_limited = limit_ > 0 && limit_ < UINT64_MAX - offset_;
    part.source = std::make_unique<LimitIterator>(
        ConcatenatingIterator(context_.get(), part.clusters, /*access=*/nullptr, reverse_),
        is_limited ? limit_ + offset_ : 0);
  }
  Result<bool> NextBatch(format::RowBatch* batch) override;

 private:
  struct Before {
    const MergedScan* scan;
    bool operator()(size_t a, size_t b) const { return scan->IsBefore(a, b); }
  };

  bool IsBefore(size_t a, size_t b) const;
  Status Begin();

  const std::unique_ptr<ReadContext> context_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::optional<base::LoserTree<Before>> order_;  // Of the parts, once each has its first rows.
  size_t begun_ = 0, filled_ = 0;                 // The first parts that have.
  uint64_t left_;                                 // Of the limit.
  const uint64_t limit_;
  uint64_t offset_;  // Rows to pass over.
  const bool reverse_;
  bool continues_ = false;    // The row that was taken last has more pieces.
  bool passes_over_ = false;  // It is passed over.
};

// No two parts have a key in common, so the whole keys decide between equal rests.
bool MergedScan::IsBefore(size_t a, size_t b) const {
  const Part &left = *parts_[a], &right = *parts_[b];
  if (left.has_ended || right.has_ended) return !left.has_ended || (right.has_ended && a < b);
  const int rests = left.rest().compare(right.rest());
  if (rests != 0) return (rests < 0) != reverse_;
  return (left.key() < right.key()) != reverse_;
}

// After an error it goes on where it was.
Status MergedScan::Begin() {
  for (; begun_ < parts_.size(); ++begun_) RETURN_IF_ERROR(parts_[begun_]->source->Begin());
  for (; filled_ < parts_.size(); ++filled_) RETURN_IF_ERROR(parts_[filled_]->Fill());
  order_.emplace(parts_.size(), Before{this});
  return {};
}

Result<bool> MergedScan::NextBatch(format::RowBatch* batch) {
  batch->Clear();
  if (parts_.empty()) return false;
  if (!order_.has_value()) RETURN_IF_ERROR(Begin());
  while (left_ > 0 || continues_) {
    Part& part = *parts_[order_->top()];
    if (part.has_ended) break;
    if (part.rows.empty()) {
      if (batch->size() > 0) break;  // Its rows are views of what Fill replaces.
      RETURN_IF_ERROR(part.Fill());
      order_->Replay();
      continue;
    }
    const RowView& row = part.rows.front();
    if (!continues_) passes_over_ = offset_ > 0 && offset_-- > 0;
    if (passes_over_) {
      continues_ = row.continues();
      part.rows = part.rows.subspan(1);
      if (!continues_ && !part.rows.empty()) order_->Replay();
      continue;
    }
    if (batch->is_full() || (batch->size() > 0 && (row.continues() || continues_))) break;
    batch->Add(row);
    if (!continues_ && limit_ > 0) --left_;  // A row in pieces counts with its first.
    continues_ = row.continues();
    part.rows = part.rows.subspan(1);
    if (continues_) break;  // A piece is a batch of its own.
    if (!part.rows.empty()) order_->Replay();
  }
  return batch->size() > 0;
}

format::KeyRange KeysOf(const RowRange& range) {
  format::KeyRange keys{range.start, std::nullopt};
  if (!range.end.empty()) keys.high = range.end;
  return keys;
}

Status Wrong(const RowRange& range, const std::string& why) {
  return Status::InvalidArgument("the range from " + base::Quote(range.start) + " to " +
                                 base::Quote(range.end) + " leaves out " +
                                 std::to_string(range.leading_bytes) + " leading bytes: " + why);
}

// Whether all keys of the range begin with the bytes that it leaves out.
Status CheckLead(const RowRange& range) {
  if (range.start.size() < range.leading_bytes) return Wrong(range, "its start is shorter");
  const std::optional<std::string> end =
      format::Successor(std::string_view(range.start).substr(0, range.leading_bytes));
  if (!end.has_value() || (!range.end.empty() && range.end <= *end)) return {};
  return Wrong(range, "its keys begin with different ones; give a range for each");
}

// No key may be in the ranges of two parts: it would come twice.
Status CheckDisjoint(const std::vector<LeadRows>& leads) {
  std::vector<const format::KeyRange*> all;
  for (const LeadRows& part : leads) {
    for (const format::KeyRange& range : part.rows) all.push_back(&range);
  }
  std::ranges::sort(all, {},
                    [](const format::KeyRange* range) -> const std::string& { return range->low; });
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i - 1]->high.has_value() && *all[i - 1]->high <= all[i]->low) continue;
    return Status::InvalidArgument("key " + base::Quote(all[i]->low) +
                                   " is in two ranges that leave out different leading bytes");
  }
  return {};
}

}  // namespace

bool IsMerged(const ScanOptions& scan) {
  return std::ranges::any_of(scan.ranges,
                             [](const RowRange& range) { return range.leading_bytes > 0; });
}

Result<std::vector<LeadRows>> LeadsOf(const ScanOptions& scan) {
  std::map<std::string, KeyRanges> by_lead;
  for (const RowRange& range : scan.ranges) {
    format::KeyRange keys = KeysOf(range);
    if (IsEmpty(keys)) continue;
    if (range.leading_bytes > 0) RETURN_IF_ERROR(CheckLead(range));
    by_lead[range.start.substr(0, range.leading_bytes)].push_back(std::move(keys));
  }
  if (by_lead.size() > kScanLeadsMax) {
    return Status::InvalidArgument(
        "the ranges of a scan begin with " + std::to_string(by_lead.size()) +
        " different leading bytes, the limit is " + std::to_string(kScanLeadsMax));
  }
  ScanOptions rest = scan;
  rest.ranges.clear();
  const KeyRanges within = RowsOf(rest);
  std::vector<LeadRows> leads;
  for (auto& [lead, rows] : by_lead) {
    LeadRows part{.lead = lead, .rows = Intersect(Unite(std::move(rows)), within)};
    if (!part.rows.empty()) leads.push_back(std::move(part));
  }
  RETURN_IF_ERROR(CheckDisjoint(leads));
  return leads;
}

KeyRanges RowsOf(const std::vector<LeadRows>& leads) {
  KeyRanges all;
  for (const LeadRows& part : leads) all.insert(all.end(), part.rows.begin(), part.rows.end());
  return Unite(std::move(all));
}

Status CutLeads(const ReadFrom& from, bool reverse, std::vector<LeadRows>* leads) {
  const std::string& key = *from.position.key;
  const auto holds_key = [&key](const LeadRows& part) {
    return std::ranges::any_of(part.rows, [&key](const format::KeyRange& range) {
      return range.low <= key && (!range.high.has_value() || key < *range.high);
    });
  };
  const auto of_key = std::ranges::find_if(*leads, holds_key);
  if (of_key == leads->end()) {
    return Status::InvalidArgument("the token has a position that the scan has no key at");
  }
  const std::string rest = key.substr(of_key->lead.size());
  for (LeadRows& part : *leads) {
    std::string border = part.lead + rest;
    // Of two rows with the same rest the one with the larger key comes later.
    const bool is_done = reverse ? border >= key : border <= key;
    if (is_done != reverse) border.push_back('\0');
    const format::KeyRange left = reverse ? format::KeyRange{std::string(), std::move(border)}
                                          : format::KeyRange{std::move(border), std::nullopt};
    part.rows = Intersect(part.rows, {left});
  }
  return {};
}

Result<std::unique_ptr<RowSource>> ScanMerged(const ScanRequest& request,
                                              const std::vector<LeadRows>& leads, TableView view) {
  const ScanOptions& scan = request.scan;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(view, request.options));
  view.point = schema.point;
  schema.needs_cells = true;
  auto context =
      std::make_unique<ReadContext>(request.resources, std::move(view), std::move(schema));
  context->Limit(request.limits);
  context->may_end_early = scan.limit > 0;
  // Parts read ahead of each other: only a row that was given says how far the scan has come.
  if (context->meter != nullptr) context->meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  auto merged = std::make_unique<MergedScan>(std::move(context), scan);
  ReadContext* const shared = merged->context();
  uint64_t bytes = 0;
  for (const LeadRows& part : leads) {
    if (part.rows.empty()) continue;
    ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(shared->view, part.rows));
    RETURN_IF_ERROR(LoadFamilies(shared->schema.merged, &clusters));
    if (shared->fills_cache) {
      ASSIGN_OR_RETURN(shared->fills_cache, FitsCache(request.resources, clusters, &bytes));
    }
    if (scan.limit == 0) RETURN_IF_ERROR(CheckScanCost(*shared, clusters));
    if (!clusters.empty()) merged->Add(part.lead.size(), std::move(clusters));
  }
  return std::unique_ptr<RowSource>(std::move(merged));
}

}  // namespace tandem::engine
