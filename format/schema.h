// A table as the catalog stores it, and its codec. The record is in the manifest and also in the
// schema section of every store file, so that a file can be read on its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/condition.h"
#include "format/function/names.h"
#include "format/types.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Bytes of the random secret that keys a table's row hashes (XXH3_64bits_withSecret).
inline constexpr size_t kHashSecretBytes = 192;

inline constexpr uint8_t kFamilyIdMax = 254;  ///< 255 is kKeysOwner.
/// In the place of a column's family: the column is a part of the row key.
inline constexpr FamilyId kRowKeyFamily{255};

/// Limits that a family had before they were changed. What they had hidden stays hidden.
struct FormerLimits {
  /// The change's own place in the order of operations: those before it are smaller.
  SequenceNumber changed_at;
  /// Of the Puts before the change, those beyond these newest of their column are gone. Absent: the
  /// number stayed. It is kept for fewer versions too: not all sources that a merge has know of the
  /// deletes that came before the change, so it goes by what was kept then.
  std::optional<uint32_t> max_versions = {};
  /// Of the Puts before the change, those with timestamps at or below it are gone.
  std::optional<int64_t> expired_through = {};
  bool operator==(const FormerLimits&) const = default;
};

/// Whether cells vanish later than by the other options, or never.
bool LivesLonger(const FamilyOptions& options, const FamilyOptions& other);
/// Whether they live longer, or more versions are kept.
bool KeepsMore(const FamilyOptions& options, const FamilyOptions& other);

struct FamilyRecord {
  FamilyId id;
  FamilyOptions options;
  /// It was dropped: no cell of it is visible, and merges leave its cells out. The record keeps it,
  /// so that its id is never given out again and its cells are known wherever they are met.
  bool dropped = false;
  /// By changed_at, each at another sequence and with some limit.
  std::vector<FormerLimits> former_limits = {};

  /// The largest timestamp that has expired at `now_micros`; nullopt: none has. In a family that
  /// was dropped all have. Of Puts before a change of limits more may have expired.
  std::optional<int64_t> ExpiredThrough(int64_t now_micros) const;
  /// The same of a Put at `sequence`, or of the oldest of several.
  std::optional<int64_t> ExpiredThrough(int64_t now_micros, SequenceNumber sequence) const;
  /// Whether Puts may expire, now or later.
  bool may_expire() const;
  /// Whether the limits changed between operations of these sequences. Of such Puts the newest may
  /// be gone while an older one that was written after the change is there.
  bool ChangedWithin(SequenceNumber min, SequenceNumber max) const {
    return std::ranges::any_of(former_limits, [&](const FormerLimits& former) {
      return min < former.changed_at && former.changed_at <= max;
    });
  }
};

/// The type that conditions and orders compare a column as.
struct ColumnTypeRecord {
  FamilyId family;
  std::string qualifier;
  ColumnType type = ColumnType::kBytes;
};

/// A column, or a part of the row key: a row is taken to have one Put of its key then, in every
/// source that has cells of it, and that is never deleted (index/put_key.h).
struct IndexColumnRecord {
  FamilyId family;        ///< kRowKeyFamily: it is a part of the row key, and has functions.
  std::string qualifier;  ///< Of such a part: empty.
  ColumnType type = ColumnType::kBytes;  ///< With functions, of text that they return.
  bool descending = false;
  Functions functions = {};  ///< Checked (format/functions.h).
  /// The columns that concat joins to this one, one for each part kColumn, in their order: plain
  /// ones, of bytes. The parts name their families. A row without one of them has no value.
  std::vector<IndexColumnRecord> joined = {};

  bool is_of_row_key() const { return family == kRowKeyFamily; }
  /// Whether it is made of all columns of the family; `qualifier` is empty then.
  bool is_of_family() const {
    return !functions.empty() && (functions.front().kind == FunctionKind::kMapKeys ||
                                  functions.front().kind == FunctionKind::kMapValues);
  }
  /// Its qualifier, or that it is the row key.
  std::string_view name() const { return is_of_row_key() ? kRowKeyColumn : qualifier; }
  /// Calls `use(column)` for itself and those that it joins.
  template <typename Use>
  void ForEachJoined(Use&& use) const {
    use(*this);
    std::ranges::for_each(joined, use);
  }
};
/// Whether both have the same values: of the same columns, by the same functions, as one type.
bool HasSameValues(const IndexColumnRecord& a, const IndexColumnRecord& b);

/// A column that an index includes.
struct IncludedColumnRecord {
  FamilyId family;
  std::string qualifier;
  bool operator==(const IncludedColumnRecord&) const = default;
};

/// Of a unique index, how far it is: one that is kBuilding refuses nothing. Others are kReady.
/// Numbers are on disk.
enum class IndexState : uint8_t { kBuilding = 1, kReady = 2, kDropping = 3, kChecking = 4 };

/// Which rows a partial index is of.
struct IndexPredicate {
  std::string text;  ///< As Predicate::ToString prints it, with all types.
  /// That it is over: ascending, of one value in a row each, no two with the same values.
  std::vector<IndexColumnRecord> columns = {};
  Condition root = {};  ///< Over `columns`.
};

struct IndexRecord {
  IndexId id;
  std::string name;
  IndexState state = IndexState::kReady;
  std::vector<IndexColumnRecord> columns;
  bool unique = false;
  /// Of whose cells, and those of `columns`, files keep a copy by entry (index/covering.h).
  std::vector<IncludedColumnRecord> included = {};
  std::optional<IndexPredicate> where = std::nullopt;

  /// Whether its entries depend on more than the Puts of one column: on several columns, which may
  /// lie in several sources (rule 14), or on the row key. Such an index has no dead postings.
  bool is_of_several() const {
    return columns.size() > 1 || columns.front().is_of_row_key() || needs_order();
  }
  /// Whether its entries depend on columns that have no place of their own in them: those of a
  /// predicate, or those that concat joins. Where timestamps go back they lead to no rows then
  /// (engine/source/column_order.h).
  bool needs_order() const { return where.has_value() || joins_columns(); }
  /// Whether concat makes a value of several columns for it.
  bool joins_columns() const {
    return std::ranges::any_of(columns, [](const auto& column) { return !column.joined.empty(); });
  }
  /// Whether it has the row key alone: the entry of a row is the same in all sources.
  bool is_of_row_key_alone() const {
    return !where.has_value() && std::ranges::all_of(columns, &IndexColumnRecord::is_of_row_key);
  }
  /// Calls `use(column)` for the columns that its entries depend on.
  template <typename Use>
  void ForEachColumn(Use&& use) const {
    for (const IndexColumnRecord& column : columns) column.ForEachJoined(use);
    if (where.has_value()) std::ranges::for_each(where->columns, use);
  }
  /// Whether `test(column)` is true of one of them.
  template <typename Test>
  bool AnyColumn(Test&& test) const {
    bool is_any = false;
    ForEachColumn([&](const IndexColumnRecord& column) { is_any = is_any || test(column); });
    return is_any;
  }
  /// Calls `use(column, place)` for the columns that the key of an entry is made of: `columns`,
  /// and after all of them those that they join. An entry is made of Puts by place
  /// (index/entries.h).
  template <typename Use>
  void ForEachPlace(Use&& use) const {
    size_t place = 0;
    for (const IndexColumnRecord& column : columns) use(column, place++);
    for (const IndexColumnRecord& column : columns) {
      for (const IndexColumnRecord& joined : column.joined) use(joined, place++);
    }
  }
  /// How many places there are.
  size_t places() const {
    size_t count = columns.size();
    for (const IndexColumnRecord& column : columns) count += column.joined.size();
    return count;
  }

  /// Whether writes that would give two rows the same entry are refused.
  bool RefusesDuplicates() const {
    return unique && (state == IndexState::kReady || state == IndexState::kChecking);
  }
};

/// An index whose entries are in a table of their own (IndexPlacement::kGlobal).
struct GlobalIndexRecord {
  IndexRecord index;
  TableId entries;  ///< That table.
  /// Reads at this sequence and later ones find all entries; nullopt: it is being built.
  std::optional<SequenceNumber> since = std::nullopt;
};

/// Of which index a table has the entries.
struct EntriesOf {
  TableId table;
  IndexId index;
  bool operator==(const EntriesOf&) const = default;
};

struct TableRecord {
  TableId id;
  std::string name;
  std::array<char, kHashSecretBytes> hash_secret{};
  std::vector<FamilyRecord> families;
  std::vector<IndexRecord> indexes;  ///< Those that files have sections of.
  std::vector<GlobalIndexRecord> global_indexes = {};
  /// The table has the entries of a global index: nobody but the engine reads or writes it, and its
  /// name, which MakeEntriesName makes, is no valid one.
  std::optional<EntriesOf> entries_of = std::nullopt;
  /// Of columns whose type is not that of the first index over them.
  std::vector<ColumnTypeRecord> columns = {};
  /// An index that is added gets at least this id: ids of dropped ones are never given out again.
  IndexId next_index{1};
  /// Names of the observers that are told of its operations, in this order.
  std::vector<std::string> observers = {};
  /// What the row keys are made of (tandem/row_key.h), as RowKeySchema prints it; empty: bytes.
  std::string row_key = {};
  /// Declarations before it that rows may have keys of, the newest first.
  std::vector<std::string> former_row_keys = {};

  /// nullptr when there is none of that name that was not dropped.
  const FamilyRecord* FindFamily(std::string_view family_name) const;
  /// nullptr when the id was never given out. It may have been dropped.
  const FamilyRecord* FindFamily(FamilyId family) const;
  /// The first that was not dropped: the one that an empty name means.
  const FamilyRecord& first_family() const;
  /// How many were not dropped.
  size_t family_count() const;
  /// Of the last of the families' former limits; 0: there are none.
  SequenceNumber last_limits_change() const;
  /// nullptr when there is none of that name (or id).
  const IndexRecord* FindIndex(std::string_view index_name) const;
  const IndexRecord* FindIndex(IndexId index) const;
  const GlobalIndexRecord* FindGlobal(std::string_view index_name) const;
  const GlobalIndexRecord* FindGlobal(IndexId index) const;
  bool HasIndexNamed(std::string_view index_name) const {
    return FindIndex(index_name) != nullptr || FindGlobal(index_name) != nullptr;
  }
  /// What `columns` says, else the type of the first index over the column itself, without
  /// functions, else kBytes (rule 34).
  ColumnType TypeOf(FamilyId family, std::string_view qualifier) const;
};

/// Resolves the columns that the functions of a column join: sets `joined`, and the families that
/// the parts name. If concat is the first function, the first of the columns becomes the column
/// itself, so that what joins the same is the same. Errors: kNotFound (a family), kInvalidArgument
/// (the column is a part of the row key). Requires: the functions were checked.
Status JoinColumns(const TableRecord& table, IndexColumnRecord* column);

/// The least id above those of the table's indexes.
IndexId LeastNextIndex(const TableRecord& table);

/// Whether both have the same former limits of the families that both have.
bool HaveSameFormerLimits(const TableRecord& a, const TableRecord& b);

/// The order of TableRecord::columns.
bool ComesBefore(const ColumnTypeRecord& a, const ColumnTypeRecord& b);

/// Whether `name` is valid for a table, family, index or observer: 1 to kNameBytesMax bytes, no
/// control characters.
bool IsValidName(std::string_view name);

/// The name of a table that has the entries of a global index: no valid name, and another one for
/// each index of a database.
std::string MakeEntriesName(const EntriesOf& of);
bool IsEntriesName(std::string_view name);

/// Appends the encoded record; schema.cc has the table of fields.
void EncodeTable(const TableRecord& table, std::string* out);
/// Errors: kCorruption (bounds, counts, names, ids that repeat), kUnsupported (an unknown critical
/// field or type).
Result<TableRecord> DecodeTable(std::string_view bytes);

}  // namespace tandem::format
