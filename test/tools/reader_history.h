// A random history of a table that has everything that the format knows: three families with
// versions, indexes of all types, deletes of every kind, rows without some families, wide rows,
// overflow values, three regions, what snapshots kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/test_random.h"

namespace tandem::test {

/// Threads: one.
class History {
 public:
  /// Creates a database at `path` with the empty table "t". Lifetime: `random` outlives it.
  History(TestRandom* random, const std::string& path);

  /// The indexes of the table.
  static std::vector<std::string> IndexNames();
  /// Some thousand operations, with flushes and compactions between them.
  void Run();
  void Close();
  /// Leaves one file a region, without what only snapshots saw.
  void CompactAndClose();

 private:
  void AddOperation(WriteBatch* batch, int number);
  void AddDelete(WriteBatch* batch, const std::string& row, const ColumnName& column);

  TestRandom& random_;
  bool whole_family_;
  std::unique_ptr<Database> database_;
  std::vector<Snapshot> snapshots_;
  std::vector<std::string> keys_;
  std::string later_row_key_;  ///< Declared in the middle of the run; empty: none.
};

}  // namespace tandem::test
