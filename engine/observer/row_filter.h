// What the observers of a table let a read return of its rows.
//
// An observer decides on the whole row, so such a read decodes all columns and leaves out
// afterwards what it was not asked for. Otherwise the columns that are asked for would decide
// whether a row is hidden.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/read/row_source.h"
#include "engine/runtime/observers.h"
#include "format/row/row_batch.h"
#include "format/schema.h"
#include "tandem/options.h"
#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class RowFilter {
 public:
  /// nullopt: no observer filters. `needs_cells`: a row without a cell that is asked for is not
  /// returned. Errors: those of the observers; kNotFound, kInvalidArgument (what is asked for).
  static Result<std::optional<RowFilter>> Make(
      const ObserverList& observers, const std::shared_ptr<const format::TableRecord>& table,
      const ReadOptions& options, bool needs_cells);

  /// How to read the rows that are filtered. Lifetime: the filter's.
  const ReadOptions& whole_rows() const { return whole_rows_; }
  /// Puts the cells that are returned into `*cells`; false: the row is not returned. Lifetime of
  /// the cells: the row's. Errors: those of the observers.
  Result<bool> Apply(const RowView& row, std::vector<Cell>* cells);
  /// The same for a row that owns its bytes; nullopt: it is not returned.
  Result<std::optional<Row>> Apply(const std::optional<Row>& row);

 private:
  RowFilter(const ObserverList& observers, const format::TableRecord& table,
            const ReadOptions& options, bool needs_cells);
  bool IsAskedFor(const Cell& cell) const;

  ObserverList observers_;
  std::vector<size_t> places_;                   // Of those that filter.
  std::set<std::string, std::less<>> families_;  // That are asked for, and columns by family.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> columns_;
  bool returns_all_;
  bool needs_cells_;
  ReadOptions whole_rows_;
  std::vector<bool> hidden_;  // Cells of the row.
};

/// The rows of `source` as the filter returns them, but for the first `offset`, at most `limit` (0:
/// no limit).
std::unique_ptr<RowSource> NewFilteredRows(std::unique_ptr<RowSource> source, RowFilter filter,
                                           uint64_t limit, uint64_t offset);

}  // namespace tandem::engine
