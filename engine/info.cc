// Describes the database: current counts, gathered without stopping anything.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/region/region_runs.h"
#include "engine/row_space.h"
#include "format/registry/registered.h"
#include "index/section.h"
#include "store_file/indexed_copy.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

FileInfo Describe(const format::StoreFile& store) {
  const format::FileStatistics& statistics = store.statistics();
  FileInfo info;
  info.number = store.number().value;
  info.size_bytes = store.size_bytes();
  info.rows = statistics.rows;
  info.cells = statistics.cells;
  info.deletes = statistics.deletes;
  info.min_sequence = statistics.min_sequence.value;
  info.max_sequence = statistics.max_sequence.value;
  info.min_key = statistics.min_key;
  info.max_key = statistics.max_key;
  for (const format::SectionEntry& section : store.sections()) {
    if (section.kind == format::SectionKind::kData) info.data_bytes += section.size_bytes;
    if (IsIndexSection(section.kind)) info.index_bytes += section.size_bytes;
  }
  return info;
}

// A file whose section cannot be read counts with its size alone; Verify reports what is wrong.
void AddIndex(const FileSlice& slice, const format::IndexRecord& index, const IndexBuilder& builder,
              IndexInfo* info) {
  const format::IndexId id = index.id;
  format::StoreFile& store = slice.file->store();
  for (const format::SectionEntry& section : store.sections()) {
    if (IsIndexSection(section.kind) && section.owner == id.value) {
      info->size_bytes += section.size_bytes;
    }
  }
  ++info->files;
  const Result<format::IndexSection*> section = store.Index(id);
  if (!section.has_value() || *section == nullptr) {
    ++info->files_without;
    if (!format::NeedsCopyFor(store, index)) return;
    ++info->files_older;
    const uint64_t bytes = store.size_bytes();
    info->bytes_older +=
        ShareOf(slice, bytes - std::min(bytes, builder.CopiedBytes(store.number())));
    return;
  }
  info->rows_without_entry += format::RowsWithoutEntry(store.sections(), id);
  const format::IndexSummary& summary = (*section)->summary();
  info->entries += summary.current_entries + summary.older_entries;
  info->values += summary.current_values + summary.older_values;
}

bool IsPart(const FileSlice& slice) {
  return slice.low > 0 || slice.high < slice.file->store().row_count();
}

RegionInfo Describe(const format::TableRecord& table, const RegionVersion& version) {
  RegionInfo info;
  info.id = version.id.value;
  info.start_key = version.start_key;
  info.end_key = version.end_key;
  for (const FileSlice& slice : version.files) {
    info.files.push_back(Describe(slice.file->store()));
    info.files.back().run = slice.run;
    info.files.back().low_row = slice.low;
    info.files.back().high_row = slice.high;
    info.files.back().is_shared = IsPart(slice);
    info.shared_files += IsPart(slice);
    info.rows += slice.high - slice.low;
    info.deletes += ShareOf(slice, slice.file->store().statistics().deletes);
  }
  info.runs = RunCount(version);
  info.bytes = BytesOf(version.files);
  const EntryCounts entries = CountEntries(table, version);
  info.index_entries = entries.all;
  info.dead_index_entries = entries.dead;
  for (const auto& memstore : version.memstores) {
    info.memstore_rows += memstore->row_count();
    info.memstore_bytes += memstore->size_bytes();
  }
  info.memstores = version.memstores.size();
  return info;
}

UniqueState UniqueStateOf(const format::IndexRecord& index) {
  if (!index.unique) return UniqueState::kNone;
  if (index.state == format::IndexState::kBuilding) return UniqueState::kBuilding;
  return index.state == format::IndexState::kChecking ? UniqueState::kChecking
                                                      : UniqueState::kReady;
}

// What the table with the entries holds.
void AddGlobal(const Table* entries, const format::GlobalIndexRecord& global, IndexInfo* info) {
  info->is_building = !global.since.has_value();
  if (entries == nullptr) return;
  for (const auto& region : entries->regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    const RegionInfo described = Describe(*entries->record, *version);
    for (const FileInfo& file : described.files) {
      ++info->files;
      info->entries += file.rows;
      info->size_bytes += file.size_bytes;
    }
  }
}

TableInfo Describe(const Table& table, const RegionSet& tables, const IndexBuilder& builder) {
  TableInfo info;
  info.options = OptionsOf(*table.record);
  for (const format::FamilyRecord& family : table.record->families) {
    if (family.dropped) continue;
    for (const format::FormerLimits& limits : family.former_limits) {
      info.former_limits.push_back({.family = family.options.name,
                                    .sequence = limits.changed_at.value,
                                    .max_versions = limits.max_versions,
                                    .expired_through = limits.expired_through});
    }
  }
  const uint64_t bytes_per_second = builder.BytesPerSecond();
  for (const IndexOptions& options : info.options.indexes) {
    IndexInfo& index = info.indexes.emplace_back();
    index.options = options;
    if (options.placement == IndexPlacement::kGlobal) {
      const format::GlobalIndexRecord& global = *table.record->FindGlobal(options.name);
      index.unusable = format::WhyUnusable(global.index);
      AddGlobal(tables.Find(global.entries).get(), global, &index);
      continue;
    }
    const format::IndexRecord& record = *table.record->FindIndex(options.name);
    index.unusable = format::WhyUnusable(record);
    index.unique = UniqueStateOf(record);
    index.build_bytes_per_second = bytes_per_second;
  }
  for (const auto& region : table.regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    info.regions.push_back(Describe(*table.record, *version));
    info.regions.back().writes = region->writes();
    info.regions.back().reads = region->reads();
    for (const FileSlice& slice : version->files) {
      for (size_t i = 0; i < table.record->indexes.size(); ++i) {
        AddIndex(slice, table.record->indexes[i], builder, &info.indexes[i]);
      }
    }
  }
  return info;
}

MemoryInfo Describe(const base::MemoryAccount& account) {
  using base::MemoryPart;
  return {.block_cache_bytes = account.bytes(MemoryPart::kBlockCache),
          .memstore_bytes = account.bytes(MemoryPart::kMemstores),
          .append_buffer_bytes = account.bytes(MemoryPart::kAppendBuffers),
          .block_index_bytes = account.bytes(MemoryPart::kBlockIndexes),
          .key_hash_bytes = account.bytes(MemoryPart::kKeyHashes),
          .filter_bytes = account.bytes(MemoryPart::kFilters),
          .bitmap_bytes = account.bytes(MemoryPart::kBitmaps),
          .dictionary_bytes = account.bytes(MemoryPart::kDictionaries),
          .index_directory_bytes = account.bytes(MemoryPart::kIndexDirectories),
          .read_buffer_bytes = account.bytes(MemoryPart::kReadBuffers),
          .overlap_bytes = account.bytes(MemoryPart::kOverlaps),
          .file_window_bytes = account.bytes(MemoryPart::kFileWindows),
          .file_writer_bytes = account.bytes(MemoryPart::kFileWriters),
          .hit_bytes = account.bytes(MemoryPart::kHits),
          .log_bytes = account.bytes(MemoryPart::kLog),
          .catalog_bytes = account.bytes(MemoryPart::kCatalog)};
}

ClockState StateOf(ClockTrust trust) {
  switch (trust) {
    case ClockTrust::kRight:
      return ClockState::kRight;
    case ClockTrust::kBehind:
      return ClockState::kBehind;
    case ClockTrust::kDoubted:
      break;
  }
  return ClockState::kDoubted;
}

}  // namespace

FilesInfo EngineImpl::OpenFiles() const {
  const Storage::FileCounters counters = database_.opened.storage->file_counters();
  return {.limit = tuning_.open_files_max,
          .files = counters.open,
          .rings = environment_.file_system->open_rings(),
          .reopened = counters.reopened};
}

DatabaseInfo EngineImpl::Info() {
  DatabaseInfo info;
  info.path = path_;
  const TimeSource::Reading clock = time_.Read();
  info.clock_state = StateOf(clock.trust);
  info.clock_micros = clock.wall_micros;
  info.time_micros = clock.now_micros;
  info.io_backend = environment_.file_system->name();
  info.read_only_reason = health_.read_only_reason();
  info.read_only = !info.read_only_reason.empty();
  info.memory_budget_bytes =
      tuning_.memstores_total_bytes + tuning_.block_cache_bytes + tuning_.overlap_bytes;
  GatePass pass(calls_);
  if (!pass.inside()) return info;
  info.last_sequence = snapshots_->visible().value;
  info.log_bytes = log_->log_bytes();
  info.log_segments = database_.opened.storage->catalog().segments.size();
  info.cache_bytes = database_.files->cache_size_bytes();
  info.memstore_bytes = database_.regions->memstore_bytes();
  info.recovered_operations = database_.opened.replay.operations;
  info.torn_bytes = database_.opened.replay.torn_bytes;
  const Statistics counters = monitor_.Counters(clock.now_micros);
  info.stopped = counters.stopped;
  info.delayed = counters.delayed;
  info.stop_reason = monitor_.StopReason();
  info.jobs = monitor_.Jobs(clock.now_micros);
  info.scrub_bytes_per_second = options_.scrub_bytes_per_second;
  info.scrubbed_bytes = counters.scrubbed_bytes;
  info.scrub_findings = counters.scrub_findings;
  info.oldest_unverified_micros = scrubber_->OldestMicros();
  for (const auto& [sequence, taken] : handles_->transactions()) {
    info.transactions.push_back({.sequence = sequence, .age_micros = clock.now_micros - taken});
  }
  info.named_snapshots = DescribeSnapshots();
  // Describing the tables loads the directories of their files.
  for (const auto& table : database_.regions->tables()) {
    if (table->record->entries_of.has_value()) continue;  // It is described with its index.
    info.tables.push_back(Describe(*table, *database_.regions, *index_builder_));
    for (const format::GlobalIndexRecord& global : table->record->global_indexes) {
      const std::string why = WhyNotBuilt(global.entries);
      const auto index = std::ranges::find(info.tables.back().indexes, global.index.name,
                                           [](const IndexInfo& each) { return each.options.name; });
      if (!why.empty() && index != info.tables.back().indexes.end()) index->unusable = why;
    }
  }
  info.memory = Describe(*database_.memory);
  info.open_files = OpenFiles();
  Storage::ReaderCounters readers = database_.opened.storage->reader_counters();
  info.held_files = readers.held_files;
  info.readers = std::move(readers.processes);
  return info;
}

Statistics EngineImpl::GetStatistics() {
  Statistics statistics = monitor_.Counters(time_.Read().now_micros);
  GatePass pass(calls_);
  if (!pass.inside()) return statistics;
  statistics.torn_bytes = database_.opened.replay.torn_bytes;
  const CompletionCounts counts = queue_->completion_counts();
  statistics.dependent_writes = counts.completed;
  statistics.caught_up_writes = counts.caught_up;
  statistics.caught_up_in_group = counts.caught_up_in_group;
  statistics.reread_writes = counts.moved + counts.entries_moved;
  statistics.writes_that_flushed = counts.unlogged;
  statistics.writes_alone = counts.alone;
  statistics.last_sequence = snapshots_->visible().value;
  statistics.log_bytes = log_->log_bytes();
  statistics.oldest_unverified_micros = scrubber_->OldestMicros();
  statistics.memory_budget_bytes =
      tuning_.memstores_total_bytes + tuning_.block_cache_bytes + tuning_.overlap_bytes;
  statistics.memory = Describe(*database_.memory);
  statistics.open_files = OpenFiles();
  return statistics;
}

}  // namespace tandem::engine
