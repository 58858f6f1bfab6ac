// The memstore is walked once, over the keys of the region: regions that were one when it took
// writes share it, and each flushes its part. Rows of which nothing survives are left out, and a
// file is created only when there is a row to write. Of a hot row only the states that some reader
// sees are walked (memstore/row_states.h); if it is still large, it is written column by column, as
// in compaction.
#include "engine/jobs/flush.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "compaction/column_merge.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "memstore/row_prefetcher.h"
#include "memstore/row_states.h"

namespace tandem::engine {
namespace {

// A row with more cells is streamed.
constexpr uint64_t kCellsInMemoryMax = 4096;
// Rows between two reports of the progress.
constexpr uint64_t kRowsPerReport = 256;

// Writes the rows of one memstore.
class MemstoreWriter {
 public:
  MemstoreWriter(const FileWork& work, const OverlapWorker& overlaps, const Region& region,
                 const RegionVersion& version)
      : work_(work),
        overlaps_(overlaps),
        table_(region.table()),
        run_(work, region),
        version_(version),
        retention_point_(work.snapshots->TakeRetentionPoint()) {}

  /// Sets `progress` to the bytes of the memstore that were read, by the share of rows.
  Result<WrittenRun> Write(const Memstore& memstore, JobProgress* progress);

 private:
  Status WriteHotRow(const Memstore::Iterator& row, const Memstore& memstore);
  Status StreamRow(std::string_view key, const RowStates& states, const Memstore& memstore);
  Status WriteRow(std::string_view key, const Memstore& memstore);
  Result<format::StoreFileWriter*> WriterOfNextRow(const Memstore& memstore);
  Result<bool> OlderFilesMayHold(std::string_view key, uint64_t hash);
  Status FinishFile(const Memstore& memstore);
  uint64_t RowHash(std::string_view key) const { return format::RowHash(key, table_->hash_secret); }

  const FileWork& work_;
  const OverlapWorker& overlaps_;
  const std::shared_ptr<const format::TableRecord> table_;
  RunWriter run_;
  const RegionVersion& version_;
  const SnapshotRegistry::RetentionPoint retention_point_;
  CellCounts counts_;
  std::vector<format::Cell> cells_, kept_;
  format::StoreFileWriter* writer_ = nullptr;        // Of the unfinished file.
  std::unique_ptr<FlushedRows::Recorder> recorder_;  // Of its rows; null: not needed.
};

Result<bool> MemstoreWriter::OlderFilesMayHold(std::string_view key, uint64_t hash) {
  for (const FileSlice& slice : version_.files) {
    const format::FileStatistics& statistics = slice.file->store().statistics();
    if (key < statistics.min_key || key > statistics.max_key) continue;
    ASSIGN_OR_RETURN(const bool may_contain, slice.file->store().MayContain(hash));
    if (may_contain) return true;
  }
  return false;
}

Status MemstoreWriter::WriteRow(std::string_view key, const Memstore& memstore) {
  format::Retention retention{.families = table_->families,
                              .snapshots = retention_point_.snapshots,
                              .now_micros = retention_point_.now_micros};
  const bool has_marker = std::any_of(cells_.begin(), cells_.end(), [](const format::Cell& cell) {
    return cell.kind != format::CellKind::kPut;
  });
  if (has_marker) {
    ASSIGN_OR_RETURN(retention.older_sources_may_hold_row, OlderFilesMayHold(key, RowHash(key)));
  }
  kept_.clear();
  format::RetainCells(cells_, retention, &kept_, &counts_.dropped);
  counts_.in += cells_.size();
  counts_.out += kept_.size();
  if (kept_.empty()) return {};
  RETURN_IF_ERROR(WriterOfNextRow(memstore).status());
  RETURN_IF_ERROR(writer_->AddRow(key, kept_).status());
  if (recorder_ != nullptr) recorder_->AddRow(key, kept_);
  return {};
}

// The writer of the current file, or of the next one if the current one has reached its limits. Of
// words and trigrams a row may have many times as many entries as bytes.
Result<format::StoreFileWriter*> MemstoreWriter::WriterOfNextRow(const Memstore& memstore) {
  const bool has_too_many =
      writer_ != nullptr &&
      writer_->entry_bytes() > work_.merge_entry_bytes + memstore.size_bytes();
  if (has_too_many || (writer_ != nullptr && work_.limits.AreReached(*writer_))) {
    RETURN_IF_ERROR(FinishFile(memstore));
  }
  if (writer_ == nullptr) {
    ASSIGN_OR_RETURN(writer_, run_.NextFile());
    recorder_ = overlaps_.NewRecorder(version_, memstore);
  }
  return writer_;
}

Status MemstoreWriter::WriteHotRow(const Memstore::Iterator& row, const Memstore& memstore) {
  const RowStates states(row.row(), retention_point_.snapshots);
  if (states.size() > kCellsInMemoryMax) return StreamRow(row.key(), states, memstore);
  cells_.clear();
  states.Append(&cells_);
  return WriteRow(row.key(), memstore);
}

// The file's record lists a streamed row as one that supersedes nothing, which is safe.
Status MemstoreWriter::StreamRow(std::string_view key, const RowStates& states,
                                 const Memstore& memstore) {
  compaction::MergeOptions options;
  options.table = table_;
  options.snapshots.assign(retention_point_.snapshots.begin(), retention_point_.snapshots.end());
  options.now_micros = retention_point_.now_micros;
  options.older_may_contain = [&](uint64_t hash) { return OlderFilesMayHold(key, hash); };
  compaction::StreamedRow streamed{.key = key, .parts = {}, .forgets_sequences = false};
  streamed.parts.push_back({.cells = states.Open(), .in_digests = false});
  const auto next_writer = [&]() -> Result<format::StoreFileWriter*> {
    RETURN_IF_ERROR(WriterOfNextRow(memstore).status());
    if (recorder_ != nullptr) recorder_->AddRow(key, {});
    return writer_;
  };
  return compaction::MergeColumns(std::move(streamed), options, next_writer, nullptr, &counts_);
}

Status MemstoreWriter::FinishFile(const Memstore& memstore) {
  writer_->WidenSequences(memstore.min_sequence(), memstore.max_sequence());
  ASSIGN_OR_RETURN(const format::StoreFileSummary summary, writer_->Finish());
  writer_ = nullptr;
  RETURN_IF_ERROR(run_.Finished(summary));
  if (recorder_ != nullptr) run_.last().file->KeepRecord(recorder_->Finish());
  recorder_.reset();
  return {};
}

Result<WrittenRun> MemstoreWriter::Write(const Memstore& memstore, JobProgress* progress) {
  const double bytes_per_row =
      static_cast<double>(memstore.size_bytes()) / static_cast<double>(memstore.row_count());
  uint64_t rows = 0;
  Memstore::Iterator row(&memstore);
  RowPrefetcher prefetcher(&memstore);
  row.Seek(version_.start_key);
  run_.ExpectBytes(memstore.size_bytes());
  for (prefetcher.Start(row); row.valid() && version_.MayHold(row.key());
       row.Next(), prefetcher.Step()) {
    if (++rows % kRowsPerReport == 0) {
      progress->store(static_cast<uint64_t>(static_cast<double>(rows) * bytes_per_row),
                      std::memory_order_relaxed);
    }
    cells_.clear();
    uint64_t looked_at = 0;
    const RowTreeView tree =
        Memstore::RecentCells(row.row(), format::kSequenceMax, &cells_, &looked_at);
    if (tree.root != nullptr) {
      RETURN_IF_ERROR(WriteHotRow(row, memstore));
    } else if (!cells_.empty()) {
      format::SortCells(cells_);
      RETURN_IF_ERROR(WriteRow(row.key(), memstore));
    }
  }
  progress->store(memstore.size_bytes(), std::memory_order_relaxed);
  if (writer_ != nullptr) RETURN_IF_ERROR(FinishFile(memstore));
  return WrittenRun{.files = run_.Take(), .cells = counts_};
}

}  // namespace

Status Flusher::Flush(Region& region, const std::function<void()>& flushed) {
  RegionJobLock turn(region, Region::Work::kFlush);
  return FlushInTurn(region, flushed);
}

Result<bool> Flusher::FlushOneUnlessBusy(Region& region, const std::function<void()>& flushed) {
  if (region.waiting_memstores() == 0 || !region.TryBegin(Region::Work::kFlush)) return false;
  bool had_one = false;
  const Status status = Guarded([&]() -> Status {
    ASSIGN_OR_RETURN(had_one, FlushOldest(region, LogState::kToBeSynced));
    if (had_one) flushed();
    return {};
  });
  region.End(Region::Work::kFlush);
  RETURN_IF_ERROR(status);
  return had_one;
}

void Flusher::Forget(const Region& region) {
  std::map<Part, WrittenRun> forgotten;  // Which are deleted after the mutex.
  base::MutexLock lock(mutex_);
  for (auto entry = finished_.begin(); entry != finished_.end();) {
    const auto here = entry++;
    if (here->first.first == region.id()) forgotten.insert(finished_.extract(here));
  }
  for (const auto& [part, written] : forgotten) {
    for (const FinishedFile& file : written.files) StoreFiles::Retire(*file.file);
  }
}

Status Flusher::FlushInTurn(Region& region, const std::function<void()>& flushed) {
  while (true) {
    ASSIGN_OR_RETURN(const bool had_one, FlushOldest(region, LogState::kToBeSynced));
    if (!had_one) return {};
    flushed();
  }
}

Status Flusher::FlushAlone(Region& region) {
  while (true) {
    ASSIGN_OR_RETURN(const bool had_one, FlushOldest(region, LogState::kSynced));
    if (!had_one) return {};
  }
}

Result<bool> Flusher::FlushOldest(Region& region, LogState log) {
  const std::shared_ptr<const RegionVersion> version = region.version();
  if (version->memstores.size() < 2) return false;
  RETURN_IF_ERROR(work_.health->CheckWritable());
  const Memstore& memstore = *version->memstores.front();
  const std::shared_ptr<const format::TableRecord> table = region.table();  // It may be replaced.
  FlushEvent event{.table = table->name,
                   .region_id = region.id().value,
                   .memstore_rows = memstore.row_count(),
                   .memstore_bytes = memstore.size_bytes()};
  const Status status = Guarded([&] {
    return work_.monitor->RunFlush(&event, [&](JobProgress* progress) -> Status {
      ASSIGN_OR_RETURN(const WrittenRun written, WriteAndInstall(region, *version, log, progress));
      const RunSize size = SizeOf(written.files);
      event.files = size.files;
      event.rows = size.rows;
      event.bytes = size.bytes;
      event.cells = written.cells;
      return {};
    });
  });
  if (status.ok()) return true;
  if (!region.is_retired()) return status;
  Forget(region);  // Its table was dropped meanwhile.
  return false;
}

// The four steps for the version's oldest memstore.
Result<WrittenRun> Flusher::WriteAndInstall(Region& region, const RegionVersion& version,
                                            LogState log, JobProgress* progress) {
  const Memstore& memstore = *version.memstores.front();
  if (log == LogState::kToBeSynced) {
    RETURN_IF_ERROR(queue_->SyncThrough(memstore.max_sequence()));
  }
  ASSIGN_OR_RETURN(WrittenRun written, FinishedBefore(region, version, progress));
  const Status installed = Install(region, memstore, written.files);
  if (installed.ok()) return written;
  // The retry may be much later.
  for (const FinishedFile& file : written.files) file.file->DropRecord();
  return installed;
}

// The files of the oldest memstore, from an earlier attempt or written now.
Result<WrittenRun> Flusher::FinishedBefore(const Region& region, const RegionVersion& version,
                                           JobProgress* progress) {
  const Memstore* const memstore = version.memstores.front().get();
  const Part part(region.id(), memstore);
  {
    base::MutexLock lock(mutex_);
    const auto found = finished_.find(part);
    if (found != finished_.end()) return found->second;
  }
  // Their place comes first, so that files which are written are not forgotten.
  std::map<Part, WrittenRun> finished;
  WrittenRun& written = finished[part];
  ASSIGN_OR_RETURN(written,
                   MemstoreWriter(work_, *overlaps_, region, version).Write(*memstore, progress));
  base::MutexLock lock(mutex_);
  finished_.merge(finished);
  return finished_.at(part);
}

Status Flusher::Install(Region& region, const Memstore& memstore, const FinishedRun& files) {
  const auto add_run = [&](RegionVersion* version) {
    InsertRun(files, work_.join_bytes, version->files.size(), version);
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    if (region.is_retired()) return Status::Cancelled(region.Describe() + " is gone");
    RegionVersion after = *region.version();
    add_run(&after);
    AddFiles(files, edit);
    edit->put_regions.push_back(RecordOf(region, after, memstore.max_sequence()));
    return Status();
  };
  change.publish = [&] {
    region.RaiseFlushedThrough(memstore.max_sequence());
    region.Update([&](RegionVersion* version) {
      add_run(version);
      version->memstores.erase(version->memstores.begin());
      version->changed_through = std::max(version->changed_through, memstore.max_sequence());
    });
  };
  RETURN_IF_ERROR(work_.editor->Commit(change));
  base::MutexLock lock(mutex_);
  finished_.erase({region.id(), &memstore});
  return {};
}

}  // namespace tandem::engine
