// Import of records into a table: what the import verb and the demo share.
//
// Records are collected into batches; each is one atomic write, acknowledged when it is in the
// operating system's hands. When a batch is refused because of what is in it (a value that does not
// fit its index), its records are written one by one and those refused are counted as malformed. So
// the table always holds the well-formed records up to some point of the input.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "tandem/bulk_load.h"
#include "tandem/database.h"
#include "tools/tandem/context.h"
#include "tools/tandem/key_fields.h"
#include "tools/tandem/key_set.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/record_reader.h"
#include "tools/tandem/row_key_template.h"
#include "tools/tandem/version_counter.h"

namespace tandem::tools {

struct ImportJob {
  std::string table;
  std::string family;  ///< Of records that name none; empty: the table's first.
  std::string format;  ///< One of kRecordFormats.
  RowKeyTemplate row_key;
  OptionalRowKey typed_key;  ///< The table's; `row_key` goes before it.
  bool strict = false;       ///< The first malformed record ends the import.
  bool acknowledge = false;  ///< Print the count of records written after each batch.
  bool bulk = false;         ///< Into store files, all at once.
  bool compact = false;      ///< Merge the table's files at the end.
  size_t batch_rows = 500;
  std::vector<FamilyOptions> families;  ///< Of the table.
};

struct ImportSummary {
  uint64_t records = 0;   ///< Written.
  uint64_t repeated = 0;  ///< Of them: those whose row key came before.
  /// The records bring times: those of one row key are versions or pieces of a row, not duplicates.
  bool timed = false;
  uint64_t cells = 0;
  uint64_t bytes = 0;    ///< Of keys, names and values.
  uint64_t skipped = 0;  ///< Lines without a record.
  uint64_t lost = 0;     ///< Exported versions beyond what their families keep.
  uint64_t rejected = 0;
  double seconds = 0;
  uint64_t rows() const { return records - repeated; }
  uint64_t duplicates() const { return timed ? 0 : repeated; }
};

/// Threads: one at a time.
class Importer {
 public:
  /// `database` and `context` outlive the importer.
  Importer(Database* database, ImportJob job, const Context& context);

  /// Imports a whole stream. Errors: kInvalidArgument (strict, or the stream as a whole),
  /// kCancelled (Ctrl-C; what was collected is written first), and those of Database::Write.
  Status Add(InputBuffer* input);
  /// Shows the rows of a bulk load, wipes the line of progress, and merges the table's files where
  /// the job says so.
  Status Finish();
  ImportSummary summary() const;

 private:
  /// Columns of one family that are written as one operation: a range of pending_columns_.
  struct PendingOperation {
    std::string_view family;
    std::optional<int64_t> timestamp;
    size_t begin, end;
  };
  /// One collected record: a range of pending_operations_. All bytes are in kept_.
  struct Pending {
    uint64_t line;
    std::string_view key;
    size_t begin, end;
  };
  Status ReadAll(RecordReader* reader, InputBuffer* input);
  Status Take(const Record& record);
  Status MoveFromFormerKeys();
  Status TakeCells(std::span<const Cell> cells);
  void AddColumn(const ColumnValue& column);
  Status Commit();
  Status WriteCollected();
  Status CommitOneByOne();
  void AddToBatch(const Pending& record);
  bool IsNew(std::string_view key);
  void Count(const Pending& record);
  Status Reject(uint64_t line, std::string_view problem);

  Database* database_;
  ImportJob job_;
  const Context& context_;
  Progress progress_;
  ImportSummary summary_;
  KeySet keys_;
  VersionCounter versions_;
  std::string name_;  ///< Of the stream, for messages.
  std::string key_;
  bool rises_ = true;                   ///< Row keys did so far;
  std::string last_key_;                ///< the last one,
  std::deque<uint64_t> rising_hashes_;  ///< and hashes of all.
  std::optional<BulkLoad> load_;        ///< Of the job, once it has begun.
  WriteBatch batch_;
  std::vector<Pending> pending_;
  std::vector<PendingOperation> pending_operations_;
  std::vector<ColumnValue> pending_columns_;
  /// Copies of the collected records, so that a refused batch can be taken apart.
  base::Arena kept_;
};

}  // namespace tandem::tools
