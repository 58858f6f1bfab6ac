// Writes a wide row: a row with more than kWideRowBytes of cells in one family. Its cells are
// written to chunk blocks as they come, followed by a head block that describes them. The byte
// tables of both are in wide_row.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kWideRowBytes = 64 * 1024;  ///< More bytes of cells make a row wide.

/// The size of a cell that counts towards kWideRowBytes: about the most that it takes in a file.
inline size_t WidthOf(const Cell& cell) { return 8 + cell.qualifier.size() + cell.value.size(); }

/// One wide row of one family. Threads: one at a time.
class WideRowWriter {
 public:
  /// `position` is the row's in its family; `out` has the data section open and outlives this.
  WideRowWriter(std::string_view key, uint64_t key_hash, uint32_t position, Compression compression,
                SectionWriter* out);
  ~WideRowWriter();

  /// Appends cells, none of them a DeleteFamily. Requires: they ascend by CellLess over all calls;
  /// overflow values were replaced by references into this file. Errors: kInvalidArgument (a value
  /// that must overflow), kIoError, kNoSpace.
  Status Add(std::span<const Cell> cells);
  /// Writes the last chunk and the head block. `deletes` are the family's DeleteFamily markers,
  /// sorted. Requires: there is a cell or a marker. Errors: kUnsupported (more markers than a block
  /// holds), kIoError, kNoSpace.
  Result<BlockHandle> Finish(std::span<const Cell> deletes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::format
