// The writes of a transaction before it commits, as its own reads see them: memstores that stand
// above those of the regions. Scans, gets, queries and counts treat them as what they are, so own
// writes are found by index, and hide what is stored, without a case of their own.
//
// A memstore that a cursor reads takes no more writes; the next ones go into another one above it.
// So a cursor sees what was written before it began.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/commit/write_plan.h"
#include "engine/region/view.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "memstore/memstore.h"

namespace tandem::engine {

/// A copy holds the memstores as a cursor does: it keeps the writes up to now. Threads: one at a
/// time; copies, and views that it was added to, may be anywhere.
class OwnWrites {
 public:
  /// Adds the operations of a plan, which depends on no stored data. Cells without a timestamp get
  /// `timestamp`.
  void Add(const WritePlan& plan, int64_t timestamp);
  /// Adds one operation, whose cells have their timestamps.
  void Apply(const std::shared_ptr<const format::TableRecord>& table, std::string_view row,
             std::vector<format::Cell> cells);
  /// Puts the writes above what the regions of the view have.
  void AddTo(TableView* view) const;
  /// The same for one region.
  void AddTo(const format::TableRecord& table, std::shared_ptr<const RegionVersion>* region) const;
  void Clear() { tables_.clear(); }
  /// How many a table has at most.
  size_t memstores() const;

 private:
  using Memstores = std::vector<std::shared_ptr<Memstore>>;
  Memstore* Active(const std::shared_ptr<const format::TableRecord>& table);

  std::map<format::TableId, Memstores> tables_;
  uint64_t next_sequence_ = format::kFirstOwnSequence.value;
};

}  // namespace tandem::engine
