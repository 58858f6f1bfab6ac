// One query for each way in which an index answers.
#include "tools/tandem/demo_queries.h"

namespace tandem::tools {
namespace {

constexpr DemoQuery kQueries[] = {
    {"one value", "Section = 'games'"},
    {"a range of numbers", "\"Installed-Size\" BETWEEN 100000 AND 200000"},
    {"several values", "Section IN ('editors', 'shells', 'kernel')"},
    {"a prefix", "Maintainer PREFIX 'Debian Games Team'"},
    {"absent", "\"Installed-Size\" IS NULL"},
    {"the five largest, in the index's order", "", "installed-size", true, 5},
};

}  // namespace

TableOptions DemoTableOptions() {
  TableOptions table;
  table.name = kDemoTable;
  table.families.push_back({.name = "d"});
  table.indexes = {
      {"section", {{"d", "Section", ColumnType::kBytes, false}}},
      {"maintainer", {{"d", "Maintainer", ColumnType::kBytes, false}}},
      {"installed-size", {{"d", "Installed-Size", ColumnType::kInt64, false}}},
  };
  return table;
}

QueryOptions DemoQuery::options() const {
  QueryOptions query;
  query.order_by = order_by;
  query.descending = descending;
  query.limit = limit;
  return query;
}

std::span<const DemoQuery> DemoQueries() { return kQueries; }

}  // namespace tandem::tools
