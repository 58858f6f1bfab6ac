// The rows of a read, one after the other, and the position in them.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>

#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::engine {
class EngineImpl;
class OpenCursor;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// Iterates over rows as of one point in time; later writes, flushes and compactions do not matter.
///   while (cursor.Next()) Use(cursor.row());
///   if (!cursor.status().ok()) ...
/// Move-only. While it is open, the files that it reads stay on disk, and Close is refused. The
/// Snapshot that it was opened with may be destroyed.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  /// Moves to the next row. False at the end or on an error (see status()), and on every later
  /// call.
  bool Next();
  /// Requires: the last Next() returned true. Lifetime: until the next call of Next(), or until the
  /// cursor is moved from or destroyed, or the Database is destroyed.
  const RowView& row() const { return row_; }
  /// OK before and at the normal end. Errors: kCorruption, kIoError, kOutOfMemory, kOverBudget (a
  /// row above kWholeRowBytesMax without ReadOptions::pieces; ReadOptions::budget), kCancelled
  /// (ReadOptions::cancelled), kClosed (the database is gone).
  const Status& status() const { return status_; }

  /// The position of the last row that Next returned, as text of letters, digits, - and _ that
  /// ScanOptions and QueryOptions take as `after` and `before`, in this process or a later one.
  /// Rows in pieces count as whole. After kOverBudget it is where the read stopped, which may be
  /// beyond that row. Before any row, the token that the cursor was opened with, or empty.
  ///
  /// It names the database, the table, the query and the state that it read (by its sequence), and
  /// has a position in the query's order: the value of order_by and the row key. It is larger than
  /// both by a half and 100 bytes. Reading the same snapshot goes on exactly; so it does after
  /// splits, merges, or opening the database again with a named snapshot. A newer state shows its
  /// rows strictly after the position: a row whose value moved meanwhile may come twice or never
  /// (continues_exactly says which). Where a token is taken: kInvalidArgument for one that is cut
  /// or changed, or of another database, table or query: the message says which.
  /// Errors: kOutOfMemory, kClosed (the database is gone).
  Result<std::string> Token() const;
  /// Whether the cursor reads the same state as the one that its token (`after` or `before`) is of;
  /// true if it was opened without one.
  bool continues_exactly() const;

  /// One pass over the remaining rows. It also ends on an error: check status().
  ///   for (const tandem::RowView& row : cursor) Use(row);
  class Iterator {
   public:
    using value_type = RowView;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(Cursor* cursor) : cursor_(cursor) { ++*this; }
    /// Lifetime: as row().
    const RowView& operator*() const { return cursor_->row_; }
    Iterator& operator++() {
      at_end_ = !cursor_->Next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return at_end_; }

   private:
    Cursor* cursor_;
    bool at_end_ = false;
  };
  /// Moves to the next row. Requires: called once.
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class engine::EngineImpl;
  explicit Cursor(std::unique_ptr<engine::OpenCursor> open);

  std::unique_ptr<engine::OpenCursor> open_;
  RowView row_;
  Status status_;
};

}  // namespace tandem

#pragma GCC visibility pop
