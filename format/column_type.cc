// The names of column types.
#include <algorithm>
#include <array>
#include <utility>

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
