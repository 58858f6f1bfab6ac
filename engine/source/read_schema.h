// What a read returns of each row, and what it has to decode for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/predicate/bound.h"
#include "engine/predicate/column_set.h"
#include "engine/region/view.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "tandem/options.h"

namespace tandem::engine {

/// The view's read point with the bounds of the options.
format::ReadPoint PointOf(format::ReadPoint point, const ReadOptions& options);

struct ReadSchema {
  std::shared_ptr<const format::TableRecord> table;
  format::ReadPoint point;
  uint32_t versions = 1;
  ColumnSet returned;
  bool returns_all = true;  ///< `returned` is every family.
  /// What is decoded of a single-source row that is known to match, of a single-source row, and of
  /// any other row. Each set contains the one before; `matched` contains `returned`.
  ColumnSet matched, single_source, merged;
  /// What is gathered of a wide row before it is known to match: the columns that decide by
  /// themselves, and the returned columns of families that are not returned whole.
  ColumnSet named;
  bool pieces = false;
  bool needs_cells = false;  ///< A row without a cell to return is not returned.
  /// A row may match without a cell in any decoded family. Rows without such cells are visited too,
  /// and other families may have to show that the row exists.
  bool every_row = false;

  /// Errors: kNotFound (a family of the options), kInvalidArgument (versions is 0).
  static Result<ReadSchema> Make(const TableView& view, const ReadOptions& options);
  /// For a row that is found by its key and read alone: nothing is known to match or to be
  /// single-source, `pieces` is false. Errors: those of Make.
  static Result<ReadSchema> OfOneRow(std::shared_ptr<const format::TableRecord> table,
                                     const format::ReadPoint& point, const ReadOptions& options);
  /// Returns and decodes nothing but what Decode asks for.
  void ReturnNothing();
  /// Adds what to decode: `ordering` of every row, `predicate` of rows that are not known to match.
  void Decode(const ColumnSet& ordering, const BoundPredicate& predicate);
  std::string_view FamilyName(format::FamilyId family) const;
  /// Whether of Puts alone, of any sources, the newest of each column is what a read without bounds
  /// shows.
  bool ShowsNewestPuts() const;
  /// Whether a single-source row is returned with all that is decoded of it. `decided`: it is known
  /// to match.
  bool ReturnsAllDecoded(bool decided) const {
    return (decided ? matched : single_source) == returned;
  }
  /// Whether cells of the family are decoded.
  bool DecodesFamily(format::FamilyId family) const { return merged.Find(family) != nullptr; }
};

}  // namespace tandem::engine
