// The codec of table records. A record is a list of fields (format/fields.h); a family, an index
// and an index column are records nested in a field's bytes. Every field below is required but
// where it says otherwise; one marked * occurs once per element of the list, in the list's order.
//
//   RECORD        TAG  FIELD        BYTES
//   table           1  id           varint u32
//                   3  name         1 to 255 bytes, no control characters
//                   5  hash secret  192 bytes
//                   7  family *     family record, 1 to 255; 1 to kFamiliesMax are not dropped
//                   9  index *      index record, 0 to kIndexesMax
//                  11  type *       type record, 0 to kColumnTypesMax, by family and qualifier
//                  13  next index   varint u32, above every index id; left out where it is 1 more
//                                   than the largest
//                  15  observer *   name, 0 to kObserversMax, each once
//                  17  row key      declaration as RowKeySchema prints it; left out without one
//                  19  global *     global index record; with 9, 0 to kIndexesMax
//                  21  entries of   entries record; left out of a table of the user. The name of a
//                                   table with it is 0x01, the entries record's table, ".", its
//                                   index, both in decimal
//                  23  former key * declaration of a row key before 17, the newest first, 0 to
//                                   kFormerRowKeysMax; with 17, RowKeyEpochs::Parse takes them
//   family          1  id           varint, at most 254
//                   3  name         as above
//                   5  max versions varint u32, at least 1
//                   7  TTL          varint, microseconds, below 2^63; 0: never
//                   9  compression  varint: 0 none, 1 zstd
//                  11  block size   varint, 512 to 1,048,576
//                  13  dropped      varint, 1; left out of a family that was not dropped
//                  15  former *     former limits record, 0 to kFormerLimitsMax, by their sequence
//   former limits   1  changed at   varint, 1 or more, larger than in the record before it
//                   3  max versions varint u32, at least 1; left out: the number stayed
//                   5  expired      varint, zigzag: the largest timestamp that had expired; left
//                                   out: none had. A record has 3 or 5 or both.
//   index           1  id           varint u32
//                   3  name         as above
//                   5  state        varint: 1 building, 2 ready, 3 dropping, 4 checking
//                   7  column *     column record, 1 to kIndexColumnsMax
//                   9  unique       varint, 1; left out of an index that is not unique
//                  11  included *   included record, 0 to kIncludedColumnsMax: other columns
//                  13  where        predicate record; left out of an index of all rows
//   global index    1  index        index record, ready, without 9, 11 and 13
//                   3  entries      varint u32, the id of the table that has its entries
//                   5  since        varint, a sequence; left out while it is built
//   entries         1  table        varint u32, the id of the table that the index is of
//                   3  index        varint u32, the id of the index
//   included        1  family       as in a column record
//                   3  qualifier    as in a column record
//   predicate       1  text         1 to 4,096 bytes
//                   3  column *     column record, as of an index; none is multi-valued
//                   5  root         condition record (format/condition.cc)
//   column          1  family       varint u8, an id of the table's families; 255 with 11
//                   3  qualifier    0 to 2,048 bytes; none with 11, and with functions of a family
//                   5  type         varint, a number of ColumnType
//                   7  descending   varint: 0 or 1
//                   9  function *   function record, 0 to kFunctionsMax, the innermost first
//                  11  row key      varint, 1: a part of the row key (functions.h); else left out
//   function        1  kind         varint u8, a number of FunctionKind
//                   3  first        varint; 0 is left out, as below
//                   5  count        varint
//                   7  text         bytes
//                   9  part *       part record, 2 to kConcatPartsMax, of concat alone
//   part            1  sort         varint: 0 the value, 1 a text, 2 another column
//                   3  text         bytes; of a text alone
//                   5  family       varint u8, an id of the table's families; of a column alone
//                   7  qualifier    0 to 2,048 bytes; of a column alone
//   type            1  family       as in a column record
//                   3  qualifier    as in a column record
//                   5  type         as in a column record
//
// Example: the column record (family 0, qualifier "n", int64, ascending) is
//   01 01 00  03 01 6e  05 01 03  07 01 00
#include "format/schema.h"

#include <algorithm>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/coding.h"
#include "format/fields.h"
#include "format/functions.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem::format {
namespace {

enum TableTag : uint64_t {
  kTableId = 1,
  kTableName = 3,
  kSecret = 5,
  kFamily = 7,
  kIndex = 9,
  kColumnType = 11,
  kNextIndex = 13,
  kObserver = 15,
  kRowKey = 17,
  kGlobal = 19,
  kEntriesOf = 21,
  kFormerRowKey = 23
};
enum GlobalTag : uint64_t { kGlobalIndex = 1, kEntriesTable = 3, kSince = 5 };
enum EntriesTag : uint64_t { kOfTable = 1, kOfIndex = 3 };
enum FamilyTag : uint64_t {
  kFamilyId = 1,
  kFamilyName = 3,
  kMaxVersions = 5,
  kTtl = 7,
  kCompression = 9,
  kBlockSize = 11,
  kDropped = 13,
  kFormerLimits = 15
};
enum FormerLimitsTag : uint64_t { kChangedAt = 1, kFormerVersions = 3, kExpiredThrough = 5 };
enum IndexTag : uint64_t {
  kIndexId = 1,
  kIndexName = 3,
  kState = 5,
  kColumn = 7,
  kUnique = 9,
  kIncluded = 11,
  kWhere = 13
};
enum PredicateTag : uint64_t { kPredicateText = 1, kPredicateColumn = 3, kRoot = 5 };
enum ColumnTag : uint64_t {
  kColumnFamily = 1,
  kQualifier = 3,
  kType = 5,
  kDescending = 7,
  kFunction = 9,
  kOfRowKey = 11
};

constexpr uint32_t kBlockSizeMin = 512;
constexpr uint32_t kBlockSizeMax = 1 << 20;

bool IsKnownType(uint64_t type) { return (type >= 1 && type <= 7) || (type >= 19 && type <= 23); }

Status TooMany(std::string_view what, size_t max) {
  return Status::Unsupported("table record: more than " + std::to_string(max) + " " +
                             std::string(what));
}

std::string NameField(FieldReader* fields) {
  const std::string_view name = fields->Bytes();
  if (!IsValidName(name)) fields->FailCorrupt("expected a name of 1 to 255 bytes");
  return std::string(name);
}

std::string EncodeFormerLimits(const FormerLimits& limits) {
  std::string out;
  AppendNumberField(&out, kChangedAt, limits.changed_at.value);
  if (limits.max_versions) AppendNumberField(&out, kFormerVersions, *limits.max_versions);
  if (limits.expired_through) {
    AppendNumberField(&out, kExpiredThrough, ZigZag(*limits.expired_through));
  }
  return out;
}

Result<FormerLimits> DecodeFormerLimits(std::string_view bytes) {
  FieldReader fields(bytes, "former limits record");
  FormerLimits limits;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kChangedAt:
        limits.changed_at = SequenceNumber(fields.Number(kSequenceMax.value));
        if (limits.changed_at.value == 0) fields.FailCorrupt("expected a sequence, found 0");
        break;
      case kFormerVersions:
        limits.max_versions = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        if (*limits.max_versions == 0) fields.FailCorrupt("expected at least 1 version, found 0");
        break;
      case kExpiredThrough:
        limits.expired_through = UnZigZag(fields.Number(UINT64_MAX));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kChangedAt}));
  if (limits.max_versions || limits.expired_through) return limits;
  return Status::Corruption("former limits record: it has no limit");
}

Status AddFormerLimits(std::string_view bytes, FamilyRecord* family) {
  ASSIGN_OR_RETURN(const FormerLimits limits, DecodeFormerLimits(bytes));
  std::vector<FormerLimits>& all = family->former_limits;
  if (!all.empty() && limits.changed_at <= all.back().changed_at) {
    return Status::Corruption("family record: sequences of its former limits do not rise");
  }
  if (all.size() == kFormerLimitsMax) return TooMany("former limits", kFormerLimitsMax);
  all.push_back(limits);
  return {};
}

std::string EncodeFamily(const FamilyRecord& family) {
  std::string out;
  AppendNumberField(&out, kFamilyId, family.id.value);
  AppendField(&out, kFamilyName, family.options.name);
  AppendNumberField(&out, kMaxVersions, family.options.max_versions);
  AppendNumberField(&out, kTtl, static_cast<uint64_t>(family.options.ttl_micros));
  AppendNumberField(&out, kCompression, static_cast<uint64_t>(family.options.compression));
  AppendNumberField(&out, kBlockSize, family.options.block_size_bytes);
  if (family.dropped) AppendNumberField(&out, kDropped, 1);
  for (const FormerLimits& limits : family.former_limits) {
    AppendField(&out, kFormerLimits, EncodeFormerLimits(limits));
  }
  return out;
}

Compression CompressionField(FieldReader* fields) {
  const uint64_t value = fields->Number(UINT64_MAX);
  if (value > static_cast<uint64_t>(Compression::kZstd)) {
    fields->Fail(
        Status::Unsupported("family record: unknown compression " + std::to_string(value)));
    return Compression::kNone;
  }
  return static_cast<Compression>(value);
}

Result<FamilyRecord> DecodeFamily(std::string_view bytes) {
  FieldReader fields(bytes, "family record");
  FamilyRecord family;
  FamilyOptions& options = family.options;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kFamilyId:
        family.id = FamilyId(static_cast<uint8_t>(fields.Number(kFamilyIdMax)));
        break;
      case kFamilyName:
        options.name = NameField(&fields);
        break;
      case kMaxVersions:
        options.max_versions = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        if (options.max_versions == 0) fields.FailCorrupt("expected at least 1 version, found 0");
        break;
      case kTtl:
        options.ttl_micros = static_cast<int64_t>(fields.Number(INT64_MAX));
        break;
      case kCompression:
        options.compression = CompressionField(&fields);
        break;
      case kBlockSize:
        options.block_size_bytes = static_cast<uint32_t>(fields.Number(kBlockSizeMax));
        if (options.block_size_bytes < kBlockSizeMin) fields.FailCorrupt("expected at least 512");
        break;
      case kDropped:
        family.dropped = fields.Flag();
        break;
      case kFormerLimits:
        fields.Fail(AddFormerLimits(fields.Repeated(), &family));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(
      fields.Finish({kFamilyId, kFamilyName, kMaxVersions, kTtl, kCompression, kBlockSize}));
  return family;
}

std::string EncodeColumn(const IndexColumnRecord& column) {
  std::string out;
  AppendNumberField(&out, kColumnFamily, column.family.value);
  AppendField(&out, kQualifier, column.qualifier);
  AppendNumberField(&out, kType, static_cast<uint64_t>(column.type));
  AppendNumberField(&out, kDescending, column.descending ? 1 : 0);
  std::vector<FamilyId> joined;
  for (const IndexColumnRecord& other : column.joined) joined.push_back(other.family);
  std::span<const FamilyId> families = joined;
  for (const Function& function : column.functions) {
    AppendField(&out, kFunction, EncodeFunction(function, &families));
  }
  if (column.is_of_row_key()) AppendNumberField(&out, kOfRowKey, 1);
  return out;
}

ColumnType TypeField(FieldReader* fields) {
  const uint64_t value = fields->Number(UINT64_MAX);
  if (!IsKnownType(value)) {
    fields->Fail(Status::Unsupported("column record: unknown type " + std::to_string(value)));
    return ColumnType::kBytes;
  }
  return static_cast<ColumnType>(value);
}

// Reads a field that column and type records have in common. False: it is another one.
template <typename Record>
bool ReadColumnField(FieldReader* fields, Record* column) {
  switch (fields->tag()) {
    case kColumnFamily:
      column->family = FamilyId(static_cast<uint8_t>(fields->Number(UINT8_MAX)));
      return true;
    case kQualifier:
      column->qualifier = std::string(fields->Bytes());
      if (column->qualifier.size() > kQualifierBytesMax) fields->FailCorrupt("is too long");
      return true;
    case kType:
      column->type = TypeField(fields);
      return true;
    default:
      return false;
  }
}

void AddFunction(FieldReader* fields, IndexColumnRecord* column) {
  if (column->functions.size() == kFunctionsMax) {
    return fields->Fail(TooMany("functions of one column", kFunctionsMax));
  }
  std::vector<FamilyId> families;
  Result<Function> function = DecodeFunction(fields->Repeated(), &families);
  if (!function) return fields->Fail(function.error());
  auto family = families.begin();
  for (const ConcatPart& part : function->parts) {
    if (part.kind != ConcatPart::Kind::kColumn) continue;
    IndexColumnRecord& joined = column->joined.emplace_back();
    joined.family = *family++;
    if (joined.is_of_row_key()) return fields->FailCorrupt("it joins the row key");
    joined.qualifier = part.qualifier;
  }
  column->functions.push_back(std::move(*function));
}

// Whether a column of the row key's family is a part of the row key.
bool IsPartOfRowKey(const IndexColumnRecord& column) {
  return column.qualifier.empty() && !column.functions.empty() && column.joined.empty() &&
         !AreMultiValued(column.functions) &&
         column.functions.front().kind != FunctionKind::kTimestampOf;
}

Result<IndexColumnRecord> DecodeColumn(std::string_view bytes) {
  FieldReader fields(bytes, "column record");
  IndexColumnRecord column;
  bool is_of_row_key = false;
  while (fields.Next()) {
    if (ReadColumnField(&fields, &column)) continue;
    if (fields.tag() == kOfRowKey) {
      is_of_row_key = fields.Flag();
    } else if (fields.tag() == kDescending) {
      column.descending = fields.Number(1) == 1;
    } else if (fields.tag() == kFunction) {
      AddFunction(&fields, &column);
    } else {
      fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kColumnFamily, kQualifier, kType, kDescending}));
  if (is_of_row_key != column.is_of_row_key() || (is_of_row_key && !IsPartOfRowKey(column))) {
    return Status::Corruption("column record: expected functions of the row key, of one value");
  }
  if (column.functions.empty()) return column;
  if (const Status status = CheckFunctions(column.functions); !status.ok()) {
    return Status::Corruption("column record: " + std::string(status.message()));
  }
  const bool is_named = column.is_of_family() && !column.qualifier.empty();
  if (is_named || !MayBeOfType(column.functions, column.type)) {
    return Status::Corruption("column record: functions return text, those of a family of no name");
  }
  return column;
}

std::string EncodeColumnType(const ColumnTypeRecord& column) {
  std::string out;
  AppendNumberField(&out, kColumnFamily, column.family.value);
  AppendField(&out, kQualifier, column.qualifier);
  AppendNumberField(&out, kType, static_cast<uint64_t>(column.type));
  return out;
}

Result<ColumnTypeRecord> DecodeColumnType(std::string_view bytes) {
  FieldReader fields(bytes, "type record");
  ColumnTypeRecord column;
  while (fields.Next()) {
    if (!ReadColumnField(&fields, &column)) fields.Unknown();
  }
  RETURN_IF_ERROR(fields.Finish({kColumnFamily, kQualifier, kType}));
  return column;
}

std::string EncodePredicate(const IndexPredicate& predicate) {
  std::string out;
  AppendField(&out, kPredicateText, predicate.text);
  for (const IndexColumnRecord& column : predicate.columns) {
    AppendField(&out, kPredicateColumn, EncodeColumn(column));
  }
  AppendField(&out, kRoot, EncodeCondition(predicate.root));
  return out;
}

void AddPredicateColumn(FieldReader* fields, IndexPredicate* predicate) {
  Result<IndexColumnRecord> column = DecodeColumn(fields->Repeated());
  if (!column) return fields->Fail(column.error());
  if (AreMultiValued(column->functions)) return fields->FailCorrupt("it has several values");
  if (column->is_of_row_key()) return fields->FailCorrupt("it is of the row key");
  if (!column->joined.empty()) return fields->FailCorrupt("it joins columns");
  predicate->columns.push_back(*std::move(column));
}

Result<IndexPredicate> DecodePredicate(std::string_view bytes) {
  FieldReader fields(bytes, "predicate record");
  IndexPredicate predicate;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kPredicateText:
        predicate.text = std::string(fields.Bytes());
        if (predicate.text.empty() || predicate.text.size() > kIndexWhereBytesMax) {
          fields.FailCorrupt("expected 1 to " + std::to_string(kIndexWhereBytesMax) + " bytes");
        }
        break;
      case kPredicateColumn:
        AddPredicateColumn(&fields, &predicate);
        break;
      case kRoot: {
        Result<Condition> root = DecodeCondition(fields.Bytes(), predicate.columns.size());
        if (root) {
          predicate.root = *std::move(root);
        } else {
          fields.Fail(root.error());
        }
        break;
      }
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kPredicateText, kRoot}));
  return predicate;
}

void SetWhere(FieldReader* fields, IndexRecord* index) {
  Result<IndexPredicate> predicate = DecodePredicate(fields->Bytes());
  if (!predicate) return fields->Fail(predicate.error());
  index->where = *std::move(predicate);
}

std::string EncodeIncluded(const IncludedColumnRecord& column) {
  std::string out;
  AppendNumberField(&out, kColumnFamily, column.family.value);
  AppendField(&out, kQualifier, column.qualifier);
  return out;
}

Result<IncludedColumnRecord> DecodeIncluded(std::string_view bytes) {
  FieldReader fields(bytes, "included record");
  ColumnTypeRecord column;
  while (fields.Next()) {
    if (fields.tag() == kType || !ReadColumnField(&fields, &column)) fields.Unknown();
  }
  RETURN_IF_ERROR(fields.Finish({kColumnFamily, kQualifier}));
  return IncludedColumnRecord{.family = column.family, .qualifier = std::move(column.qualifier)};
}

std::string EncodeIndex(const IndexRecord& index) {
  std::string out;
  AppendNumberField(&out, kIndexId, index.id.value);
  AppendField(&out, kIndexName, index.name);
  AppendNumberField(&out, kState, static_cast<uint64_t>(index.state));
  for (const IndexColumnRecord& column : index.columns) {
    AppendField(&out, kColumn, EncodeColumn(column));
  }
  if (index.unique) AppendNumberField(&out, kUnique, 1);
  for (const IncludedColumnRecord& column : index.included) {
    AppendField(&out, kIncluded, EncodeIncluded(column));
  }
  if (index.where.has_value()) AppendField(&out, kWhere, EncodePredicate(*index.where));
  return out;
}

IndexState StateField(FieldReader* fields) {
  const uint64_t value = fields->Number(UINT64_MAX);
  if (value == 0) fields->FailCorrupt("expected a state, found 0");
  if (value > static_cast<uint64_t>(IndexState::kChecking)) {
    fields->Fail(Status::Unsupported("index record: unknown state " + std::to_string(value)));
    return IndexState::kReady;
  }
  return static_cast<IndexState>(value);
}

void AddColumn(FieldReader* fields, IndexRecord* index) {
  if (index->columns.size() == kIndexColumnsMax) {
    return fields->Fail(TooMany("columns of one index", kIndexColumnsMax));
  }
  Result<IndexColumnRecord> column = DecodeColumn(fields->Repeated());
  if (!column) return fields->Fail(column.error());
  index->columns.push_back(std::move(*column));
}

void AddIncluded(FieldReader* fields, IndexRecord* index) {
  if (index->included.size() == kIncludedColumnsMax) {
    return fields->Fail(TooMany("included columns of one index", kIncludedColumnsMax));
  }
  Result<IncludedColumnRecord> column = DecodeIncluded(fields->Repeated());
  if (!column) return fields->Fail(column.error());
  index->included.push_back(std::move(*column));
}

Result<IndexRecord> DecodeIndex(std::string_view bytes) {
  FieldReader fields(bytes, "index record");
  IndexRecord index;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kIndexId:
        index.id = IndexId(static_cast<uint32_t>(fields.Number(UINT32_MAX)));
        break;
      case kIndexName:
        index.name = NameField(&fields);
        break;
      case kState:
        index.state = StateField(&fields);
        break;
      case kColumn:
        AddColumn(&fields, &index);
        break;
      case kUnique:
        index.unique = fields.Flag();
        break;
      case kIncluded:
        AddIncluded(&fields, &index);
        break;
      case kWhere:
        SetWhere(&fields, &index);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kIndexId, kIndexName, kState, kColumn}));
  const bool is_of_family = std::ranges::any_of(index.columns, &IndexColumnRecord::is_of_family);
  if (is_of_family && (index.is_of_several() || index.unique || !index.included.empty())) {
    return Status::Corruption("index record: expected a family and nothing else");
  }
  return index;
}

void AddFamily(FieldReader* fields, TableRecord* table) {
  Result<FamilyRecord> family = DecodeFamily(fields->Repeated());
  if (!family) return fields->Fail(family.error());
  const bool is_used = !family->dropped && table->FindFamily(family->options.name) != nullptr;
  if (is_used || table->FindFamily(family->id) != nullptr) {
    return fields->FailCorrupt("a family's id or name repeats");
  }
  if (!family->dropped && table->family_count() == kFamiliesMax) {
    return fields->Fail(TooMany("families", kFamiliesMax));
  }
  table->families.push_back(std::move(*family));
}

// Sets the names of the families in the parts. Requires: the table has the families.
void NameJoined(const TableRecord& table, IndexColumnRecord* column) {
  auto joined = column->joined.begin();
  for (Function& function : column->functions) {
    for (ConcatPart& part : function.parts) {
      if (part.kind != ConcatPart::Kind::kColumn) continue;
      part.family = table.FindFamily((joined++)->family)->options.name;
    }
  }
}

void AddIndex(FieldReader* fields, TableRecord* table) {
  if (table->indexes.size() == kIndexesMax) return fields->Fail(TooMany("indexes", kIndexesMax));
  Result<IndexRecord> index = DecodeIndex(fields->Repeated());
  if (!index) return fields->Fail(index.error());
  if (table->FindIndex(index->id) != nullptr || table->FindIndex(index->name) != nullptr) {
    return fields->FailCorrupt("an index's id or name repeats");
  }
  if (index->AnyColumn([table](const IndexColumnRecord& column) {
        return !column.is_of_row_key() && table->FindFamily(column.family) == nullptr;
      })) {
    return fields->FailCorrupt("an index's column lies in a family that does not exist");
  }
  for (IndexColumnRecord& column : index->columns) NameJoined(*table, &column);
  for (const IncludedColumnRecord& column : index->included) {
    if (table->FindFamily(column.family) == nullptr) {
      return fields->FailCorrupt("an index includes a column of a family that does not exist");
    }
  }
  table->indexes.push_back(std::move(*index));
}

std::string EncodeGlobal(const GlobalIndexRecord& global) {
  std::string out;
  AppendField(&out, kGlobalIndex, EncodeIndex(global.index));
  AppendNumberField(&out, kEntriesTable, global.entries.value);
  if (global.since.has_value()) AppendNumberField(&out, kSince, global.since->value);
  return out;
}

void SetGlobalIndex(FieldReader* fields, GlobalIndexRecord* global) {
  Result<IndexRecord> index = DecodeIndex(fields->Bytes());
  if (!index) return fields->Fail(index.error());
  if (index->unique || !index->included.empty() || index->where.has_value() ||
      index->state != IndexState::kReady) {
    return fields->FailCorrupt("a global index is unique, covering, partial or not ready");
  }
  if (index->AnyColumn([](const auto& column) { return AreMultiValued(column.functions); })) {
    return fields->FailCorrupt("a column of a global index has several values");
  }
  if (index->joins_columns()) return fields->FailCorrupt("a global index joins columns");
  global->index = *std::move(index);
}

Result<GlobalIndexRecord> DecodeGlobal(std::string_view bytes) {
  FieldReader fields(bytes, "global index record");
  GlobalIndexRecord global;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kGlobalIndex:
        SetGlobalIndex(&fields, &global);
        break;
      case kEntriesTable:
        global.entries = TableId(static_cast<uint32_t>(fields.Number(UINT32_MAX)));
        break;
      case kSince:
        global.since = SequenceNumber(fields.Number(kSequenceMax.value));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kGlobalIndex, kEntriesTable}));
  return global;
}

void AddGlobal(FieldReader* fields, TableRecord* table) {
  if (table->indexes.size() + table->global_indexes.size() == kIndexesMax) {
    return fields->Fail(TooMany("indexes", kIndexesMax));
  }
  Result<GlobalIndexRecord> global = DecodeGlobal(fields->Repeated());
  if (!global) return fields->Fail(global.error());
  const IndexRecord& index = global->index;
  if (table->FindIndex(index.id) != nullptr || table->FindGlobal(index.id) != nullptr ||
      table->HasIndexNamed(index.name)) {
    return fields->FailCorrupt("an index's id or name repeats");
  }
  if (index.AnyColumn([table](const IndexColumnRecord& column) {
        return table->FindFamily(column.family) == nullptr;
      })) {
    return fields->FailCorrupt("an index's column lies in a family that does not exist");
  }
  table->global_indexes.push_back(*std::move(global));
}

void SetEntriesOf(FieldReader* fields, TableRecord* table) {
  FieldReader of(fields->Bytes(), "entries record");
  EntriesOf entries{};
  while (of.Next()) {
    if (of.tag() == kOfTable) {
      entries.table = TableId(static_cast<uint32_t>(of.Number(UINT32_MAX)));
    } else if (of.tag() == kOfIndex) {
      entries.index = IndexId(static_cast<uint32_t>(of.Number(UINT32_MAX)));
    } else {
      of.Unknown();
    }
  }
  const Status status = of.Finish({kOfTable, kOfIndex});
  if (!status.ok()) return fields->Fail(status);
  table->entries_of = entries;
}

// Of a table with entries its own, of another one a valid name.
std::string TableNameField(FieldReader* fields) {
  const std::string_view name = fields->Bytes();
  if (!IsValidName(name) && !IsEntriesName(name)) {
    fields->FailCorrupt("expected a name of 1 to 255 bytes");
  }
  return std::string(name);
}

Status CheckEntriesName(const TableRecord& table) {
  const bool fits = table.entries_of.has_value() ? table.name == MakeEntriesName(*table.entries_of)
                                                 : !IsEntriesName(table.name);
  return fits ? Status() : Status::Corruption("table record: the name is not that of its entries");
}

void AddColumnType(FieldReader* fields, TableRecord* table) {
  if (table->columns.size() == kColumnTypesMax) {
    return fields->Fail(TooMany("types of columns", kColumnTypesMax));
  }
  Result<ColumnTypeRecord> column = DecodeColumnType(fields->Repeated());
  if (!column) return fields->Fail(column.error());
  if (table->FindFamily(column->family) == nullptr) {
    return fields->FailCorrupt("a typed column lies in a family that does not exist");
  }
  if (!table->columns.empty() && !ComesBefore(table->columns.back(), *column)) {
    return fields->FailCorrupt("typed columns do not ascend");
  }
  table->columns.push_back(std::move(*column));
}

void AddObserver(FieldReader* fields, TableRecord* table) {
  if (table->observers.size() == kObserversMax) {
    return fields->Fail(TooMany("observers", kObserversMax));
  }
  const std::string_view name = fields->Repeated();
  if (!IsValidName(name)) return fields->FailCorrupt("expected a name of 1 to 255 bytes");
  std::vector<std::string>& names = table->observers;
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return fields->FailCorrupt("an observer's name repeats");
  }
  names.emplace_back(name);
}

// What this build cannot read is of a later one: a checksum covers the text.
std::string RowKeyText(std::string_view text, FieldReader* fields) {
  const Result<RowKeySchema> schema = RowKeySchema::Parse(text);
  if (!schema || schema->ToString() != text) {
    fields->Fail(Status::Unsupported("table record: the row key " + base::Quote(text) +
                                     " is none that this build knows"));
  }
  return std::string(text);
}

}  // namespace

void EncodeTable(const TableRecord& table, std::string* out) {
  AppendNumberField(out, kTableId, table.id.value);
  AppendField(out, kTableName, table.name);
  AppendField(out, kSecret, {table.hash_secret.data(), table.hash_secret.size()});
  for (const FamilyRecord& family : table.families) AppendField(out, kFamily, EncodeFamily(family));
  for (const IndexRecord& index : table.indexes) AppendField(out, kIndex, EncodeIndex(index));
  for (const ColumnTypeRecord& column : table.columns) {
    AppendField(out, kColumnType, EncodeColumnType(column));
  }
  if (table.next_index > LeastNextIndex(table)) {
    AppendNumberField(out, kNextIndex, table.next_index.value);
  }
  for (const std::string& observer : table.observers) AppendField(out, kObserver, observer);
  if (!table.row_key.empty()) AppendField(out, kRowKey, table.row_key);
  for (const GlobalIndexRecord& global : table.global_indexes) {
    AppendField(out, kGlobal, EncodeGlobal(global));
  }
  if (table.entries_of.has_value()) {
    std::string of;
    AppendNumberField(&of, kOfTable, table.entries_of->table.value);
    AppendNumberField(&of, kOfIndex, table.entries_of->index.value);
    AppendField(out, kEntriesOf, of);
  }
  for (const std::string& former : table.former_row_keys) AppendField(out, kFormerRowKey, former);
}

Result<TableRecord> DecodeTable(std::string_view bytes) {
  FieldReader fields(bytes, "table record");
  TableRecord table;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kTableId:
        table.id = TableId(static_cast<uint32_t>(fields.Number(UINT32_MAX)));
        break;
      case kTableName:
        table.name = TableNameField(&fields);
        break;
      case kSecret: {
        const std::string_view secret = fields.FixedBytes(kHashSecretBytes);
        std::copy(secret.begin(), secret.end(), table.hash_secret.begin());
        break;
      }
      case kFamily:
        AddFamily(&fields, &table);
        break;
      case kIndex:
        AddIndex(&fields, &table);
        break;
      case kColumnType:
        AddColumnType(&fields, &table);
        break;
      case kNextIndex:
        table.next_index = IndexId(static_cast<uint32_t>(fields.Number(UINT32_MAX)));
        break;
      case kObserver:
        AddObserver(&fields, &table);
        break;
      case kRowKey:
        table.row_key = RowKeyText(fields.Bytes(), &fields);
        break;
      case kGlobal:
        AddGlobal(&fields, &table);
        break;
      case kEntriesOf:
        SetEntriesOf(&fields, &table);
        break;
      case kFormerRowKey:
        table.former_row_keys.push_back(RowKeyText(fields.Repeated(), &fields));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kTableId, kTableName, kSecret, kFamily}));
  if (table.family_count() == 0) {
    return Status::Corruption("table record: all families are dropped");
  }
  RETURN_IF_ERROR(CheckEntriesName(table));
  if (!table.former_row_keys.empty() &&
      !RowKeyEpochs::Parse(table.row_key, table.former_row_keys)) {
    return Status::Unsupported("table record: the former row keys are none that this build knows");
  }
  table.next_index = std::max(table.next_index, LeastNextIndex(table));
  return table;
}

}  // namespace tandem::format
