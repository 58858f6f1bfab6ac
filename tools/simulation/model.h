// The reference model: what a database must answer, in the simplest terms. Operations are applied
// one after the other to rows of versions, and what an operation removes is gone at once: there are
// no markers, no sequences, no files and no indexes. It shares no code with the engine.
//
// A copy of a model is a snapshot: rows are shared until they change.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/aggregate.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/schema.h"
#include "tandem/transaction.h"
#include "tandem/write_batch.h"

namespace tandem::test {

/// One operation of a batch, as a user states it.
struct ModelOperation {
  enum class Kind : uint8_t {
    kPut,
    kDeleteCell,
    kDeleteColumn,
    kDeleteFamily,
    kDeleteRow,
    kIncrement,  ///< Of columns that hold integers or nothing.
    kAppend,
  };
  Kind kind = Kind::kPut;
  std::string table, row, family;
  /// Qualifiers and, for kPut, values; what is added or appended. Deletes of a cell or column name
  /// one.
  std::vector<std::pair<std::string, std::string>> columns;
  std::optional<int64_t> timestamp;

  /// Whether what it writes depends on what is stored. It is logged at any durability.
  bool reads() const {
    return kind == Kind::kDeleteCell || kind == Kind::kIncrement || kind == Kind::kAppend;
  }
  void AddTo(WriteBatch* batch) const;
  /// Requires: !reads().
  Status AddTo(Transaction* transaction) const;
  std::string Describe() const;
};

struct ModelCell {
  std::string family, qualifier;
  int64_t timestamp = 0;
  std::string value;
  bool operator==(const ModelCell&) const = default;
};

/// A row as a read returns it.
struct ModelRow {
  std::string key;
  std::vector<ModelCell> cells;  ///< By family (as declared), qualifier, newest first.

  ModelRow() = default;
  explicit ModelRow(const RowView& view);
  bool operator==(const ModelRow&) const = default;
  std::string Describe() const;
};

/// How a read sees the model.
struct ModelRead {
  int64_t now_micros = 0;
  uint32_t versions = 1;
  std::vector<ColumnName> columns;  ///< Of the cells returned; with `families` empty: all.
  std::vector<std::string> families = {};
  /// Only versions with since <= timestamp <= as_of exist, among those that are kept.
  std::optional<int64_t> as_of = std::nullopt, since = std::nullopt;
  bool any_version = false;  ///< Of predicates: QueryOptions::any_version.
};

/// A group of rows; values are text, nullopt where absent.
struct ModelGroup {
  std::vector<std::optional<std::string>> keys, values;

  bool operator==(const ModelGroup&) const = default;
  std::string Describe() const;
};
/// What groups are made of, and what is computed of each. Types of bytes, text and int64; no
/// functions.
struct ModelGrouping {
  std::vector<IndexColumn> keys;
  std::vector<std::pair<AggregateKind, IndexColumn>> values;
};

class Model {
 public:
  void CreateTable(const TableOptions& options);
  void Truncate(const std::string& table) { tables_.at(table).rows.clear(); }
  /// Takes away the cells of a family, and the types of its columns.
  void EmptyFamily(const std::string& table, const std::string& family);
  /// The family of that name gets these options. What its former limits hide at `now_micros`, and
  /// what is beyond the new number of versions, is gone for good.
  void AlterFamily(const std::string& table, const FamilyOptions& options, int64_t now_micros);
  void Rename(const std::string& from, const std::string& to);
  /// Conditions on a column keep the type that they had.
  void ChangeIndexes(const std::string& table,
                     const std::function<void(std::vector<IndexOptions>*)>& change);
  /// The indexes and the types of columns of a table are those of `options`.
  void TakeSchema(const TableOptions& options) { tables_.at(options.name).options = options; }
  const TableOptions& table(const std::string& name) const { return tables_.at(name).options; }

  /// `timestamp` is the batch's, for operations without one; `now_micros` decides which versions
  /// DeleteCell still finds. Requires: the table and the family exist.
  void Apply(const ModelOperation& operation, int64_t timestamp, int64_t now_micros);
  /// Makes a table what it is in `other`.
  void TakeTable(const std::string& name, const Model& other) {
    tables_[name] = other.tables_.at(name);
  }
  /// Whether Write has to refuse the operation because a value does not fit an index's type.
  bool Refuses(const ModelOperation& operation) const;

  /// Two rows of the table that have the same values in all columns of a unique index, which no
  /// write may leave: "by_c: p, q". nullopt: there are none.
  std::optional<std::string> Duplicates(const std::string& table, int64_t now_micros) const;

  std::optional<ModelRow> Get(const std::string& table, const std::string& row,
                              const ModelRead& read) const;
  std::vector<ModelRow> Scan(const std::string& table, const ScanOptions& scan,
                             const ModelRead& read) const;
  std::vector<ModelRow> Query(const std::string& table, const Predicate& predicate,
                              const QueryOptions& query, const ModelRead& read) const;
  uint64_t Count(const std::string& table, const Predicate& predicate, int64_t now_micros) const;
  uint64_t Count(const std::string& table, const Predicate& predicate, const ModelRead& read) const;
  /// By rising keys. A sum that its type does not hold is "overflow".
  std::vector<ModelGroup> Groups(const std::string& table, const Predicate& predicate,
                                 const ModelGrouping& grouping, const ModelRead& read) const;
  /// The newest value of a column, or what functions make of it.
  std::optional<std::string> Value(const std::string& table, const std::string& row,
                                   const ColumnName& column, int64_t now_micros,
                                   const Functions& functions = {}) const;

 private:
  /// Versions newest first.
  using Versions = std::vector<std::pair<int64_t, std::string>>;
  /// By place of the family in the table, and qualifier.
  using Columns = std::map<std::pair<size_t, std::string>, Versions, std::less<>>;
  struct Table {
    TableOptions options;
    std::map<std::string, std::shared_ptr<const Columns>, std::less<>> rows;
  };

  static size_t FamilyOf(const TableOptions& options, std::string_view family);
  static void Put(const ModelOperation& operation, const FamilyOptions& family, size_t place,
                  int64_t timestamp, Columns* columns);
  /// Of a batch.
  struct Moment {
    int64_t timestamp, now_micros;
  };
  static void Update(const ModelOperation& operation, const FamilyOptions& family, size_t place,
                     const Moment& moment, Columns* columns);
  static void Delete(const ModelOperation& operation, const TableOptions& options,
                     int64_t timestamp, int64_t now_micros, Columns* columns);
  /// The versions of a column that have not expired at `now_micros`.
  static size_t LiveCount(const Versions& versions, const FamilyOptions& family,
                          int64_t now_micros);
  /// Those of them that the read's bounds leave, newest first.
  static Versions Shown(const Versions& versions, const FamilyOptions& family,
                        const ModelRead& read);
  /// The value of a column, or what the functions make of it, or of the columns of its family:
  /// nothing, one or several.
  static std::vector<std::string> Newest(const Table& table, const Columns& columns, size_t family,
                                         std::string_view qualifier, const Functions& functions,
                                         const ModelRead& read);
  /// The value of a row in a group as canonical text; nullopt: absent.
  static std::optional<std::string> Grouped(const Table& table, const Columns& columns,
                                            const IndexColumn& column, const ModelRead& read);
  static std::optional<ModelRow> Visible(const Table& table, const std::string& key,
                                         const Columns& columns, const ModelRead& read);
  static std::optional<std::vector<std::string>> ValuesOf(const Table& table,
                                                          const Columns& columns,
                                                          const IndexOptions& index,
                                                          const ModelRead& read);
  static bool Matches(const Table& table, const std::string& key, const Columns& columns,
                      const Predicate& predicate, const ModelRead& read);
  static bool MatchesTuple(const Table& table, const std::string& key, const Columns& columns,
                           const Predicate& predicate, const ModelRead& read);
  static bool MatchesColumn(const Table& table, const std::string& key, const Columns& columns,
                            const Predicate& predicate, const ModelRead& read);
  static ColumnType TypeOf(const TableOptions& options, size_t family, std::string_view qualifier);

  std::map<std::string, Table, std::less<>> tables_;
};

/// Negative, zero or positive as `a` sorts before, equals or sorts after `b`, both values of
/// `type`. Requires: both fit it; types of bytes, text and int64.
int CompareValues(ColumnType type, std::string_view a, std::string_view b);
/// Whether the functions are of all columns of a family, which its name stands for.
bool AreOfFamily(const Functions& functions);

std::string Describe(const ScanOptions& scan);
std::string Describe(const std::vector<RowRange>& ranges);

/// Whether the key is in one of the ranges; without any, each is.
bool IsInRanges(const std::vector<RowRange>& ranges, const std::string& key);
/// What decides the place of a key among those of the ranges.
std::pair<std::string, std::string> PlaceInRanges(const std::vector<RowRange>& ranges,
                                                  const std::string& key);

/// `bytes` in quotes, with \xNN for what is not printable.
std::string Shown(std::string_view bytes);

}  // namespace tandem::test
