// See expressions.h.
#include "engine/group/expressions.h"

#include <algorithm>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/read/row_column.h"
#include "format/functions.h"
#include "format/value_list.h"
#include "format/value_text.h"
#include "index/key.h"
#include "index/put_key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Status RefuseExpression(const std::string& text, std::string_view why) {
  return Status::InvalidArgument("expression " + base::Quote(text) + ": " + std::string(why));
}

bool IsText(ColumnType type) { return type == ColumnType::kText || type == ColumnType::kBytes; }

// Texts of one batch of rows, which keep their places while more are added.
class Texts {
 public:
  void Clear() { size_ = 0; }
  std::string* Add() {
    if (size_ == texts_.size()) texts_.emplace_back();
    texts_[size_].clear();
    return &texts_[size_++];
  }
  void RemoveLast() { --size_; }

 private:
  std::deque<std::string> texts_;
  size_t size_ = 0;
};

/// The values of one expression. Threads: one at a time.
class RowValues {
 public:
  explicit RowValues(RowColumn column) : column_(std::move(column)) {}

  /// Adds a text for each distinct value that the row has, ascending, and calls `use(text)`.
  template <typename Use>
  Status ForEach(const RowView& row, Texts* texts, const Use& use) {
    const format::IndexColumnRecord& record = column_.record();
    if (!format::IsMultiValued(record)) {
      std::string* const text = texts->Add();
      ASSIGN_OR_RETURN(const bool has_value, ReadOne(row, text));
      if (has_value) use(*text);
      if (!has_value) texts->RemoveLast();
      return {};
    }
    sorted_.clear();
    if (record.is_of_family()) {
      column_.ForEachPutIn(row, [this](const format::Cell& put) { Collect(put, {}); });
    } else {
      const std::optional<format::Cell> put = column_.PutIn(row);
      if (put.has_value() && column_.JoinedPutsIn(row, &joined_)) Collect(*put, Joined());
    }
    std::ranges::sort(sorted_);
    const auto repeated = std::ranges::unique(sorted_);
    sorted_.erase(repeated.begin(), repeated.end());
    for (const std::string& value : sorted_) {
      std::string* const text = texts->Add();
      if (IsText(record.type)) {
        *text = value;
      } else {
        RETURN_IF_ERROR(Decode(value, text));
      }
      use(*text);
    }
    return {};
  }

 private:
  std::vector<const format::Cell*> Joined() const {
    std::vector<const format::Cell*> pointers;
    for (const format::Cell& put : joined_) pointers.push_back(&put);
    return pointers;
  }

  Result<bool> ReadOne(const RowView& row, std::string* text) {
    const std::optional<format::Cell> put = column_.PutIn(row);
    if (!put.has_value() || !column_.JoinedPutsIn(row, &joined_)) return false;
    const format::IndexColumnRecord& record = column_.record();
    if (!IsText(record.type)) {
      key_.clear();
      if (!format::AppendPutKey(record, *put, &key_, Joined())) return false;
      RETURN_IF_ERROR(Decode(key_, text));
      return true;
    }
    if (record.functions.empty()) {
      text->assign(put->value);
    } else if (!format::ValueOfPut(record, *put, text, Joined())) {
      return false;
    }
    return record.type == ColumnType::kBytes || format::IsUtf8(*text);
  }

  // What sorts as the column's type: texts as they are, keys of the others.
  void Collect(const format::Cell& put, format::JoinedPuts joined) {
    const format::IndexColumnRecord& record = column_.record();
    if (!IsText(record.type)) {
      for (const std::string_view key : keys_.Of(record, put, joined)) sorted_.emplace_back(key);
      return;
    }
    format::ValuesOfPut(record, put, &values_, joined);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (record.type == ColumnType::kText && !format::IsUtf8(values_[i])) continue;
      sorted_.emplace_back(values_[i]);
    }
  }

  Status Decode(std::string_view key, std::string* text) const {
    ASSIGN_OR_RETURN(std::optional<std::string> value,
                     format::DecodeIndexKey(column_.record(), &key));
    *text = *std::move(value);
    return {};
  }

  RowColumn column_;
  std::vector<format::Cell> joined_;
  std::vector<std::string> sorted_;
  format::ValueList values_;
  format::PutKeys keys_;
  std::string key_;
};

class ComputedRows final : public RowSource {
 public:
  ComputedRows(std::unique_ptr<RowSource> rows, std::shared_ptr<const BoundExpressions> expressions)
      : rows_(std::move(rows)), expressions_(std::move(expressions)) {
    for (const format::IndexColumnRecord& column : expressions_->columns) {
      values_.emplace_back(RowColumn(column, *expressions_->table));
    }
  }

  Result<bool> NextBatch(format::RowBatch* batch) override {
    batch->Clear();
    cells_.clear();
    texts_.Clear();
    ASSIGN_OR_RETURN(const bool more, rows_->NextBatch(&read_));
    if (!more) return false;
    ends_.clear();
    for (const RowView& row : read_.rows()) {
      AddShown(row);
      for (size_t i = 0; i < values_.size(); ++i) {
        const std::string_view name = expressions_->texts[i];
        RETURN_IF_ERROR(values_[i].ForEach(row, &texts_, [this, name](const std::string& value) {
          cells_.push_back({.family = {}, .qualifier = name, .timestamp = 0, .value = value});
        }));
      }
      ends_.push_back(cells_.size());
    }
    size_t begin = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      batch->Add({read_.rows()[i].key(), std::span(cells_).subspan(begin, ends_[i] - begin)});
      begin = ends_[i];
    }
    return true;
  }
  std::string_view entry() const override { return rows_->entry(); }

 private:
  void AddShown(const RowView& row) {
    if (expressions_->shown.empty()) return;
    for (const Cell& cell : row.cells()) {
      const bool is_shown =
          std::ranges::any_of(expressions_->shown, [&cell](const BoundExpressions::Shown& shown) {
            return shown.family == cell.family &&
                   (!shown.qualifier.has_value() || *shown.qualifier == cell.qualifier);
          });
      if (is_shown) cells_.push_back(cell);
    }
  }

  const std::unique_ptr<RowSource> rows_;
  const std::shared_ptr<const BoundExpressions> expressions_;
  std::vector<RowValues> values_;
  format::RowBatch read_;
  // Of the batch.
  Texts texts_;
  std::vector<Cell> cells_;
  std::vector<size_t> ends_;  // Of each row's cells.
};

}  // namespace

Result<ExpressionRead> ExpressionRead::Of(const ReadOptions& options, const QueryOptions& query) {
  ExpressionRead read(options);
  if (query.expressions.empty()) return read;
  if (query.expressions.size() > kExpressionsMax) {
    return Status::InvalidArgument("a query has at most " + std::to_string(kExpressionsMax) +
                                   " expressions, not " + std::to_string(query.expressions.size()));
  }
  if (options.pieces) {
    return Status::InvalidArgument("expressions and pieces are both given: values are of a row");
  }
  for (size_t i = 0; i < query.expressions.size(); ++i) {
    const std::string& text = query.expressions[i];
    if (std::ranges::find(query.expressions, text) != query.expressions.begin() + i) {
      return RefuseExpression(text, "it is given twice");
    }
    Result<ParsedColumn> parsed = ParseWholeColumn(text);
    if (!parsed.has_value()) return RefuseExpression(text, parsed.error().message());
    read.columns_.push_back(*std::move(parsed));
  }
  read.Widen();
  return read;
}

void ExpressionRead::Widen() {
  widened_ = *given_;
  for (const ParsedColumn& column : columns_) {
    if (column.is_row_key) continue;
    if (TakeFamily(column.functions)) {
      widened_->families.push_back(column.family);
      continue;
    }
    widened_->columns.push_back({column.family, column.qualifier});
    for (const Function& function : column.functions) {
      for (const ConcatPart& part : function.parts) {
        if (part.kind != ConcatPart::Kind::kColumn) continue;
        widened_->columns.push_back({part.family, part.qualifier});
      }
    }
  }
  // Of the row key alone: no column would mean all of them.
  if (widened_->columns.empty() && widened_->families.empty()) widened_->columns.emplace_back();
}

Result<std::shared_ptr<const BoundExpressions>> BindExpressions(
    const ExpressionRead& read, const QueryOptions& query,
    std::shared_ptr<const format::TableRecord> table, const format::FunctionRegistry& functions) {
  auto bound = std::make_shared<BoundExpressions>();
  bound->texts = query.expressions;
  for (size_t i = 0; i < read.columns().size(); ++i) {
    auto column = BindColumn(read.columns()[i], *table, &functions);
    if (!column.has_value() && column.error().code() == StatusCode::kInvalidArgument) {
      return RefuseExpression(query.expressions[i], column.error().message());
    }
    if (!column.has_value()) return column.error();
    bound->columns.push_back(*std::move(column));
  }
  for (const std::string& family : read.given().families) bound->shown.push_back({family, {}});
  for (const ColumnName& column : read.given().columns) {
    const std::string& family =
        column.family.empty() ? table->first_family().options.name : column.family;
    bound->shown.push_back({family, column.qualifier});
  }
  bound->table = std::move(table);
  return std::shared_ptr<const BoundExpressions>(std::move(bound));
}

std::unique_ptr<RowSource> ComputeRows(std::unique_ptr<RowSource> rows,
                                       std::shared_ptr<const BoundExpressions> expressions) {
  return std::make_unique<ComputedRows>(std::move(rows), std::move(expressions));
}

}  // namespace tandem::engine
