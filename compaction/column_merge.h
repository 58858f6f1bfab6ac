// Merges a row that need not fit in memory, column by column over its sources, and writes it piece
// by piece. In memory are one column, one piece of each source, the DeleteFamily markers of a
// family, and the cells that concern indexes.
//
//   1. A tap on each source keeps the cells that its index entries depend on.
//   2. The retention rules are applied to each column with the DeleteFamily markers of its family;
//      nothing else affects it. The cells that are kept go to the writer.
//   3. A DeleteFamily marker stays if it stays for any column of its family, or on its own; the
//      markers follow the family's columns.
//   4. The writer collects the entries of the row again; its entries in each source are subtracted
//      from the digest that comes with that source's sections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "compaction/merge_options.h"
#include "format/cell/cell_stream.h"
#include "store_file/writer.h"
#include "tandem/statistics.h"
#include "tandem/status.h"

namespace tandem::compaction {

/// The part of a row that one source holds.
struct StreamedPart {
  std::unique_ptr<format::CellStream> cells;
  bool in_digests = false;  ///< Its digests were added as a whole.
};

/// A row that is merged column by column.
struct StreamedRow {
  std::string_view key;
  std::vector<StreamedPart> parts;
  /// What is written has the sequence MergeOptions::limits_settled_at (merge.h).
  bool forgets_sequences = false;
};

/// Returns the writer for the row. Called at most once, when something of the row is kept.
using NextWriter = std::function<Result<format::StoreFileWriter*>()>;

/// Merges `row` into the writer of `next_writer`; `present` has the digests of the sources that are
/// `in_digests`, and is not used when there are none. Adds the row's cells to `*cells`. Errors:
/// kCancelled, kCorruption, kIoError, kNoSpace, kUnsupported; those of `next_writer`.
Status MergeColumns(StreamedRow row, const MergeOptions& options, const NextWriter& next_writer,
                    format::StoreFileWriter* present, CellCounts* cells);

}  // namespace tandem::compaction
