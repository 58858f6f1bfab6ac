// In batches: opens the files, reads both ends of all at once, checks, passes them on.
#include "engine/storage/store_file_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "store_file/ends.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kReadsTogether = 32;
constexpr size_t kFilesTogether = kReadsTogether / 2;
// Section tables, schema and statistics are just before the footer, each at a multiple of the
// alignment, which is usually 4 KiB.
constexpr uint64_t kEndBytes = 32 << 10;

// The reads of a file's two ends. Serves one file after the other: the buffers stay.
class EndsReader {
 public:
  Status Open(Storage* storage, const format::FileRecord& record) {
    record_ = &record;
    ASSIGN_OR_RETURN(file_, storage->OpenFile(record.number));
    ASSIGN_OR_RETURN(size_bytes_, file_->Size());
    Prepare(0, std::min<uint64_t>(size_bytes_, first_.size()), first_.data(), &requests_[0]);
    if (last_ == nullptr) last_ = std::make_unique_for_overwrite<char[]>(kEndBytes);
    const uint64_t end_bytes = std::min(size_bytes_, kEndBytes);
    Prepare(size_bytes_ - end_bytes, end_bytes, last_.get(), &requests_[1]);
    return {};
  }
  std::array<base::IoRequest, 2>& requests() { return requests_; }

  Status Check(const format::DatabaseId& database) const {
    for (const base::IoRequest& request : requests_) RETURN_IF_ERROR(request.status);
    const format::ExpectedFile expected{.number = record_->number,
                                        .size_bytes = record_->size_bytes,
                                        .id = record_->id,
                                        .database = database};
    ASSIGN_OR_RETURN(const format::StoreEnds checked,
                     format::CheckStoreEnds(ends(), expected, file_->name()));
    if (checked.header.writable()) return {};
    return Status::Unsupported("a later version made " + file_->name() +
                               "; this one can only read it");
  }

  Status Use(const UseChecked& use) { return use(*record_, std::move(file_), ends()); }

 private:
  void Prepare(uint64_t offset, uint64_t size, char* buffer, base::IoRequest* request) {
    *request = {};
    request->file = file_.get();
    request->offset = offset;
    request->buffer = {buffer, size};
  }
  format::FileEnds ends() const {
    return {.size_bytes = size_bytes_,
            .first = {first_.data(), requests_[0].transferred},
            .last = {last_.get(), requests_[1].transferred}};
  }

  const format::FileRecord* record_ = nullptr;
  std::unique_ptr<base::File> file_;
  uint64_t size_bytes_ = 0;
  std::array<char, format::kFileHeaderBytes> first_;
  std::unique_ptr<char[]> last_;
  std::array<base::IoRequest, 2> requests_;
};

Status CheckBatch(base::IoQueue* queue, std::span<EndsReader> batch,
                  const format::DatabaseId& database) {
  std::vector<base::IoRequest*> requests;
  for (EndsReader& file : batch) {
    for (base::IoRequest& request : file.requests()) requests.push_back(&request);
  }
  queue->Submit(requests);
  while (queue->Wait() != nullptr) continue;
  for (const EndsReader& file : batch) RETURN_IF_ERROR(file.Check(database));
  return {};
}

}  // namespace

Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage,
                       const format::DatabaseId& database,
                       std::span<const format::FileRecord* const> files, const UseChecked& use) {
  if (files.empty()) return {};
  const std::unique_ptr<base::IoQueue> queue = file_system->NewQueue(kReadsTogether);
  std::vector<EndsReader> readers(std::min(kFilesTogether, files.size()));
  while (!files.empty()) {
    const std::span<EndsReader> batch(readers.data(), std::min(readers.size(), files.size()));
    for (size_t i = 0; i < batch.size(); ++i) RETURN_IF_ERROR(batch[i].Open(storage, *files[i]));
    RETURN_IF_ERROR(CheckBatch(queue.get(), batch, database));
    for (EndsReader& checked : batch) RETURN_IF_ERROR(checked.Use(use));
    files = files.subspan(batch.size());
  }
  return {};
}

}  // namespace tandem::engine
