// A scripted workload on a storage, and the model that says what a crash at any moment may leave of
// it. The model only believes what the storage acknowledged; an operation that failed or was under
// way may show or not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/storage/storage.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

inline constexpr const char* kDatabasePath = "db";

/// What opening a storage gave.
struct OpenedForTest {
  Status status;
  std::unique_ptr<base::RandomSource> random;
  std::unique_ptr<engine::Storage> storage;
  wal::ReplayReport replay;
  bool was_closed = false;
  format::Catalog catalog;          ///< As `begin` got it.
  std::vector<uint64_t> sequences;  ///< Of the frames, one operation each, that were replayed.
};

struct OpenForTest {
  bool create = true;
  bool read_only = false;
  uint64_t seed = 1;
  size_t former_segments_max = 2;  ///< Few, so that opens write the log into one segment.
};
OpenedForTest OpenStorage(base::FileSystem* disk, const std::string& path,
                          const OpenForTest& how = {});

/// Threads: one.
class StorageModel {
 public:
  // What was attempted, before it is tried, and what was acknowledged after it.
  void Committing(int64_t tag, const format::Catalog& result);
  void Committed(int64_t tag) { acknowledged_tag_ = tag; }
  uint64_t Appending() {
    appended_.push_back(next_sequence_);
    return next_sequence_++;
  }
  uint64_t next_sequence() const { return next_sequence_; }
  /// The frames appended since the last written one are lost to their callers.
  void Failed(uint64_t sequence);
  void Synced() { synced_ = appended_.empty() ? synced_ : appended_.back(); }
  /// Takes over what a storage, opened after a crash, found: all of it is durable from here on.
  void Recovered(const OpenedForTest& opened);
  void Wrote(format::FileNumber number, std::string content) {
    contents_[number] = std::move(content);
  }

  /// The reason why `opened` can not be what a crash left of it; empty when it can. `exact`: after
  /// a clean close everything acknowledged is there.
  std::string Contradiction(const OpenedForTest& opened, bool exact) const;
  const std::map<format::FileNumber, std::string>& contents() const { return contents_; }
  int64_t acknowledged_tag() const { return acknowledged_tag_; }

 private:
  std::string CatalogContradiction(const OpenedForTest& opened) const;
  std::string FileContradiction(const OpenedForTest& opened) const;
  std::string LogContradiction(const OpenedForTest& opened, bool exact) const;

  std::map<int64_t, std::string> states_ = {{0, std::string()}};  // Catalogs by tag.
  int64_t acknowledged_tag_ = 0;
  std::vector<uint64_t> appended_;  // Not those that failed.
  std::set<uint64_t> failed_;
  uint64_t next_sequence_ = 1;
  uint64_t synced_ = 0;
  std::map<format::FileNumber, std::string> contents_;
};

/// Runs the script. Errors of the storage are taken as a caller takes them: it goes on.
class StorageWorkload {
 public:
  StorageWorkload(engine::Storage* storage, StorageModel* model)
      : storage_(storage), model_(model) {}

  /// Table, frames, files, rolls, splits until the manifest is replaced, deletions.
  void Run();
  /// A frame, synced, and a commit: what must work again once a disk works again. Returns the first
  /// error.
  Status RunOnce();
  uint64_t errors() const { return errors_; }
  // Steps of the script.
  Status CommitTable();
  Status FlushToNewFile();
  Status Log(int frames, bool sync);

 private:
  Status Commit(const std::function<void(format::CatalogEdit*)>& fill);
  Status DropOldSegments();
  Status DropOldestFile();
  void Note(const Status& status) { errors_ += status.ok() ? 0 : 1; }

  engine::Storage* storage_;
  StorageModel* model_;
  uint64_t errors_ = 0;
};

/// The names in the directory that neither the catalog nor ROOT names, ROOT itself and the manifest
/// apart; and those named that are not there.
std::string ListingContradiction(base::FileSystem* disk, const format::Catalog& catalog);

}  // namespace tandem::test
