// Every directory that the view opens shares one state, which is complete before the first is
// opened by a reader.
#include "engine/backup/database_view.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/backup/directory.h"
#include "engine/backup/recorded_files.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"

namespace tandem::engine {
namespace {

/// What the directory holds. Threads: one while it is made, any afterwards.
struct ViewState {
  std::map<std::string, std::shared_ptr<std::string>> made;  ///< Contents in memory.
  std::map<std::string, BackupFile> recorded;                ///< By their names in a database.
  std::unique_ptr<base::Directory> backups;
};

class MemoryFile final : public base::File {
 public:
  MemoryFile(std::string name, std::shared_ptr<std::string> bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    if (offset >= bytes_->size()) return size_t{0};
    const size_t count = std::min<size_t>(buffer.size(), bytes_->size() - offset);
    std::memcpy(buffer.data(), bytes_->data() + offset, count);
    return count;
  }
  Status Write(uint64_t offset, std::string_view data) override {
    if (bytes_->size() < offset + data.size()) bytes_->resize(offset + data.size());
    bytes_->replace(offset, data.size(), data);
    return {};
  }
  Status DataSync() override { return {}; }
  Result<uint64_t> Size() override { return uint64_t{bytes_->size()}; }
  Status Truncate(uint64_t size_bytes) override {
    bytes_->resize(size_bytes);
    return {};
  }
  Status Preallocate(uint64_t) override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  const std::string name_;
  const std::shared_ptr<std::string> bytes_;
};

class ViewDirectory final : public base::Directory {
 public:
  explicit ViewDirectory(std::shared_ptr<ViewState> state) : state_(std::move(state)) {}

  Result<std::unique_ptr<base::File>> Create(const std::string& name) override {
    auto& bytes = state_->made[name];
    bytes = std::make_shared<std::string>();
    return std::unique_ptr<base::File>(std::make_unique<MemoryFile>(name, bytes));
  }
  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode) override {
    const auto made = state_->made.find(name);
    if (made != state_->made.end()) {
      return std::unique_ptr<base::File>(std::make_unique<MemoryFile>(name, made->second));
    }
    const auto recorded = state_->recorded.find(name);
    if (recorded == state_->recorded.end()) {
      return Status::NotFound(name + " is not part of the backup");
    }
    return OpenBackupFile(state_->backups.get(), recorded->second);
  }
  Status Remove(const std::string& name) override {
    return state_->made.erase(name) > 0 ? Status() : Status::NotFound(name);
  }
  Result<std::vector<std::string>> List() override {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : state_->made) names.push_back(name);
    for (const auto& [name, file] : state_->recorded) names.push_back(name);
    return names;
  }
  Status Sync() override { return {}; }
  Status Lock() override { return {}; }
  bool HoldsLock() const override { return true; }
  Result<uint64_t> FreeSpace() override { return uint64_t{0}; }

 private:
  const std::shared_ptr<ViewState> state_;
};

class BackupView final : public base::FileSystem {
 public:
  BackupView(base::FileSystem* below, std::shared_ptr<ViewState> state)
      : below_(below), state_(std::move(state)) {}

  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string&, bool) override {
    return std::unique_ptr<base::Directory>(std::make_unique<ViewDirectory>(state_));
  }
  Result<std::unique_ptr<base::Directory>> CreateDirectory(const std::string&) override {
    return std::unique_ptr<base::Directory>(std::make_unique<ViewDirectory>(state_));
  }
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override {
    return below_->NewQueue(depth);
  }
  std::string_view name() const override { return below_->name(); }

 private:
  base::FileSystem* const below_;
  const std::shared_ptr<ViewState> state_;
};

}  // namespace

Result<std::unique_ptr<base::FileSystem>> ViewBackup(const CopyTools& tools,
                                                     const std::string& path, uint64_t number) {
  auto state = std::make_shared<ViewState>();
  format::BackupRecord record;
  {
    ASSIGN_OR_RETURN(auto directory, tools.file_system->OpenDirectory(path, /*create=*/false));
    ASSIGN_OR_RETURN(const BackupDirectory backups,
                     BackupDirectory::Read(std::move(directory), path));
    ASSIGN_OR_RETURN(record, ChosenBackup(backups, path, number));
  }
  ASSIGN_OR_RETURN(state->backups, tools.file_system->OpenDirectory(path, /*create=*/false));
  std::vector<format::BoundFile> segments;
  for (const format::BackupSegment& segment : record.segments) segments.push_back(segment.end);
  for (const BackupFile& file : FilesOf(record)) {
    if (file.is_segment) RETURN_IF_ERROR(VerifyBackupFile(state->backups.get(), file));
    state->recorded.emplace(file.is_segment ? SegmentName(file.number) : StoreFileName(file.number),
                            file);
  }
  std::unique_ptr<base::FileSystem> view = std::make_unique<BackupView>(tools.file_system, state);
  ASSIGN_OR_RETURN(const std::unique_ptr<StagedDatabase> staged,
                   StagedDatabase::Begin(view.get(), path));
  RETURN_IF_ERROR(staged->Finish(record.catalog, segments, tools.random));
  return view;
}

}  // namespace tandem::engine
