// The threads of one read (docs/decisions/0059).
//
// The parts of the read are cut off one after the other, each by the thread that reads it. The
// caller takes them in order. What it has to wait for otherwise it reads itself; so it depends on
// no other thread, and where none helps it reads part after part as it would alone.
//
// A part that is read ahead is held until the caller comes to it. A part with more rows than may be
// held is left where it is, and the caller goes on with it.
//
// Each part is read through a context of its own: one view, but reads and scratch memory apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/memory_account.h"
#include "base/mutex.h"
#include "engine/parallel/parted_read.h"
#include "tandem/row.h"

namespace tandem::engine {

/// Rows that wait to be returned: a batch that has all it refers to, or one row.
struct HeldRows {
  std::unique_ptr<format::RowBatch> batch;
  std::optional<Row> row;
  std::string entry;       ///< See RowSource::entry.
  bool continues = false;  ///< The row has more pieces.
};

/// A part while it is read. Threads: the one that reads it, then the caller.
struct PartInWork {
  std::unique_ptr<ReadPart> part;
  std::unique_ptr<ReadContext> context;  ///< Null: none is needed, or none any more.
  std::unique_ptr<RowSource> source;  ///< What is not held; null: it is not opened, or all is held.
  std::vector<HeldRows> held;
  uint64_t count = 0;
  ReadCounters counters;     ///< Of its context, once it has that no more.
  uint64_t passed_over = 0;  ///< Of its rows, by the caller.
  bool is_opened = false;
  bool is_running = true;  ///< Guarded by the readers.
  Status status;           ///< Comes after what is held.
  base::MemoryCharge charge;
};

/// Threads: the caller's, one at a time.
class PartReaders {
 public:
  struct Work {
    std::unique_ptr<PartedRead> read;
    const ReadContext* context = nullptr;  ///< To be copied; outlives the readers, unchanged.
    uint32_t threads = 1;                  ///< That may read, the caller's included.
    uint32_t alone = 1;                    ///< Parts that the caller reads before others help.
    uint32_t taken = 1;  ///< Parts that the caller has at a time; of several all are held.
    bool counts = false;                   ///< Rows are counted and not held.
    PartFold* fold = nullptr;  ///< Takes the rows instead; outlives the readers. Null: none.
  };

  explicit PartReaders(Work work);
  /// Waits for the other threads, which stop at the next row.
  ~PartReaders();
  PartReaders(const PartReaders&) = delete;
  PartReaders& operator=(const PartReaders&) = delete;

  /// The next part in order; null at the end. It is read, or in part, or not opened. Errors:
  /// kCorruption, kIoError, kCancelled, kOutOfMemory; every later call returns the same.
  Result<std::unique_ptr<PartInWork>> Take();
  /// Opens the part for the caller. Errors: those of ReadPart::Open.
  Status Open(PartInWork* part);
  /// Counts it for the caller. Errors: those of ReadPart::Count.
  Result<uint64_t> Count(PartInWork* part);
  /// Gives the rows of the part to the fold, if no other thread has. Errors: those of
  /// ReadPart::Open and PartFold::Take.
  Status Fold(PartInWork* part);
  /// The caller is done with the part.
  void Return(std::unique_ptr<PartInWork> part);

 private:
  class Shared;
  const std::shared_ptr<Shared> shared_;  // With the jobs.
  std::vector<std::shared_ptr<base::Job>> jobs_;
  uint32_t taken_ = 0;

  void GetHelp();
};

/// A read of fewer parts is done before another thread has begun.
inline constexpr uint64_t kPartsMin = 4;
/// How many threads a read in `parts` parts may have, of those that were asked for.
uint32_t ThreadsFor(const ReadContext& context, uint32_t asked, uint64_t parts);

}  // namespace tandem::engine
