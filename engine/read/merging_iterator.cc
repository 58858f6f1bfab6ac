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
  MergingIterator(ReadContext* context, const Cluster& cluster, bool reverse)
      : RowIterator(context),
        reverse_(reverse),
        returns_plain_(ReturnsPlain(*context, /*decided=*/false)),
        heap_(ComesAfter{reverse}) {
    for (const FileSource& source : cluster.files) {
      scans_.push_back(NewFileScan(context, source, reverse));
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

  // Whether the row on top is in that source alone.
  bool IsAlone() const {
    return heap_.IsTopAlone(
        [](const SourceScan* a, const SourceScan* b) { return a->key() == b->key(); });
  }

  Result<bool> Find() override {
    for (SourceScan* scan : std::exchange(begins_at_once_, {})) RETURN_IF_ERROR(Start(scan));
    if (std::exchange(top_is_taken_, false)) RETURN_IF_ERROR(Advance());
    RETURN_IF_ERROR(BeginWaiting());
    return !heap_.empty();
  }

  bool Take(size_t /*rows_max*/, format::RowBatch* batch) override {
    top_is_taken_ = returns_plain_ && IsAlone() && heap_.top()->MayBeSingleSource() &&
                    heap_.top()->AddPlain(batch);
    context_->counters.single_source_by_key += top_is_taken_;
    return top_is_taken_;
  }

  Result<bool> Read() override {
    row_.Begin();
    locations_.Clear();
    key_.assign(heap_.top()->key());
    const bool single_source = IsAlone() && heap_.top()->MayBeSingleSource();
    ++(single_source ? context_->counters.single_source_by_key : context_->counters.merged);
    do {
      SourceScan* scan = heap_.top();
      RETURN_IF_ERROR(scan->Append(single_source, &row_));
      scan->AddLocation(&locations_);
      scan->Hold();
      RETURN_IF_ERROR(Advance());
    } while (!single_source && !heap_.empty() && heap_.top()->key() == key_);
    return Accept(single_source, /*decided=*/false);
  }

  // Moves the source on top.
  Status Advance() {
    RETURN_IF_ERROR(heap_.top()->Next());
    heap_.top()->valid() ? heap_.Replay() : heap_.Pop();
    return {};
  }

  bool reverse_;
  const bool returns_plain_;
  bool top_is_taken_ = false;  // The heap is as it was before.
  std::vector<std::unique_ptr<SourceScan>> scans_;
  std::vector<SourceScan*> begins_at_once_;
  std::vector<Waiting> waiting_;
  MergeHeap<SourceScan, ComesAfter> heap_;
};

}  // namespace

std::unique_ptr<RowIterator> NewMergingIterator(ReadContext* context, const Cluster& cluster,
                                                bool reverse) {
  return std::make_unique<MergingIterator>(context, cluster, reverse);
}

}  // namespace tandem::engine
