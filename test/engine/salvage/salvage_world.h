// A random database whose every acknowledged write is known, and the judgement of what salvage made
// of it once it was damaged.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/salvage/salvage.h"
#include "engine/storage/catalog.h"
#include "test/engine/test_engine.h"
#include "test/support/test_random.h"

namespace tandem::test {

/// The files of a directory.
using FileContents = std::map<std::string, std::string>;

struct CellName {
  std::string row, family, qualifier;
  int64_t timestamp = 0;
  auto operator<=>(const CellName&) const = default;
};
using CellValues = std::map<CellName, std::string>;

/// A database that is filled by steps: small rows, wide ones, overflow values, several families,
/// versions, markers, regions; flushes and merges between them. Threads: one.
class SalvageWorld {
 public:
  explicit SalvageWorld(TestRandom* random);
  /// One write, flush or merge. Requires: the database is open.
  void Step();
  void Put(const std::string& row, const std::string& family, const std::string& qualifier,
           const std::string& value);
  /// So many cells of 4,000 random bytes each, "w000" and so on.
  void PutWide(const std::string& row, const std::string& family, int columns);
  void DeleteColumn(const std::string& row, const std::string& family,
                    const std::string& qualifier);
  void DeleteRow(const std::string& row);
  void Flush();
  void Compact();

  /// What a reader has to see: the newest versions that nothing hides.
  CellValues Visible() const;
  /// Whether that cell was ever acknowledged.
  bool WasWritten(const CellName& cell, const std::string& value) const;
  /// Of the operation that wrote the newest cell of that timestamp.
  uint64_t SequenceOf(int64_t timestamp) const { return sequences_.at(timestamp); }
  /// The region of a row; 0 when there is none.
  uint64_t RegionOf(const std::string& row) const;
  FileContents Files() const;
  std::string RandomBytes(size_t size);

  TestEngine engine;

 private:
  void Write(const WriteBatch& batch);

  TestRandom& random_;
  std::map<std::string, uint32_t> versions_;  // By family.
  CellValues written_;                        // That no marker hides.
  CellValues ever_;
  std::map<int64_t, uint64_t> sequences_;  // By timestamp.
  int64_t now_ = 1'000;
};

/// What `cursor` shows of table "t" of the database `path`, all versions. Requires: it opens.
CellValues CellsOf(SimulatedDisk* disk, const std::string& path);
/// The same of an open database.
CellValues CellsOf(engine::Engine* engine);

/// The catalog of the database `path`, as ROOT and manifest have it. Requires: both are good.
format::Catalog CatalogOf(SimulatedDisk* disk, const std::string& path);

/// A disk with `files` as its database "db".
std::unique_ptr<SimulatedDisk> DiskWith(const FileContents& files);

Result<engine::SalvageReport> SalvageOn(SimulatedDisk* disk, bool include_orphans = false,
                                        bool past_holes = false);

/// What is wrong with the copy "copy" on `disk`, a sentence each: a cell that was never written,
/// one that was not visible and is not reported as uncertain, one that is missing and is in no lost
/// range.
std::vector<std::string> Judge(const SalvageWorld& world, const engine::SalvageReport& report,
                               SimulatedDisk* disk);

}  // namespace tandem::test
