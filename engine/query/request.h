// The arguments of a query, for all that plan or run one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/source/lead_rows.h"
#include "engine/source/position.h"
#include "engine/source/read_meter.h"
#include "engine/source/read_resources.h"
#include "engine/source/read_trace.h"
#include "tandem/options.h"
#include "tandem/predicate.h"

namespace tandem::engine {

/// What a query found in a global index (engine/query/global_access.h), or why it asks none.
struct GlobalRows {
  std::string index;              ///< That was asked; empty: none.
  format::IndexId id;             ///< Its id.
  std::vector<std::string> rows;  ///< Row keys of its entries in the ranges: all matches are here.
  struct Unused {
    std::string index, why;
  };
  std::vector<Unused> unused;
};

class ExpressionRead;
struct PreparedLookup;

/// Lifetime: that of the call it is passed to.
struct QueryRequest {
  const ReadResources& resources;
  const ReadOptions& options;
  const Predicate& predicate;
  const QueryOptions& query;
  const ParameterValues* values = nullptr;  ///< Null: none.
  const ReadFrom* from = nullptr;           ///< Of the query's token; null: from the first row.
  /// Of the query's ranges, after its token; null: it has none, or they are not known yet.
  const std::vector<LeadRows>* leads = nullptr;
  std::optional<ReadLimits> limits = {};  ///< Those of the options, if they have begun.
  bool no_scan = false;                   ///< Of the database's options; `query` has its own.
  std::shared_ptr<const GlobalRows> global = nullptr;  ///< Null: the table has no global index.
  std::shared_ptr<ReadTrace> trace = nullptr;          ///< Notes its reads; null: nothing does.
  const ExpressionRead* expressions = nullptr;  ///< Of the query; null: rows are returned as read.
  /// Where a prepared query keeps what few rows are found by (engine/query/few_rows.h); null: it
  /// was not prepared.
  std::shared_ptr<const PreparedLookup>* lookup = nullptr;
  std::string_view asked = {};  ///< AskedOf the predicate (engine/query/token.h); may be empty.

  ReadLimits Limits() const {
    return limits.has_value() ? *limits : ReadLimits::Of(options, resources.clock);
  }
};

}  // namespace tandem::engine
