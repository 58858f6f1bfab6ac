// Merging store files into one: rows by key through a loser tree, cells by the retention rules,
// postings through ordinal maps.
//
// A row that lies in one input only and keeps all its cells (a clean row that has not expired
// always does) has the entries it had, so its postings are copied through the map old ordinal ->
// new ordinal and its share of the digests is inherited. Every other row is merged cell by cell and
// its entries are collected anew.
//
// A merge that holds every older source, while nobody reads at an older sequence, leaves no marker
// and one version a timestamp: the sequences of its cells decide nothing any more and become 0,
// which makes a file of small rows a sixth to a quarter smaller. Every later cell has a greater
// sequence, as before, and the bounds in the file's statistics stay those of the inputs. Views that
// were pinned earlier read the inputs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "format/schema.h"
#include "format/store_file.h"
#include "format/store_file_writer.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::compaction {

struct MergeInput {
  format::StoreFile* file = nullptr;
  uint32_t low = 0, high = 0;  ///< Ordinals [low, high).
};

struct MergeOptions {
  std::shared_ptr<const format::TableRecord> table;
  std::vector<format::SequenceNumber> snapshots;  ///< Registered when the merge began.
  int64_t now_micros = 0;                         ///< Of format::Retention.
  /// Whether an older source outside the merge may hold the row; null: there is none (the merge
  /// holds every older source).
  std::function<Result<bool>(uint64_t row_hash)> older_may_contain;
  const std::atomic<bool>* cancelled = nullptr;  ///< Polled once a block; kCancelled.
};

struct MergeResult {
  bool empty = false;  ///< No row survived: nothing was finished, the file is to be removed.
  format::StoreFileSummary summary;
  uint64_t rows_in = 0, rows_out = 0, rows_copied = 0, cells_in = 0, cells_out = 0;
};

/// Merges `inputs` (oldest first, contiguous in sequence order) into `writer` and finishes it.
/// Errors: kUnsupported when a merged row passes kRowBytesMax, kCorruption, kIoError, kNoSpace,
/// kCancelled.
Result<MergeResult> MergeFiles(std::span<const MergeInput> inputs, const MergeOptions& options,
                               format::StoreFileWriter* writer);

}  // namespace tandem::compaction
