// Copies of tables: in the same database under other row keys, while writers go on; in other ones,
// as directories of files and out of backups.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

class Snapshot;

/// Database::CopyTable.
struct CopyTableOptions {
  /// What the row keys of the copy are made of (tandem/row_key.h): the fields of the table's own.
  std::string row_key = {};
  /// What those of the table are made of, if it does not declare it.
  std::string from_row_key = {};
  /// Called when the copy has all rows, while writes of the table wait: here the program makes its
  /// writers use the copy. It must not write to the table, nor wait for a thread that does. An
  /// error ends the call.
  std::function<Status()> switch_over = {};
  /// How long writes of the table may wait, `switch_over` not counted.
  int64_t wait_micros_max = 1'000'000;
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};
/// What Database::CopyTable did.
struct CopyTableReport {
  uint64_t rows = 0, cells = 0;  ///< Of the copy, as of the table when its writes waited.
  /// The sum, modulo 2^64, of a hash of each row: its fields by name and its cells. Equal for equal
  /// rows, whatever their keys are.
  uint64_t digest = 0;
  uint32_t passes = 0;        ///< Over rows that were written meanwhile.
  uint64_t changed_rows = 0;  ///< Copied by the passes; one that two have copied counts twice.
  int64_t wait_micros = 0;    ///< For which writes waited, `switch_over` not counted.
};
/// How a table is written to a directory (Database::ExportFiles).
struct ExportFilesOptions {
  const Snapshot* snapshot = nullptr;            ///< nullptr: the latest state.
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};
/// Database::Attach.
struct AttachOptions {
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};
/// Database::RestoreTable.
struct RestoreTableOptions {
  std::string as = {};                           ///< The table's new name; empty: its own.
  uint64_t backup = 0;                           ///< Of a directory of backups; 0: the newest.
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};
/// What was copied from one database to another.
struct TableCopy {
  uint64_t rows = 0, cells = 0;
  uint64_t files = 0, bytes = 0;  ///< Store files that were written.
};

}  // namespace tandem

#pragma GCC visibility pop
