// What the queries of a program say about the families of a table.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tandem/advice.h"
#include "tandem/predicate.h"
#include "tandem/schema.h"
#include "tools/row_keys/key_lint.h"

namespace tandem::row_keys {

/// Fewer queries of a family say nothing.
inline constexpr uint64_t kLintQueriesMin = 20;

/// Threads: one at a time. Lifetime: the table outlives it.
class ReadLint {
 public:
  explicit ReadLint(const TableOptions& table) : table_(table) {}
  /// All runs of a query. One that counts rows reads those of its conditions at most, and is passed
  /// over.
  void Add(const AdvisedQuery& query);
  std::vector<LintFinding> Findings() const;

 private:
  std::set<std::string> FamiliesOf(const AdvisedQuery& query) const;
  void AddConditions(const Predicate& predicate, std::set<std::string>* families) const;
  void AddOrder(const std::string& order_by, std::set<std::string>* families) const;
  const std::string& NameOf(const std::string& family) const;

  const TableOptions& table_;
  std::map<std::string, uint64_t> reads_;                             // By family.
  std::map<std::pair<std::string, std::string>, uint64_t> together_;  // That read both.
};

}  // namespace tandem::row_keys
