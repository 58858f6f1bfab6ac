// See put_key.h.
#include "index/put_key.h"

#include <algorithm>
#include <array>

#include "base/check.h"
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

namespace {

/// The values of the columns that a column joins.
class JoinedValues {
 public:
  /// False: a column has none that functions take. Lifetime: of the Puts.
  bool Take(const IndexColumnRecord& column, JoinedPuts puts) {
    DCHECK(puts.size() == column.joined.size());
    if (puts.size() != column.joined.size()) return false;
    for (const Cell* put : puts) {
      const bool is_taken =
          put != nullptr && !put->is_overflow() && put->value.size() <= kFunctionValueBytesMax;
      if (!is_taken) return false;
      values_[count_++] = put->value;
    }
    return true;
  }
  std::span<const std::string_view> span() const { return std::span(values_).first(count_); }

 private:
  std::array<std::string_view, kConcatPartsMax> values_;
  size_t count_ = 0;
};

}  // namespace

bool IsMultiValued(const IndexColumnRecord& column) { return AreMultiValued(column.functions); }

bool IsColumn(const IndexColumnRecord& column, FamilyId family, std::string_view qualifier) {
  return column.family == family && column.qualifier == qualifier && !column.is_of_family();
}

bool HasPutsOf(const IndexColumnRecord& column, FamilyId family, std::string_view qualifier) {
  return column.family == family && (column.qualifier == qualifier || column.is_of_family());
}

bool DependsOnValue(const IndexColumnRecord& column) {
  if (column.functions.empty()) return true;
  const FunctionKind first = column.functions.front().kind;
  return first != FunctionKind::kTimestampOf && first != FunctionKind::kMapKeys;
}

namespace {

// What the first function is applied to.
std::string_view InputOf(const IndexColumnRecord& column, const Cell& put) {
  const bool is_qualifier = column.functions.front().kind == FunctionKind::kMapKeys;
  return is_qualifier ? put.qualifier : put.value;
}

}  // namespace

void ValuesOfPut(const IndexColumnRecord& column, const Cell& put, ValueList* values,
                 JoinedPuts joined) {
  values->Clear();
  JoinedValues others;
  if ((DependsOnValue(column) && put.is_overflow()) || !others.Take(column, joined)) return;
  ApplyMultiValued(column.functions, InputOf(column, put), put.timestamp, values, others.span());
}

std::span<const std::string_view> PutKeys::Of(const IndexColumnRecord& column, const Cell& put,
                                              JoinedPuts joined) {
  key_.clear();
  keys_.clear();
  if (!IsMultiValued(column)) {
    if (AppendPutKey(column, put, &key_, joined)) keys_.push_back(key_);
    return keys_;
  }
  ValuesOfPut(column, put, &values_, joined);
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

bool ValueOfPut(const IndexColumnRecord& column, const Cell& put, std::string* value,
                JoinedPuts joined) {
  static_assert(kFunctionValueBytesMax == kInlineValueBytesMax);
  JoinedValues others;
  if ((DependsOnValue(column) && put.is_overflow()) || !others.Take(column, joined)) return false;
  return ApplyFunctions(column.functions, put.value, put.timestamp, value, others.span());
}

// No value that is long enough to overflow has a key.
bool AppendPutKey(const IndexColumnRecord& column, const Cell& put, std::string* out,
                  JoinedPuts joined) {
  if (column.functions.empty()) {
    return !put.is_overflow() && AppendKeyIfFits(column, put.value, out);
  }
  std::string made;
  return ValueOfPut(column, put, &made, joined) && AppendKeyIfFits(column, made, out);
}

bool AppendPutKey(const IndexColumnRecord& column, std::string_view value, int64_t timestamp,
                  std::string* out) {
  Cell put;
  put.value = value;
  put.timestamp = timestamp;
  return AppendPutKey(column, put, out);
}

namespace {

Status CheckValues(const IndexColumnRecord& column, std::string_view input) {
  ValueList values;
  ApplyMultiValued(column.functions, input, 0, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (column.type == ColumnType::kText && !IsUtf8(values[i])) continue;
    if (Status status = CheckIndexValue(column, values[i]); !status.ok()) return status;
  }
  return {};
}

}  // namespace

// Text that functions make is no longer than the value or short, but for concat, which adds to it,
// and functions of the program, so most values are known to fit unseen.
Status CheckPut(const IndexColumnRecord& column, const Cell& put) {
  if (column.functions.empty()) return CheckIndexValue(column, put.value);
  const std::string_view input = InputOf(column, put);
  const bool is_text = column.type == ColumnType::kText || column.type == ColumnType::kBytes;
  if (!is_text || !column.joined.empty()) return {};
  const bool may_grow = HaveConcat(column.functions) || HaveCalls(column.functions);
  if (AlwaysFitsIndex(input.size()) && !may_grow) return {};
  if (IsMultiValued(column)) return CheckValues(column, input);
  std::string made;
  if (!ApplyFunctions(column.functions, input, 0, &made) || !IsUtf8(made)) return {};
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
  // What functions return is absent if it is too long.
  if (!column.functions.empty()) return false;
  return column.type == ColumnType::kBytes && (put.is_overflow() || !FitsIndex(column, put.value));
}

}  // namespace tandem::format
