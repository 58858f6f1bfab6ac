// See the header.
#include "engine/salvage/schema_check.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

constexpr size_t kRangesMax = 10'000;

bool IsOneRow(const format::KeyRange& keys) { return keys.high == keys.low + '\0'; }

// Makes `range` span `other` too. No upper bound is the widest.
void Widen(const format::KeyRange& other, format::KeyRange* range) {
  range->low = std::min(range->low, other.low);
  const bool is_open = !range->high.has_value() || !other.high.has_value();
  range->high = is_open ? std::nullopt : std::optional(std::max(*range->high, *other.high));
}

}  // namespace

Status CheckFits(const format::TableRecord& table, const format::Cell& cell) {
  if (table.FindFamily(cell.family) == nullptr) {
    return Status::Corruption("family " + std::to_string(cell.family.value) +
                              " is none of the table's");
  }
  return {};
}

Status CheckSequence(format::SequenceNumber sequence, uint64_t limit) {
  if (sequence.value <= limit) return {};
  return Status::Corruption("sequence " + std::to_string(sequence.value) +
                            " is one that no database reaches");
}

void AddLostRow(LostRange row, size_t begin, std::vector<LostRange>* lost) {
  LostRange* const last = lost->size() > begin ? &lost->back() : nullptr;
  const bool is_like = last != nullptr && last->table == row.table && last->region == row.region &&
                       last->family == row.family;
  const bool is_same_row = is_like && IsOneRow(last->keys) && last->keys.low == row.keys.low;
  if (!is_same_row && (!is_like || lost->size() - begin < kRangesMax)) {
    lost->push_back(std::move(row));
    return;
  }
  if (last->columns.has_value() && row.columns.has_value()) {
    Widen(*row.columns, &*last->columns);
  } else {
    last->columns.reset();
  }
  if (is_same_row) return;
  last->rows += row.rows;
  Widen(row.keys, &last->keys);
  last->last_ordinal = row.last_ordinal;
  last->reason = "several reasons; too many ranges to list, the last one: " + row.reason;
}

}  // namespace tandem::engine
