// Binding has combined the conditions of a group on one column, so each leaf of an AND is of a
// column of its own.
#include "engine/advice/proposals.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "format/functions.h"
#include "format/registry/registered.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;
using Way = std::vector<IndexOptions>;

// Columns of an index that has those that are asked for.
constexpr size_t kCoveringColumnsMax = 8;
// A query with more ways is rare, and each costs time for every row.
constexpr size_t kWaysMax = 16;

bool HasSingleValues(const BoundLeaf& leaf) {
  return std::ranges::all_of(leaf.values.intervals(),
                             [](const ValueInterval& interval) { return interval.is_single(); });
}

bool IsServable(const BoundLeaf& leaf) {
  return !leaf.is_row_key && leaf.key_fields == nullptr && leaf.has_ranges() && !leaf.accepts_null;
}

// False: the table cannot have the index.
Result<bool> AddIfPossible(const SchemaChanges& changes, const IndexOptions& index,
                           format::TableRecord* table) {
  const Status status = changes.add_index(index, table);
  if (status.ok()) return true;
  const bool is_refused =
      status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kUnsupported;
  if (is_refused) return false;
  return status;
}

// Whether a plan may take a condition by the index beside another one.
bool MayIntersect(const format::IndexRecord& index) {
  return index.state == format::IndexState::kReady && index.columns.size() == 1 &&
         !index.needs_order() && !format::IsUnusable(index) &&
         !format::IsMultiValued(index.columns[0]);
}

class Proposer {
 public:
  Proposer(const format::TableRecord& table, std::span<const QueryToServe> queries)
      : table_(table), queries_(queries), ways_(queries.size()) {}

  void Run() {
    for (const QueryToServe& query : queries_) CountColumns(query.predicate.root());
    for (size_t i = 0; i < queries_.size(); ++i) {
      if (!queries_[i].fixed.empty()) continue;
      for (Way& way : WaysOf(queries_[i].predicate.root())) Add(i, std::move(way));
    }
  }

  /// The same for the rows of a condition that all queries with one on its column have.
  Status AddPartial(const SchemaChanges& changes);
  Status AddCovering();
  Result<Proposals> Take(const SchemaChanges& changes);

 private:
  IndexColumn ColumnOf(const BoundLeaf& leaf) const {
    const format::IndexColumnRecord& column = leaf.column;
    const format::FamilyRecord* const family =
        column.is_of_row_key() ? nullptr : table_.FindFamily(column.family);
    return {.family = family == nullptr ? std::string() : family->options.name,
            .qualifier = column.qualifier,
            .type = column.type,
            .functions = format::AsDeclared(column.functions),
            .is_row_key = column.is_of_row_key()};
  }

  static IndexOptions IndexOver(std::vector<IndexColumn> columns) {
    IndexOptions index;
    index.columns = std::move(columns);
    return index;
  }

  // Columns that many queries have a single value of come first, so that these share an index.
  void CountColumns(const BoundNode& node) {
    if (node.kind == Kind::kLeaf) {
      if (IsServable(node.leaf)) ++used_[ColumnOf(node.leaf).ToString()];
      return;
    }
    for (const BoundNode& child : node.children) CountColumns(child);
  }

  std::vector<Way> WaysOf(const BoundNode& node) const {
    switch (node.kind) {
      case Kind::kLeaf:
        return WaysOfLeaf(node.leaf);
      case Kind::kOr:
        return WaysOfOr(node);
      default:
        return WaysOfAnd(node);
    }
  }

  std::vector<Way> WaysOfLeaf(const BoundLeaf& leaf) const {
    if (IsServable(leaf)) return {{IndexOver({ColumnOf(leaf)})}};
    const bool looks_for_parts = !leaf.is_row_key && leaf.key_fields == nullptr &&
                                 leaf.test.has_value() && leaf.column.functions.empty() &&
                                 !PartsNeededBy(*leaf.test).empty();
    if (!looks_for_parts) return {};
    IndexColumn trigrams = ColumnOf(leaf);
    trigrams.type = ColumnType::kBytes;
    trigrams.functions.push_back(Function::Trigrams());
    return {{IndexOver({std::move(trigrams)})}};
  }

  // Each side needs an index, the last of its ways, which has most of its columns.
  std::vector<Way> WaysOfOr(const BoundNode& node) const {
    Way together;
    for (const BoundNode& child : node.children) {
      std::vector<Way> ways = WaysOf(child);
      if (ways.empty()) return {};
      std::ranges::move(ways.back(), std::back_inserter(together));
    }
    if (together.empty()) return {};
    return {std::move(together)};
  }

  // Those with single values, and those with ranges, that an index over several may have.
  void Sort(const BoundNode& node, std::vector<const BoundLeaf*>* single,
            std::vector<const BoundLeaf*>* ranges) const {
    for (const BoundNode& child : node.children) {
      if (child.kind != Kind::kLeaf || !IsServable(child.leaf)) continue;
      if (format::IsMultiValued(child.leaf.column)) continue;
      (HasSingleValues(child.leaf) ? single : ranges)->push_back(&child.leaf);
    }
    std::ranges::stable_sort(*single, [this](const BoundLeaf* a, const BoundLeaf* b) {
      const std::string first = ColumnOf(*a).ToString(), second = ColumnOf(*b).ToString();
      const size_t uses = used_.at(first), others = used_.at(second);
      return uses != others ? uses > others : first < second;
    });
  }

  // `left_out` is a condition that others answer; nullptr: none.
  std::vector<IndexColumn> ColumnsOf(const std::vector<const BoundLeaf*>& leaves,
                                     const BoundLeaf* left_out = nullptr) const {
    std::vector<IndexColumn> columns;
    for (const BoundLeaf* const leaf : leaves) {
      if (leaf != left_out) columns.push_back(ColumnOf(*leaf));
    }
    return columns;
  }

  std::vector<Way> WaysOfAnd(const BoundNode& node) const {
    std::vector<Way> ways;
    for (const BoundNode& child : node.children) {
      for (Way& way : WaysOf(child)) ways.push_back(std::move(way));
    }
    std::vector<const BoundLeaf*> single, ranges;
    Sort(node, &single, &ranges);
    if (single.size() > 1) ways.push_back({IndexOver(ColumnsOf(single))});
    for (const BoundLeaf* const range : ranges) {
      if (single.empty()) break;
      std::vector<IndexColumn> columns = ColumnsOf(single);
      columns.push_back(ColumnOf(*range));
      ways.push_back({IndexOver(std::move(columns))});
    }
    return ways;
  }

  void Add(size_t query, Way way) {
    std::vector<std::string> texts;
    for (IndexOptions& index : way) {
      const std::string text = index.ToString();
      if (Exists(index)) return;
      if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
      Candidate& candidate = candidates_[text];
      if (candidate.runs == 0) candidate.place = candidates_.size();
      candidate.runs += queries_[query].query->count;
      candidate.options = std::move(index);
    }
    std::vector<std::vector<std::string>>& ways = ways_[query];
    if (ways.size() < kWaysMax && std::ranges::find(ways, texts) == ways.end()) {
      ways.push_back(std::move(texts));
    }
  }

  // Whether an index of the table has the columns as its first ones, and all of its rows.
  bool Exists(const IndexOptions& wanted) const {
    if (!wanted.include.empty() || !wanted.where.empty()) return false;
    return std::ranges::any_of(table_.indexes, [&](const format::IndexRecord& index) {
      if (index.where.has_value() || index.columns.size() < wanted.columns.size()) return false;
      if (index.state == format::IndexState::kDropping) return false;
      for (size_t i = 0; i < wanted.columns.size(); ++i) {
        const IndexColumn& column = wanted.columns[i];
        const format::IndexColumnRecord& has = index.columns[i];
        const format::FamilyRecord* const family =
            has.is_of_row_key() ? nullptr : table_.FindFamily(has.family);
        const bool is_same =
            column.is_row_key == has.is_of_row_key() && column.qualifier == has.qualifier &&
            column.family == (family == nullptr ? std::string() : family->options.name) &&
            TextOf(column.functions, {}) == TextOf(format::AsDeclared(has.functions), {}) &&
            column.type == has.type;
        if (!is_same) return false;
      }
      return true;
    });
  }

  struct Candidate {
    size_t place = 0;
    uint64_t runs = 0;
    IndexOptions options;
  };

  const format::TableRecord& table_;
  const std::span<const QueryToServe> queries_;
  std::map<std::string, size_t> used_;
  std::map<std::string, Candidate> candidates_;  // By their text.
  std::vector<std::vector<std::vector<std::string>>> ways_;
};

// The conditions of a predicate that every match satisfies.
std::span<const Predicate> ConditionsOf(const Predicate& predicate) {
  if (predicate.kind() == Predicate::Kind::kAnd) return predicate.children();
  return {};
}

Status Proposer::AddPartial(const SchemaChanges& changes) {
  // By the column, the conditions on it in all queries; one that is no equality makes it variable.
  std::map<std::string, std::map<std::string, std::vector<size_t>>> found;
  for (size_t i = 0; i < queries_.size(); ++i) {
    if (!queries_[i].fixed.empty()) continue;
    for (const Predicate& condition : ConditionsOf(queries_[i].query->predicate)) {
      const bool is_leaf = condition.kind() >= Predicate::Kind::kEqual &&
                           condition.kind() <= Predicate::Kind::kIsNotNull;
      if (!is_leaf || condition.is_row_key()) continue;
      const bool is_equality =
          condition.kind() == Predicate::Kind::kEqual && condition.functions().empty();
      found[condition.family() + ":" + condition.qualifier()]
           [is_equality ? condition.ToString() : std::string()]
               .push_back(i);
    }
  }
  for (const auto& [column, conditions] : found) {
    const auto& [text, queries] = *conditions.begin();
    if (conditions.size() != 1 || text.empty() || queries.size() < 2) continue;
    ASSIGN_OR_RETURN(const Predicate where, Predicate::Parse(text));
    ASSIGN_OR_RETURN(const BoundPredicate bound, BoundPredicate::Bind(where, table_));
    if (bound.root().kind != Kind::kLeaf) continue;
    for (const size_t query : queries) {
      const BoundNode& root = queries_[query].predicate.root();
      std::vector<const BoundLeaf*> single, ranges;
      Sort(root, &single, &ranges);
      const auto constant = std::ranges::find_if(single, [&](const BoundLeaf* leaf) {
        return format::HasSameValues(leaf->column, bound.root().leaf.column);
      });
      if (constant == single.end()) continue;
      std::vector<IndexColumn> columns = ColumnsOf(single, *constant);
      if (!ranges.empty()) columns.push_back(ColumnOf(*ranges.front()));
      if (columns.empty()) continue;
      IndexOptions index = IndexOver(std::move(columns));
      index.where = text;
      format::TableRecord tried = table_;
      RETURN_IF_ERROR(changes.remove_indexes(&tried));
      IndexOptions named = index;
      named.name = "tried";
      ASSIGN_OR_RETURN(const bool is_possible, AddIfPossible(changes, named, &tried));
      if (is_possible) Add(query, {std::move(index)});
    }
  }
  return {};
}

// With the columns of the query besides, so that no row is read.
Status Proposer::AddCovering() {
  for (size_t i = 0; i < queries_.size(); ++i) {
    const AdvisedQuery& query = *queries_[i].query;
    const bool names_all = !query.columns.empty() && query.families.empty();
    if (query.is_count || !names_all || !queries_[i].fixed.empty()) continue;
    if (!queries_[i].predicate.WholeFamilies().empty()) continue;
    const std::vector<std::vector<std::string>> ways = ways_[i];
    for (const std::vector<std::string>& way : ways) {
      if (way.size() != 1) continue;
      IndexOptions index = candidates_.at(way[0]).options;
      const auto add = [&](const std::string& family, const std::string& qualifier) {
        const std::string& named = family.empty() ? table_.first_family().options.name : family;
        const auto is_it = [&](const auto& column) {
          return column.family == named && column.qualifier == qualifier;
        };
        const bool is_indexed = std::ranges::any_of(index.columns, [&](const IndexColumn& column) {
          return is_it(column) && column.functions.empty();
        });
        if (is_indexed || std::ranges::any_of(index.include, is_it)) return;
        index.include.push_back({.family = named, .qualifier = qualifier});
      };
      for (const ColumnName& column : query.columns) add(column.family, column.qualifier);
      const ColumnSet named_columns = queries_[i].predicate.NamedColumns();
      for (const ColumnSet::Family& family : named_columns.families()) {
        for (const std::string& qualifier : family.qualifiers) {
          add(table_.FindFamily(family.id)->options.name, qualifier);
        }
      }
      const bool is_usual = index.where.empty() &&
                            index.columns.size() + index.include.size() <= kCoveringColumnsMax &&
                            std::ranges::none_of(index.columns, [](const IndexColumn& column) {
                              return column.is_row_key || !column.functions.empty();
                            });
      if (is_usual && !index.include.empty()) Add(i, {std::move(index)});
    }
  }
  return {};
}

Result<Proposals> Proposer::Take(const SchemaChanges& changes) {
  Proposals proposals{.table = table_, .indexes = {}, .together = {}};
  RETURN_IF_ERROR(changes.remove_indexes(&proposals.table));
  std::vector<std::pair<const std::string*, Candidate*>> ranked;
  for (auto& [text, candidate] : candidates_) ranked.emplace_back(&text, &candidate);
  std::ranges::sort(ranked, [](const auto& a, const auto& b) {
    const bool differs = a.second->runs != b.second->runs;
    return differs ? a.second->runs > b.second->runs : a.second->place < b.second->place;
  });
  std::map<std::string, size_t> places;
  std::set<std::string> taken;
  for (const auto& [text, candidate] : ranked) {
    if (proposals.indexes.size() == kAdvisedCandidatesMax) {
      ++proposals.left_out;
      continue;
    }
    IndexOptions index = std::move(candidate->options);
    index.name = FreeIndexName(index, table_, taken);
    // One that the table cannot have, over a value that is too long or columns that have several.
    ASSIGN_OR_RETURN(const bool is_possible, AddIfPossible(changes, index, &proposals.table));
    if (!is_possible) continue;
    taken.insert(index.name);
    places.emplace(*text, proposals.indexes.size());
    proposals.indexes.push_back(std::move(index));
  }
  std::ranges::copy_if(table_.indexes, std::back_inserter(proposals.table.indexes), MayIntersect);
  for (const auto& ways : ways_) {
    std::vector<std::vector<size_t>>& of_query = proposals.together.emplace_back();
    for (const std::vector<std::string>& way : ways) {
      std::vector<size_t> indexes;
      for (const std::string& text : way) {
        const auto place = places.find(text);
        if (place != places.end()) indexes.push_back(place->second);
      }
      if (indexes.size() > 1 && indexes.size() == way.size())
        of_query.push_back(std::move(indexes));
    }
  }
  return proposals;
}

}  // namespace

std::string FreeIndexName(const IndexOptions& index, const format::TableRecord& table,
                          const std::set<std::string>& taken) {
  std::string name = "by";
  for (const IndexColumn& column : index.columns) {
    name += '_';
    const std::string text = column.is_row_key || column.qualifier.empty()
                                 ? TextOf(column.functions, "row")
                                 : TextOf(column.functions, column.qualifier);
    for (const char c : text) {
      const bool is_plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (is_plain && name.size() < 48) name += c;
    }
  }
  std::string free = name;
  for (int number = 2; table.HasIndexNamed(free) || taken.contains(free); ++number) {
    free = name + "_" + std::to_string(number);
  }
  return free;
}

Result<Proposals> Propose(const format::TableRecord& table, std::span<const QueryToServe> queries,
                          const SchemaChanges& changes) {
  Proposer proposer(table, queries);
  proposer.Run();
  RETURN_IF_ERROR(proposer.AddPartial(changes));
  RETURN_IF_ERROR(proposer.AddCovering());
  return proposer.Take(changes);
}

}  // namespace tandem::engine
