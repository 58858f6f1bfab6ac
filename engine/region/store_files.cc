// Deletion is deferred to the destructor of the last reference, which may be a reader's.
#include "engine/region/store_files.h"

#include <atomic>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

// Approximate memory of an open file before any of it is read: its parts, its record in catalog and
// versions.
constexpr uint64_t kOpenFileBytes = 6 << 10;

}  // namespace

class StoredFile final : public LiveFile {
 public:
  StoredFile(std::shared_ptr<format::StoreFile> store, StoreFiles* files, format::BlockCache* cache)
      : store_(std::move(store)),
        files_(files),
        cache_(cache),
        charge_(cache->Charge(base::MemoryPart::kCatalog, kOpenFileBytes)) {}

  ~StoredFile() override {
    {
      base::MutexLock lock(files_->mutex_);
      const auto place = files_->open_.find(store_->number());
      const bool is_listed = place != files_->open_.end() && place->second.file == this;
      if (is_listed) files_->open_.erase(place);
    }
    if (!is_retired()) return;
    const format::FileNumber number = store_->number();
    store_.reset();
    Guarded([&] {
      cache_->EraseFile(number);
      return Status();
    }).Ignore("no other file gets its number: what stays is evicted in its time");
    files_->Discard(number);
  }

  format::StoreFile& store() const override { return *store_; }
  void Retire() { retired_.store(true, std::memory_order_release); }
  bool is_retired() const { return retired_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<format::StoreFile> store_;
  StoreFiles* files_;
  format::BlockCache* cache_;
  base::MemoryCharge charge_;
  std::atomic<bool> retired_{false};  // Release when retired, acquire in the destructor.
};

format::FileRecord RecordOf(format::FileNumber number, const format::FileId& id,
                            format::TableId table, const format::StoreFileSummary& summary) {
  const format::FileStatistics& statistics = summary.statistics;
  format::FileRecord record;
  record.number = number;
  record.id = id;
  record.table = table;
  record.size_bytes = summary.size_bytes;
  record.hash = summary.hash;
  record.rows = statistics.rows;
  record.cells = statistics.cells;
  record.deletes = statistics.deletes;
  record.min_sequence = statistics.min_sequence;
  record.max_sequence = statistics.max_sequence;
  record.min_timestamp = statistics.min_timestamp;
  record.max_timestamp = statistics.max_timestamp;
  record.min_key = statistics.min_key;
  record.max_key = statistics.max_key;
  for (const format::IndexSummary& index : summary.indexes) {
    record.indexes.push_back({.index = index.index,
                              .current_entries = index.current_entries,
                              .older_entries = index.older_entries});
  }
  return record;
}

Result<std::shared_ptr<LiveFile>> StoreFiles::Open(const format::FileRecord& record) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, storage_->OpenFile(record.number));
  return Open(record, std::move(file), nullptr);
}

Result<std::shared_ptr<LiveFile>> StoreFiles::Open(const format::FileRecord& record,
                                                   std::unique_ptr<base::File> file,
                                                   const format::FileEnds* ends) {
  const format::ExpectedFile expected{.number = record.number,
                                      .size_bytes = record.size_bytes,
                                      .id = record.id,
                                      .database = database_};
  ASSIGN_OR_RETURN(std::shared_ptr<format::StoreFile> store,
                   format::StoreFile::Open(std::move(file), expected, &cache_,
                                           {.ends = ends, .tables = &tables_}));
  if (store->row_count() != record.rows) {
    return Status::Corruption(StoreFileName(record.number) + ": rows: expected " +
                              std::to_string(record.rows) + ", found " +
                              std::to_string(store->row_count()));
  }
  store->GoOnWithout([this](const format::StoreFile& file, const format::BrokenSection& broken) {
    if (broken_sink_ != nullptr) broken_sink_(file, broken);
  });
  return List(std::make_shared<StoredFile>(std::move(store), this, &cache_));
}

// Of two that were opened at the same time, one stays.
std::shared_ptr<LiveFile> StoreFiles::List(const std::shared_ptr<StoredFile>& file) {
  std::shared_ptr<LiveFile> listed;
  base::MutexLock lock(mutex_);
  OpenFile& open = open_[file->store().number()];
  listed = open.shared.lock();
  if (listed != nullptr) return listed;
  open = {.file = file.get(), .shared = file};
  return file;
}

std::shared_ptr<LiveFile> StoreFiles::FindOpen(format::FileNumber number) const {
  base::MutexLock lock(mutex_);
  const auto found = open_.find(number);
  return found == open_.end() ? nullptr : found->second.shared.lock();
}

Result<std::shared_ptr<LiveFile>> StoreFiles::OpenOnce(const format::FileRecord& record) {
  std::shared_ptr<LiveFile> open = FindOpen(record.number);
  if (open != nullptr) return open;
  return Open(record);
}

void StoreFiles::RetireOrDiscard(format::FileNumber number) {
  const std::shared_ptr<LiveFile> open = FindOpen(number);
  if (open != nullptr) return Retire(*open);
  Discard(number);
}

StoreFiles::Hold StoreFiles::BeginHold(std::list<HeldFiles> files) {
  const Hold hold = files.begin();
  base::MutexLock lock(mutex_);
  held_.splice(held_.end(), files);
  return hold;
}

// Another hold may have the files too.
void StoreFiles::EndHold(Hold hold) {
  std::list<HeldFiles> ended;
  {
    base::MutexLock lock(mutex_);
    ended.splice(ended.end(), held_, hold);
  }
  for (const auto& [number, is_discarded] : ended.front()) {
    if (is_discarded) RetireOrDiscard(number);
  }
}

bool StoreFiles::LeaveToHold(format::FileNumber number) {
  base::MutexLock lock(mutex_);
  for (HeldFiles& files : held_) {
    const auto held = files.find(number);
    if (held == files.end()) continue;
    held->second = true;
    return true;
  }
  return false;
}

void StoreFiles::Discard(format::FileNumber number) {
  if (LeaveToHold(number)) return;
  Guarded([&] {
    const Status status = storage_->DeleteFile(number);
    if (!status.ok()) {
      health_->Log("cannot delete " + StoreFileName(number) + ": " + status.ToString());
    }
    return Status();
  }).Ignore("called by destructors; the next open deletes what no catalog names");
}

std::set<format::FileNumber> StoreFiles::Retired() const {
  std::set<format::FileNumber> numbers;
  base::MutexLock lock(mutex_);
  for (const auto& [number, open] : open_) {
    if (open.file->is_retired()) numbers.insert(number);
  }
  for (const HeldFiles& files : held_) {
    for (const auto& [number, is_discarded] : files) {
      if (is_discarded) numbers.insert(number);
    }
  }
  return numbers;
}

void StoreFiles::Retire(LiveFile& file) {
  file.DropRecord();
  static_cast<StoredFile&>(file).Retire();
}

}  // namespace tandem::engine
