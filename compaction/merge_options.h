// How a merge goes: which cells it keeps, when a file of its run ends, and what it may take.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "format/schema.h"
#include "format/types.h"
#include "store_file/writer.h"
#include "tandem/limits.h"
#include "tandem/status.h"

namespace tandem::compaction {

/// When a file of a run ends and the next one begins.
struct FileLimits {
  uint64_t bytes = UINT64_MAX;      ///< Of its rows, as written.
  uint32_t rows = kRowsPerFileMax;  ///< 1 or more.
  bool AreReached(const format::StoreFileWriter& writer) const {
    return writer.row_count() >= rows || writer.size_bytes() >= bytes;
  }
};

struct MergeOptions {
  std::shared_ptr<const format::TableRecord> table;
  std::vector<format::SequenceNumber> snapshots;  ///< Registered when the merge began.
  int64_t now_micros = 0;                         ///< Of format::Retention.
  /// Whether an older source outside the merge may hold the row; null: the merge includes every
  /// older source.
  std::function<Result<bool>(uint64_t row_hash)> older_may_contain;
  /// The last change of limits of the table (format::FormerLimits) that is before all operations in
  /// newer sources outside the merge; 0: none. Where sequences decide nothing any more, cells get
  /// this one (merge.h).
  format::SequenceNumber limits_settled_at = {};
  const std::atomic<bool>* cancelled = nullptr;  ///< Polled once a block; kCancelled.
  /// Set about once a block to the bytes of the inputs that were read, by the share of rows, and to
  /// all of them after the last row. May be null. Relaxed: a report that orders nothing.
  std::atomic<uint64_t>* read_bytes = nullptr;
  /// Called about once a block with the bytes that read_bytes shows; it may wait. An error ends the
  /// merge. May be null.
  std::function<Status(uint64_t read_bytes)> passed = nullptr;
  /// The system's cache keeps of the inputs what it had before, and of the outputs the rows that
  /// come from there. Otherwise it gets all of both.
  bool spares_page_cache = false;
  FileLimits limits = {};
  uint64_t window_bytes = 64 << 20;  ///< What all inputs together read at once.
  /// A file ends when the index entries collected for it take this much memory.
  uint64_t entry_bytes = UINT64_MAX;
};

}  // namespace tandem::compaction
