// A file system that says OK to syncs and leaves some of them out, as a forgetful program would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "test/support/forwarding_file.h"

namespace tandem::test {

/// What is left out.
struct Forgotten {
  std::string synced_prefix = "none";  ///< Files that are never synced.
  bool directory_syncs = false;
};

class ForgetfulFile final : public ForwardingFile {
 public:
  ForgetfulFile(std::unique_ptr<base::File> file, const Forgotten& forgotten)
      : ForwardingFile(std::move(file)), is_synced_(!name().starts_with(forgotten.synced_prefix)) {}
  Status DataSync() override { return is_synced_ ? ForwardingFile::DataSync() : Status(); }

 private:
  const bool is_synced_;
};

class ForgetfulDirectory final : public base::Directory {
 public:
  ForgetfulDirectory(std::unique_ptr<base::Directory> directory, const Forgotten& forgotten)
      : directory_(std::move(directory)), forgotten_(forgotten) {}

  Result<std::unique_ptr<base::File>> Create(const std::string& name) override {
    return Wrapped(directory_->Create(name));
  }
  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode mode) override {
    return Wrapped(directory_->Open(name, mode));
  }
  Status Remove(const std::string& name) override { return directory_->Remove(name); }
  Result<std::vector<std::string>> List() override { return directory_->List(); }
  Status Sync() override { return forgotten_.directory_syncs ? Status() : directory_->Sync(); }
  Status Lock() override { return directory_->Lock(); }
  bool HoldsLock() const override { return directory_->HoldsLock(); }
  Result<uint64_t> FreeSpace() override { return directory_->FreeSpace(); }

 private:
  Result<std::unique_ptr<base::File>> Wrapped(Result<std::unique_ptr<base::File>> file) {
    if (!file.has_value()) return file.error();
    return std::unique_ptr<base::File>(
        std::make_unique<ForgetfulFile>(std::move(*file), forgotten_));
  }

  const std::unique_ptr<base::Directory> directory_;
  const Forgotten forgotten_;
};

/// Its requests run through the files' own calls. Lifetime: `beneath` outlives it.
class ForgetfulFileSystem final : public base::FileSystem {
 public:
  ForgetfulFileSystem(base::FileSystem* beneath, Forgotten forgotten)
      : beneath_(beneath), forgotten_(std::move(forgotten)) {}

  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string& path,
                                                         bool create) override {
    auto directory = beneath_->OpenDirectory(path, create);
    if (!directory.has_value()) return directory.error();
    return std::unique_ptr<base::Directory>(
        std::make_unique<ForgetfulDirectory>(std::move(*directory), forgotten_));
  }
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override {
    return beneath_->NewQueue(depth);
  }
  std::string_view name() const override { return "forgetful"; }

 private:
  base::FileSystem* const beneath_;
  const Forgotten forgotten_;
};

}  // namespace tandem::test
