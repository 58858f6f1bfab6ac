// Which sealed log segments hold operations up to which sequence: a segment goes when every
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
  /// The segment takes no more; its operations, all in memstores by now, end at `last`.
  void Seal(format::FileNumber segment, format::SequenceNumber last) EXCLUDES(mutex_);
  /// The segments whose operations are all older than `oldest_needed`, oldest first.
  std::vector<format::FileNumber> Droppable(format::SequenceNumber oldest_needed) const
      EXCLUDES(mutex_);
  /// The last operation of the oldest segment that takes no more: it can go when all up to that one
  /// are in files. nullopt: there is none.
  std::optional<format::SequenceNumber> OldestEnd() const EXCLUDES(mutex_);
  /// They are gone.
  void Forget(const std::vector<format::FileNumber>& segments) EXCLUDES(mutex_);
  size_t size() const EXCLUDES(mutex_);

 private:
  struct Sealed {
    format::FileNumber number;
    format::SequenceNumber last;
  };
  mutable base::Mutex mutex_;
  std::vector<Sealed> sealed_ GUARDED_BY(mutex_);  // Oldest first; `last` never falls.
};

}  // namespace tandem::engine
