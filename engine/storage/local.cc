// The writer's storage while it runs; its start is in local_start.cc.
#include "engine/storage/local.h"

#include <algorithm>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"

namespace tandem::engine {
namespace {

using format::Catalog;
using format::CatalogEdit;
using format::FileNumber;
using format::LogMark;

ManifestStore::Dependencies DependenciesOfManifest(base::Directory* directory,
                                                   base::RandomSource* random,
                                                   RecoveredFiles* files) {
  ManifestStore::Dependencies dependencies;
  dependencies.directory = directory;
  dependencies.random = random;
  dependencies.root_file = std::move(files->root_file);
  dependencies.root = std::move(files->root);
  dependencies.manifest_file = std::move(files->manifest_file);
  dependencies.manifest = std::move(files->manifest);
  return dependencies;
}

}  // namespace

bool HasSegment(const Catalog& catalog, FileNumber number) {
  return std::any_of(
      catalog.segments.begin(), catalog.segments.end(),
      [number](const format::SegmentRecord& segment) { return segment.number == number; });
}

LocalStorage::Turn::Turn(LocalStorage* storage) : storage_(storage) {
  base::MutexLock lock(storage_->mutex_);
  while (storage_->turn_taken_) storage_->turn_free_.Wait(storage_->mutex_);
  storage_->turn_taken_ = true;
}

LocalStorage::Turn::~Turn() {
  base::MutexLock lock(storage_->mutex_);
  storage_->turn_taken_ = false;
  storage_->turn_free_.NotifyOne();
}

LocalStorage::LocalStorage(Dependencies dependencies, RecoveredFiles files,
                           const wal::ReplayReport& replay)
    : directory_(std::move(dependencies.directory)),
      handles_(directory_.get(), dependencies.store_files_open_max),
      random_(dependencies.random),
      former_segments_max_(dependencies.former_segments_max),
      found_(new Found{.was_closed = files.root.record.closed,
                       .durable = files.manifest.log,
                       .listing = std::move(files.listing),
                       .replay = replay}),
      manifest_(DependenciesOfManifest(directory_.get(), dependencies.random, &files)),
      log_({.directory = directory_.get(),
            .random = dependencies.random,
            .database = manifest_.catalog()->database,
            .segment_bytes = dependencies.segment_bytes,
            .next_number = [this](LogMark mark) { return NextNumber(mark); },
            .add_segment = [this](const format::SegmentRecord& record,
                                  LogMark mark) { return AddSegment(record, mark); }},
           replay),
      catalog_(manifest_.catalog()) {}

// A process that inherited the storage through fork must not write: its parent does.
Status LocalStorage::CheckOwner() const {
  if (directory_->HoldsLock()) return {};
  return Status::Busy("the database belongs to another process");
}

Result<FileNumber> LocalStorage::NextNumber(LogMark mark) {
  Turn turn(this);
  Result<FileNumber> number = manifest_.NextNumber(mark);
  Publish();
  return number;
}

Result<NewFile> LocalStorage::CreateFile() {
  RETURN_IF_ERROR(CheckOwner());
  NewFile file;
  ASSIGN_OR_RETURN(file.number, NextNumber(log_.mark()));
  file.id = NewRandomId(random_);
  while (true) {
    Result<std::unique_ptr<base::File>> created = directory_->Create(StoreFileName(file.number));
    const bool lacks = !created && created.error().code() == StatusCode::kUnavailable;
    if (lacks && handles_.CloseIdle()) continue;
    ASSIGN_OR_RETURN(file.file, std::move(created));
    return file;
  }
}

Result<std::unique_ptr<base::File>> LocalStorage::OpenFile(FileNumber number) {
  const std::shared_ptr<const Catalog> catalog = shared_catalog();
  const auto record = catalog->files.find(number);
  if (record == catalog->files.end()) return handles_.Open(number, std::nullopt);
  Result<std::unique_ptr<base::File>> file = handles_.Open(number, record->second.id);
  if (!file && file.error().code() == StatusCode::kNotFound) {
    return Status::Corruption(StoreFileName(number) +
                              ": the manifest names this file, but it does not exist");
  }
  return file;
}

// Verb 3.
void LocalStorage::AppendLog(const format::Frame& frame) { log_.Append(frame); }

Status LocalStorage::WriteLog() {
  RETURN_IF_ERROR(CheckOwner());
  return log_.Write();
}

Status LocalStorage::SyncLog() {
  RETURN_IF_ERROR(CheckOwner());
  return log_.Sync();
}

Status LocalStorage::SyncWrittenLog() {
  RETURN_IF_ERROR(CheckOwner());
  return log_.SyncWritten();
}

Status LocalStorage::PrepareRoll() {
  RETURN_IF_ERROR(CheckOwner());
  return log_.PrepareFile();
}

bool LocalStorage::is_log_extension_due() const { return log_.is_extension_due(); }

void LocalStorage::ExtendLog() {
  if (CheckOwner().ok()) log_.Extend();
}

Status LocalStorage::RollLog() {
  RETURN_IF_ERROR(CheckOwner());
  return log_.Roll();
}

uint64_t LocalStorage::segment_bytes() const { return log_.segment_bytes(); }
FileNumber LocalStorage::current_segment() const { return log_.current_segment(); }

uint64_t LocalStorage::log_bytes() const {
  uint64_t bytes = 0;
  // Held by name: a temporary would end before the loop does.
  const std::shared_ptr<const Catalog> catalog = shared_catalog();
  for (const format::SegmentRecord& segment : catalog->segments) {
    bytes += segment.number == current_segment() ? segment_bytes()
                                                 : log_.end_of(segment.number).length_bytes;
  }
  return bytes;
}

Status LocalStorage::AddSegment(const format::SegmentRecord& record, LogMark mark) {
  Turn turn(this);
  CatalogEdit edit;
  if (replacement_.rewritten) edit.add_segments.push_back(*replacement_.rewritten);
  edit.add_segments.push_back(record);
  edit.remove_segments = replacement_.old;
  if (!replacement_.old.empty()) edit.counters = replacement_.counters;
  RETURN_IF_ERROR(CommitInTurn(edit, mark));
  replacement_ = {};
  return {};
}

Status LocalStorage::CommitEdits(uint64_t epoch, const CatalogEdit& edit) {
  RETURN_IF_ERROR(CheckOwner());
  Turn turn(this);
  const uint64_t current = manifest_.catalog()->epoch;
  if (epoch != current) {
    return Status::Conflict("epoch " + std::to_string(epoch) + " is over; the epoch is " +
                            std::to_string(current));
  }
  return CommitInTurn(edit, log_.mark());
}

// Once the edit is durable nothing may fail, so there has to be room for what it removes.
Status LocalStorage::CommitInTurn(const CatalogEdit& edit, LogMark mark) {
  const size_t count = pending_deletes_.size() + edit.remove_segments.size();
  if (count > pending_deletes_.capacity()) pending_deletes_.reserve(2 * count);
  const Status status = manifest_.Commit(edit, mark);
  Publish();
  RETURN_IF_ERROR(status);
  pending_deletes_.insert(pending_deletes_.end(), edit.remove_segments.begin(),
                          edit.remove_segments.end());
  Guarded([this] {
    RemovePending();
    return Status();
  }).Ignore("what stays is removed after the next edit, or by the next open");
  return {};
}

// Removes the files that waited until the manifest was certain or for the end of a hold, unless a
// reader in another process may read them. A reader's lock covers all numbers below a bound, so the
// files that are held come first.
void LocalStorage::RemovePending() {
  if (holds_ > 0 || !manifest_.is_certain()) return;
  std::sort(pending_deletes_.begin(), pending_deletes_.end());
  const auto free =
      std::partition_point(pending_deletes_.begin(), pending_deletes_.end(),
                           [this](FileNumber number) { return IsHeldByReader(number); });
  for (auto number = free; number != pending_deletes_.end(); ++number) {
    RemoveFile(*number).Ignore("nothing names it; the next open removes it");
  }
  pending_deletes_.erase(free, pending_deletes_.end());
}

// Requires: no manifest on disk names the file any more. A reader takes its lock before it reads
// the manifest: one that comes after this check never learns of the file.
bool LocalStorage::IsHeldByReader(FileNumber number) {
  const Result<bool> held = directory_->IsLockedShared(kRootName, number.value);
  return !held.has_value() || *held;
}

Storage::FileCounters LocalStorage::file_counters() const {
  const base::FilePool::Counters handles = handles_.counters();
  return {.open = handles.open, .reopened = handles.reopened};
}

Storage::ReaderCounters LocalStorage::reader_counters() {
  ReaderCounters counters{.processes = directory_->SharedLockHolders(kRootName)};
  Turn turn(this);
  counters.held_files = pending_deletes_.size();
  return counters;
}

// Publishes the catalog of the manifest to all threads.
void LocalStorage::Publish() {
  std::shared_ptr<const Catalog> catalog = manifest_.catalog();
  base::MutexLock lock(mutex_);
  catalog_.swap(catalog);
}

std::shared_ptr<const Catalog> LocalStorage::shared_catalog() const {
  base::MutexLock lock(mutex_);
  return catalog_;
}

Catalog LocalStorage::catalog() const { return *shared_catalog(); }

Status LocalStorage::DeleteFile(FileNumber number) {
  RETURN_IF_ERROR(CheckOwner());
  Turn turn(this);
  const std::shared_ptr<const Catalog> catalog = manifest_.catalog();
  if (catalog->files.contains(number) || HasSegment(*catalog, number)) {
    return Status::InvalidArgument("file " + std::to_string(number.value) +
                                   " is still part of the database");
  }
  if (manifest_.is_certain() && holds_ == 0 && !IsHeldByReader(number)) return RemoveFile(number);
  // A crash may show an edit that failed and names the file; or somebody reads or copies it.
  pending_deletes_.push_back(number);
  return {};
}

// Numbers are unique over all kinds, so at most one of the names exists.
Status LocalStorage::RemoveFile(FileNumber number) {
  for (const std::string& name : {StoreFileName(number), SegmentName(number)}) {
    const Status status = directory_->Remove(name);
    if (status.code() != StatusCode::kNotFound) return status;
  }
  return {};
}

Status LocalStorage::CloseCleanly() {
  RETURN_IF_ERROR(CheckOwner());
  RETURN_IF_ERROR(log_.Close());
  Turn turn(this);
  std::vector<format::BoundFile> segments;
  const std::shared_ptr<const Catalog> catalog = manifest_.catalog();
  for (const format::SegmentRecord& segment : catalog->segments) {
    segments.push_back(log_.end_of(segment.number));
  }
  return manifest_.Close(std::move(segments), log_.mark());
}

}  // namespace tandem::engine
