// Explains the bytes of a directory, each once: a listing of its files against the regions that
// refer to them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/commit/segment_tracker.h"
#include "engine/region/view.h"
#include "engine/storage/storage.h"
#include "tandem/space.h"

namespace tandem::engine {

/// A file that named snapshots have.
struct SnapshotFile {
  std::string table;     ///< Its name at one of them.
  std::string snapshot;  ///< Empty: several have it.
};

/// What the listing is compared with. Lifetime: all outlive the call.
struct SpaceContext {
  std::span<const TableView> tables;
  std::span<const SegmentTracker::Sealed> sealed;
  /// The last operation of the segments that are not in `sealed`.
  format::SequenceNumber last_sequence;
  /// The files that merges have replaced and that somebody still reads.
  std::set<format::FileNumber> retired;
  /// Of the files that no region of `tables` has: those that a snapshot has.
  std::map<format::FileNumber, SnapshotFile> of_snapshots = {};
};

/// The parts of `files`, which add up to their sizes.
std::vector<SpacePart> ExplainFiles(std::span<const ListedFile> files, const SpaceContext& context);

/// The files that named snapshots have.
std::map<format::FileNumber, SnapshotFile> FilesOfSnapshots(const format::Catalog& catalog);

}  // namespace tandem::engine
