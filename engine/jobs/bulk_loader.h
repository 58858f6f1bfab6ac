// Bulk loads: rows that come in key order become store files at once, beside the log and the
// memstores (load_files.h), and are linked together (load_linker.h).
//
// Rows that may come in any order are written as they come while their keys rise. From the first
// that falls on they are sorted (bulk_sorter.h), and become a second, newer run.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/write_plan.h"
#include "engine/jobs/bulk_files.h"
#include "engine/jobs/bulk_queue.h"
#include "engine/jobs/bulk_sorter.h"
#include "engine/jobs/load_linker.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class BulkLoader {
 public:
  /// `work` outlives it. `any_order`: row keys may fall.
  BulkLoader(const LoadWork& work, BulkFiles::Spec spec, bool any_order);

  /// Adds the rows of a batch, which are written in the background. `plan` is that of the batch.
  /// Errors: kInvalidArgument (of another table, not a Put, keys that fall and must not, a row
  /// above kBatchBytesMax) with nothing added; others, also of rows added earlier, end the load,
  /// and every later call returns the same.
  Status Add(const WriteBatch& batch, WritePlan plan);
  /// Memory for the encoding of the next plan.
  wal::BatchEncoder TakeBuffer() { return std::move(buffer_); }
  /// Puts the rows into the table. Errors: kNotFound (the table was dropped or truncated),
  /// kInvalidArgument (a row that came in several places is above kBatchBytesMax), kReadOnly,
  /// kNoSpace, kIoError.
  Status Link();
  const std::shared_ptr<const format::TableRecord>& table() const { return spec_.table; }

 private:
  /// What a batch adds.
  struct Added {
    std::string_view last_key;
    uint64_t row_bytes = 0;  ///< Of the last row so far.
    bool falls = false;      ///< A key is below the one before it.
  };

  Status CheckTable(const format::TableRecord& table) const;
  Result<Added> Check(const WriteBatch& batch, const WritePlan& plan) const;
  Status Take(const Added& added, wal::BatchEncoder batch);
  BulkFiles& NewRun();
  Status Write(wal::BatchEncoder batch);
  Status Pass();
  Status BeginSorting();
  Status EndRuns();
  Status LinkRows();

  const LoadWork& work_;
  const BulkFiles::Spec spec_;
  const bool any_order_;
  SpareBatches spares_;                 // Outlives all of these.
  std::list<BulkFiles> runs_;           // At most two; rows go to the last one,
  std::unique_ptr<BulkSorter> sorter_;  // or to this, if there is one.
  BulkQueue queue_;                     // To both; ends before them.
  wal::BatchEncoder batch_;             // What is passed to it next.
  wal::BatchEncoder buffer_;            // For the next plan.
  Status broken_;                       // The error that ended the load.

  std::string last_key_;
  uint64_t row_bytes_ = 0;  // Of the last row.
};

}  // namespace tandem::engine
