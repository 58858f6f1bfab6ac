// All rows of a cluster, by merging its sources by key, forward or backward. The sources form a
// heap with the next key on top. A single-source row is returned without merging. A file is not
// read before the merge reaches its keys, so that a read that ends early pays for few files of a
// long run.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/merge_heap.h"
#include "engine/read/row_iterator.h"
#include "engine/read/source_scan.h"

namespace tandem::engine {
namespace {

class MergingIterator final : public RowIterator {
 public:
  /// Whether rows that do not match are passed over before they are decoded.
  static bool Filters(const ReadContext& context) {
    return RowIterator::Filters(context, /*decided=*/false);
  }

  MergingIterator(ReadContext* context, const Cluster& cluster, bool reverse)
      : RowIterator(context),
        reverse_(reverse),
        filters_(Filters(*context)),
        returns_plain_(ReturnsPlain(*context, /*decided=*/filters_)),
        heap_(ComesAfter{reverse}) {
    for (const FileSource& source : cluster.files) {
      scans_.push_back(NewFileScan(context, source, reverse, filters_));
      waiting_.push_back({scans_.back().get(), reverse ? source.max_key() : source.min_key()});
    }
    // The next one to begin is the last.
    std::sort(waiting_.begin(), waiting_.end(), [reverse](const Waiting& a, const Waiting& b) {
      return reverse ? a.bound < b.bound : a.bound > b.bound;
    });
    for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
      scans_.push_back(NewMemstoreScan(*memstore, cluster.rows, reverse));
      begins_at_once_.push_back(scans_.back().get());
    }
  }

 private:
  // A file that has not been read; in the order of the merge no row of it comes before `bound`.
  struct Waiting {
    SourceScan* scan;
    std::string_view bound;
  };

  struct ComesAfter {
    bool reverse;
    bool operator()(const SourceScan* a, const SourceScan* b) const {
      return reverse ? a->key() < b->key() : a->key() > b->key();
    }
  };

  Status Start(SourceScan* scan) {
    RETURN_IF_ERROR(scan->Next());
    if (scan->valid()) heap_.Push(scan);
    return {};
  }

  // Begins the files that may hold the next row.
  Status BeginWaiting() {
    while (!waiting_.empty()) {
      const Waiting next = waiting_.back();
      if (!heap_.empty()) {
        const std::string_view top = heap_.top()->key();
        if (reverse_ ? next.bound < top : next.bound > top) return {};
      }
      waiting_.pop_back();
      RETURN_IF_ERROR(Start(next.scan));
    }
    return {};
  }

  // Before which key no source but the one on top has a row after that one's; nullopt: none has
  // any. Requires: forward.
  std::optional<std::string_view> NextElsewhere() const {
    const SourceScan* const second = heap_.second();
    if (waiting_.empty()) return second == nullptr ? std::nullopt : std::optional(second->key());
    const std::string_view bound = waiting_.back().bound;
    return second == nullptr ? bound : std::min(bound, second->key());
  }

  // Whether the row on top is in that source alone.
  bool IsAlone() const {
    return heap_.IsTopAlone(
        [](const SourceScan* a, const SourceScan* b) { return a->key() == b->key(); });
  }

  Result<bool> Find() override {
    for (SourceScan* scan : std::exchange(begins_at_once_, {})) RETURN_IF_ERROR(Start(scan));
    for (; taken_ > 0; --taken_) RETURN_IF_ERROR(Advance());
    while (true) {
      RETURN_IF_ERROR(BeginWaiting());
      if (heap_.empty()) return false;
      SourceScan* const top = heap_.top();
      if (!filters_ || !IsAlone() || !top->MayBeSingleSource()) return true;
      ASSIGN_OR_RETURN(const bool may_match, top->MayMatch());
      if (may_match) return true;
      RETURN_IF_ERROR(context_->CheckGoOn());
      RETURN_IF_ERROR(reverse_ ? top->Next() : top->NextMatch(NextElsewhere()));
      Replace(top);
    }
  }

  bool Take(size_t rows_max, format::RowBatch* batch) override {
    if (!returns_plain_) return false;
    if (IsAlone()) return TakePlain(rows_max, batch);
    return !filters_ && TakeUpdated(batch);
  }

  // With a filter, a row that Find has found to match.
  bool TakePlain(size_t rows_max, format::RowBatch* batch) {
    SourceScan* const top = heap_.top();
    const bool is_next_of_last = top == std::exchange(last_taken_, nullptr);
    if (!top->MayBeSingleSource() || (filters_ && !top->is_match())) return false;
    if (!top->AddPlain(batch)) return false;
    taken_ = 1;
    last_taken_ = top;
    ++context_->counters.single_source_by_key;
    if (is_next_of_last && !reverse_ && !filters_) {
      context_->counters.single_source_by_key += top->AddPlainRun(rows_max, NextElsewhere(), batch);
    }
    return true;
  }

  // Takes the usual row that is updated: in one file, and in the memstore that is all there is
  // beside it.
  bool TakeUpdated(format::RowBatch* batch) {
    last_taken_ = nullptr;
    if (scans_.size() != 2) return false;
    const MemRow* const newer = scans_[1]->memstore_row();
    if (newer == nullptr || !scans_[0]->MayBeSingleSource()) return false;
    if (!scans_[0]->AddUpdated(newer, &row_, batch)) return false;
    taken_ = 2;
    ++context_->counters.merged;
    return true;
  }

  Result<bool> Read() override {
    row_.Begin();
    locations_.Clear();
    key_.assign(heap_.top()->key());
    const bool single_source = IsAlone() && heap_.top()->MayBeSingleSource();
    const bool is_match = single_source && heap_.top()->is_match();
    ++(single_source ? context_->counters.single_source_by_key : context_->counters.merged);
    do {
      SourceScan* scan = heap_.top();
      RETURN_IF_ERROR(scan->Append(single_source, &row_));
      scan->AddLocation(&locations_);
      scan->Hold();
      RETURN_IF_ERROR(Advance());
    } while (!single_source && !heap_.empty() && heap_.top()->key() == key_);
    return Accept(single_source, is_match);
  }

  // Moves the source on top.
  Status Advance() {
    SourceScan* const top = heap_.top();
    RETURN_IF_ERROR(top->Next());
    Replace(top);
    return {};
  }
  // After `top`, which was on top, has moved.
  void Replace(const SourceScan* top) { top->valid() ? heap_.Replay() : heap_.Pop(); }

  bool reverse_;
  const bool filters_;  // Rows that do not match are passed over by Find.
  const bool returns_plain_;
  size_t taken_ = 0;  // Sources, from the top on, whose row was taken before they have moved.
  // The one of the last row, if that was taken: where two in a row come from one source more may.
  const SourceScan* last_taken_ = nullptr;
  std::vector<std::unique_ptr<SourceScan>> scans_;
  std::vector<SourceScan*> begins_at_once_;
  std::vector<Waiting> waiting_;
  MergeHeap<SourceScan, ComesAfter> heap_;
};

}  // namespace

std::unique_ptr<RowIterator> NewMergingIterator(ReadContext* context, const Cluster& cluster,
                                                bool reverse) {
  const bool is_usual = cluster.files.size() == 1 && cluster.memstores.size() == 1;
  if (is_usual && !reverse && !MergingIterator::Filters(*context)) {
    return NewUpdatedScanIterator(context, cluster);
  }
  return std::make_unique<MergingIterator>(context, cluster, reverse);
}

}  // namespace tandem::engine
