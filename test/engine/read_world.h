// A table for tests of reads, without the engine's write side: operations go to memstores and to
// the reference model, memstores are written to files, files merged and regions split when the test
// says so. Any view of it must answer as the model does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "engine/region/view.h"
#include "format/block/block_cache.h"
#include "test/support/test_random.h"
#include "tools/simulation/model.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

inline constexpr char kWorldTable[] = "t";

struct WorldOptions {
  std::vector<FamilyOptions> families;
  std::vector<IndexOptions> indexes;
  size_t cache_bytes = 1 << 20;                       ///< 0: no cache.
  uint64_t file_ids = 1;                              ///< Of the random ids and secrets.
  uint32_t chain_cells_max = engine::kChainCellsMax;  ///< Of memstores.
};

/// Threads: one.
class ReadWorld {
 public:
  explicit ReadWorld(const WorldOptions& options);

  /// Applies one operation with the next sequence; without a timestamp it gets the clock's.
  void Apply(const ModelOperation& operation);
  void Advance(int64_t micros) { now_ += micros; }
  /// Registers the current point in time.
  void TakeSnapshot() { snapshots_.push_back({sequence_, model_}); }
  void DropSnapshot(size_t which);

  size_t region_count() const { return regions_.size(); }
  size_t file_count(size_t region) const { return regions_[region]->files.size(); }
  const engine::RegionVersion& region(size_t region) const { return *regions_[region]; }
  /// Writes go to a new memstore from now on.
  void SwitchMemstore(size_t region);
  /// Writes the oldest memstore to a file, which keeps the record of its rows.
  void Flush(size_t region);
  /// Merges the files [first, first + count).
  void Merge(size_t region, size_t first, size_t count);
  /// Finds the overlaps of all files of the region that are not built yet, those of a random newer
  /// file left out once in `leaves_out_one_in` (0: never).
  void BuildOverlaps(size_t region, TestRandom* random, uint64_t leaves_out_one_in);
  /// Splits the region that holds `key` there, after flushing it.
  void Split(const std::string& key);

  struct Moment {
    uint64_t sequence = 0;
    Model model;
  };
  /// The latest point in time, then the registered ones.
  std::vector<Moment> Moments() const;
  engine::TableView View(const Moment& moment) const;
  ModelRead ReadOf() const { return {.now_micros = now_, .columns = {}}; }
  engine::ReadResources resources() {
    return {.file_system = &disk_, .overlap_memory = overlap_memory_};
  }
  SimulatedDisk& disk() { return disk_; }
  const format::TableRecord& table() const { return *table_; }
  int64_t now() const { return now_; }

 private:
  class WorldFile;

  /// Empty: the first.
  const format::FamilyRecord& FamilyOf(const std::string& name) const;
  void DeleteCell(const ModelOperation& operation, int64_t timestamp,
                  std::vector<format::Cell>* cells);
  std::shared_ptr<engine::RegionVersion> RegionOf(const std::string& row);
  std::unique_ptr<base::File> NewFile(uint64_t number, bool create);
  engine::FileSlice OpenFile(uint64_t number);
  std::vector<format::SequenceNumber> Snapshots() const;
  bool OlderMayHold(const engine::RegionVersion& region, size_t files, const std::string& key);

  const uint32_t chain_cells_max_;
  const std::shared_ptr<engine::OverlapMemory> overlap_memory_ =
      std::make_shared<engine::OverlapMemory>(64 << 20);
  SimulatedDisk disk_;
  std::unique_ptr<base::Directory> directory_;
  std::unique_ptr<format::BlockCache> cache_;
  std::shared_ptr<format::TableRecord> table_;
  std::vector<std::shared_ptr<engine::RegionVersion>> regions_;
  std::vector<std::vector<std::shared_ptr<engine::Memstore>>> memstores_;  // By region.
  const std::shared_ptr<engine::OverlapMemory> record_memory_ =
      std::make_shared<engine::OverlapMemory>(UINT64_MAX);
  Model model_;
  std::vector<Moment> snapshots_;
  uint64_t sequence_ = 0;
  uint64_t files_ = 0;
  int64_t now_ = 10;
};

/// The rows of a source as the model states them, pieces put together. Requires: no error.
std::vector<ModelRow> Drain(Result<std::unique_ptr<engine::RowSource>> source);
/// Its views. Requires: no error; a view is continued by one of the same key.
std::vector<ModelRow> DrainViews(Result<std::unique_ptr<engine::RowSource>> source);
/// The views that rows come in with ReadOptions::pieces.
std::vector<ModelRow> CutIntoPieces(const std::vector<ModelRow>& rows);

/// "a; b; c".
std::string DescribeRows(const std::vector<ModelRow>& rows);

}  // namespace tandem::test
