// Merges the values of one part from several sources: collected and sorted entries, and sections of
// input files through ordinal maps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "index/cursor.h"
#include "index/part_writer.h"
#include "index/sort.h"
#include "tandem/status.h"

namespace tandem::format {

/// The ordinal map of a merge input: new ordinal by old one, or kNotCopied for a row whose entries
/// do not survive as they are (dropped, or merged with others and collected again).
inline constexpr uint32_t kNotCopied = 0xffff'ffff;

/// Distinct values in order, each with ordinals of the output. Threads: one at a time.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  /// Positions at the first value. Must be called once, before anything else.
  virtual Status Start() = 0;
  virtual Status Next() = 0;
  virtual bool valid() const = 0;
  /// Lifetime: until Next.
  virtual std::string_view key() const = 0;
  /// Appends the ordinals of the value, ascending; there may be none.
  virtual Status AppendOrdinals(std::vector<uint32_t>* out) = 0;
};

/// Requires: `entries` is sorted by SortByKey and outlives the source.
std::unique_ptr<ValueSource> NewCollectedSource(std::span<const CollectedEntry> entries);
/// Requires: `map` outlives the source.
std::unique_ptr<ValueSource> NewMappedSource(std::unique_ptr<IndexValueCursor> cursor,
                                             std::span<const uint32_t> map);

/// Adds the values of all sources, of which there is at least one, to `*out`, with the ordinals of
/// equal values merged. Appends the ordinals of all entries in their order to `*order`, if that is
/// not null.
Status MergeValues(std::span<const std::unique_ptr<ValueSource>> sources, IndexPartWriter* out,
                   std::vector<uint32_t>* order = nullptr);

}  // namespace tandem::format
