// A column has the type that it has for conditions.
#include "engine/commit/new_value.h"

#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/value_text.h"
#include "index/entries.h"
#include "tandem/encoding.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

bool IsBigEndian(const format::TableRecord& table, const format::Cell& column) {
  const ColumnType type = table.TypeOf(column.family, column.qualifier);
  return type == ColumnType::kInt64Be || type == ColumnType::kUint64Be ||
         type == ColumnType::kTimestampBe;
}

}  // namespace

std::string Where(const format::TableRecord& table, std::string_view row,
                  const format::Cell& column) {
  const format::FamilyRecord* family = table.FindFamily(column.family);
  std::string name = family == nullptr ? std::string() : family->options.name;
  name.append(":").append(column.qualifier);
  return "row " + base::Quote(row) + ", column " + base::Quote(name);
}

Status CheckIndexes(const format::TableRecord& table, std::string_view row,
                    const format::Cell& column, std::string_view value) {
  format::Cell put = column;
  put.value = value;
  const auto check = [&](const format::IndexRecord& index) -> Status {
    for (const format::IndexColumnRecord& indexed : index.columns) {
      if (!format::HasPutsOf(indexed, put.family, put.qualifier)) continue;
      const Status status = format::CheckPut(indexed, put);
      if (status.ok()) continue;
      std::string message = Where(table, row, column);
      message.append(", index ").append(base::Quote(index.name)).append(": ");
      return {status.code(), message.append(status.message())};
    }
    return {};
  };
  for (const format::IndexRecord& index : table.indexes) RETURN_IF_ERROR(check(index));
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    RETURN_IF_ERROR(check(global.index));
  }
  return {};
}

namespace {

Status CheckNewValue(const format::TableRecord& table, std::string_view row,
                     const format::Cell& column, std::string_view value) {
  if (value.size() <= kValueBytesMax) return CheckIndexes(table, row, column, value);
  return Status::InvalidArgument(Where(table, row, column) + ": the value would have " +
                                 std::to_string(value.size()) + " bytes, the limit is " +
                                 std::to_string(kValueBytesMax));
}

Result<int64_t> AddToStored(const format::TableRecord& table, std::string_view row,
                            const format::Cell& change, const format::Cell* stored) {
  const int64_t delta = DecodeInt64Be(change.value).value_or(0);
  if (stored == nullptr) return delta;
  std::optional<int64_t> before;
  if (!stored->is_overflow()) {
    before = IsBigEndian(table, change) ? DecodeInt64Be(stored->value)
                                        : format::ParseInt64(stored->value);
  }
  if (!before.has_value()) {
    return Status::InvalidArgument(
        Where(table, row, change) + ": " +
        (stored->is_overflow() ? std::string("a long value") : base::Quote(stored->value)) +
        " is not an integer of 64 bits");
  }
  int64_t sum = 0;
  if (!__builtin_add_overflow(*before, delta, &sum)) return sum;
  return Status::InvalidArgument(Where(table, row, change) + ": " + std::to_string(*before) +
                                 " + " + std::to_string(delta) + " is out of the range of int64");
}

std::string EncodeInteger(const format::TableRecord& table, const format::Cell& column,
                          int64_t value) {
  return IsBigEndian(table, column) ? EncodeInt64Be(value) : std::to_string(value);
}

}  // namespace

Result<NewValue> MakeNewValue(const format::TableRecord& table, const ColumnUpdate& update,
                              const format::Cell* stored) {
  NewValue made;
  if (update.adds) {
    ASSIGN_OR_RETURN(const int64_t sum, AddToStored(table, update.row, update.change, stored));
    made.stored = EncodeInteger(table, update.change, sum);
    made.returned = std::to_string(sum);
  } else {
    if (stored != nullptr) made.stored = stored->value;
    made.stored.append(update.change.value);
    made.returned = made.stored;
  }
  RETURN_IF_ERROR(CheckNewValue(table, update.row, update.change, made.stored));
  return made;
}

}  // namespace tandem::engine
