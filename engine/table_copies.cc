// Tables that go from one database to another: ExportFiles, Attach and RestoreTable.
//
// A table is read by a full scan of one database and written as a bulk load of the other
// (engine/jobs/load_linker.h), so what is written is made by this build from rows, whatever the
// files at the source are: keys are hashed by the table's own secret, entries made by its own
// indexes, and all cells have one sequence (docs/decisions/0030). The other database is opened
// inside the call, with a part of this one's memory and on its threads.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/cancellation.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/backup/checkpoint.h"
#include "engine/backup/database_view.h"
#include "engine/backup/draft_directory.h"
#include "engine/backup/recorded_files.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/jobs/load_files.h"
#include "engine/jobs/load_linker.h"
#include "engine/jobs/row_loader.h"
#include "engine/storage/files.h"
#include "engine/verify/file_hash.h"
#include "index/put_key.h"

namespace tandem::engine {

/// Members are destroyed in the right order: the engine first.
struct EngineImpl::Nested {
  std::unique_ptr<base::FileSystem> view;  ///< Of a backup.
  std::unique_ptr<EngineImpl> engine;
};

/// The rows of a table that is copied.
struct EngineImpl::TableRows {
  Cursor cursor;
  std::string path;  ///< Of the database that they are in, for errors; empty: this one.
};

namespace {

// The part of this database's memory that the other one may take in addition.
constexpr uint64_t kMemoryPart = 8;
constexpr uint64_t kNestedSegmentBytes = 1 << 20;
constexpr uint32_t kNestedFilesMin = 2;

Tuning NestedTuning(Tuning tuning) {
  tuning.memstore_bytes /= kMemoryPart;
  tuning.memstores_total_bytes /= kMemoryPart;
  tuning.block_cache_bytes /= kMemoryPart;
  tuning.cache_lent_bytes /= kMemoryPart;
  tuning.overlap_bytes /= kMemoryPart;
  tuning.read_buffer_bytes /= kMemoryPart;
  tuning.hit_bytes /= kMemoryPart;
  tuning.log_segment_bytes = std::min(tuning.log_segment_bytes, kNestedSegmentBytes);
  const uint32_t files = tuning.open_files_max - tuning.rings_max;
  tuning.open_files_max =
      tuning.rings_max + std::max<uint32_t>(files / kMemoryPart, kNestedFilesMin);
  return tuning;
}

// An error of the database at `path`; empty: of this one.
Status At(const std::string& path, const Status& status) {
  if (status.ok() || path.empty()) return status;
  return Status(status.code(), "'" + path + "': " + std::string(status.message()));
}

Status NoExport(const std::string& path, const std::string& what) {
  return Status::InvalidArgument("'" + path + "' is " + what +
                                 ", but no export, which is a closed database of one table");
}

// The files of an export are disjoint, in the order of their keys. Where they are not, they hold a
// history, or are not what ExportFiles wrote.
Status CheckDisjoint(const std::string& path, const Table& table) {
  for (const auto& region : table.regions) {
    const std::vector<FileSlice> files = region->version()->files;
    for (size_t i = 1; i < files.size(); ++i) {
      const format::StoreFile& before = files[i - 1].file->store();
      const format::StoreFile& file = files[i].file->store();
      if (before.statistics().max_key < file.statistics().min_key) continue;
      return Status::InvalidArgument("'" + path + "': " + StoreFileName(before.number()) + " and " +
                                     StoreFileName(file.number()) +
                                     " overlap, but the files of an export have no key in common");
    }
  }
  return {};
}

// All versions of all cells. `in_pieces`: rows of any size.
ReadOptions WholeTable(const Snapshot* snapshot, const std::atomic<bool>* cancelled,
                       bool in_pieces = true) {
  ReadOptions read;
  read.snapshot = snapshot;
  read.versions = UINT32_MAX;
  read.pieces = in_pieces;
  read.cancelled = cancelled;
  return read;
}

// The type that a record declares for a column, itself or by an index.
std::optional<ColumnType> DeclaredType(const format::TableRecord& table, format::FamilyId family,
                                       const std::string& qualifier) {
  const auto is_it = [&](const auto& column) {
    return column.family == family && column.qualifier == qualifier;
  };
  const bool is_declared =
      std::any_of(table.columns.begin(), table.columns.end(), is_it) ||
      std::any_of(table.indexes.begin(), table.indexes.end(), [&](const auto& index) {
        return std::ranges::any_of(index.columns, [&](const format::IndexColumnRecord& column) {
          return format::IsColumn(column, family, qualifier);
        });
      });
  if (!is_declared) return std::nullopt;
  return table.TypeOf(family, qualifier);
}

Status CheckType(const format::TableRecord& from, const format::TableRecord& to,
                 format::FamilyId family, const std::string& qualifier) {
  const format::FamilyRecord* const here = from.FindFamily(family);
  if (here == nullptr || here->dropped) return {};
  const std::string& name = here->options.name;
  const std::optional<ColumnType> theirs = DeclaredType(from, family, qualifier);
  const std::optional<ColumnType> ours = DeclaredType(to, to.FindFamily(name)->id, qualifier);
  if (!ours.has_value() || ours == theirs) return {};
  return Status::InvalidArgument(
      "column " + base::Quote(name + ":" + qualifier) + " is " +
      std::string(ColumnTypeName(*theirs)) + " in the exported table " + base::Quote(from.name) +
      " and " + std::string(ColumnTypeName(*ours)) + " in table " + base::Quote(to.name));
}

// Whether rows of `from` can be rows of `to`: families by name, types where both declare one.
Status CheckDefinitions(const format::TableRecord& from, const format::TableRecord& to) {
  for (const format::FamilyRecord& family : from.families) {
    if (family.dropped || to.FindFamily(family.options.name) != nullptr) continue;
    return Status::InvalidArgument("table " + base::Quote(to.name) + " has no family " +
                                   base::Quote(family.options.name) +
                                   ", which the exported table " + base::Quote(from.name) + " has");
  }
  if (!from.former_row_keys.empty()) {
    return Status::InvalidArgument("the exported table " + base::Quote(from.name) +
                                   " has former row keys: rewrite its keys before it is exported");
  }
  const bool has_other_keys = !from.row_key.empty() && !to.row_key.empty();
  if (has_other_keys && from.row_key != to.row_key) {
    return Status::InvalidArgument("the row keys of table " + base::Quote(from.name) + " are " +
                                   base::Quote(from.row_key) + ", those of table " +
                                   base::Quote(to.name) + " are " + base::Quote(to.row_key));
  }
  for (const format::ColumnTypeRecord& column : from.columns) {
    RETURN_IF_ERROR(CheckType(from, to, column.family, column.qualifier));
  }
  for (const format::IndexRecord& index : from.indexes) {
    for (const format::IndexColumnRecord& column : index.columns) {
      if (column.is_of_family()) continue;
      RETURN_IF_ERROR(CheckType(from, to, column.family, column.qualifier));
    }
  }
  return {};
}

// Whether the families of `from` have rising ids in `to`. Requires: CheckDefinitions.
bool HasFamiliesInOrder(const format::TableRecord& from, const format::TableRecord& to) {
  std::optional<format::FamilyId> last;
  for (const format::FamilyRecord& family : from.families) {
    if (family.dropped) continue;
    const format::FamilyId id = to.FindFamily(family.options.name)->id;
    if (last.has_value() && id < *last) return false;
    last = id;
  }
  return true;
}

// The unique indexes that may have duplicates among the rows of the table.
std::set<std::string> UncheckedOf(const format::TableRecord& table, bool all = false) {
  std::set<std::string> names;
  for (const format::IndexRecord& index : table.indexes) {
    const bool is_checked = !all && index.state == format::IndexState::kReady;
    if (index.unique && !is_checked) names.insert(index.name);
  }
  return names;
}

void AddLinked(const LoadFiles& files, TableCopy* copy) {
  copy->files = files.linked().files;
  copy->bytes = files.linked().bytes;
}

}  // namespace

Result<EngineImpl::Nested> EngineImpl::OpenNested(const std::string& path, const Options& options,
                                                  std::unique_ptr<base::FileSystem> view) {
  Environment environment = environment_;
  environment.io_note.clear();
  if (view != nullptr) environment.file_system = view.get();
  auto engine =
      std::make_unique<EngineImpl>(path, options, NestedTuning(tuning_), environment, fork_mark_);
  RETURN_IF_ERROR(engine->Start());
  return Nested{std::move(view), std::move(engine)};
}

// A database at `path`, or a backup of one in a directory of backups.
Result<EngineImpl::Nested> EngineImpl::OpenSource(const std::string& path, uint64_t backup) {
  ASSIGN_OR_RETURN(const auto directory,
                   environment_.file_system->OpenDirectory(path, /*create=*/false));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, directory->List());
  const bool is_database = std::find(names.begin(), names.end(), kRootName) != names.end();
  if (is_database && backup != 0) {
    return Status::InvalidArgument("'" + path + "' is a database and has no backup " +
                                   std::to_string(backup));
  }
  std::unique_ptr<base::FileSystem> view;
  if (!is_database) {
    const CopyTools tools{.file_system = environment_.file_system, .random = environment_.random};
    ASSIGN_OR_RETURN(view, ViewBackup(tools, path, backup));
  }
  Options options;
  options.read_only = true;
  Result<Nested> source = OpenNested(path, options, std::move(view));
  if (!source) return At(path, source.error());
  return source;
}

// Compares the files of a table with the catalog, byte by byte. One that does not agree is
// described by its own checksums too, which say where. Files that only named snapshots have are
// not read.
Status EngineImpl::VerifyFiles(format::TableId table, const std::atomic<bool>* cancelled) {
  const base::Cancellation cancellation(cancelled);
  const auto check = [&](uint64_t, std::string_view) { return cancellation.Check(); };
  Storage* const storage = database_.opened.storage.get();
  const format::Catalog catalog = storage->catalog();
  std::set<format::FileNumber> numbers;
  for (const auto& [id, region] : catalog.regions) {
    if (region.table != table) continue;
    for (const format::FileReference& reference : region.files) numbers.insert(reference.file);
  }
  for (const format::FileNumber number : numbers) {
    const format::FileRecord& record = catalog.files.at(number);
    ASSIGN_OR_RETURN(std::unique_ptr<base::File> file, storage->OpenFile(number));
    ASSIGN_OR_RETURN(const format::Hash128 found,
                     format::HashFile(file.get(), record.size_bytes, check));
    const Status mismatch = CheckHash(file->name(), record.hash, found);
    if (mismatch.ok()) continue;
    const Status located = LocateDamage(
        std::move(file), {.number = number, .size_bytes = record.size_bytes, .id = record.id});
    if (located.code() != StatusCode::kCorruption) return mismatch;
    return Status::Corruption(std::string(mismatch.message()) + "; " +
                              std::string(located.message()));
  }
  return {};
}

Result<TableOptions> EngineImpl::DefinitionOf(const ReadOptions& options, std::string_view table,
                                              format::TableRecord* record) {
  ASSIGN_OR_RETURN(const TableView view, ViewOf(options, table));
  *record = *view.table;
  TableOptions definition = OptionsOf(*view.table);
  definition.name = table;
  for (size_t i = 1; i < view.regions.size(); ++i) {
    definition.split_keys.push_back(view.regions[i]->start_key);
  }
  return definition;
}

Result<TableCopy> EngineImpl::ExportFiles(std::string_view table, const std::string& path,
                                          const ExportFilesOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  std::optional<Snapshot> latest;
  const std::shared_ptr<const Table> before = database_.regions->Find(table);
  if (options.snapshot == nullptr) {
    ASSIGN_OR_RETURN(latest, TakeSnapshot());
  }
  const Snapshot* const snapshot = latest.has_value() ? &*latest : options.snapshot;
  const ReadOptions read = WholeTable(snapshot, options.cancelled);
  format::TableRecord record;
  ASSIGN_OR_RETURN(const TableOptions definition, DefinitionOf(read, table, &record));
  // A snapshot may be older than the check of a unique index.
  const bool was_checked =
      latest.has_value() && before != nullptr && before->record->id == record.id;
  const UncheckedIndexes unchecked =
      was_checked ? UncheckedOf(*before->record) : UncheckedOf(record, /*all=*/true);
  ASSIGN_OR_RETURN(Cursor cursor, ScanStored(read, table, {}));
  TableRows rows{std::move(cursor), {}};
  DraftDirectory draft(environment_.file_system, path);
  RETURN_IF_ERROR(draft.Make(path_));
  Options nested_options;
  nested_options.create_if_missing = true;
  nested_options.functions = options_.functions;
  ASSIGN_OR_RETURN(const Nested target, OpenNested(path, nested_options, nullptr));
  ASSIGN_OR_RETURN(const TableCopy copy,
                   target.engine->LoadNewTable(definition, record, unchecked, &rows));
  bool closed = false;
  RETURN_IF_ERROR(target.engine->Close(&closed));
  draft.Keep();
  return copy;
}

Result<TableCopy> EngineImpl::Attach(std::string_view name, const std::string& path,
                                     const AttachOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  ASSIGN_OR_RETURN(const std::shared_ptr<const Table> table, FindForLoad(*database_.regions, name));
  ASSIGN_OR_RETURN(const Nested source, OpenSource(path, /*backup=*/0));
  if (source.view != nullptr) return NoExport(path, "a directory of backups");
  const RecoveredDatabase& database = source.engine->database_;
  if (!database.opened.was_closed) return NoExport(path, "a database that was not closed");
  auto tables = database.regions->tables();
  std::erase_if(tables, [](const auto& other) { return other->record->entries_of.has_value(); });
  if (tables.size() != 1) {
    return NoExport(path, "a database of " + std::to_string(tables.size()) + " tables");
  }
  RETURN_IF_ERROR(CheckDisjoint(path, *tables.front()));
  const format::TableRecord& record = *tables.front()->record;
  RETURN_IF_ERROR(CheckDefinitions(record, *table->record));
  RETURN_IF_ERROR(At(path, source.engine->VerifyFiles(record.id, options.cancelled)));
  const bool in_pieces = HasFamiliesInOrder(record, *table->record);
  ASSIGN_OR_RETURN(
      Cursor cursor,
      source.engine->Scan(WholeTable(nullptr, options.cancelled, in_pieces), record.name, {}));
  TableRows rows{std::move(cursor), path};
  return LoadTable(table, &rows);
}

Result<TableCopy> EngineImpl::RestoreTable(const std::string& path, std::string_view table,
                                           const RestoreTableOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  const std::string name(options.as.empty() ? table : options.as);
  if (database_.regions->Find(name) != nullptr) return TableExists(name);
  ASSIGN_OR_RETURN(const Nested source, OpenSource(path, options.backup));
  const ReadOptions read = WholeTable(nullptr, options.cancelled);
  format::TableRecord record;
  Result<TableOptions> definition = source.engine->DefinitionOf(read, table, &record);
  if (!definition) return At(path, definition.error());
  definition->name = name;
  const format::TableId id = source.engine->database_.regions->Find(table)->record->id;
  RETURN_IF_ERROR(At(path, source.engine->VerifyFiles(id, options.cancelled)));
  ASSIGN_OR_RETURN(Cursor cursor, source.engine->Scan(read, table, {}));
  TableRows rows{std::move(cursor), path};
  return LoadNewTable(*definition, record, UncheckedOf(record), &rows);
}

// An id that is not used after all is never given out.
Result<format::TableId> EngineImpl::ReserveTableId() {
  format::TableId id;
  CatalogEditor::Change change;
  change.prepare = [&id](const format::Catalog&, format::CatalogEdit* edit) {
    id = format::TableId(edit->counters->next_table_id++);
    return Status();
  };
  change.publish = [] {};
  change.counters_alone = true;
  RETURN_IF_ERROR(editor_->Commit(change));
  return id;
}

// An index over a function that is not registered here is copied all the same, unusable as it is.
Result<TableCopy> EngineImpl::LoadNewTable(const TableOptions& options,
                                           const format::TableRecord& source,
                                           const UncheckedIndexes& unchecked, TableRows* rows) {
  format::FunctionRegistry functions = options_.functions;
  functions.merge(format::CallsOf(source));
  ASSIGN_OR_RETURN(format::TableRecord record,
                   MakeTableRecord(options, environment_.random, functions));
  format::Resolve(options_.functions, &record);
  for (format::IndexRecord& index : record.indexes) {
    if (unchecked.contains(index.name)) index.state = format::IndexState::kBuilding;
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> starts, RegionStarts(options));
  ASSIGN_OR_RETURN(record.id, ReserveTableId());
  const auto region_of = [&starts](std::string_view key) -> Result<LoadFiles::Range> {
    const auto end = std::upper_bound(starts.begin(), starts.end(), key);
    return LoadFiles::Range{*(end - 1), end == starts.end() ? std::string() : *end};
  };
  LoadFiles files(load_work_->files, std::make_shared<const format::TableRecord>(record),
                  region_of);
  ASSIGN_OR_RETURN(TableCopy copy, LoadRows(rows, /*checks_values=*/false, &files));
  RETURN_IF_ERROR(LinkNewTable(*load_work_, starts, &files));
  if (!record.global_indexes.empty()) global_builds_->Schedule();
  AddLinked(files, &copy);
  return copy;
}

// It waits for merges as a writer does, for each load is a run more.
Result<TableCopy> EngineImpl::LoadTable(const std::shared_ptr<const Table>& table,
                                        TableRows* rows) {
  RETURN_IF_ERROR(gate_->Admit({.tables = {table}}));
  LoadFiles files(load_work_->files, table->record,
                  RegionsOfTable(*database_.regions, table->record));
  ASSIGN_OR_RETURN(TableCopy copy, LoadRows(rows, /*checks_values=*/true, &files));
  RETURN_IF_ERROR(LinkLoad(*load_work_, std::array{&files}));
  gate_->Update();
  if (HasGlobalIndexes()) global_builds_->Schedule();
  AddLinked(files, &copy);
  return copy;
}

Result<TableCopy> EngineImpl::LoadRows(TableRows* rows, bool checks_values, LoadFiles* files) {
  RowLoader loader(files, checks_values);
  while (rows->cursor.Next()) {
    const Status status = loader.Add(rows->cursor.row());
    if (status.code() == StatusCode::kCorruption) return At(rows->path, status);
    RETURN_IF_ERROR(status);
  }
  RETURN_IF_ERROR(At(rows->path, rows->cursor.status()));
  RETURN_IF_ERROR(files->Complete());
  TableCopy copy;
  copy.rows = loader.rows();
  copy.cells = loader.cells();
  return copy;
}

}  // namespace tandem::engine
