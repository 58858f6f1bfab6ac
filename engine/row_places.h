// Where one row lies in the sources of a view, and reading it there by itself: for point reads, and
// for those that have to look at a row again, beyond what was decoded of it on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/column_set.h"
#include "engine/memstore.h"
#include "engine/view.h"
#include "format/cell.h"
#include "format/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Lifetime: the view pins what it names.
struct RowPlaces {
  struct InFile {
    format::StoreFile* file = nullptr;
    uint32_t ordinal = 0;
  };
  std::vector<InFile> files;
  std::vector<const MemRow*> memstores;

  void Clear() {
    files.clear();
    memstores.clear();
  }
};

/// The sources that hold the row, by filter, then by key and hash: no data block is read. Errors:
/// kCorruption, kIoError.
Result<RowPlaces> FindRow(const TableView& view, std::string_view row);

/// Keeps the bytes of cells alive.
using CellPins = std::vector<std::shared_ptr<const void>>;

/// Appends the cells that the file has of the row in `columns`, and the DeleteFamily markers of
/// their families, sorted. Errors: kCorruption, kIoError. Lifetime: what is added to `*pins`.
Status AppendCells(const RowPlaces::InFile& place, const ColumnSet& columns,
                   std::vector<format::Cell>* cells, CellPins* pins);

}  // namespace tandem::engine
