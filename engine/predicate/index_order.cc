// See index_order.h.
#include "engine/predicate/index_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/bind_column.h"
#include "index/put_key.h"

namespace tandem::engine {
namespace {

// The columns that a text names, with their directions.
Result<std::vector<format::IndexColumnRecord>> ColumnsNamed(
    const std::string& text, const format::TableRecord& table,
    const format::FunctionRegistry* functions) {
  ASSIGN_OR_RETURN(std::vector<Token> list, Tokenize(text));
  TokenReader tokens(std::move(list));
  std::vector<format::IndexColumnRecord> columns;
  do {
    ASSIGN_OR_RETURN(const ParsedColumn parsed, ParseColumn("a column", &tokens));
    ASSIGN_OR_RETURN(columns.emplace_back(), BindColumn(parsed, table, functions));
    columns.back().descending = tokens.TakeKeyword("DESC");
    if (!columns.back().descending) tokens.TakeKeyword("ASC");
  } while (tokens.TakeSymbol(","));
  if (tokens.Peek().kind != Token::Kind::kEnd) return SyntaxError(tokens.Peek(), "',' or the end");
  return columns;
}

// Whether rows in the order of the index, or against it, are in that of the columns.
bool HasOrderOf(const format::IndexRecord& index,
                const std::vector<format::IndexColumnRecord>& columns) {
  if (index.columns.size() < columns.size()) return false;
  const bool is_turned = index.columns.front().descending != columns.front().descending;
  return std::equal(columns.begin(), columns.end(), index.columns.begin(),
                    [is_turned](const auto& asked, const auto& has) {
                      return format::HasSameValues(asked, has) &&
                             (has.descending != asked.descending) == is_turned;
                    });
}

// Whether all rows with a value of the first column have their place in it.
bool OrdersAllRows(const format::IndexRecord& index) {
  return index.state != format::IndexState::kDropping && !index.where.has_value() &&
         !format::IsUnusable(index) && !format::IsMultiValued(index.columns.front());
}

}  // namespace

Result<const format::IndexRecord*> IndexNamed(const format::TableRecord& table,
                                              const std::string& name) {
  const format::IndexRecord* index = table.FindIndex(name);
  const format::GlobalIndexRecord* const global = table.FindGlobal(name);
  if (global != nullptr) return &global->index;
  if (index != nullptr && index->state != format::IndexState::kDropping) return index;
  return Status::NotFound("table '" + table.name + "' has no index '" + name + "'");
}

Result<IndexOrder> OrderAskedFor(const format::TableRecord& table,
                                 const format::FunctionRegistry* functions,
                                 const QueryOptions& options) {
  const std::string& asked = options.order_by;
  const Result<const format::IndexRecord*> named = IndexNamed(table, asked);
  if (named.has_value()) {
    const format::IndexRecord* const index = *named;
    if (format::IsUnusable(*index)) {
      return Status::InvalidArgument("index '" + asked +
                                     "' gives no order: " + format::WhyUnusable(*index));
    }
    if (format::IsMultiValued(index->columns[0])) {
      return Status::InvalidArgument("index '" + asked +
                                     "' has several entries of a row: rows have no order by it");
    }
    return IndexOrder{.index = index,
                      .is_global = table.FindGlobal(asked) != nullptr,
                      .falls = options.descending};
  }
  const auto columns = ColumnsNamed(asked, table, functions);
  if (!columns.has_value()) {
    return Status::NotFound(std::string(named.error().message()) +
                            "; as columns: " + std::string(columns.error().message()));
  }
  IndexOrder order;
  for (const format::IndexRecord& index : table.indexes) {
    if (!OrdersAllRows(index) || !HasOrderOf(index, *columns)) continue;
    const bool has_fewer =
        order.index == nullptr || index.columns.size() < order.index->columns.size();
    if (has_fewer) order.index = &index;
  }
  if (order.index == nullptr) {
    return Status::NotFound(std::string(named.error().message()) +
                            ", and no local index without WHERE that begins with such columns");
  }
  order.falls = options.descending != columns->front().descending;
  return order;
}

}  // namespace tandem::engine
