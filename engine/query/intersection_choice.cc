// Choosing by estimates, file by file.
#include "engine/query/intersection_choice.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// A file whose rows may be single-source.
struct DecidingFile {
  const FileSource* source = nullptr;
  double rows_left = 0;  // About, of single-source rows that satisfy the conditions taken so far.
};

// The part of the file's rows that other sources have not, at least. Where overlaps are not built,
// other files count as having none.
double PartAlone(const Cluster& cluster, const FileSource& source) {
  uint64_t shared = 0;
  for (const FileOverlap& overlap : source.file_overlaps) {
    if (overlap.here != nullptr) shared += overlap.here->count();
  }
  for (const auto& memstore : cluster.memstores) shared += memstore->row_count();
  return std::max(0.0, 1 - static_cast<double>(shared) / source.file->row_count());
}

class Chooser {
 public:
  Chooser(const std::vector<Cluster>& clusters, AndToServe served,
          const base::Cancellation& cancellation)
      : clusters_(clusters), served_(std::move(served)), cancellation_(cancellation) {}

  Result<IntersectionChoice> Run() {
    if (served_.ways.size() == 1) {
      Take(&served_.ways[0]);
      return Finish();
    }
    for (AndWay& way : served_.ways) {
      ASSIGN_OR_RETURN(const EntryCount entries,
                       CountEntries(clusters_, way.access, Precision::kExact, cancellation_));
      counted_.push_back({&way, entries});
    }
    std::stable_sort(counted_.begin(), counted_.end(), [](const Counted& a, const Counted& b) {
      return a.entries.total() < b.entries.total();
    });
    Take(counted_[0].way);
    choice_.entries = counted_[0].entries;
    choice_.rows = choice_.entries->total();
    if (choice_.access.keys == nullptr) RETURN_IF_ERROR(Intersect());
    return Finish();
  }

 private:
  struct Counted {
    AndWay* way;
    EntryCount entries;
  };
  // What it would take to intersect a condition.
  struct Estimate {
    std::vector<double> kept;         // Share of the rows that it keeps, by deciding file.
    uint64_t entries = 0;             // To read, as far as rows are...
    uint64_t entries_read_whole = 0;  // ... and whatever is read.
    uint64_t lookups = 0;

    // In rows, to read the entries of a share of the rows.
    double cost(double share = 1) const {
      const double in_parts = static_cast<double>(entries) / kPostingsPerRow +
                              static_cast<double>(lookups * kRowsPerLookup);
      return in_parts * share + static_cast<double>(entries_read_whole) / kPostingsPerRow;
    }
  };

  // Makes the way the one that finds the candidates.
  void Take(AndWay* way) {
    choice_.access = std::move(way->access);
    choice_.intersected.assign(choice_.access.intersected.size(), 0);
    taken_.insert(way->conditions.begin(), way->conditions.end());
    all_exact_ = choice_.access.exact;
  }

  IntersectionChoice Finish() {
    choice_.access.exact = all_exact_ && taken_.size() == served_.conditions;
    return std::move(choice_);
  }

  Status Intersect() {
    if (!served_.takes_all && AreAllDear()) {
      for (size_t i = 1; i < counted_.size(); ++i) LeaveOut(counted_[i]);
      return {};
    }
    RETURN_IF_ERROR(FindDecidingFiles());
    std::vector<const Counted*> others;  // Left out so far.
    for (size_t i = 1; i < counted_.size(); ++i) {
      const Counted& counted = counted_[i];
      if (counted.way->access.keys != nullptr) continue;
      // By other indexes over the columns.
      if (Adds(counted, taken_) == 0 && !served_.takes_all) continue;
      if (!served_.takes_all && IsDear(counted.entries, rows_left())) {
        others.push_back(&counted);
        continue;
      }
      ASSIGN_OR_RETURN(const Estimate estimate, EstimateOf(counted.way->access));
      if (served_.takes_all || IsWorth(estimate)) {
        Add(counted, estimate);
      } else {
        others.push_back(&counted);
      }
    }
    return TakeForCount(std::move(others));
  }

  // A count that is exact reads none of the rows that are left.
  Status TakeForCount(std::vector<const Counted*> others) {
    std::set<size_t> covered = taken_;
    bool is_exact = served_.is_counted && all_exact_;
    for (const Counted* other : others) {
      covered.insert(other->way->conditions.begin(), other->way->conditions.end());
      is_exact &= other->way->access.exact;
    }
    std::vector<Estimate> estimates;
    double cost = 0;
    if (is_exact && covered.size() == served_.conditions) {
      for (const Counted* other : others) {
        ASSIGN_OR_RETURN(estimates.emplace_back(), EstimateOf(other->way->access));
        cost += estimates.back().cost();
      }
    }
    const bool is_worth = !estimates.empty() && rows_left() > cost;
    for (size_t i = 0; i < others.size(); ++i) {
      if (is_worth) {
        Add(*others[i], estimates[i]);
      } else {
        LeaveOut(*others[i]);
      }
    }
    return {};
  }

  // Whether a condition costs more than it could save: all of the rows.
  static bool IsDear(const EntryCount& entries, double rows) {
    return static_cast<double>(entries.in_files) / kPostingsPerRow + kRowsPerLookup >= rows;
  }

  // How many conditions the way has that are not in the set.
  static size_t Adds(const Counted& counted, const std::set<size_t>& taken) {
    return static_cast<size_t>(
        std::count_if(counted.way->conditions.begin(), counted.way->conditions.end(),
                      [&](size_t condition) { return !taken.contains(condition); }));
  }

  // The usual case of few candidates, for which no file is looked at.
  bool AreAllDear() const {
    return std::all_of(counted_.begin() + 1, counted_.end(), [&](const Counted& counted) {
      return IsDear(counted.entries, static_cast<double>(choice_.entries->total()));
    });
  }

  bool IsWorth(const Estimate& estimate) const {
    const double rows = rows_left();
    if (rows <= 0) return false;
    double kept = 0;
    for (size_t i = 0; i < files_.size(); ++i) kept += files_[i].rows_left * estimate.kept[i];
    const double part = kept / rows;
    double read = rows;
    if (served_.limit.has_value()) {
      read = std::min(rows, static_cast<double>(*served_.limit) / std::max(part, 1 / rows));
    }
    // In a cluster of one file, postings are read as rows are needed (concatenating_iterator.cc).
    const double share = is_read_in_parts_ ? read / rows : 1;
    return read * (1 - part) > estimate.cost(share);
  }

  Status FindDecidingFiles() {
    for (const Cluster& cluster : clusters_) {
      is_read_in_parts_ &= cluster.has_one_file();
      for (const FileSource& source : cluster.files) {
        if (!source.may_be_single_source) continue;
        ASSIGN_OR_RETURN(const std::optional<uint64_t> entries,
                         EntriesOf(source, choice_.access.paths));
        const uint64_t rows = source.high - source.low;
        const auto candidates = static_cast<double>(std::min(entries.value_or(rows), rows));
        files_.push_back({&source, candidates * PartAlone(cluster, source)});
      }
    }
    return {};
  }

  // nullopt: the file has not all sections.
  Result<std::optional<uint64_t>> EntriesOf(const FileSource& source,
                                            const AccessPath::Condition& paths) const {
    RETURN_IF_ERROR(cancellation_.Check());
    uint64_t sum = 0;
    for (const IndexPath& path : paths) {
      ASSIGN_OR_RETURN(const std::optional<uint64_t> entries, ExactEntries(source, path));
      if (!entries.has_value()) return entries;
      sum += *entries;
    }
    return std::optional(sum);
  }

  Result<Estimate> EstimateOf(const AccessPath& access) const {
    Estimate estimate;
    const bool of_single_keys = std::ranges::all_of(access.paths, &IndexPath::of_single_keys);
    for (const DecidingFile& file : files_) {
      ASSIGN_OR_RETURN(const std::optional<uint64_t> entries,
                       EntriesOf(*file.source, access.paths));
      estimate.kept.push_back(1);
      if (!entries.has_value()) continue;
      const uint32_t rows = file.source->file->row_count();
      estimate.kept.back() = std::min(1.0, static_cast<double>(*entries) / rows);
      (of_single_keys ? estimate.entries : estimate.entries_read_whole) += *entries;
      for (const IndexPath& path : access.paths) estimate.lookups += path.ranges.size();
    }
    return estimate;
  }

  void Add(const Counted& counted, const Estimate& estimate) {
    AccessPath& access = counted.way->access;
    const bool has_narrow = access.own > 0 && access.paths[0].narrow.has_value();
    choice_.access.intersected.push_back(
        std::move(has_narrow ? access.intersected.front() : access.paths));
    choice_.intersected.push_back(counted.entries.in_files);
    taken_.insert(counted.way->conditions.begin(), counted.way->conditions.end());
    all_exact_ &= access.exact;
    const double before = rows_left();
    for (size_t i = 0; i < files_.size(); ++i) files_[i].rows_left *= estimate.kept[i];
    const double saved = before - rows_left();
    choice_.rows -= std::min(choice_.rows, static_cast<uint64_t>(saved));
  }

  void LeaveOut(const Counted& counted) {
    choice_.unused.push_back({std::move(counted.way->access.paths), counted.entries.total(),
                              "reading its " + std::to_string(counted.entries.total()) +
                                  " entries costs more than the rows that it would leave out",
                              counted.way->access.keys == nullptr});
  }

  double rows_left() const {
    double sum = 0;
    for (const DecidingFile& file : files_) sum += file.rows_left;
    return sum;
  }

  const std::vector<Cluster>& clusters_;
  AndToServe served_;
  base::Cancellation cancellation_;
  std::vector<Counted> counted_;  // The fewest entries first.
  std::vector<DecidingFile> files_;
  bool is_read_in_parts_ = true;
  std::set<size_t> taken_;  // Conditions.
  bool all_exact_ = true;
  IntersectionChoice choice_;
};

}  // namespace

Result<IntersectionChoice> ChooseIntersection(const std::vector<Cluster>& clusters,
                                              AndToServe served,
                                              const base::Cancellation& cancellation) {
  return Chooser(clusters, std::move(served), cancellation).Run();
}

}  // namespace tandem::engine
