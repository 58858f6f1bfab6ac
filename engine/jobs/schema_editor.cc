// What the publication of an edit needs is allocated before the edit, so that it cannot fail.
#include "engine/jobs/schema_editor.h"

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

}  // namespace

// A table that goes, with its rows.
struct SchemaEditor::Removal {
  const Successor successor;
  std::shared_ptr<const Table> table = nullptr;
  std::shared_ptr<FormerTable> former = nullptr;
  std::list<SchemaHistory::Change> change = {};
  RegionSet::Addition addition = {};  // The empty table, if there is one.
  std::vector<Region::Retirement> retirements = {};
};

Status SchemaEditor::Drop(std::string_view table) { return Remove(table, Successor::kNone); }

Status SchemaEditor::Truncate(std::string_view table) {
  return Remove(table, Successor::kEmptyTable);
}

// What it had is released outside the queue, and files that nobody reads with it.
Status SchemaEditor::Remove(std::string_view name, Successor successor) {
  // Most of the log, while others commit.
  RETURN_IF_ERROR(deps_.queue->SyncThrough(deps_.queue->last_sequence()));
  Removal removal{.successor = successor};
  RETURN_IF_ERROR(deps_.queue->RunAlone([&] { return RemoveAlone(name, &removal); }));
  for (const auto& region : removal.table->regions) {
    deps_.compactor->EndMergesOf(*region);
    deps_.flusher->Forget(*region);
  }
  Guarded([this] {
    deps_.removed();
    return Status();
  }).Ignore("the next flush or group looks at memory and log again");
  return {};
}

Status SchemaEditor::RemoveAlone(std::string_view name, Removal* removal) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  removal->table = deps_.regions->Find(name);
  if (removal->table == nullptr) return TableNotFound(name);
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
    if (file.table == id) edit->remove_files.push_back(number);
  }
  for (const auto& [region_id, region] : catalog.regions) {
    if (region.table == id) edit->remove_regions.push_back(region_id);
  }
  removal->former = std::make_shared<FormerTable>();
  removal->former->table = removal->table;
  for (const auto& region : table.regions) {
    removal->former->versions.push_back(region->version());
    removal->retirements.push_back(region->PrepareRetirement());
  }
  removal->change.push_back(
      {.table = id, .name = table.record->name, .renamed = {}, .former = removal->former});
  if (removal->successor == Successor::kNone) return;
  format::TableRecord record = *table.record;
  record.id = format::TableId(edit->counters->next_table_id++);
  edit->put_regions = EmptyRegions(table, record.id, &*edit->counters);
  removal->addition = deps_.regions->Prepare(record, edit->put_regions);
  for (const auto& [added, empty] : removal->addition.by_id) {
    for (const auto& region : empty->regions) deps_.prepare(*region);
  }
  edit->put_tables.push_back(std::move(record));
}

// Readers that meet a retired region look for the table again.
void SchemaEditor::PublishRemoval(Removal* removal) {
  for (const auto& version : removal->former->versions) {
    for (const FileSlice& slice : version->files) StoreFiles::Retire(*slice.file);
  }
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
  if (deps_.regions->Find(to) != nullptr) {
    return Status::AlreadyExists("table " + base::Quote(to) + " exists already");
  }
  RETURN_IF_ERROR(deps_.sync_log());
  auto record = std::make_shared<format::TableRecord>(*table->record);
  record->name = to;
  auto renamed = std::make_shared<Table>(*table);
  renamed->record = record;
  RegionSet::Addition addition;
  addition.by_id[record->id] = renamed;
  addition.by_name[to] = renamed;
  std::list<SchemaHistory::Change> history;
  history.push_back(
      {.table = record->id, .name = table->record->name, .renamed = to, .former = nullptr});
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    edit->put_tables.push_back(*record);
    return Status();
  };
  change.publish = [&] {
    deps_.history->Add(std::move(history));
    deps_.regions->Change(std::move(addition));
    deps_.history->Shown();
    deps_.applier->ForgetTables();
    for (const auto& region : renamed->regions) region->SetTable(record);
  };
  return Commit(change);
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
  auto changed = std::make_shared<Table>(*table);
  changed->record = record;
  RegionSet::Addition addition;
  addition.by_id[record->id] = changed;
  addition.by_name[record->name] = changed;
  CatalogEditor::Change edit;
  edit.prepare = [&](const format::Catalog&, format::CatalogEdit* out) {
    out->put_tables.push_back(*record);
    return Status();
  };
  edit.publish = [&] {
    deps_.regions->Change(std::move(addition));
    deps_.applier->ForgetTables();
    for (const auto& region : changed->regions) region->SetTable(record);
  };
  RETURN_IF_ERROR(deps_.editor->Commit(edit));
  Guarded([&] {
    deps_.indexes_changed(*changed);
    return Status();
  }).Ignore("memstores are read without the index until they are flushed");
  return {};
}

}  // namespace tandem::engine
