// The last sequence number of each sealed log segment. A segment can be dropped when every
// operation in it is in a store file.
#pragma once

#include <optional>
#include <vector>

#include "base/mutex.h"
#include "format/types.h"

namespace tandem::engine {

/// Threads: any.
class SegmentTracker {
 public:
  /// Makes room, so that the next Seal cannot fail.
  void PrepareSeal() EXCLUDES(mutex_);
  /// Adds a segment that takes no more writes. Its operations are all in memstores and end at
  /// `last`.
  void Seal(format::FileNumber segment, format::SequenceNumber last) EXCLUDES(mutex_);
  /// The segments whose operations are all older than `oldest_needed`, oldest first.
  std::vector<format::FileNumber> Droppable(format::SequenceNumber oldest_needed) const
      EXCLUDES(mutex_);
  /// The last operation of the oldest sealed segment, which can be dropped when all operations up
  /// to it are in store files. nullopt: no segment is sealed.
  std::optional<format::SequenceNumber> OldestEnd() const EXCLUDES(mutex_);
  /// Removes them from the list.
  void Forget(const std::vector<format::FileNumber>& segments) EXCLUDES(mutex_);
  size_t size() const EXCLUDES(mutex_);
  struct Sealed {
    format::FileNumber number;
    format::SequenceNumber last;  ///< The last operation in it, or in an earlier one.
  };
  /// The sealed segments, oldest first.
  std::vector<Sealed> sealed() const EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::vector<Sealed> sealed_ GUARDED_BY(mutex_);  // Oldest first; `last` never decreases.
};

}  // namespace tandem::engine
