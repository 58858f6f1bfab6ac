// A region as a description: how many rows and bytes its memstore and files have, and a sample of
// their keys (sample.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compaction/pick.h"

namespace tandem::emulator {

/// What rows take in a file: the more there are, the more neighbours have in common.
struct FileCosts {
  static constexpr double kRows = 65'536;
  double row = 0;           ///< Bytes of a row in a file of so many,
  double per_doubling = 0;  ///< and how these change when there are twice as many; mostly below 0.

  double BytesOf(double rows) const;
};

/// What a memstore takes with its rows: buffers and tables grow by steps, so many memstores become
/// full together.
class MemstoreSizes {
 public:
  MemstoreSizes() = default;
  explicit MemstoreSizes(double row_bytes) { Add(1000, 1000 * row_bytes); }
  /// A memstore of so many new rows had that size. Requires: more rows than before.
  void Add(double rows, double bytes) { points_.emplace_back(rows, bytes); }
  /// Between two points in proportion. Beyond the last twice what half as many rows take. Requires:
  /// there is a point.
  double BytesOf(double rows) const;
  /// Rows and bytes, rising.
  const std::vector<std::pair<double, double>>& points() const { return points_; }

 private:
  std::vector<std::pair<double, double>> points_;
};

/// What a row costs. Bytes; measure.h finds them.
struct RowCosts {
  double raw = 0;               ///< Row key, names and values of what is put.
  MemstoreSizes memstore = {};  ///< Of new rows,
  double again = 0;             ///< and of one that it has and that is put again.
  double log = 0;
  double file = 0;         ///< Of a file, whatever its rows.
  FileCosts flushed = {};  ///< Where sequences are kept: by flushes, and merges of newer runs.
  FileCosts merged = {};   ///< By merges with the oldest run (docs/decisions/0003).
  FileCosts index = {};    ///< Of these two, the index entries.
  double entry = 0;        ///< Of memory while a file is written: the index entries.
};

/// What is on the disk.
struct Disk {
  double bytes = 0, index_bytes = 0;
};

/// A file on the disk, which several regions may have parts of. `disk` outlives it.
class StoredFile {
 public:
  StoredFile(const Disk& size, std::string min_key, std::string max_key, Disk* disk)
      : min_key(std::move(min_key)), max_key(std::move(max_key)), size_(size), disk_(disk) {
    disk_->bytes += size_.bytes;
    disk_->index_bytes += size_.index_bytes;
  }
  ~StoredFile() {
    disk_->bytes -= size_.bytes;
    disk_->index_bytes -= size_.index_bytes;
  }
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  double bytes() const { return size_.bytes; }
  const std::string min_key, max_key;

 private:
  const Disk size_;
  Disk* disk_;
};

/// What a region has of a file.
struct FilePart {
  std::shared_ptr<const StoredFile> file = nullptr;
  std::vector<std::string> keys = {};  ///< The sample, rising.
  double rows = 0, bytes = 0;
  uint32_t run = 0;             ///< Files of a run are adjacent.
  compaction::RunAge age = {};  ///< In puts of the whole store.
};

struct ActiveMemstore {
  double puts = 0;          ///< Rows, those put again included.
  double sampled_puts = 0;  ///< Of `keys`.
  std::unordered_set<std::string> keys = {};
  std::string min_key = {}, max_key = {};
  compaction::RunAge age = {};
  double log_begin = 0;  ///< Where the log has its first put.
  double bytes = 0;

  /// The part of the puts that were of rows that it did not have.
  double NewShare() const;
  double rows() const { return puts * NewShare(); }
};

struct Region {
  std::string start;
  bool start_by_size = false;  ///< A split made it because a region was too large.
  ActiveMemstore memstore = {};
  std::vector<FilePart> files = {};  ///< Oldest run first.

  double bytes() const;  ///< Of files.
  double rows() const;   ///< In files; a row of several counts in each.
};

/// The runs of a region, as policies see them.
struct Runs {
  std::vector<compaction::RunDescription> described;
  std::vector<compaction::RunAge> ages;
  std::vector<size_t> firsts;  ///< Run i is files [firsts[i], firsts[i + 1]).
};
Runs RunsOf(const Region& region);
size_t RunCount(const Region& region);

/// Puts files into the region at `at`, between two runs; they may join the run before them
/// (docs/decisions/0019).
void InsertRun(std::vector<FilePart> files, uint64_t join_bytes, size_t at, Region* region);

/// Where the region is split: at its middle row. Empty: it cannot be.
std::string MiddleOf(const Region& region);
/// The files of the two sides. Requires: the region's memstore is empty.
struct Halves {
  Region left, right;
};
Halves SplitAt(const std::string& key, Region region);
/// Two neighbours as one: the oldest run with the oldest.
Region Join(Region left, Region right);

}  // namespace tandem::emulator
