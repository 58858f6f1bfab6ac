// From index conditions to the rows that may satisfy them, source by source. A row that satisfies
// the conditions is a candidate of at least one source that holds it; a candidate may not satisfy
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory_account.h"
#include "engine/source/sources.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "index/key.h"

namespace tandem::engine {

/// What an index is asked for.
struct IndexPath {
  const format::IndexRecord* index = nullptr;
  size_t position = 0;                   ///< Of the index in its table.
  std::vector<format::KeyRange> ranges;  ///< Ascending, disjoint.
  bool nulls = false;                    ///< Rows without the column too.
};

/// A way to the rows: those of all paths together.
struct AccessPath {
  std::vector<IndexPath> paths;
  bool exact = false;  ///< Being on a path is the whole condition, not a part of it.
};

struct FileCandidates {
  std::vector<uint32_t> ordinals;  ///< Sorted, unique, within the source's bounds.
  bool decided = false;            ///< A settled candidate satisfies the condition.
  /// Every candidate is there for a posting of it; nullptr: that is not so, or not known.
  const format::IndexRecord* index = nullptr;
  base::MemoryCharge charge = {};
};

/// The section of an index in a file; nullptr when the file has none, or a broken one, which is
/// marked so (StoreFile::GoOnWithout). Errors: kIoError.
Result<format::IndexSection*> UsableSection(format::StoreFile* file, format::IndexId index);
/// Whether corruption that was met in the section of the index is no error any more: the file goes
/// on without the section.
bool GoesOnWithoutIndex(format::StoreFile* file, format::IndexId index, const Status& status);

/// Every row of a file without a usable section is a candidate. Errors: kIoError; kCorruption of a
/// file that does not go on without broken sections.
Result<FileCandidates> CandidatesOf(const FileSource& source, const AccessPath& access);

/// One row of each key, by key, without those whose postings newer cells in memstores make dead.
/// Whether the others satisfy anything is to be decided on the merged row.
std::vector<const MemRow*> MemstoreCandidates(const Cluster& cluster, const AccessPath& access,
                                              const format::ReadPoint& point);

/// Entries of the path in the file; nullopt when it has no usable section. Errors: as CandidatesOf.
Result<std::optional<uint64_t>> ExactEntries(const FileSource& source, const IndexPath& path);
/// The same, every row of a file without a usable section counts.
Result<uint64_t> CountEntries(const FileSource& source, const IndexPath& path);
/// Entries of the path in the cluster's memstores, those of later writes included; where rows
/// without the column belong to the path, every row of the memstores too.
uint64_t CountMemstoreEntries(const Cluster& cluster, const IndexPath& path);

}  // namespace tandem::engine
