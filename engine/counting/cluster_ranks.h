// Rows of a cluster by their number in key order, without reading those before: of each file the
// rows that count there (engine/source/counted.h), or those of them that have a value of an index,
// by their ordinals, and a list of the others, which were decided on the merged row. A row is found
// by its number by searching each file for the key with a given number of rows before it in all of
// them together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/counted.h"
#include "engine/source/sources.h"
#include "index/value_ordinals.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the cluster outlives it.
class ClusterRanks {
 public:
  explicit ClusterRanks(const Cluster& cluster) : cluster_(cluster) {}

  /// Of a file, the rows with one value of an index.
  struct Value {
    format::ValueOrdinals ordinals;
    uint64_t first_number = 0;                  ///< Of its entries, by which `others` are named.
    std::shared_ptr<const RowSet> others = {};  ///< Entries that do not count; null: all do.
    std::vector<uint32_t> left_out =
        {};  ///< Ranks among `ordinals`, ascending, which do not either.
  };

  /// The rows of the cluster's next file that count, but for those at `left_out`, ascending, which
  /// need not be among them.
  void AddFile(std::shared_ptr<const CountedRows> counted, std::vector<uint32_t> left_out);
  /// Of its next file these. Errors: those of reading the list of the value.
  Status AddFile(Value value);
  /// The keys of other rows, ascending.
  void AddDecided(std::vector<std::string> keys) { decided_ = std::move(keys); }

  uint64_t count() const;
  /// The key of the row with that number, from 0. Requires: number < count(). Errors: kCorruption,
  /// kIoError. Cost: for each file the logarithm of its rows, times the number of files.
  Result<std::string> KeyOf(uint64_t number);
  /// Where the row is if the cluster has one file and nothing was decided; else nullopt.
  Result<std::optional<uint32_t>> OrdinalOf(uint64_t number);

 private:
  struct File {
    const FileSource* source = nullptr;
    std::shared_ptr<const CountedRows> counted;  // Null: `value` has those that count.
    std::vector<uint32_t> left_out;              // Though `counted` has them.
    Value value = {};
    uint32_t count = 0;

    Result<uint32_t> Rank(uint32_t ordinal);
    Result<uint32_t> At(uint32_t rank);
    uint32_t RankOfEntry(uint32_t entry) const;
  };
  Result<uint64_t> RankOf(std::string_view key);

  const Cluster& cluster_;
  std::vector<File> files_;
  std::vector<std::string> decided_;
};

}  // namespace tandem::engine
