// A queued read is done when it is waited for, once its time is over. So it needs no ring, and
// takes the thread as long as an io_uring read of a cached page does.
#include "tools/bench/slow_files.h"

#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace tandem::bench {
namespace {

class SlowFile final : public base::File {
 public:
  SlowFile(std::unique_ptr<base::File> file, const SlowFileSystem* owner)
      : file_(std::move(file)), owner_(owner) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    owner_->WaitUntil(owner_->EndOfRead());
    return file_->Read(offset, buffer);
  }
  base::File* beneath() const { return file_.get(); }

  Status Write(uint64_t offset, std::string_view data) override {
    return file_->Write(offset, data);
  }
  Status DataSync() override { return file_->DataSync(); }
  Status StartWriteBack(uint64_t offset, uint64_t size_bytes) override {
    return file_->StartWriteBack(offset, size_bytes);
  }
  Result<uint64_t> Size() override { return file_->Size(); }
  Status Truncate(uint64_t size_bytes) override { return file_->Truncate(size_bytes); }
  Status Preallocate(uint64_t size_bytes) override { return file_->Preallocate(size_bytes); }
  Status Extend(uint64_t size_bytes) override { return file_->Extend(size_bytes); }
  const std::string& name() const override { return file_->name(); }

 private:
  const std::unique_ptr<base::File> file_;
  const SlowFileSystem* const owner_;
};

class SlowDirectory final : public base::Directory {
 public:
  SlowDirectory(std::unique_ptr<base::Directory> directory, const SlowFileSystem* owner)
      : directory_(std::move(directory)), owner_(owner) {}

  Result<std::unique_ptr<base::File>> Create(const std::string& name) override {
    return Slow(directory_->Create(name));
  }
  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode mode) override {
    return Slow(directory_->Open(name, mode));
  }
  Status Remove(const std::string& name) override { return directory_->Remove(name); }
  Result<std::vector<std::string>> List() override { return directory_->List(); }
  Status Sync() override { return directory_->Sync(); }
  Status Lock() override { return directory_->Lock(); }
  bool HoldsLock() const override { return directory_->HoldsLock(); }
  Result<uint64_t> FreeSpace() override { return directory_->FreeSpace(); }

 private:
  Result<std::unique_ptr<base::File>> Slow(Result<std::unique_ptr<base::File>> file) {
    if (!file.has_value()) return file.error();
    return std::unique_ptr<base::File>(std::make_unique<SlowFile>(std::move(*file), owner_));
  }

  const std::unique_ptr<base::Directory> directory_;
  const SlowFileSystem* const owner_;
};

class SlowQueue final : public base::IoQueue {
 public:
  explicit SlowQueue(const SlowFileSystem* owner) : owner_(owner) {}
  ~SlowQueue() override {
    while (Wait() != nullptr) {
    }
  }

  void Submit(std::span<base::IoRequest* const> requests) override {
    const int64_t end = owner_->EndOfRead();
    for (base::IoRequest* request : requests) in_flight_.emplace_back(end, request);
  }
  base::IoRequest* Wait() override {
    if (in_flight_.empty()) return nullptr;
    const auto [end, request] = in_flight_.front();
    in_flight_.pop_front();
    if (request->kind == base::IoRequest::Kind::kRead) owner_->WaitUntil(end);
    Run(request);
    return request;
  }

 private:
  // On the file beneath, which does not wait once more.
  static void Run(base::IoRequest* request) {
    const base::FilePin pin = request->file->Pin();
    base::File* const opened = pin.file() != nullptr ? pin.file() : request->file;
    const auto* const slow = dynamic_cast<SlowFile*>(opened);
    base::File* const file = request->file;
    if (slow != nullptr) request->file = slow->beneath();
    base::RunRequest(*request);
    request->file = file;
  }

  const SlowFileSystem* const owner_;
  std::deque<std::pair<int64_t, base::IoRequest*>> in_flight_;  // With the time of their end.
};

}  // namespace

Result<std::unique_ptr<base::Directory>> SlowFileSystem::OpenDirectory(const std::string& path,
                                                                       bool create) {
  auto directory = beneath_->OpenDirectory(path, create);
  if (!directory.has_value()) return directory.error();
  return std::unique_ptr<base::Directory>(
      std::make_unique<SlowDirectory>(std::move(*directory), this));
}

std::unique_ptr<base::IoQueue> SlowFileSystem::NewQueue(uint32_t) {
  return std::make_unique<SlowQueue>(this);
}

void SlowFileSystem::WaitUntil(int64_t micros) const {
  const int64_t left = micros - clock_->MonotonicMicros();
  if (left > 0) clock_->SleepMicros(left);
}

}  // namespace tandem::bench
