// Turns are taken in the order of engine_impl.h: the region's merges, its flushes, then the commit
// queue's leadership or the catalog editor's turn.
#include "engine/jobs/splitter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/region/region_runs.h"
#include "engine/region/unlogged.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// The region to split: the one that holds the key, the one of the id, or the largest.
Result<std::shared_ptr<Region>> FindRegion(const Table& table, const SplitOptions& options) {
  if (!options.key.empty()) {
    const auto found = table.RegionsOf(options.key, options.key).front();
    if (options.region_id != 0 && found->id().value != options.region_id) {
      return Status::InvalidArgument("the key " + base::Quote(options.key) + " lies in " +
                                     found->Describe() + ", not in region " +
                                     std::to_string(options.region_id));
    }
    return found;
  }
  if (options.region_id != 0) {
    for (const auto& region : table.regions) {
      if (region->id().value == options.region_id) return region;
    }
    return Status::NotFound("table " + base::Quote(table.record->name) + " has no region " +
                            std::to_string(options.region_id));
  }
  return *std::max_element(table.regions.begin(), table.regions.end(),
                           [](const auto& a, const auto& b) {
                             return BytesOf(a->version()->files) < BytesOf(b->version()->files);
                           });
}

Status CheckMayGrow(const Table& table) {
  if (table.regions.size() < kRegionsMax) return {};
  return Status::InvalidArgument("table " + base::Quote(table.record->name) + " has " +
                                 std::to_string(table.regions.size()) + " regions, the limit is " +
                                 std::to_string(kRegionsMax));
}

Status CheckKey(const Region& region, const std::string& key) {
  if (key.size() > kRowKeyBytesMax) {
    return Status::InvalidArgument("the split key has " + std::to_string(key.size()) +
                                   " bytes, the limit is " + std::to_string(kRowKeyBytesMax));
  }
  if (key != region.start_key()) return {};
  return Status::InvalidArgument(region.Describe() + " begins at " + base::Quote(key) + " already");
}

// What lies on either side.
Status Measure(const Region& region, SplitResult* result) {
  RETURN_IF_ERROR(CheckKey(region, result->key));
  ASSIGN_OR_RETURN(Sides sides, SidesOf(*region.version(), *region.table(), result->key));
  result->left = std::move(sides.left);
  result->right = std::move(sides.right);
  return {};
}

format::RegionRecord HalfOf(const Region& region, std::span<const FileSlice> files) {
  RegionVersion version;
  version.files.assign(files.begin(), files.end());
  return RecordOf(region, version, region.flushed_through());
}

}  // namespace

// What one split works with. Its region's turns are held.
struct Splitter::Cut {
  const std::shared_ptr<Region>& region;
  std::string_view key;
  Cause cause = Cause::kAsked;
  CutFiles files = {};
  std::array<std::shared_ptr<Region>, 2> halves = {};
};

Result<SplitResult> Splitter::Split(std::string_view name, const SplitOptions& options,
                                    Cause cause) {
  while (true) {
    const std::shared_ptr<const Table> table = deps_.regions->Find(name);
    if (table == nullptr) return TableNotFound(name);
    ASSIGN_OR_RETURN(const std::shared_ptr<Region> region, FindRegion(*table, options));
    SplitResult result;
    result.region_id = region->id().value;
    result.key = options.key;
    if (result.key.empty()) RETURN_IF_ERROR(FindKey(*region, &result));
    RETURN_IF_ERROR(Measure(*region, &result));
    // Before the region is flushed: one that has to stay too large is tried after each flush.
    RETURN_IF_ERROR(CheckMayGrow(*table));
    if (options.dry_run) return result;
    const Status status = Guarded([&] { return Divide(region, cause, &result); });
    if (status.ok()) return result;
    // A merge may have ended for this, and where writers wait for it no flush schedules it again.
    deps_.resume(*region);
    // It was split or merged by another thread. What came of it is looked at again.
    if (!region->is_retired() || options.region_id != 0) return status;
  }
}

Status Splitter::FindKey(const Region& region, SplitResult* result) const {
  ASSIGN_OR_RETURN(std::optional<std::string> live, deps_.live_middle(region));
  result->is_live_middle = live.has_value();
  if (live.has_value()) {
    result->key = *std::move(live);
    return {};
  }
  Result<std::string> middle = FindMiddle(*region.version());
  if (!middle.has_value() && middle.error().code() == StatusCode::kInvalidArgument) {
    return Status::InvalidArgument(region.Describe() + ": " +
                                   std::string(middle.error().message()));
  }
  ASSIGN_OR_RETURN(result->key, std::move(middle));
  return {};
}

Status Splitter::SplitInMiddle(const Region& region) {
  return Split(region.table()->name, {.region_id = region.id().value}, Cause::kSize).status();
}

Status Splitter::Divide(const std::shared_ptr<Region>& region, Cause cause, SplitResult* result) {
  LoggingHold logs_everything;
  RETURN_IF_ERROR(deps_.queue->RunAlone([&] {
    RETURN_IF_ERROR(deps_.health->CheckWritable());
    logs_everything.Add(&region->unlogged());
    return Status();
  }));
  RETURN_IF_ERROR(deps_.flush(*region));
  Cut cut{.region = region, .key = result->key, .cause = cause};
  {
    const RegionJobLock merges = deps_.compactor->Pause(*region);
    const RegionJobLock flushes(*region, Region::Work::kFlush);
    if (region->is_retired()) return Gone(*region);
    ASSIGN_OR_RETURN(cut.files, CutFilesAt(*region->version(), cut.key));
    RETURN_IF_ERROR(Commit(&cut));
    bool is_dropped = false;
    const Status exchanged = deps_.queue->RunAlone([&] {
      is_dropped = region->is_retired();
      if (!is_dropped) Exchange(&cut);
      return Status();
    });
    if (is_dropped) return Gone(*region);
    if (!exchanged.ok()) {
      // Without allocations, since one may have failed.
      deps_.health->TurnReadOnly("replacing a region by its halves", exchanged);
      return exchanged;
    }
    deps_.flusher->Forget(*region);
  }
  for (const auto& half : cut.halves) deps_.begin(*half);
  result->left.region_id = cut.halves[0]->id().value;
  result->right.region_id = cut.halves[1]->id().value;
  const std::shared_ptr<const format::TableRecord> table = region->table();
  deps_.monitor->Split({.table = table->name,
                        .region_id = result->region_id,
                        .left_id = result->left.region_id,
                        .right_id = result->right.region_id});
  return {};
}

// Everything that the exchange needs is made before the edit, as far as that is possible: once the
// edit is durable, the halves must appear.
Status Splitter::Commit(Cut* cut) {
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    // A table is dropped between two edits.
    if (cut->region->is_retired()) return Gone(*cut->region);
    RETURN_IF_ERROR(CheckMayGrow(*deps_.regions->Find(cut->region->table_id())));
    format::RegionRecord left = HalfOf(*cut->region, cut->files.left);
    format::RegionRecord right = HalfOf(*cut->region, cut->files.right);
    left.id = format::RegionId(edit->counters->next_region_id++);
    right.id = format::RegionId(edit->counters->next_region_id++);
    left.end_key = right.start_key = cut->key;
    right.start_by_size = cut->cause == Cause::kSize;
    cut->halves = {deps_.regions->NewRegion(left, cut->region->table()),
                   deps_.regions->NewRegion(right, cut->region->table())};
    for (const auto& half : cut->halves) deps_.prepare(*half);
    edit->remove_regions.push_back(cut->region->id());
    edit->put_regions = {std::move(left), std::move(right)};
    return Status();
  };
  change.publish = [] {};  // The commit leader does.
  return deps_.editor->Commit(change);
}

// The table has the halves before the region is retired: a reader that meets the retired region
// finds them.
void Splitter::Exchange(Cut* cut) {
  const std::shared_ptr<const RegionVersion> former = cut->region->version();
  cut->halves[0]->Inherit(*former, std::move(cut->files.left));
  cut->halves[1]->Inherit(*former, std::move(cut->files.right));
  const std::shared_ptr<const Table> table = deps_.regions->Find(cut->region->table_id());
  deps_.regions->Replace(RegionSet::With(*table, {&cut->region, 1}, cut->halves));
  cut->region->Retire();
  deps_.applier->ForgetTables();
  deps_.replaced(*cut->region, cut->halves);
}

}  // namespace tandem::engine
