// How an edit changes the catalog, and what must hold of every catalog. Applying an edit in place
// checks only ids and counters. CheckCatalog checks everything, so a reader of many edits calls it
// once, at the end. CheckChange checks what one edit touches: a flush changes one region among
// thousands.
#include <algorithm>
#include <map>
#include <set>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/storage/catalog.h"
#include "engine/storage/catalog_memory.h"

namespace tandem::format {
namespace {

Status Misfit(std::string_view what, uint64_t id, std::string_view why) {
  std::string message("catalog: ");
  message.append(what).append(" ").append(std::to_string(id)).append(": ").append(why);
  return Status::Corruption(std::move(message));
}

Status ApplyCounters(const CatalogCounters& from, CatalogCounters* to) {
  if (from.next_file_number < to->next_file_number || from.next_table_id < to->next_table_id ||
      from.next_region_id < to->next_region_id || from.last_timestamp < to->last_timestamp ||
      from.clock_high_micros < to->clock_high_micros || from.last_sequence < to->last_sequence) {
    return Status::Corruption("catalog: a counter shrinks");
  }
  *to = from;
  return {};
}

// A catalog that was not made by edits does not count the memory of its first records.
void Forget(uint64_t bytes, Catalog* catalog) {
  catalog->memory_bytes -= std::min(bytes, catalog->memory_bytes);
}

template <typename Map, typename Key>
Status RemoveFrom(Map* map, std::string_view what, const std::vector<Key>& keys, Catalog* catalog) {
  for (Key key : keys) {
    const auto found = map->find(key);
    if (found == map->end()) return Misfit(what, key.value, "does not exist");
    Forget(MemoryOf(found->second), catalog);
    map->Erase(key);
  }
  return {};
}

// Inserts a record or replaces the one with its id.
template <typename Map, typename Record>
void PutInto(Map* map, const Record& record, Catalog* catalog) {
  const auto place = map->find(record.id);
  if (place != map->end()) Forget(MemoryOf(place->second), catalog);
  catalog->memory_bytes += MemoryOf(record);
  map->Put(record.id, record);
}

Status ApplyTables(const CatalogEdit& edit, Catalog* catalog) {
  for (const TableRecord& table : edit.put_tables) PutInto(&catalog->tables, table, catalog);
  return RemoveFrom(&catalog->tables, "table", edit.remove_tables, catalog);
}

// Counts the references of a snapshot that came, or no longer counts those of one that goes.
void CountReferences(const SnapshotRecord& snapshot, bool comes, Catalog* catalog) {
  for (const RegionRecord& region : snapshot.regions) {
    for (const FileReference& reference : region.files) {
      const auto counted = catalog->snapshot_files.find(reference.file);
      const uint64_t before = counted == catalog->snapshot_files.end() ? 0 : counted->second;
      if (!comes && before <= 1) {
        catalog->snapshot_files.Erase(reference.file);
      } else {
        catalog->snapshot_files.Put(reference.file, comes ? before + 1 : before - 1);
      }
    }
  }
}

Status OfSnapshot(std::string_view name, std::string_view why) {
  return Status::Corruption(
      std::string("catalog: snapshot ").append(base::Quote(name)).append(": ").append(why));
}

Status ApplySnapshots(const CatalogEdit& edit, Catalog* catalog) {
  for (const SnapshotRecord& snapshot : edit.add_snapshots) {
    if (catalog->snapshots.contains(snapshot.name)) {
      return OfSnapshot(snapshot.name, "exists already");
    }
    catalog->snapshots.Put(snapshot.name, snapshot);
    catalog->memory_bytes += MemoryOf(snapshot);
    CountReferences(snapshot, /*comes=*/true, catalog);
  }
  for (const std::string& name : edit.remove_snapshots) {
    const auto found = catalog->snapshots.find(name);
    if (found == catalog->snapshots.end()) return OfSnapshot(name, "does not exist");
    Forget(MemoryOf(found->second), catalog);
    CountReferences(found->second, /*comes=*/false, catalog);
    catalog->snapshots.Erase(name);
  }
  return {};
}

Status OfSequence(std::string_view name, std::string_view why) {
  return Status::Corruption(
      std::string("catalog: sequence ").append(base::Quote(name)).append(": ").append(why));
}

Status ApplySequences(const CatalogEdit& edit, Catalog* catalog) {
  for (const SequenceRecord& sequence : edit.put_sequences) {
    const std::string& name = sequence.options.name;
    const auto before = catalog->sequences.find(name);
    if (before != catalog->sequences.end()) {
      if (sequence.next < before->second.next) return OfSequence(name, "goes back");
      Forget(MemoryOf(before->second), catalog);
    }
    catalog->memory_bytes += MemoryOf(sequence);
    catalog->sequences.Put(name, sequence);
  }
  for (const std::string& name : edit.remove_sequences) {
    const auto found = catalog->sequences.find(name);
    if (found == catalog->sequences.end()) return OfSequence(name, "does not exist");
    Forget(MemoryOf(found->second), catalog);
    catalog->sequences.Erase(name);
  }
  return {};
}

Status ApplyRegionsAndFiles(const CatalogEdit& edit, Catalog* catalog) {
  for (const FileRecord& file : edit.add_files) {
    if (!catalog->files.Put(file.number, file)) {
      return Misfit("file", file.number.value, "exists already");
    }
    catalog->memory_bytes += MemoryOf(file);
  }
  for (const RegionRecord& region : edit.put_regions) PutInto(&catalog->regions, region, catalog);
  RETURN_IF_ERROR(RemoveFrom(&catalog->regions, "region", edit.remove_regions, catalog));
  return RemoveFrom(&catalog->files, "file", edit.remove_files, catalog);
}

// Each segment vouches for the one before it, so they are removed oldest first.
Status RemoveSegments(const std::vector<FileNumber>& numbers,
                      std::vector<SegmentRecord>* segments) {
  for (FileNumber number : numbers) {
    const auto has_number = [number](const SegmentRecord& s) { return s.number == number; };
    if (std::none_of(segments->begin(), segments->end(), has_number)) {
      return Misfit("segment", number.value, "does not exist");
    }
  }
  const auto is_removed = [&](const SegmentRecord& segment) {
    return std::find(numbers.begin(), numbers.end(), segment.number) != numbers.end();
  };
  const auto kept = std::find_if_not(segments->begin(), segments->end(), is_removed);
  if (std::any_of(kept, segments->end(), is_removed)) {
    return Misfit("segment", kept->number.value, "is older than one that is removed");
  }
  segments->erase(segments->begin(), kept);
  return {};
}

Status ApplySegments(const CatalogEdit& edit, Catalog* catalog) {
  std::vector<SegmentRecord>& segments = catalog->segments;
  for (const SegmentRecord& segment : edit.add_segments) {
    if (!segments.empty() && segments.back().number >= segment.number) {
      return Misfit("segment", segment.number.value, "does not follow the last one");
    }
    segments.push_back(segment);
    catalog->memory_bytes += MemoryOf(segment);
  }
  Forget(edit.remove_segments.size() * MemoryOf(SegmentRecord()), catalog);
  return RemoveSegments(edit.remove_segments, &segments);
}

Status CheckTable(const Catalog& catalog, TableId id) {
  if (id.value < catalog.counters.next_table_id) return {};
  return Misfit("table", id.value, "its id was never given out");
}

Status CheckFile(const Catalog& catalog, const FileRecord& file) {
  if (file.number.value >= catalog.counters.next_file_number) {
    return Misfit("file", file.number.value, "its number was never given out");
  }
  if (catalog.tables.contains(file.table) || catalog.snapshot_files.contains(file.number)) {
    return {};
  }
  return Misfit("file", file.number.value, "its table does not exist");
}

Status CheckSegments(const Catalog& catalog) {
  for (const SegmentRecord& segment : catalog.segments) {
    if (segment.number.value >= catalog.counters.next_file_number) {
      return Misfit("segment", segment.number.value, "its number was never given out");
    }
    if (catalog.files.contains(segment.number)) {
      return Misfit("segment", segment.number.value, "a store file has its number");
    }
  }
  return {};
}

Status RefersToMissing(const RegionRecord& region, FileNumber file) {
  return Misfit("region", region.id.value,
                "refers to file " + std::to_string(file.value) + ", which its table does not have");
}

Status CheckReferences(const Catalog& catalog, const RegionRecord& region) {
  for (const FileReference& reference : region.files) {
    const auto file = catalog.files.find(reference.file);
    if (file == catalog.files.end() || file->second.table != region.table) {
      return RefersToMissing(region, reference.file);
    }
    if (reference.ordinal_low > reference.ordinal_high ||
        reference.ordinal_high > file->second.rows) {
      return Misfit(
          "region", region.id.value,
          "refers to rows that file " + std::to_string(reference.file.value) + " does not have");
    }
  }
  return {};
}

// One table's regions, by start key, must cover every key exactly once.
Status CheckTiling(TableId table, std::vector<const RegionRecord*> regions) {
  if (regions.empty()) return Misfit("table", table.value, "has no region");
  std::sort(regions.begin(), regions.end(), [](const RegionRecord* a, const RegionRecord* b) {
    return a->start_key < b->start_key;
  });
  for (size_t i = 0; i < regions.size(); ++i) {
    const RegionRecord& region = *regions[i];
    const bool last = i + 1 == regions.size();
    const bool starts = i > 0 || region.start_key.empty();
    const bool ends = last ? region.end_key.empty()
                           : !region.end_key.empty() && region.end_key == regions[i + 1]->start_key;
    if (!starts || !ends || (!last && region.start_key >= region.end_key)) {
      return Misfit("region", region.id.value, "overlaps its neighbour or leaves a gap");
    }
  }
  return {};
}

Status CheckRegion(const Catalog& catalog, const RegionRecord& region) {
  if (region.id.value >= catalog.counters.next_region_id) {
    return Misfit("region", region.id.value, "its id was never given out");
  }
  if (!catalog.tables.contains(region.table)) {
    return Misfit("region", region.id.value, "its table does not exist");
  }
  return CheckReferences(catalog, region);
}

// The regions of each of `tables` that exists.
Status CheckTilings(const Catalog& catalog, const std::set<TableId>& tables) {
  if (tables.empty()) return {};
  std::map<TableId, std::vector<const RegionRecord*>> by_table;
  for (const TableId id : tables) {
    if (catalog.tables.contains(id)) by_table[id];
  }
  for (const auto& [id, region] : catalog.regions) {
    const auto regions = by_table.find(region.table);
    if (regions != by_table.end()) regions->second.push_back(&region);
  }
  for (const auto& [id, regions] : by_table) RETURN_IF_ERROR(CheckTiling(id, regions));
  return {};
}

// The tables whose regions may cover other keys than before.
std::set<TableId> TablesToTile(const CatalogEdit& edit, const Catalog& before) {
  std::set<TableId> tables;
  for (const TableRecord& table : edit.put_tables) {
    if (!before.tables.contains(table.id)) tables.insert(table.id);
  }
  for (const RegionRecord& region : edit.put_regions) {
    const auto old = before.regions.find(region.id);
    const bool is_known = old != before.regions.end();
    if (is_known && old->second.table == region.table &&
        old->second.start_key == region.start_key && old->second.end_key == region.end_key) {
      continue;
    }
    tables.insert(region.table);
    if (is_known) tables.insert(old->second.table);
  }
  for (const RegionId id : edit.remove_regions) {
    const auto old = before.regions.find(id);
    if (old != before.regions.end()) tables.insert(old->second.table);
  }
  return tables;
}

// Its regions tile its tables and refer to files of theirs.
Status CheckSnapshotAlone(const Catalog& catalog, const SnapshotRecord& snapshot) {
  if (snapshot.sequence.value > catalog.counters.last_sequence) {
    return Misfit("sequence", snapshot.sequence.value, "was never assigned");
  }
  std::map<TableId, std::vector<const RegionRecord*>> by_table;
  for (const TableRecord& table : snapshot.tables) {
    RETURN_IF_ERROR(CheckTable(catalog, table.id));
    by_table[table.id];
  }
  for (const RegionRecord& region : snapshot.regions) {
    const auto regions = by_table.find(region.table);
    if (regions == by_table.end()) {
      return Misfit("region", region.id.value, "its table does not exist");
    }
    if (region.id.value >= catalog.counters.next_region_id) {
      return Misfit("region", region.id.value, "its id was never given out");
    }
    RETURN_IF_ERROR(CheckReferences(catalog, region));
    regions->second.push_back(&region);
  }
  for (const auto& [id, regions] : by_table) RETURN_IF_ERROR(CheckTiling(id, regions));
  return {};
}

Status CheckSnapshot(const Catalog& catalog, const SnapshotRecord& snapshot) {
  const Status status = CheckSnapshotAlone(catalog, snapshot);
  return status.ok() ? status : OfSnapshot(snapshot.name, status.message());
}

// Of the files of a snapshot that went: those of dropped tables may not stay.
Status CheckFilesLeft(const SnapshotRecord& removed, const Catalog& after) {
  for (const RegionRecord& region : removed.regions) {
    for (const FileReference& reference : region.files) {
      const auto file = after.files.find(reference.file);
      if (file != after.files.end()) RETURN_IF_ERROR(CheckFile(after, file->second));
    }
  }
  return {};
}

Status CheckRemovedFiles(const CatalogEdit& edit, const Catalog& after) {
  if (edit.remove_files.empty()) return {};
  for (const FileNumber number : edit.remove_files) {
    if (after.snapshot_files.contains(number)) {
      return Misfit("file", number.value, "a snapshot refers to it");
    }
  }
  const std::set<FileNumber> removed(edit.remove_files.begin(), edit.remove_files.end());
  for (const auto& [id, region] : after.regions) {
    for (const FileReference& reference : region.files) {
      if (removed.contains(reference.file)) return RefersToMissing(region, reference.file);
    }
  }
  return {};
}

// CheckCatalog of a catalog that was right before the edit: only what the edit may have broken.
Status CheckChange(const CatalogEdit& edit, const Catalog& before, const Catalog& after) {
  if (!edit.remove_tables.empty()) return CheckCatalog(after);  // Anything may be left of them.
  for (const TableRecord& table : edit.put_tables) RETURN_IF_ERROR(CheckTable(after, table.id));
  for (const FileRecord& file : edit.add_files) {
    if (after.files.contains(file.number)) RETURN_IF_ERROR(CheckFile(after, file));
  }
  if (!edit.add_files.empty() || !edit.add_segments.empty()) RETURN_IF_ERROR(CheckSegments(after));
  for (const RegionRecord& put : edit.put_regions) {
    const auto region = after.regions.find(put.id);
    if (region != after.regions.end()) RETURN_IF_ERROR(CheckRegion(after, region->second));
  }
  RETURN_IF_ERROR(CheckRemovedFiles(edit, after));
  for (const SnapshotRecord& added : edit.add_snapshots) {
    const auto snapshot = after.snapshots.find(added.name);
    if (snapshot == after.snapshots.end()) continue;
    RETURN_IF_ERROR(CheckSnapshot(after, snapshot->second));
  }
  for (const std::string& name : edit.remove_snapshots) {
    const auto removed = before.snapshots.find(name);
    if (removed == before.snapshots.end()) continue;
    RETURN_IF_ERROR(CheckFilesLeft(removed->second, after));
  }
  return CheckTilings(after, TablesToTile(edit, before));
}

}  // namespace

Status ApplyEditInPlace(const CatalogEdit& edit, Catalog* catalog) {
  if (edit.counters) RETURN_IF_ERROR(ApplyCounters(*edit.counters, &catalog->counters));
  RETURN_IF_ERROR(ApplyTables(edit, catalog));
  RETURN_IF_ERROR(ApplyRegionsAndFiles(edit, catalog));
  RETURN_IF_ERROR(ApplySegments(edit, catalog));
  RETURN_IF_ERROR(ApplySnapshots(edit, catalog));
  RETURN_IF_ERROR(ApplySequences(edit, catalog));
  return CheckCatalogMemory(catalog->memory_bytes);
}

Status CheckCatalog(const Catalog& catalog) {
  std::set<TableId> tables;
  for (const auto& [id, table] : catalog.tables) {
    RETURN_IF_ERROR(CheckTable(catalog, id));
    tables.insert(id);
  }
  for (const auto& [number, file] : catalog.files) RETURN_IF_ERROR(CheckFile(catalog, file));
  RETURN_IF_ERROR(CheckSegments(catalog));
  for (const auto& [id, region] : catalog.regions) RETURN_IF_ERROR(CheckRegion(catalog, region));
  for (const auto& [name, snapshot] : catalog.snapshots) {
    RETURN_IF_ERROR(CheckSnapshot(catalog, snapshot));
  }
  return CheckTilings(catalog, tables);
}

Status ApplyEdit(const CatalogEdit& edit, Catalog* catalog) {
  Catalog changed = *catalog;
  RETURN_IF_ERROR(ApplyEditInPlace(edit, &changed));
  RETURN_IF_ERROR(CheckChange(edit, *catalog, changed));
  *catalog = std::move(changed);
  return {};
}

}  // namespace tandem::format
