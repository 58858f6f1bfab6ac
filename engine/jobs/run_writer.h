// Writes a run: files of disjoint keys, one after the other, that count as one source. Flush and
// compaction decide when a file ends; this class creates it, opens it when it is finished, and
// deletes it if the run is abandoned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compaction/merge.h"
#include "engine/region/region.h"
#include "engine/region/snapshots.h"
#include "engine/region/store_files.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/storage/catalog.h"
#include "engine/storage/catalog_editor.h"
#include "store_file/writer.h"
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

/// The size of a run, as the listener receives it.
struct RunSize {
  uint64_t files = 0, rows = 0, bytes = 0;
};
RunSize SizeOf(const FinishedRun& files);

/// Puts the files into the version at `at`, between two runs. They join the run before them if each
/// has `join_bytes` and all their keys are after those of that run: a load in key order then never
/// has a second run to merge with. Smaller ones stay runs, so that merges make them fewer.
void InsertRun(const FinishedRun& files, uint64_t join_bytes, size_t at, RegionVersion* version);
void AddFiles(const FinishedRun& files, format::CatalogEdit* edit);

/// Threads: one at a time.
class RunWriter final : public compaction::MergeOutput {
 public:
  /// Both outlive it.
  RunWriter(const FileWork& work, const Region& region)
      : work_(work), region_(region), table_(region.table()) {}
  /// Deletes the files that Take did not hand out.
  ~RunWriter() override;

  /// The expected size of the run's files together. Sections of a small run are packed closely,
  /// since the gaps between them would take a large part of the file.
  void ExpectBytes(uint64_t bytes) { expected_bytes_ = bytes; }
  Result<format::StoreFileWriter*> NextFile() override;
  Status Finished(const format::StoreFileSummary& summary) override;
  /// The file that was finished last. Requires: there is one.
  const FinishedFile& last() const { return finished_.back(); }
  /// The files that were finished. An unfinished one is deleted.
  FinishedRun Take();

 private:
  void DiscardUnfinished();

  const FileWork& work_;
  const Region& region_;
  const std::shared_ptr<const format::TableRecord> table_;
  uint64_t expected_bytes_ = UINT64_MAX;
  format::FileNumber number_;  // Of the file that writer_ writes.
  format::FileId id_;
  std::optional<format::StoreFileWriter> writer_;
  FinishedRun finished_;
};

}  // namespace tandem::engine
