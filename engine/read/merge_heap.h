// The sources of a merge of reads, in a binary heap. Unlike in base/loser_tree.h, sources
// may be added while the merge runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tandem::engine {

/// `IsAfter(a, b)`: whether source a comes after source b. Threads: one at a time.
template <typename Source, typename IsAfter>
class MergeHeap {
 public:
  explicit MergeHeap(IsAfter is_after) : is_after_(std::move(is_after)) {}

  bool empty() const { return sources_.empty(); }
  /// The source that comes first. Requires: !empty().
  Source* top() const { return sources_.front(); }
  /// The source that comes after top(), nullptr if there is no other. Requires: !empty().
  Source* second() const {
    if (sources_.size() < 2) return nullptr;
    const bool is_last = sources_.size() > 2 && is_after_(sources_[1], sources_[2]);
    return sources_[is_last ? 2 : 1];
  }
  /// Whether `equal(top, other)` holds for no other source that may come next. Requires: !empty();
  /// sources for which it holds are neither after one another.
  template <typename Equal>
  bool IsTopAlone(Equal equal) const {
    const auto differs = [&](size_t at) {
      return at >= sources_.size() || !equal(sources_[0], sources_[at]);
    };
    return differs(1) && differs(2);
  }

  void Push(Source* source) {
    sources_.push_back(source);
    std::push_heap(sources_.begin(), sources_.end(), is_after_);
  }

  /// To be called after top() has moved to its next element.
  void Replay() {
    size_t at = 0;
    while (true) {
      size_t next = 2 * at + 1;
      if (next >= sources_.size()) return;
      const bool has_two = next + 1 < sources_.size();
      if (has_two && is_after_(sources_[next], sources_[next + 1])) ++next;
      if (!is_after_(sources_[at], sources_[next])) return;
      std::swap(sources_[at], sources_[next]);
      at = next;
    }
  }

  /// To be called after top() has ended.
  void Pop() {
    sources_.front() = sources_.back();
    sources_.pop_back();
    Replay();
  }

 private:
  IsAfter is_after_;
  std::vector<Source*> sources_;
};

}  // namespace tandem::engine
