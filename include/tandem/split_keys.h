// Where to cut a new table into regions (TableOptions::split_keys): from a sample of its keys, or
// without one where they begin with a hash or with the number of a partition.
//
//   auto sampler = tandem::SplitKeySampler::Create(/*regions_max=*/16);
//   for (const std::string& key : keys) {
//     if (auto status = sampler->Add(key); !status.ok()) return status;
//   }
//   auto plan = sampler->Plan(16);
//   if (!plan.has_value()) return plan.error();
//   table.split_keys = plan->keys;
//
// `tandem split-keys` does the same from the shell.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::engine {
class QuantileSketch;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

class Database;

/// Split keys, and how even the regions will be.
struct SplitPlan {
  std::vector<std::string> keys = {};  ///< Rising; each but the first region begins with one.
  /// What each region is expected to get; together 1. Empty: nothing is known.
  std::vector<double> shares = {};
  uint64_t regions_asked = 0;
  /// Why there are fewer regions than that: "3 regions instead of 4: the sample has only 3 distinct
  /// keys". Empty: there are as many.
  std::string note = {};
  // Of a plan from a sample, otherwise 0.
  uint64_t sample_keys = 0;
  /// A region has at most so much more or less of the sample, as a share of all of it. How near the
  /// sample is to the keys that will come, it does not say: where those are drawn at random, a
  /// region of 1,000 keys of the sample is off by 3 % of itself (one standard error).
  double error_share = 0;
  uint64_t distinct = 0;  ///< Keys that the sketch tells apart.
  bool weighted = false;  ///< Keys of the sample had weights other than 1.

  size_t regions() const { return keys.size() + 1; }
};

/// How much of a table SplitKeySampler::AddTable takes.
struct TableSampleOptions {
  uint64_t rows_max = 100'000;  ///< About the number of keys that are taken; at least 1.
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};

/// Finds split keys from a sample of any size, in little memory, by a quantile sketch: Greenwald
/// and Khanna, "Space-efficient online computation of quantile summaries" (SIGMOD 2001), in batches
/// (Luo, Wang, Yi and Cormode, "Quantiles over data streams", VLDB Journal 2016), with weights. Its
/// error is a bound, not a chance, whatever the keys and their order: a 32nd of a region, at most
/// 1/10,000 and at least 1/1,048,576 of the sample. Move-only. Threads: one at a time.
///
/// Memory: about 1.5 / error entries of 56 bytes and, if it is longer than 15 bytes, the key. Of
/// keys of 24 bytes that is 2 MiB for up to 312 regions and 26 MiB for 4,096; at times it is twice
/// as much. Where keys come in the middle of the former ones all the time, 1 / error entries more
/// with each doubling. A sampler that throws std::bad_alloc may only be assigned to or destroyed.
class SplitKeySampler {
 public:
  /// `regions_max`: the most regions that Plan will be asked for. Errors: kInvalidArgument (0, or
  /// more than kSplitPlanRegionsMax).
  static Result<SplitKeySampler> Create(uint64_t regions_max);
  SplitKeySampler(SplitKeySampler&&) noexcept;
  SplitKeySampler& operator=(SplitKeySampler&&) noexcept;
  ~SplitKeySampler();

  /// Adds a key, which may come again, as if it came `weight` times. Weights may be of any unit:
  /// rows, bytes, or writes a second. Errors (nothing is added): kInvalidArgument (the key is empty
  /// or longer than kRowKeyBytesMax; the weight is 0; all weights together pass 2^62).
  Status Add(std::string_view key, uint64_t weight = 1);
  /// Adds row keys of a table, each with the weight of the rows that it is taken for: all keys of a
  /// table of up to rows_max rows, otherwise each n-th, in key order as of one point in time, so
  /// that error_share grows by n rows at most. Where n is large, rows between two keys are passed
  /// over as by ScanOptions::offset; otherwise all are read, at the cost of a scan. Rows that
  /// several files have count as several when n is chosen, so that fewer keys may be taken. Errors
  /// (some keys may have been added): kNotFound (table), kInvalidArgument (rows_max is 0),
  /// kCancelled; those of Add, of Database::Info and of Database::Scan and its cursor.
  Status AddTable(Database* database, std::string_view table,
                  const TableSampleOptions& options = {});

  /// Cuts what was added into `regions` of about the same weight; more keys may follow. Each split
  /// key is one that was added, and not the first, so no region is empty of the sample. Equal keys
  /// stay together: one that outweighs a region gets one alone, and the others share the rest.
  /// Where fewer distinct keys were added than regions are asked for, there are fewer regions
  /// (SplitPlan::note). Errors: kInvalidArgument (`regions` is 0 or more than regions_max; fewer
  /// keys were added, repeated ones counted, than regions are asked for).
  Result<SplitPlan> Plan(uint64_t regions);

  uint64_t keys() const;    ///< That were added, repeated ones counted.
  uint64_t weight() const;  ///< Of these together.
  size_t memory_bytes() const;

 private:
  SplitKeySampler(std::unique_ptr<engine::QuantileSketch> sketch, uint64_t regions_max);

  std::unique_ptr<engine::QuantileSketch> sketch_;
  uint64_t regions_max_;
  uint64_t passed_over_ = 0;  ///< By AddTable, between two keys that it took.
};

/// Keys that begin with `width` digits, all as likely: of a hash, most of all.
struct HashSpace {
  enum class Digits : uint8_t {
    kHex,       ///< 0-9a-f
    kUpperHex,  ///< 0-9A-F
    kDecimal,   ///< 0-9
    kBytes,     ///< Every byte is a digit: as hash(F, N) of tandem/row_key.h, with width N.
  };
  Digits digits = Digits::kHex;
  uint64_t width = 8;
};
/// Cuts a space evenly: region i of n begins at its key number floor(i * keys / n), from 0 on.
/// Errors: kInvalidArgument (`regions` is 0 or more than kSplitPlanRegionsMax; the width is 0, or
/// the space has more than 2^64 keys, or fewer keys than regions).
Result<SplitPlan> EvenSplitKeys(const HashSpace& space, uint64_t regions);

/// Keys that begin with the number of their partition, 0 to `partitions` - 1, and where
/// `sub_partitions` > 1, that of their part of it, 0 to `sub_partitions` - 1.
struct PartitionSpace {
  uint64_t partitions = 1;
  uint64_t sub_partitions = 1;  ///< Of each partition.
  /// Each number is one byte up to 256 numbers, otherwise two, big-endian: as salt(N) and
  /// mod(F, N, M) of tandem/row_key.h. Off: decimal digits, as many as the largest needs.
  bool in_bytes = false;
};
/// Makes each part a region. Errors: kInvalidArgument (a number is 0; there are more than
/// kSplitPlanRegionsMax parts).
Result<SplitPlan> PartitionSplitKeys(const PartitionSpace& space);

}  // namespace tandem

#pragma GCC visibility pop
