// A run of a bulk load: encoded puts in key order become rows, and those go into the load's files.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/jobs/load_linker.h"
#include "format/cell/cell.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// The error for a row above kBatchBytesMax.
Status RowTooLarge(std::string_view row);

/// The memory of batches that were written, for those that come: memory that goes from thread to
/// thread is new pages each time otherwise. Threads: any.
class SpareBatches {
 public:
  /// Keeps the memory of the batch, or frees it where enough is kept.
  void Give(wal::BatchEncoder batch) {
    if (batch.bytes().capacity() > kBytesMax) return;
    batch.Clear();
    base::MutexLock lock(mutex_);
    if (spares_.size() < kSparesMax) spares_.push_back(std::move(batch));
  }
  /// An empty batch, with memory if there is some.
  wal::BatchEncoder Take() {
    base::MutexLock lock(mutex_);
    if (spares_.empty()) return {};
    wal::BatchEncoder taken = std::move(spares_.back());
    spares_.pop_back();
    return taken;
  }

 private:
  // A MiB together.
  static constexpr size_t kSparesMax = 8;
  static constexpr uint64_t kBytesMax = 128 << 10;

  base::Mutex mutex_;
  std::vector<wal::BatchEncoder> spares_ GUARDED_BY(mutex_);
};

/// Threads: one at a time.
class BulkFiles {
 public:
  struct Spec {
    std::shared_ptr<const format::TableRecord> table;
    int64_t timestamp = 0;   ///< Of cells without their own.
    int64_t now_micros = 0;  ///< Cells that have expired by then are left out.
  };
  /// All outlive it. `parallel` shares the work of Add and End; what was written goes to `spares`.
  BulkFiles(const LoadWork& work, Spec spec, base::Parallel* parallel, SpareBatches* spares)
      : spec_(std::move(spec)),
        families_(WithoutFormerLimits(spec_.table->families)),
        spares_(*spares),
        files_(work.files, spec_.table, RegionsOfTable(*work.regions, spec_.table)) {
    files_.Share(parallel);
  }

  /// Adds the puts of a batch, whose row keys rise. Errors: kInvalidArgument (a row above
  /// kBatchBytesMax); those of StoreFileWriter. After an error it must not be used.
  Status Add(wal::BatchEncoder batch);
  /// No row of this run follows. Everything is written and synced but what depends on the sequence.
  Status End();
  LoadFiles& files() { return files_; }

 private:
  Status Take(const wal::Operation& operation);
  void AddSorted(std::span<const format::Cell> cells);
  Status WriteRow();

  /// All rows are after every change of limits.
  static std::vector<format::FamilyRecord> WithoutFormerLimits(
      std::vector<format::FamilyRecord> families) {
    for (format::FamilyRecord& family : families) family.former_limits.clear();
    return families;
  }

  const Spec spec_;
  const std::vector<format::FamilyRecord> families_;  // As of the table.
  SpareBatches& spares_;
  LoadFiles files_;

  // The current row. Its cells have the numbers of their operations as sequences, so that of two
  // cells of one column and time the later one is kept.
  std::string key_;
  uint64_t row_bytes_ = 0;
  std::vector<format::Cell> cells_, kept_;
  bool is_sorted_ = false;       // The cells; else as they came.
  std::vector<uint32_t> order_;  // In which the cells of a row's first operation were sorted last.
  std::list<wal::BatchEncoder> batches_;  // Those that the row began in, up to the current one.
};

}  // namespace tandem::engine
