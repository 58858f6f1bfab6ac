// When rows have got entries of unique indexes: what a writer asks that has looked for holders of
// an entry at a sequence, and commits later. One table of a fixed size serves all unique indexes of
// the database. Entries that fall on one place share it: then a writer looks again that need not
// have, but none is missed, and nothing is ever forgotten.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "format/hash.h"
#include "format/types.h"

namespace tandem::engine {

/// Threads: the commit leader.
class RecentEntries {
 public:
  /// An operation of this sequence gives a row the entry. May throw for want of memory, the first
  /// time.
  void Note(format::TableId table, format::IndexId index, std::string_view key,
            format::SequenceNumber sequence) {
    if (newest_ == nullptr) newest_ = std::make_unique<Places>();
    format::SequenceNumber& newest = (*newest_)[PlaceOf(table, index, key)];
    newest = std::max(newest, sequence);
  }
  /// False: no row has got the entry by an operation after `sequence`.
  bool MayBeNewer(format::TableId table, format::IndexId index, std::string_view key,
                  format::SequenceNumber sequence) const {
    return newest_ != nullptr && (*newest_)[PlaceOf(table, index, key)] > sequence;
  }

 private:
  // 256 KiB. A writer that meets another one's entry here looks for holders again; those of a few
  // hundred writers between look-up and commit seldom share a place.
  static constexpr size_t kPlaces = 1 << 15;
  using Places = std::array<format::SequenceNumber, kPlaces>;

  static size_t PlaceOf(format::TableId table, format::IndexId index, std::string_view key) {
    const uint64_t seed = uint64_t{table.value} << 32 | index.value;
    return format::Hash64(key, seed) % kPlaces;
  }

  std::unique_ptr<Places> newest_;
};

}  // namespace tandem::engine
