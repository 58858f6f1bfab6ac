// Writes the data section of a store file: the families of the table, and key blocks if no family
// has every row.
//
// At first some family has every row: that of the first cell. As long as there is one, the lowest
// such family is the key carrier. When the last one lacks a row, the keys of the rows before it are
// read back from the blocks that it wrote, block by block, into key blocks, and every later key is
// added to those. So memory stays bounded, and a file in which some family has every row stores
// each key only once per family.
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
  /// Ends row `ordinal`, which was added to each family that it has cells of, at least one.
  /// Errors: kIoError, kNoSpace; kCorruption when the file does not read back as written.
  Status EndRow(uint32_t ordinal, std::string_view key);

  /// Bytes of blocks that wait for their extent, before compression.
  uint64_t waiting_bytes() const;
  uint64_t memory_bytes() const;
  /// Of all families.
  uint64_t copied_blocks() const;
  /// Writes the remaining blocks; then the data section can end.
  Status WriteBlocks();
  /// Writes the sections that follow the data section, family by family. Requires: WriteBlocks was
  /// called.
  Status WriteSections(uint32_t file_rows);

 private:
  FamilyWriter* LowestWith(uint32_t rows);
  Status CopyKeys(FamilyWriter* from);

  base::File* file_;
  SectionWriter* out_;
  std::vector<std::unique_ptr<FamilyWriter>> families_;  // By id.
  FamilyWriter* carrier_ = nullptr;                      // Has every row so far.
  std::unique_ptr<FamilyWriter> keys_;                   // Not null once no family has every row.
  FamilyOptions keys_options_;
};

}  // namespace tandem::format
