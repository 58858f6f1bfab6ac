// See the header for the steps.
#include "engine/jobs/load_linker.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/registry/registered.h"

namespace tandem::engine {
namespace {

Status CheckMayBeLoaded(const format::TableRecord& table) {
  RETURN_IF_ERROR(format::CheckCalls(table));
  for (const format::IndexRecord& index : table.indexes) {
    if (!index.RefusesDuplicates()) continue;
    return Status::InvalidArgument("table " + base::Quote(table.name) + " has the unique index " +
                                   base::Quote(index.name) +
                                   ", which a load of files would not ask; use Write, or drop the "
                                   "index and add it again after the load");
  }
  if (!table.former_row_keys.empty()) {
    return Status::InvalidArgument("table " + base::Quote(table.name) +
                                   " has former row keys: rewrite its keys before files are "
                                   "loaded, which could have rows that it has under those");
  }
  if (table.observers.empty()) return {};
  return Status::InvalidArgument(
      "table " + base::Quote(table.name) + " has the observer " +
      base::Quote(table.observers.front()) +
      ", which a load of files would not ask; use Write, or take its observers off first");
}

/// Threads: one at a time.
class Linker {
 public:
  /// All outlive it. `runs`: some.
  Linker(const LoadWork& work, std::span<LoadFiles* const> runs) : work_(work), runs_(runs) {}

  Status Link();
  Status LinkNewTableAlone(const std::vector<std::string>& starts);

 private:
  /// What a region gets of the files: a list for each run.
  struct Part {
    Region* region = nullptr;
    std::vector<std::vector<FileSlice>> runs;
  };

  const format::TableRecord& record() const { return *runs_.front()->table(); }
  Result<Regions> RegionsOfRuns() const;
  Status LinkAlone(const Regions& regions);
  Result<format::SequenceNumber> FinishRuns();
  Result<Part> PartOf(Region* region) const;
  void AddRuns(const Part& part, RegionVersion* version) const;
  void AddFinishedFiles(format::CatalogEdit* edit) const;
  Status AddParts(const Table& table, const std::vector<Part>& parts,
                  format::SequenceNumber sequence);
  Status AddTable(const std::vector<std::string>& starts, format::SequenceNumber sequence,
                  format::CatalogEdit* edit, RegionSet::Addition* addition) const;
  Status Commit(const CatalogEditor::Change& change);

  const LoadWork& work_;
  const std::span<LoadFiles* const> runs_;
  bool has_met_stop_ = false;
};

// Again when the table's writes wait.
Status Linker::Link() {
  while (true) {
    has_met_stop_ = false;
    const Status status = RunFlushed(
        work_, [this] { return RegionsOfRuns(); },
        [this](const Regions& regions) { return LinkAlone(regions); });
    if (!has_met_stop_) return status;
    const std::shared_ptr<const Table> table = work_.regions->Find(record().id);
    if (table == nullptr) return TableNotFound(record().name);
    RETURN_IF_ERROR(work_.stops->Pass({&table, 1}, /*no_wait=*/false));
  }
}

// Those that get rows: no other is flushed.
Result<Regions> Linker::RegionsOfRuns() const {
  const std::shared_ptr<const Table> table = work_.regions->Find(record().id);
  if (table == nullptr) return TableNotFound(record().name);
  RETURN_IF_ERROR(CheckMayBeLoaded(*table->record));
  if (table->record->row_key != record().row_key) {
    return Status::InvalidArgument("table " + base::Quote(table->record->name) +
                                   " got another row key since the load began");
  }
  Regions regions;
  for (const LoadFiles* files : runs_) {
    for (const LoadFiles::KeySpan& span : files->spans()) {
      const auto found = table->RegionsOf(span.first, span.last);
      regions.insert(regions.end(), found.begin(), found.end());
    }
  }
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a->start_key() < b->start_key(); });
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return regions;
}

// Rows were thinned by the limits of the begin.
Status CheckLimits(const format::TableRecord& begun, const format::TableRecord& now) {
  for (const format::FamilyRecord& family : begun.families) {
    const FamilyOptions& options = now.FindFamily(family.id)->options;
    if (!format::KeepsMore(options, family.options)) continue;
    return Status::Conflict("family " + base::Quote(options.name) + " of table " +
                            base::Quote(now.name) +
                            " got more versions or a longer time to live since the load began; "
                            "load again");
  }
  return {};
}

// A unique index may have begun to refuse duplicates since the regions were looked up.
Status Linker::LinkAlone(const Regions& regions) {
  const std::shared_ptr<const Table> table = work_.regions->Find(record().id);
  if (table == nullptr) return TableNotFound(record().name);
  RETURN_IF_ERROR(CheckLimits(record(), *table->record));
  RETURN_IF_ERROR(CheckMayBeLoaded(*table->record));
  has_met_stop_ = work_.stops->IsStopped(table->record->id);
  if (has_met_stop_) return Status::Busy("writes of the table wait, and so does the load");
  ASSIGN_OR_RETURN(const format::SequenceNumber sequence, FinishRuns());
  std::vector<Part> parts;
  for (const auto& region : regions) {
    ASSIGN_OR_RETURN(Part part, PartOf(region.get()));
    if (!part.runs.empty()) parts.push_back(std::move(part));
  }
  return AddParts(*table, parts, sequence);
}

// Returns the sequence of the newest run.
Result<format::SequenceNumber> Linker::FinishRuns() {
  format::SequenceNumber sequence;
  for (LoadFiles* files : runs_) {
    sequence = work_.queue->TakeSequence();
    RETURN_IF_ERROR(files->Finish(sequence));
  }
  return sequence;
}

Result<Linker::Part> Linker::PartOf(Region* region) const {
  Part part{.region = region, .runs = {}};
  for (const LoadFiles* files : runs_) {
    ASSIGN_OR_RETURN(std::vector<FileSlice> slices,
                     files->SlicesOf(region->start_key(), region->end_key()));
    if (!slices.empty()) part.runs.push_back(std::move(slices));
  }
  return part;
}

void Linker::AddRuns(const Part& part, RegionVersion* version) const {
  for (const auto& slices : part.runs) {
    InsertRun(slices, work_.files.join_bytes, version->files.size(), version);
  }
}

void Linker::AddFinishedFiles(format::CatalogEdit* edit) const {
  for (const LoadFiles* files : runs_) AddFiles(files->finished(), edit);
}

// The entries of global indexes lack the rows: who sees these must not use those.
Status Linker::AddParts(const Table& table, const std::vector<Part>& parts,
                        format::SequenceNumber sequence) {
  const bool has_global = !table.record->global_indexes.empty();
  SchemaEditor::Rebuild rebuild;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) -> Status {
    AddFinishedFiles(edit);
    if (has_global) {
      ASSIGN_OR_RETURN(rebuild, work_.schema->PrepareRebuild(table, edit));
    }
    for (const Part& part : parts) {
      RegionVersion after = *part.region->version();
      AddRuns(part, &after);
      edit->put_regions.push_back(RecordOf(*part.region, after, part.region->flushed_through()));
    }
    return Status();
  };
  change.publish = [&] {
    for (const Part& part : parts) {
      part.region->Update([&](RegionVersion* version) {
        AddRuns(part, version);
        version->changed_through = sequence;
      });
    }
    if (has_global) work_.schema->ShowRebuild(std::move(rebuild));
    work_.files.snapshots->Publish(sequence);
  };
  return Commit(change);
}

// A snapshot from before the link may see the table, but no row of it.
Status Linker::LinkNewTableAlone(const std::vector<std::string>& starts) {
  RETURN_IF_ERROR(work_.files.health->CheckWritable());
  if (work_.regions->Find(record().name) != nullptr) return TableExists(record().name);
  ASSIGN_OR_RETURN(const format::SequenceNumber sequence, FinishRuns());
  // Prepared before the edit: once that is durable, the table must appear even without free memory.
  RegionSet::Addition addition;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    return AddTable(starts, sequence, edit, &addition);
  };
  change.publish = [&] {
    // Who finds the table sees its rows: with an earlier sequence it would be empty.
    work_.files.snapshots->Publish(sequence);
    work_.regions->Add(std::move(addition));
  };
  return Commit(change);
}

Status Linker::AddTable(const std::vector<std::string>& starts, format::SequenceNumber sequence,
                        format::CatalogEdit* edit, RegionSet::Addition* addition) const {
  // Entries of its global indexes are built from the rows, as of an index that is added.
  format::TableRecord added = record();
  *addition = {};
  work_.schema->AddEntries(&added, edit, addition);
  RegionSet::Addition own =
      work_.regions->Prepare(added, format::NewRegions(added.id, starts, &*edit->counters));
  addition->by_id.merge(own.by_id);
  addition->by_name.merge(own.by_name);
  const Table& table = *addition->by_id.at(record().id);
  for (const auto& region : table.regions) {
    ASSIGN_OR_RETURN(const Part part, PartOf(region.get()));
    region->Update([&](RegionVersion* version) {
      AddRuns(part, version);
      version->changed_through = sequence;
    });
    edit->put_regions.push_back(RecordOf(*region, *region->version(), region->flushed_through()));
  }
  edit->put_tables.push_back(std::move(added));
  AddFinishedFiles(edit);
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
  for (LoadFiles* files : runs_) files->Linked();
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

Result<std::shared_ptr<const Table>> FindForLoad(const RegionSet& regions, std::string_view name) {
  std::shared_ptr<const Table> table = regions.Find(name);
  if (table == nullptr) return TableNotFound(name);
  RETURN_IF_ERROR(CheckMayBeLoaded(*table->record));
  return table;
}

Status LinkLoad(const LoadWork& work, std::span<LoadFiles* const> runs) {
  const bool is_empty = std::ranges::all_of(runs, [](LoadFiles* run) { return run->empty(); });
  return is_empty ? Status() : Linker(work, runs).Link();
}

Status LinkNewTable(const LoadWork& work, const std::vector<std::string>& starts,
                    LoadFiles* files) {
  Linker linker(work, {&files, 1});
  return work.queue->RunAlone([&] { return linker.LinkNewTableAlone(starts); });
}

}  // namespace tandem::engine
