// When it pays to bring what was derived from a memstore up to date: once the questions that it
// answers, and those that were answered without it, cost as much as the changes to take over. So
// small reads of a memstore that changes much look for themselves, and no reader pays for more than
// was saved or spent before.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tandem::engine {

/// Threads: any; a count that is off by a race costs little.
class QuestionCredit {
 public:
  /// A reader asked that many questions.
  void Add(uint64_t questions) {
    credit_.store(credit_.load(std::memory_order_relaxed) + questions, std::memory_order_relaxed);
  }
  /// Pays for taking over `pending` of all `changes`. False: there is not enough credit.
  bool Pay(uint64_t pending, uint64_t changes) {
    const uint64_t price = pending * kQuestionsPerChange;
    // More would let a small read pay for many changes that nobody asks for any more.
    const uint64_t credit =
        std::min(credit_.load(std::memory_order_relaxed), changes * kQuestionsPerChange);
    if (price > credit + kFree) return false;
    credit_.store(credit - std::min(credit, price), std::memory_order_relaxed);
    return true;
  }

 private:
  // A change costs about as much as this many questions that are answered by looking up rows.
  static constexpr uint64_t kQuestionsPerChange = 2;
  static constexpr uint64_t kFree = 32;  // What every reader may spend.

  std::atomic<uint64_t> credit_{0};  // Relaxed: an estimate.
};

}  // namespace tandem::engine
