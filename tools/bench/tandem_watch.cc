// See tandem_watch.h.
#include "tools/bench/tandem_watch.h"

#include <algorithm>

#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

void Raise(std::atomic<uint64_t>* most, uint64_t value) {
  uint64_t before = most->load(std::memory_order_relaxed);
  while (before < value && !most->compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

uint64_t RunsMost(const DatabaseInfo& info) {
  uint64_t runs = 0;
  for (const TableInfo& table : info.tables) {
    for (const RegionInfo& region : table.regions) runs = std::max(runs, region.runs);
  }
  return runs;
}

// A file that several regions share counts once.
uint64_t FilesOf(const DatabaseInfo& info) {
  std::vector<uint64_t> numbers;
  for (const TableInfo& table : info.tables) {
    for (const RegionInfo& region : table.regions) {
      for (const FileInfo& file : region.files) numbers.push_back(file.number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return static_cast<uint64_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
}

}  // namespace

void TandemWatch::OnFlushEnd(const FlushEvent&) {
  Database* const database = database_.load(std::memory_order_acquire);
  if (database == nullptr) return;
  const Result<DatabaseInfo> info = database->Info();
  if (info.has_value()) Raise(&runs_most_, RunsMost(*info));
}

void TandemWatch::OnStallEnd(const StallEvent& event) {
  Raise(&longest_stall_micros_, event.micros);
}

void TandemWatch::OnCompactionEnd(const CompactionEvent& event) {
  Raise(&longest_merge_micros_, event.micros);
  Raise(&largest_merge_bytes_, event.input_bytes);
}

EngineState TandemWatch::State() {
  Database* const database = database_.load(std::memory_order_acquire);
  const Result<DatabaseInfo> info = database->Info();
  Check(info.status());
  const Statistics statistics = database->GetStatistics();
  EngineState state;
  for (const TableInfo& table : info->tables) state.regions += table.regions.size();
  state.files = FilesOf(*info);
  state.runs_most = std::max(RunsMost(*info), runs_most_.exchange(0, std::memory_order_relaxed));
  state.flushed_bytes = statistics.flushed_bytes;
  state.merged_bytes = statistics.compacted_bytes;
  state.stalls = statistics.stalls;
  state.stalled_micros = statistics.stall_micros;
  state.longest_stall_micros = longest_stall_micros_.load(std::memory_order_relaxed);
  state.longest_merge_micros = longest_merge_micros_.load(std::memory_order_relaxed);
  state.largest_merge_bytes = largest_merge_bytes_.load(std::memory_order_relaxed);
  state.delayed_micros = statistics.delayed.total().micros;
  state.memory_bytes = statistics.memory.total_bytes();
  state.memory_budget_bytes = statistics.memory_budget_bytes;
  state.replayed = info->recovered_operations;
  return state;
}

}  // namespace tandem::bench
