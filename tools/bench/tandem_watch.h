// Counts of a Tandem database that only its events have.
#pragma once

#include <tandem/tandem.h>

#include <atomic>
#include <cstdint>

#include "tools/bench/peer.h"

namespace tandem::bench {

/// Notes after each flush how many runs a region has at most: only a flush adds one. Threads: any.
/// Lifetime: between Begin and End it uses the database.
class TandemWatch final : public EventListener {
 public:
  void Begin(Database* database) { database_.store(database, std::memory_order_release); }
  void End() { database_.store(nullptr, std::memory_order_release); }

  /// Requires: Begin.
  EngineState State();

  void OnFlushEnd(const FlushEvent& event) override;
  void OnStallEnd(const StallEvent& event) override;
  void OnCompactionEnd(const CompactionEvent& event) override;

 private:
  std::atomic<Database*> database_ = nullptr;  // Released by Begin, after the open.
  // Relaxed: nothing else is ordered by them.
  std::atomic<uint64_t> runs_most_ = 0, longest_stall_micros_ = 0;
  std::atomic<uint64_t> longest_merge_micros_ = 0, largest_merge_bytes_ = 0;
};

}  // namespace tandem::bench
