// Everything the engine needs from outside: files, clock, randomness, threads. Tests pass their
// own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/random.h"
#include "tandem/limits.h"

namespace tandem::engine {

/// What the pointers point to must outlive the engine; `owner` keeps it alive where nobody else
/// does.
struct Environment {
  base::FileSystem* file_system = nullptr;
  base::Clock* clock = nullptr;
  base::RandomSource* random = nullptr;
  base::Executor* executor = nullptr;
  std::string io_note = {};  ///< Logged at the start: why io_uring is not used. Usually empty.
  std::shared_ptr<const void> owner = nullptr;
};

/// Sizes that tests make small; derived from Options::memory_bytes otherwise.
struct Tuning {
  uint64_t memstore_bytes = 64 << 20;          ///< A memstore is switched when it passes this.
  uint64_t memstores_total_bytes = 128 << 20;  ///< All memstores together; writers wait above it.
  uint64_t block_cache_bytes = 472 << 20;
  uint64_t cache_lent_bytes = 0;           ///< See format::BlockCache.
  uint64_t overlap_bytes = 40 << 20;       ///< Overlap bitmaps and what they are built from.
  uint64_t merge_window_bytes = 16 << 20;  ///< What one merge reads of all its inputs at once.
  uint64_t merge_entry_bytes = 40 << 20;   ///< Index entries that one merge collects at once.
  uint64_t sort_bytes = 80 << 20;          ///< What sorting the rows of a bulk load takes.
  uint64_t read_buffer_bytes = 64 << 20;   ///< What all cursors together read ahead.
  uint32_t hit_rows_first = 1 << 14;       ///< See ReadResources,
  uint64_t hit_bytes = 16 << 20;           ///< and this as well.
  uint64_t log_segment_bytes = 64 << 20;   ///< A segment is rolled when it passes this.
  uint32_t log_former_segments = 16;       ///< Log segments of earlier opens that may stay.
  uint32_t open_files_max = 512;           ///< Descriptors of store files and rings.
  uint32_t rings_max = 64;                 ///< The rings among them; the file system keeps to it.
  uint32_t section_alignment = 4096;       ///< Of store files; 64 in tests.
  uint64_t join_bytes = 32 << 20;          ///< Smaller files do not join a run: they are merged.
  uint64_t file_bytes = 2ull << 30;        ///< A store file ends when its rows take this many bytes
  uint32_t file_rows = kRowsPerFileMax;    ///< or are this many.
  uint64_t region_bytes_max = 4ull << 30;  ///< A region with more bytes in files is split.
  uint32_t chain_cells_max = 16;           ///< A row of a memstore with more cells becomes a tree.
  /// Most runs of an idle region (compaction::MergePolicy); under load fewer than twice as many.
  uint32_t compaction_runs = 8;
  uint32_t scan_regions = 4;  ///< A scan of more regions pins this many first, then the next.
};

}  // namespace tandem::engine
