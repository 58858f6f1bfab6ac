// Bulk loads: rows that come in key order become store files at once, beside the log and the
// memstores. No row is in the table before the load is linked, and then all are.
//
// Rows that may come in any order are written as they come while their keys rise. From the first
// that falls on they are sorted (bulk_sorter.h), and become a second, newer run.
//
// Steps of Link, each of which a crash may follow:
//   1. The regions are flushed, so that little is left for step 3.
//   2. Their flush turns are taken: no region is split or merged from now on.
//   3. Alone in the commit queue: what was written since step 1 is flushed, so that every older
//      operation on the regions is in older files.
//   4. Each run takes one sequence, which is that of all its cells. The ends of its files, with
//      that sequence, are written; everything before them was written and synced already.
//   5. One catalog edit adds the files to the regions, as their newest runs, and the regions'
//      versions and the visible sequence follow.
// Files that no edit names are removed when the database is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/commit_queue.h"
#include "engine/commit/write_plan.h"
#include "engine/jobs/bulk_files.h"
#include "engine/jobs/bulk_queue.h"
#include "engine/jobs/bulk_sorter.h"
#include "engine/jobs/flush.h"
#include "engine/region/region_set.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What bulk loads need; all outlive them.
struct BulkWork {
  FileWork files;
  BackgroundJobs* jobs = nullptr;
  uint64_t sort_bytes = 80 << 20;  ///< What sorting one load takes.
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

/// Threads: one at a time.
class BulkLoader {
 public:
  /// `work` outlives it. `any_order`: row keys may fall.
  BulkLoader(const BulkWork& work, BulkFiles::Spec spec, bool any_order);

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
    std::string_view least_key, greatest_key;  ///< Of its rows; views of the batch.
    std::string_view last_key;
    uint64_t row_bytes = 0;  ///< Of the last row so far.
    bool falls = false;      ///< A key is below the one before it.
  };
  using Regions = std::vector<std::shared_ptr<Region>>;
  /// What a region gets of the files: a list for each run.
  struct Part {
    Region* region = nullptr;
    std::vector<std::vector<FileSlice>> runs;
  };

  Result<Added> Check(const WriteBatch& batch, const WritePlan& plan) const;
  Status Take(const Added& added, const wal::BatchEncoder& batch);
  BulkFiles& NewRun();
  Status Write(wal::BatchEncoder batch);
  Status Pass();
  Status BeginSorting();
  Status EndRuns();
  Status LinkRows();
  Status TryLink(bool* again);
  Status LinkAlone(const Regions& regions, bool* again);
  Status FlushRest(const Regions& regions);
  Result<std::vector<Part>> PartsOf(const Regions& regions) const;
  Status Commit(const std::vector<Part>& parts, format::SequenceNumber sequence);

  const BulkWork& work_;
  const BulkFiles::Spec spec_;
  const bool any_order_;
  std::list<BulkFiles> runs_;           // At most two; rows go to the last one,
  std::unique_ptr<BulkSorter> sorter_;  // or to this, if there is one.
  BulkQueue queue_;                     // To both; ends before them.
  wal::BatchEncoder batch_;             // What is passed to it next.
  wal::BatchEncoder buffer_;            // Of the last plan.
  Status broken_;                       // The error that ended the load.

  std::string least_key_, greatest_key_, last_key_;
  uint64_t row_bytes_ = 0;  // Of the last row.
};

}  // namespace tandem::engine
