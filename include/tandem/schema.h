// How a table is declared: families of columns, and secondary indexes over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/function.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

/// How an index and conditions read a stored value. The plain types read decimal text
/// (`true`/`false`; RFC 3339 or integer microseconds), the Be types eight big-endian bytes, bool
/// one (encoding.h). The stored value is never changed; a put whose value does not fit an index is
/// refused. Numbers are on disk.
enum class ColumnType : uint8_t {
  kBytes = 1,
  kText = 2,  ///< Valid UTF-8, compared as bytes.
  kInt64 = 3,
  kUint64 = 4,
  kDouble = 5,  ///< No NaN; -0 is 0.
  kBool = 6,
  kTimestamp = 7,
  kInt64Be = 19,
  kUint64Be = 20,
  kDoubleBe = 21,
  kBoolBe = 22,
  kTimestampBe = 23,
};

/// "int64", "timestamp_be" and so on; "unknown" for a number that is no type.
std::string_view ColumnTypeName(ColumnType type);
/// nullopt: no type has that name.
std::optional<ColumnType> ColumnTypeNamed(std::string_view name);

enum class Compression : uint8_t { kNone = 0, kZstd = 1 };

struct FamilyOptions {
  std::string name = {};
  uint32_t max_versions = 1;  ///< Newest versions of a column that are kept; at least 1.
  int64_t ttl_micros = 0;     ///< A cell vanishes when its timestamp + this has passed; 0: never.
  Compression compression = Compression::kZstd;
  uint32_t block_size_bytes = 8192;  ///< Raw size at which a row block is closed; 512 to 1 MiB.
};

/// A column, whatever is in it. An empty family is the table's first.
struct ColumnName {
  std::string family = {};
  std::string qualifier = {};
};

struct IndexColumn {
  std::string family = {};     ///< Empty: the table's first family.
  std::string qualifier = {};  ///< Empty if the first function is of a family, which has a name.
  ColumnType type = ColumnType::kBytes;  ///< With functions: kBytes means what they return.
  bool descending = false;
  /// What is indexed in the place of the value; it serves conditions with the same functions. Where
  /// they make no value of the type, there is no entry, and a put is not refused, but for text that
  /// is too long for an entry.
  Functions functions = {};
  /// What is indexed is a part of the row key, which the functions make: every row has it, and no
  /// write has to repeat it. Family and qualifier are empty, and there is at least one function, of
  /// one value. Where it makes no value of the type, or one that is too long for an entry, a row
  /// has none; no put is refused. Not for a unique index.
  bool is_row_key = false;

  /// Reads "city", "d:size::int64 DESC", "lower(d:name)" or "split_part(_row, '/', 2)": a column as
  /// in a predicate, perhaps ASC or DESC. Errors: kInvalidArgument with the position.
  static Result<IndexColumn> Parse(std::string_view text);
  /// Reads several, separated by commas. Errors: the same.
  static Result<std::vector<IndexColumn>> ParseList(std::string_view text);
  /// Text that Parse reads back.
  std::string ToString() const;
};

/// Where the entries of an index are.
enum class IndexPlacement : uint8_t {
  kLocal,  ///< In the files of the rows: kept without a read, asked region by region.
  /// In a table of their own, which is not listed, by value and row key, and written together with
  /// the rows. A look-up asks one place, however many regions the rows lie in; a write that touches
  /// one of the columns reads them first, and is at least kBuffered. For values of few rows.
  kGlobal,
};

struct IndexOptions {
  std::string name = {};
  /// 1 to kIndexColumnsMax, of any families. Conditions on the first one, on the first two and so
  /// on are served, and rows are in the order of the first, where that is equal of the second...
  std::vector<IndexColumn> columns = {};
  /// No two rows have the same values in all columns, as the index has them: a write after which
  /// they would is refused with kAlreadyExists. Rows that lack one of the values are exempt: a
  /// column is absent, expired, of no value for its functions or type, or too long for a key. What
  /// holds at a snapshot holds for its sequence; reads as of an older timestamp may find several.
  bool unique = false;
  /// Other columns, at most kIncludedColumnsMax, whose cells are kept in files beside the entries,
  /// with those of `columns`. A query that asks for no other columns (ReadOptions::columns) and has
  /// conditions on no others reads no row for most of its matches: see Explanation::covered. Not
  /// for an index over a multi-valued column.
  std::vector<ColumnName> include = {};
  /// A predicate as text (predicate.h), at most kIndexWhereBytesMax and kIndexWhereDepthMax levels;
  /// empty: none. With one the index is partial: it has no entries of rows which, by what is stored
  /// together with their indexed values, do not satisfy it, and serves queries whose conditions
  /// imply it. It is over columns that have one value in a row, without `_row` and parameters;
  /// literals are read as the types that columns have when the index is made. Not for unique ones.
  std::string where = {};
  /// A global index serves conditions on its first column that an absent value does not satisfy,
  /// and with it those on the next ones; not reads as of an older timestamp, of snapshots that are
  /// older than it, of named ones, or in transactions. One that is added to a table serves when it
  /// is built (IndexInfo::is_building). It is not unique, has no INCLUDE and no WHERE, and columns
  /// of one value, none a part of the row key. A row key and its entry have at most kRowKeyBytesMax
  /// bytes together. Of several columns, none is of a family with a time to live; that of its
  /// families cannot be changed. A bulk load and Attach let those of their table be built anew.
  IndexPlacement placement = IndexPlacement::kLocal;

  /// Reads columns as IndexColumn::ParseList, perhaps followed by INCLUDE and columns, and by WHERE
  /// and a predicate: "city, age::int64 DESC INCLUDE (phone, d:note) WHERE active = true". Errors:
  /// kInvalidArgument with the position.
  static Result<IndexOptions> Parse(std::string_view text);
  /// Text that Parse reads back: all but the name, the placement, and whether it is unique.
  std::string ToString() const;
};

/// The type that conditions and orders compare a column as, whatever indexes there are. A column
/// that is not declared has the type of the first index that its table was created with, else
/// kBytes. Values are not checked against it: one that does not fit counts as absent.
struct ColumnOptions {
  std::string family = {};  ///< Empty: the table's first family.
  std::string qualifier = {};
  ColumnType type = ColumnType::kBytes;
};

struct TableOptions {
  std::string name = {};
  std::vector<FamilyOptions> families = {};  ///< 1 to kFamiliesMax.
  std::vector<IndexOptions> indexes = {};
  /// Types of columns without an index; at most kColumnTypesMax.
  std::vector<ColumnOptions> columns = {};
  /// Row keys at which the table is cut into regions from the start, in any order, without
  /// duplicates.
  std::vector<std::string> split_keys = {};
  /// Names of observers (tandem/observer.h), which are told of the table's operations in this
  /// order; at most kObserversMax. Where one is not in Options::observers, writes are refused.
  std::vector<std::string> observers = {};
  /// What the row keys are made of, as RowKeySchema::Parse reads it (tandem/row_key.h), and as its
  /// ToString prints it where a table is described. Empty: they are bytes.
  std::string row_key = {};
  /// Former declarations that rows may still have the keys of, the newest first: at most
  /// kFormerRowKeysMax, which RowKeyEpochs::Parse takes together with `row_key`.
  /// Database::ChangeRowKey adds them, and Database::RewriteKeys takes them away.
  std::vector<std::string> former_row_keys = {};
};

}  // namespace tandem

#pragma GCC visibility pop
