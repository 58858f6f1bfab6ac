// The state of a Transaction. What it holds of the database is shared with the list of open
// handles, so that it can be cut off: when the database goes away, or when the transaction has been
// open for too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/open_handles.h"
#include "engine/transaction/dependent_writes.h"
#include "engine/transaction/own_writes.h"
#include "engine/transaction/range_set.h"
#include "tandem/limits.h"
#include "tandem/options.h"
#include "tandem/status.h"
#include "tandem/transaction.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

class Engine;

/// Threads: one at a time.
struct TransactionState {
  explicit TransactionState(std::shared_ptr<OpenHandles> open_handles)
      : handles(std::move(open_handles)) {}
  ~TransactionState() { End(); }
  TransactionState(const TransactionState&) = delete;
  TransactionState& operator=(const TransactionState&) = delete;
  /// A transaction whose calls go to `engine`, which outlives it or is closed before.
  static Result<Transaction> Begin(Engine* engine, const TransactionOptions& options = {});
  /// Releases what it holds of the database. Does nothing the second time.
  void End();
  size_t operation_count() const;
  /// Rows and ranges whose reads are checked, and operations written.
  size_t noted_count() const;
  /// Errors: kOverBudget (kTransactionRowsMax).
  Status CheckRoomFor(size_t more) const;
  WriteBatch AllWrites() const;

  using RowName = std::pair<std::string, std::string>;  ///< Table and key.

  const std::shared_ptr<OpenHandles> handles;
  Engine* engine = nullptr;
  std::shared_ptr<OpenTransaction> open;  ///< Null: it has ended.
  std::shared_ptr<OwnWrites> own;
  OwnTimestamp timestamp;
  /// Whose reads are checked; true: for update.
  std::map<RowName, bool> rows_read;
  bool validates_ranges = false;                             ///< As TransactionOptions,
  std::map<std::string, RangeSet, std::less<>> ranges_read;  ///< and what was read then, by table.
  /// What was written, by savepoint: those before the first one, then after each.
  std::vector<WriteBatch> writes = std::vector<WriteBatch>(1);
  bool own_is_stale = false;  ///< `own` has to be made from `writes` again.
};

inline void TransactionState::End() {
  if (open != nullptr) handles->EndTransaction(open);
  open.reset();
  own.reset();
  rows_read.clear();
  ranges_read.clear();
  writes.clear();
}

inline size_t TransactionState::operation_count() const {
  size_t count = 0;
  for (const WriteBatch& part : writes) count += part.operation_count();
  return count;
}

inline size_t TransactionState::noted_count() const {
  size_t count = rows_read.size() + operation_count();
  for (const auto& [table, ranges] : ranges_read) count += ranges.count();
  return count;
}

inline Status TransactionState::CheckRoomFor(size_t more) const {
  if (noted_count() + more <= kTransactionRowsMax) return {};
  return Status::OverBudget("a transaction reads and writes at most " +
                            std::to_string(kTransactionRowsMax) + " rows");
}

inline WriteBatch TransactionState::AllWrites() const {
  WriteBatch all;
  for (const WriteBatch& part : writes) all.Add(part);
  return all;
}

}  // namespace tandem::engine
