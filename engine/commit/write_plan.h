// Plans a WriteBatch: resolves names, checks limits and types, encodes operations for the log.
// Everything that needs neither a lock nor a sequence number happens here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/region/region_set.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"
#include "wal/operation.h"

namespace tandem::engine {

/// An operation on one row. Lifetime: views point into the WriteBatch.
struct PlannedOperation {
  format::TableId table;
  std::string_view row;
  std::optional<int64_t> timestamp;  ///< nullopt: the batch's; for a DeleteCell the newest version.
  bool is_delete_cell = false;
  std::vector<format::Cell> cells;  ///< For a DeleteCell one that names the column.
};

/// Threads: one at a time. Lifetime: not longer than the WriteBatch.
struct WritePlan {
  uint64_t changes = 0;   ///< RegionSet::changes() before the names were resolved.
  bool is_stale = false;  ///< Set by CommitQueue::Commit.
  std::vector<std::shared_ptr<const Table>> tables;  ///< That the batch touches, each once.
  bool spans_regions = false;                        ///< It touches more than one.
  Region* region = nullptr;                          ///< Of its first operation.
  wal::BatchEncoder batch;  ///< Complete unless `unresolved` has something.
  /// All operations of a batch that contains a DeleteCell, whose cells are known only when
  /// everything before the batch is applied (rule 3).
  std::vector<PlannedOperation> unresolved;

  /// Whether what it writes depends on stored data.
  bool reads() const { return !unresolved.empty(); }
};

/// Errors: kNotFound (table, family), kInvalidArgument (key, qualifier, value or batch out of
/// limits; a qualifier twice in one operation; a value that does not fit its index's type).
Result<WritePlan> PlanWrite(const WriteBatch& batch, const RegionSet& regions);

/// Adds the operation to the log's encoding of its batch.
void EncodeOperation(const PlannedOperation& operation, wal::BatchEncoder* batch);

/// Refuses an encoded batch of more than kBatchBytesMax.
Status CheckEncodedSize(const wal::BatchEncoder& batch);

}  // namespace tandem::engine
