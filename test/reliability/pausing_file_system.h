// A file system whose own allocations succeed: a simulated disk that ran out of memory in the
// middle of an operation would be no disk any more.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "test/allocations/allocations.h"

namespace tandem::reliability {

class PausingFile final : public base::File {
 public:
  explicit PausingFile(std::unique_ptr<base::File> beneath) : beneath_(std::move(beneath)) {}
  ~PausingFile() override {
    test::AllocationPause pause;
    beneath_.reset();
  }
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    test::AllocationPause pause;
    return beneath_->Read(offset, buffer);
  }
  Status Write(uint64_t offset, std::string_view data) override {
    test::AllocationPause pause;
    return beneath_->Write(offset, data);
  }
  Status DataSync() override {
    test::AllocationPause pause;
    return beneath_->DataSync();
  }
  Result<uint64_t> Size() override { return beneath_->Size(); }
  Status Truncate(uint64_t size_bytes) override {
    test::AllocationPause pause;
    return beneath_->Truncate(size_bytes);
  }
  Status Preallocate(uint64_t size_bytes) override {
    test::AllocationPause pause;
    return beneath_->Preallocate(size_bytes);
  }
  Status Extend(uint64_t size_bytes) override {
    test::AllocationPause pause;
    return beneath_->Extend(size_bytes);
  }
  const std::string& name() const override { return beneath_->name(); }

 private:
  std::unique_ptr<base::File> beneath_;
};

class PausingDirectory final : public base::Directory {
 public:
  explicit PausingDirectory(std::unique_ptr<base::Directory> beneath)
      : beneath_(std::move(beneath)) {}
  ~PausingDirectory() override {
    test::AllocationPause pause;
    beneath_.reset();
  }
  Result<std::unique_ptr<base::File>> Create(const std::string& name) override {
    test::AllocationPause pause;
    return Wrap(beneath_->Create(name));
  }
  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode mode) override {
    test::AllocationPause pause;
    return Wrap(beneath_->Open(name, mode));
  }
  Status Remove(const std::string& name) override {
    test::AllocationPause pause;
    return beneath_->Remove(name);
  }
  Result<std::vector<std::string>> List() override {
    test::AllocationPause pause;
    return beneath_->List();
  }
  Status Sync() override {
    test::AllocationPause pause;
    return beneath_->Sync();
  }
  Status Lock() override {
    test::AllocationPause pause;
    return beneath_->Lock();
  }
  bool HoldsLock() const override { return beneath_->HoldsLock(); }
  Result<uint64_t> FreeSpace() override {
    test::AllocationPause pause;
    return beneath_->FreeSpace();
  }

 private:
  static Result<std::unique_ptr<base::File>> Wrap(Result<std::unique_ptr<base::File>> file) {
    if (!file.has_value()) return file;
    return std::unique_ptr<base::File>(std::make_unique<PausingFile>(*std::move(file)));
  }
  std::unique_ptr<base::Directory> beneath_;
};

/// Its queues run each request when it is waited for. Threads: as the file system beneath.
class PausingFileSystem final : public base::FileSystem {
 public:
  /// `beneath` outlives it.
  explicit PausingFileSystem(base::FileSystem* beneath) : beneath_(beneath) {}
  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string& path,
                                                         bool create) override {
    test::AllocationPause pause;
    auto directory = beneath_->OpenDirectory(path, create);
    if (!directory.has_value()) return directory;
    return std::unique_ptr<base::Directory>(
        std::make_unique<PausingDirectory>(*std::move(directory)));
  }
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override {
    test::AllocationPause pause;
    return std::make_unique<Queue>(beneath_->NewQueue(depth));
  }
  std::string_view name() const override { return beneath_->name(); }

 private:
  class Queue final : public base::IoQueue {
   public:
    explicit Queue(std::unique_ptr<base::IoQueue> beneath) : beneath_(std::move(beneath)) {}
    void Submit(std::span<base::IoRequest* const> requests) override {
      test::AllocationPause pause;
      beneath_->Submit(requests);
    }
    base::IoRequest* Wait() override {
      test::AllocationPause pause;
      return beneath_->Wait();
    }

   private:
    const std::unique_ptr<base::IoQueue> beneath_;
  };

  base::FileSystem* const beneath_;
};

}  // namespace tandem::reliability
