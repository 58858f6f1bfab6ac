// Bulk loads: rows that come in key order become store files at once, beside the log and the
// memstores. No row is in the table before the load is linked, and then all are.
//
// Steps of Link, each of which a crash may follow:
//   1. The regions are flushed, so that little is left for step 3.
//   2. Their flush turns are taken: no region is split or merged from now on.
//   3. Alone in the commit queue: what was written since step 1 is flushed, so that every older
//      operation on the regions is in older files.
//   4. The load takes one sequence, which is that of all its cells. The ends of its files, with
//      that sequence, are written; everything before them was written and synced already.
//   5. One catalog edit adds the files to the regions, as their newest run, and the regions'
//      versions and the visible sequence follow.
// Files that no edit names are removed when the database is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit/write_plan.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region_set.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What bulk loads need; all outlive them.
struct BulkWork {
  FileWork files;
  RegionSet* regions = nullptr;
  CommitQueue* queue = nullptr;
  Flusher* flusher = nullptr;
  /// Switches and flushes the memstores of the regions.
  std::function<Status(const std::vector<std::shared_ptr<Region>>&)> flush;
  /// Makes the whole log durable. Threads: the commit leader.
  std::function<Status()> sync_log;
  /// The region has another memstore. Threads: the commit leader.
  std::function<void(Region&)> memstore_changed;
  /// Schedules what follows when the region has more files.
  std::function<void(Region&)> begin;
};

/// kInvalidArgument if the table has observers, whom a load would pass by.
Status CheckMayBeLoaded(const format::TableRecord& table);

/// Threads: one at a time.
class BulkLoader {
 public:
  /// `work` outlives it. `timestamp` is that of cells without their own; cells that have expired at
  /// `now_micros` are left out.
  BulkLoader(const BulkWork& work, std::shared_ptr<const format::TableRecord> table,
             int64_t timestamp, int64_t now_micros)
      : work_(work),
        table_(std::move(table)),
        timestamp_(timestamp),
        now_micros_(now_micros),
        run_(work.files, table_) {}

  /// Adds rows. `operations` refer to bytes that live until Add returns. Errors: kInvalidArgument
  /// (of another table, not a Put, keys that fall, a row above kBatchBytesMax) with nothing added;
  /// others end the load, and every later call returns the same.
  Status Add(std::span<const PlannedOperation> operations);
  /// Puts the rows into the table. Errors: kNotFound (the table was dropped or truncated),
  /// kReadOnly, kNoSpace, kIoError.
  Status Link();
  const std::shared_ptr<const format::TableRecord>& table() const { return table_; }

 private:
  using Regions = std::vector<std::shared_ptr<Region>>;
  /// What a region gets of the files.
  struct Part {
    Region* region = nullptr;
    std::vector<FileSlice> slices;
  };

  Status Check(std::span<const PlannedOperation> operations) const;
  Status Take(const PlannedOperation& operation);
  void KeepRow();
  Status WriteRow();
  Status PrepareFile();
  Status Hold();
  Status LinkRows();
  Status TryLink(bool* again);
  Status LinkAlone(const Regions& regions, bool* again);
  Status FlushRest(const Regions& regions);
  Result<std::vector<Part>> PartsOf(const Regions& regions) const;
  Status Commit(const std::vector<Part>& parts, format::SequenceNumber sequence);

  const BulkWork& work_;
  const std::shared_ptr<const format::TableRecord> table_;
  const int64_t timestamp_;
  const int64_t now_micros_;
  RunWriter run_;
  format::StoreFileWriter* writer_ = nullptr;  // Of the unfinished file.
  std::string region_end_;                     // Of the region that it is written for.
  Status broken_;                              // The error that ended the load.

  // The current row. Its cells have the numbers of their operations as sequences, so that of two
  // cells of one column and time the later one is kept.
  std::string first_key_, key_;
  std::vector<format::Cell> cells_, kept_;
  uint64_t row_bytes_ = 0;
  size_t copied_ = 0;  // Of cells_: their bytes are in bytes_, the others' in the batch.
  std::optional<base::Arena> bytes_;
};

}  // namespace tandem::engine
