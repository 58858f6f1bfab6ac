// From index conditions to the rows that may satisfy them, source by source. A row that satisfies
// the conditions is a candidate of at least one source that holds it; a candidate need not satisfy
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory_account.h"
#include "engine/source/row_keys.h"
#include "engine/source/sources.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "index/key.h"
#include "index/postings.h"

namespace tandem::engine {

/// A look-up in one index.
struct IndexPath {
  const format::IndexRecord* index = nullptr;
  std::vector<format::KeyRange> ranges;  ///< Of its first column. Ascending, disjoint.
  bool nulls = false;                    ///< Rows without the first column too.
  /// Of several columns, in the place of `ranges` where sources are in order (column_order.h);
  /// nullopt: the same.
  std::optional<std::vector<format::KeyRange>> narrow = std::nullopt;
  size_t columns = 1;  ///< That `narrow` is of.
  /// Of a skip scan (engine/query/skip_scan.h) how many values of the first column files have:
  /// `narrow` is of files alone. nullopt: it is none.
  std::optional<size_t> skipped_values = std::nullopt;
  /// A row may have several current entries in the ranges, or one and no first column: of a
  /// multi-valued index, or of a skip scan in an OR.
  bool repeats_rows = false;
  /// Each range is a single key, so that a part of the file's rows costs a part of the entries:
  /// those of a key ascend by row.
  bool of_single_keys = false;
  /// Of trigrams that a pattern needs: the literals that they are of, for an explanation.
  std::string parts = {};

  const std::vector<format::KeyRange>& RangesIn(bool in_order) const {
    return in_order && narrow.has_value() ? *narrow : ranges;
  }
  const std::vector<format::KeyRange>& RangesOfMemstores(bool in_order) const {
    return RangesIn(in_order && !skipped_values.has_value());
  }
};

/// The union of the rows of all paths and keys.
struct AccessPath {
  using Condition = std::vector<IndexPath>;  ///< The union of the rows of the paths.

  std::vector<IndexPath> paths;
  bool exact = false;  ///< The paths are the whole condition, not a part of it, and no keys are.
  std::shared_ptr<const RowKeys> keys = nullptr;  ///< nullptr: no row is looked up by its key.
  /// What every match satisfies besides. Only single-source rows are left out by these (rule 17): a
  /// row whose columns lie in several sources may satisfy each of them in another one.
  std::vector<Condition> intersected = {};
  /// How many of these, the first ones, belong to the condition of the paths: the entries of their
  /// index with all columns, or other trigrams.
  size_t own = 0;
  /// Cells come from the records of the paths' indexes where they have them (index/covering.h).
  bool covered = false;
  /// A read that may end early begins with this many rows of the file: it scans them, or looks at
  /// those that `first`, of other indexes, leads to. Then it asks the indexes of the paths.
  uint64_t first_rows = 0;
  std::shared_ptr<const AccessPath> first = nullptr;

  bool is_intersection() const { return !intersected.empty(); }
  /// The conditions of other indexes, or other ones of the same.
  std::span<const Condition> others() const { return std::span(intersected).subspan(own); }
  /// Those of `paths` and `intersected`. Lifetime: the access does not change.
  std::vector<const IndexPath*> AllPaths() const;
};

struct FileCandidates {
  std::vector<uint32_t> ordinals;  ///< Sorted, unique, within the source's bounds.
  bool decided = false;            ///< A single-source candidate satisfies the condition.
  /// Ascending. Those of `ordinals` among them are candidates only if another source has the row.
  std::vector<uint32_t> ruled_out = {};
  /// The index that every candidate has a posting in; nullptr: there is none, or it is not known.
  const format::IndexRecord* index = nullptr;
  /// They are decided by the Put of that posting alone, whatever other columns hold.
  bool index_decides = false;
  base::MemoryCharge charge = {};
};

/// The section of an index in a file; nullptr if the file has none, or a broken one, which is
/// marked as broken (StoreFile::MarkIndexBroken). Errors: kIoError.
Result<format::IndexSection*> UsableSection(format::StoreFile* file, format::IndexId index);
/// The same of a source of a read, which cannot use a partial index where columns are not in order
/// (column_order.h).
Result<format::IndexSection*> UsableSection(const FileSource& source,
                                            const format::IndexRecord& index);
/// Where the index is in the memstore of the cluster, under the same condition.
std::optional<size_t> UsableIn(const Memstore& memstore, const Cluster& cluster,
                               const format::IndexRecord& index);
/// Handles an error from the section of the index: corruption marks the section as broken. Returns
/// whether the file continues without the section, so that `status` is no error.
bool GoesOnWithoutIndex(format::StoreFile* file, format::IndexId index, const Status& status);

/// The largest timestamp of the Puts of the column, or columns, in the file; nullopt: there are
/// none, or it is not known.
std::optional<int64_t> NewestPutOf(const format::StoreFile& file,
                                   const format::IndexColumnRecord& column);

/// The candidates of the access's paths and keys; what is intersected is left to
/// engine/source/intersection.h. Every row of a file without a usable section is a candidate.
/// Errors: kIoError; kCorruption if the file does not continue without broken sections.
Result<FileCandidates> CandidatesOf(const FileSource& source, const AccessPath& access);
/// Among `rows`, those with a posting in one of the paths, or without its column; in no order,
/// perhaps repeated. nullopt: the file has not all sections. Errors: as CandidatesOf.
Result<std::optional<std::vector<uint32_t>>> OrdinalsOf(const FileSource& source,
                                                        const AccessPath::Condition& paths,
                                                        format::OrdinalRange rows);
/// Those of `sought`, which ascend, with a posting in one of the paths: each is looked for.
/// nullopt: to read the postings costs less, or they are of many keys, or the file has not all
/// sections. Errors: as CandidatesOf.
Result<std::optional<std::vector<uint32_t>>> LookFor(const FileSource& source,
                                                     const AccessPath::Condition& paths,
                                                     std::span<const uint32_t> sought);
/// Counts them among the memory of hits if they are many.
base::MemoryCharge ChargeHits(const FileSource& source, size_t ordinals);

/// The candidates of the memstores, in no order, perhaps repeated, without rows whose postings
/// newer cells in memstores make dead. Whether the others match must be decided on the merged row.
std::vector<const MemRow*> MemstoreCandidates(const Cluster& cluster, const AccessPath& access,
                                              const format::ReadPoint& point);
/// The same rows, and whether every one of them is known to match.
struct MemstoreHits {
  std::vector<const MemRow*> rows;  ///< In no order, perhaps repeated.
  bool match = false;
};
MemstoreHits HitsOfMemstores(const Cluster& cluster, const AccessPath& access,
                             const TableView& view);

/// The same rows by whether they are known to match: by a Put in the range that is newer than every
/// Put of the column in a file. Files may have postings of such rows, which are dead (rule 13).
struct MemstoreMatches {
  std::vector<const MemRow*> known;   ///< Unique, in no order.
  std::vector<const MemRow*> others;  ///< In no order, perhaps repeated.
};
MemstoreMatches MatchesOfMemstores(const Cluster& cluster, const AccessPath& access,
                                   const TableView& view);
/// The same of `found`, the rows of the only memstore with an entry in the range, perhaps repeated,
/// if the newest Put of the index's column decides alone; nullopt: it does not.
std::optional<MemstoreMatches> MatchesAmong(const Cluster& cluster, const AccessPath& access,
                                            const TableView& view,
                                            std::vector<const MemRow*> found);
/// How many rows MatchesOfMemstores would find, if all are known to match and the memstore knows
/// its live entries; nullopt: not without looking at them.
std::optional<uint64_t> CountKnownMatches(const Cluster& cluster, const AccessPath& access,
                                          const TableView& view);
/// Whether every row of the memstore, now, is in the range. Requires: it has some.
bool HoldsAllRows(const format::KeyRange& rows, const Memstore& memstore);
/// Sorts the rows by key and keeps one of each key.
void SortByKey(std::vector<const MemRow*>* rows);

/// Whether a read can use the index in every memstore of the cluster.
bool MemstoresHave(const Cluster& cluster, const format::IndexRecord& index);

/// Entries of the path in the file; nullopt when it has no usable section. Errors: as CandidatesOf.
Result<std::optional<uint64_t>> ExactEntries(const FileSource& source, const IndexPath& path);
/// How many keys the file has in the ranges of the path; nullopt: more than `most`, or it has no
/// usable section. Errors: as CandidatesOf. Cost: a look-up for each range and a step for each key.
Result<std::optional<size_t>> KeysIn(const FileSource& source, const IndexPath& path, size_t most);
/// How well entries are counted.
enum class Precision : uint8_t {
  kExact,
  kAtMost,  ///< As many or more, a few thousand for each range, without reading a block.
};
/// The same, but every row of a file without a usable section counts.
Result<uint64_t> CountEntries(const FileSource& source, const IndexPath& path, Precision precision);
/// Entries of the path in the cluster's memstores, including those of later writes. Every row of a
/// memstore counts if it has not the index, and once more if the path includes rows without the
/// column.
uint64_t CountMemstoreEntries(const Cluster& cluster, const IndexPath& path);

}  // namespace tandem::engine
