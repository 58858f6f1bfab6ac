// Hears of flushes and merges, and checks what holds of each: the cells that it drops are counted,
// and none begins without room for what it may write.
#pragma once

#include <tandem/event_listener.h>

#include <cstdint>
#include <string>

#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

/// Threads: one.
class MergeWatch final : public EventListener {
 public:
  /// `disk` outlives it.
  explicit MergeWatch(test::SimulatedDisk* disk) : disk_(*disk) {}

  void OnFlushEnd(const FlushEvent& event) override {
    if (event.status.ok()) CheckCells("flush", event.cells);
  }
  void OnCompactionBegin(const CompactionEvent& event) override {
    const auto budget = disk_.control().space_budget();
    if (!budget.has_value()) return;
    const uint64_t used = disk_.used_bytes(), free = *budget > used ? *budget - used : 0;
    if (free >= event.input_bytes) return;
    Fail("a merge of " + std::to_string(event.input_bytes) + " bytes begins with " +
         std::to_string(free) + " free");
  }
  void OnCompactionEnd(const CompactionEvent& event) override {
    if (event.status.ok()) CheckCells("merge", event.cells);
  }

  /// The first thing that did not hold; empty: all did.
  const std::string& reason() const { return reason_; }

 private:
  void CheckCells(const std::string& what, const CellCounts& cells) {
    if (cells.in == cells.out + cells.dropped.total()) return;
    Fail("a " + what + " of " + std::to_string(cells.in) + " cells keeps " +
         std::to_string(cells.out) + " and drops " + std::to_string(cells.dropped.total()));
  }
  void Fail(const std::string& reason) {
    if (reason_.empty()) reason_ = reason;
  }

  test::SimulatedDisk& disk_;
  std::string reason_;
};

}  // namespace tandem::reliability
