// The conditions are made of the key's parts, without a predicate in between.
#include "engine/query/holders.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "engine/query/few_rows.h"
#include "engine/query/query.h"
#include "engine/read/row_source.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

// The condition on the column whose part `*key` begins with. Advances `*key`.
Result<BoundNode> ConditionOn(const format::IndexColumnRecord& column, std::string_view* key) {
  const std::string_view rest = *key;
  ASSIGN_OR_RETURN(std::optional<std::string> value, format::DecodeIndexKey(column, key));
  BoundNode node{.kind = BoundNode::Kind::kLeaf, .leaf = {}, .children = {}};
  node.leaf.column = column;
  node.leaf.column.descending = false;
  ValueBound bound;
  if (ComparesAsBytes(column.type)) {
    bound.key = std::move(value).value_or(std::string());
  } else {
    bound.key = rest.substr(0, rest.size() - key->size());
    if (column.descending) format::InvertIndexKey(&bound.key);
  }
  node.leaf.values = ValueSet({ValueInterval{.low = bound, .high = bound}});
  return node;
}

Result<BoundPredicate> ConditionsOn(const format::IndexRecord& index, std::string_view key) {
  BoundNode all;
  for (const format::IndexColumnRecord& column : index.columns) {
    ASSIGN_OR_RETURN(BoundNode condition, ConditionOn(column, &key));
    all.children.push_back(std::move(condition));
  }
  if (all.children.size() > 1) return BoundPredicate::Of(std::move(all));
  BoundNode only = std::move(all.children.front());
  return BoundPredicate::Of(std::move(only));
}

}  // namespace

Result<std::optional<std::string>> FindHolder(const ReadResources& resources, const TableView& view,
                                              const format::IndexRecord& index,
                                              std::string_view key,
                                              const std::function<bool(std::string_view)>& counts) {
  ASSIGN_OR_RETURN(BoundPredicate predicate, ConditionsOn(index, key));
  const ReadOptions options;
  const QueryOptions query;
  const Predicate unused;
  const QueryRequest request{resources, options, unused, query};
  TableView pinned = view;
  std::unique_ptr<RowSource> rows = OpenFewRows(request, &predicate, &pinned);
  if (rows == nullptr) {
    ASSIGN_OR_RETURN(rows, OpenPlanned(request, std::move(predicate), std::move(pinned)));
  }
  RowReader reader(std::move(rows));
  RowView row;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(&row));
    if (!more) return std::optional<std::string>();
    if (counts(row.key())) return std::optional<std::string>(row.key());
  }
}

}  // namespace tandem::engine
