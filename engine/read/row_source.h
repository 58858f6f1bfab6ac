// What an open read gives its cursor: rows in batches.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "format/row/row_batch.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The source of a Cursor's rows. Threads: one at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Before the first row: asks for what is read first, where that is known. Sources that all begin
  /// and then give rows wait for their first reads together. Need not be called.
  virtual Status Begin() { return {}; }
  /// Replaces the rows of `*batch` by the next ones, or by the next piece of one; false at the end.
  /// Errors: kOverBudget (a row that is too large to be read whole), kCorruption, kIoError,
  /// kCancelled. Lifetime of the rows: until the next call.
  virtual Result<bool> NextBatch(format::RowBatch* batch) = 0;
  /// After a batch: whether NextBatch would say that it was the last. False: that is not known.
  virtual bool is_at_end() const { return false; }
  /// Of rows in the order of an index: the entry of the row, or of the piece, that NextBatch gave
  /// last. Such batches have one row. Else empty.
  virtual std::string_view entry() const { return {}; }

  /// `read`, which the rows are read from, lives at least as long as this.
  void Keep(std::shared_ptr<const void> read) { kept_ = std::move(read); }

 private:
  std::shared_ptr<const void> kept_;  // The derived class is gone before it.
};

/// The rows of a source, one by one. Threads: one at a time.
class RowReader {
 public:
  explicit RowReader(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}

  /// Puts the next row, or the next piece of one, in `*row`; false at the end. Errors: those of
  /// NextBatch. Lifetime of `*row`: until the next call.
  Result<bool> Next(RowView* row);

 private:
  std::unique_ptr<RowSource> source_;
  std::unique_ptr<format::RowBatch> batch_ = std::make_unique<format::RowBatch>();
  std::span<const RowView> left_;  // Of the batch.
};

}  // namespace tandem::engine
