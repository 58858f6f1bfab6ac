// See catalog.h.
#include "tools/dump/catalog.h"

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "tools/dump/names.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

void DumpState(const format::Catalog& catalog, RecordWriter* writer) {
  const std::string database = IdText(catalog.database);
  const Property state[] = {
      {"database_id", database},
      {"epoch", catalog.epoch},
      {"tables", uint64_t{catalog.tables.size()}},
      {"regions", uint64_t{catalog.regions.size()}},
      {"files", uint64_t{catalog.files.size()}},
      {"segments", uint64_t{catalog.segments.size()}},
      {"snapshots", uint64_t{catalog.snapshots.size()}},
  };
  writer->AddProperties("state", state);
  const format::CatalogCounters& counters = catalog.counters;
  const Property properties[] = {
      {"next_file_number", counters.next_file_number},
      {"next_table_id", counters.next_table_id},
      {"next_region_id", counters.next_region_id},
      {"last_timestamp", counters.last_timestamp},
      {"clock_high_micros", counters.clock_high_micros},
      {"last_sequence", counters.last_sequence},
  };
  writer->AddProperties("counters", properties);
}

void DumpRegions(const format::Catalog& catalog, RecordWriter* writer) {
  writer->Begin("region", {"region", "table_id", "start", "end", "flushed_through", "files"});
  for (const auto& [id, region] : catalog.regions) {
    const std::vector<std::string> files = ReferenceTexts(region);
    writer->Add({id.value, region.table.value, region.start_key,
                 region.end_key.empty() ? Value() : Value(region.end_key),
                 region.flushed_through.value, files});
  }
  writer->End();
}

void DumpFiles(const format::Catalog& catalog, RecordWriter* writer) {
  writer->Begin("file", {"file", "table_id", "bytes", "rows", "cells", "deletes", "min_sequence",
                         "max_sequence", "min_key", "max_key", "file_id", "hash"});
  for (const auto& [number, file] : catalog.files) {
    writer->Add({engine::StoreFileName(number), file.table.value, file.size_bytes, file.rows,
                 file.cells, file.deletes, file.min_sequence.value, file.max_sequence.value,
                 file.min_key, file.max_key, IdText(file.id),
                 HashText(file.hash.high) + HashText(file.hash.low)});
  }
  writer->End();
}

}  // namespace

Result<ManifestState> ReadManifestState(ProbedFile* probed) {
  ASSIGN_OR_RETURN(
      format::ManifestPrefix prefix,
      format::ReadManifestPrefix(probed->file.get(), nullptr, probed->header.database));
  if (prefix.contents.last_edit == 0) return Status::Corruption(prefix.reason);
  ManifestState state;
  state.size_bytes = probed->size_bytes;
  if (prefix.is_torn || prefix.edits_after > 0) {
    state.damage =
        Format("{}; {} good edits follow that are left out", prefix.reason, prefix.edits_after);
  }
  state.contents = std::move(prefix.contents);
  return state;
}

void DumpSummary(const ManifestState& state, RecordWriter* writer) {
  const format::Catalog& catalog = state.contents.catalog;
  uint64_t rows = 0, cells = 0, bytes = 0, references = 0;
  for (const auto& [number, file] : catalog.files) {
    rows += file.rows;
    cells += file.cells;
    bytes += file.size_bytes;
  }
  for (const auto& [id, region] : catalog.regions) references += region.files.size();
  const Property properties[] = {
      {"bytes", state.size_bytes},
      {"whole_catalog_bytes", state.contents.first_frame_end},
      {"edits", state.contents.last_edit},
      {"memory_bytes", catalog.memory_bytes},
      {"tables", uint64_t{catalog.tables.size()}},
      {"regions", uint64_t{catalog.regions.size()}},
      {"files", uint64_t{catalog.files.size()}},
      {"file_references", references},
      {"file_bytes", bytes},
      {"rows", rows},
      {"cells", cells},
      {"segments", uint64_t{catalog.segments.size()}},
      {"snapshots", uint64_t{catalog.snapshots.size()}},
      {"log_segment", state.contents.log.segment.value},
      {"log_durable_bytes", state.contents.log.length_bytes},
  };
  writer->AddProperties("summary", properties);
}

void DumpSequences(const std::vector<const format::SequenceRecord*>& sequences, uint64_t edit,
                   RecordWriter* writer) {
  if (sequences.empty()) return;
  writer->Begin("sequence", {"edit", "sequence", "first", "next", "last"});
  for (const format::SequenceRecord* sequence : sequences) {
    writer->Add({edit == 0 ? Value() : Value(edit), sequence->options.name, sequence->options.first,
                 sequence->next, sequence->options.last});
  }
  writer->End();
}

void DumpSnapshots(const std::vector<const format::SnapshotRecord*>& snapshots, uint64_t edit,
                   RecordWriter* writer) {
  const Value number = edit == 0 ? Value() : Value(edit);
  for (const format::SnapshotRecord* snapshot : snapshots) {
    const Property properties[] = {
        {"edit", number},
        {"snapshot", snapshot->name},
        {"sequence", snapshot->sequence.value},
        {"time_micros", snapshot->now_micros},
        {"created_micros", snapshot->created_micros},
        {"tables", uint64_t{snapshot->tables.size()}},
        {"regions", uint64_t{snapshot->regions.size()}},
    };
    writer->AddProperties("snapshot", properties);
    for (const format::TableRecord& table : snapshot->tables) DumpTable(table, writer);
    writer->Begin("snapshot_region", {"snapshot", "region", "table_id", "start", "end", "files"});
    for (const format::RegionRecord& region : snapshot->regions) {
      const std::vector<std::string> files = ReferenceTexts(region);
      writer->Add({snapshot->name, region.id.value, region.table.value, region.start_key,
                   region.end_key.empty() ? Value() : Value(region.end_key), files});
    }
    writer->End();
  }
}

void DumpCatalog(const format::Catalog& catalog, RecordWriter* writer) {
  DumpState(catalog, writer);
  for (const auto& [id, table] : catalog.tables) DumpTable(table, writer);
  DumpRegions(catalog, writer);
  DumpFiles(catalog, writer);
  writer->Begin("segment", {"segment", "file_id"});
  for (const format::SegmentRecord& segment : catalog.segments) {
    writer->Add({engine::SegmentName(segment.number), IdText(segment.id)});
  }
  writer->End();
  std::vector<const format::SnapshotRecord*> snapshots;
  for (const auto& [name, snapshot] : catalog.snapshots) snapshots.push_back(&snapshot);
  DumpSnapshots(snapshots, 0, writer);
  std::vector<const format::SequenceRecord*> sequences;
  for (const auto& [name, sequence] : catalog.sequences) sequences.push_back(&sequence);
  DumpSequences(sequences, 0, writer);
}

std::vector<std::string> ReferenceTexts(const format::RegionRecord& region) {
  std::vector<std::string> files;
  for (const format::FileReference& reference : region.files) {
    files.push_back(Format("store-{} run {} rows {}..{}", reference.file.value, reference.run,
                           reference.ordinal_low, reference.ordinal_high));
  }
  return files;
}

}  // namespace tandem::tools
