// The facts of a row, its entries in each proposed index, are found once; each way looks at those
// of its indexes.
#include "engine/advice/measured_ways.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/composite_ranges.h"
#include "engine/query/plan.h"
#include "engine/read/covered_rows.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

// Of ways of one query through two indexes: each costs time for every row.
constexpr size_t kPairsMax = 16;

// `ranges` ascend and are disjoint.
bool Contains(const KeyRanges& ranges, std::string_view key) {
  const auto after =
      std::ranges::upper_bound(ranges, key, std::less<std::string_view>(),
                               [](const auto& range) -> std::string_view { return range.low; });
  return after != ranges.begin() && std::prev(after)->Contains(key);
}

ColumnSet ColumnsAskedFor(const format::TableRecord& table, const AdvisedQuery& query) {
  ColumnSet columns;
  if (query.is_count) return columns;
  if (query.columns.empty() && query.families.empty()) return ColumnSet::AllOf(table);
  for (const ColumnName& column : query.columns) {
    const format::FamilyRecord* const family =
        column.family.empty() ? &table.first_family() : table.FindFamily(column.family);
    if (family != nullptr) columns.Add(family->id, column.qualifier);
  }
  for (const std::string& name : query.families) {
    const format::FamilyRecord* const family = table.FindFamily(name);
    if (family != nullptr) columns.AddFamily(family->id);
  }
  return columns;
}

class WayFinder {
 public:
  WayFinder(const Proposals& proposals, const base::Cancellation& cancellation)
      : table_(proposals.table), cancellation_(cancellation) {}

  /// nullopt: the indexes do not lead to all matches, or not alone.
  Result<std::optional<MeasuredWay>> Find(const QueryToServe& query, size_t place,
                                          const std::vector<size_t>& indexes) const {
    MeasuredWay way{.query = place, .indexes = indexes, .access = {}, .families = {}};
    way.rows = RowsUnder(query.predicate);
    const ColumnSet columns = ColumnsAskedFor(table_, *query.query);
    const bool rows_decided = way.rows.size() <= 1;
    AccessPathFinder::Indexes only;
    for (const size_t index : indexes) only.push_back(&table_.indexes[index]);
    const BoundNode& root = query.predicate.root();
    const AccessPathFinder finder(table_, no_clusters_,
                                  {.root = root, .returned = columns, .only = only}, cancellation_);
    ASSIGN_OR_RETURN(std::optional<AccessPath> access,
                     FindAccess(finder, root, rows_decided, &way));
    if (!access.has_value() || access->keys != nullptr || access->paths.empty()) {
      return std::optional<MeasuredWay>();
    }
    way.access = *std::move(access);
    if (!UsesAll(way)) return std::optional<MeasuredWay>();
    way.is_simple = way.access.paths.size() == 1 && !way.access.is_intersection() &&
                    !way.access.paths[0].narrow.has_value();
    if (indexes.size() == 1) {
      const format::IndexRecord& index = *only[0];
      if (auto found = FindCompositeRanges(index, root)) way.whole = std::move(found->whole);
      // Rows that end early are taken from records only if these are few (engine/query/query.cc).
      const QueryOptions& options = query.query->options;
      const bool is_streamed = options.limit > 0 && options.order_by.empty();
      way.is_covered = !query.query->is_count && !index.included.empty() && !is_streamed &&
                       HasRecordsOf(index, columns) &&
                       (way.is_exact || HasRecordsOf(index, query.predicate.Columns()));
    }
    SetFamilies(query, &way);
    return std::optional(std::move(way));
  }

  /// Both at a time, the second one's rows among those of the first; nullopt: a plan does not.
  std::optional<MeasuredWay> Pair(const QueryToServe& query, const MeasuredWay& first,
                                  const MeasuredWay& second) const {
    const bool is_other = std::ranges::none_of(second.conditions, [&](size_t condition) {
      return std::ranges::find(first.conditions, condition) != first.conditions.end();
    });
    if (!is_other || !first.is_simple || !second.is_simple) return std::nullopt;
    MeasuredWay way = first;
    way.indexes.push_back(second.indexes[0]);
    way.conditions.insert(way.conditions.end(), second.conditions.begin(), second.conditions.end());
    const bool covers_all =
        way.conditions.size() ==
        AccessPathFinder::CountConditions(query.predicate.root(), way.rows.size() <= 1);
    way.is_exact = covers_all && first.access.exact && second.access.exact;
    way.access.intersected.push_back(second.access.paths);
    way.intersected = 0;
    way.is_covered = false;
    way.whole.clear();
    SetFamilies(query, &way);
    return way;
  }

 private:
  void SetFamilies(const QueryToServe& query, MeasuredWay* way) const {
    ColumnSet columns = ColumnsAskedFor(table_, *query.query);
    if (!way->is_exact) columns.Add(query.predicate.Columns());
    way->families.clear();
    for (const ColumnSet::Family& family : columns.families()) way->families.push_back(family.id);
  }

  // Of the ways of an AND the one with most conditions: a planner that counts has fewest entries by
  // it.
  static Result<std::optional<AccessPath>> FindAccess(const AccessPathFinder& finder,
                                                      const BoundNode& root, bool rows_decided,
                                                      MeasuredWay* way) {
    if (root.kind != Kind::kAnd) {
      ASSIGN_OR_RETURN(std::optional<AccessPath> found, finder.Find(root, rows_decided));
      way->is_exact = found.has_value() && found->exact;
      return found;
    }
    ASSIGN_OR_RETURN(std::vector<AndWay> ways, finder.FindWays(root, rows_decided));
    if (ways.empty()) return std::optional<AccessPath>();
    AndWay& most = *std::ranges::max_element(
        ways, {}, [](const AndWay& each) { return each.conditions.size(); });
    way->is_exact = most.access.exact &&
                    most.conditions.size() == AccessPathFinder::CountConditions(root, rows_decided);
    way->conditions = most.conditions;
    return std::optional(std::move(most.access));
  }

  // But no skip scan, whose cost depends on the values of the first column.
  bool UsesAll(const MeasuredWay& way) const {
    const std::vector<const IndexPath*> paths = way.access.AllPaths();
    const auto skips = [](const IndexPath* path) { return path->skipped_values.has_value(); };
    if (std::ranges::any_of(paths, skips)) return false;
    return std::ranges::all_of(way.indexes, [&](size_t index) {
      return std::ranges::any_of(
          paths, [&](const IndexPath* path) { return path->index == &table_.indexes[index]; });
    });
  }

  const format::TableRecord& table_;
  const std::vector<Cluster> no_clusters_;
  const base::Cancellation& cancellation_;
};

// Finds out which columns of indexes no row has a value of.
class AbsentColumns {
 public:
  explicit AbsentColumns(const format::TableRecord& table) : table_(table) {
    for (const format::IndexRecord& index : table.indexes) {
      index.ForEachColumn([this](const format::IndexColumnRecord& column) {
        if (!column.is_of_row_key()) absent_.push_back(&column);
      });
    }
  }

  void Add(std::span<const format::Cell> cells) {
    std::erase_if(absent_, [cells](const format::IndexColumnRecord* column) {
      return std::ranges::any_of(
          format::FindColumn(*column, cells).cells,
          [](const format::Cell& cell) { return cell.kind == format::CellKind::kPut; });
    });
  }

  /// By the place of the index.
  std::vector<std::string> Take() const {
    std::vector<std::string> columns;
    for (const format::IndexRecord& index : table_.indexes) {
      std::string& absent = columns.emplace_back();
      index.ForEachColumn([&](const format::IndexColumnRecord& column) {
        if (absent.empty() && std::ranges::find(absent_, &column) != absent_.end()) {
          absent = table_.FindFamily(column.family)->options.name + ":" + column.qualifier;
        }
      });
    }
    return columns;
  }

 private:
  const format::TableRecord& table_;
  std::vector<const format::IndexColumnRecord*> absent_;  // So far.
};

// Counts rows and blocks, row by row.
class WayMeasurer {
 public:
  WayMeasurer(const Proposals& proposals, std::span<QueryToServe> queries,
              std::vector<MeasuredWay>* ways)
      : table_(proposals.table), queries_(queries), ways_(*ways), facts_(1) {
    family_count_ = table_.families.size();
    states_.resize(ways_.size());
  }

  Status Add(const FileRows& rows) {
    const std::span<const FileRows::Part> parts = rows.parts();
    if (facts_.size() < parts.size()) facts_.resize(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      facts_[i].resize(table_.indexes.size());
      for (size_t index = 0; index < table_.indexes.size(); ++index) {
        format::FactsOfRow(table_.indexes[index], rows.key(), parts[i].cells, &facts_[i][index]);
      }
    }
    blocks_.clear();
    for (size_t i = 0; i < ways_.size(); ++i) RETURN_IF_ERROR(Add(rows, &ways_[i], &states_[i]));
    return {};
  }

 private:
  struct State {
    uint64_t matches = 0;
    std::vector<uint64_t> last_blocks;  // By slot and family: of the file in it, and from 1.
    std::vector<const format::StoreFile*> files;  // By slot.
  };

  // Entries of the row in the ranges of the path, of one file.
  static uint64_t EntriesIn(const format::RowIndexFacts& facts, const KeyRanges& ranges) {
    return std::ranges::count_if(facts.entries, [&](const format::IndexEntry& entry) {
      return entry.current && Contains(ranges, entry.key);
    });
  }

  const format::RowIndexFacts& FactsOf(size_t part, const IndexPath& path) const {
    return facts_[part][static_cast<size_t>(path.index - table_.indexes.data())];
  }

  bool IsHit(size_t part, const AccessPath::Condition& paths, const KeyRanges& whole,
             uint64_t* entries) const {
    bool is_hit = false;
    for (const IndexPath& path : paths) {
      const format::RowIndexFacts& facts = FactsOf(part, path);
      const uint64_t found = EntriesIn(facts, path.RangesIn(/*in_order=*/true));
      *entries += found;
      if (path.nulls && !facts.present) {
        ++*entries;
        is_hit = true;
      }
      is_hit |= found > 0 && (whole.empty() || EntriesIn(facts, whole) > 0);
    }
    return is_hit;
  }

  Status Add(const FileRows& rows, MeasuredWay* way, State* state) {
    static const KeyRanges kAny;
    const std::span<const FileRows::Part> parts = rows.parts();
    // Of several files one may have a column that the other leaves out.
    const KeyRanges& whole = parts.size() == 1 ? way->whole : kAny;
    bool is_hit = false;
    for (size_t part = 0; part < parts.size(); ++part) {
      bool hits = IsHit(part, way->access.paths, whole, &way->entries);
      if (way->intersected.has_value()) {
        const bool satisfies = IsHit(part, way->access.intersected[0], kAny, &*way->intersected);
        is_hit |= hits && (satisfies || parts.size() > 1);
        continue;
      }
      for (const AccessPath::Condition& besides : way->access.intersected) {
        uint64_t not_counted = 0;
        if (!hits || parts.size() > 1) break;
        hits = IsHit(part, besides, kAny, &not_counted);
      }
      is_hit |= hits;
    }
    if (!is_hit || !Contains(way->rows, rows.key())) return {};
    QueryToServe& query = queries_[way->query];
    const QueryOptions& options = query.query->options;
    const bool counts_entries = query.query->is_count && way->is_exact && parts.size() == 1;
    if (counts_entries || (way->is_covered && parts.size() == 1)) return {};
    const bool ends_early = options.limit > 0 && options.order_by.empty();
    if (ends_early && state->matches >= options.limit + options.offset) return {};
    if (ends_early) {
      bool matches = way->is_exact;
      if (!matches) {
        ASSIGN_OR_RETURN(matches, query.predicate.Matches(rows.key(), parts.back().cells));
      }
      state->matches += matches;
    }
    for (const FileRows::Part& part : parts) RETURN_IF_ERROR(AddBlocks(part, way, state));
    return {};
  }

  Status AddBlocks(const FileRows::Part& part, MeasuredWay* way, State* state) {
    if (state->files.size() <= part.slot) {
      state->files.resize(part.slot + 1);
      state->last_blocks.resize((part.slot + 1) * family_count_);
    }
    uint64_t* const last = state->last_blocks.data() + part.slot * family_count_;
    if (std::exchange(state->files[part.slot], part.file) != part.file) {
      std::fill_n(last, family_count_, 0);
    }
    ASSIGN_OR_RETURN(const std::vector<uint64_t>* const blocks, BlocksOf(part));
    for (const format::FamilyId family : way->families) {
      const size_t place = PlaceOf(family);
      const uint64_t block = (*blocks)[place];
      if (block != 0 && std::exchange(last[place], block) != block) ++way->blocks;
    }
    return {};
  }

  size_t PlaceOf(format::FamilyId family) const {
    return static_cast<size_t>(
        std::ranges::find(table_.families, family, &format::FamilyRecord::id) -
        table_.families.begin());
  }

  // By family the number of the row's block, from 1; 0: it has no cells of it. Found once for all
  // ways.
  Result<const std::vector<uint64_t>*> BlocksOf(const FileRows::Part& part) {
    for (const auto& [file, blocks] : blocks_) {
      if (file == part.file) return &blocks;
    }
    std::vector<uint64_t> blocks(family_count_, 0);
    for (size_t place = 0; place < family_count_; ++place) {
      ASSIGN_OR_RETURN(const format::DataSection* const data,
                       part.file->Family(table_.families[place].id));
      if (data == nullptr || !data->Has(part.ordinal)) continue;
      ASSIGN_OR_RETURN(const uint32_t block, data->BlockOf(data->RankOf(part.ordinal)));
      blocks[place] = uint64_t{block} + 1;
    }
    return &blocks_.emplace_back(part.file, std::move(blocks)).second;
  }

  const format::TableRecord& table_;
  const std::span<QueryToServe> queries_;
  std::vector<MeasuredWay>& ways_;
  std::vector<State> states_;
  size_t family_count_ = 0;
  // Of the current row.
  std::vector<std::vector<format::RowIndexFacts>> facts_;  // By part and index.
  std::vector<std::pair<const format::StoreFile*, std::vector<uint64_t>>> blocks_;
};

// The ways by two indexes, one of them proposed. A read that may end early finds hits in parts,
// which no figure here tells of.
Status AddPairs(const WayFinder& finder, const Proposals& proposals, const QueryToServe& query,
                size_t place, std::vector<MeasuredWay>* ways) {
  const QueryOptions& options = query.query->options;
  const bool ends_early = options.limit > 0 && options.order_by.empty();
  if (query.predicate.root().kind != Kind::kAnd || ends_early) return {};
  std::vector<MeasuredWay> singles;
  for (size_t index = 0; index < proposals.table.indexes.size(); ++index) {
    ASSIGN_OR_RETURN(std::optional<MeasuredWay> way, finder.Find(query, place, {index}));
    if (way.has_value()) singles.push_back(*std::move(way));
  }
  size_t pairs = 0;
  for (size_t i = 0; i < singles.size(); ++i) {
    if (singles[i].indexes[0] >= proposals.indexes.size()) break;
    for (size_t j = i + 1; j < singles.size() && pairs < kPairsMax; ++j) {
      std::optional<MeasuredWay> way = finder.Pair(query, singles[i], singles[j]);
      if (!way.has_value()) continue;
      ways->push_back(*std::move(way));
      ++pairs;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<MeasuredWay>> FindMeasuredWays(const Proposals& proposals,
                                                  std::span<const QueryToServe> queries,
                                                  const base::Cancellation& cancellation) {
  const WayFinder finder(proposals, cancellation);
  std::vector<MeasuredWay> ways;
  for (size_t query = 0; query < queries.size(); ++query) {
    if (!queries[query].fixed.empty()) continue;
    std::vector<std::vector<size_t>> tried = proposals.together[query];
    for (size_t index = 0; index < proposals.indexes.size(); ++index) tried.push_back({index});
    for (const std::vector<size_t>& indexes : tried) {
      ASSIGN_OR_RETURN(std::optional<MeasuredWay> way, finder.Find(queries[query], query, indexes));
      if (way.has_value()) ways.push_back(*std::move(way));
    }
    RETURN_IF_ERROR(AddPairs(finder, proposals, queries[query], query, &ways));
  }
  return ways;
}

Result<RowsMeasured> MeasureWays(const TableView& view, const Proposals& proposals,
                                 std::span<QueryToServe> queries, RowSample sample,
                                 const base::Cancellation& cancellation,
                                 std::vector<MeasuredWay>* ways) {
  WayMeasurer measurer(proposals, queries, ways);
  AbsentColumns absent(proposals.table);
  FileRows rows(view, proposals.table, sample, cancellation);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return RowsMeasured{rows.rows_read(), absent.Take()};
    RETURN_IF_ERROR(measurer.Add(rows));
    for (const FileRows::Part& part : rows.parts()) absent.Add(part.cells);
  }
}

}  // namespace tandem::engine
