// What a read needs besides its view: files, memory, and how much of it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/memory_account.h"
#include "engine/region/overlaps.h"
#include "engine/source/index_reads.h"
#include "format/registry/registered.h"

namespace tandem::engine {

/// A read with a limit finds its hits among so many rows of a file first, and then among more: a
/// value with a million rows is not decoded whole to return ten.
inline constexpr uint32_t kHitRowsFirst = 1 << 14;

/// `file_system` makes the I/O queue of each cursor.
struct ReadResources {
  base::FileSystem* file_system = nullptr;
  /// Budget of the block cache: a scan that would read more than a part of it does not fill the
  /// cache. 0: unknown, scans always fill it.
  uint64_t cache_bytes = 0;
  base::MemoryAccount* memory = nullptr;  ///< Counts the buffers of reads.
  /// Where the overlaps of memstores with files are counted; null: none are built.
  std::shared_ptr<OverlapMemory> overlap_memory = nullptr;
  IndexReads* index_reads = nullptr;  ///< Counts the queries that use an index; null: nobody asks.
  uint64_t read_buffer_bytes = 64 << 20;  ///< What all cursors together may read ahead.
  uint32_t hit_rows_first = kHitRowsFirst;
  uint64_t hit_bytes = 16 << 20;  ///< What one read holds of the hits that it found in indexes.
  base::Clock* clock = nullptr;           ///< For budgets of time; null: they are no limit.
  /// That conditions and groups may call; null: none. Used where these are bound.
  const format::FunctionRegistry* functions = nullptr;
  /// Runs what helps the read (engine/parallel); null: the caller reads alone.
  base::Executor* readers = nullptr;
  uint64_t part_bytes = 256 << 10;  ///< About those of the parts that it is cut into then.
};

}  // namespace tandem::engine
