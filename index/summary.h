// The digests section of a file: for each index what its section holds, known without touching its
// leaves. The byte table is in summary.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

enum class IndexPart : uint8_t { kCurrent, kOlder };

/// Count and order-independent sum, modulo 2^128, of XXH3-128(value length u32, value, row key).
struct IndexDigest {
  uint64_t count = 0;
  Hash128 sum;
  void Add(std::string_view key, std::string_view row_key);
  void Subtract(std::string_view key, std::string_view row_key);
  void AddAll(const IndexDigest& other);
  bool operator==(const IndexDigest&) const = default;
};

/// What a section says about itself without touching its leaves.
struct IndexSummary {
  IndexId index;
  uint64_t current_entries = 0, older_entries = 0;
  uint64_t current_values = 0, older_values = 0;  ///< Distinct values.
  IndexDigest current_digest, older_digest;
};

/// The digests section of a file: one IndexSummary per index. Written after all index sections.
Status WriteSummaries(std::span<const IndexSummary> summaries, SectionWriter* out);
/// Errors: kCorruption.
Result<std::vector<IndexSummary>> ReadSummaries(const BlockFile& file,
                                                const std::vector<SectionEntry>& sections);

}  // namespace tandem::format
