// The names of column types, and what a table's record says; schema.cc has its codec.
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/function/concat.h"
#include "format/schema.h"
#include "tandem/limits.h"
#include "tandem/schema.h"

namespace tandem {
namespace {

constexpr std::array<std::pair<ColumnType, std::string_view>, 12> kNames = {{
    {ColumnType::kBytes, "bytes"},
    {ColumnType::kText, "text"},
    {ColumnType::kInt64, "int64"},
    {ColumnType::kUint64, "uint64"},
    {ColumnType::kDouble, "double"},
    {ColumnType::kBool, "bool"},
    {ColumnType::kTimestamp, "timestamp"},
    {ColumnType::kInt64Be, "int64_be"},
    {ColumnType::kUint64Be, "uint64_be"},
    {ColumnType::kDoubleBe, "double_be"},
    {ColumnType::kBoolBe, "bool_be"},
    {ColumnType::kTimestampBe, "timestamp_be"},
}};

}  // namespace

std::string_view ColumnTypeName(ColumnType type) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [type](const auto& known) { return known.first == type; });
  return found == kNames.end() ? "unknown" : found->second;
}

std::optional<ColumnType> ColumnTypeNamed(std::string_view name) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [name](const auto& known) { return known.second == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace tandem

namespace tandem::format {
namespace {

constexpr char kEntriesNameBegin = 1;

bool IsColumn(const ConcatPart& part) { return part.kind == ConcatPart::Kind::kColumn; }

Function* FindJoining(Functions* functions) {
  const auto found = std::ranges::find_if(*functions, JoinsColumns);
  return found == functions->end() ? nullptr : &*found;
}

Status ResolveFamily(const TableRecord& table, ConcatPart* part, FamilyId* id) {
  const FamilyRecord* family =
      part->family.empty() ? &table.first_family() : table.FindFamily(part->family);
  if (family == nullptr) {
    return Status::NotFound("table " + base::Quote(table.name) + " has no family " +
                            base::Quote(part->family));
  }
  part->family = family->options.name;
  *id = family->id;
  return {};
}

// Makes the first of the columns that the parts are of the one that is kValue.
void PutFirstColumnFirst(const TableRecord& table, std::vector<ConcatPart>* parts,
                         IndexColumnRecord* column) {
  const auto own =
      ConcatPart::Column(table.FindFamily(column->family)->options.name, column->qualifier);
  for (ConcatPart& part : *parts) {
    if (part.kind == ConcatPart::Kind::kValue) part = own;
  }
  const ConcatPart first = *std::ranges::find_if(*parts, IsColumn);
  column->family = table.FindFamily(first.family)->id;
  column->qualifier = first.qualifier;
  std::ranges::replace(*parts, first, ConcatPart::Value());
}

}  // namespace

Status JoinColumns(const TableRecord& table, IndexColumnRecord* column) {
  Function* const joining = FindJoining(&column->functions);
  if (joining == nullptr) return {};
  if (column->is_of_row_key()) {
    return Status::InvalidArgument("concat: it joins the row key with texts, and not with columns");
  }
  FamilyId family;
  for (ConcatPart& part : joining->parts) {
    if (IsColumn(part)) RETURN_IF_ERROR(ResolveFamily(table, &part, &family));
  }
  if (joining == column->functions.data()) PutFirstColumnFirst(table, &joining->parts, column);
  for (ConcatPart& part : joining->parts) {
    if (!IsColumn(part)) continue;
    RETURN_IF_ERROR(ResolveFamily(table, &part, &family));
    IndexColumnRecord& joined = column->joined.emplace_back();
    joined.family = family;
    joined.qualifier = part.qualifier;
  }
  return {};
}

bool HasSameValues(const IndexColumnRecord& a, const IndexColumnRecord& b) {
  const auto is_same = [](const IndexColumnRecord& one, const IndexColumnRecord& other) {
    return one.family == other.family && one.qualifier == other.qualifier;
  };
  return is_same(a, b) && a.type == b.type && a.functions == b.functions &&
         std::ranges::equal(a.joined, b.joined, is_same);
}

IndexId LeastNextIndex(const TableRecord& table) {
  uint32_t next = 1;
  const auto add = [&next](IndexId id) {
    next = std::max(next, id.value == UINT32_MAX ? UINT32_MAX : id.value + 1);
  };
  for (const IndexRecord& index : table.indexes) add(index.id);
  for (const GlobalIndexRecord& global : table.global_indexes) add(global.index.id);
  return IndexId(next);
}

bool LivesLonger(const FamilyOptions& options, const FamilyOptions& other) {
  return other.ttl_micros != 0 &&
         (options.ttl_micros == 0 || options.ttl_micros > other.ttl_micros);
}

bool KeepsMore(const FamilyOptions& options, const FamilyOptions& other) {
  return options.max_versions > other.max_versions || LivesLonger(options, other);
}

bool HaveSameFormerLimits(const TableRecord& a, const TableRecord& b) {
  return std::ranges::all_of(a.families, [&b](const FamilyRecord& family) {
    const FamilyRecord* other = b.FindFamily(family.id);
    return other == nullptr || other->former_limits == family.former_limits;
  });
}

bool ComesBefore(const ColumnTypeRecord& a, const ColumnTypeRecord& b) {
  return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
}

bool IsValidName(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::none_of(name.begin(), name.end(), is_control);
}

std::optional<int64_t> FamilyRecord::ExpiredThrough(int64_t now_micros) const {
  if (dropped) return std::numeric_limits<int64_t>::max();
  int64_t bound = 0;
  if (options.ttl_micros <= 0 || __builtin_sub_overflow(now_micros, options.ttl_micros, &bound)) {
    return std::nullopt;
  }
  return bound;
}

std::optional<int64_t> FamilyRecord::ExpiredThrough(int64_t now_micros,
                                                    SequenceNumber sequence) const {
  std::optional<int64_t> through = ExpiredThrough(now_micros);
  for (const FormerLimits& limits : former_limits) {
    if (sequence < limits.changed_at) through = std::max(through, limits.expired_through);
  }
  return through;
}

bool FamilyRecord::may_expire() const {
  return dropped || options.ttl_micros != 0 ||
         std::ranges::any_of(former_limits, [](const FormerLimits& limits) {
           return limits.expired_through.has_value();
         });
}

const FamilyRecord* TableRecord::FindFamily(std::string_view family_name) const {
  for (const FamilyRecord& family : families) {
    if (!family.dropped && family.options.name == family_name) return &family;
  }
  return nullptr;
}

const FamilyRecord& TableRecord::first_family() const {
  return *std::find_if(families.begin(), families.end(),
                       [](const FamilyRecord& family) { return !family.dropped; });
}

size_t TableRecord::family_count() const {
  return static_cast<size_t>(
      std::count_if(families.begin(), families.end(),
                    [](const FamilyRecord& family) { return !family.dropped; }));
}

SequenceNumber TableRecord::last_limits_change() const {
  SequenceNumber last;
  for (const FamilyRecord& family : families) {
    if (!family.former_limits.empty())
      last = std::max(last, family.former_limits.back().changed_at);
  }
  return last;
}

const FamilyRecord* TableRecord::FindFamily(FamilyId family) const {
  for (const FamilyRecord& record : families) {
    if (record.id == family) return &record;
  }
  return nullptr;
}

const IndexRecord* TableRecord::FindIndex(std::string_view index_name) const {
  for (const IndexRecord& index : indexes) {
    if (index.name == index_name) return &index;
  }
  return nullptr;
}

const IndexRecord* TableRecord::FindIndex(IndexId index_id) const {
  for (const IndexRecord& index : indexes) {
    if (index.id == index_id) return &index;
  }
  return nullptr;
}

const GlobalIndexRecord* TableRecord::FindGlobal(std::string_view index_name) const {
  for (const GlobalIndexRecord& global : global_indexes) {
    if (global.index.name == index_name) return &global;
  }
  return nullptr;
}

const GlobalIndexRecord* TableRecord::FindGlobal(IndexId index_id) const {
  for (const GlobalIndexRecord& global : global_indexes) {
    if (global.index.id == index_id) return &global;
  }
  return nullptr;
}

std::string MakeEntriesName(const EntriesOf& of) {
  std::string name(1, kEntriesNameBegin);
  name += std::to_string(of.table.value) + "." + std::to_string(of.index.value);
  return name;
}

bool IsEntriesName(std::string_view name) { return name.starts_with(kEntriesNameBegin); }

ColumnType TableRecord::TypeOf(FamilyId family, std::string_view qualifier) const {
  for (const ColumnTypeRecord& column : columns) {
    if (column.family == family && column.qualifier == qualifier) return column.type;
  }
  for (const IndexRecord& index : indexes) {
    for (const IndexColumnRecord& column : index.columns) {
      if (!column.functions.empty()) continue;
      if (column.family == family && column.qualifier == qualifier) return column.type;
    }
  }
  return ColumnType::kBytes;
}

}  // namespace tandem::format
