// The memstore is walked once, over the keys of the region: regions that were one when it took
// writes share it, and each flushes its part. Rows of which nothing survives are left out, and a
// file is created only when there is a row to write. Of a hot row only the states that some reader
// sees are walked (memstore/row_states.h); if it is still large, it is written column by column, as
// in compaction.
//
// The files of a turn of several memstores stay open until all are written, then a queue syncs
// them. So the disk, and the journal of its file system, have all of them to do at once.
#include "engine/jobs/flush.h"

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "compaction/column_merge.h"
#include "engine/region/size_rules.h"
#include "engine/runtime/running_jobs.h"
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

  /// As RunWriter::SyncLater.
  void SyncLater(std::vector<std::unique_ptr<base::File>>* files) { run_.SyncLater(files); }
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

// Regions whose memstores are flushed until none waits. The first error is kept; a region that had
// one is left alone.
class Pending {
 public:
  explicit Pending(std::span<Region* const> regions) : regions_(regions.begin(), regions.end()) {}

  /// The first that may have a waiting memstore; nullptr: none is left.
  Region* front() {
    while (at_ < regions_.size() && regions_[at_] == nullptr) ++at_;
    return at_ < regions_.size() ? regions_[at_] : nullptr;
  }
  void PopFront() { ++at_; }
  /// Those after it; null where one had an error.
  std::span<Region* const> others() const { return std::span(regions_).subspan(at_ + 1); }
  /// What became of a turn.
  void Note(const Flusher::Outcomes& outcomes) {
    for (const Flusher::Outcome& outcome : outcomes) {
      if (!outcome.is_flushed) std::ranges::replace(regions_, outcome.region, nullptr);
      if (error_.ok()) error_ = outcome.status;
    }
  }
  const Status& error() const { return error_; }

 private:
  std::vector<Region*> regions_;
  size_t at_ = 0;
  Status error_;
};

// A region's flush turn, which ends here unless it is passed on. Null: none.
class FlushTurn {
 public:
  explicit FlushTurn(Region* region) : region_(region) {}
  ~FlushTurn() {
    if (region_ != nullptr) region_->End(Region::Work::kFlush);
  }
  FlushTurn(const FlushTurn&) = delete;
  FlushTurn& operator=(const FlushTurn&) = delete;
  void Pass() { region_ = nullptr; }

 private:
  Region* region_;
};

}  // namespace

// Which memstores are flushed in one turn, and the flush turns of their regions.
class Flusher::Group {
 public:
  explicit Group(const Flusher& flusher) : deps_(flusher.deps_) {}
  ~Group() {
    for (Region* region : begun_) region->End(Region::Work::kFlush);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  enum class Taking : uint8_t { kWait, kUnlessBusy, kHeld };
  /// Takes the region's flush turn, unless the caller has it, and adds the region if a memstore
  /// waits that may be flushed with those so far. Returns whether it was added; otherwise the turn
  /// ends at once. Waits for no turn while it has others.
  bool Add(Region& region, Taking taking);
  /// Adds the first region and those after it that may be flushed with it. Waits for the turn of
  /// the first at most. Returns whether the first was added; otherwise none is.
  bool Gather(Region& first, const Pending& pending, Taking taking);
  bool is_full() const {
    return !regions_.empty() && (!is_grouped_ || regions_.size() == regions_max());
  }
  std::span<Region* const> regions() const { return regions_; }

 private:
  size_t regions_max() const { return GroupedFlushesMax(deps_.open_files_max); }
  bool Fits(const Region& region);

  const Dependencies& deps_;
  std::vector<Region*> regions_, begun_;
  bool is_grouped_ = true;
  uint64_t bytes_ = 0;
};

// A large memstore is flushed alone: others would wait for it, and it for them.
bool Flusher::Group::Fits(const Region& region) {
  const std::shared_ptr<const RegionVersion> version = region.version();
  if (version->memstores.size() < 2 || is_full()) return false;
  const uint64_t bytes = version->memstores.front()->size_bytes();
  const bool is_grouped = bytes <= GroupedMemstoreBytesMax(deps_.memstore_bytes);
  if (!regions_.empty() && (!is_grouped || bytes_ + bytes > kGroupedFlushBytesMax)) return false;
  is_grouped_ = is_grouped;
  bytes_ += bytes;
  return true;
}

// Regions without a waiting memstore, which are most of many, cost no allocation.
bool Flusher::Group::Add(Region& region, Taking taking) {
  if (taking == Taking::kUnlessBusy && !region.TryBegin(Region::Work::kFlush)) return false;
  if (taking == Taking::kWait) region.Begin(Region::Work::kFlush);
  FlushTurn turn(taking == Taking::kHeld ? nullptr : &region);
  if (!Fits(region)) return false;
  regions_.push_back(&region);
  if (taking == Taking::kHeld) return true;
  begun_.push_back(&region);
  turn.Pass();
  return true;
}

bool Flusher::Group::Gather(Region& first, const Pending& pending, Taking taking) {
  if (!Add(first, taking)) return false;
  const Taking of_others = taking == Taking::kWait ? Taking::kUnlessBusy : taking;
  for (Region* const next : pending.others()) {
    if (is_full()) break;
    if (next != nullptr && next->waiting_memstores() > 0) Add(*next, of_others);
  }
  return true;
}

// The oldest memstores of some regions on their way to files.
class Flusher::Turn {
 public:
  explicit Turn(Flusher* flusher) : flusher_(*flusher), deps_(flusher->deps_) {}

  /// Requires: each region has a waiting memstore.
  void Begin(std::span<Region* const> regions);
  void Run(LogState log);
  Outcomes End();

 private:
  struct Member {
    const Memstore& memstore() const { return *version->memstores.front(); }
    Part part() const { return {region->id(), &memstore()}; }

    Region* region = nullptr;
    std::shared_ptr<const RegionVersion> version;
    std::shared_ptr<const format::TableRecord> table;  // Its name is the event's.
    FlushEvent event;
    std::optional<RunningJob> job;
    std::map<Part, WrittenRun> fresh;  // What was written now, until it may not be forgotten.
    std::vector<std::unique_ptr<base::File>> unsynced;
    WrittenRun written;
    Status status;
  };

  template <typename Work>
  static void Attempt(Member* member, const Work& work) {
    if (member->status.ok()) member->status = Guarded(work);
  }
  template <typename Work>
  void AttemptAll(const Work& work);
  Status SyncLog();
  Status Write(Member* member);
  Status SyncFiles();
  Status Keep(Member* member);
  Status Install();
  Status Prepare(Member* member, format::CatalogEdit* edit) const;
  void Publish();
  void AddRun(const Member& member, RegionVersion* version) const {
    InsertRun(member.written.files, deps_.work.join_bytes, version->files.size(), version);
  }
  static void Discard(Member* member);
  static Status IsGone(const Region& region) {
    return Status::Cancelled(region.Describe() + " is gone");
  }

  Flusher& flusher_;
  const Dependencies& deps_;
  std::list<Member> members_;
  Outcomes outcomes_;
  int64_t began_micros_ = 0;
};

// Work for all members that have not failed, which fail together.
template <typename Work>
void Flusher::Turn::AttemptAll(const Work& work) {
  const bool any = std::any_of(members_.begin(), members_.end(),
                               [](const Member& member) { return member.status.ok(); });
  if (!any) return;
  const Status status = Guarded(work);
  if (status.ok()) return;
  for (Member& member : members_) {
    if (member.status.ok()) member.status = Guarded([&status] { return status; });
  }
}

void Flusher::Turn::Begin(std::span<Region* const> regions) {
  outcomes_.reserve(regions.size());
  for (Region* region : regions) {
    Member& member = members_.emplace_back();
    member.region = region;
    member.version = region->version();
    member.table = region->table();  // It may be replaced.
    member.event = {.table = member.table->name,
                    .region_id = region->id().value,
                    .memstore_rows = member.memstore().row_count(),
                    .memstore_bytes = member.memstore().size_bytes()};
  }
  began_micros_ = deps_.work.monitor->NowMicros();
  for (const Member& member : members_) deps_.work.monitor->FlushBegan(member.event);
}

void Flusher::Turn::Run(LogState log) {
  for (Member& member : members_) {
    Attempt(&member, [&] {
      member.job.emplace(deps_.work.monitor->jobs(),
                         RunningJob::Description{.kind = JobKind::kFlush,
                                                 .table = member.event.table,
                                                 .region_id = member.event.region_id,
                                                 .input_bytes = member.event.memstore_bytes});
      return Status();
    });
  }
  if (log == LogState::kToBeSynced) AttemptAll([&] { return SyncLog(); });
  for (Member& member : members_) Attempt(&member, [&] { return Write(&member); });
  AttemptAll([&] { return SyncFiles(); });
  for (Member& member : members_) Attempt(&member, [&] { return Keep(&member); });
  AttemptAll([&] { return Install(); });
  for (Member& member : members_) Discard(&member);
}

Status Flusher::Turn::SyncLog() {
  format::SequenceNumber last;
  for (const Member& member : members_) last = std::max(last, member.memstore().max_sequence());
  return deps_.queue->SyncThrough(last);
}

// Unless an earlier attempt has. The place of the files comes first, so that those which are
// written are not forgotten.
Status Flusher::Turn::Write(Member* member) {
  {
    base::MutexLock lock(flusher_.mutex_);
    if (flusher_.finished_.contains(member->part())) return {};
  }
  WrittenRun& written = member->fresh[member->part()];
  MemstoreWriter writer(deps_.work, *deps_.overlaps, *member->region, *member->version);
  if (members_.size() > 1) writer.SyncLater(&member->unsynced);
  ASSIGN_OR_RETURN(written, writer.Write(member->memstore(), member->job->progress()));
  return {};
}

// A failure of one sync is that of its member.
Status Flusher::Turn::SyncFiles() {
  std::vector<Member*> owners;
  std::vector<base::IoRequest> requests;
  for (Member& member : members_) {
    if (!member.status.ok()) continue;
    for (const auto& file : member.unsynced) {
      base::IoRequest& request = requests.emplace_back();
      request.kind = base::IoRequest::Kind::kDataSync;
      request.file = file.get();
      request.tag = owners.size();
      owners.push_back(&member);
    }
  }
  if (requests.empty()) return {};
  std::vector<base::IoRequest*> pointers;
  for (base::IoRequest& request : requests) pointers.push_back(&request);
  // It waits for what it was given before the requests go.
  const auto queue = deps_.file_system->NewQueue(static_cast<uint32_t>(requests.size()));
  queue->Submit(pointers);
  while (base::IoRequest* done = queue->Wait()) {
    Member& owner = *owners[done->tag];
    if (owner.status.ok()) owner.status = std::move(done->status);
  }
  return {};
}

// From now on the files, which are durable but for their names, are there for the next attempt.
Status Flusher::Turn::Keep(Member* member) {
  member->unsynced.clear();
  base::MutexLock lock(flusher_.mutex_);
  flusher_.finished_.merge(member->fresh);
  const auto found = flusher_.finished_.find(member->part());
  if (found == flusher_.finished_.end()) return IsGone(*member->region);
  member->written = found->second;
  return {};
}

Status Flusher::Turn::Install() {
  CatalogEditor::Change change;
  change.prepare = [this](const format::Catalog&, format::CatalogEdit* edit) -> Status {
    for (Member& member : members_) {
      if (!member.status.ok()) continue;
      if (member.region->is_retired()) {
        member.status = IsGone(*member.region);
      } else {
        RETURN_IF_ERROR(Prepare(&member, edit));
      }
    }
    return {};
  };
  change.publish = [this] { Publish(); };
  const Status installed = deps_.work.editor->Commit(change);
  base::MutexLock lock(flusher_.mutex_);
  for (Member& member : members_) {
    if (!member.status.ok()) continue;
    if (installed.ok()) flusher_.finished_.erase(member.part());
    if (installed.ok()) continue;
    // The retry may be much later.
    for (const FinishedFile& file : member.written.files) file.file->DropRecord();
  }
  return installed;
}

Status Flusher::Turn::Prepare(Member* member, format::CatalogEdit* edit) const {
  RegionVersion after = *member->region->version();
  AddRun(*member, &after);
  AddFiles(member->written.files, edit);
  edit->put_regions.push_back(RecordOf(*member->region, after, member->memstore().max_sequence()));
  return {};
}

void Flusher::Turn::Publish() {
  for (const Member& member : members_) {
    if (!member.status.ok()) continue;
    const format::SequenceNumber last = member.memstore().max_sequence();
    member.region->RaiseFlushedThrough(last);
    member.region->Update([&](RegionVersion* version) {
      AddRun(member, version);
      version->memstores.erase(version->memstores.begin());
      version->changed_through = std::max(version->changed_through, last);
    });
  }
}

// What was written and is in doubt.
void Flusher::Turn::Discard(Member* member) {
  member->unsynced.clear();
  for (const auto& [part, written] : member->fresh) {
    for (const FinishedFile& file : written.files) StoreFiles::Retire(*file.file);
  }
  member->fresh.clear();
}

// Each flush of several took its part of the time.
Flusher::Outcomes Flusher::Turn::End() {
  const auto micros = static_cast<uint64_t>(deps_.work.monitor->NowMicros() - began_micros_);
  uint64_t freed_bytes = 0;
  for (Member& member : members_) {
    member.job.reset();
    const bool is_flushed = member.status.ok();
    if (is_flushed) {
      const RunSize size = SizeOf(member.written.files);
      member.event.files = size.files;
      member.event.rows = size.rows;
      member.event.bytes = size.bytes;
      member.event.cells = member.written.cells;
      freed_bytes += member.event.memstore_bytes;
    }
    member.event.micros = micros / members_.size();
    member.event.status = std::move(member.status);
    outcomes_.push_back({.region = member.region, .is_flushed = is_flushed});
  }
  if (freed_bytes > 0) deps_.work.monitor->NoteFlushRate(freed_bytes, micros);
  auto outcome = outcomes_.begin();
  for (Member& member : members_) {
    deps_.work.monitor->FlushEnded(member.event);
    if (!outcome->is_flushed && member.region->is_retired()) {
      flusher_.Forget(*member.region);
    } else {
      outcome->status = std::move(member.event.status);
    }
    ++outcome;
  }
  return std::move(outcomes_);
}

Flusher::Outcomes Flusher::FlushOldest(std::span<Region* const> regions, LogState log) {
  if (regions.empty()) return {};
  const Status writable = deps_.work.health->CheckWritable();
  if (!writable.ok()) {
    Outcomes outcomes;
    for (Region* region : regions) outcomes.push_back({.region = region, .status = writable});
    return outcomes;
  }
  Turn turn(this);
  turn.Begin(regions);
  turn.Run(log);
  return turn.End();
}

bool Flusher::IsGrouped(const Region& region) const {
  const std::shared_ptr<const RegionVersion> version = region.version();
  return version->memstores.size() > 1 &&
         version->memstores.front()->size_bytes() <= GroupedMemstoreBytesMax(deps_.memstore_bytes);
}

Flusher::Outcomes Flusher::FlushUnlessBusy(std::span<Region* const> regions) {
  Group group(*this);
  for (Region* region : regions) {
    if (group.is_full()) break;
    if (region->waiting_memstores() > 0) group.Add(*region, Group::Taking::kUnlessBusy);
  }
  return FlushOldest(group.regions(), LogState::kToBeSynced);
}

Status Flusher::Flush(std::span<Region* const> regions, const Flushed& flushed) {
  Pending pending(regions);
  while (Region* const first = pending.front()) {
    Outcomes outcomes;
    {
      Group group(*this);
      if (!group.Gather(*first, pending, Group::Taking::kWait)) {
        pending.PopFront();
        continue;
      }
      outcomes = FlushOldest(group.regions(), LogState::kToBeSynced);
    }
    flushed(outcomes);
    pending.Note(outcomes);
  }
  return pending.error();
}

Status Flusher::FlushInTurn(Region& region, const Flushed& flushed) {
  Region* const regions[] = {&region};
  while (region.waiting_memstores() > 0) {
    const Outcomes outcomes = FlushOldest(regions, LogState::kToBeSynced);
    flushed(outcomes);
    RETURN_IF_ERROR(outcomes.front().status);
  }
  return {};
}

Status Flusher::FlushAlone(std::span<Region* const> regions) {
  Pending pending(regions);
  while (Region* const first = pending.error().ok() ? pending.front() : nullptr) {
    Group group(*this);
    if (!group.Gather(*first, pending, Group::Taking::kHeld)) {
      pending.PopFront();
      continue;
    }
    pending.Note(FlushOldest(group.regions(), LogState::kSynced));
  }
  return pending.error();
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

}  // namespace tandem::engine
