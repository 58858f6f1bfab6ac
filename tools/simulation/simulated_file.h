// A file handle of a simulated disk. Internal to the disk and its queue.
#pragma once

#include <memory>
#include <string>

#include "tools/simulation/simulated_handles.h"

namespace tandem::test {

class SimulatedFile final : public base::File {
 public:
  /// Requires: the caller holds the state's mutex.
  SimulatedFile(std::shared_ptr<SimulatedState> state, std::shared_ptr<Inode> inode,
                std::string name, base::OpenMode mode);
  ~SimulatedFile() override;

  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override;
  Status Write(uint64_t offset, std::string_view data) override;
  Status DataSync() override;
  Result<uint64_t> Size() override;
  Status Truncate(uint64_t size_bytes) override;
  Status Preallocate(uint64_t size_bytes) override;
  Status Extend(uint64_t size_bytes) override;
  const std::string& name() const override { return name_; }

  /// The id of the last effect that a sync covers which starts now.
  uint64_t LastEffect() const;
  /// DataSync of the effects up to `last_effect`.
  Status SyncUpTo(uint64_t last_effect);

 private:
  Status CheckAlive() const;
  Status CheckAliveLocked() const REQUIRES(state_->mutex);
  Status CheckWritable() const;
  size_t Fitting(uint64_t offset, size_t size) const REQUIRES(state_->mutex);
  void WriteVisible(uint64_t offset, std::string_view data) REQUIRES(state_->mutex);
  void Observe(Observation seen) REQUIRES(state_->mutex);
  Status PastError() REQUIRES(state_->mutex);
  Status WriteWhatFits(uint64_t offset, std::string_view data) REQUIRES(state_->mutex);

  const std::shared_ptr<SimulatedState> state_;
  const std::shared_ptr<Inode> inode_;
  const std::string name_;
  const base::OpenMode mode_;
  uint64_t life_;
  uint64_t seen_errors_;  // Of the inode's error_count. Guarded by the state's mutex.
};

}  // namespace tandem::test
