// A batch on its way through the observers of its tables, and the list of those that are told of it
// afterwards.
//
//   1. Ask, once: each observed table of the batch in the order of the plan, each observer of it in
//      the table's order. What one of them replaces is what the next one sees; what they add stands
//      apart and comes last, seen by none.
//   2. The batch is planned again, perhaps many times. CheckTables asks each time whether the
//      tables still are, and are observed, as they were when the observers were asked.
//   3. Tell, once, after the batch is visible. It needs no memory of its own.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/batch_reader.h"
#include "engine/commit/write_plan.h"
#include "engine/runtime/monitor.h"
#include "engine/runtime/observers.h"
#include "tandem/observer.h"
#include "tandem/options.h"
#include "tandem/row.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

/// The operations of a batch by table. Lifetime: the batch's.
class BatchMutations {
 public:
  /// Those on `tables` alone.
  BatchMutations(const WriteBatch& batch, const std::set<std::string_view>& tables);
  BatchMutations(const BatchMutations&) = delete;
  BatchMutations& operator=(const BatchMutations&) = delete;
  /// Of one of the tables, in the order of the batch.
  std::span<const Mutation> Of(std::string_view table) const;

 private:
  std::list<BatchOperation> operations_;  // Hold the columns.
  std::map<std::string, std::vector<Mutation>, std::less<>> mutations_;
};

/// Threads: one at a time.
class ObservedWrite {
 public:
  using Tables = std::span<const std::shared_ptr<const Table>>;
  /// Reads a row for a hook, and keeps in mind that the batch depends on it.
  using ReadRow = std::function<Result<std::optional<Row>>(const ReadOptions&, std::string_view,
                                                           std::string_view)>;
  /// `returns_values`: the caller waits for the new values of its operations. Lifetime: `batch` and
  /// `observers` outlive it.
  ObservedWrite(const WriteBatch& batch, bool returns_values, const Observers& observers,
                ReadRow read_row);

  /// Asks the observers of `tables` about the batch. Errors: theirs; kUnsupported (one is not
  /// registered), kInvalidArgument (what it wants done with the batch).
  Status Ask(Tables tables);
  /// The batch as they have left it.
  const WriteBatch& batch() const { return batch_; }
  /// Whether `tables`, those of a new plan, are what the observers were asked about. Errors:
  /// kConflict (a table, or the list of its observers, was changed meanwhile), kUnsupported.
  Status CheckTables(Tables tables) const;
  /// Tells them that the batch was written, up to `sequence`.
  void Tell(format::SequenceNumber sequence, Monitor* monitor) const;

 private:
  class Pending;
  struct Asked {
    format::TableId id;
    std::vector<std::string> names;
    ObserverList observers;
  };
  using AskedTables = std::map<std::string, Asked, std::less<>>;

  Status AskAbout(const std::string& table, const ObserverList& observers);
  void Apply(const Pending& pending);
  void TakeApart();

  const bool returns_values_;
  const Observers& observers_;
  const ReadRow read_row_;
  WriteBatch batch_;
  WriteBatch added_;
  AskedTables asked_;                                // By name: those of the batch as it came.
  std::set<std::string, std::less<>> written_;       // Tables of the batch as it is,
  std::unique_ptr<const BatchMutations> mutations_;  // and what it has on those with observers.
};

}  // namespace tandem::engine
