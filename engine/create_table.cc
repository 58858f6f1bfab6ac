// Every limit of a declaration is checked here, once, before anything is written.
#include "engine/create_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
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

bool IsKnownType(ColumnType type) {
  switch (type) {
    case ColumnType::kBytes:
    case ColumnType::kText:
    case ColumnType::kInt64:
    case ColumnType::kUint64:
    case ColumnType::kDouble:
    case ColumnType::kBool:
    case ColumnType::kTimestamp:
    case ColumnType::kInt64Be:
    case ColumnType::kUint64Be:
    case ColumnType::kDoubleBe:
    case ColumnType::kBoolBe:
    case ColumnType::kTimestampBe:
      return true;
  }
  return false;
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

Status AddIndex(const IndexOptions& options, format::TableRecord* table) {
  RETURN_IF_ERROR(CheckName("index", options.name));
  const std::string where = "index " + base::Quote(options.name) + ": ";
  if (table->FindIndex(options.name) != nullptr) return Invalid(where + "is declared twice");
  if (options.columns.size() != 1) {
    return Invalid(where + "declares " + std::to_string(options.columns.size()) +
                   " columns, expected exactly one");
  }
  const IndexColumn& column = options.columns.front();
  const format::FamilyRecord* family =
      column.family.empty() ? &table->families.front() : table->FindFamily(column.family);
  if (family == nullptr) return Invalid(where + "there is no family " + base::Quote(column.family));
  if (column.qualifier.size() > kQualifierBytesMax) {
    return Invalid(where + "its qualifier has " + std::to_string(column.qualifier.size()) +
                   " bytes, the limit is " + std::to_string(kQualifierBytesMax));
  }
  if (!IsKnownType(column.type)) return Invalid(where + "unknown column type");
  format::IndexRecord index;
  index.id = format::IndexId(static_cast<uint32_t>(table->indexes.size() + 1));
  index.name = options.name;
  index.columns.push_back({.family = family->id,
                           .qualifier = column.qualifier,
                           .type = column.type,
                           .descending = column.descending});
  table->indexes.push_back(std::move(index));
  return {};
}

}  // namespace

Status CheckTableName(const std::string& name) { return CheckName("table", name); }

Result<format::TableRecord> MakeTableRecord(const TableOptions& options,
                                            base::RandomSource* random) {
  format::TableRecord table;
  RETURN_IF_ERROR(CheckTableName(options.name));
  table.name = options.name;
  RETURN_IF_ERROR(AddFamilies(options, &table));
  if (options.indexes.size() > kIndexesMax) {
    return Invalid("table " + base::Quote(options.name) + " declares " +
                   std::to_string(options.indexes.size()) + " indexes, the limit is " +
                   std::to_string(kIndexesMax));
  }
  for (const IndexOptions& index : options.indexes) RETURN_IF_ERROR(AddIndex(index, &table));
  random->Fill(table.hash_secret);
  return table;
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

TableOptions OptionsOf(const format::TableRecord& table) {
  TableOptions options;
  options.name = table.name;
  for (const format::FamilyRecord& family : table.families) {
    options.families.push_back(family.options);
  }
  for (const format::IndexRecord& record : table.indexes) {
    IndexOptions& index = options.indexes.emplace_back();
    index.name = record.name;
    for (const format::IndexColumnRecord& column : record.columns) {
      std::string family;
      for (const format::FamilyRecord& candidate : table.families) {
        if (candidate.id == column.family) family = candidate.options.name;
      }
      index.columns.push_back({.family = family,
                               .qualifier = column.qualifier,
                               .type = column.type,
                               .descending = column.descending});
    }
  }
  return options;
}

}  // namespace tandem::engine
