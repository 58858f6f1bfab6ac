// Writing a store file front to back: header, rows, then at Finish the dictionary, block index, key
// hashes, clean bits, filter, index sections, statistics, digests, schema, section table, footer.
// Finish syncs the file; its name becomes durable with the directory, which the caller syncs
// before the manifest names it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/cell.h"
#include "format/index_section_writer.h"
#include "format/schema.h"
#include "format/store_file.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

struct StoreFileSpec {
  FileNumber number;
  FileId id;
  DatabaseId database;
  const TableRecord* table = nullptr;  ///< Outlives the writer.
  std::string region_start;
  uint32_t alignment = 4096;  ///< Of sections; 64 in tests.
};

/// What the manifest records about a finished file.
struct StoreFileSummary {
  uint64_t size_bytes = 0;
  Hash128 hash;  ///< XXH3-128 of the whole file.
  FileStatistics statistics;
  std::vector<IndexSummary> indexes;
};

/// How the index entries of a row reach the file.
enum class RowEntries : uint8_t {
  kCollect,  ///< From the cells of the row.
  kCopied,   ///< From a section given to index(i).AddSection.
};

/// Threads: one at a time.
class StoreFileWriter {
 public:
  StoreFileWriter(std::unique_ptr<base::File> file, StoreFileSpec spec);
  ~StoreFileWriter();

  /// Appends a row and returns its ordinal. Requires: keys rise, cells are sorted by CellLess, at
  /// least one. Errors: kUnsupported when the cells pass kRowBytesMax (names the limit) or the file
  /// kRowsPerFileMax; kIoError, kNoSpace.
  Result<Ordinal> AddRow(std::string_view key, std::span<const Cell> cells,
                         RowEntries entries = RowEntries::kCollect);
  uint32_t row_count() const;
  uint64_t size_bytes() const;  ///< Bytes written so far.
  /// The collector of the i-th index of the table.
  IndexSectionWriter& index(size_t i);
  /// Bounds of the sequences of the merge's inputs, where they are wider than those of the cells.
  void WidenSequences(SequenceNumber min, SequenceNumber max);

  /// Writes everything else and syncs the file. Requires: at least one row.
  Result<StoreFileSummary> Finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem::format
