// Planning a query.
//
// 1. Conditions on the row key that every match satisfies cut the range of rows, and so the
//    sources.
// 2. The cheapest access through indexes is found; for an AND, through several if that pays
//    (intersection_choice.h).
// 3. A scan is chosen instead if the access leads to so many rows that reading all in order costs
//    less than picking (kPickedAlone, kPickedAmongSources).
// 4. A read with a limit begins with a scan, or with another index, if it should find its rows
//    there sooner than the index tells where they are (FirstRowsFinder).
#include "engine/query/plan.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/field_ranges.h"
#include "engine/predicate/index_order.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/access_paths.h"
#include "engine/query/intersection_choice.h"
#include "engine/query/key_skip.h"
#include "engine/query/partial_index.h"
#include "engine/source/column_order.h"
#include "engine/source/read_resources.h"
#include "format/registry/registered.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

// A picked row costs as much as this many scanned ones: in a file that nothing overlaps, where the
// index decides or the row does, and where every candidate has to be looked up in other sources.
constexpr uint64_t kDecidedAlone = 1;
constexpr uint64_t kPickedAlone = 2;
constexpr uint64_t kPickedAmongSources = 4;

// A scan reads up to this many ranges of rows one by one; more, if there are as many rows for each
// as it could read in the time that a range is found in.
constexpr size_t kScannedRangesMax = 64;
constexpr uint64_t kRowsPerRange = 64;

KeyRanges RangesOf(const std::vector<ValueInterval>& intervals) {
  KeyRanges ranges;
  ranges.reserve(intervals.size());
  for (const ValueInterval& interval : intervals) {
    format::KeyRange& range = ranges.emplace_back();
    if (interval.low.has_value()) {
      range.low = interval.low->key;
      if (!interval.low->inclusive) range.low += '\0';
    }
    if (interval.high.has_value()) {
      range.high = interval.high->key;
      if (interval.high->inclusive) *range.high += '\0';
    }
  }
  return ranges;
}

// The smallest range that holds all of them.
format::KeyRange HullOf(const KeyRanges& ranges) {
  if (ranges.empty()) return {{}, std::string()};
  return {ranges.front().low, ranges.back().high};
}

// Whether the predicate has only conditions on the row key and its fields.
bool AsksKeysOnly(const BoundNode& node) {
  if (node.kind == Kind::kLeaf) return node.leaf.is_row_key || node.leaf.key_fields != nullptr;
  return std::ranges::all_of(node.children, AsksKeysOnly);
}

bool AreAll(const KeyRanges& rows) {
  return rows.size() == 1 && rows[0].low.empty() && !rows[0].high.has_value();
}

// The ranges, for an explanation.
std::string RangesText(const KeyRanges& rows) {
  if (rows.empty()) return "no range of row keys";
  const format::KeyRange& first = rows.front();
  std::string text = rows.size() == 1
                         ? "row keys"
                         : std::to_string(rows.size()) + " ranges of row keys, the first";
  if (first.high == first.low + '\0') return text + " " + base::Quote(first.low);
  text += " from " + base::Quote(first.low);
  return first.high.has_value() ? text + " to below " + base::Quote(*first.high) : text + " on";
}

// Whether the predicate has only conditions on the row key, all of which cut the range.
bool AsksRowsOnly(const BoundNode& root) {
  if (root.kind == Kind::kLeaf) return root.leaf.is_row_key;
  return root.kind == Kind::kAnd &&
         std::all_of(root.children.begin(), root.children.end(), [](const BoundNode& child) {
           return child.kind == Kind::kLeaf && child.leaf.is_row_key;
         });
}

// A pattern without a literal part that an index over trigrams could look for.
bool IsWithoutParts(const BoundLeaf& leaf) {
  return leaf.test.has_value() && leaf.test->regexp != nullptr && PartsNeededBy(*leaf.test).empty();
}

// The one that the index would serve if it had parts; nullptr: there is none.
const BoundLeaf* LeafWithoutParts(const BoundNode& node, const format::IndexRecord& index) {
  if (node.kind == Kind::kLeaf) {
    const bool is_it = AccessPathFinder::HasTrigrams(index, node.leaf) && IsWithoutParts(node.leaf);
    return is_it ? &node.leaf : nullptr;
  }
  for (const BoundNode& child : node.children) {
    if (const BoundLeaf* const leaf = LeafWithoutParts(child, index); leaf != nullptr) return leaf;
  }
  return nullptr;
}

bool HasLeafOf(const BoundNode& node, const format::IndexRecord& index) {
  if (node.kind == Kind::kLeaf) {
    if (AccessPathFinder::Serves(index, node.leaf)) return true;
    return AccessPathFinder::HasTrigrams(index, node.leaf) && !IsWithoutParts(node.leaf);
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const BoundNode& child) { return HasLeafOf(child, index); });
}

// Whether a condition has the same column and functions, of whatever type.
bool HasLeafOfColumn(const BoundNode& node, const format::IndexColumnRecord& column) {
  if (node.kind == Kind::kLeaf) {
    return !node.leaf.is_row_key && node.leaf.column.family == column.family &&
           node.leaf.column.qualifier == column.qualifier &&
           node.leaf.column.functions == column.functions;
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const BoundNode& child) { return HasLeafOfColumn(child, column); });
}

// Why the index does not lead to a superset of the matches.
std::string WhyNotServing(const format::TableRecord& table, const BoundPredicate& predicate,
                          const format::IndexRecord& index) {
  if (format::IsUnusable(index)) return format::WhyUnusable(index);
  if (!CoversRows(table, index, predicate.root())) return WhyNotCovering(table, index);
  const format::IndexColumnRecord& column = index.columns[0];
  if (HasLeafOf(predicate.root(), index)) {
    return "a row may match without the condition on " + format::Described(column);
  }
  if (const BoundLeaf* const leaf = LeafWithoutParts(predicate.root(), index); leaf != nullptr) {
    return "no literal part of three characters is in every match of the pattern of " +
           format::Described(leaf->column);
  }
  if (HasLeafOfColumn(predicate.root(), column) && format::IsMultiValued(column)) {
    return "its entries do not tell of rows of which no value satisfies a condition";
  }
  if (HasLeafOfColumn(predicate.root(), column)) {
    const std::string type(ColumnTypeName(column.type));
    return "it has " + format::Described(column) + " as " + type +
           ", and conditions do not: cast them (" +
           TextOf(column.functions, std::string(column.name())) + "::" + type + ")";
  }
  return "no condition on " + format::Described(column);
}

struct Load {
  uint64_t rows = 0;  // In all sources.
  bool is_merged = false;
  bool may_be_single_source = true;
};

Load LoadOf(const std::vector<Cluster>& clusters) {
  Load load;
  for (const Cluster& cluster : clusters) {
    load.is_merged |= !cluster.has_one_file();
    for (const FileSource& source : cluster.files) {
      load.rows += source.high - source.low;
      load.may_be_single_source &= source.may_be_single_source;
    }
    for (const auto& memstore : cluster.memstores) load.rows += memstore->row_count();
  }
  return load;
}

// How many rows a scan reads in the time that one is picked in.
uint64_t RowsPerPick(const Load& load, bool is_exact) {
  if (load.is_merged) return kPickedAmongSources;
  return is_exact ? kDecidedAlone : kPickedAlone;
}

// Where a read with a limit begins, in clusters of one file. An access through an index is not the
// fastest way to the first rows where it has to read many entries before it knows them. Others are:
//
// 1. A scan of the first rows, as many as should have the matches that are asked for, if these lie
//    anywhere.
// 2. What another index leads to among these rows, if it has few keys in its ranges: the entries of
//    a key ascend by row, so that a part of the rows costs a part of them.
//
// The read begins so with twice as many rows, and goes on with the access. Where the matches lie
// all at the end, it costs three times what the access costs at most. All costs are in rows.
class FirstRowsFinder {
 public:
  /// Lifetime: that of the call.
  struct Request {
    const IntersectionChoice& found;
    const EntryCount& entries;  ///< Of its paths.
    uint64_t candidates = 0;    ///< That it leads to.
    uint64_t limit = 0;
    uint64_t rows = 0;  ///< In all sources.
  };
  FirstRowsFinder(const std::vector<Cluster>& clusters, const Request& request)
      : clusters_(clusters), request_(request) {}

  /// Sets what `*access`, which is that of the request, begins with. Errors: kCorruption, kIoError.
  Status Find(AccessPath* access) const {
    const auto& [found, entries, candidates, limit, rows] = request_;
    if (limit == 0 || candidates == 0 || found.access.paths.empty()) return {};
    double passing = 1;  // Of candidates, by the conditions that are not asked by index.
    for (const IntersectionChoice::Unused& unused : found.unused)
      passing *= ShareOf(unused.entries);
    const double picked = std::min(static_cast<double>(candidates),
                                   static_cast<double>(limit) / std::max(passing, 1e-9));
    const double scanned = picked * static_cast<double>(rows) / static_cast<double>(candidates);
    ASSIGN_OR_RETURN(double least, CostBefore(found.access.paths, entries.in_files));
    for (size_t i = 0; i < found.access.intersected.size(); ++i) {
      ASSIGN_OR_RETURN(const double more,
                       CostBefore(found.access.intersected[i], found.intersected[i]));
      least += more;
    }
    least += picked;
    if (scanned <= least) {
      least = scanned;
      access->first_rows = 2 * static_cast<uint64_t>(scanned);
    }
    for (const IntersectionChoice::Unused& unused : found.unused) {
      const double hits = scanned * ShareOf(unused.entries);
      if (hits >= least || !unused.is_whole) continue;
      ASSIGN_OR_RETURN(const std::optional<size_t> keys, KeysReadInParts(unused.paths));
      if (!keys.has_value()) continue;
      const double cost = hits + hits / static_cast<double>(kPostingsPerRow) + LookupsOf(*keys);
      if (cost >= least) continue;
      least = cost;
      access->first_rows = 2 * static_cast<uint64_t>(scanned);
      access->first = std::make_shared<const AccessPath>(AccessPath{.paths = unused.paths});
    }
    return {};
  }

 private:
  // More keys are not read apart for each part of the rows.
  static constexpr size_t kFewKeysMax = 16;

  double ShareOf(uint64_t entries) const {
    return std::min(1.0, static_cast<double>(entries) / static_cast<double>(request_.rows));
  }
  static double LookupsOf(size_t keys) { return static_cast<double>(keys * kRowsPerLookup); }

  // How many keys the paths have in a file; nullopt: many.
  Result<std::optional<size_t>> KeysReadInParts(const AccessPath::Condition& paths) const {
    size_t most = 0;
    for (const Cluster& cluster : clusters_) {
      size_t keys = 0;
      for (const IndexPath& path : paths) {
        if (path.of_single_keys) {
          keys += path.ranges.size();
          continue;
        }
        const bool may_be_few = !path.nulls && !path.repeats_rows && !cluster.files.empty();
        if (!may_be_few) return std::optional<size_t>();
        ASSIGN_OR_RETURN(const std::optional<size_t> here,
                         KeysIn(cluster.files[0], path, kFewKeysMax));
        if (!here.has_value()) return std::optional<size_t>();
        keys += *here;
      }
      most = std::max(most, keys);
    }
    return std::optional(most);
  }

  // Of the postings that are read before the first row is known.
  Result<double> CostBefore(const AccessPath::Condition& paths, uint64_t entries) const {
    const double of_cluster = static_cast<double>(entries) /
                              static_cast<double>(std::max<size_t>(clusters_.size(), 1)) /
                              static_cast<double>(kPostingsPerRow);
    size_t ranges = 0;
    for (const IndexPath& path : paths) ranges += path.ranges.size();
    // To find out how many keys there are costs about as much as to read so few entries.
    if (of_cluster <= LookupsOf(kFewKeysMax)) return of_cluster + LookupsOf(ranges);
    ASSIGN_OR_RETURN(const std::optional<size_t> keys, KeysReadInParts(paths));
    if (!keys.has_value()) return of_cluster + LookupsOf(ranges);
    const double first_part =
        std::min(1.0, static_cast<double>(kHitRowsFirst) /
                          static_cast<double>(std::max<uint64_t>(request_.rows, 1)));
    return of_cluster * first_part + LookupsOf(*keys);
  }

  const std::vector<Cluster>& clusters_;
  const Request request_;
};

Result<AccessPathFinder::Indexes> IndexesAskedFor(const format::TableRecord& table,
                                                  const QueryOptions& options) {
  AccessPathFinder::Indexes indexes;
  std::vector<std::string> names = options.use_indexes;
  if (!options.use_index.empty()) names.push_back(options.use_index);
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(indexes.emplace_back(), IndexNamed(table, name));
  }
  if (!options.use_index.empty() && !options.use_indexes.empty()) {
    return Status::InvalidArgument("use_index and use_indexes are both given");
  }
  if (!names.empty() && options.no_index) {
    return Status::InvalidArgument("use_index and no_index are both given");
  }
  return indexes;
}

bool Uses(const std::vector<const IndexPath*>& paths, const format::IndexRecord& index) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const IndexPath* path) { return path->index == &index; });
}

class QueryPlanner {
 public:
  QueryPlanner(const TableView& view, const BoundPredicate& predicate, const QueryOptions& options,
               PlanPurpose purpose, const base::Cancellation& cancellation,
               const format::KeyRange& within, const ColumnSet& returned)
      : table_(*view.table),
        view_(view),
        predicate_(predicate),
        options_(options),
        purpose_(purpose),
        cancellation_(cancellation),
        within_(within),
        returned_(returned) {}

  Result<QueryPlan> Run() {
    ASSIGN_OR_RETURN(const AccessPathFinder::Indexes only, IndexesAskedFor(table_, options_));
    rows_ = RowsUnder(predicate_);
    const bool rows_decided = rows_.size() <= 1;
    plan_.rows_decide = rows_decided && AsksRowsOnly(predicate_.root());
    plan_.within = Intersect(HullOf(rows_), within_);
    ASSIGN_OR_RETURN(plan_.clusters, FindClusters(view_, plan_.within, rows_));
    FindColumnOrder(view_, &plan_.clusters);
    if (options_.no_index && options_.no_scan) {
      return Status::InvalidArgument("no_index and no_scan are both given");
    }
    if (options_.no_index) {
      plan_.reason = "no_index: every row is read";
      for (const format::IndexRecord& index : explained()) Reject(index, "no_index is given");
      RETURN_IF_ERROR(ScanEachRange());
      return Settled();
    }
    ASSIGN_OR_RETURN(std::optional<IntersectionChoice> found, FindAccess(only, rows_decided));
    // The rest of the rows may have no entries in one of several.
    const bool is_page = !options_.after.empty() || !options_.before.empty();
    for (const format::IndexRecord* index : only) {
      if (is_page && only.size() > 1 && found.has_value()) break;
      if (found.has_value() && Uses(found->access.AllPaths(), *index)) continue;
      return Status::InvalidArgument("index '" + index->name + "' cannot serve the predicate: " +
                                     WhyNotServing(table_, predicate_, *index));
    }
    RETURN_IF_ERROR(Choose(std::move(found), !only.empty()));
    if (!plan_.access.has_value()) RETURN_IF_ERROR(ScanEachRange());
    if (options_.no_scan) RETURN_IF_ERROR(CheckNoScan());
    return Settled();
  }

 private:
  // The plan, with the rows that it reads.
  QueryPlan Settled() {
    if (NamesFields(predicate_.root()) && !AreAll(rows_)) {
      plan_.reason += "; " + RangesText(rows_);
      if (skipped_.has_value()) {
        plan_.reason += ", by a skip scan of " + std::to_string(*skipped_) +
                        (*skipped_ == 1 ? " value of field " : " values of field ") +
                        skipped_field_;
      }
    }
    plan_.rows_within = std::move(rows_);
    return std::move(plan_);
  }

  // A scan leaves out the rows between the ranges. Indexes are walked once over all of them.
  Status ScanEachRange() {
    if (!options_.order_by.empty()) return {};
    RETURN_IF_ERROR(SkipBetween());
    const bool are_few = rows_.size() <= kScannedRangesMax ||
                         rows_.size() * kRowsPerRange <= LoadOf(plan_.clusters).rows;
    if (!are_few || (rows_.size() == 1 && !skipped_.has_value())) return {};
    ASSIGN_OR_RETURN(plan_.clusters, FindClusters(view_, Intersect(rows_, {within_})));
    plan_.rows_decide = AsksRowsOnly(predicate_.root());
    return {};
  }

  // Leaves the rows that conditions on later fields of the row key leave under each value of those
  // before them, if that costs less than reading all.
  Status SkipBetween() {
    const std::optional<FieldSkip> skip = FieldSkip::Find(predicate_.root());
    if (!skip.has_value()) return {};
    ASSIGN_OR_RETURN(std::optional<SkippedKeys> found,
                     SkipKeys(*skip, plan_.clusters, Intersect(rows_, {within_}), cancellation_));
    if (!found.has_value()) return {};
    rows_ = std::move(found->rows);
    skipped_ = found->values;
    skipped_field_ = skip->field();
    return {};
  }

  Result<std::optional<IntersectionChoice>> FindAccess(const AccessPathFinder::Indexes& only,
                                                       bool rows_decided) const {
    const BoundNode& root = predicate_.root();
    const AccessPathFinder finder(
        table_, plan_.clusters, {.root = root, .returned = returned_, .only = only}, cancellation_);
    if (root.kind != Kind::kAnd) {
      ASSIGN_OR_RETURN(std::optional<AccessPath> found, finder.Find(root, rows_decided));
      if (!found.has_value()) return std::optional<IntersectionChoice>();
      IntersectionChoice only{.access = *std::move(found)};
      only.intersected.assign(only.access.intersected.size(), 0);
      return std::optional(std::move(only));
    }
    AndToServe served{.ways = {},
                      .conditions = AccessPathFinder::CountConditions(root, rows_decided),
                      .takes_all = !only.empty(),
                      .is_counted = purpose_ == PlanPurpose::kCount};
    ASSIGN_OR_RETURN(served.ways, finder.FindWays(root, rows_decided));
    if (served.ways.empty()) return std::optional<IntersectionChoice>();
    if (MayEndEarly()) served.limit = options_.limit;
    ASSIGN_OR_RETURN(IntersectionChoice chosen,
                     ChooseIntersection(plan_.clusters, std::move(served), cancellation_));
    return std::optional(std::move(chosen));
  }

  // Whether the read ends with the last row of its limit.
  bool MayEndEarly() const {
    return options_.limit > 0 && options_.order_by.empty() && purpose_ != PlanPurpose::kCount;
  }

  // How many entries the access has, unless it is enough to know that they are at most `enough`.
  Result<EntryCount> EntriesOf(const IntersectionChoice& found, uint64_t enough) const {
    if (found.entries.has_value()) return *found.entries;
    const AccessPath& access = found.access;
    const bool is_figure = purpose_ == PlanPurpose::kExplanation || !options_.order_by.empty();
    if (!is_figure && !MayEndEarly()) {
      ASSIGN_OR_RETURN(const EntryCount most,
                       CountEntries(plan_.clusters, access, Precision::kAtMost, cancellation_));
      if (most.total() <= enough) return most;
    }
    return CountEntries(plan_.clusters, access, Precision::kExact, cancellation_);
  }

  Status Choose(std::optional<IntersectionChoice> found, bool is_forced) {
    const Load load = LoadOf(plan_.clusters);
    const bool is_exact = found.has_value() && found->access.exact;
    const uint64_t picked = RowsPerPick(load, is_exact);
    // A count does not read the single-source candidates of an exact access; those of memstores are
    // never single-source.
    const bool is_counted =
        purpose_ == PlanPurpose::kCount && load.may_be_single_source && is_exact;
    EntryCount entries;
    const bool is_intersection = found.has_value() && !found->access.others().empty();
    if (found.has_value()) {
      ASSIGN_OR_RETURN(entries, EntriesOf(*found, load.rows / picked));
    }
    const uint64_t rows = is_intersection ? found->rows : entries.total();
    uint64_t picks = is_counted ? entries.in_memstores : rows;
    // The rows of an offset are passed over by counts or lists of entries, and only a page is read.
    const bool is_late_page = options_.offset > 0 && MayEndEarly() && is_exact &&
                              !is_intersection && load.may_be_single_source;
    if (is_late_page) picks = std::min(picks, entries.in_memstores + options_.limit);
    const bool is_dear = found.has_value() && picks > load.rows / picked;
    const bool may_scan = !is_forced && !options_.no_scan;
    if (!found.has_value()) {
      plan_.reason = plan_.rows_decide ? "only row keys are asked for"
                                       : "no index leads to all rows that may match";
    } else if (is_dear && may_scan) {
      plan_.reason = std::to_string(picks) +
                     (is_intersection ? " rows of an intersection are" : " entries lead to") +
                     " more than one in " + std::to_string(picked) + " of " +
                     std::to_string(load.rows) + " rows: reading all in order is cheaper";
    } else {
      plan_.reason = is_forced                     ? "use_index"
                     : is_dear                     ? "no_scan: a scan would be cheaper"
                     : is_intersection             ? "fewest rows"
                     : found->access.paths.empty() ? "single row keys are asked for"
                                                   : "fewest entries";
      plan_.reason += ColumnsUsed(found->access);
      if (may_scan && MayEndEarly() && !load.is_merged && options_.offset == 0) {
        const FirstRowsFinder finder(plan_.clusters, {.found = *found,
                                                      .entries = entries,
                                                      .candidates = rows,
                                                      .limit = options_.limit,
                                                      .rows = load.rows});
        RETURN_IF_ERROR(finder.Find(&found->access));
      }
      plan_.entries = entries;
      plan_.rows = rows;
      plan_.intersected = std::move(found->intersected);
      plan_.access = std::move(found->access);
      unused_ = std::move(found->unused);
    }
    for (const format::IndexRecord& index : explained()) RejectUnused(index, is_forced, is_dear);
    return {};
  }

  // Whether the rows are found without reading others: by an index, or by conditions on their keys
  // alone, or in the order of an index, which is walked.
  Status CheckNoScan() const {
    if (plan_.access.has_value() || !options_.order_by.empty()) return {};
    const bool is_bounded = !within_.low.empty() || within_.high.has_value() || !AreAll(rows_);
    if (is_bounded && (plan_.rows_decide || AsksKeysOnly(predicate_.root()))) return {};
    std::set<std::string> columns;
    AddColumns(predicate_.root(), &columns);
    const std::string start = "the query would scan table " + base::Quote(table_.name);
    if (columns.empty()) {
      return Status::InvalidArgument(start + ": it asks for every row, which Scan returns");
    }
    std::string names;
    for (const std::string& column : columns) names += (names.empty() ? "" : ", ") + column;
    return Status::InvalidArgument(start + ", since no index leads to all matches: of " + names +
                                   " none has an index that serves it, or not each side of an OR; "
                                   "create one, or allow the scan");
  }

  // Those of the predicate that no index serves.
  void AddColumns(const BoundNode& node, std::set<std::string>* columns) const {
    if (node.kind != Kind::kLeaf) {
      for (const BoundNode& child : node.children) AddColumns(child, columns);
    } else if (!node.leaf.is_row_key &&
               std::ranges::none_of(table_.indexes, [&](const format::IndexRecord& index) {
                 return !node.leaf.accepts_null && AccessPathFinder::Serves(index, node.leaf);
               })) {
      columns->insert(node.leaf.key_fields != nullptr ? "_row." + node.leaf.column.qualifier
                                                      : format::Described(node.leaf.column));
    }
  }

  // How many columns of an index over several are asked for.
  std::string ColumnsUsed(const AccessPath& access) const {
    std::string text;
    for (const IndexPath& path : access.paths) {
      const size_t columns = path.index->columns.size();
      if (path.index->where.has_value() && path.columns == 0) {
        text += "; all rows of " + path.index->name;
        continue;
      }
      if (columns == 1) continue;
      text += "; " + std::to_string(path.columns) + " of " + std::to_string(columns) +
              " columns of " + path.index->name;
      if (path.skipped_values.has_value()) {
        text += ", the second one for each of " + std::to_string(*path.skipped_values) +
                " values of the first";
      }
    }
    std::set<std::string> parts;
    for (const IndexPath* path : access.AllPaths()) {
      if (!path->parts.empty()) parts.insert(path->parts);
    }
    for (const std::string& each : parts) {
      text += (each == *parts.begin() ? "; looks for " : " and for ") + each;
    }
    const bool narrows = std::ranges::any_of(access.paths, [](const IndexPath& path) {
      return path.narrow.has_value() && !path.index->needs_order();
    });
    const auto needing = std::ranges::find_if(
        access.paths, [](const IndexPath& path) { return path.index->needs_order(); });
    const bool in_order = std::ranges::all_of(
        plan_.clusters, [](const Cluster& cluster) { return cluster.in_order; });
    if (narrows && !in_order) {
      text += ", the first alone where timestamps go back or files are newer than the snapshot";
    }
    if (needing != access.paths.end() && !in_order) {
      text += needing->index->where.has_value() ? "; a partial index"
                                                : "; an index over a concat of columns";
      text +=
          " is not used, and sources are scanned, where timestamps go back or files are newer than "
          "the snapshot";
    }
    return text;
  }

  // The indexes that an explanation is about.
  std::span<const format::IndexRecord> explained() const {
    if (purpose_ != PlanPurpose::kExplanation) return {};
    return table_.indexes;
  }

  void RejectUnused(const format::IndexRecord& index, bool is_forced, bool is_dear) {
    if (plan_.access.has_value() && Uses(plan_.access->AllPaths(), index)) return;
    for (const IntersectionChoice::Unused& unused : unused_) {
      if (unused.paths.size() == 1 && unused.paths[0].index == &index) {
        const bool comes_first = plan_.access.has_value() && plan_.access->first != nullptr &&
                                 plan_.access->first->paths[0].index == &index;
        return Reject(index, unused.why + (comes_first ? "; the first rows come by it" : ""));
      }
    }
    if (is_forced) {
      Reject(index, "another index is asked for");
    } else if (index.where.has_value() ? !CoversRows(table_, index, predicate_.root())
                                       : !HasLeafOf(predicate_.root(), index)) {
      Reject(index, WhyNotServing(table_, predicate_, index));
    } else if (plan_.access.has_value()) {
      Reject(index, "more entries, or no access to all matches");
    } else {
      Reject(index, is_dear ? "a scan is cheaper" : WhyNotServing(table_, predicate_, index));
    }
  }

  void Reject(const format::IndexRecord& index, const std::string& why) {
    plan_.rejected.push_back("index " + index.name + ": " + why);
  }

  const format::TableRecord& table_;
  const TableView& view_;
  const BoundPredicate& predicate_;
  const QueryOptions& options_;
  PlanPurpose purpose_;
  base::Cancellation cancellation_;
  const format::KeyRange& within_;
  const ColumnSet& returned_;
  KeyRanges rows_;                 // Every match has its key here.
  std::optional<size_t> skipped_;  // Values that a skip scan found.
  std::string skipped_field_;      // Of this field.
  QueryPlan plan_;
  std::vector<IntersectionChoice::Unused> unused_;
};

}  // namespace

Result<QueryPlan> PlanQuery(const TableView& view, const BoundPredicate& predicate,
                            const QueryOptions& options, PlanPurpose purpose,
                            const base::Cancellation& cancellation, const format::KeyRange& within,
                            const ColumnSet& returned) {
  QueryPlanner planner(view, predicate, options, purpose, cancellation, within, returned);
  return planner.Run();
}

uint64_t EntriesWorthPicking(const std::vector<Cluster>& clusters, bool is_exact) {
  const Load load = LoadOf(clusters);
  return load.rows / RowsPerPick(load, is_exact);
}

KeyRanges RowsUnder(const BoundPredicate& predicate) {
  const BoundNode& root = predicate.root();
  const auto is_of_rows = [](const BoundNode& node) {
    return node.kind == Kind::kLeaf && node.leaf.is_row_key;
  };
  if (is_of_rows(root)) return RangesOf(root.leaf.values.intervals());
  if (root.kind == Kind::kAnd) {
    const auto found = std::find_if(root.children.begin(), root.children.end(), is_of_rows);
    if (found != root.children.end()) return RangesOf(found->leaf.values.intervals());
  }
  return {format::KeyRange()};
}

bool NamesRowKey(const Predicate& predicate) {
  return predicate.is_row_key() || std::ranges::any_of(predicate.children(), NamesRowKey);
}

Status CheckIndexesAskedFor(const format::TableRecord& table,
                            const format::FunctionRegistry* functions,
                            const QueryOptions& options) {
  if (!options.order_by.empty()) {
    RETURN_IF_ERROR(OrderAskedFor(table, functions, options).status());
  }
  return IndexesAskedFor(table, options).status();
}

std::string NamesOf(const AccessPath::Condition& paths) {
  std::string names;
  for (const IndexPath& path : paths) {
    if (!names.empty()) names += ", ";
    names += path.index->name;
  }
  return names;
}

std::string IndexNames(const QueryPlan& plan) {
  if (!plan.access.has_value()) return {};
  std::string names = NamesOf(plan.access->paths);
  if (plan.access->keys != nullptr) names += names.empty() ? "_row" : ", _row";
  if (!plan.access->is_intersection()) return names;
  const bool is_and = !plan.access->others().empty();
  if (is_and && plan.access->paths.size() > 1) names = "(" + names + ")";
  for (const AccessPath::Condition& paths : plan.access->others()) {
    names += paths.size() == 1 ? " AND " + NamesOf(paths) : " AND (" + NamesOf(paths) + ")";
  }
  return names;
}

std::vector<format::KeyRange> RangesUnder(const BoundPredicate& predicate,
                                          const format::IndexRecord& index) {
  const BoundLeaf* leaf = AccessPathFinder::LeafServed(predicate.root(), index);
  if (leaf != nullptr) return RangesOf(*leaf, index.columns[0]);
  return {format::PresentRange(index.columns[0])};
}

std::vector<format::KeyRange> OrderedUnder(const BoundPredicate& predicate,
                                           const format::IndexRecord& index) {
  std::optional<CompositeRanges> found = FindCompositeRanges(index, predicate.root());
  return found.has_value() ? std::move(found->whole) : RangesUnder(predicate, index);
}

}  // namespace tandem::engine
