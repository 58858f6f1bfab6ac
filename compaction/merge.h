// Merges store files into a run of one or more files: rows by key through a loser tree, cells by
// the retention rules, postings through ordinal maps.
//
// A row that ends as it is in one input (as a clean row that is in one input only and has not
// expired always does, and a row that its newest version replaces) has the same entries as there,
// so its postings are copied through a map from old to new ordinals, and its share of the digests
// is inherited. Every other row is merged cell by cell and its entries are collected again. A part
// of a file gives its postings in the same way, unless it is small.
//
// A merge whose inputs exceed the limits of a file may write several. The digest of an input cannot
// be split, so digests are then counted row by row, and each output takes postings only from inputs
// with rows in it. A merge into a single file that turns out to collect more entries than it may
// keep in memory begins again as one into several files.
//
// A merge that includes every older source, with no reader at an older sequence, leaves no marker
// and one version per timestamp. The sequences of its cells then decide nothing and are set to 0,
// which makes a file of small rows a sixth to a quarter smaller. Every later cell still has a
// greater sequence, and the bounds in the file's statistics remain those of the inputs. Views
// pinned earlier read the inputs.
//
// Where limits of a family were changed, the cells get the sequence of the change instead: they are
// after it, so the former limits take nothing from them any more. The bounds then begin there.
#pragma once

#include <cstdint>
#include <span>

#include "compaction/merge_options.h"
#include "store_file/store_file.h"
#include "store_file/writer.h"
#include "tandem/statistics.h"
#include "tandem/status.h"

namespace tandem::compaction {

struct MergeInput {
  format::StoreFile* file = nullptr;
  uint32_t low = 0, high = 0;  ///< Ordinals [low, high).
};

/// Where a merge writes: one file after the other, in key order.
class MergeOutput {
 public:
  virtual ~MergeOutput() = default;
  /// A writer for the next file; a file that was not finished is given up. Lifetime: until
  /// Finished, or the next call.
  virtual Result<format::StoreFileWriter*> NextFile() = 0;
  /// The last file returned by NextFile is complete; `summary` is what its writer's Finish
  /// returned.
  virtual Status Finished(const format::StoreFileSummary& summary) = 0;
};

struct MergeResult {
  bool empty = false;  ///< No row survived: nothing was finished, a file begun is to be removed.
  format::StoreFileSummary summary;  ///< Of the last file.
  uint64_t rows_in = 0, rows_out = 0, rows_copied = 0;
  uint64_t blocks_copied = 0;  ///< Of these rows, as they were stored.
  CellCounts cells;
};

/// Merges `inputs` (oldest first, contiguous in sequence order) into files of `output` and finishes
/// them. Memory does not grow with the size of a row; besides what `options` say it takes 8 bytes
/// for each row of the current output, and 4 for each row of the inputs that its keys lie in.
/// Errors: kUnsupported (the writer's), kCorruption, kIoError, kNoSpace, kCancelled; those of
/// `output`.
Result<MergeResult> MergeFiles(std::span<const MergeInput> inputs, const MergeOptions& options,
                               MergeOutput* output);
/// The same into one file, whatever the limits and `entry_bytes`.
Result<MergeResult> MergeFiles(std::span<const MergeInput> inputs, MergeOptions options,
                               format::StoreFileWriter* writer);

}  // namespace tandem::compaction
