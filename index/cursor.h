// Iterates over the distinct values of one part of an index section, in both directions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/stream_section.h"
#include "index/key.h"
#include "tandem/status.h"

namespace tandem::format {

class IndexPartReader;

/// One distinct value of a part, while iterating.
/// Lifetime: views are valid until the cursor moves.
class IndexValueCursor {
 public:
  virtual ~IndexValueCursor() = default;
  /// Positions at the first value >= `key` (Seek) or the last one < `key` (SeekBefore; nullopt: the
  /// last of all). valid() is false beyond either end.
  virtual Status Seek(std::string_view key) = 0;
  virtual Status SeekBefore(const std::optional<std::string>& key) = 0;
  virtual Status Next() = 0;
  virtual Status Previous() = 0;
  /// Passes the next values, or with `backward` those before, that have at most `entries` entries
  /// together, as far as the leaf goes, if the value where that ends is in `range`. Returns their
  /// entries; 0: it has not moved. Requires: valid(). Cost: a binary search.
  virtual Result<uint64_t> PassMany(uint64_t entries, const KeyRange& range, bool backward) = 0;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual uint32_t count() const = 0;           ///< Rows with this value.
  virtual uint64_t entries_before() const = 0;  ///< Cumulative count up to this value, exclusive.
  /// Appends the ordinals of this value, ascending.
  virtual Status AppendOrdinals(std::vector<uint32_t>* out) = 0;
  /// A prefetch hint: the first ordinal of the value `steps` ahead, if it is in memory already; it
  /// may be out of range.
  virtual std::optional<uint32_t> OrdinalAhead(uint32_t steps) const = 0;
};

/// Lifetime: `part` outlives the cursor. Threads: one at a time.
std::unique_ptr<IndexValueCursor> NewPartCursor(const IndexPartReader& part,
                                                StreamReader::Through through);

}  // namespace tandem::format
