// What the publication of an edit needs is allocated before the edit, so that it cannot fail.
#include "engine/jobs/schema_editor.h"

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// The regions of an empty table that has the same start keys.
std::vector<format::RegionRecord> EmptyRegions(const Table& table, format::TableId id,
                                               format::CatalogCounters* counters) {
  std::vector<format::RegionRecord> regions;
  for (const auto& former : table.regions) {
    format::RegionRecord& region = regions.emplace_back();
    region.id = format::RegionId(counters->next_region_id++);
    region.table = id;
    region.start_key = former->start_key();
    region.end_key = former->end_key();
    region.start_by_size = former->start_by_size();
  }
  return regions;
}

// Whether a read with the record `after` does not show some cells that it showed before.
bool TakesCells(const format::TableRecord& before, const format::TableRecord& after) {
  return std::any_of(before.families.begin(), before.families.end(), [&](const auto& family) {
    const format::FamilyRecord& now = *after.FindFamily(family.id);
    return now.dropped != family.dropped ||
           now.options.max_versions != family.options.max_versions ||
           now.options.ttl_micros != family.options.ttl_micros;
  });
}

std::shared_ptr<FormerTable> FormerOf(const std::shared_ptr<const Table>& table) {
  auto former = std::make_shared<FormerTable>();
  former->table = table;
  for (const auto& region : table->regions) former->versions.push_back(region->version());
  return former;
}

}  // namespace

// A table that goes, with its rows.
struct SchemaEditor::Removal {
  const Successor successor;
  const std::string_view name = {};  // Or, of one without a name to be found by,
  const format::TableId id = {};
  std::shared_ptr<const Table> table = nullptr;
  std::shared_ptr<FormerTable> former = nullptr;
  std::list<SchemaHistory::Change> change = {};
  RegionSet::Addition addition = {};  // The empty table, if there is one.
  std::vector<Region::Retirement> retirements = {};
  std::vector<std::shared_ptr<LiveFile>> files = {};  // That the catalog no longer names.
};

Status SchemaEditor::Drop(std::string_view table) {
  Removal removal{.successor = Successor::kNone, .name = table};
  RETURN_IF_ERROR(Remove(&removal));
  if (!removal.table->record->global_indexes.empty()) DropEntriesOfNone();
  return {};
}

Status SchemaEditor::Truncate(std::string_view table) {
  Removal removal{.successor = Successor::kEmptyTable, .name = table};
  RETURN_IF_ERROR(Remove(&removal));
  if (!removal.table->record->global_indexes.empty()) DropEntriesOfNone();
  return {};
}

void SchemaEditor::AddEntries(format::TableRecord* table, format::CatalogEdit* edit,
                              RegionSet::Addition* addition) const {
  for (format::GlobalIndexRecord& global : table->global_indexes) {
    if (global.entries != format::TableId()) continue;
    global.entries = format::TableId(edit->counters->next_table_id++);
    const format::TableRecord entries = deps_.entries_record(*table, global);
    const std::vector<format::RegionRecord> regions =
        format::NewRegions(entries.id, {std::string()}, &*edit->counters);
    edit->put_tables.push_back(entries);
    edit->put_regions.insert(edit->put_regions.end(), regions.begin(), regions.end());
    RegionSet::Addition added = deps_.regions->Prepare(entries, regions);
    for (const auto& [id, empty] : added.by_id) {
      for (const auto& region : empty->regions) deps_.prepare(*region);
    }
    addition->by_id.merge(added.by_id);
    addition->by_name.merge(added.by_name);
  }
}

// As if they were dropped and added at once: they get other ids.
Result<SchemaEditor::Rebuild> SchemaEditor::PrepareRebuild(const Table& table,
                                                           format::CatalogEdit* edit) const {
  Rebuild rebuild;
  auto record = std::make_shared<format::TableRecord>(*table.record);
  for (format::GlobalIndexRecord& global : record->global_indexes) {
    if (record->next_index.value == UINT32_MAX) {
      return Status::InvalidArgument(
          "table " + base::Quote(record->name) + " has given out all ids of indexes: drop index " +
          base::Quote(global.index.name) + " before rows are loaded");
    }
    global.index.id = format::IndexId(record->next_index.value++);
    global.entries = format::TableId();
    global.since.reset();
  }
  AddEntries(record.get(), edit, &rebuild.entries);
  edit->put_tables.push_back(*record);
  auto changed = std::make_shared<Table>(table);
  changed->record = std::move(record);
  rebuild.shown.by_id[changed->record->id] = changed;
  rebuild.shown.by_name[changed->record->name] = changed;
  rebuild.table = std::move(changed);
  return rebuild;
}

// Batches that were planned before are planned again: they name the former entries.
void SchemaEditor::ShowRebuild(Rebuild rebuild) const {
  deps_.regions->Add(std::move(rebuild.entries));
  deps_.regions->Change(std::move(rebuild.shown));
  deps_.applier->ForgetTables();
  for (const auto& region : rebuild.table->regions) region->SetTable(rebuild.table->record);
}

// The table that has the index no longer names it, or is gone: no write can reach the entries.
bool SchemaEditor::HasEntriesOfNone(const format::TableRecord& table) const {
  if (!table.entries_of.has_value()) return false;
  const std::shared_ptr<const Table> indexed = deps_.regions->Find(table.entries_of->table);
  const format::GlobalIndexRecord* const global =
      indexed == nullptr ? nullptr : indexed->record->FindGlobal(table.entries_of->index);
  return global == nullptr || global->entries != table.id;
}

// Asked again by the commit leader: before, the index may just be about to come.
void SchemaEditor::DropEntriesOfNone() {
  for (const auto& table : deps_.regions->tables()) {
    if (!HasEntriesOfNone(*table->record)) continue;
    Removal removal{.successor = Successor::kNone, .id = table->record->id};
    Guarded([&] {
      return Remove(&removal);
    }).Ignore("entries that nobody reads take space until the database is opened again");
  }
}

// A table that gets another record.
struct SchemaEditor::NewRecord {
  std::shared_ptr<const Table> table;
  std::shared_ptr<format::TableRecord> record;
  bool takes_cells = false;
  std::shared_ptr<const Table> changed = nullptr;
  /// Of ChangeFlushed: completes the record while no other edit is made.
  std::function<Status(format::TableRecord*)> complete = nullptr;
  format::SequenceNumber changed_at = {};
  RegionSet::Addition entries = {};  // Tables that come with the record.
};

// What it had is released outside the queue, and files that nobody reads with it.
Status SchemaEditor::Remove(Removal* removal) {
  // Most of the log, while others commit.
  RETURN_IF_ERROR(deps_.queue->SyncThrough(deps_.queue->last_sequence()));
  RETURN_IF_ERROR(deps_.queue->RunAlone([&] { return RemoveAlone(removal); }));
  for (const auto& region : removal->table->regions) {
    deps_.compactor->EndMergesOf(*region);
    deps_.flusher->Forget(*region);
  }
  Guarded([this] {
    deps_.removed();
    return Status();
  }).Ignore("the next flush or group looks at memory and log again");
  return {};
}

Status SchemaEditor::RemoveAlone(Removal* removal) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  removal->table =
      removal->name.empty() ? deps_.regions->Find(removal->id) : deps_.regions->Find(removal->name);
  if (removal->table == nullptr) return TableNotFound(removal->name);
  if (removal->name.empty() && !HasEntriesOfNone(*removal->table->record)) {
    return Status::Conflict("the entries are those of an index");
  }
  RETURN_IF_ERROR(deps_.sync_log());
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) {
    PrepareRemoval(catalog, edit, removal);
    return Status();
  };
  change.publish = [&] { PublishRemoval(removal); };
  return Commit(change);
}

// Regions and files are those of the catalog: one that is being split has its halves there first.
void SchemaEditor::PrepareRemoval(const format::Catalog& catalog, format::CatalogEdit* edit,
                                  Removal* removal) {
  const Table& table = *removal->table;
  const format::TableId id = table.record->id;
  edit->remove_tables.push_back(id);
  for (const auto& [number, file] : catalog.files) {
    if (file.table != id || catalog.snapshot_files.contains(number)) continue;
    edit->remove_files.push_back(number);
  }
  for (const auto& [region_id, region] : catalog.regions) {
    if (region.table == id) edit->remove_regions.push_back(region_id);
  }
  removal->former = FormerOf(removal->table);
  for (const auto& version : removal->former->versions) {
    for (const FileSlice& slice : version->files) {
      const bool is_kept = catalog.snapshot_files.contains(slice.file->store().number());
      if (!is_kept) removal->files.push_back(slice.file);
    }
  }
  for (const auto& region : table.regions) {
    removal->retirements.push_back(region->PrepareRetirement());
  }
  removal->change.push_back(
      {.table = id, .name = table.record->name, .renamed = {}, .former = removal->former});
  if (removal->successor == Successor::kNone) return;
  format::TableRecord record = *table.record;
  record.id = format::TableId(edit->counters->next_table_id++);
  for (format::FamilyRecord& family : record.families) family.former_limits.clear();
  record.former_row_keys.clear();
  std::vector<format::RegionRecord> regions = EmptyRegions(table, record.id, &*edit->counters);
  for (format::GlobalIndexRecord& global : record.global_indexes) {
    global.entries = format::TableId();
    global.since = deps_.queue->last_sequence();
  }
  AddEntries(&record, edit, &removal->addition);
  edit->put_regions.insert(edit->put_regions.end(), regions.begin(), regions.end());
  RegionSet::Addition added = deps_.regions->Prepare(record, std::move(regions));
  for (const auto& [id, empty] : added.by_id) {
    for (const auto& region : empty->regions) deps_.prepare(*region);
  }
  removal->addition.by_id.merge(added.by_id);
  removal->addition.by_name.merge(added.by_name);
  edit->put_tables.push_back(std::move(record));
}

// Readers that meet a retired region look for the table again.
void SchemaEditor::PublishRemoval(Removal* removal) {
  for (const auto& file : removal->files) StoreFiles::Retire(*file);
  deps_.history->Add(std::move(removal->change));
  deps_.regions->Exchange(removal->table->record->id, std::move(removal->addition));
  deps_.history->Shown();
  deps_.applier->ForgetTables();
  for (size_t i = 0; i < removal->retirements.size(); ++i) {
    Region& region = *removal->table->regions[i];
    region.Retire(std::move(removal->retirements[i]));
    deps_.memstore_changed(region);
  }
}

Status SchemaEditor::Commit(const CatalogEditor::Change& change) {
  const Status status = deps_.editor->Commit(change);
  if (!status.ok()) deps_.queue->NoteDoubt();
  return status;
}

Status SchemaEditor::Rename(std::string_view from, const std::string& to) {
  return deps_.queue->RunAlone([&] { return RenameAlone(from, to); });
}

Status SchemaEditor::RenameAlone(std::string_view from, const std::string& to) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  const std::shared_ptr<const Table> table = deps_.regions->Find(from);
  if (table == nullptr) return TableNotFound(from);
  if (deps_.regions->Find(to) != nullptr) return TableExists(to);
  auto record = std::make_shared<format::TableRecord>(*table->record);
  record->name = to;
  NewRecord change{.table = table, .record = std::move(record)};
  return ReplaceRecord(&change);
}

// The regions' versions are taken while no other edit is made.
Status SchemaEditor::ReplaceRecord(NewRecord* change) {
  const format::TableRecord& before = *change->table->record;
  const bool is_renamed = before.name != change->record->name;
  const bool needs_history = is_renamed || change->takes_cells;
  if (needs_history) RETURN_IF_ERROR(deps_.sync_log());
  auto changed = std::make_shared<Table>(*change->table);
  changed->record = change->record;
  change->changed = changed;
  RegionSet::Addition addition;
  addition.by_id[before.id] = changed;
  addition.by_name[change->record->name] = changed;
  std::list<SchemaHistory::Change> history;
  CatalogEditor::Change edit;
  edit.prepare = [&](const format::Catalog&, format::CatalogEdit* out) -> Status {
    if (change->complete != nullptr) RETURN_IF_ERROR(change->complete(change->record.get()));
    AddEntries(change->record.get(), out, &change->entries);
    out->put_tables.push_back(*change->record);
    if (!needs_history) return Status();
    history.push_back({.table = before.id,
                       .name = before.name,
                       .renamed = is_renamed ? change->record->name : std::string(),
                       .former = is_renamed ? nullptr : FormerOf(change->table)});
    return Status();
  };
  edit.publish = [&] {
    // Before the record shows: who finds it finds all snapshots that are older registered.
    if (change->complete != nullptr) deps_.snapshots->Publish(change->changed_at);
    if (needs_history) deps_.history->Add(std::move(history));
    deps_.regions->Add(std::move(change->entries));
    deps_.regions->Change(std::move(addition));
    if (needs_history) deps_.history->Shown();
    deps_.applier->ForgetTables();
    for (const auto& region : changed->regions) {
      region->SetTable(change->record);
      if (change->complete != nullptr) region->active()->SetLimits(change->record);
    }
  };
  return needs_history ? Commit(edit) : deps_.editor->Commit(edit);
}

Status SchemaEditor::Change(std::string_view table,
                            const std::function<Status(format::TableRecord*)>& change) {
  return deps_.queue->RunAlone([&] { return ChangeAlone(table, change); });
}

Status SchemaEditor::ChangeAlone(std::string_view name,
                                 const std::function<Status(format::TableRecord*)>& change) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  const std::shared_ptr<const Table> table = deps_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  auto record = std::make_shared<format::TableRecord>(*table->record);
  RETURN_IF_ERROR(change(record.get()));
  const bool takes_cells = TakesCells(*table->record, *record);
  NewRecord replacement{.table = table, .record = std::move(record), .takes_cells = takes_cells};
  return Finish(&replacement);
}

Status SchemaEditor::Finish(NewRecord* replacement) {
  RETURN_IF_ERROR(ReplaceRecord(replacement));
  Guarded([&] {
    deps_.record_changed(*replacement->changed);
    return Status();
  }).Ignore("what memstores and files have of the former record is right, if slower");
  return {};
}

namespace {

format::SequenceNumber OldestInFiles(const Table& table) {
  format::SequenceNumber oldest = format::kSequenceMax;
  for (const auto& region : table.regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    for (const FileSlice& slice : version->files) {
      oldest = std::min(oldest, slice.file->store().statistics().min_sequence);
    }
  }
  return oldest;
}

}  // namespace

Status SchemaEditor::ChangeFlushed(const FlushWork& work, const std::string& table,
                                   const PlacedChange& change) {
  const auto find = [&]() -> Result<Regions> {
    const std::shared_ptr<const Table> found = deps_.regions->Find(table);
    if (found == nullptr) return TableNotFound(table);
    return Regions(found->regions.begin(), found->regions.end());
  };
  return RunFlushed(work, find, [&](const Regions&) { return ChangeFlushedAlone(table, change); });
}

Status SchemaEditor::ChangeFlushedAlone(const std::string& name, const PlacedChange& change) {
  const std::shared_ptr<const Table> table = deps_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  Place place{.now_micros = deps_.time->Now(), .oldest_in_files = OldestInFiles(*table)};
  format::TableRecord tried = *table->record;
  RETURN_IF_ERROR(change(place, &tried));
  place.sequence = deps_.queue->TakeSequence();
  NewRecord replacement{.table = table,
                        .record = std::make_shared<format::TableRecord>(*table->record),
                        .takes_cells = true,
                        .complete =
                            [&](format::TableRecord* record) {
                              place.now_micros = deps_.time->Now();
                              return change(place, record);
                            },
                        .changed_at = place.sequence};
  return Finish(&replacement);
}

}  // namespace tandem::engine
