// Pinned stores of a storage that is open for writing: while one exists, files that the catalog no
// longer names wait in the list of pending deletes, as they do for a manifest in doubt.
#include <utility>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/local.h"

namespace tandem::engine {

class LocalStorage::Hold final : public PinnedFiles {
 public:
  explicit Hold(LocalStorage* storage)
      : PinnedFiles(storage->directory_.get()), storage_(storage) {}
  ~Hold() override { storage_->EndHold(); }

  Result<std::unique_ptr<base::File>> OpenStoreFile(format::FileNumber number) override {
    return storage_->OpenFile(number);
  }
  Result<std::unique_ptr<base::File>> OpenSegment(format::FileNumber number) override {
    return directory()->Open(SegmentName(number), base::OpenMode::kReadOnly);
  }

 private:
  LocalStorage* const storage_;
};

Result<PinnedStore> LocalStorage::PinStore() {
  RETURN_IF_ERROR(CheckOwner());
  PinnedStore pinned;
  Turn turn(this);
  pinned.catalog = *manifest_.catalog();
  for (const format::SegmentRecord& segment : pinned.catalog.segments) {
    pinned.segments.push_back(log_.end_of(segment.number));
  }
  pinned.files = std::make_unique<Hold>(this);
  ++holds_;
  return pinned;
}

void LocalStorage::EndHold() {
  Turn turn(this);
  --holds_;
  RemovePending();
}

}  // namespace tandem::engine
