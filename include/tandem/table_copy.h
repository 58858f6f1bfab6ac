// Moving tables between databases: as directories of files, and out of backups.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace tandem {

class Snapshot;

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
