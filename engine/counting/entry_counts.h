// Counting the rows of a cluster by their entries in an index on one column: those that count in
// their file (engine/source/counted.h) by their numbers, the others by deciding each.
//
//   rows = entries that count
//        + decided entries of files whose row matches, memstores aside
//        - rows of memstores that match by what files have of them
//        + rows of memstores that match
//
// So a row that a memstore holds costs two looks, and no entry of a file is looked at for it. One
// that has no cell of the column there matches with and without the memstore, or neither, and costs
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/read/row_iterator.h"
#include "engine/source/candidates.h"
#include "engine/source/counted.h"
#include "engine/source/read_context.h"
#include "index/section.h"

namespace tandem::engine {

/// As many candidates of files that share rows are looked at in the time that a row is decided.
inline constexpr uint64_t kSharedEntriesPerDecided = 4;

/// Threads: one at a time. Lifetime: context, cluster and index outlive it.
class EntryCounts {
 public:
  /// `worth`: entries that the read would look at otherwise. nullopt: the entries of the cluster
  /// cannot be counted (CountedEntriesOf); `*why` says why not. Requires: MayCountEntries(index).
  /// Errors: kCorruption, kIoError.
  static Result<std::optional<EntryCounts>> Make(ReadContext* context, const Cluster& cluster,
                                                 const format::IndexRecord& index, uint64_t worth,
                                                 std::string_view* why);

  struct File {
    const FileSource* source = nullptr;
    format::IndexSection* section = nullptr;
    std::shared_ptr<const CountedEntries> counted;

    /// The number of the first entry at or above the key.
    Result<uint64_t> NumberOf(std::string_view key) const;
    /// Those of the range.
    struct Numbers {
      uint64_t low = 0, high = 0;
    };
    Result<Numbers> NumbersOf(const format::KeyRange& range) const;
  };
  const std::vector<File>& files() const { return files_; }
  const Cluster& cluster() const { return *cluster_; }

  /// Entries in the ranges that count.
  Result<uint64_t> Count(const std::vector<format::KeyRange>& ranges) const;
  /// How many rows ForEachDecided looks at, at most.
  Result<uint64_t> CountDecided(const std::vector<format::KeyRange>& ranges) const;
  /// Calls `visit` for each row to add or, with false, to subtract; of those that the context's
  /// predicate accepts. Errors: those of reading rows.
  using Visit = std::function<Status(RowIterator& row, bool is_added)>;
  Status ForEachDecided(const std::vector<format::KeyRange>& ranges, const Visit& visit) const;

 private:
  EntryCounts(ReadContext* context, const Cluster& cluster, const format::IndexRecord& index)
      : context_(context), cluster_(&cluster), index_(&index) {}
  /// Of memstores, those with cells of the index's column.
  const std::vector<const MemRow*>& TouchedRows() const;
  Result<FileCandidates> DecidedOf(const File& file,
                                   const std::vector<format::KeyRange>& ranges) const;

  ReadContext* context_;
  const Cluster* cluster_;
  const format::IndexRecord* index_;
  std::vector<File> files_;
  mutable std::optional<std::vector<const MemRow*>> touched_;  // Once it was asked for.
};

/// How many entries the access leads to in the files of the cluster; nullopt: they are not those of
/// one index whose entries can be counted (MayCountEntries), or a file lacks it. Errors:
/// kCorruption, kIoError.
Result<std::optional<uint64_t>> CountableEntries(const Cluster& cluster, const AccessPath& access);
/// The rows of the cluster's memstores that the view sees, in no order, perhaps repeated.
std::vector<const MemRow*> RowsOfMemstores(const Cluster& cluster, const format::ReadPoint& point);
/// Where a file has them, ascending. Errors: kCorruption, kIoError.
Result<std::vector<uint32_t>> OrdinalsOfRows(const FileSource& source,
                                             const std::vector<const MemRow*>& rows,
                                             std::span<const char> hash_secret);
/// Rows of the cluster's memstores, perhaps more than the view sees.
uint64_t CountMemstoreRows(const Cluster& cluster);

}  // namespace tandem::engine
