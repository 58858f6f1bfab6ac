// Cutting the keys of a read into parts that cost about the same, one after the other as they are
// asked for: nothing is done for parts that a read does not come to.
//
// Each source gives borders that a number of its rows lie between: separators of its block index,
// so that no block is read, or rows of the memstore. The parts end at the borders of all sources,
// so none of them has more than that many rows of any source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/predicate/key_ranges.h"
#include "engine/source/read_resources.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// About what a part has of a source.
struct PartSize {
  uint64_t rows = 0, bytes = 0;

  /// Of a read with such parts.
  static PartSize Of(const ReadResources& resources);
};

/// Rows of the file that are a part.
uint64_t RowsOfPart(const PartSize& size, const FileSource& source);

/// About how many parts the rows of the clusters are; a result that is not below `enough` may be
/// too small. Cost: a step for each file, and for each row in memory until there are enough.
uint64_t PartsIn(std::span<const Cluster> clusters, const PartSize& size, uint64_t enough);

/// Threads: one at a time. Lifetime: the clusters outlive it.
class KeyParts {
 public:
  /// The clusters as FindClusters found them. `reverse`: from the last key on.
  KeyParts(std::span<const Cluster> clusters, bool reverse, const PartSize& size);
  ~KeyParts();
  KeyParts(const KeyParts&) = delete;
  KeyParts& operator=(const KeyParts&) = delete;

  /// The keys of the next part, which ascend; empty at the end. Errors: kCorruption, kIoError.
  Result<KeyRanges> Next();

 private:
  class Borders;

  std::span<const Cluster> TakeRange();
  Status OpenRange();
  Result<bool> CutRange(KeyRanges* part);

  std::span<const Cluster> left_;  // In no range that was opened.
  const bool reverse_;
  const PartSize size_;
  std::optional<format::KeyRange> range_;  // What is left of the one that is open,
  uint64_t range_rows_ = 0;                // and about its rows as a whole.
  std::vector<std::unique_ptr<Borders>> borders_;
};

}  // namespace tandem::engine
