// The files of a bulk load: rows in key order become store files of one sequence, which is not
// known yet.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/jobs/run_writer.h"
#include "engine/region/region_set.h"
#include "format/cell/cell.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// The error for a row above kBatchBytesMax.
Status RowTooLarge(std::string_view row);

/// Threads: one at a time.
class BulkFiles {
 public:
  struct Spec {
    std::shared_ptr<const format::TableRecord> table;
    int64_t timestamp = 0;   ///< Of cells without their own.
    int64_t now_micros = 0;  ///< Cells that have expired by then are left out.
  };
  /// `work` and `regions` outlive it.
  BulkFiles(const FileWork& work, const RegionSet* regions, Spec spec)
      : work_(work), regions_(regions), spec_(std::move(spec)), run_(work, spec_.table) {}

  /// Adds the puts of a batch, whose row keys rise. Errors: kInvalidArgument (a row above
  /// kBatchBytesMax); those of StoreFileWriter. After an error it must not be used.
  Status Add(wal::BatchEncoder batch);
  /// No row of this run follows. Everything is written and synced but what depends on the sequence.
  Status End();
  /// Requires: End was called.
  RunWriter& run() { return run_; }
  const FinishedRun& finished() const { return run_.finished(); }

 private:
  Status Take(const wal::Operation& operation);
  Status WriteRow();
  Status PrepareFile();
  Status Hold();

  const FileWork& work_;
  const RegionSet* const regions_;
  const Spec spec_;
  RunWriter run_;
  format::StoreFileWriter* writer_ = nullptr;  // Of the unfinished file.
  std::string region_end_;                     // Of the region that it is written for.

  // The current row. Its cells have the numbers of their operations as sequences, so that of two
  // cells of one column and time the later one is kept.
  std::string key_;
  uint64_t row_bytes_ = 0;
  std::vector<format::Cell> cells_, kept_;
  std::list<wal::BatchEncoder> batches_;  // Those that the row began in, up to the current one.
};

}  // namespace tandem::engine
