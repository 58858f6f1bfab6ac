// Opening, wiring and closing. Reads are in reads.cc, writes in writes.cc, reports in info.cc,
// copies in copies.cc.
#include "engine/engine_impl.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/create_table.h"
#include "engine/region/size_rules.h"
#include "wal/log.h"

namespace tandem::engine {
namespace {

std::string_view SectionText(const format::BrokenSection& broken) {
  if (broken.index.has_value()) return "an index";
  switch (broken.kind) {
    case format::SectionKind::kFilter:
      return "the filter";
    case format::SectionKind::kKeyHashes:
      return "the key hashes";
    case format::SectionKind::kCleanRows:
      return "the clean rows";
    default:
      return "the top of a block index";
  }
}

constexpr int64_t kHourMicros = 3'600'000'000;
// The time is saved by an edit of its own if the saved time is older than this.
constexpr int64_t kMarkLagMicros = 24 * kHourMicros;

// "3 days", "5 hours", "7 minutes".
std::string DurationText(int64_t micros) {
  if (micros >= 48 * kHourMicros) return std::to_string(micros / (24 * kHourMicros)) + " days";
  if (micros >= 2 * kHourMicros) return std::to_string(micros / kHourMicros) + " hours";
  return std::to_string(micros / (kHourMicros / 60)) + " minutes";
}

bool NoneIsRetired(const std::vector<std::shared_ptr<Region>>& regions) {
  return std::none_of(regions.begin(), regions.end(),
                      [](const auto& region) { return region->is_retired(); });
}

}  // namespace

Status EngineImpl::Closed() { return Status::Closed("the database is closed"); }

Result<std::unique_ptr<Engine>> Engine::Open(const std::string& path, const Options& options,
                                             const Tuning& tuning, const Environment& environment) {
  ASSIGN_OR_RETURN(std::shared_ptr<const base::ForkMark> fork_mark, base::ForkMark::Make());
  auto engine =
      std::make_unique<EngineImpl>(path, options, tuning, environment, std::move(fork_mark));
  RETURN_IF_ERROR(engine->Start());
  return std::unique_ptr<Engine>(std::move(engine));
}

EngineImpl::EngineImpl(const std::string& path, const Options& options, const Tuning& tuning,
                       const Environment& environment,
                       std::shared_ptr<const base::ForkMark> fork_mark)
    : path_(path),
      options_(options),
      tuning_(tuning),
      environment_(environment),
      // In an environment of the caller's every thread is the executor's.
      read_threads_(environment.owner == nullptr ? nullptr : NewReadThreads(0, environment.clock)),
      fork_mark_(std::move(fork_mark)),
      observers_(this, options.observers, fork_mark_),
      monitor_(environment.clock, options),
      health_(&monitor_),
      time_(environment.clock),
      snapshots_(std::make_shared<SnapshotRegistry>(&time_)),
      handles_(std::make_shared<OpenHandles>(fork_mark_)),
      jobs_(std::make_unique<BackgroundJobs>(environment.executor)) {}

Status EngineImpl::Start() {
  if (!environment_.io_note.empty()) health_.Log(environment_.io_note);
  const RecoveryOptions recovery{.path = path_,
                                 .create_if_missing = options_.create_if_missing,
                                 .read_only = options_.read_only,
                                 .tuning = tuning_,
                                 .environment = environment_,
                                 .functions = &options_.functions};
  ASSIGN_OR_RETURN(database_, Recover(recovery, &health_, &time_));
  time_.Begin(options_.accept_clock);
  BuildComponents();
  is_open_ = true;
  const wal::ReplayReport& replay = database_.opened.replay;
  if (replay.operations + replay.torn_bytes > 0) {
    health_.Log("recovered " + std::to_string(replay.operations) + " operations of " +
                std::to_string(replay.frames) + " groups from the log; " +
                std::to_string(replay.torn_bytes) + " torn bytes at its end were ignored");
  }
  if (options_.read_only) {
    health_.OpenReadOnly();
  } else {
    maintenance_->Start();
    if (HasGlobalIndexes()) global_builds_->Schedule();
    if (options_.accept_clock) RETURN_IF_ERROR(KeepTime());
  }
  ReportClock();
  maintenance_->ScheduleOverlaps();
  scrubber_->Start();
  return {};
}

bool EngineImpl::HasGlobalIndexes() const {
  return std::ranges::any_of(database_.regions->tables(), [](const auto& table) {
    return !table->record->global_indexes.empty() || table->record->entries_of.has_value();
  });
}

void EngineImpl::BuildComponents() {
  Storage* storage = database_.opened.storage.get();
  RegionSet* regions = database_.regions.get();
  database_id_ = storage->catalog().database;
  history_ = std::make_shared<SchemaHistory>(regions);
  named_snapshots_ = std::make_shared<NamedSnapshots>(database_.files.get(), regions);
  if (!options_.read_only) SealOldSegments(database_, &segments_);
  snapshots_->Publish(database_.last_sequence);
  BuildCommitQueue();
  const FileWork work{.files = database_.files.get(),
                      .editor = editor_.get(),
                      .snapshots = snapshots_.get(),
                      .health = &health_,
                      .monitor = &monitor_,
                      .database = database_id_,
                      .section_alignment = tuning_.section_alignment,
                      .limits = {.bytes = tuning_.file_bytes, .rows = tuning_.file_rows},
                      .join_bytes = tuning_.join_bytes,
                      .merge_window_bytes = tuning_.merge_window_bytes,
                      .merge_entry_bytes = tuning_.merge_entry_bytes};
  BuildCompactor(work);
  overlaps_ =
      std::make_unique<OverlapWorker>(tuning_.overlap_bytes, database_.memory.get(), &monitor_);
  flusher_ =
      std::make_unique<Flusher>(Flusher::Dependencies{.work = work,
                                                      .queue = queue_.get(),
                                                      .overlaps = overlaps_.get(),
                                                      .file_system = environment_.file_system,
                                                      .memstore_bytes = tuning_.memstore_bytes,
                                                      .open_files_max = tuning_.open_files_max});
  gate_ = std::make_unique<WriteThrottle>(
      WriteThrottle::Dependencies{.regions = regions,
                                  .health = &health_,
                                  .monitor = &monitor_,
                                  .executor = environment_.executor,
                                  .clock = environment_.clock,
                                  .memstore_bytes = tuning_.memstore_bytes,
                                  .memstores_total_bytes = tuning_.memstores_total_bytes,
                                  .runs_max = tuning_.compaction_runs});
  const auto broken_sink = [this](const format::StoreFile& file,
                                  const format::BrokenSection& broken) {
    SectionBroken(file, broken);
  };
  database_.files->set_broken_sink(broken_sink);
  if (!observers_.empty()) {
    monitor_.FindObserversBy([this](std::string_view table) { return ObserversOf(table); });
  }
  BuildMaintenance();
  BuildLoadWork(work);
  transaction_limit_ = std::make_unique<BackgroundTask>(jobs_.get(), base::Priority::kLow,
                                                        [this] { ExpireTransactions(); });
  global_builds_ = std::make_unique<BackgroundTask>(jobs_.get(), base::Priority::kLow,
                                                    [this] { BuildGlobalIndexes(); });
  scrubber_ = std::make_unique<Scrubber>(
      Scrubber::Dependencies{.regions = regions,
                             .storage = storage,
                             .files = database_.files.get(),
                             .monitor = &monitor_,
                             .health = &health_,
                             .jobs = jobs_.get(),
                             .bytes_per_second = options_.scrub_bytes_per_second});
}

// With the log below it and the catalog's editor beside it.
void EngineImpl::BuildCommitQueue() {
  Storage* storage = database_.opened.storage.get();
  RegionSet* regions = database_.regions.get();
  log_ = std::make_unique<GroupLog>(storage, &segments_, &health_, database_.last_sequence,
                                    database_.memory.get());
  log_->UpdateLogBytes();
  applier_ = std::make_unique<GroupApplier>(regions);
  queue_ = std::make_unique<CommitQueue>(
      CommitDependencies{.log = log_.get(),
                         .applier = applier_.get(),
                         .snapshots = snapshots_.get(),
                         .time = &time_,
                         .clock = environment_.clock,
                         .health = &health_,
                         .jobs = jobs_.get(),
                         .regions = regions,
                         .read_resources = [this] { return read_resources(); },
                         .flush = [this](Region* region) { return FlushAllOf(*region); },
                         .settle_catalog = [this] { return CommitCounters(); },
                         .after_group = [this] { maintenance_->AfterGroup(); }},
      database_.last_sequence);
  editor_ = std::make_unique<CatalogEditor>(storage, &time_, &health_,
                                            [this] { return queue_->last_sequence(); });
  sequences_ = std::make_unique<Sequences>(storage, editor_.get(), &health_);
  if (monitor_.is_heard()) {
    hot_regions_ = std::make_unique<HotRegions>(database_.regions.get(), &monitor_);
  }
}

// They know each other: a region that grows too large is split, and what it becomes is maintained.
void EngineImpl::BuildCompactor(const FileWork& work) {
  index_builder_ = std::make_unique<IndexBuilder>(IndexBuilder::Dependencies{
      .work = work,
      .regions = database_.regions.get(),
      .clock = environment_.clock,
      .bytes_per_second = options_.index_build_bytes_per_second,
      .runs_max = tuning_.compaction_runs,
      .turn_ended = [this](Region& region) { maintenance_->Resume(region); }});
  merge_pace_ = std::make_unique<MergePace>(
      MergePace::Dependencies{.clock = environment_.clock,
                              .bytes_per_second = options_.compaction_bytes_per_second,
                              .factor = [this] { return gate_->MergeFactor(); },
                              .run_urgent = [this] { jobs_->RunUrgent(); },
                              .monitor = &monitor_});
  compactor_ = std::make_unique<Compactor>(Compactor::Dependencies{
      .work = work,
      .runs_max = tuning_.compaction_runs,
      .space_reserve = SpaceReserve(tuning_.memstores_total_bytes, tuning_.log_segment_bytes),
      .builder = index_builder_.get(),
      .pace = merge_pace_.get(),
      .merged_between = [this](Region& region) { maintenance_->MergedBetween(region); }});
}

void EngineImpl::BuildMaintenance() {
  splitter_ = std::make_unique<Splitter>(Splitter::Dependencies{
      .regions = database_.regions.get(),
      .editor = editor_.get(),
      .queue = queue_.get(),
      .applier = applier_.get(),
      .flusher = flusher_.get(),
      .compactor = compactor_.get(),
      .health = &health_,
      .monitor = &monitor_,
      .live_middle = [this](const Region& region) { return LiveMiddleOf(region); },
      .flush = [this](Region& region) { return FlushAllOf(region); },
      .prepare = [this](Region& region) { maintenance_->Prepare(region); },
      .replaced = [this](Region& region,
                         Splitter::Halves halves) { maintenance_->Replaced(region, halves); },
      .begin = [this](Region& region) { maintenance_->Begin(region); },
      .resume = [this](Region& region) { maintenance_->Resume(region); }});
  region_merger_ = std::make_unique<RegionMerger>(RegionMerger::Dependencies{
      .regions = database_.regions.get(),
      .editor = editor_.get(),
      .queue = queue_.get(),
      .applier = applier_.get(),
      .flusher = flusher_.get(),
      .compactor = compactor_.get(),
      .health = &health_,
      .monitor = &monitor_,
      .region_bytes_max = tuning_.region_bytes_max,
      .runs_max = tuning_.compaction_runs,
      .flush = [this](Region& region) { return FlushAllOf(region); },
      .flush_in_turn = [this](Region& region) { return maintenance_->FlushInTurn(region); },
      .compact =
          [this](const std::shared_ptr<Region>& region) { return maintenance_->Compact(region); },
      .prepare = [this](Region& region) { maintenance_->Prepare(region); },
      .memstore_changed = [this](Region& region) { maintenance_->MemstoreChanged(region); },
      .begin = [this](Region& region) { maintenance_->Begin(region); },
      .resume = [this](Region& region) { maintenance_->Resume(region); }});
  BuildSchemaEditor();
  maintenance_ = std::make_unique<Maintenance>(Maintenance::Dependencies{
      .regions = database_.regions.get(),
      .applier = applier_.get(),
      .log = log_.get(),
      .segments = &segments_,
      .editor = editor_.get(),
      .queue = queue_.get(),
      .flusher = flusher_.get(),
      .compactor = compactor_.get(),
      .overlaps = overlaps_.get(),
      .gate = gate_.get(),
      .health = &health_,
      .jobs = jobs_.get(),
      .cache = database_.files->cache(),
      .split = [this](const Region& region) { return splitter_->SplitInMiddle(region); },
      .is_too_small = [this](const Region& region) { return region_merger_->IsDue(region); },
      .merge_with_neighbour =
          [this](const Region& region) { return region_merger_->MergeIfDue(region); },
      .tuning = tuning_});
}

void EngineImpl::BuildSchemaEditor() {
  schema_ = std::make_unique<SchemaEditor>(SchemaEditor::Dependencies{
      .regions = database_.regions.get(),
      .history = history_.get(),
      .editor = editor_.get(),
      .queue = queue_.get(),
      .applier = applier_.get(),
      .flusher = flusher_.get(),
      .compactor = compactor_.get(),
      .health = &health_,
      .snapshots = snapshots_.get(),
      .time = &time_,
      .sync_log = [this] { return SyncLog(); },
      .prepare = [this](Region& region) { maintenance_->Prepare(region); },
      .entries_record =
          [this](const format::TableRecord& table, const format::GlobalIndexRecord& global) {
            return EntriesRecord(table, global, environment_.random);
          },
      .memstore_changed = [this](Region& region) { maintenance_->MemstoreChanged(region); },
      .removed = [this] { maintenance_->Removed(); },
      .record_changed = [this](const Table& table) { maintenance_->RecordChanged(table); }});
}

void EngineImpl::BuildLoadWork(const FileWork& files) {
  FlushWork flushing{
      .files = files,
      .regions = database_.regions.get(),
      .queue = queue_.get(),
      .flusher = flusher_.get(),
      .flush = [this](const auto& regions) { return maintenance_->Flush(regions); },
      .sync_log = [this] { return SyncLog(); },
      .memstore_changed = [this](Region& region) { maintenance_->MemstoreChanged(region); },
      .begin = [this](Region& region) { maintenance_->Begin(region); }};
  load_work_ = std::make_unique<LoadWork>(
      LoadWork{std::move(flushing), jobs_.get(), tuning_.sort_bytes, schema_.get(), &write_stops_,
               [this](const Table& table) { maintenance_->Prepare(table); }});
  snapshot_editor_ = std::make_unique<SnapshotEditor>(
      SnapshotEditor::Dependencies{.work = load_work_.get(),
                                   .storage = database_.opened.storage.get(),
                                   .open = named_snapshots_.get(),
                                   .time = &time_,
                                   .clock = environment_.clock});
}

// Reads continue without the section; a writable database rewrites the file, reported or not.
void EngineImpl::SectionBroken(const format::StoreFile& file, const format::BrokenSection& broken) {
  if (!options_.read_only) maintenance_->ScheduleRewrites();
  BrokenSectionEvent event{.table = file.table().name,
                           .file_number = file.number().value,
                           .section = SectionText(broken),
                           .reason = broken.reason};
  const format::IndexRecord* index =
      broken.index.has_value() ? file.table().FindIndex(*broken.index) : nullptr;
  if (index != nullptr) event.index = index->name;
  health_.Log("damage in " + std::string(event.section) + " of table " + base::Quote(event.table) +
              "; reads go on without it: " + broken.reason);
  monitor_.SectionBroken(event);
}

Status EngineImpl::CreateTable(const TableOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  ASSIGN_OR_RETURN(const format::TableRecord record,
                   MakeTableRecord(options, environment_.random, options_.functions));
  RETURN_IF_ERROR(CheckIndexesUnlike(record));
  ASSIGN_OR_RETURN(const std::vector<std::string> starts, RegionStarts(options));
  return queue_->RunAlone([&] { return CreateTableAlone(record, starts); });
}

// One edit adds the table and its regions, each from its start key to the next one's.
Status EngineImpl::CreateTableAlone(format::TableRecord record,
                                    const std::vector<std::string>& starts) {
  if (database_.regions->Find(record.name) != nullptr) return TableExists(record.name);
  // Prepared before the edit: once that is durable, the table must appear even without free memory.
  RegionSet::Addition addition;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    record.id = format::TableId(edit->counters->next_table_id++);
    for (format::GlobalIndexRecord& global : record.global_indexes) {
      global.since = queue_->last_sequence();  // It has no rows yet.
    }
    schema_->AddEntries(&record, edit, &addition);
    std::vector<format::RegionRecord> regions =
        format::NewRegions(record.id, starts, &*edit->counters);
    edit->put_tables.push_back(record);
    edit->put_regions.insert(edit->put_regions.end(), regions.begin(), regions.end());
    RegionSet::Addition own = database_.regions->Prepare(record, std::move(regions));
    addition.by_id.merge(own.by_id);
    addition.by_name.merge(own.by_name);
    for (const auto& [id, table] : addition.by_id) maintenance_->Prepare(*table);
    return Status();
  };
  change.publish = [&] { database_.regions->Add(std::move(addition)); };
  return editor_->Commit(change);
}

// `table` (may be null) had the name of one that went; another may have got that name in between.
void EngineImpl::ForgetStop(const Table* table) {
  if (table == nullptr || database_.regions->Find(table->record->id) != nullptr) return;
  write_stops_.Forget(table->record->id);
}

Status EngineImpl::DropTable(std::string_view table) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  const std::shared_ptr<const Table> dropped = database_.regions->Find(table);
  RETURN_IF_ERROR(schema_->Drop(table));
  ForgetStop(dropped.get());
  return {};
}

Status EngineImpl::TruncateTable(std::string_view table) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  const std::shared_ptr<const Table> emptied = database_.regions->Find(table);
  RETURN_IF_ERROR(schema_->Truncate(table));
  ForgetStop(emptied.get());
  return {};
}

Status EngineImpl::RenameTable(std::string_view from, const std::string& to) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  RETURN_IF_ERROR(CheckTableName(to));
  return schema_->Rename(from, to);
}

Status EngineImpl::ChangeTable(std::string_view table,
                               const std::function<Status(format::TableRecord*)>& change) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  return schema_->Change(table, change);
}

Status EngineImpl::CreateIndex(std::string_view table, const IndexOptions& index) {
  RETURN_IF_ERROR(ChangeTable(table, [&](format::TableRecord* record) {
    return AddIndexTo(index, options_.functions, record);
  }));
  if (index.placement == IndexPlacement::kGlobal) global_builds_->Schedule();
  return {};
}

Status EngineImpl::DropIndex(std::string_view table, std::string_view index) {
  bool is_global = false;
  RETURN_IF_ERROR(ChangeTable(table, [&](format::TableRecord* record) {
    is_global = record->FindGlobal(index) != nullptr;
    return RemoveIndexFrom(index, record);
  }));
  GatePass pass(calls_);
  if (is_global && pass.inside()) schema_->DropEntriesOfNone();
  return {};
}

Status EngineImpl::SetColumnType(std::string_view table, const ColumnOptions& column) {
  return ChangeTable(table,
                     [&](format::TableRecord* record) { return SetColumnTypeIn(column, record); });
}

Status EngineImpl::AddFamily(std::string_view table, const FamilyOptions& family) {
  return ChangeTable(table,
                     [&](format::TableRecord* record) { return AddFamilyTo(family, record); });
}

// Only what leaves former limits flushes. Another change may come between the look and the edit.
Status EngineImpl::AlterFamily(std::string_view table, const FamilyOptions& family) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  bool needs_flush = false;
  const auto change = [&](format::TableRecord* record) {
    needs_flush = ChangesFormerLimits(family, *record);
    if (needs_flush) return Status::Busy("it was altered meanwhile");
    return AlterFamilyIn(family, {.now_micros = time_.Now()}, record);
  };
  const auto change_flushed = [&](const SchemaEditor::Place& place, format::TableRecord* record) {
    const AlterPoint point{place.sequence, place.now_micros, place.oldest_in_files};
    return AlterFamilyIn(family, point, record);
  };
  const std::shared_ptr<const Table> found = database_.regions->Find(table);
  if (found == nullptr || !ChangesFormerLimits(family, *found->record)) {
    const Status status = schema_->Change(table, change);
    if (!needs_flush) return status;
  }
  return schema_->ChangeFlushed(*load_work_, std::string(table), change_flushed);
}

Status EngineImpl::DropFamily(std::string_view table, std::string_view family) {
  return ChangeTable(table,
                     [&](format::TableRecord* record) { return DropFamilyOf(family, record); });
}

Status EngineImpl::SetObservers(std::string_view table, std::span<const std::string> observers) {
  return ChangeTable(
      table, [&](format::TableRecord* record) { return SetObserversIn(observers, record); });
}

// Threads: the commit leader.
Status EngineImpl::SyncLog() {
  RETURN_IF_ERROR(log_->WriteBuffered());
  return log_->Sync();
}

// The regions of one table; of all when the name is empty.
Result<std::vector<std::shared_ptr<Region>>> EngineImpl::RegionsOf(std::string_view name) {
  if (name.empty()) return database_.regions->regions();
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  return table->regions;
}

// Regions that are split or merged meanwhile leave memstores to what they become.
Status EngineImpl::FlushTable(std::string_view table) {
  while (true) {
    ASSIGN_OR_RETURN(const auto regions, RegionsOf(table));
    RETURN_IF_ERROR(maintenance_->Flush(regions));
    if (NoneIsRetired(regions)) return {};
  }
}

Status EngineImpl::FlushAllOf(Region& region) {
  RETURN_IF_ERROR(maintenance_->Flush({&region}));
  return region.is_retired() ? FlushTable(region.table()->name) : Status();
}

Status EngineImpl::Flush(std::string_view table) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  return FlushTable(table);
}

Status EngineImpl::Compact(std::string_view table) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(AskBeforeCompact(table));
  while (true) {
    ASSIGN_OR_RETURN(const auto regions, RegionsOf(table));
    for (const auto& region : regions) {
      const Status status = maintenance_->Compact(region);
      if (!region->is_retired()) RETURN_IF_ERROR(status);
    }
    if (NoneIsRetired(regions)) return {};
  }
}

Result<SplitResult> EngineImpl::Split(std::string_view table, const SplitOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  if (!options.dry_run) {
    RETURN_IF_ERROR(AskOf(table, "BeforeSplit", [&](Observer& observer, std::string_view name) {
      return observer.BeforeSplit(name, options);
    }));
  }
  return splitter_->Split(table, options);
}

Result<RegionMergeResult> EngineImpl::MergeRegions(std::string_view table,
                                                   const RegionMergeOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  if (!options.dry_run) {
    RETURN_IF_ERROR(
        AskOf(table, "BeforeMergeRegions", [&](Observer& observer, std::string_view name) {
          return observer.BeforeMergeRegions(name, options);
        }));
  }
  return region_merger_->Merge(table, options);
}

Status EngineImpl::FlushEverything() {
  if (!health_.CheckWritable().ok()) return {};
  return FlushTable({});
}

// Closing takes these steps. A failure in steps 1 to 3 calls it off.
//   1. Memstores are flushed while calls continue, so that little is left to do.
//   2. The gate is closed: calls inside end, later ones are refused.
//   3. No cursor or snapshot may be open; what was written meanwhile is flushed.
//   4. Small merges are completed, other background work stops; the log is rolled, and the
//      components are destroyed.
//   5. ROOT is marked as closed, unless the database had turned read-only.
Status EngineImpl::Close() {
  bool closed = false;
  const Status status = Close(&closed);
  if (status.ok() || !closed) return status;
  return Status::IoError("closed, but not cleanly (the next open recovers): " + status.ToString());
}

Status EngineImpl::Close(bool* closed) {
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  if (closing_.exchange(true, std::memory_order_acq_rel)) return Closed();
  const Status prepared = Guarded([this] { return PrepareClose(); });
  if (!prepared.ok()) {
    calls_.Reopen();
    closing_.store(false, std::memory_order_release);
    return prepared;
  }
  overlaps_->Cancel();
  MergeLittle();
  compactor_->Cancel();
  jobs_->Stop();
  Status status = options_.read_only ? Status() : health_.CheckWritable();
  if (status.ok() && !options_.read_only) status = Guarded([this] { return SealLog(); });
  Shutdown();
  if (status.ok() && !options_.read_only) {
    status = Guarded([this] { return database_.opened.storage->CloseCleanly(); });
  }
  database_.opened.storage.reset();
  is_open_ = false;
  *closed = true;
  return status;
}

Status EngineImpl::PrepareClose() {
  RETURN_IF_ERROR(handles_->CheckNoneOpen());
  RETURN_IF_ERROR(FlushEverything());
  calls_.Close();
  RETURN_IF_ERROR(handles_->CheckNoneOpen());
  return FlushEverything();
}

// Otherwise sessions too short for their merges would leave a file each.
void EngineImpl::MergeLittle() {
  if (!health_.CheckWritable().ok()) return;
  const Status status =
      Guarded([this] { return compactor_->FinishSmallMerges(database_.regions->regions()); });
  if (status.ok() || status.code() == StatusCode::kCancelled) return;
  Guarded([&] {
    health_.Log("merging at the close failed: " + status.ToString());
    return Status();
  }).Ignore("the close goes on without the merge, and without a line about it");
}

// Every operation is in files: the log can end in an empty segment.
Status EngineImpl::SealLog() {
  RETURN_IF_ERROR(log_->WriteBuffered());
  if (log_->segment_bytes() > wal::kSegmentHeaderBytes) RETURN_IF_ERROR(log_->Roll());
  RETURN_IF_ERROR(maintenance_->DropSegments());
  // Opening a database counts as using it, even if nothing is written.
  KeepTime().Ignore("the next open judges the clock by an older time");
  return {};
}

// Commits an edit with only the counters if those of the catalog are old.
Status EngineImpl::KeepTime() {
  const int64_t kept = database_.opened.storage->catalog().counters.clock_high_micros;
  if (time_.Now() - kept < kMarkLagMicros) return {};
  return CommitCounters();
}

Status EngineImpl::CommitCounters() {
  CatalogEditor::Change change;
  change.prepare = [](const format::Catalog&, format::CatalogEdit*) { return Status(); };
  change.publish = [] {};
  change.counters_alone = true;
  return editor_->Commit(change);
}

void EngineImpl::ReportClock() {
  time_.TakeChange();
  const TimeSource::Reading reading = time_.Read();
  const std::string apart = DurationText(std::abs(reading.wall_micros - reading.now_micros)) + " ";
  switch (reading.trust) {
    case ClockTrust::kRight:
      if (clock_reported_.exchange(false)) health_.Log("the wall clock is believed again");
      return;
    case ClockTrust::kBehind:
      health_.Log("the wall clock is " + apart +
                  "behind the time of the database, which does not go back");
      break;
    case ClockTrust::kDoubted:
      health_.Log("the wall clock is " + apart +
                  "ahead of the time of the database and is not believed: nothing expires, and "
                  "writes get the last timestamp + 1. Where the clock is right, open the database "
                  "with accept_clock, or run 'tandem clock DB --accept'");
      break;
  }
  clock_reported_.store(true);
}

void EngineImpl::Shutdown() {
  const uint64_t freed = database_.memory->bytes();
  if (history_ != nullptr) history_->End();
  if (named_snapshots_ != nullptr) named_snapshots_->End();
  scrubber_.reset();
  maintenance_.reset();
  snapshot_editor_.reset();
  load_work_.reset();
  schema_.reset();
  region_merger_.reset();
  splitter_.reset();
  gate_.reset();
  overlaps_.reset();
  compactor_.reset();
  index_builder_.reset();
  flusher_.reset();
  sequences_.reset();
  hot_regions_.reset();
  editor_.reset();
  queue_.reset();
  applier_.reset();
  log_.reset();
  database_.regions.reset();
  database_.files.reset();
  database_.memory->heap().Freed(freed);
}

EngineImpl::~EngineImpl() {
  if (!is_open_) return;
  handles_->Invalidate();
  const Status status = Guarded([this] { return Close(); });
  if (!is_open_) return;
  // It could not be closed cleanly: what the log can still take is all that can be saved.
  Guarded([&] {
    health_.Log("closed without a clean end: " + status.ToString());
    return Status();
  }).Ignore("a line of the log is not worth more");
  calls_.Close();
  queue_->WriteBuffered().Ignore("nobody is left to be told");
  compactor_->Cancel();
  overlaps_->Cancel();
  jobs_->Stop();
  Shutdown();
}

}  // namespace tandem::engine
