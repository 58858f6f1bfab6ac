// Bulk loads: rows that come in key order become store files at once, beside the log and the
// memstores (engine/jobs/load_files.h), and are linked together (engine/jobs/load_linker.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/commit/write_plan.h"
#include "engine/jobs/load_files.h"
#include "engine/jobs/load_linker.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class BulkLoader {
 public:
  /// `work` outlives it. `timestamp` is that of cells without their own; cells that have expired at
  /// `now_micros` are left out.
  BulkLoader(const LoadWork& work, std::shared_ptr<const format::TableRecord> table,
             int64_t timestamp, int64_t now_micros);

  /// Adds rows. `operations` refer to bytes that live until Add returns. Errors: kInvalidArgument
  /// (of another table, not a Put, keys that fall, a row above kBatchBytesMax) with nothing added;
  /// others end the load, and every later call returns the same.
  Status Add(std::span<const PlannedOperation> operations);
  /// Puts the rows into the table. Errors: kNotFound (the table was dropped or truncated),
  /// kReadOnly, kNoSpace, kIoError.
  Status Link();
  const std::shared_ptr<const format::TableRecord>& table() const { return table_; }

 private:
  Status Check(std::span<const PlannedOperation> operations) const;
  Status Take(const PlannedOperation& operation);
  void KeepRow();
  Status WriteRow();
  Status LinkRows();

  const LoadWork& work_;
  const std::shared_ptr<const format::TableRecord> table_;
  const int64_t timestamp_;
  const int64_t now_micros_;
  LoadFiles files_;
  Status broken_;  // The error that ended the load.

  // The current row. Its cells have the numbers of their operations as sequences, so that of two
  // cells of one column and time the later one is kept.
  std::string key_;
  std::vector<format::Cell> cells_, kept_;
  uint64_t row_bytes_ = 0;
  size_t copied_ = 0;  // Of cells_: their bytes are in bytes_, the others' in the batch.
  std::optional<base::Arena> bytes_;
};

}  // namespace tandem::engine
