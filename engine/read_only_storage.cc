// The reader's storage: a catalog and open files, nothing that writes.
#include <algorithm>

#include "base/status_macros.h"
#include "engine/local_storage.h"

namespace tandem::engine {
namespace {

Status Refused() { return Status::ReadOnly("the database was opened to read only"); }

// A handle of its own on a file that is open already.
class SharedFile : public base::File {
 public:
  explicit SharedFile(std::shared_ptr<base::File> file) : file_(std::move(file)) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    return file_->Read(offset, buffer);
  }
  Status Write(uint64_t, std::string_view) override { return Refused(); }
  Status DataSync() override { return Refused(); }
  Result<uint64_t> Size() override { return file_->Size(); }
  Status Truncate(uint64_t) override { return Refused(); }
  Status Preallocate(uint64_t) override { return Refused(); }
  const std::string& name() const override { return file_->name(); }

 private:
  const std::shared_ptr<base::File> file_;
};

}  // namespace

Result<std::unique_ptr<base::File>> ReadOnlyStorage::OpenFile(format::FileNumber number) {
  const auto found = files_.store_files.find(number);
  if (found == files_.store_files.end()) {
    return Status::NotFound(StoreFileName(number) + " is not part of the database");
  }
  // A handle of the file system's own is faster where its queues know it; a file that the writer
  // has removed meanwhile is read through the handle taken at the start. A number names one file
  // for good.
  Result<std::unique_ptr<base::File>> file =
      directory_->Open(StoreFileName(number), base::OpenMode::kReadOnly);
  if (file) return file;
  return std::unique_ptr<base::File>(std::make_unique<SharedFile>(found->second));
}

// A writer may have removed names meanwhile; the handles taken at the start still lead to the
// bytes.
class ReadOnlyStorage::Held final : public HeldFiles {
 public:
  explicit Held(ReadOnlyStorage* storage)
      : HeldFiles(storage->directory_.get()), storage_(storage) {}

  Result<std::unique_ptr<base::File>> OpenStoreFile(format::FileNumber number) override {
    return storage_->OpenFile(number);
  }
  Result<std::unique_ptr<base::File>> OpenSegment(format::FileNumber number) override {
    const auto found = storage_->files_.segment_files.find(number);
    if (found != storage_->files_.segment_files.end()) {
      return std::unique_ptr<base::File>(std::make_unique<SharedFile>(found->second));
    }
    return directory()->Open(SegmentName(number), base::OpenMode::kReadOnly);
  }

 private:
  ReadOnlyStorage* const storage_;
};

Result<StoreMoment> ReadOnlyStorage::TakeMoment() {
  StoreMoment moment;
  moment.catalog = files_.manifest.catalog;
  uint64_t& next_number = moment.catalog.counters.next_file_number;
  next_number = std::max(next_number, files_.root.record.next_file_number);
  moment.segments = segments_;
  moment.files = std::make_unique<Held>(this);
  return moment;
}

Result<NewFile> ReadOnlyStorage::CreateFile() { return Refused(); }
Status ReadOnlyStorage::WriteLog() { return Refused(); }
Status ReadOnlyStorage::SyncLog() { return Refused(); }
Status ReadOnlyStorage::RollLog() { return Refused(); }
Status ReadOnlyStorage::DeleteFile(format::FileNumber) { return Refused(); }
Status ReadOnlyStorage::CommitEdits(uint64_t, const format::CatalogEdit&) { return Refused(); }

}  // namespace tandem::engine
