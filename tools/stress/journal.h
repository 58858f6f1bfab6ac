// What was written and may not be durable yet, in order, and which of it a recovery has to bring
// back: the first batches up to some point, and all of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/simulation/model.h"

namespace tandem::stress {

/// A batch whose write was acknowledged, or failed in a way that leaves it open.
struct JournalBatch {
  std::vector<test::ModelOperation> operations;
  int64_t timestamp = 0;     ///< Of operations without one.
  bool open = false;         ///< Not acknowledged: it may be there or not.
  std::string emptied = {};  ///< A table of which it removes all rows.

  /// Whether it surely writes something: a DeleteCell may find nothing to delete.
  bool surely_writes() const;
};

/// Of some tables of a model. Threads: one.
class Journal {
 public:
  Journal(std::vector<std::string> tables, const test::Model& state)
      : tables_(std::move(tables)), base_(state) {}

  void Append(JournalBatch batch) { batches_.push_back(std::move(batch)); }
  /// The last batch failed without a trace: later ones were acknowledged.
  void DropOpen();
  /// Everything so far survives the process.
  void MarkWritten() { written_ = batches_.size(); }
  /// Everything so far survives a power cut.
  void MarkDurable() { MarkDurable(batches_.size()); }
  /// `table` was flushed: what is in it is durable, and everything before the last of it.
  void MarkDurableThrough(const std::string& table);

  /// Finds the batches that account for `content`, the rows of all versions of each table. They are
  /// the journal's new beginning, and what is returned. `killed`: written batches must be there.
  /// Errors: a Mismatch, with the nearest there is.
  Result<test::Model> Recover(const std::vector<std::vector<test::ModelRow>>& content, bool killed);

 private:
  void MarkDurable(size_t count);

  std::vector<std::string> tables_;
  test::Model base_;
  std::vector<JournalBatch> batches_;  // Since base_.
  size_t written_ = 0;                 // Of batches_.
};

}  // namespace tandem::stress
