// The data section of a store file while it is written: the families of the table, and the blocks
// of keys where no family has every row.
//
// Some family has every row at first: the one of the first cell. While that is so the lowest such
// family carries the keys. When the last of them lacks a row, the keys of the rows before it are
// read back from the blocks that it wrote, block by block, and every later key is added to them. So
// memory stays bounded, and a file of which a family has every row holds each key once a family.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/block/section_writer.h"
#include "format/row/family_writer.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time.
class DataWriter {
 public:
  /// `file`, which `out` writes and which can be read, and `out` outlive this.
  DataWriter(base::File* file, const TableRecord& table, SectionWriter* out);

  /// nullptr when the table has no such family.
  FamilyWriter* Find(FamilyId family);
  /// Says that row `ordinal` was added to the families that it has cells of, at least one.
  /// Errors: kIoError, kNoSpace; kCorruption when the file does not read as it was written.
  Status EndRow(uint32_t ordinal, std::string_view key);

  /// Bytes of blocks that wait for their extent, before compression.
  uint64_t waiting_bytes() const;
  uint64_t memory_bytes() const;
  /// Writes the blocks that are left; the data section can end then.
  Status WriteBlocks();
  /// Writes what follows the data section, family by family. Requires: WriteBlocks was called.
  Status WriteSections(uint32_t file_rows);

 private:
  FamilyWriter* LowestWith(uint32_t rows);
  Status CopyKeys(FamilyWriter* from);

  base::File* file_;
  SectionWriter* out_;
  std::vector<std::unique_ptr<FamilyWriter>> families_;  // By id.
  FamilyWriter* carrier_ = nullptr;                      // Has every row so far.
  std::unique_ptr<FamilyWriter> keys_;                   // Once no family has.
  FamilyOptions keys_options_;
};

}  // namespace tandem::format
