// The tables of an open database and their regions: found by name or id, routed to by key.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/region/region.h"
#include "engine/storage/catalog.h"
#include "format/registry/registered.h"
#include "format/schema.h"
#include "index/key.h"

namespace tandem::engine {

/// A table with its regions by start key, which tile the key space. Immutable.
struct Table {
  std::shared_ptr<const format::TableRecord> record;
  std::vector<std::shared_ptr<Region>> regions;  ///< By start key; they tile the key space.
  /// Regions that were split or merged. Background tasks may still refer to them.
  std::vector<std::shared_ptr<Region>> retired = {};

  /// The region that holds `row`.
  Region& RegionOf(std::string_view row) const { return *regions[PlaceOf(row)]; }
  /// The regions that hold keys from `first` to `last` (nullopt: the last key); at least one.
  std::span<const std::shared_ptr<Region>> RegionsOf(std::string_view first,
                                                     std::optional<std::string_view> last) const;
  /// The first regions, or the last ones, that hold keys of `ranges`, which are ascending and
  /// disjoint: one to `count`. Requires: no range is empty, `count` is not 0.
  std::vector<std::shared_ptr<Region>> RegionsOf(std::span<const format::KeyRange> ranges,
                                                 size_t count, bool from_end) const;
  /// All of them.
  std::vector<std::shared_ptr<Region>> RegionsOf(std::span<const format::KeyRange> ranges) const {
    return RegionsOf(ranges, regions.size(), /*from_end=*/false);
  }
  /// The regions that hold these rows, by start key.
  std::vector<std::shared_ptr<Region>> RegionsOfEach(std::span<const std::string_view> rows) const;
  /// The place in `regions` of the one that holds `row`.
  size_t PlaceOf(std::string_view row) const;
};

/// Adds up the memstores of regions, neighbours one after the other. One that several share counts
/// once.
class MemstoreSum {
 public:
  void Add(const RegionVersion& region);
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  std::unordered_set<const Memstore*> waiting_;
  const Memstore* active_ = nullptr;  // Of the region before, which may be about to be merged.
};

/// Threads: any.
class RegionSet {
 public:
  /// `account` (may be null) counts the memstores and outlives them; `chain_cells_max` is passed to
  /// them. Tables call `functions`, which outlive it; null: there are none.
  explicit RegionSet(base::MemoryAccount* account = nullptr,
                     uint32_t chain_cells_max = kChainCellsMax,
                     const format::FunctionRegistry* functions = nullptr);

  /// A table that is ready to be added: adding it cannot fail.
  struct Addition {
    std::map<format::TableId, std::shared_ptr<const Table>> by_id;
    std::map<std::string, std::shared_ptr<const Table>, std::less<>> by_name;
  };
  /// Makes a table with empty regions, with the record resolved (format/registry/registered.h).
  /// Requires: `regions` tile the key space.
  Addition Prepare(const format::TableRecord& table,
                   std::vector<format::RegionRecord> regions) const;
  /// Allocates nothing.
  void Add(Addition addition) EXCLUDES(mutex_);
  void Add(const format::TableRecord& table, std::vector<format::RegionRecord> regions)
      EXCLUDES(mutex_) {
    Add(Prepare(table, std::move(regions)));
  }

  /// The table with the regions `after` in the place of `before`, which are retired in it.
  /// Requires: both, by start key, tile the same keys; `before` are neighbours in the table.
  static std::shared_ptr<const Table> With(const Table& table,
                                           std::span<const std::shared_ptr<Region>> before,
                                           std::span<const std::shared_ptr<Region>> after);
  /// An empty region of the table.
  std::shared_ptr<Region> NewRegion(const format::RegionRecord& record,
                                    std::shared_ptr<const format::TableRecord> table) const;
  /// Shows `table` in the place of the one with its id and name. Allocates nothing.
  void Replace(std::shared_ptr<const Table> table) EXCLUDES(mutex_);
  /// Removes the table of the id and adds `addition`, which may be empty or have its name.
  /// Allocates nothing.
  void Exchange(format::TableId removed, Addition addition) EXCLUDES(mutex_);
  /// Shows the table in `changed`, which holds it alone, in the place of the one with its id: it
  /// has another record, and perhaps another name. Requires: no other table has its name. Allocates
  /// nothing.
  void Change(Addition changed) EXCLUDES(mutex_);
  /// How often Exchange and Change were called. What was found by a name is still what the name
  /// means if this is what it was before. Only the commit leader changes it, together with what
  /// Find returns: it counts a change that was found.
  uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  /// Counts a change that is not of names: what was planned before is planned again. Threads: the
  /// commit leader.
  void CountChange() { changes_.fetch_add(1, std::memory_order_release); }

  /// nullptr when there is none. One that has the entries of a global index is found by its id
  /// alone.
  std::shared_ptr<const Table> Find(std::string_view name) const EXCLUDES(mutex_);
  std::shared_ptr<const Table> Find(format::TableId id) const EXCLUDES(mutex_);
  /// All, by id.
  std::vector<std::shared_ptr<const Table>> tables() const EXCLUDES(mutex_);
  std::vector<std::shared_ptr<Region>> regions() const EXCLUDES(mutex_);

  const format::FunctionRegistry& functions() const { return functions_; }

  /// Bytes of all memstores of all regions.
  uint64_t memstore_bytes() const EXCLUDES(mutex_);
  /// The oldest operation that is not in a file yet; kSequenceMax when there is none.
  format::SequenceNumber oldest_unflushed() const EXCLUDES(mutex_);

 private:
  base::MemoryAccount* const account_;
  const uint32_t chain_cells_max_;
  const format::FunctionRegistry& functions_;
  mutable base::Mutex mutex_;
  std::map<format::TableId, std::shared_ptr<const Table>> by_id_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> by_name_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> changes_{0};  // Release; changed under mutex_.
};

/// kNotFound "table 'NAME' does not exist".
Status TableNotFound(std::string_view name);
/// kAlreadyExists "table 'NAME' exists already".
Status TableExists(std::string_view name);

}  // namespace tandem::engine
