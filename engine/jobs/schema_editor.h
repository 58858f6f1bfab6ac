// Dropping, truncating and renaming tables. Each is one edit of the catalog, made by the commit
// leader, so that every operation is before it or after it.
//
// Steps (a crash may come after each):
//   1. The log is synced: what was written before the edit is durable before the edit is. A program
//      that copies rows to another table and then drops the first one loses none.
//   2. One edit removes the table, its regions and its files, but those that a named snapshot has
//      (region/named_snapshots.h); truncating adds an empty table of the
//      same record under a new id in the same edit, renaming puts the record again. Table ids are
//      never given out twice: a replay skips the operations of ids that the catalog lacks.
//   3. Still the commit leader takes the table from the readers' sight and retires its regions.
//      Batches that were planned before are planned again. Flushes and merges that run find their
//      region retired, and delete what they wrote.
//   4. Files and memstores go with their last reader: a cursor has pinned them, and for snapshots
//      the SchemaHistory keeps them.
//
// Indexes, types of columns and families change by one edit as well. Readers go on with the record
// that they have; what a file or a memstore has of an index is asked there. So nothing waits, and
// the log need not be synced: an operation is right before the edit and after it.
//
// But where cells go, with a family that is dropped or by fewer versions or a shorter time to live,
// the log is synced first, and the SchemaHistory keeps what the regions had: merges leave the cells
// out from then on. A reader that found the former record pins regions after that only if the table
// still has that record; else it looks again.
//
// A change of limits that leaves former ones (format::FormerLimits) flushes the table first, as a
// named snapshot does: memstores have nothing from before it, and trees of hot rows may forget what
// they replace. It has a sequence of its own. Its time is taken while no other edit is made: what
// a merge left out before had expired by then. A merge that has the former record fails to install
// and begins again.
//
// If an edit that takes rows, cells or a name fails, it may be on disk all the same. Until the
// manifest is certain again nothing is committed (CommitQueue::NoteDoubt): a crash would take it
// away with the table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/commit/applier.h"
#include "engine/commit/commit_queue.h"
#include "engine/jobs/compactor.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/flushed_regions.h"
#include "engine/region/region_set.h"
#include "engine/region/schema_history.h"
#include "engine/region/snapshots.h"
#include "engine/runtime/health.h"
#include "engine/runtime/time_source.h"
#include "engine/storage/catalog_editor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class SchemaEditor {
 public:
  /// All outlive it.
  struct Dependencies {
    RegionSet* regions = nullptr;
    SchemaHistory* history = nullptr;
    CatalogEditor* editor = nullptr;
    CommitQueue* queue = nullptr;
    GroupApplier* applier = nullptr;
    Flusher* flusher = nullptr;
    Compactor* compactor = nullptr;
    Health* health = nullptr;
    SnapshotRegistry* snapshots = nullptr;
    TimeSource* time = nullptr;
    /// Makes the whole log durable. Threads: the commit leader.
    std::function<Status()> sync_log;
    /// Makes what a new region needs for its background work.
    std::function<void(Region&)> prepare;
    /// The record of a table with the entries of a global index (engine/create_table.h).
    std::function<format::TableRecord(const format::TableRecord&, const format::GlobalIndexRecord&)>
        entries_record;
    /// The region has no rows any more. Threads: the commit leader.
    std::function<void(Region&)> memstore_changed;
    /// Memory is free, and perhaps segments of the log are.
    std::function<void()> removed;
    /// The table has other indexes or families. Threads: the commit leader.
    std::function<void(const Table&)> record_changed;
  };
  explicit SchemaEditor(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  /// Adds tables to `*edit` and `*addition` for the entries of those global indexes of the record
  /// that have none, and names them in the record. Requires: it has its id.
  void AddEntries(format::TableRecord* table, format::CatalogEdit* edit,
                  RegionSet::Addition* addition) const;
  /// A table whose global indexes are built anew: each gets an empty table for its entries, and
  /// serves when these are complete.
  struct Rebuild {
    std::shared_ptr<const Table> table;  ///< With the record that says so. nullptr: there is none.
    RegionSet::Addition entries, shown;
  };
  /// Adds what rebuilds the global indexes of the table to another's edit. Errors:
  /// kInvalidArgument (ids of indexes are used up). Threads: the commit leader.
  Result<Rebuild> PrepareRebuild(const Table& table, format::CatalogEdit* edit) const;
  /// Shows it. Reads at later sequences than those that may be read before do not use the indexes.
  /// Allocates nothing. Threads: the commit leader.
  void ShowRebuild(Rebuild rebuild) const;
  /// Drops tables that have the entries of indexes which no table has any more. One that cannot be
  /// dropped now is dropped by a later call.
  void DropEntriesOfNone();

  /// See Database. Errors: those of it.
  Status Drop(std::string_view table);
  Status Truncate(std::string_view table);
  /// Requires: `to` is a valid name.
  Status Rename(std::string_view from, const std::string& to);
  /// Changes the record of a table but for its id and name. `change` fails or leaves a valid
  /// record, which shows no cell that the one before did not show. Errors: kNotFound (the table),
  /// those of `change`.
  Status Change(std::string_view table, const std::function<Status(format::TableRecord*)>& change);

  /// The place of a change that leaves former limits.
  struct Place {
    format::SequenceNumber sequence = {};  ///< Its own, which no operation has.
    int64_t now_micros = 0;  ///< Not below that of any flush or merge whose files are there.
    /// No operation in files of the table is before it; kSequenceMax: they hold none.
    format::SequenceNumber oldest_in_files = {};
  };
  using PlacedChange = std::function<Status(const Place&, format::TableRecord*)>;
  /// As Change, when the table's files hold exactly the operations so far. Merges that began before
  /// the change begin again. `change` is called twice with the same record, first to see whether it
  /// fails.
  Status ChangeFlushed(const FlushWork& work, const std::string& table, const PlacedChange& change);

 private:
  enum class Successor : uint8_t { kNone, kEmptyTable };
  struct Removal;

  bool HasEntriesOfNone(const format::TableRecord& table) const;
  Status Remove(Removal* removal);
  Status RemoveAlone(Removal* removal);
  void PrepareRemoval(const format::Catalog& catalog, format::CatalogEdit* edit, Removal* removal);
  void PublishRemoval(Removal* removal);
  struct NewRecord;
  Status ReplaceRecord(NewRecord* change);
  Status RenameAlone(std::string_view from, const std::string& to);
  Status ChangeAlone(std::string_view name,
                     const std::function<Status(format::TableRecord*)>& change);
  Status ChangeFlushedAlone(const std::string& name, const PlacedChange& change);
  Status Finish(NewRecord* replacement);
  /// Threads: the commit leader.
  Status Commit(const CatalogEditor::Change& change);

  const Dependencies deps_;
};

}  // namespace tandem::engine
