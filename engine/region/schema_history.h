// What reads of older points in time need of tables that were dropped, truncated or renamed since.
// (Other changes of a table's record leave its rows and its name: they need nothing.)
//
// A snapshot, and a scan that pins its regions one after the other, pin the schema as well: the
// number of changes so far. A change of a table's name or rows leaves here what the table was,
// while an older pin lives. So such a reader finishes on what it began with, and the files and
// memstores of a dropped table go with the last pin that is older than the drop.
//
// The changes are counted by the RegionSet, where they show. So a pin is never older than what a
// read before it has found there, and a change that is added but does not show yet is younger than
// every pin.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_gate.h"
#include "base/mutex.h"
#include "engine/region/region_set.h"
#include "engine/region/view.h"
#include "format/types.h"

namespace tandem::engine {

/// A table whose rows a change of the schema took, as it was before.
struct FormerTable {
  std::shared_ptr<const Table> table;
  std::vector<std::shared_ptr<const RegionVersion>> versions;  ///< Of its regions, in their order.
};

/// Threads: any. Held by shared_ptr: pins keep it alive.
class SchemaHistory : public std::enable_shared_from_this<SchemaHistory> {
 public:
  /// `regions` outlives End.
  explicit SchemaHistory(const RegionSet* regions) : regions_(*regions) {}

  /// Keeps what later changes take away.
  class Pin {
   public:
    explicit Pin(std::shared_ptr<SchemaHistory> history);
    ~Pin() { history_->Release(number_); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    /// The changes that showed when it was taken.
    uint64_t number() const { return number_; }

   private:
    const std::shared_ptr<SchemaHistory> history_;
    uint64_t number_ = 0;
  };
  /// Requires: before End.
  std::shared_ptr<const Pin> PinNow() EXCLUDES(mutex_);
  /// Of the last change that was added.
  uint64_t number() const EXCLUDES(mutex_);

  struct Change {
    format::TableId table;
    std::string name;                           ///< Of the table before the change.
    std::string renamed;                        ///< And after it; empty: the change took its rows.
    std::shared_ptr<const FormerTable> former;  ///< Unless it was renamed.
    uint64_t number = 0;                        ///< Set by Add.
  };
  /// Adds a list of one change, the next that shows in the RegionSet. Allocates nothing. Threads:
  /// the commit leader, which commits no operation until after Shown.
  void Add(std::list<Change> change) EXCLUDES(mutex_);
  /// What was added shows there. Releases it if no pin needs it.
  void Shown() EXCLUDES(mutex_);

  /// What a name meant before the changes that are younger than a pin.
  struct Found {
    bool is_changed = false;                    ///< It meant something else than now.
    std::shared_ptr<const FormerTable> former;  ///< A table whose rows a change took, or
    std::optional<format::TableId> renamed;     ///< one that has another name now, or none.
    uint64_t number = 0;                        ///< As number(): what was looked at.
  };
  Found Find(const Pin& pin, std::string_view name) const EXCLUDES(mutex_);

  /// Releases everything, and waits for releases that are under way. Pins may live on.
  void End() EXCLUDES(mutex_);

 private:
  void Release(uint64_t number) EXCLUDES(mutex_);
  std::list<Change> TakeUnpinned() REQUIRES(mutex_);

  const RegionSet& regions_;
  Gate releases_;
  mutable base::Mutex mutex_;
  uint64_t number_ GUARDED_BY(mutex_) = 0;
  std::multiset<uint64_t> pinned_ GUARDED_BY(mutex_);
  std::list<Change> changes_ GUARDED_BY(mutex_);  // Oldest first; each is younger than some pin.
};

}  // namespace tandem::engine
