// A query reads the families that it returns, those of its conditions and those of its order.
#include "tools/row_keys/read_lint.h"

#include <algorithm>
#include <iterator>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {
namespace {

using tools::EscapeBytes;
using tools::Format;
using tools::FormatCount;

// Of the queries that read one of two families, so many read both.
constexpr uint64_t kTogetherPercent = 95;

}  // namespace

const std::string& ReadLint::NameOf(const std::string& family) const {
  return family.empty() ? table_.families.front().name : family;
}

void ReadLint::AddConditions(const Predicate& predicate, std::set<std::string>* families) const {
  for (const Predicate& child : predicate.children()) AddConditions(child, families);
  const bool is_of_column = !predicate.qualifier().empty() || !predicate.family().empty();
  if (is_of_column && !predicate.is_row_key()) families->insert(NameOf(predicate.family()));
}

// An order names an index, or columns as a predicate does.
void ReadLint::AddOrder(const std::string& order_by, std::set<std::string>* families) const {
  if (order_by.empty()) return;
  const auto index = std::ranges::find(table_.indexes, order_by, &IndexOptions::name);
  std::vector<IndexColumn> columns;
  if (index != table_.indexes.end()) {
    columns = index->columns;
  } else if (auto parsed = IndexColumn::ParseList(order_by); parsed.has_value()) {
    columns = *std::move(parsed);
  }
  for (const IndexColumn& column : columns) {
    if (!column.is_row_key) families->insert(NameOf(column.family));
  }
}

std::set<std::string> ReadLint::FamiliesOf(const AdvisedQuery& query) const {
  std::set<std::string> families;
  for (const ColumnName& column : query.columns) families.insert(NameOf(column.family));
  for (const std::string& family : query.families) families.insert(NameOf(family));
  if (families.empty()) {
    for (const FamilyOptions& family : table_.families) families.insert(family.name);
    return families;
  }
  AddConditions(query.predicate, &families);
  AddOrder(query.options.order_by, &families);
  return families;
}

void ReadLint::Add(const AdvisedQuery& query) {
  if (query.is_count) return;
  const std::set<std::string> families = FamiliesOf(query);
  for (auto family = families.begin(); family != families.end(); ++family) {
    reads_[*family] += query.count;
    for (auto other = std::next(family); other != families.end(); ++other) {
      together_[{*family, *other}] += query.count;
    }
  }
}

std::vector<LintFinding> ReadLint::Findings() const {
  std::vector<LintFinding> findings;
  for (const auto& [names, both] : together_) {
    const uint64_t either = reads_.at(names.first) + reads_.at(names.second) - both;
    if (both < kLintQueriesMin || both * 100 < either * kTogetherPercent) continue;
    findings.push_back(
        {LintFinding::Level::kHint, "read-together",
         "families " + EscapeBytes(names.first) + " and " + EscapeBytes(names.second),
         Format("{} of {} queries that read one of them read both: each looks up two blocks where "
                "one family would have one",
                FormatCount(both), FormatCount(either))});
  }
  return findings;
}

}  // namespace tandem::row_keys
