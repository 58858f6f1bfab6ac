// The rows of one part of a read, where they are: held since another thread read the part, or still
// to be given by its source.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "engine/parallel/part_readers.h"
#include "format/row/row_batch.h"
#include "tandem/row.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the readers outlive it.
class PartRows {
 public:
  explicit PartRows(PartReaders* readers) : readers_(readers) {}

  bool has_part() const { return part_ != nullptr; }
  /// Requires: !has_part().
  void Begin(std::unique_ptr<PartInWork> part);
  /// The next rows, or the next piece of one; false at the end of the part. Errors: those of the
  /// part. Lifetime of the rows: until the next call. Requires: has_part().
  Result<bool> Next(std::span<const RowView>* rows);
  /// Whether it is known that no more rows come. Requires: has_part().
  bool is_at_end() const;
  /// The part is done with. Requires: has_part().
  void End();

  /// As RowSource::entry.
  std::string_view entry() const;
  const ReadPart& part() const { return *part_->part; }
  /// A row of the part was passed over.
  void CountPassed() { ++part_->passed_over; }

 private:
  PartReaders* const readers_;
  std::unique_ptr<PartInWork> part_;
  size_t at_ = 0;              // In what it holds; beyond that, its source has the rows.
  format::RowBatch streamed_;  // By the source.
  RowView held_row_;
};

}  // namespace tandem::engine
