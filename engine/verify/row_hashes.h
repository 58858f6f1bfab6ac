// The rows of a source, joined from their pieces and hashed, so that two reads can be compared. For
// the oracle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "format/types.h"
#include "index/entries.h"
#include "index/key.h"

namespace tandem::engine {

/// A column whose values are kept.
struct SeenColumn {
  std::string family;
  format::IndexColumnRecord record;
};

struct SeenRow {
  std::string key;
  format::Hash128 hash;  ///< Of key and cells; of a row in pieces also of where it was cut.
  uint32_t pieces = 0;
  /// Encoded newest values of the columns; nullopt where the row has none, or one that does not
  /// fit. The key of bytes that are too long for an index has more than kIndexKeyBytesMax.
  std::vector<std::optional<std::string>> values;
  /// The other values of multi-valued columns, by the place of the column.
  std::vector<std::pair<size_t, std::string>> more_values;
};

/// The hash of a row in one piece.
format::Hash128 HashOfWhole(const RowView& row);

/// Threads: one at a time. Lifetime: `columns` outlives it.
class RowHashes {
 public:
  RowHashes(std::unique_ptr<RowSource> source, std::span<const SeenColumn> columns)
      : rows_(std::move(source)), columns_(columns) {}

  /// Reads the next row; false at the end. Errors: those of the source.
  Result<bool> Next();
  const SeenRow& row() const { return row_; }

 private:
  Status Add(const RowView& piece);
  /// Adds the values of the column's cells in the piece, of which the newest count.
  void AddFamily(size_t which, const RowView& piece);
  /// Notes the values of all columns of families.
  void NoteFamilies();

  RowReader rows_;
  std::span<const SeenColumn> columns_;
  SeenRow row_;
  format::PutKeys keys_;
  std::vector<bool> has_newest_;  // By column: the newest cell was seen.
  // Of all columns of families, by column: their distinct values, and the column seen last.
  std::vector<std::set<std::string>> of_families_;
  std::vector<std::optional<std::string>> last_qualifiers_;
};

}  // namespace tandem::engine
