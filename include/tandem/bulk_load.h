// Bulk loads: rows go straight into store files with their index sections, beside the write-ahead
// log and the memstores, and appear in the table all at once.
//
//   Result<BulkLoad> load = database->BeginBulkLoad("orders");
//   WriteBatch batch;
//   while (...) {                        // In the order of row keys, or with any_order.
//     batch.Clear();
//     batch.Put("orders", row, "d", "customer", customer);
//     Status status = load->Add(batch);
//   }
//   Status status = load->Commit();
#pragma once

#include <memory>

#include "tandem/status.h"
#include "tandem/write_batch.h"

namespace tandem::engine {
class Engine;
class EngineImpl;
class OpenHandles;
class OpenLoad;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// Made by Database::BeginBulkLoad. Move-only. Ends at Commit, at Abandon, or when it is destroyed,
/// which abandons it; a crash does the same. While it is open, Close is refused. May outlive its
/// Database, and all calls are then kClosed. Threads: one at a time; others may write to the table
/// meanwhile.
class BulkLoad {
 public:
  BulkLoad(BulkLoad&&) noexcept;
  BulkLoad& operator=(BulkLoad&&) noexcept;
  ~BulkLoad();

  /// Adds the puts of `batch`, whose row keys rise from one to the next and from those added
  /// before, unless BulkLoadOptions::any_order allows that they fall; of two cells of one column
  /// and timestamp the later one counts. Rows are written in the background. Cells without a
  /// timestamp have that of BeginBulkLoad: a put of the same column after it is newer, also one
  /// that was made before Commit. A delete that was made before Commit hides none of the rows. If a
  /// table gets another index meanwhile, it is built for the rows after Commit. Errors: those of
  /// Database::Write that need no disk, kNotFound (also if the table was dropped, truncated or
  /// renamed), kInvalidArgument (rows that fall, of another table, above kBatchBytesMax; an
  /// operation other than a put) with nothing added of the batch; kIoError, kNoSpace, kOutOfMemory,
  /// also of rows that were added before, which end the load; kClosed.
  Status Add(const WriteBatch& batch);
  /// Makes all rows visible at once, and durable. Flushes the regions that they belong to; writers
  /// wait while the ends of the files are written. Ends the load. Errors (the table is unchanged,
  /// but after kIoError a crash may show the rows): kNotFound (the table was dropped, truncated or
  /// renamed), kConflict (a family got more versions, or a longer time to live), kReadOnly,
  /// kNoSpace, kIoError, kOutOfMemory; kInvalidArgument (it has ended; the table got observers or
  /// former row keys;
  /// with any_order: the parts of a row are above kBatchBytesMax together).
  Status Commit();
  /// Removes what was added and ends the load. Does nothing if it has ended.
  void Abandon();

 private:
  friend class engine::EngineImpl;
  BulkLoad(std::shared_ptr<engine::OpenHandles> handles, engine::Engine* engine,
           std::shared_ptr<engine::OpenLoad> open);
  template <typename Call>
  Status Entered(Call&& call);

  std::shared_ptr<engine::OpenHandles> handles_;
  engine::Engine* engine_;
  std::shared_ptr<engine::OpenLoad> open_;  // Null: it has ended.
};

}  // namespace tandem

#pragma GCC visibility pop
