// The parsed head block of a wide row; its byte table is in wide_row.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kFencesMax = 4096;
inline constexpr size_t kWideHeadFixedBytes = 64;
inline constexpr size_t kFenceBytes = 32;
inline constexpr uint32_t kStrideMax = 20;  ///< 2^20 * 4,096 chunks are more than u32 can number.

/// The totals of a row in its head.
struct WideRowTotals {
  uint64_t cells = 0;  ///< In chunks.
  /// Of qualifiers and values as the user wrote them, overflow values included.
  uint64_t bytes = 0;
  uint32_t chunks = 0;
  uint64_t first_chunk = 0;  ///< Offset; 0 without chunks.
};

/// A chunk and its first cell.
struct Fence {
  BlockHandle chunk;
  std::string_view qualifier;
  int64_t timestamp = 0;
  SequenceNumber sequence;
};

/// Threads: any. Lifetime: a view into the block it was parsed from.
class WideHead {
 public:
  WideHead() = default;
  /// Checks everything but the markers. `first_sequence` is that of the file (BlockPlace). Errors:
  /// kCorruption.
  static Result<WideHead> Parse(const Block& block, FamilyId family, uint64_t first_sequence);

  const WideRowTotals& totals() const { return totals_; }
  std::string_view key() const { return key_; }
  uint64_t key_hash() const { return key_hash_; }
  FamilyId family() const { return family_; }
  uint32_t marker_count() const { return marker_count_; }
  uint32_t fence_count() const { return fence_count_; }
  /// Fence i is that of chunk i << stride().
  uint32_t stride() const { return stride_; }
  /// Requires: i < fence_count().
  Fence FenceAt(uint32_t i) const;
  /// Appends the DeleteFamily markers. Errors: kCorruption.
  Status AppendFamilyDeletes(const Block& block, std::vector<Cell>* out) const;

 private:
  Status CheckFences(const Block& block) const;

  WideRowTotals totals_;
  FamilyId family_;
  uint64_t base_timestamp_ = 0;
  uint64_t base_sequence_ = 0;
  uint64_t first_sequence_ = 0;
  uint64_t key_hash_ = 0;
  uint32_t fence_count_ = 0;
  uint32_t marker_count_ = 0;
  uint32_t stride_ = 0;
  std::string_view fences_, names_, key_, markers_;
};

}  // namespace tandem::format
