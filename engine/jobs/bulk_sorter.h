// Sorts the rows of a bulk load that come in any order: an external merge sort (Knuth, TAOCP volume
// 3, 5.4.1), by row key and then in the order of arrival.
//
//   1. Operations are kept in memory as they are encoded. When they take their share, they are
//      sorted and written to a file of frames, a run.
//   2. When there are as many runs of one level as can be merged at once, they become one run of
//      the next level. So each operation is written once a level, and runs stay few.
//   3. At the end all runs are merged into what takes the sorted rows. If everything is still in
//      memory, no file is written.
//
// Its files are numbered as store files are, and no edit of the catalog names them: what a crash
// leaves is removed when the database is opened.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "engine/region/store_files.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// Threads: one at a time.
class BulkSorter {
 public:
  /// Takes sorted operations.
  using Sink = std::function<Status(wal::BatchEncoder batch)>;

  /// Sorts in about `memory_bytes`. `files` outlives it.
  BulkSorter(StoreFiles* files, uint64_t memory_bytes);
  /// Deletes its files.
  ~BulkSorter();
  BulkSorter(const BulkSorter&) = delete;
  BulkSorter& operator=(const BulkSorter&) = delete;

  /// Errors: kIoError, kNoSpace. After an error it must not be used.
  Status Add(wal::BatchEncoder batch);
  /// Hands all operations to `sink`, and ends. Errors: as Add; kCorruption (a file does not read
  /// back as it was written); those of `sink`.
  Status Finish(const Sink& sink);

 private:
  class Run;
  class RunReader;
  /// An operation in memory.
  struct Entry {
    uint64_t head = 0;  ///< Of its key, without what all keys begin with.
    const char* key = nullptr;
    const char* begin = nullptr;
    uint32_t size = 0;
    uint32_t key_size = 0;
    std::string_view key_view() const { return {key, key_size}; }
  };

  void Sort();
  Status PassEntries(const Sink& sink);
  void Forget();
  Status WriteRun();
  Status MergeLevels();
  Status Merge(std::list<Run>::iterator first, const Sink& sink);

  StoreFiles* const files_;
  const uint64_t memory_bytes_;
  std::list<wal::BatchEncoder> batches_;
  std::vector<Entry> entries_;  // In the order of arrival until they are sorted.
  uint64_t bytes_ = 0;          // Of batches_ and entries_.
  size_t common_bytes_ = 0;     // That all keys begin with.
  base::MemoryCharge charge_;
  std::list<Run> runs_;  // In the order of arrival; levels fall.
};

}  // namespace tandem::engine
