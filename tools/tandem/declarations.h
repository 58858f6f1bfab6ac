// The small languages of the command line: families, indexes, columns, cells, numbers with units.
// `:` `,` and `=` inside names are written `\x3a` `\x2c` `\x3d`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/options.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::tools {

/// `NAME[,versions=3][,ttl=7d][,compression=none|zstd][,block-size=8KiB]`. Errors:
/// kInvalidArgument.
Result<FamilyOptions> ParseFamily(std::string_view text);
/// The same for a family that exists, one of `families`: what is not named stays as it is. Errors:
/// kInvalidArgument, kNotFound.
Result<FamilyOptions> ParseFamilyChange(std::string_view text,
                                        const std::vector<FamilyOptions>& families);
/// `NAME=[FAMILY:]COLUMN[:TYPE][:desc]`, where a family is needed with a type; or with a function
/// or several columns, written as in a predicate: `NAME=status, lower(name) DESC, d:at::timestamp`;
/// columns that it includes, ` INCLUDE (name, d:at)`, and ` WHERE ` and a predicate may follow.
/// A unique index is `unique NAME=...`, a global one `global NAME=...`; in a name of its own, \x20
/// stands for that blank. Errors: kInvalidArgument.
Result<IndexOptions> ParseIndex(std::string_view text);
/// Columns and whole families, as ReadOptions takes them.
/// A column of rows, or an expression of a query (QueryOptions::expressions).
struct SelectedField {
  ColumnName column;
  std::string expression = {};  ///< Empty: it is the column.
};

struct ColumnSelection {
  std::vector<ColumnName> columns;
  std::vector<std::string> families;
};
/// `[FAMILY:]COLUMN` or `FAMILY:*`, separated by commas; without a family the table's first is
/// meant, which stays empty here. A column named `*` is `\x2a`. Errors: kInvalidArgument.
Result<ColumnSelection> ParseColumns(std::string_view text);
/// What a query returns of its rows.
struct Selection : ColumnSelection {
  std::vector<std::string> expressions;
  std::vector<SelectedField> fields;  ///< Columns and expressions in their order.
};
/// As ParseColumns, and expressions as a predicate writes them: those with a parenthesis, a quote
/// or `::`, and `_row`. Errors: kInvalidArgument.
Result<Selection> ParseSelection(std::string_view text);
/// `[FAMILY:]COLUMN:TYPE`. Errors: kInvalidArgument.
Result<ColumnOptions> ParseColumnType(std::string_view text);
/// Row keys separated by commas, each as ParseBytes reads it; a comma itself is `\x2c`. Errors:
/// kInvalidArgument, and those of ParseBytes.
Result<std::vector<std::string>> ParseKeys(std::string_view text);
/// `FAMILY[:COLUMN]`.
struct ColumnScope {
  std::string family;
  std::string qualifier;
  bool whole_family = false;
};
Result<ColumnScope> ParseScope(std::string_view text);
/// `[FAMILY:]COLUMN=VALUE`, the value as ParseBytes reads it.
struct CellText {
  ColumnName column;
  std::string value;
};
Result<CellText> ParseCell(std::string_view text);
/// Names of indexes separated by commas. Errors: kInvalidArgument.
Result<std::vector<std::string>> ParseIndexNames(std::string_view text);
/// An order of rows.
struct OrderText {
  std::string index;  ///< Empty: by key.
  bool descending = false;
  bool is_columns = false;  ///< It has columns in the place of a name.
};
/// INDEX, COLUMN, ... or _row, and perhaps :desc. Errors: kInvalidArgument.
Result<OrderText> ParseOrder(std::string_view text);

/// `8192`, `64KiB`, `16MiB`, `1GiB`; KB, MB and GB are powers of 1000. Errors: kInvalidArgument.
Result<uint64_t> ParseSize(std::string_view text);
/// `4096` or `0x1000`, as errors and dumps print offsets; `option` is named in messages. Errors:
/// kInvalidArgument.
Result<uint64_t> ParseOffset(std::string_view option, std::string_view text);
/// `250ms`, `10s`, `5m`, `2h`, `7d`, in microseconds. Errors: kInvalidArgument.
Result<int64_t> ParseDuration(std::string_view text);
/// Microseconds since 1970, or RFC 3339. `option` is for the message. Errors: kInvalidArgument.
Result<int64_t> ParseTime(std::string_view option, std::string_view text);

std::string_view CompressionName(Compression compression);

}  // namespace tandem::tools
