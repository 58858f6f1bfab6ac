// The reader's storage: a catalog, a lock on its files and handles on them, nothing that writes.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/local.h"

namespace tandem::engine {
namespace {

Status Refused() { return Status::ReadOnly("the database was opened to read only"); }

}  // namespace

Result<std::unique_ptr<base::File>> ReadOnlyStorage::OpenFile(format::FileNumber number) {
  const auto& files = files_.manifest.catalog.files;
  const auto record = files.find(number);
  if (record == files.end()) {
    return Status::NotFound(StoreFileName(number) + " is not part of the database");
  }
  return handles_.Open(number, record->second.id);
}

class ReadOnlyStorage::Held final : public PinnedFiles {
 public:
  explicit Held(ReadOnlyStorage* storage)
      : PinnedFiles(storage->directory_.get()), storage_(storage) {}

  Result<std::unique_ptr<base::File>> OpenStoreFile(format::FileNumber number) override {
    return storage_->OpenFile(number);
  }
  Result<std::unique_ptr<base::File>> OpenSegment(format::FileNumber number) override {
    return directory()->Open(SegmentName(number), base::OpenMode::kReadOnly);
  }

 private:
  ReadOnlyStorage* const storage_;
};

Result<PinnedStore> ReadOnlyStorage::PinStore() {
  PinnedStore pinned;
  pinned.catalog = files_.manifest.catalog;
  uint64_t& next_number = pinned.catalog.counters.next_file_number;
  next_number = std::max(next_number, files_.root.record.next_file_number);
  pinned.segments = segments_;
  pinned.files = std::make_unique<Held>(this);
  return pinned;
}

Result<NewFile> ReadOnlyStorage::CreateFile() { return Refused(); }
Status ReadOnlyStorage::WriteLog() { return Refused(); }
Status ReadOnlyStorage::SyncLog() { return Refused(); }
Status ReadOnlyStorage::SyncWrittenLog() { return Refused(); }
Status ReadOnlyStorage::PrepareRoll() { return Refused(); }
Status ReadOnlyStorage::RollLog() { return Refused(); }
Status ReadOnlyStorage::DeleteFile(format::FileNumber) { return Refused(); }
Status ReadOnlyStorage::CommitEdits(uint64_t, const format::CatalogEdit&) { return Refused(); }

}  // namespace tandem::engine
