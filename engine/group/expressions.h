// What functions make of the rows of a query (QueryOptions::expressions).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/predicate/bind_column.h"
#include "engine/read/row_source.h"
#include "format/schema.h"
#include "tandem/options.h"

namespace tandem::engine {

/// The options of a read, and with expressions what they need of a row beside it. Lifetime: the
/// options outlive it.
class ExpressionRead {
 public:
  /// Errors: kInvalidArgument (too many; a text that names no column, or is given twice; together
  /// with pieces).
  static Result<ExpressionRead> Of(const ReadOptions& options, const QueryOptions& query);

  /// The options that rows are read with. Lifetime: until this is moved.
  const ReadOptions& options() const { return widened_.has_value() ? *widened_ : *given_; }
  /// What is returned of the rows.
  const ReadOptions& given() const { return *given_; }
  const std::vector<ParsedColumn>& columns() const { return columns_; }

 private:
  explicit ExpressionRead(const ReadOptions& options) : given_(&options) {}
  void Widen();

  const ReadOptions* given_;
  std::vector<ParsedColumn> columns_;  // One for each expression.
  std::optional<ReadOptions> widened_;
};

/// The expressions of a query, bound to its table, and which cells come before theirs. Threads:
/// any.
struct BoundExpressions {
  struct Shown {
    std::string family;
    std::optional<std::string> qualifier;  ///< nullopt: the whole family.
  };
  std::vector<std::string> texts;
  std::vector<format::IndexColumnRecord> columns;  ///< One for each text.
  std::vector<Shown> shown;
  std::shared_ptr<const format::TableRecord> table;
};

/// Errors: see BindColumn; also kNotFound (a family of the options).
Result<std::shared_ptr<const BoundExpressions>> BindExpressions(
    const ExpressionRead& read, const QueryOptions& query,
    std::shared_ptr<const format::TableRecord> table, const format::FunctionRegistry& functions);
/// The rows with a cell for each value of an expression. Requires: they come whole.
std::unique_ptr<RowSource> ComputeRows(std::unique_ptr<RowSource> rows,
                                       std::shared_ptr<const BoundExpressions> expressions);

}  // namespace tandem::engine
