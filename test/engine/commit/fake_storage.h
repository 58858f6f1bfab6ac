// A storage in memory that keeps what the log was given, counts calls, and fails or waits when the
// test says so. It has no files.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/storage/storage.h"

namespace tandem::test {

class FakeStorage final : public engine::Storage {
 public:
  struct KeptFrame {
    uint64_t first_sequence = 0;
    uint32_t count = 0;
    int64_t timestamp = 0;
    std::string payload;
  };

  Result<engine::NewFile> CreateFile() override { return Status::Unsupported("no files"); }
  Result<std::unique_ptr<base::File>> OpenFile(format::FileNumber) override {
    return Status::Unsupported("no files");
  }

  void AppendLog(const format::Frame& frame) override {
    appended.push_back(
        {frame.first_sequence, frame.count, frame.timestamp, std::string(frame.payload)});
  }
  Status WriteLog() override {
    ++writes;
    Status status = next_write;
    next_write = Status();
    if (status.ok()) written.insert(written.end(), appended.begin(), appended.end());
    appended.clear();
    return status;
  }
  Status SyncLog() override {
    ++syncs;
    if (on_sync) on_sync();
    return next_sync;
  }
  Status SyncWrittenLog() override {
    ++syncs_beside;
    if (on_sync) on_sync();
    return next_sync;
  }
  Status PrepareRoll() override { return {}; }
  bool is_log_extension_due() const override { return false; }
  void ExtendLog() override {}
  Status RollLog() override {
    ++rolls;
    if (next_roll.ok()) ++segment;
    return next_roll;
  }
  uint64_t log_bytes() const override { return 0; }
  uint64_t segment_bytes() const override { return 0; }
  format::FileNumber current_segment() const override { return format::FileNumber(segment); }
  Status CommitEdits(uint64_t, const format::CatalogEdit&) override {
    return Status::Unsupported("no catalog");
  }
  format::Catalog catalog() const override { return {}; }
  Status DeleteFile(format::FileNumber) override { return {}; }
  Status CloseCleanly() override { return {}; }

  std::vector<KeptFrame> appended, written;
  std::atomic<int> writes{0}, syncs{0}, syncs_beside{0};
  int rolls = 0;
  uint64_t segment = 1;
  std::function<void()> on_sync;
  Status next_write;  ///< Of the next WriteLog only.
  Status next_sync, next_roll;
};

}  // namespace tandem::test
