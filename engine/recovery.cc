// See the header for the steps.
#include "engine/recovery.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/commit/applier.h"
#include "engine/maintenance.h"
#include "engine/parallel/reader_loop.h"
#include "engine/storage/store_file_check.h"

namespace tandem::engine {
namespace {

// Of the files that one thread opens before it takes the next.
constexpr size_t kFilesOfPart = 256;
constexpr uint32_t kThreadsMax = 4;

class Recovery {
 public:
  Recovery(const RecoveryOptions& options, Health* health, TimeSource* time)
      : options_(options), health_(health), time_(time) {}

  Result<RecoveredDatabase> Run();

 private:
  Status AddTables(const format::Catalog& catalog);
  Status ReplayFrame(const format::Frame& frame);
  Status CheckFiles(const format::Catalog& catalog);
  Status AttachFiles(const format::Catalog& catalog);
  Status AttachRegionFiles(const format::Catalog& catalog, const format::RegionRecord& record);
  Status StartStorage();
  void RestoreCounters(const format::Catalog& catalog);

  const RecoveryOptions& options_;
  Health* health_;
  TimeSource* time_;
  RecoveredDatabase database_;
  std::unique_ptr<GroupApplier> applier_;
  int64_t last_timestamp_ = 0;  ///< Of any batch in the log.
  std::map<format::FileNumber, std::shared_ptr<LiveFile>> open_files_;
};

Result<RecoveredDatabase> Recovery::Run() {
  const Tuning& tuning = options_.tuning;
  OpenStorageOptions storage_options;
  storage_options.file_system = options_.environment.file_system;
  storage_options.random = options_.environment.random;
  storage_options.clock = options_.environment.clock;
  storage_options.path = options_.path;
  storage_options.create_if_missing = options_.create_if_missing;
  storage_options.read_only = options_.read_only;
  storage_options.segment_bytes = tuning.log_segment_bytes;
  storage_options.former_segments_max = tuning.log_former_segments;
  storage_options.store_files_open_max = tuning.open_files_max - tuning.rings_max;
  ASSIGN_OR_RETURN(
      database_.opened,
      OpenLocalStorage(
          storage_options, [this](const format::Catalog& catalog) { return AddTables(catalog); },
          [this](const format::Frame& frame) { return ReplayFrame(frame); }));
  Storage* storage = database_.opened.storage.get();
  const StoreFiles::CacheSize cache{.budget_bytes = tuning.block_cache_bytes,
                                    .lent_bytes = tuning.cache_lent_bytes};
  database_.files = std::make_unique<StoreFiles>(storage, health_, cache, database_.memory.get());
  const format::Catalog catalog = storage->catalog();
  if (!options_.read_only) {
    RETURN_IF_ERROR(CheckFiles(catalog));
  }
  RETURN_IF_ERROR(AttachFiles(catalog));
  RestoreCounters(catalog);
  if (!options_.read_only) RETURN_IF_ERROR(StartStorage());
  return std::move(database_);
}

// The first writes of the open, after all reads that could make it fail.
Status Recovery::StartStorage() {
  StorageStart start;
  start.is_needed = [this](const format::Frame& frame) { return applier_->IsNeeded(frame); };
  start.counters.last_sequence = database_.last_sequence.value;
  start.counters.last_timestamp = time_->last_timestamp();
  start.log = [this](const std::string& line) { health_->Log(line); };
  return database_.opened.storage->Start(start);
}

Status Recovery::AddTables(const format::Catalog& catalog) {
  database_.regions = std::make_unique<RegionSet>(
      database_.memory.get(), options_.tuning.chain_cells_max, options_.functions);
  applier_ = std::make_unique<GroupApplier>(database_.regions.get(),
                                            format::TableId(catalog.counters.next_table_id));
  last_timestamp_ = 0;
  std::map<format::TableId, std::vector<format::RegionRecord>> regions;
  for (const auto& [id, region] : catalog.regions) regions[region.table].push_back(region);
  for (const auto& [id, table] : catalog.tables) {
    database_.regions->Add(table, std::move(regions[id]));
  }
  return {};
}

Status Recovery::ReplayFrame(const format::Frame& frame) {
  RETURN_IF_ERROR(applier_->Replay(frame));
  const GroupApplier::Applied applied = applier_->TakeApplied();
  last_timestamp_ = std::max(last_timestamp_, applied.last_timestamp);
  for (Region* region : applied.regions) {
    if (IsFull(*region->active(), options_.tuning.memstore_bytes)) region->SwitchMemstore();
  }
  return {};
}

// Files of regions stay open: opening them a second time would cost as much again. Those that only
// a named snapshot has are closed; their readers open them. Where there are many, several threads
// take them in parts.
Status Recovery::CheckFiles(const format::Catalog& catalog) {
  for (const auto& [id, record] : catalog.regions) {
    for (const format::FileReference& reference : record.files) open_files_[reference.file];
  }
  const auto use = [&](const format::FileRecord& record, std::unique_ptr<base::File> file,
                       const format::FileEnds& ends) -> Status {
    const auto place = open_files_.find(record.number);
    if (place == open_files_.end()) return {};
    ASSIGN_OR_RETURN(place->second, database_.files->Open(record, std::move(file), &ends));
    return {};
  };
  std::vector<const format::FileRecord*> all;
  for (const auto& [number, record] : catalog.files) all.push_back(&record);
  const std::span<const format::FileRecord* const> files(all);
  const size_t parts = (files.size() + kFilesOfPart - 1) / kFilesOfPart;
  return RunOnReaders(options_.environment.executor, kThreadsMax, parts, [&](size_t i) {
    const size_t first = i * kFilesOfPart;
    return CheckStoreFiles(options_.environment.file_system, database_.opened.storage.get(),
                           catalog.database,
                           files.subspan(first, std::min(kFilesOfPart, files.size() - first)), use);
  });
}

Status Recovery::AttachFiles(const format::Catalog& catalog) {
  for (const auto& [id, record] : catalog.regions) {
    RETURN_IF_ERROR(AttachRegionFiles(catalog, record));
  }
  return {};
}

Status Recovery::AttachRegionFiles(const format::Catalog& catalog,
                                   const format::RegionRecord& record) {
  std::vector<FileSlice> slices;
  for (const format::FileReference& reference : record.files) {
    std::shared_ptr<LiveFile>& file = open_files_[reference.file];
    if (file == nullptr) {
      ASSIGN_OR_RETURN(file, database_.files->Open(catalog.files.at(reference.file)));
    }
    slices.push_back({.file = file,
                      .low = reference.ordinal_low,
                      .high = reference.ordinal_high,
                      .run = reference.run});
  }
  const std::shared_ptr<const Table> table = database_.regions->Find(record.table);
  Region& region = table->RegionOf(record.start_key);
  region.Update([&slices](RegionVersion* version) { version->files = std::move(slices); });
  return {};
}

void Recovery::RestoreCounters(const format::Catalog& catalog) {
  const wal::ReplayReport& replay = database_.opened.replay;
  const format::CatalogCounters& counters = catalog.counters;
  database_.last_sequence =
      format::SequenceNumber(std::max({counters.last_sequence, replay.last_sequence,
                                       replay.end.last_sequence, replay.durable_mark}));
  const int64_t last_timestamp = std::max(counters.last_timestamp, last_timestamp_);
  time_->Restore(last_timestamp, std::max(counters.clock_high_micros, last_timestamp));
}

}  // namespace

Result<RecoveredDatabase> Recover(const RecoveryOptions& options, Health* health,
                                  TimeSource* time) {
  return Guarded([&] { return Recovery(options, health, time).Run(); });
}

void SealOldSegments(const RecoveredDatabase& database, SegmentTracker* segments) {
  const Storage& storage = *database.opened.storage;
  const format::Catalog catalog = storage.catalog();
  for (const format::SegmentRecord& segment : catalog.segments) {
    if (segment.number == storage.current_segment()) continue;
    segments->Seal(segment.number, database.last_sequence);
  }
}

}  // namespace tandem::engine
