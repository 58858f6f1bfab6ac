// A run of a bulk load: encoded puts in key order become rows, and those go into the load's files.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/jobs/load_linker.h"
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
  /// `work` outlives it. `parallel` shares the work of Add and End.
  BulkFiles(const LoadWork& work, Spec spec, base::Parallel* parallel)
      : spec_(std::move(spec)),
        families_(WithoutFormerLimits(spec_.table->families)),
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
  Status WriteRow();

  /// All rows are after every change of limits.
  static std::vector<format::FamilyRecord> WithoutFormerLimits(
      std::vector<format::FamilyRecord> families) {
    for (format::FamilyRecord& family : families) family.former_limits.clear();
    return families;
  }

  const Spec spec_;
  const std::vector<format::FamilyRecord> families_;  // As of the table.
  LoadFiles files_;

  // The current row. Its cells have the numbers of their operations as sequences, so that of two
  // cells of one column and time the later one is kept.
  std::string key_;
  uint64_t row_bytes_ = 0;
  std::vector<format::Cell> cells_, kept_;
  std::list<wal::BatchEncoder> batches_;  // Those that the row began in, up to the current one.
};

}  // namespace tandem::engine
