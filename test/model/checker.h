// Comparing an engine's answers with the model's. Any difference throws Failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "test/model/counters.h"
#include "tools/generator/generator.h"
#include "tools/simulation/model.h"

namespace tandem::test {

/// What is compared: an engine, perhaps at a snapshot, with the model as it was then.
struct Moment {
  engine::Engine* engine = nullptr;
  const Model* model = nullptr;
  const Snapshot* snapshot = nullptr;
  int64_t now_micros = 0;
};

/// Throws Failure with `context` unless `status` is OK.
void RequireOk(const Status& status, const std::string& context);
/// All rows of a cursor.
std::vector<ModelRow> ReadAll(Result<Cursor> cursor, const std::string& context);
/// Throws Failure with the first difference.
void RequireSameRows(const std::vector<ModelRow>& expected, const std::vector<ModelRow>& found,
                     const std::string& context);
/// Throws Failure where a store file holds a sequence above the last one: then some are given out
/// a second time.
void RequireSequences(const DatabaseInfo& info);

class Checker {
 public:
  Checker(Dice* dice, Counters* counters) : dice_(*dice), counters_(*counters) {}

  /// The whole table in both directions, and `effort` random reads and queries of each kind.
  void CheckTable(const Moment& moment, const TablePlan& plan, int effort);
  /// Some rows.
  void CheckRows(const Moment& moment, const TablePlan& plan, int count);
  /// Rows that are read together.
  void CheckManyRows(const Moment& moment, const TablePlan& plan);
  /// One query, in one random way of running it.
  void CheckQuery(const Moment& moment, const TablePlan& plan, const Predicate& predicate);
  /// One query by each index that serves the predicate or a part of it, however small the table is.
  void CheckByIndexes(const Moment& moment, const TablePlan& plan, const Predicate& predicate);
  /// The same predicate asked of all versions.
  void CheckAnyVersion(const Moment& moment, const TablePlan& plan, const Predicate& predicate);
  /// Groups by the columns of an index, in one random way of making them.
  void CheckGroups(const Moment& moment, const TablePlan& plan, const Predicate& predicate);
  /// What a query computes of a column, of an index or of the predicate, is what conditions on it
  /// find its rows by.
  void CheckExpression(const Moment& moment, const TablePlan& plan, const Predicate& columns_of);
  /// A query of a snapshot that is read page by page, forward and back and so on, while other
  /// things happen.
  struct Reading {
    Predicate predicate;
    QueryOptions query;
    std::vector<ModelRow> expected;
    std::string token;
    size_t at = 0;  ///< Of the next row in `expected`; of the last one where it goes back.
    bool goes_back = false;
  };
  Reading BeginReading(const Moment& moment, const TablePlan& plan, const Predicate& predicate);
  /// Reads the next page. Requires: the moment is that of BeginReading.
  void ReadOn(const Moment& moment, const TablePlan& plan, Reading* reading);
  /// The table as CheckTable does, in a database that was opened with other functions than those
  /// that its indexes call, of another version if `is_version`; writes to it are refused.
  void CheckWithoutCalls(const Moment& moment, const TablePlan& plan, bool is_version);
  /// Everything that each index can say about its whole column.
  void CheckCovered(const Moment& moment, const std::string& table, const Predicate& predicate,
                    const IndexOptions& index);
  void CheckIndexes(const Moment& moment, const TablePlan& plan);

 private:
  /// Throws Failure unless that is what the read finds of the row; nullptr: nothing.
  void RequireRow(const Moment& moment, const std::string& table, const std::string& key,
                  const ReadOptions& read, const RowView* row, const std::string& context);
  /// Reads the row into what another one was read into.
  void CheckPinned(const Moment& moment, const std::string& table, const std::string& key,
                   const ReadOptions& read, PinnedRow* pinned);
  /// Of the moment, perhaps bounded by time.
  ReadOptions NewRead(const Moment& moment, const TablePlan& plan);
  void CheckScan(const Moment& moment, const TablePlan& plan, const ScanOptions& scan,
                 ReadOptions read);
  /// Compares a query with parameters with the rows that were found without.
  void CheckPrepared(const Moment& moment, const std::string& table, const Predicate& predicate,
                     const QueryOptions& query, const ReadOptions& read,
                     const std::vector<ModelRow>& expected, const std::string& context);
  /// Compares the rows that come page by page, forward and backward, with those that were found.
  void CheckPages(const Moment& moment, const std::string& table, const Predicate& predicate,
                  QueryOptions query, const ReadOptions& read,
                  const std::vector<ModelRow>& expected, const std::string& context);
  void CheckCount(const Moment& moment, const TablePlan& plan, const Predicate& predicate,
                  QueryOptions query, const std::string& context);
  void CountPast(const ReadOptions& read);
  bool IsRefused(const Status& status, const QueryOptions& query);

  Dice& dice_;
  Counters& counters_;
};

}  // namespace tandem::test
