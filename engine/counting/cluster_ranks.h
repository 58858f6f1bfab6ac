// Rows of a cluster by their number in key order, without reading those before: of each file the
// rows that count there (engine/source/counted.h), by their ordinals, and a list of the others,
// which were decided on the merged row. A row is found by its number by searching each file for the
// key with a given number of rows before it in all of them together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/counted.h"
#include "engine/source/sources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the cluster outlives it.
class ClusterRanks {
 public:
  explicit ClusterRanks(const Cluster& cluster) : cluster_(cluster) {}

  /// The rows of the cluster's next file that count, but for those at `left_out`, ascending, which
  /// need not be among them.
  void AddFile(std::shared_ptr<const CountedRows> counted, std::vector<uint32_t> left_out);
  /// The same: exactly these, ascending.
  void AddFile(std::vector<uint32_t> ordinals);
  /// The keys of other rows, ascending.
  void AddDecided(std::vector<std::string> keys) { decided_ = std::move(keys); }

  uint64_t count() const;
  /// The key of the row with that number, from 0. Requires: number < count(). Errors: kCorruption,
  /// kIoError. Cost: for each file the logarithm of its rows, times the number of files.
  Result<std::string> KeyOf(uint64_t number) const;
  /// Where the row is if the cluster has one file and nothing was decided; else nullopt.
  std::optional<uint32_t> OrdinalOf(uint64_t number) const;

 private:
  struct File {
    const FileSource* source = nullptr;
    std::shared_ptr<const CountedRows> counted;  // Null: `ordinals` are those that count.
    std::vector<uint32_t> ordinals;  // Else: those that do not, though `counted` has them.

    uint32_t Rank(uint32_t ordinal) const;
    uint32_t count() const { return Rank(source->high); }
    uint32_t At(uint32_t rank) const;
  };
  Result<uint64_t> RankOf(std::string_view key) const;

  const Cluster& cluster_;
  std::vector<File> files_;
  std::vector<std::string> decided_;
};

}  // namespace tandem::engine
