// The sources of a read: the slices of files and the memstores of a view that can hold its rows,
// grouped into clusters. Sources of different clusters share no key, so a read goes through the
// clusters one after the other in key order, and a file that nothing overlaps is read alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/column_set.h"
#include "engine/predicate/key_ranges.h"
#include "engine/region/view.h"
#include "index/key.h"

namespace tandem::engine {

/// Another file of a cluster that may hold rows of a file, and what is known about the shared rows.
struct FileOverlap {
  size_t other = 0;                   ///< In Cluster::files.
  const PairOverlap* pair = nullptr;  ///< nullptr: nothing is known.
  const RowSet* here = nullptr;       ///< Of `pair`, this file's shared rows; nullptr: none.
  const RowSet* there = nullptr;      ///< Of `pair`, the other file's.
  /// The other file is newer and wholly visible: it makes postings of this one dead.
  bool supersedes = false;

  bool is_known() const { return pair != nullptr; }
};

/// The rows [low, high) of a file, with what a view knows about them.
struct FileSource {
  std::shared_ptr<LiveFile> live;
  format::StoreFile* file = nullptr;
  uint32_t low = 0, high = 0;
  /// The view sees every cell of the file, and neither a timestamp bound (rule 22) nor former
  /// limits of a family leave out the newest ones: the current parts of its sections are enough.
  bool visible = false;
  bool may_be_single_source = false;  ///< Visible and nothing in it may have expired (rule 16).
  bool in_order = false;              ///< That of its cluster.
  /// Its positions are the ordinals.
  const format::DataSection* carrier = nullptr;
  /// The families that the read decodes and the file has, by id (LoadFamilies).
  std::vector<const format::DataSection*> families = {};
  const format::Bitmap* clean = nullptr;        ///< nullptr: every row is clean.
  std::vector<FileOverlap> file_overlaps = {};  ///< With every other file that may hold its rows.

  std::string_view min_key() const { return file->statistics().min_key; }
  std::string_view max_key() const { return file->statistics().max_key; }
  /// Whether the file holds no hidden, expired or old cell of the row.
  bool MayBeSingleSource(uint32_t ordinal) const {
    return may_be_single_source && (clean == nullptr || clean->Test(ordinal));
  }
};

/// Sources whose keys interleave.
struct Cluster {
  std::vector<FileSource> files;
  std::vector<std::shared_ptr<const Memstore>> memstores;
  format::KeyRange rows;  ///< What the read asks for; files are cut to it, memstores are not.
  bool in_order = false;  ///< What column_order.h found of it; false: it was not asked.

  bool has_one_file() const { return files.size() == 1 && memstores.empty(); }
};

/// The clusters of the rows in `rows`, in key order. Loads the key carrier of each file. Errors:
/// kCorruption, kIoError. Lifetime: the view outlives them.
Result<std::vector<Cluster>> FindClusters(const TableView& view, const format::KeyRange& rows);
/// The same for several ranges, ascending and disjoint: each has clusters of its own.
Result<std::vector<Cluster>> FindClusters(const TableView& view, const KeyRanges& rows);
/// Those of the rows in `within`, in the regions that may have one of `rows`, which are ascending
/// and disjoint. A query pins no others; EXPLAIN pins all.
Result<std::vector<Cluster>> FindClusters(const TableView& view, const format::KeyRange& within,
                                          const KeyRanges& rows);

/// Loads the families of `columns` in every file. Errors: kCorruption, kIoError.
Status LoadFamilies(const ColumnSet& columns, std::vector<Cluster>* clusters);

}  // namespace tandem::engine
