// The ranges of row keys that a transaction has read, of one table. Ranges that overlap or touch
// become one, so that many scans of the same rows take the room of one.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "index/key.h"

namespace tandem::engine {

/// Threads: one at a time.
class RangeSet {
 public:
  /// Requires: the range is not empty. Cost: the logarithm of the number of ranges, and one for
  /// each that becomes a part of it.
  void Add(format::KeyRange range);
  size_t count() const { return ends_.size(); }
  /// Ascending, disjoint.
  std::vector<format::KeyRange> ranges() const;

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> ends_;  // By the first key.
};

}  // namespace tandem::engine
