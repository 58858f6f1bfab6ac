// Sizes that make much happen in a small database. A test changes those that it is about.
#pragma once

#include "engine/runtime/environment.h"

namespace tandem::test {

/// Flushes and rolls happen after a few hundred small writes.
inline engine::Tuning SmallTuning() {
  engine::Tuning tuning;
  tuning.memstore_bytes = 64 << 10;
  tuning.memstores_total_bytes = 1 << 20;
  tuning.block_cache_bytes = 1 << 20;
  tuning.log_segment_bytes = 64 << 10;
  tuning.section_alignment = 64;
  tuning.compaction_runs = 4;
  tuning.scan_regions = 1;
  return tuning;
}

}  // namespace tandem::test
