// Creating and dropping named snapshots. Each is one edit of the catalog.
//
// Creating (a crash may come after each step):
//   1. to 3. Those of RunFlushed (flushed_regions.h): the files of the regions hold every operation
//      up to the last one, S, and writers wait.
//   4. One edit records, under the name: S, the time, and of each table its record and its regions
//      with their files, as the catalog has them. Merges that were installed before judged by an
//      earlier time what has expired; the files are immutable; so a read at S and that time finds
//      in them what it would have found then, and no sequence stays registered.
//
// Dropping: one edit removes the name, and the files that no region and no other snapshot refers
// to. Then these are deleted. While the snapshot is open, none of its files is deleted, even if a
// table lets go of it (StoreFiles::BeginHold): a read may need one that was not opened yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "engine/jobs/flushed_regions.h"
#include "engine/region/named_snapshots.h"
#include "engine/runtime/time_source.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class SnapshotEditor {
 public:
  /// All outlive it.
  struct Dependencies {
    const FlushWork* work = nullptr;
    Storage* storage = nullptr;
    NamedSnapshots* open = nullptr;
    TimeSource* time = nullptr;
    base::Clock* clock = nullptr;
  };
  explicit SnapshotEditor(const Dependencies& dependencies) : deps_(dependencies) {}

  /// See Database::CreateSnapshot.
  Status Create(const std::string& name, const std::vector<std::string>& tables);
  /// See Database::DropSnapshot.
  Status Drop(std::string_view name);

 private:
  Status CreateAlone(const std::string& name, const Regions& regions);

  const Dependencies deps_;
};

/// kNotFound "snapshot 'NAME' does not exist".
Status SnapshotNotFound(std::string_view name);

}  // namespace tandem::engine
