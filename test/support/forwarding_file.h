// Files that pass every call on to another file. A test overrides what it wants to see or change.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_system.h"

namespace tandem::test {

/// Threads: as the file beneath, which may outlive it.
class ForwardingFile : public base::File {
 public:
  explicit ForwardingFile(std::shared_ptr<base::File> beneath) : beneath_(std::move(beneath)) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    return beneath_->Read(offset, buffer);
  }
  Status Write(uint64_t offset, std::string_view data) override {
    return beneath_->Write(offset, data);
  }
  Status DataSync() override { return beneath_->DataSync(); }
  Status StartWriteBack(uint64_t offset, uint64_t size_bytes) override {
    return beneath_->StartWriteBack(offset, size_bytes);
  }
  Result<uint64_t> Size() override { return beneath_->Size(); }
  Status Truncate(uint64_t size_bytes) override { return beneath_->Truncate(size_bytes); }
  Status Preallocate(uint64_t size_bytes) override { return beneath_->Preallocate(size_bytes); }
  Status Extend(uint64_t size_bytes) override { return beneath_->Extend(size_bytes); }
  std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes) override {
    return beneath_->CachedPages(offset, size_bytes);
  }
  void DropCached(uint64_t offset, uint64_t size_bytes) override {
    beneath_->DropCached(offset, size_bytes);
  }
  Status AwaitWriteBack(uint64_t offset, uint64_t size_bytes) override {
    return beneath_->AwaitWriteBack(offset, size_bytes);
  }
  const std::string& name() const override { return beneath_->name(); }

 private:
  const std::shared_ptr<base::File> beneath_;
};

/// Adds one to `*reads` for each read. Lifetime: `reads` outlives it.
class CountingFile final : public ForwardingFile {
 public:
  CountingFile(std::shared_ptr<base::File> beneath, uint64_t* reads)
      : ForwardingFile(std::move(beneath)), reads_(reads) {}
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    ++*reads_;
    return ForwardingFile::Read(offset, buffer);
  }

 private:
  uint64_t* const reads_;
};

}  // namespace tandem::test
