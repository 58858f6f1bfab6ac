// See the header for the steps.
#include "engine/jobs/load_linker.h"

#include <algorithm>
#include <list>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

/// Threads: one at a time.
class Linker {
 public:
  /// Both outlive it.
  Linker(const LoadWork& work, LoadFiles* files) : work_(work), files_(*files) {}

  Status Link();
  Status LinkNewTableAlone(const std::vector<std::string>& starts);

 private:
  using Regions = std::vector<std::shared_ptr<Region>>;
  /// What a region gets of the files.
  struct Part {
    Region* region = nullptr;
    std::vector<FileSlice> slices;
  };

  const format::TableRecord& record() const { return *files_.table(); }
  Status TryLink(bool* again);
  Status LinkAlone(const Regions& regions, bool* again);
  Status FlushRest(const Regions& regions);
  Result<std::vector<Part>> PartsOf(const Regions& regions) const;
  void AddRun(const Part& part, RegionVersion* version) const {
    InsertRun(part.slices, work_.files.join_bytes, version->files.size(), version);
  }
  Status AddParts(const std::vector<Part>& parts, format::SequenceNumber sequence);
  Status AddTable(const std::vector<std::string>& starts, format::SequenceNumber sequence,
                  format::CatalogEdit* edit, RegionSet::Addition* addition) const;
  Status Commit(const CatalogEditor::Change& change);

  const LoadWork& work_;
  LoadFiles& files_;
};

Status Linker::Link() {
  bool again = true;
  while (again) RETURN_IF_ERROR(TryLink(&again));
  return {};
}

Status Linker::TryLink(bool* again) {
  *again = false;
  const std::shared_ptr<const Table> table = work_.regions->Find(record().id);
  if (table == nullptr) return TableNotFound(record().name);
  const auto found = table->RegionsOf(files_.first_key(), files_.last_key());
  const Regions regions(found.begin(), found.end());
  RETURN_IF_ERROR(work_.flush(regions));
  Status status;
  {
    std::list<RegionJobLock> turns;
    for (const auto& region : regions) turns.emplace_back(*region, Region::Work::kFlush);
    status = work_.queue->RunAlone([&] { return LinkAlone(regions, again); });
  }
  // Also after an error: a memstore may wait for its flush.
  for (const auto& region : regions) work_.begin(*region);
  return status;
}

// Regions that were split or merged meanwhile are looked for again; two that are being merged share
// a memstore, and the next flush waits until they no longer do.
Status Linker::LinkAlone(const Regions& regions, bool* again) {
  RETURN_IF_ERROR(work_.files.health->CheckWritable());
  if (work_.regions->Find(record().id) == nullptr) return TableNotFound(record().name);
  *again = std::any_of(regions.begin(), regions.end(), [](const auto& region) {
    return region->is_retired() || region->shares_memstore();
  });
  if (*again) return {};
  RETURN_IF_ERROR(FlushRest(regions));
  const format::SequenceNumber sequence = work_.queue->TakeSequence();
  RETURN_IF_ERROR(files_.Finish(sequence));
  ASSIGN_OR_RETURN(const std::vector<Part> parts, PartsOf(regions));
  return AddParts(parts, sequence);
}

Status Linker::FlushRest(const Regions& regions) {
  RETURN_IF_ERROR(work_.sync_log());
  for (const auto& region : regions) {
    region->SwitchMemstore();
    work_.memstore_changed(*region);
    RETURN_IF_ERROR(work_.flusher->FlushAlone(*region));
  }
  return {};
}

Result<std::vector<Linker::Part>> Linker::PartsOf(const Regions& regions) const {
  std::vector<Part> parts;
  for (const auto& region : regions) {
    Part part{.region = region.get(), .slices = {}};
    ASSIGN_OR_RETURN(part.slices, files_.SlicesOf(region->start_key(), region->end_key()));
    if (!part.slices.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

Status Linker::AddParts(const std::vector<Part>& parts, format::SequenceNumber sequence) {
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    AddFiles(files_.finished(), edit);
    for (const Part& part : parts) {
      RegionVersion after = *part.region->version();
      AddRun(part, &after);
      edit->put_regions.push_back(RecordOf(*part.region, after, part.region->flushed_through()));
    }
    return Status();
  };
  change.publish = [&] {
    for (const Part& part : parts) {
      part.region->Update([&](RegionVersion* version) {
        AddRun(part, version);
        version->changed_through = sequence;
      });
    }
    work_.files.snapshots->Publish(sequence);
  };
  return Commit(change);
}

// A snapshot from before the link may see the table, but no row of it.
Status Linker::LinkNewTableAlone(const std::vector<std::string>& starts) {
  RETURN_IF_ERROR(work_.files.health->CheckWritable());
  if (work_.regions->Find(record().name) != nullptr) return TableExists(record().name);
  const format::SequenceNumber sequence = work_.queue->TakeSequence();
  RETURN_IF_ERROR(files_.Finish(sequence));
  // Prepared before the edit: once that is durable, the table must appear even without free memory.
  RegionSet::Addition addition;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    return AddTable(starts, sequence, edit, &addition);
  };
  change.publish = [&] {
    work_.regions->Add(std::move(addition));
    work_.files.snapshots->Publish(sequence);
  };
  return Commit(change);
}

Status Linker::AddTable(const std::vector<std::string>& starts, format::SequenceNumber sequence,
                        format::CatalogEdit* edit, RegionSet::Addition* addition) const {
  *addition =
      work_.regions->Prepare(record(), format::NewRegions(record().id, starts, &*edit->counters));
  const Table& table = *addition->by_id.at(record().id);
  for (const auto& region : table.regions) {
    Part part{.region = region.get(), .slices = {}};
    ASSIGN_OR_RETURN(part.slices, files_.SlicesOf(region->start_key(), region->end_key()));
    region->Update([&](RegionVersion* version) {
      AddRun(part, version);
      version->changed_through = sequence;
    });
    edit->put_regions.push_back(RecordOf(*region, *region->version(), region->flushed_through()));
  }
  edit->put_tables.push_back(record());
  AddFiles(files_.finished(), edit);
  work_.prepare(table);
  return {};
}

// If the edit fails, it may be on disk all the same: nothing is committed until that is certain.
Status Linker::Commit(const CatalogEditor::Change& change) {
  const Status status = work_.files.editor->Commit(change);
  if (!status.ok()) {
    work_.queue->NoteDoubt();
    return status;
  }
  files_.Linked();
  return {};
}

}  // namespace

LoadFiles::RegionOf RegionsOfTable(const RegionSet& regions,
                                   std::shared_ptr<const format::TableRecord> table) {
  return [&regions, table = std::move(table)](std::string_view key) -> Result<LoadFiles::Range> {
    const std::shared_ptr<const Table> found = regions.Find(table->id);
    if (found == nullptr) return TableNotFound(table->name);
    const Region& region = found->RegionOf(key);
    return LoadFiles::Range{region.start_key(), region.end_key()};
  };
}

Status LinkLoad(const LoadWork& work, LoadFiles* files) {
  return files->empty() ? Status() : Linker(work, files).Link();
}

Status LinkNewTable(const LoadWork& work, const std::vector<std::string>& starts,
                    LoadFiles* files) {
  Linker linker(work, files);
  return work.queue->RunAlone([&] { return linker.LinkNewTableAlone(starts); });
}

}  // namespace tandem::engine
