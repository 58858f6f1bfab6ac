// Writes a run: files of disjoint keys, one after the other, that count as one source. Flush and
// compaction decide when a file ends; this class creates it, opens it when it is finished, and
// deletes it if the run is abandoned.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "compaction/merge.h"
#include "engine/region/region.h"
#include "engine/region/snapshots.h"
#include "engine/region/store_files.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/storage/catalog.h"
#include "engine/storage/catalog_editor.h"
#include "store_file/writer.h"
#include "tandem/statistics.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What flush and compaction need to write files; all outlive them.
struct FileWork {
  StoreFiles* files = nullptr;
  CatalogEditor* editor = nullptr;
  SnapshotRegistry* snapshots = nullptr;
  Health* health = nullptr;
  Monitor* monitor = nullptr;
  format::DatabaseId database;
  uint32_t section_alignment = 4096;
  compaction::FileLimits limits = {};
  uint64_t join_bytes = 32 << 20;
  uint64_t merge_window_bytes = 16 << 20;
  uint64_t merge_entry_bytes = 40 << 20;
};

/// A finished file, as the catalog and as readers know it.
struct FinishedFile {
  format::FileRecord record;
  std::shared_ptr<LiveFile> file;
};

/// In key order. Empty: no row was left to write.
using FinishedRun = std::vector<FinishedFile>;

/// What a flush or a merge made of its input.
struct WrittenRun {
  FinishedRun files;
  CellCounts cells;
};

/// The size of a run, as the listener receives it.
struct RunSize {
  uint64_t files = 0, rows = 0, bytes = 0;
};
RunSize SizeOf(const FinishedRun& files);

/// Puts the files into the version at `at`, between two runs. They join the run before them if each
/// has `join_bytes` and all their keys are after those of that run: a load in key order then never
/// has a second run to merge with. Smaller ones stay runs, so that merges make them fewer.
void InsertRun(const FinishedRun& files, uint64_t join_bytes, size_t at, RegionVersion* version);
/// The same for parts of files.
void InsertRun(std::vector<FileSlice> slices, uint64_t join_bytes, size_t at,
               RegionVersion* version);
void AddFiles(const FinishedRun& files, format::CatalogEdit* edit);

/// Threads: one at a time.
class RunWriter final : public compaction::MergeOutput {
 public:
  /// Both outlive it.
  RunWriter(const FileWork& work, const Region& region)
      : work_(work), region_start_(region.start_key()), table_(region.table()) {}
  /// For files of one sequence each, which is not known yet: they are finished by Hold and
  /// FinishHeld. `work` outlives it.
  RunWriter(const FileWork& work, std::shared_ptr<const format::TableRecord> table)
      : work_(work), one_sequence_(true), table_(std::move(table)) {}
  /// Deletes the files that Take did not hand out.
  ~RunWriter() override;

  /// The expected size of the run's files together. Sections of a small run are packed closely,
  /// since the gaps between them would take a large part of the file.
  void ExpectBytes(uint64_t bytes) { expected_bytes_ = bytes; }
  /// The next files are finished without a sync and go to `files`, which outlives this: whoever has
  /// it syncs them before the catalog names them.
  void SyncLater(std::vector<std::unique_ptr<base::File>>* files) { unsynced_ = files; }
  /// Shares the work of writing the next files.
  void Share(base::Parallel* parallel) { parallel_ = parallel; }
  Result<format::StoreFileWriter*> NextFile() override;
  Status Finished(const format::StoreFileSummary& summary) override;
  /// The rows of the current file are complete: what can be written before its sequence is known is
  /// written.
  Status Hold();
  /// Finishes the files that wait for their sequence.
  Status FinishHeld(format::SequenceNumber sequence);
  /// The start key of the region that the next file is written for.
  void SetRegionStart(std::string start) { region_start_ = std::move(start); }
  /// The file that was finished last. Requires: there is one.
  const FinishedFile& last() const { return finished_.back(); }
  bool holds_files() const { return !held_.empty(); }
  const FinishedRun& finished() const { return finished_; }
  /// The files that were finished. An unfinished one is deleted.
  FinishedRun Take();

 private:
  struct OpenFile {
    format::FileNumber number;
    format::FileId id;
    std::unique_ptr<format::StoreFileWriter> writer;
  };
  Status AddFinished(const OpenFile& file, const format::StoreFileSummary& summary);
  void DiscardUnfinished();

  const FileWork& work_;
  const bool one_sequence_ = false;
  std::string region_start_;
  const std::shared_ptr<const format::TableRecord> table_;
  uint64_t expected_bytes_ = UINT64_MAX;
  base::Parallel* parallel_ = nullptr;
  std::vector<std::unique_ptr<base::File>>* unsynced_ = nullptr;  // Null: they are synced here.
  OpenFile current_;  // Its writer is there while it is open.
  std::list<OpenFile> held_;
  FinishedRun finished_;
};

}  // namespace tandem::engine
