// Every limit of a declaration is checked here, once, before anything is written.
#include "engine/create_table.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/column_parser.h"
#include "engine/predicate/index_predicate.h"
#include "engine/row_key_record.h"
#include "format/functions.h"
#include "index/entries.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kBlockSizeMin = 512;
constexpr uint32_t kBlockSizeMax = 1 << 20;

Status Invalid(std::string what) { return Status::InvalidArgument(std::move(what)); }

Status CheckName(std::string_view kind, const std::string& name) {
  if (format::IsValidName(name)) return {};
  return Invalid(std::string(kind) + " name " + base::Quote(name) + ": expected 1 to " +
                 std::to_string(kNameBytesMax) + " bytes without control characters");
}

Status CheckFamily(const FamilyOptions& family) {
  RETURN_IF_ERROR(CheckName("family", family.name));
  const std::string where = "family " + base::Quote(family.name) + ": ";
  if (family.name.find(':') != std::string::npos) return Invalid(where + "its name contains ':'");
  if (family.max_versions == 0) return Invalid(where + "max_versions is 0, expected 1 or more");
  if (family.ttl_micros < 0) return Invalid(where + "its TTL is negative");
  if (family.compression != Compression::kNone && family.compression != Compression::kZstd) {
    return Invalid(where + "unknown compression");
  }
  if (family.block_size_bytes < kBlockSizeMin || family.block_size_bytes > kBlockSizeMax) {
    return Invalid(where + "block size " + std::to_string(family.block_size_bytes) +
                   ", expected 512 to 1048576");
  }
  return {};
}

Status AddFamilies(const TableOptions& options, format::TableRecord* table) {
  if (options.families.empty() || options.families.size() > kFamiliesMax) {
    return Invalid("table " + base::Quote(options.name) + " declares " +
                   std::to_string(options.families.size()) + " families, expected 1 to " +
                   std::to_string(kFamiliesMax));
  }
  std::set<std::string_view> names;
  for (const FamilyOptions& family : options.families) {
    RETURN_IF_ERROR(CheckFamily(family));
    if (!names.insert(family.name).second) {
      return Invalid("family " + base::Quote(family.name) + " is declared twice");
    }
    table->families.push_back(
        {.id = format::FamilyId(static_cast<uint8_t>(table->families.size())), .options = family});
  }
  return {};
}

Status FamilyNotFound(const format::TableRecord& table, std::string_view family) {
  return Status::NotFound("table " + base::Quote(table.name) + " has no family " +
                          base::Quote(family));
}

format::FamilyRecord* FindFamilyIn(std::string_view family, format::TableRecord* table) {
  for (format::FamilyRecord& record : table->families) {
    if (!record.dropped && record.options.name == family) return &record;
  }
  return nullptr;
}

// The family and the type of a column that a declaration names.
Result<const format::FamilyRecord*> CheckColumn(const std::string& where, const std::string& family,
                                                const std::string& qualifier, ColumnType type,
                                                const format::TableRecord& table) {
  const format::FamilyRecord* record =
      family.empty() ? &table.first_family() : table.FindFamily(family);
  if (record == nullptr) return Invalid(where + "there is no family " + base::Quote(family));
  if (qualifier.size() > kQualifierBytesMax) {
    return Invalid(where + "its qualifier has " + std::to_string(qualifier.size()) +
                   " bytes, the limit is " + std::to_string(kQualifierBytesMax));
  }
  if (ColumnTypeName(type) == "unknown") return Invalid(where + "unknown column type");
  return record;
}

// The type of an index's column, or of what its functions return.
Result<ColumnType> TypeOf(const std::string& where, const IndexColumn& column) {
  if (column.functions.empty()) return column.type;
  Status status = format::CheckFunctions(column.functions);
  if (status.ok()) {
    const Result<ColumnType> type = format::TypeOfFunctions(column.functions, column.type);
    if (type.has_value()) return type;
    status = type.error();
  }
  return Invalid(where + std::string(status.message()));
}

Status CheckRowKeyColumn(const std::string& where, const IndexColumn& column) {
  if (!column.family.empty() || !column.qualifier.empty()) {
    return Invalid(where + "a part of the row key has no family and no qualifier");
  }
  if (column.functions.empty()) {
    return Invalid(where + "_row without a function: rows are in the order of their keys");
  }
  if (column.functions.front().kind == FunctionKind::kTimestampOf) {
    return Invalid(where + "timestamp_of: the row key has no timestamp");
  }
  if (TakeFamily(column.functions)) {
    return Invalid(where + TextOf(column.functions, std::string(format::kRowKeyColumn)) +
                   ": expected the name of a family, found the row key");
  }
  if (format::AreMultiValued(column.functions)) {
    return Invalid(where + TextOf(column.functions, std::string(format::kRowKeyColumn)) +
                   " has several values: an index is over parts of the row key with one");
  }
  if (ColumnTypeName(column.type) == "unknown") return Invalid(where + "unknown column type");
  return {};
}

Result<format::IndexColumnRecord> IndexColumnOf(const std::string& where, const IndexColumn& column,
                                                const format::FunctionRegistry& functions,
                                                const format::TableRecord& table) {
  format::FamilyId family_id = format::kRowKeyFamily;
  if (column.is_row_key) {
    RETURN_IF_ERROR(CheckRowKeyColumn(where, column));
  } else {
    if (TakeFamily(column.functions) && (column.family.empty() || !column.qualifier.empty())) {
      return Invalid(where + TextOf(column.functions, column.family + ":" + column.qualifier) +
                     ": expected the name of a family alone");
    }
    ASSIGN_OR_RETURN(const format::FamilyRecord* family,
                     CheckColumn(where, column.family, column.qualifier, column.type, table));
    family_id = family->id;
  }
  ASSIGN_OR_RETURN(const ColumnType type, TypeOf(where, column));
  format::IndexColumnRecord record{.family = family_id,
                                   .qualifier = column.qualifier,
                                   .type = type,
                                   .descending = column.descending,
                                   .functions = column.functions};
  format::PinFunctions(record.functions);
  const Status pinned = format::PinCalls(functions, record.functions);
  if (!pinned.ok()) return Invalid(where + std::string(pinned.message()));
  const Status joined = format::JoinColumns(table, &record);
  if (!joined.ok()) return Invalid(where + std::string(joined.message()));
  return record;
}

Status IncludeColumns(const std::string& where, const std::vector<ColumnName>& columns,
                      const format::TableRecord& table, format::IndexRecord* index) {
  if (columns.empty()) return {};
  if (columns.size() > kIncludedColumnsMax) {
    return Invalid(where + "includes " + std::to_string(columns.size()) +
                   " columns, the limit is " + std::to_string(kIncludedColumnsMax));
  }
  if (format::IsMultiValued(index->columns.front())) {
    return Invalid(where + format::Described(index->columns.front()) +
                   " has several values in a row: the index cannot include columns");
  }
  for (const ColumnName& column : columns) {
    ASSIGN_OR_RETURN(
        const format::FamilyRecord* family,
        CheckColumn(where, column.family, column.qualifier, ColumnType::kBytes, table));
    format::IncludedColumnRecord record{.family = family->id, .qualifier = column.qualifier};
    const auto name = [&] { return base::Quote(column.qualifier); };
    if (std::ranges::find(index->included, record) != index->included.end()) {
      return Invalid(where + "includes column " + name() + " twice");
    }
    const bool is_indexed = std::ranges::any_of(index->columns, [&](const auto& indexed) {
      return indexed.family == record.family && indexed.qualifier == record.qualifier;
    });
    if (is_indexed) return Invalid(where + "includes column " + name() + ", which it is over");
    index->included.push_back(std::move(record));
  }
  return {};
}

// What a global index cannot be, or not yet.
Status CheckGlobal(const IndexOptions& options, const format::IndexRecord& index,
                   const format::TableRecord& table) {
  const std::string where = "index " + base::Quote(options.name) + ": it is global: ";
  if (options.unique) return Invalid(where + "it cannot be unique");
  if (!options.include.empty()) return Invalid(where + "it cannot include columns");
  if (!options.where.empty()) return Invalid(where + "it cannot have a WHERE");
  for (const format::IndexColumnRecord& column : index.columns) {
    if (format::IsMultiValued(column)) {
      return Invalid(where + format::Described(column) + " has several values in a row");
    }
    if (column.is_of_row_key()) {
      return Invalid(where + "it cannot be over a part of the row key");
    }
    if (!column.joined.empty()) {
      return Invalid(where + format::Described(column) +
                     " is of several columns: a local index can be over it");
    }
    const FamilyOptions& family = table.FindFamily(column.family)->options;
    if (index.columns.size() > 1 && family.ttl_micros != 0) {
      return Invalid(where + "of several columns none can be of family " +
                     base::Quote(family.name) + ", whose cells expire");
    }
  }
  return {};
}

size_t IndexCount(const format::TableRecord& table) {
  return table.indexes.size() + table.global_indexes.size();
}

Status AddIndex(const IndexOptions& options, const format::FunctionRegistry& functions,
                format::TableRecord* table) {
  RETURN_IF_ERROR(CheckName("index", options.name));
  const std::string where = "index " + base::Quote(options.name) + ": ";
  if (options.columns.empty() || options.columns.size() > kIndexColumnsMax) {
    return Invalid(where + "declares " + std::to_string(options.columns.size()) +
                   " columns, expected 1 to " + std::to_string(kIndexColumnsMax));
  }
  format::IndexRecord index;
  index.id = table->next_index;
  index.name = options.name;
  index.unique = options.unique;
  for (const IndexColumn& column : options.columns) {
    ASSIGN_OR_RETURN(format::IndexColumnRecord record,
                     IndexColumnOf(where, column, functions, *table));
    for (const format::IndexColumnRecord& other : index.columns) {
      if (!format::HasSameValues(other, record)) continue;
      return Invalid(where + "declares " + format::Described(record) + " twice");
    }
    if (options.unique && record.is_of_row_key()) {
      return Invalid(where + format::Described(record) +
                     " is a part of the row key: the index cannot be unique");
    }
    if (options.unique && format::IsMultiValued(record)) {
      return Invalid(where + format::Described(record) +
                     " has several values in a row: the index cannot be unique");
    }
    if (options.unique && !record.joined.empty()) {
      return Invalid(where + format::Described(record) +
                     " is of several columns: the index cannot be unique; one over the columns "
                     "themselves can");
    }
    if (!record.joined.empty() && format::AreTrigrams(record.functions)) {
      return Invalid(where + format::Described(record) +
                     " is of trigrams, which memstores do not keep, and of several columns: make "
                     "an index over the trigrams of each");
    }
    if (options.columns.size() > 1 && format::IsMultiValued(record)) {
      return Invalid(where + format::Described(record) +
                     " has several values in a row: it can only be the single column of an index");
    }
    index.columns.push_back(std::move(record));
  }
  if (options.placement == IndexPlacement::kGlobal) {
    RETURN_IF_ERROR(CheckGlobal(options, index, *table));
    table->global_indexes.push_back({.index = std::move(index), .entries = {}});
  } else {
    RETURN_IF_ERROR(IncludeColumns(where, options.include, *table, &index));
    table->indexes.push_back(std::move(index));
  }
  ++table->next_index.value;
  return {};
}

// Makes the table's index partial if the options say so. Requires: the types of columns are set.
Status SetWhere(const IndexOptions& options, const format::FunctionRegistry& functions,
                const format::TableRecord& table, format::IndexRecord* index) {
  if (options.where.empty()) return {};
  const std::string start = "index " + base::Quote(options.name) + ": ";
  if (options.unique) return Invalid(start + "it is unique: it cannot have a WHERE");
  if (index->columns.front().is_of_family()) {
    return Invalid(start + format::Described(index->columns.front()) +
                   " is of all columns of a family: it cannot have a WHERE");
  }
  if (format::AreTrigrams(index->columns.front().functions)) {
    return Invalid(start + format::Described(index->columns.front()) +
                   " is of trigrams, which memstores do not keep: it cannot have a WHERE");
  }
  Result<format::IndexPredicate> where = BindIndexPredicate(options.where, functions, table);
  if (!where.has_value()) {
    return {where.error().code(), start + "WHERE: " + std::string(where.error().message())};
  }
  index->where = *std::move(where);
  return {};
}

// Declares the type of a column, or declares another one.
Status SetType(format::ColumnTypeRecord column, format::TableRecord* table) {
  const auto place =
      std::lower_bound(table->columns.begin(), table->columns.end(), column, format::ComesBefore);
  if (place != table->columns.end() && !format::ComesBefore(column, *place)) {
    place->type = column.type;
    return {};
  }
  if (table->columns.size() == kColumnTypesMax) {
    return Invalid("table " + base::Quote(table->name) + " has " + std::to_string(kColumnTypesMax) +
                   " columns with types, the limit");
  }
  table->columns.insert(place, std::move(column));
  return {};
}

// Keeps the type that the column had under `before`.
Status KeepType(const format::IndexColumnRecord& column, const format::TableRecord& before,
                format::TableRecord* table) {
  const ColumnType type = before.TypeOf(column.family, column.qualifier);
  if (table->TypeOf(column.family, column.qualifier) == type) return {};
  return SetType({.family = column.family, .qualifier = column.qualifier, .type = type}, table);
}

Status KeepTypes(const format::IndexRecord& index, const format::TableRecord& before,
                 format::TableRecord* table) {
  for (const format::IndexColumnRecord& column : index.columns) {
    RETURN_IF_ERROR(KeepType(column, before, table));
  }
  return {};
}

// A column without a declared type and without a local index has that of its first global one.
void KeepTypesOf(const format::IndexRecord& index, format::TableRecord* table) {
  for (const format::IndexColumnRecord& column : index.columns) {
    const auto is_it = [&column](const auto& other) {
      return other.family == column.family && other.qualifier == column.qualifier;
    };
    const bool is_known =
        std::ranges::any_of(table->columns, is_it) ||
        std::ranges::any_of(table->indexes, [&](const format::IndexRecord& index) {
          return std::ranges::any_of(index.columns, [&](const auto& other) {
            return other.functions.empty() && is_it(other);
          });
        });
    if (is_known || !column.functions.empty()) continue;
    const format::ColumnTypeRecord type{
        .family = column.family, .qualifier = column.qualifier, .type = column.type};
    table->columns.insert(std::ranges::lower_bound(table->columns, type, format::ComesBefore),
                          type);
  }
}

void KeepGlobalTypes(format::TableRecord* table) {
  for (const auto& global : table->global_indexes) KeepTypesOf(global.index, table);
}

Status AddColumns(const TableOptions& options, format::TableRecord* table) {
  for (const ColumnOptions& column : options.columns) {
    const size_t before = table->columns.size();
    RETURN_IF_ERROR(SetColumnTypeIn(column, table));
    if (table->columns.size() == before) {
      return Invalid("column " + base::Quote(column.qualifier) + " is declared twice");
    }
  }
  return {};
}

// Whether both have the same entries and records. One that is being dropped is like none.
bool AreAlike(const format::IndexRecord& a, const format::IndexRecord& b) {
  constexpr auto is_dropping = format::IndexState::kDropping;
  if (a.state == is_dropping || b.state == is_dropping) return false;
  constexpr auto is_same = [](const auto& one, const auto& other) {
    return format::HasSameValues(one, other) && one.descending == other.descending;
  };
  const auto where_of = [](const format::IndexRecord& index) {
    return index.where.has_value() ? std::string_view(index.where->text) : std::string_view();
  };
  return a.unique == b.unique && std::ranges::equal(a.columns, b.columns, is_same) &&
         a.included == b.included && where_of(a) == where_of(b);
}

// No index of the same placement that was added before this one is like it.
Status CheckUnlike(const format::IndexRecord& added, const format::TableRecord& table) {
  const format::IndexRecord* alike = nullptr;
  const auto compare = [&](const format::IndexRecord& other) {
    if (alike == nullptr && other.id < added.id && AreAlike(other, added)) alike = &other;
  };
  if (table.FindGlobal(added.name) == nullptr) {
    std::ranges::for_each(table.indexes, compare);
  } else {
    for (const format::GlobalIndexRecord& global : table.global_indexes) compare(global.index);
  }
  if (alike == nullptr) return {};
  return Status::AlreadyExists("index " + base::Quote(alike->name) + " has the same definition");
}

}  // namespace

Status CheckTableName(const std::string& name) { return CheckName("table", name); }

Result<format::TableRecord> MakeTableRecord(const TableOptions& options, base::RandomSource* random,
                                            const format::FunctionRegistry& functions) {
  format::TableRecord table;
  RETURN_IF_ERROR(CheckTableName(options.name));
  table.name = options.name;
  RETURN_IF_ERROR(AddFamilies(options, &table));
  if (options.indexes.size() > kIndexesMax) {
    return Invalid("table " + base::Quote(options.name) + " declares " +
                   std::to_string(options.indexes.size()) + " indexes, the limit is " +
                   std::to_string(kIndexesMax));
  }
  for (const IndexOptions& index : options.indexes) {
    if (table.HasIndexNamed(index.name)) {
      return Invalid("index " + base::Quote(index.name) + ": is declared twice");
    }
    RETURN_IF_ERROR(AddIndex(index, functions, &table));
  }
  RETURN_IF_ERROR(AddColumns(options, &table));
  KeepGlobalTypes(&table);
  for (const IndexOptions& index : options.indexes) {
    if (index.placement == IndexPlacement::kGlobal) continue;
    const size_t place = static_cast<size_t>(table.FindIndex(index.name) - table.indexes.data());
    RETURN_IF_ERROR(SetWhere(index, functions, table, &table.indexes[place]));
  }
  RETURN_IF_ERROR(SetObserversIn(options.observers, &table));
  RETURN_IF_ERROR(SetRowKeysIn(options, &table));
  random->Fill(table.hash_secret);
  return table;
}

// Entries expire as the cells of their first column do.
format::TableRecord EntriesRecord(const format::TableRecord& table,
                                  const format::GlobalIndexRecord& global,
                                  base::RandomSource* random) {
  format::TableRecord entries;
  entries.id = global.entries;
  entries.entries_of = format::EntriesOf{.table = table.id, .index = global.index.id};
  entries.name = format::MakeEntriesName(*entries.entries_of);
  const format::FamilyId first = global.index.columns.front().family;
  FamilyOptions family{.name = "e"};
  family.ttl_micros = table.FindFamily(first)->options.ttl_micros;
  entries.families.push_back({.id = format::FamilyId(0), .options = std::move(family)});
  random->Fill(entries.hash_secret);
  return entries;
}

Status AddIndexTo(const IndexOptions& options, const format::FunctionRegistry& functions,
                  format::TableRecord* table) {
  if (table->HasIndexNamed(options.name)) {
    return Status::AlreadyExists("table " + base::Quote(table->name) + " has an index " +
                                 base::Quote(options.name) + " already");
  }
  if (IndexCount(*table) == kIndexesMax) {
    return Invalid("table " + base::Quote(table->name) + " has " + std::to_string(kIndexesMax) +
                   " indexes, the limit");
  }
  if (table->next_index.value == UINT32_MAX) {
    return Invalid("table " + base::Quote(table->name) + " has had all indexes that it can have");
  }
  const format::TableRecord before = *table;
  RETURN_IF_ERROR(AddIndex(options, functions, table));
  // No column has its type from a global one.
  if (options.placement == IndexPlacement::kGlobal) {
    return CheckUnlike(table->global_indexes.back().index, *table);
  }
  // What is there already has not been checked.
  if (options.unique) table->indexes.back().state = format::IndexState::kBuilding;
  RETURN_IF_ERROR(KeepTypes(table->indexes.back(), before, table));
  RETURN_IF_ERROR(SetWhere(options, functions, *table, &table->indexes.back()));
  return CheckUnlike(table->indexes.back(), *table);
}

Status CheckIndexesUnlike(const format::TableRecord& table) {
  for (const format::IndexRecord& index : table.indexes) {
    RETURN_IF_ERROR(CheckUnlike(index, table));
  }
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    RETURN_IF_ERROR(CheckUnlike(global.index, table));
  }
  return {};
}

Status IndexNotFound(const format::TableRecord& table, std::string_view index) {
  return Status::NotFound("table " + base::Quote(table.name) + " has no index " +
                          base::Quote(index));
}

Status RemoveIndexFrom(std::string_view index, format::TableRecord* table) {
  if (const format::GlobalIndexRecord* global = table->FindGlobal(index); global != nullptr) {
    table->global_indexes.erase(table->global_indexes.begin() +
                                (global - table->global_indexes.data()));
    return {};
  }
  const format::IndexRecord* found = table->FindIndex(index);
  if (found == nullptr) return IndexNotFound(*table, index);
  const format::TableRecord before = *table;
  table->indexes.erase(table->indexes.begin() + (found - table->indexes.data()));
  return KeepTypes(*before.FindIndex(index), before, table);
}

Status SetColumnTypeIn(const ColumnOptions& options, format::TableRecord* table) {
  const std::string where = "column " + base::Quote(options.qualifier) + ": ";
  ASSIGN_OR_RETURN(const format::FamilyRecord* family,
                   CheckColumn(where, options.family, options.qualifier, options.type, *table));
  return SetType({.family = family->id, .qualifier = options.qualifier, .type = options.type},
                 table);
}

Result<std::vector<std::string>> RegionStarts(const TableOptions& options) {
  const std::string where = "table " + base::Quote(options.name) + ": ";
  const size_t regions = options.split_keys.size() + 1;
  if (regions > kRegionsMax) {
    return Invalid(where + "its split keys make " + std::to_string(regions) +
                   " regions, the limit is " + std::to_string(kRegionsMax));
  }
  std::vector<std::string> starts{std::string()};
  starts.insert(starts.end(), options.split_keys.begin(), options.split_keys.end());
  std::sort(starts.begin() + 1, starts.end());
  size_t bytes = 0;
  for (size_t i = 1; i < starts.size(); ++i) {
    const std::string& key = starts[i];
    if (key.empty()) return Invalid(where + "a split key is empty");
    if (key == starts[i - 1])
      return Invalid(where + "split key " + base::Quote(key) + " is repeated");
    if (key.size() > kRowKeyBytesMax) {
      return Invalid(where + "a split key has " + std::to_string(key.size()) +
                     " bytes, the limit is " + std::to_string(kRowKeyBytesMax));
    }
    bytes += key.size();
  }
  if (bytes > kSplitKeysBytesMax) {
    return Invalid(where + "its split keys have " + std::to_string(bytes) +
                   " bytes together, the limit is " + std::to_string(kSplitKeysBytesMax));
  }
  return starts;
}

Status AddFamilyTo(const FamilyOptions& options, format::TableRecord* table) {
  RETURN_IF_ERROR(CheckFamily(options));
  const std::string where = "table " + base::Quote(table->name);
  if (table->FindFamily(options.name) != nullptr) {
    return Status::AlreadyExists(where + " has a family " + base::Quote(options.name) + " already");
  }
  if (table->family_count() == kFamiliesMax) {
    return Invalid(where + " has " + std::to_string(kFamiliesMax) + " families, the limit");
  }
  uint32_t next = 0;
  for (const format::FamilyRecord& family : table->families) {
    next = std::max(next, family.id.value + 1U);
  }
  if (next > format::kFamilyIdMax) {
    return Invalid(where + " has had " + std::to_string(format::kFamilyIdMax + 1) +
                   " families, the limit with those that were dropped");
  }
  table->families.push_back(
      {.id = format::FamilyId(static_cast<uint8_t>(next)), .options = options});
  return {};
}

namespace {

// The first global index over a column of the family; nullptr: there is none.
const format::IndexRecord* GlobalOver(const format::TableRecord& table, format::FamilyId family) {
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    if (global.index.AnyColumn([family](const auto& column) { return column.family == family; })) {
      return &global.index;
    }
  }
  return nullptr;
}

// Takes out what has expired anyway.
void DropExpired(std::optional<int64_t> expired, std::vector<format::FormerLimits>* all) {
  for (format::FormerLimits& limits : *all) {
    if (limits.expired_through <= expired) limits.expired_through.reset();
  }
}

// Takes out limits that say nothing, or from before a change that everything in files is after.
void DropSettled(format::SequenceNumber oldest_in_files, std::vector<format::FormerLimits>* all) {
  std::erase_if(*all, [oldest_in_files](const format::FormerLimits& limits) {
    return limits.changed_at <= oldest_in_files ||
           (!limits.max_versions.has_value() && !limits.expired_through.has_value());
  });
}

}  // namespace

bool ChangesFormerLimits(const FamilyOptions& options, const format::TableRecord& table) {
  const format::FamilyRecord* const family = table.FindFamily(options.name);
  return family != nullptr && (options.max_versions != family->options.max_versions ||
                               format::LivesLonger(options, family->options));
}

Status AlterFamilyIn(const FamilyOptions& options, const AlterPoint& point,
                     format::TableRecord* table) {
  RETURN_IF_ERROR(CheckFamily(options));
  format::FamilyRecord* const family = FindFamilyIn(options.name, table);
  if (family == nullptr) return FamilyNotFound(*table, options.name);
  if (options.ttl_micros != family->options.ttl_micros) {
    const format::IndexRecord* const global = GlobalOver(*table, family->id);
    if (global != nullptr) {
      return Invalid("family " + base::Quote(options.name) + ": global index " +
                     base::Quote(global->name) +
                     " is over one of its columns, so its time to live cannot be changed; drop "
                     "the index first");
    }
  }
  format::FormerLimits former{.changed_at = point.sequence};
  const FamilyOptions& now = family->options;
  if (options.max_versions != now.max_versions) former.max_versions = now.max_versions;
  if (format::LivesLonger(options, now))
    former.expired_through = family->ExpiredThrough(point.now_micros);

  std::vector<format::FormerLimits> all = family->former_limits;
  DropExpired(family->ExpiredThrough(point.now_micros), &all);
  all.push_back(former);
  DropSettled(point.oldest_in_files, &all);
  if (all.size() > kFormerLimitsMax) {
    return Status::Unsupported(
        "family " + base::Quote(options.name) + ": its limits were changed " +
        std::to_string(kFormerLimitsMax) +
        " times, and rows from before are there; compact the table, then alter it again");
  }
  family->former_limits = std::move(all);
  family->options = options;
  return {};
}

Status DropFamilyOf(std::string_view name, format::TableRecord* table) {
  format::FamilyRecord* const family = FindFamilyIn(name, table);
  if (family == nullptr) return FamilyNotFound(*table, name);
  const std::string where = "family " + base::Quote(name) + " cannot be dropped: ";
  for (const format::IndexRecord& index : table->indexes) {
    if (index.AnyColumn([family](const format::IndexColumnRecord& column) {
          return column.family == family->id;
        })) {
      return Invalid(where + "index " + base::Quote(index.name) +
                     " is over one of its columns; drop it first");
    }
    for (const format::IncludedColumnRecord& column : index.included) {
      if (column.family != family->id) continue;
      return Invalid(where + "index " + base::Quote(index.name) +
                     " includes one of its columns; drop it first");
    }
  }
  if (const format::IndexRecord* global = GlobalOver(*table, family->id); global != nullptr) {
    return Invalid(where + "index " + base::Quote(global->name) +
                   " is over one of its columns; drop it first");
  }
  if (table->family_count() == 1) {
    return Invalid(where + "it is the only one of table " + base::Quote(table->name));
  }
  std::erase_if(table->columns, [family](const format::ColumnTypeRecord& column) {
    return column.family == family->id;
  });
  family->dropped = true;
  return {};
}

Status SetObserversIn(std::span<const std::string> names, format::TableRecord* table) {
  if (names.size() > kObserversMax) {
    return Invalid("table " + base::Quote(table->name) + " names " + std::to_string(names.size()) +
                   " observers, the limit is " + std::to_string(kObserversMax));
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    RETURN_IF_ERROR(CheckName("observer", name));
    if (!seen.insert(name).second) return Invalid("observer " + base::Quote(name) + " is repeated");
  }
  table->observers.assign(names.begin(), names.end());
  return {};
}

TableOptions OptionsOf(const format::TableRecord& table) {
  TableOptions options;
  options.name = table.name;
  for (const format::FamilyRecord& family : table.families) {
    if (!family.dropped) options.families.push_back(family.options);
  }
  const auto name_of = [&table](format::FamilyId id) {
    const format::FamilyRecord* family = table.FindFamily(id);
    return family == nullptr ? std::string() : family->options.name;
  };
  const auto add_index = [&](const format::IndexRecord& record, IndexPlacement placement) {
    IndexOptions& index = options.indexes.emplace_back();
    index.placement = placement;
    index.name = record.name;
    index.unique = record.unique;
    if (record.where.has_value()) index.where = record.where->text;
    for (const format::IndexColumnRecord& column : record.columns) {
      index.columns.push_back({.family = name_of(column.family),
                               .qualifier = column.qualifier,
                               .type = column.type,
                               .descending = column.descending,
                               .functions = format::AsDeclared(column.functions),
                               .is_row_key = column.is_of_row_key()});
    }
    for (const format::IncludedColumnRecord& column : record.included) {
      index.include.push_back({.family = name_of(column.family), .qualifier = column.qualifier});
    }
  };
  for (const format::IndexRecord& record : table.indexes) {
    add_index(record, IndexPlacement::kLocal);
  }
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    add_index(global.index, IndexPlacement::kGlobal);
  }
  for (const format::ColumnTypeRecord& column : table.columns) {
    options.columns.push_back(
        {.family = name_of(column.family), .qualifier = column.qualifier, .type = column.type});
  }
  options.observers = table.observers;
  options.row_key = table.row_key;
  options.former_row_keys = table.former_row_keys;
  return options;
}

}  // namespace tandem::engine
