// Rows that are copied whole: all versions of all cells, with their timestamps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tandem/options.h"
#include "tandem/row.h"
#include "tandem/row_key.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

/// All versions of all cells.
ReadOptions WholeRows();

/// Its key, qualifiers and values.
uint64_t BytesOf(const RowView& row);

/// The timestamp at which a DeleteRow takes all its cells. Requires: it has some.
int64_t NewestTimestamp(const RowView& row);

/// Puts the row's cells under the key `to`. Neighbours of one family and time are one operation.
void AddPuts(std::string_view table, std::string_view to, const RowView& row, WriteBatch* batch);

/// What rows hold, whatever their keys are made of: equal for equal rows in any order.
struct RowContent {
  uint64_t rows = 0, cells = 0;
  uint64_t digest = 0;  ///< The sum of the rows' hashes, modulo 2^64.

  bool operator==(const RowContent&) const = default;

  RowContent& operator+=(const RowContent& other);
  RowContent& operator-=(const RowContent& other);
};

/// Of one row. The fields, those of its key, count by name, in whatever order they come.
RowContent ContentOf(std::span<const RowKeyField> fields, const RowView& row);

}  // namespace tandem::engine
