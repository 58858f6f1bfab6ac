// What rows look like that are not there yet: columns of given sizes, or the columns of rows that a
// table has.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/database.h"
#include "tandem/schema.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"

namespace tandem::emulator {

enum class ValueKind : uint8_t {
  kText,    ///< Words, some frequent, most rare: it compresses as text does.
  kDigits,  ///< Decimal digits, all as likely.
  kRandom,  ///< Bytes, all as likely: nothing compresses them.
};

struct ColumnShape {
  std::string qualifier;
  uint64_t bytes = 0;  ///< Of each value.
  ValueKind kind = ValueKind::kText;
};
/// `NAME=BYTES[:text|digits|random]`. Errors: kInvalidArgument, also for no bytes.
Result<ColumnShape> ParseColumnShape(std::string_view text);

/// Threads: any.
class RowShape {
 public:
  /// Rows of one family "d". Requires: there is a column.
  static RowShape OfColumns(std::vector<ColumnShape> columns, std::vector<IndexOptions> indexes);
  /// Rows like the first ones of a table, with its families, types and those indexes that this
  /// program can compute. Errors:
  /// kInvalidArgument when it has no row; those of a cursor. `cancelled` may be null.
  static Result<RowShape> OfTable(Database* database, const TableInfo& table,
                                  const std::atomic<bool>* cancelled);

  /// A table for them; its name is "t".
  const TableOptions& table() const { return table_; }
  /// Puts row number `i` under a key, and returns the bytes of key, names and values.
  uint64_t Put(uint64_t i, std::string_view key, WriteBatch* batch) const;

 private:
  struct Cell {
    std::string family, qualifier, value;
  };
  TableOptions table_;
  std::vector<ColumnShape> columns_;     // Either these,
  std::vector<std::vector<Cell>> rows_;  // or rows to repeat.
};

}  // namespace tandem::emulator
