// Sizes that make much happen in a small database. A test changes those that it is about.
#pragma once

#include <cstdint>

#include "engine/runtime/environment.h"

namespace tandem::test {

/// Flushes and rolls happen after a few hundred small writes.
inline engine::Tuning SmallTuning() {
  engine::Tuning tuning;
  tuning.memstore_bytes = 64 << 10;
  tuning.memstores_total_bytes = 1 << 20;
  tuning.block_cache_bytes = 1 << 20;
  tuning.overlap_bytes = 1 << 20;
  tuning.log_segment_bytes = 64 << 10;
  tuning.section_alignment = 64;
  tuning.compaction_runs = 4;
  tuning.scan_regions = 1;
  tuning.sort_bytes = 1 << 10;
  return tuning;
}

/// Some of many: each size is small in some and less so in others.
inline engine::Tuning RandomTuning(uint64_t seed) {
  engine::Tuning tuning = SmallTuning();
  tuning.memstore_bytes = 8192 << (seed % 4);
  tuning.memstores_total_bytes = 64 * tuning.memstore_bytes;
  tuning.block_cache_bytes = (seed / 4) % 2 == 0 ? 64 << 10 : 4 << 20;
  tuning.overlap_bytes = (seed / 16) % 4 == 0 ? 4096 : 1 << 20;
  tuning.log_segment_bytes = 32 << 10;
  tuning.log_former_segments = 1 + (seed / 32) % 4;
  tuning.compaction_runs = 4 + (seed / 8) % 4;
  tuning.join_bytes = seed % 3 == 0 ? 0 : 2048 << (seed % 5);
  tuning.scan_regions = 1 + (seed / 64) % 4;
  tuning.chain_cells_max = 1 + seed % 7;  // Rows become trees all the time.
  if (seed % 3 != 1) tuning.hit_rows_first = 4 << (seed % 5);
  if (seed / 2 % 3 != 1) tuning.hit_bytes = 0;
  return tuning;
}

}  // namespace tandem::test
