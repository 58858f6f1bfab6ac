// The operations of a group that have their sequences and are in no memstore yet. A later request
// of the group that depends on their rows sees them here.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/key.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: keys, qualifiers and values belong to the batches.
class GroupWrites {
 public:
  /// Adds the cells of one operation, which have their sequences and timestamps. Requires:
  /// sequences do not decrease.
  void Add(const format::TableRecord& table, std::string_view row,
           const std::vector<format::Cell>& cells);
  bool Has(format::TableId table, std::string_view row) const {
    return rows_.find({table, row}) != rows_.end();
  }
  /// The first row that is in the range; nullopt: none is.
  std::optional<std::string_view> FirstIn(format::TableId table,
                                          const format::KeyRange& rows) const;
  /// Appends the cells of the column and the DeleteFamily markers of its family. Returns whether
  /// there were any.
  bool Append(format::TableId table, std::string_view row, const format::Cell& column,
              std::vector<format::Cell>* cells) const;

 private:
  struct RowCells {
    std::vector<format::Cell> cells;
    bool has_markers = false;
    size_t prune_at = 32;  ///< Cells.
  };
  static void Prune(const format::TableRecord& table, RowCells* row);

  std::map<std::pair<format::TableId, std::string_view>, RowCells> rows_;
};

}  // namespace tandem::engine
