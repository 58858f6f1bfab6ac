// What the dumps of store files share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "format/block/block_file.h"
#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "store_file/store_file.h"
#include "tandem/status.h"
#include "tools/dump/dump.h"
#include "tools/tandem/key_fields.h"

namespace tandem::tools {

/// Opens the store file and takes the handle out of `probed`. Errors: those of StoreFile::Open.
Result<std::shared_ptr<format::StoreFile>> OpenProbedStoreFile(ProbedFile* probed);

/// A row as a dump of cells shows it.
struct DumpedRow {
  std::string_view key;
  std::string_view family;            ///< Empty: not known.
  std::optional<uint32_t> ordinal{};  ///< nullopt: not known.
};
/// Writes cells as records; those of a table with a typed row key have its fields beside its bytes.
class CellRecords {
 public:
  CellRecords(const format::TableRecord& table, DumpRecords* writer);
  void Begin();
  /// Adds a record for each cell. Errors: kCorruption.
  Status Add(const DumpedRow& row, std::span<const format::Cell> cells);

 private:
  OptionalRowKey row_key_;
  DumpRecords* const writer_;
};

/// Gives the wanted rows of the file, by key, and of one key family by family, to `visit` with
/// their cells in pieces. Damage is noted and passed over. `visit` returns false to end it. Errors:
/// kIoError, kCancelled, what `visit` returns.
using RowVisitor =
    std::function<Result<bool>(const DumpedRow&, format::FamilyId, std::span<const format::Cell>)>;
Status VisitRows(Dump& dump, const format::StoreFile& file, const RowVisitor& visit);

/// A block of a section, read and checked.
struct WalkedBlock {
  const format::SectionEntry& section;
  format::BlockHandle handle;
  uint8_t codec = 0;
  const format::BlockRef& block;  ///< nullptr: these bytes are no good block.
};
/// Gives each block of the section to `visit`, and each stretch of bytes between blocks that is
/// none, front to back. `visit` returns false to end it.
Status WalkSection(const format::StoreFile& file, const format::SectionEntry& section,
                   const std::function<Result<bool>(const WalkedBlock&)>& visit);

Status DumpBlocks(Dump& dump, const format::StoreFile& file);
Status DumpCells(Dump& dump, const format::StoreFile& file);
Status DumpHistograms(Dump& dump, format::StoreFile* file);
/// What one block holds, by its kind; as hex where it has no parts of its own.
Status DumpBlockContent(Dump& dump, const format::StoreFile& file, const WalkedBlock& walked);

/// Finds the family that a row block belongs to, which its own bytes do not say. For offsets that
/// rise. Threads: one at a time. Lifetime: the file outlives it.
class BlockOwners {
 public:
  explicit BlockOwners(const format::StoreFile& file);
  struct Owner {
    const format::DataSection* data = nullptr;  ///< nullptr: not known.
    uint32_t block = 0;                         ///< Its number in the family.
  };
  Owner Of(uint64_t offset);

 private:
  std::vector<Owner> next_;  // Of each family, the first block not before the last offset.
};

}  // namespace tandem::tools
