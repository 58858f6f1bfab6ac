// A loser tree (Knuth, TAOCP volume 3, 5.4.1): the smallest of k sorted sources with log2(k)
// comparisons a step.
//
// The k sources are the leaves of a complete binary tree. Each inner node remembers the source that
// lost the match played there, and slot 0 the source that won them all. When the winner moves on,
// only the matches on its way up are played again, each against the loser remembered there.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tandem::base {

/// `Less(a, b)` says whether source a comes before source b; it must be a strict total order
/// (sources that have ended come last). Threads: one at a time.
template <typename Less>
class LoserTree {
 public:
  /// Requires: sources > 0; `less` can be asked about each.
  LoserTree(size_t sources, Less less) : less_(std::move(less)), losers_(sources) {
    losers_[0] = sources > 1 ? Build(1) : 0;
  }

  /// The source that comes first.
  size_t top() const { return losers_[0]; }

  /// To be called after top() has moved to its next element.
  void Replay() {
    size_t winner = losers_[0];
    for (size_t node = (winner + losers_.size()) / 2; node > 0; node /= 2) {
      if (less_(losers_[node], winner)) std::swap(losers_[node], winner);
    }
    losers_[0] = winner;
  }

 private:
  /// Plays all matches below `node` and returns the winner. Leaves are the nodes from k on.
  size_t Build(size_t node) {
    if (node >= losers_.size()) return node - losers_.size();
    size_t winner = Build(2 * node);
    size_t loser = Build(2 * node + 1);
    if (less_(loser, winner)) std::swap(winner, loser);
    losers_[node] = loser;
    return winner;
  }

  Less less_;
  std::vector<size_t> losers_;
};

}  // namespace tandem::base
