// See the header for the steps.
#include "engine/jobs/index_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/region/region_runs.h"
#include "store_file/indexed_copy.h"

namespace tandem::engine {
namespace {

const FileSlice* FindSlice(const RegionVersion& version, format::FileNumber file) {
  const auto found = std::ranges::find_if(version.files, [file](const FileSlice& slice) {
    return slice.file->store().number() == file;
  });
  return found == version.files.end() ? nullptr : &*found;
}

bool RefersTo(const format::RegionRecord& region, format::FileNumber file) {
  return std::ranges::any_of(region.files, [file](const format::FileReference& reference) {
    return reference.file == file;
  });
}

}  // namespace

// The compaction turns of the regions that share a file.
class IndexBuilder::Turns {
 public:
  /// `ended`: see Dependencies. It outlives this.
  explicit Turns(const std::function<void(Region&)>& ended) : ended_(ended) {}
  ~Turns() {
    for (Region* region : taken_) {
      region->End(Region::Work::kCompaction);
      ended_(*region);
    }
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Those of all but `own`. False: another thread has one; it may wait for what this thread has.
  bool TryTake(const Sharers& sharers, const Region& own) {
    taken_.reserve(sharers.size());
    for (const auto& region : sharers) {
      if (region.get() == &own) continue;
      if (!region->TryBegin(Region::Work::kCompaction)) return false;
      taken_.push_back(region.get());
    }
    return true;
  }

 private:
  const std::function<void(Region&)>& ended_;
  std::vector<Region*> taken_;
};

// One file that gets indexes.
struct IndexBuilder::Addition {
  Region& region;
  const std::shared_ptr<LiveFile> file;
  const std::atomic<bool>& cancelled;
  JobProgress& progress;
  const std::function<void()>& give_way;
  const std::shared_ptr<const format::TableRecord> table;  // With the indexes.
  const Sharers sharers;                                   // The region among them.
  FinishedFile copy = {};

  format::FileNumber number() const { return file->store().number(); }
};

// Only regions that hold keys of the file can have a part of it.
IndexBuilder::Sharers IndexBuilder::SharersOf(const Region& region,
                                              const format::StoreFile& file) const {
  Sharers sharers;
  const std::shared_ptr<const Table> table = deps_.regions->Find(region.table_id());
  if (table == nullptr) return sharers;
  const format::FileStatistics& statistics = file.statistics();
  for (const auto& other : table->RegionsOf(statistics.min_key, statistics.max_key)) {
    if (FindSlice(*other->version(), file.number()) != nullptr) sharers.push_back(other);
  }
  return sharers;
}

bool IndexBuilder::IsFirstWith(const Region& region, const format::StoreFile& file) const {
  const std::shared_ptr<const Table> table = deps_.regions->Find(region.table_id());
  if (table == nullptr) return false;
  const format::FileStatistics& statistics = file.statistics();
  for (const auto& other : table->RegionsOf(statistics.min_key, statistics.max_key)) {
    if (FindSlice(*other->version(), file.number()) != nullptr) return other.get() == &region;
  }
  return false;
}

Result<uint64_t> IndexBuilder::AddIndexes(Region& region, const FileSlice& slice,
                                          const std::atomic<bool>& cancelled, JobProgress* progress,
                                          const std::function<void()>& give_way) {
  Addition addition{.region = region,
                    .file = slice.file,
                    .cancelled = cancelled,
                    .progress = *progress,
                    .give_way = give_way,
                    .table = region.table(),
                    .sharers = SharersOf(region, slice.file->store())};
  Turns turns(deps_.turn_ended);
  if (!turns.TryTake(addition.sharers, region)) {
    return Status::Busy("a region that shares " + slice.file->store().blocks().file().name() +
                        " is being compacted");
  }
  const int64_t began_micros = deps_.clock->MonotonicMicros();
  const Status status = Guarded([&] { return AddInTurn(&addition); });
  {
    base::MutexLock lock(mutex_);
    copied_bytes_.erase(addition.number());
  }
  RETURN_IF_ERROR(status);
  CountRewritten(addition.file->store().size_bytes(),
                 static_cast<uint64_t>(deps_.clock->MonotonicMicros() - began_micros));
  return addition.copy.record.size_bytes;
}

// A copy that was not installed is deleted. If a crash could still bring it in, it is deleted once
// that is no longer so (Storage::DeleteFile).
Status IndexBuilder::AddInTurn(Addition* addition) {
  RETURN_IF_ERROR(WriteCopy(addition));
  const Status installed = Guarded([&] { return Install(*addition); });
  if (!installed.ok()) StoreFiles::Retire(*addition->copy.file);
  return installed;
}

Status IndexBuilder::WriteCopy(Addition* addition) {
  format::StoreFile& from = addition->file->store();
  ASSIGN_OR_RETURN(NewFile created, deps_.work.files->Create());
  const format::IndexedCopySpec spec{
      .number = created.number,
      .id = created.id,
      .table = addition->table.get(),
      .entry_bytes_max = deps_.work.merge_entry_bytes,
      .passed = [&](uint64_t bytes) { return Passed(*addition, bytes); }};
  const Status written = Guarded([&]() -> Status {
    ASSIGN_OR_RETURN(const format::StoreFileSummary summary,
                     format::CopyWithIndexes(&from, created.file.get(), spec));
    created.file.reset();
    addition->copy.record = RecordOf(created.number, created.id, addition->table->id, summary);
    ASSIGN_OR_RETURN(addition->copy.file, deps_.work.files->Open(addition->copy.record));
    return {};
  });
  if (written.ok()) return written;
  created.file.reset();
  deps_.work.files->Discard(created.number);
  return written;
}

Status IndexBuilder::Passed(const Addition& addition, uint64_t bytes) {
  RETURN_IF_ERROR(CheckWanted(addition));
  RETURN_IF_ERROR(deps_.work.health->CheckWritable());
  {
    base::MutexLock lock(mutex_);
    copied_bytes_[addition.number()] += bytes;
  }
  addition.progress.fetch_add(bytes, std::memory_order_relaxed);
  RETURN_IF_ERROR(limit_.Pass(bytes, [&]() -> Result<uint32_t> {
    RETURN_IF_ERROR(CheckWanted(addition));
    return HoldsUpMerges(addition) ? RateLimit::kNoLimit : 1;
  }));
  addition.give_way();
  return {};
}

// Relaxed: the flag orders nothing; it only has to be seen eventually.
Status IndexBuilder::CheckWanted(const Addition& addition) {
  if (addition.cancelled.load(std::memory_order_relaxed)) {
    return Status::Cancelled("the build of an index was asked to stop");
  }
  const std::shared_ptr<const format::TableRecord> now = addition.region.table();
  for (const format::IndexRecord& index : addition.table->indexes) {
    if (now->FindIndex(index.id) == nullptr) {
      return Status::Cancelled("index '" + index.name + "' was dropped");
    }
  }
  for (const auto& region : addition.sharers) {
    if (!region->IsAwaited(Region::Work::kCompaction)) continue;
    return Status::Busy(region->Describe() + " is to be compacted, split or merged");
  }
  return {};
}

// Whether merges of the region wait for the copy to end: writers wait for them at last.
bool IndexBuilder::HoldsUpMerges(const Addition& addition) const {
  return std::ranges::any_of(addition.sharers, [this](const auto& region) {
    return RunCount(*region->version()) > deps_.runs_max;
  });
}

// Whether the catalog has the regions that share the file, and no others that refer to it: one was
// split, or merged with another, before the turns were taken otherwise.
bool IndexBuilder::AreAllThatRefer(const Addition& addition, const format::Catalog& catalog) {
  size_t referring = 0;
  for (const auto& [id, record] : catalog.regions) referring += RefersTo(record, addition.number());
  return referring == addition.sharers.size() &&
         std::ranges::none_of(addition.sharers,
                              [](const auto& region) { return region->is_retired(); });
}

// A named snapshot goes on with the file as it was.
Status IndexBuilder::Install(const Addition& addition) {
  bool is_kept = false;
  const auto replace = [&](RegionVersion* version) {
    for (FileSlice& slice : version->files) {
      if (slice.file == addition.file) slice.file = addition.copy.file;
    }
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) {
    for (const auto& region : addition.sharers) {
      if (region.get() == &addition.region && region->is_retired()) {
        return Status::Cancelled(region->Describe() + " is gone");
      }
      RegionVersion after = WithoutMemstores(*region->version());
      replace(&after);
      edit->put_regions.push_back(RecordOf(*region, after, region->flushed_through()));
    }
    if (!AreAllThatRefer(addition, catalog)) {
      return Status::Busy("the regions that share a file have changed");
    }
    edit->add_files.push_back(addition.copy.record);
    is_kept = catalog.snapshot_files.contains(addition.number());
    if (!is_kept) edit->remove_files.push_back(addition.number());
    return Status();
  };
  change.publish = [&] {
    for (const auto& region : addition.sharers) region->Update(replace);
    if (!is_kept) StoreFiles::Retire(*addition.file);
  };
  return deps_.work.editor->Commit(change);
}

void IndexBuilder::CountRewritten(uint64_t bytes, uint64_t micros) {
  base::MutexLock lock(mutex_);
  rewritten_bytes_ += bytes;
  rewriting_micros_ += micros;
}

uint64_t IndexBuilder::CopiedBytes(format::FileNumber file) const {
  base::MutexLock lock(mutex_);
  const auto found = copied_bytes_.find(file);
  return found == copied_bytes_.end() ? 0 : found->second;
}

uint64_t IndexBuilder::BytesPerSecond() const {
  base::MutexLock lock(mutex_);
  if (rewriting_micros_ == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(rewritten_bytes_) * 1e6 /
                               static_cast<double>(rewriting_micros_));
}

}  // namespace tandem::engine
