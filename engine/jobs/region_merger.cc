// Turns are taken in the order of engine_impl.h: the merges of both regions, the left one's first,
// then their flushes, then the commit queue's leadership or the catalog editor's turn.
#include "engine/jobs/region_merger.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/jobs/joined_files.h"
#include "engine/jobs/split_point.h"
#include "engine/region/region_runs.h"
#include "engine/region/size_rules.h"
#include "engine/region/unlogged.h"

namespace tandem::engine {
namespace {

using Neighbours = std::array<std::shared_ptr<Region>, 2>;

// The place of the region whose id is given, or that holds the key.
Result<size_t> FindLeft(const Table& table, const RegionMergeOptions& options) {
  if (!options.key.empty()) {
    const auto found = table.RegionsOf(options.key, options.key);
    if (options.region_id != 0 && found.front()->id().value != options.region_id) {
      return Status::InvalidArgument("the key " + base::Quote(options.key) + " lies in " +
                                     found.front()->Describe() + ", not in region " +
                                     std::to_string(options.region_id));
    }
    return static_cast<size_t>(found.data() - table.regions.data());
  }
  for (size_t i = 0; i < table.regions.size(); ++i) {
    if (table.regions[i]->id().value == options.region_id) return i;
  }
  return Status::NotFound("table " + base::Quote(table.record->name) + " has no region " +
                          std::to_string(options.region_id));
}

// The place of the left one of the two neighbours with the fewest bytes in files.
size_t FindSmallest(const Table& table) {
  std::vector<uint64_t> bytes;
  for (const auto& region : table.regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    bytes.push_back(BytesOf(version->files));
  }
  size_t smallest = 0;
  for (size_t i = 1; i + 1 < bytes.size(); ++i) {
    if (bytes[i] + bytes[i + 1] < bytes[smallest] + bytes[smallest + 1]) smallest = i;
  }
  return smallest;
}

Result<Neighbours> FindNeighbours(const Table& table, const RegionMergeOptions& options) {
  size_t left = 0;
  if (!options.key.empty() || options.region_id != 0) {
    ASSIGN_OR_RETURN(left, FindLeft(table, options));
  }
  if (table.regions.size() < 2) {
    return Status::InvalidArgument("table " + base::Quote(table.record->name) +
                                   " has one region: there is none to merge it with");
  }
  if (options.key.empty() && options.region_id == 0) left = FindSmallest(table);
  if (left + 1 == table.regions.size()) {
    return Status::InvalidArgument(table.regions[left]->Describe() +
                                   " is the last one: no region follows it");
  }
  return Neighbours{table.regions[left], table.regions[left + 1]};
}

RegionHalf Describe(const Region& region) {
  RegionHalf half = SizeOf(*region.version(), *region.table());
  half.region_id = region.id().value;
  return half;
}

uint64_t AllBytesOf(const Region& region) {
  const std::shared_ptr<const RegionVersion> version = region.version();
  uint64_t bytes = BytesOf(version->files);
  for (const auto& memstore : version->memstores) bytes += memstore->size_bytes();
  return bytes;
}

}  // namespace

// What one merge works with.
struct RegionMerger::Work {
  Region& left() const { return *neighbours[0]; }
  Region& right() const { return *neighbours[1]; }

  const Neighbours neighbours;
  std::vector<FileSlice> files = {};  // Of both.
  std::shared_ptr<Region> merged = nullptr;
};

Result<RegionMergeResult> RegionMerger::Merge(std::string_view name,
                                              const RegionMergeOptions& options) {
  while (true) {
    const std::shared_ptr<const Table> table = deps_.regions->Find(name);
    if (table == nullptr) return TableNotFound(name);
    ASSIGN_OR_RETURN(Neighbours neighbours, FindNeighbours(*table, options));
    Work work{.neighbours = std::move(neighbours)};
    RegionMergeResult result;
    result.key = work.right().start_key();
    result.left = Describe(work.left());
    result.right = Describe(work.right());
    const uint64_t bytes = result.left.bytes + result.right.bytes;
    result.is_too_large = bytes > deps_.region_bytes_max;
    if (options.dry_run) return result;
    if (result.is_too_large) {
      return Status::InvalidArgument(work.left().Describe() + " and the one after it hold " +
                                     std::to_string(bytes) + " bytes: one region above " +
                                     std::to_string(deps_.region_bytes_max) +
                                     " would be split again");
    }
    const Status status = Guarded([&] { return MergeThem(&work); });
    if (status.ok()) {
      result.region_id = work.merged->id().value;
      return result;
    }
    for (const auto& region : work.neighbours) deps_.resume(*region);
    // One was split or merged by another thread. What came of it is looked at again.
    const bool left_is_gone = work.left().is_retired();
    if (!left_is_gone && !work.right().is_retired()) return status;
    if (left_is_gone && options.region_id != 0) return status;
  }
}

// The left one of the two.
std::optional<format::RegionId> RegionMerger::FindDue(const Region& region) const {
  const std::shared_ptr<const Table> table = deps_.regions->Find(region.table_id());
  if (table == nullptr || region.is_retired()) return std::nullopt;
  const auto here = table->RegionsOf(region.start_key(), region.start_key());
  const auto place = static_cast<size_t>(here.data() - table->regions.data());
  const size_t first = place == 0 ? 0 : place - 1;
  for (size_t left = first; left <= place && left + 1 < table->regions.size(); ++left) {
    const Region &one = *table->regions[left], &other = *table->regions[left + 1];
    if (!other.start_by_size()) continue;
    const uint64_t bytes = AllBytesOf(one) + AllBytesOf(other);
    if (AreRegionsTooSmall(bytes, deps_.region_bytes_max)) return one.id();
  }
  return std::nullopt;
}

Status RegionMerger::MergeIfDue(const Region& region) {
  const std::optional<format::RegionId> left = FindDue(region);
  if (!left.has_value()) return Status();
  return Merge(region.table()->name, {.region_id = left->value}).status();
}

Status RegionMerger::MergeThem(Work* work) {
  LoggingHold logs_everything;
  RETURN_IF_ERROR(deps_.queue->RunAlone([&] {
    RETURN_IF_ERROR(deps_.health->CheckWritable());
    logs_everything.Add(&work->left().unlogged());
    logs_everything.Add(&work->right().unlogged());
    return Status();
  }));
  while (true) {
    RETURN_IF_ERROR(deps_.flush(work->left()));
    RETURN_IF_ERROR(deps_.flush(work->right()));
    ASSIGN_OR_RETURN(const bool merged, MergeInTurn(work));
    if (merged) break;
    // Afterwards neither has a part of a file.
    for (const auto& region : work->neighbours) RETURN_IF_ERROR(deps_.compact(region));
  }
  deps_.begin(*work->merged);
  const std::shared_ptr<const format::TableRecord> table = work->left().table();
  deps_.monitor->Merged({.table = table->name,
                         .region_id = work->merged->id().value,
                         .left_id = work->left().id().value,
                         .right_id = work->right().id().value});
  return Status();
}

// False: the files do not allow it.
Result<bool> RegionMerger::MergeInTurn(Work* work) {
  Region &left = work->left(), &right = work->right();
  const RegionJobLock left_merges = deps_.compactor->Pause(left);
  const RegionJobLock right_merges = deps_.compactor->Pause(right);
  const RegionJobLock left_flushes(left, Region::Work::kFlush);
  const RegionJobLock right_flushes(right, Region::Work::kFlush);
  for (const auto& region : work->neighbours) {
    if (region->is_retired()) return Gone(*region);
  }
  ASSIGN_OR_RETURN(const bool fits, Join(work, deps_.runs_max));
  if (!fits) return false;
  const Status shared = deps_.queue->RunAlone([&] {
    left.ShareMemstore(right);
    for (const auto& region : work->neighbours) deps_.memstore_changed(*region);
    return Status();
  });
  const Result<bool> merged =
      shared.ok() ? Guarded([&] { return MergeSharing(work); }) : Result<bool>(shared);
  if (merged.has_value() && *merged) {
    for (const auto& region : work->neighbours) deps_.flusher->Forget(*region);
    return true;
  }
  if (left.is_retired() || !deps_.health->CheckWritable().ok()) return merged;
  const Status ended = deps_.queue->RunAlone([&] {
    if (left.shares_memstore()) left.EndSharing(right);
    for (const auto& region : work->neighbours) deps_.memstore_changed(*region);
    return Status();
  });
  // Without allocations, since one may have failed; so below.
  if (!ended.ok()) deps_.health->TurnReadOnly("separating two regions again", ended);
  return merged;
}

// False: what was flushed meanwhile does not allow it.
Result<bool> RegionMerger::MergeSharing(Work* work) {
  for (const auto& region : work->neighbours) RETURN_IF_ERROR(deps_.flush_in_turn(*region));
  ASSIGN_OR_RETURN(const bool fits, Join(work, SIZE_MAX));
  if (!fits) return false;
  RETURN_IF_ERROR(Commit(work));
  bool is_dropped = false;
  const Status exchanged = deps_.queue->RunAlone([&] {
    is_dropped = work->left().is_retired();
    if (!is_dropped) Exchange(work);
    return Status();
  });
  if (is_dropped) return Gone(work->left());
  if (!exchanged.ok()) {
    deps_.health->TurnReadOnly("replacing two regions by the merged one", exchanged);
    return exchanged;
  }
  return true;
}

Result<bool> RegionMerger::Join(Work* work, size_t runs_max) {
  ASSIGN_OR_RETURN(std::optional<std::vector<FileSlice>> files,
                   JoinFiles(*work->left().version(), *work->right().version(), runs_max));
  if (!files.has_value()) return false;
  work->files = *std::move(files);
  return true;
}

// Everything that the exchange needs is made before the edit, as far as that is possible: once the
// edit is durable, the region must appear.
Status RegionMerger::Commit(Work* work) {
  const Region &left = work->left(), &right = work->right();
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    if (left.is_retired()) return Gone(left);  // A table is dropped between two edits.
    RegionVersion version;
    version.files = work->files;
    // Neither has an operation up to the larger one in its memstore.
    const auto flushed = std::max(left.flushed_through(), right.flushed_through());
    format::RegionRecord record = RecordOf(left, version, flushed);
    record.id = format::RegionId(edit->counters->next_region_id++);
    record.end_key = right.end_key();
    work->merged = deps_.regions->NewRegion(record, left.table());
    deps_.prepare(*work->merged);
    edit->remove_regions = {left.id(), right.id()};
    edit->put_regions = {std::move(record)};
    return Status();
  };
  change.publish = [] {};  // The commit leader does.
  return deps_.editor->Commit(change);
}

// The table has the region before its parts are retired: a reader that meets a retired one finds
// it.
void RegionMerger::Exchange(Work* work) {
  Region &left = work->left(), &right = work->right();
  work->merged->Unite(left, right, std::move(work->files));
  const std::shared_ptr<const Table> table = deps_.regions->Find(left.table_id());
  deps_.regions->Replace(RegionSet::With(*table, work->neighbours, {&work->merged, 1}));
  left.Retire();
  right.Retire();
  deps_.applier->ForgetTables();
  for (Region* region : {&left, &right, work->merged.get()}) deps_.memstore_changed(*region);
}

}  // namespace tandem::engine
