// Where one row is in the sources of a view, and reading it there alone: for point reads, and for
// reads that need more of a row than they have decoded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/predicate/column_set.h"
#include "engine/region/view.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_schema.h"
#include "engine/source/row_trees.h"
#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "memstore/memstore.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Lifetime: the view pins what it names.
struct RowLocations {
  struct InFile {
    format::StoreFile* file = nullptr;
    uint32_t ordinal = 0;
    uint32_t carrier_block = 0;             ///< The block of the key carrier to start at,
    format::RowBlockRef carrier_rows = {};  ///< and its rows, if they are known. May be null.
  };
  std::vector<InFile> files;
  std::vector<const MemRow*> memstores;

  void Clear() {
    files.clear();
    memstores.clear();
  }
};

/// Finds the sources that hold a row, one after the other: by filter if there are several, then by
/// key and hash. No data block is read. Lifetime: view and row outlive it.
class RowFinder {
 public:
  RowFinder(const RegionView& view, std::string_view row);

  /// Appends those of the memstores that hold the row.
  void AddMemstores(std::vector<const MemRow*>* found) const;
  /// The row in the next file that holds it, the oldest first; nullopt at the end. Errors:
  /// kCorruption, kIoError.
  Result<std::optional<RowLocations::InFile>> NextFile();

 private:
  Result<std::optional<RowLocations::InFile>> FindInFile(const FileSlice& slice) const;

  const RegionView& view_;
  const std::string_view row_;
  const uint64_t hash_;
  size_t next_ = 0;  // Of the region's files.
};

/// All that RowFinder finds. Errors: those of RowFinder.
Result<RowLocations> FindRow(const RegionView& view, std::string_view row);

/// The last row block read of each family: reading rows in order reads each block once, whatever
/// the cache holds.
class BlockMemo {
 public:
  /// `counters`, when not null, counts the blocks.
  explicit BlockMemo(ReadCounters* counters = nullptr) : counters_(counters) {}

  /// The block that holds `position`, found fast when it is `hint`. Requires: the section has a
  /// block `hint`. Errors: kCorruption, kIoError.
  Result<format::RowBlockRef> Read(const format::DataSection& data, uint32_t position,
                                   uint32_t hint);
  /// Forgets the blocks.
  void Clear() { blocks_.clear(); }

 private:
  struct LastBlock {
    const format::DataSection* data;
    format::RowBlockRef rows;
  };

  ReadCounters* counters_;
  std::vector<LastBlock> blocks_;
};

/// The part of a row in one family of one file.
struct RowPart {
  const format::DataSection* data = nullptr;
  format::RowBlockRef rows;
  uint32_t slot = 0;
  const ColumnSet::Family* wanted = nullptr;

  /// Whether the part need not fit in memory.
  bool must_stream() const { return rows->is_wide() && wanted->all; }
};

/// The part of the row in one family of a file; without `data` if it has none. Errors: kCorruption,
/// kIoError.
Result<RowPart> FindPart(const RowLocations::InFile& location, format::FamilyId family,
                         BlockMemo* blocks);
/// The parts of the row in files that may hold some of `columns`. Errors: kCorruption, kIoError.
/// Lifetime: `columns` outlives them.
Result<std::vector<RowPart>> FindParts(const RowLocations& locations, const ColumnSet& columns,
                                       BlockMemo* blocks);
/// The same, appended to `*parts`.
Status FindParts(const RowLocations& locations, const ColumnSet& columns, BlockMemo* blocks,
                 std::vector<RowPart>* parts);

/// Keeps the bytes of cells alive.
using CellPins = std::vector<std::shared_ptr<const void>>;

/// Appends the wanted cells of a part and the DeleteFamily markers of its family, sorted. Requires:
/// !part.must_stream(). Errors: kCorruption, kIoError. Lifetime: what is added to `*pins`.
Status AppendCells(const RowPart& part, std::vector<format::Cell>* cells, CellPins* pins);

/// A row as a stream.
struct RowColumns {
  std::unique_ptr<format::ColumnStream> stream;
  std::shared_ptr<const RowTrees> trees;
  uint64_t bytes_elsewhere = 0;  ///< In sources that are not trees.

  /// Bytes of qualifiers and values in all sources, old versions included. Cost: a walk over the
  /// cells of the trees.
  uint64_t StoredBytes() const { return bytes_elsewhere + trees->CountBytes(); }
};
/// The cells of the row in `columns` that decide what it shows as `schema` reads it, merged over
/// all sources, in bounded memory. Errors: kCorruption, kIoError. Lifetime: schema and columns
/// outlive the result.
Result<RowColumns> OpenColumns(const ReadSchema& schema, const RowLocations& locations,
                               const ColumnSet& columns, BlockMemo* blocks);

/// Bytes of qualifiers and values, overflow values too. Errors: kCorruption.
Result<uint64_t> BytesOf(std::span<const format::Cell> cells);

}  // namespace tandem::engine
