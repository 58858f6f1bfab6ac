// In batches: opens the files, reads both ends of all at once, checks, passes them on.
#include "engine/storage/store_file_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
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

// A file with the reads of its two ends.
class Ends {
 public:
  Ends(const format::FileRecord& record, const format::DatabaseId& database)
      : record_(record), database_(database) {}

  Status Open(Storage* storage) {
    ASSIGN_OR_RETURN(file_, storage->OpenFile(record_.number));
    ASSIGN_OR_RETURN(size_bytes_, file_->Size());
    Prepare(0, std::min<uint64_t>(size_bytes_, format::kFileHeaderBytes), &first_);
    const uint64_t end_bytes = std::min(size_bytes_, kEndBytes);
    Prepare(size_bytes_ - end_bytes, end_bytes, &last_);
    return {};
  }
  std::array<base::IoRequest*, 2> requests() { return {&first_.request, &last_.request}; }

  Status Use(const UseChecked& use) { return use(record_, std::move(file_)); }

  Status Check() const {
    RETURN_IF_ERROR(first_.request.status);
    RETURN_IF_ERROR(last_.request.status);
    const format::ExpectedFile expected{.number = record_.number,
                                        .size_bytes = record_.size_bytes,
                                        .id = record_.id,
                                        .database = database_};
    ASSIGN_OR_RETURN(
        const format::FileHeader header,
        format::CheckStoreHeader(first_.found(), expected, size_bytes_, file_->name()));
    const std::string_view end = last_.found();
    const size_t footer_bytes = std::min(end.size(), format::kFooterBytes);
    RETURN_IF_ERROR(format::CheckStoreFooter(end.substr(end.size() - footer_bytes), header,
                                             size_bytes_, file_->name())
                        .status());
    if (header.writable()) return {};
    return Status::Unsupported("a later version made " + file_->name() +
                               "; this one can only read it");
  }

 private:
  struct Read {
    std::string bytes;
    base::IoRequest request;
    std::string_view found() const {
      return std::string_view(bytes).substr(0, request.transferred);
    }
  };
  void Prepare(uint64_t offset, uint64_t size, Read* read) {
    read->bytes.resize(size);
    read->request.file = file_.get();
    read->request.offset = offset;
    read->request.buffer = read->bytes;
  }

  const format::FileRecord& record_;
  const format::DatabaseId& database_;
  std::unique_ptr<base::File> file_;
  uint64_t size_bytes_ = 0;
  Read first_, last_;
};

using Batch = std::vector<std::unique_ptr<Ends>>;

Status CheckBatch(base::IoQueue* queue, const Batch& batch) {
  std::vector<base::IoRequest*> requests;
  for (const auto& ends : batch) {
    for (base::IoRequest* request : ends->requests()) requests.push_back(request);
  }
  queue->Submit(requests);
  while (queue->Wait() != nullptr) continue;
  for (const auto& ends : batch) RETURN_IF_ERROR(ends->Check());
  return {};
}

}  // namespace

Status CheckStoreFiles(base::FileSystem* file_system, Storage* storage,
                       const format::Catalog& catalog, const UseChecked& use) {
  if (catalog.files.empty()) return {};
  const std::unique_ptr<base::IoQueue> queue = file_system->NewQueue(kReadsTogether);
  Batch batch;
  for (auto file = catalog.files.begin(); file != catalog.files.end();) {
    auto ends = std::make_unique<Ends>(file->second, catalog.database);
    RETURN_IF_ERROR(ends->Open(storage));
    batch.push_back(std::move(ends));
    if (++file != catalog.files.end() && batch.size() < kFilesTogether) continue;
    RETURN_IF_ERROR(CheckBatch(queue.get(), batch));
    for (const auto& checked : batch) RETURN_IF_ERROR(checked->Use(use));
    batch.clear();
  }
  return {};
}

}  // namespace tandem::engine
