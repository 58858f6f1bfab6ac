// See put_key.h.
#include "index/put_key.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/cell/overflow_value.h"
#include "format/functions.h"
#include "format/value_text.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::format {

Cell RowKeyPut(std::string_view row_key) {
  Cell put;
  put.family = kRowKeyFamily;
  put.value = row_key;
  return put;
}

bool IsMultiValued(const IndexColumnRecord& column) { return AreMultiValued(column.functions); }

void ValuesOfPut(const IndexColumnRecord& column, const Cell& put, ValueList* values) {
  values->Clear();
  const bool is_of_value = column.functions.front().kind != FunctionKind::kTimestampOf;
  if (is_of_value && put.is_overflow()) return;
  ApplyMultiValued(column.functions, put.value, put.timestamp, values);
}

std::span<const std::string_view> PutKeys::Of(const IndexColumnRecord& column, const Cell& put) {
  key_.clear();
  keys_.clear();
  if (!IsMultiValued(column)) {
    if (AppendPutKey(column, put, &key_)) keys_.push_back(key_);
    return keys_;
  }
  ValuesOfPut(column, put, &values_);
  ends_.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    if (AppendKeyIfFits(column, values_[i], &key_)) ends_.push_back(key_.size());
  }
  size_t begin = 0;
  for (const size_t end : ends_) {
    keys_.push_back(std::string_view(key_).substr(begin, end - begin));
    begin = end;
  }
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  return keys_;
}

std::span<const std::string_view> PutKeys::Of(const IndexColumnRecord& column,
                                              std::string_view value, int64_t timestamp) {
  Cell put;
  put.value = value;
  put.timestamp = timestamp;
  return Of(column, put);
}

bool ValueOfPut(const IndexColumnRecord& column, const Cell& put, std::string* value) {
  static_assert(kFunctionValueBytesMax == kInlineValueBytesMax);
  const bool is_of_value = column.functions.front().kind != FunctionKind::kTimestampOf;
  if (is_of_value && put.is_overflow()) return false;
  return ApplyFunctions(column.functions, put.value, put.timestamp, value);
}

// No value that is long enough to overflow has a key.
bool AppendPutKey(const IndexColumnRecord& column, const Cell& put, std::string* out) {
  if (column.functions.empty()) {
    return !put.is_overflow() && AppendKeyIfFits(column, put.value, out);
  }
  std::string made;
  return ValueOfPut(column, put, &made) && AppendKeyIfFits(column, made, out);
}

bool AppendPutKey(const IndexColumnRecord& column, std::string_view value, int64_t timestamp,
                  std::string* out) {
  Cell put;
  put.value = value;
  put.timestamp = timestamp;
  return AppendPutKey(column, put, out);
}

namespace {

Status CheckValues(const IndexColumnRecord& column, std::string_view value) {
  ValueList values;
  ApplyMultiValued(column.functions, value, 0, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsUtf8(values[i])) continue;
    if (Status status = CheckIndexValue(column, values[i]); !status.ok()) return status;
  }
  return {};
}

}  // namespace

// Text that functions make is no longer than the value or short, so most values are known to fit
// unseen. What functions of the program return may be longer.
Status CheckPutValue(const IndexColumnRecord& column, std::string_view value) {
  if (column.functions.empty()) return CheckIndexValue(column, value);
  if (column.type != ColumnType::kText) return {};
  if (AlwaysFitsIndex(value.size()) && !HaveCalls(column.functions)) return {};
  if (IsMultiValued(column)) return CheckValues(column, value);
  std::string made;
  if (!ApplyFunctions(column.functions, value, 0, &made) || !IsUtf8(made)) return {};
  return CheckIndexValue(column, made);
}

namespace {

// Of the trigrams of what a function returns nothing is hidden: longer values make none.
bool IsOfTrigramsAlone(const IndexColumnRecord& column) {
  return column.functions.size() == 1 && column.functions[0].kind == FunctionKind::kTrigrams;
}

}  // namespace

bool MayHide(const IndexColumnRecord& column) {
  return column.type == ColumnType::kBytes || IsOfTrigramsAlone(column);
}

bool IsHiddenFrom(const IndexColumnRecord& column, const Cell& put) {
  if (ArePinnedByOthers(column.functions)) return true;
  if (IsOfTrigramsAlone(column)) {
    return put.is_overflow() || put.value.size() > kFunctionValueBytesMax;
  }
  // What functions return is never of this type.
  return column.type == ColumnType::kBytes && (put.is_overflow() || !FitsIndex(column, put.value));
}

}  // namespace tandem::format
