// Before a part of a lead is given out, the next one is cut: where that begins, the lead has its
// place in the order once the rows of the part are merged.
#include "engine/parallel/lead_read.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/loser_tree.h"
#include "base/status_macros.h"
#include "engine/parallel/cached_blocks.h"
#include "engine/parallel/key_read.h"
#include "engine/parallel/part_readers.h"
#include "engine/parallel/part_rows.h"

namespace tandem::engine {
namespace {

// Of what all cursors may read ahead, the parts of one merge.
constexpr uint64_t kBufferPart = 4;
constexpr uint64_t kPartBytesMin = 16 << 10;
// Parts of fewer rows cost more to open than to read.
constexpr uint64_t kPartRowsMin = 256;
constexpr uint64_t kPartsOfLead = 8;
// About this many leads show whether the blocks of all are cached.
constexpr size_t kLeadsLookedAt = 16;

// Of the files; rows of memstores are in memory.
uint64_t RowsOf(const LeadRead& read) {
  uint64_t rows = 0;
  for (const LeadClusters& lead : read.leads) {
    for (const Cluster& cluster : lead.clusters) {
      for (const FileSource& source : cluster.files) rows += source.high - source.low;
    }
  }
  return rows;
}

// A merge reads a part of each lead before it has a row: of one that ends early no more than its
// limit, and of few rows a part of each lead.
PartSize SizeOf(const LeadRead& read) {
  const ReadResources& resources = read.context->resources;
  const size_t leads = std::max<size_t>(read.leads.size(), 1);
  PartSize size = PartSize::Of(resources);
  size.bytes = std::min(size.bytes,
                        std::max(resources.read_buffer_bytes / kBufferPart / leads, kPartBytesMin));
  uint64_t rows = RowsOf(read) / leads / kPartsOfLead;
  if (read.rows > 0) rows = std::min(rows, read.rows / leads);
  size.rows = std::clamp(rows, std::min(kPartRowsMin, size.rows), size.rows);
  return size;
}

// Where the rows of a part begin in the direction of the read; nullopt: it is the first one of a
// lead, and no key with this lead is there.
std::optional<std::string> BeginOf(const format::KeyRange& rows, size_t lead_bytes, bool reverse) {
  if (!reverse) return rows.low;
  const std::string_view lead = std::string_view(rows.low).substr(0, lead_bytes);
  if (!rows.high.has_value() || !rows.high->starts_with(lead)) return std::nullopt;
  return rows.high;
}

class LeadPart final : public ReadPart {
 public:
  LeadPart(size_t part_lead, KeyRanges rows, bool reverse)
      : lead(part_lead), rows_(NewKeyPart(std::move(rows), reverse)) {}

  Result<std::unique_ptr<RowSource>> Open(ReadContext* context) override {
    return rows_->Open(context);
  }
  Result<uint64_t> Count(ReadContext* context) override { return rows_->Count(context); }

  const size_t lead;
  bool is_last = false;            // Of its lead,
  std::optional<std::string> end;  // or where the next part of that begins.

 private:
  const std::unique_ptr<ReadPart> rows_;
};

// Parts of all leads, by where they begin.
class LeadParts final : public PartedRead {
 public:
  LeadParts(const LeadRead& read, const PartSize& size) : reverse_(read.reverse) {
    for (const LeadClusters& lead : read.leads) {
      Lead& added = leads_.emplace_back();
      added.bytes = lead.lead_bytes;
      added.parts = std::make_unique<KeyParts>(lead.clusters, reverse_, size);
    }
  }

  Result<std::unique_ptr<ReadPart>> Cut() override {
    if (!order_.has_value()) {
      for (; begun_ < leads_.size(); ++begun_) {
        ASSIGN_OR_RETURN(leads_[begun_].next, leads_[begun_].parts->Next());
        SetBegin(&leads_[begun_]);
      }
      order_.emplace(leads_.size(), Before{this});
    }
    Lead& lead = leads_[order_->top()];
    if (lead.next.empty()) return std::unique_ptr<ReadPart>();
    auto part = std::make_unique<LeadPart>(order_->top(), std::move(lead.next), reverse_);
    ASSIGN_OR_RETURN(lead.next, lead.parts->Next());
    SetBegin(&lead);
    part->is_last = lead.next.empty();
    part->end = lead.begin;
    order_->Replay();
    return std::unique_ptr<ReadPart>(std::move(part));
  }

 private:
  struct Lead {
    size_t bytes = 0;
    std::unique_ptr<KeyParts> parts;
    KeyRanges next;                    // Of the next part; none: there is none.
    std::optional<std::string> begin;  // Of that part.
  };
  struct Before {
    const LeadParts* parts;
    bool operator()(size_t a, size_t b) const { return parts->IsBefore(a, b); }
  };

  void SetBegin(Lead* lead) const {
    lead->begin.reset();
    if (lead->next.empty()) return;
    lead->begin = BeginOf(reverse_ ? lead->next.back() : lead->next.front(), lead->bytes, reverse_);
  }

  // As the merge decides between leads whose rows it does not have yet (MergedRows::IsBefore).
  bool IsBefore(size_t a, size_t b) const {
    const Lead &left = leads_[a], &right = leads_[b];
    if (left.next.empty() || right.next.empty()) {
      return !left.next.empty() || (right.next.empty() && a < b);
    }
    if (!left.begin.has_value() || !right.begin.has_value()) {
      return !left.begin.has_value() && (right.begin.has_value() || a < b);
    }
    const std::string_view left_rest = std::string_view(*left.begin).substr(left.bytes);
    const int rests = left_rest.compare(std::string_view(*right.begin).substr(right.bytes));
    if (rests != 0) return (rests < 0) != reverse_;
    return (*left.begin < *right.begin) != reverse_;
  }

  const bool reverse_;
  std::vector<Lead> leads_;
  size_t begun_ = 0;                              // The first leads whose parts are cut.
  std::optional<base::LoserTree<Before>> order_;  // Once all are.
};

// The readers of a merge, and the parts that they gave out before the merge asked for these.
class SharedParts {
 public:
  SharedParts(PartReaders::Work work, size_t leads) : readers_(std::move(work)), waiting_(leads) {}

  PartReaders* readers() { return &readers_; }
  /// The next part of the lead, which has one. Errors: those of the readers, and of any part that
  /// was taken: no part is cut after one that failed.
  Result<std::unique_ptr<PartInWork>> Take(size_t lead) {
    std::deque<std::unique_ptr<PartInWork>>& own = waiting_[lead];
    while (own.empty()) {
      ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, readers_.Take());
      if (part == nullptr) {
        CHECK(!failure_.ok());  // Each part of a lead is cut, but for those after one that failed.
        return failure_;
      }
      if (!part->status.ok()) failure_ = part->status;
      const size_t of = static_cast<const LeadPart&>(*part->part).lead;
      waiting_[of].push_back(std::move(part));
    }
    std::unique_ptr<PartInWork> part = std::move(own.front());
    own.pop_front();
    return part;
  }

 private:
  PartReaders readers_;
  Status failure_;                                                // Of a part that was taken.
  std::vector<std::deque<std::unique_ptr<PartInWork>>> waiting_;  // Of each lead; end first.
};

// The rows of one lead, part by part.
class RowsOfLead final : public BoundedRows {
 public:
  RowsOfLead(std::shared_ptr<SharedParts> parts, size_t lead, std::optional<std::string> begin)
      : parts_(std::move(parts)), lead_(lead), next_(std::move(begin)), rows_(parts_->readers()) {}

  Result<bool> NextBatch(format::RowBatch* batch) override {
    batch->Clear();
    if (!rows_.has_part()) {
      if (has_ended_) return false;
      ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, parts_->Take(lead_));
      rows_.Begin(std::move(part));
    }
    std::span<const RowView> rows;
    ASSIGN_OR_RETURN(const bool more, rows_.Next(&rows));
    for (const RowView& row : rows) batch->Add(row);
    if (more) return true;
    EndPart();
    return !has_ended_;
  }
  std::optional<std::string_view> bound() const override {
    if (rows_.has_part() || !next_.has_value()) return std::nullopt;
    return *next_;
  }

 private:
  void EndPart() {
    const auto& part = static_cast<const LeadPart&>(rows_.part());
    has_ended_ = part.is_last;
    next_ = part.end;
    rows_.End();
  }

  const std::shared_ptr<SharedParts> parts_;
  const size_t lead_;
  std::optional<std::string> next_;  // Where the next part begins; nullopt: it is the first one.
  PartRows rows_;
  bool has_ended_ = false;
};

}  // namespace

uint32_t ThreadsFor(const LeadRead& read, uint32_t asked) {
  if (asked <= 1 || read.leads.empty()) return 1;
  const PartSize size = SizeOf(read);
  if (read.rows > 0 && read.rows / read.leads.size() < size.rows) return 1;
  uint64_t parts = 0;
  for (const LeadClusters& lead : read.leads) {
    if (parts >= kPartsMin) break;
    parts += PartsIn(lead.clusters, size, kPartsMin - parts);
  }
  const uint32_t threads = ThreadsFor(*read.context, asked, parts);
  if (threads == 1) return 1;
  const size_t step = std::max<size_t>(read.leads.size() / kLeadsLookedAt, 1);
  for (size_t i = 0; i < read.leads.size(); i += step) {
    if (PaysToPass(read.leads[i].clusters)) return threads;
  }
  return 1;
}

void AddLeads(const LeadRead& read, uint32_t threads, MergedRows* merged) {
  const size_t leads = read.leads.size();
  const auto parts = std::make_shared<SharedParts>(
      PartReaders::Work{.read = std::make_unique<LeadParts>(read, SizeOf(read)),
                        .context = read.context,
                        .threads = threads,
                        .taken = static_cast<uint32_t>(leads)},
      leads);
  for (size_t i = 0; i < leads; ++i) {
    const LeadClusters& lead = read.leads[i];
    const format::KeyRange& first =
        read.reverse ? lead.clusters.back().rows : lead.clusters.front().rows;
    merged->AddBounded(
        lead.lead_bytes,
        std::make_unique<RowsOfLead>(parts, i, BeginOf(first, lead.lead_bytes, read.reverse)));
  }
}

}  // namespace tandem::engine
