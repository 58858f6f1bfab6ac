// Facts of a row: the cells of the column are adjacent, newest first, so one pass over them, with
// the family's markers merged in by timestamp, finds the newest Put that nothing hides.
#include "index/entries.h"

#include <algorithm>

#include "format/cell/visibility.h"
#include "format/functions.h"
#include "format/value_text.h"
#include "index/key.h"
#include "index/partial.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

// The strongest markers seen so far: the one with the greatest sequence among those that reach back
// in time, and likewise among those that hide one timestamp only.
class StrongestMarkers {
 public:
  void Add(const Cell& marker) {
    if (marker.kind == CellKind::kDeleteCell) {
      const bool other_time = of_cell_ != nullptr && of_cell_->timestamp != marker.timestamp;
      if (other_time || IsNewer(marker, of_cell_)) of_cell_ = &marker;
    } else if (IsNewer(marker, reaching_back_)) {
      reaching_back_ = &marker;
    }
  }
  bool Hide(const Cell& put) const {
    return (of_cell_ != nullptr && Hides(*of_cell_, put)) ||
           (reaching_back_ != nullptr && Hides(*reaching_back_, put));
  }

 private:
  static bool IsNewer(const Cell& marker, const Cell* kept) {
    return kept == nullptr || marker.sequence > kept->sequence;
  }

  const Cell* of_cell_ = nullptr;
  const Cell* reaching_back_ = nullptr;
};

// The newest Put that no marker hides, or nullptr. Puts and markers of equal timestamp come with
// the greatest sequence first, so whatever hides a Put comes before it.
const Cell* CurrentPut(const ColumnCells& column) {
  StrongestMarkers markers;
  auto family_delete = column.family_deletes.begin();
  for (const Cell& cell : column.cells) {
    for (;
         family_delete != column.family_deletes.end() && family_delete->timestamp >= cell.timestamp;
         ++family_delete) {
      markers.Add(*family_delete);
    }
    if (cell.kind != CellKind::kPut) {
      markers.Add(cell);
    } else if (!markers.Hide(cell)) {
      return &cell;
    }
  }
  return nullptr;
}

void AddEntries(const IndexColumnRecord& column, const Cell& put, bool current, PutKeys* scratch,
                RowIndexFacts* facts) {
  const std::span<const std::string_view> keys = scratch->Of(column, put);
  for (const std::string_view key : keys) facts->entries.push_back({std::string(key), current});
  if (keys.empty() && IsHiddenFrom(column, put)) facts->complete = false;
}

// Keeps each key once, the first ones as they are: these are current, ascending and distinct.
void DropRepeatedKeys(size_t current, std::vector<IndexEntry>* entries) {
  constexpr auto less = [](const IndexEntry& a, const IndexEntry& b) { return a.key < b.key; };
  const auto rest = entries->begin() + static_cast<ptrdiff_t>(current);
  if (entries->end() - rest > 1) std::sort(rest, entries->end(), less);
  entries->erase(
      std::unique(rest, entries->end(),
                  [](const IndexEntry& a, const IndexEntry& b) { return a.key == b.key; }),
      entries->end());
  entries->erase(std::remove_if(rest, entries->end(),
                                [&](const IndexEntry& entry) {
                                  return std::binary_search(entries->begin(), rest, entry, less);
                                }),
                 entries->end());
}

bool HasHiddenPut(const IndexColumnRecord& column, const ColumnCells& found) {
  return std::any_of(found.cells.begin(), found.cells.end(), [&](const Cell& cell) {
    return cell.kind == CellKind::kPut && IsHiddenFrom(column, cell);
  });
}

// Whether a row as a file holds it may satisfy the predicate; `*is_concerned` if it has a cell or
// marker of its columns.
bool MaySatisfy(const IndexPredicate& predicate, std::span<const Cell> cells, bool* is_concerned) {
  std::vector<const Cell*> puts;
  puts.reserve(predicate.columns.size());
  for (const IndexColumnRecord& column : predicate.columns) {
    const ColumnCells found = FindColumn(column, cells);
    *is_concerned |= !found.empty();
    puts.push_back(CurrentPut(found));
  }
  return TruthOf(predicate, puts) != Truth::kFalse;
}

// Of a multi-valued column in an index that needs order: each value of the current Put has an
// entry. A row without a value has one that leaves the column out.
void AddSeveral(const IndexColumnRecord& column, const ColumnCells& found,
                std::span<const Cell* const> current, bool has_current, RowIndexFacts* facts) {
  PutKeys scratch;
  for (const Cell& put : found.cells) {
    const bool is_current = &put == current.front();
    // An older Put is joined with nothing.
    if (put.kind != CellKind::kPut || (!is_current && !column.joined.empty())) continue;
    const std::span<const std::string_view> keys = scratch.Of(column, put, current.subspan(1));
    facts->present |= !keys.empty();
    if (!has_current || !is_current) continue;
    for (const std::string_view key : keys) facts->entries.push_back({std::string(key), true});
  }
  if (!has_current || !facts->entries.empty()) return;
  std::string absent;
  AppendAbsentKey(column, &absent);
  facts->entries.push_back({std::move(absent), true});
}

// Those that hide some Put that no other one hides, in their order: usually the newest.
std::vector<Cell> StrongestOf(std::span<const Cell> family_deletes) {
  std::vector<Cell> strongest;
  for (const Cell& marker : family_deletes) {
    if (strongest.empty() || marker.sequence > strongest.back().sequence) {
      strongest.push_back(marker);
    }
  }
  return strongest;
}

// Of an index over a family: each of its columns has a current Put, or none.
void FactsOfFamily(const IndexColumnRecord& column, std::span<const Cell> cells,
                   RowIndexFacts* facts) {
  const ColumnCells found = FindColumn(column, cells);
  *facts = {};
  facts->touched = !found.empty();
  const std::vector<Cell> deletes = StrongestOf(found.family_deletes);
  std::vector<const Cell*> older;
  PutKeys scratch;
  for (auto begin = found.cells.begin(); begin != found.cells.end();) {
    const auto end = std::find_if_not(
        begin, found.cells.end(), [begin](const Cell& cell) { return SameColumn(*begin, cell); });
    const Cell* current = CurrentPut({.family_deletes = deletes, .cells = {begin, end}});
    for (auto cell = begin; cell != end; ++cell) {
      if (cell->kind != CellKind::kPut) continue;
      if (&*cell != current) {
        older.push_back(&*cell);
      } else {
        AddEntries(column, *cell, /*current=*/true, &scratch, facts);
      }
    }
    begin = end;
  }
  DropRepeatedKeys(0, &facts->entries);  // Two qualifiers may have one value.
  const size_t current_entries = facts->entries.size();
  for (const Cell* put : older) AddEntries(column, *put, /*current=*/false, &scratch, facts);
  facts->present = !facts->entries.empty();
  DropRepeatedKeys(current_entries, &facts->entries);
}

// Requires: the index is of several columns.
void FactsOfColumns(const IndexRecord& index, std::string_view row_key, std::span<const Cell> cells,
                    RowIndexFacts* facts) {
  const IndexColumnRecord& first = index.columns.front();
  const Cell row_put = RowKeyPut(row_key);
  *facts = {};
  std::vector<const Cell*> current(index.places());
  ColumnCells of_first;
  bool has_current = false;
  index.ForEachPlace([&](const IndexColumnRecord& column, size_t place) {
    const ColumnCells found = FindColumn(column, row_put, cells);
    if (place == 0) of_first = found;
    has_current |= !found.empty();
    current[place] = CurrentPut(found);
    if (place < index.columns.size()) facts->complete &= !HasHiddenPut(column, found);
  });
  facts->touched = !of_first.empty();
  std::string key, first_key;
  if (index.where.has_value()) {
    const bool may_satisfy = MaySatisfy(*index.where, cells, &has_current);
    has_current &= may_satisfy;
  }
  if (IsMultiValued(first)) return AddSeveral(first, of_first, current, has_current, facts);
  if (has_current) {
    const size_t keys = AppendEntry(index, current, &key);
    has_current = keys > 0 || !index.is_of_row_key_alone();
  }
  if (has_current) {
    facts->entries.push_back({std::move(key), true});
  }
  const JoinedPuts joined = std::span(current).subspan(index.columns.size());
  facts->present = current[0] != nullptr &&
                   AppendPutKey(first, *current[0], &first_key, joined.first(first.joined.size()));
  for (const Cell& cell : of_first.cells) {
    if (!first.joined.empty()) break;  // An older Put is joined with nothing.
    if (cell.kind != CellKind::kPut || &cell == current[0]) continue;
    key.clear();
    if (!AppendPutKey(first, cell, &key)) continue;
    facts->present = true;
    if (index.needs_order()) continue;
    if (key == first_key) continue;  // The current entry starts with it.
    for (size_t i = 1; i < index.columns.size(); ++i) AppendAbsentKey(index.columns[i], &key);
    facts->entries.push_back({std::move(key), false});
  }
  DropRepeatedKeys(has_current ? 1 : 0, &facts->entries);
}

}  // namespace

ColumnCells FindColumn(FamilyId family, std::string_view qualifier, std::span<const Cell> cells) {
  const auto begin = std::find_if(cells.begin(), cells.end(),
                                  [&](const Cell& cell) { return cell.family >= family; });
  const auto columns = std::find_if(begin, cells.end(), [&](const Cell& cell) {
    return cell.family != family || !IsFamilyDelete(cell);
  });
  const auto belongs = [&](const Cell& cell) {
    return cell.family == family && cell.qualifier == qualifier;
  };
  const auto first = std::find_if(columns, cells.end(), belongs);
  const auto end = std::find_if_not(first, cells.end(), belongs);
  return {{begin, columns}, {first, end}};
}

ColumnCells FindColumn(const IndexColumnRecord& column, std::span<const Cell> cells) {
  if (!column.is_of_family()) return FindColumn(column.family, column.qualifier, cells);
  const auto is_before = [&](const Cell& cell) { return cell.family < column.family; };
  const auto is_of_it = [&](const Cell& cell) { return cell.family == column.family; };
  const auto begin = std::partition_point(cells.begin(), cells.end(), is_before);
  const auto end = std::partition_point(begin, cells.end(), is_of_it);
  const auto columns = std::partition_point(begin, end, IsFamilyDelete);
  return {{begin, columns}, {columns, end}};
}

bool ConcernsColumn(const IndexColumnRecord& column, const Cell& cell) {
  return column.family == cell.family &&
         (IsFamilyDelete(cell) || HasPutsOf(column, cell.family, cell.qualifier));
}

void KeepIndexed(const TableRecord& table, const Cell& cell, CellBuffer* kept) {
  bool is_concerned = false, needs_value = false;
  for (const IndexRecord& index : table.indexes) {
    index.ForEachColumn([&](const IndexColumnRecord& column) {
      if (!ConcernsColumn(column, cell)) return;
      is_concerned = true;
      needs_value |= DependsOnValue(column) || !index.included.empty();
    });
    for (const IncludedColumnRecord& column : index.included) {
      if (column.family != cell.family) continue;
      if (IsFamilyDelete(cell) || column.qualifier == cell.qualifier) {
        is_concerned = needs_value = true;
      }
    }
  }
  if (!is_concerned) return;
  Cell needed = cell;
  if (!needs_value) {
    needed.value = {};
    needed.overflow_file = nullptr;
  }
  kept->Add(needed);
}

bool MayDie(const IndexRecord& index) { return !index.is_of_several(); }

bool DiesByPuts(const IndexRecord& index) {
  return MayDie(index) && !index.columns.front().is_of_family();
}

size_t AppendEntry(const IndexRecord& index, std::span<const Cell* const> puts, std::string* out) {
  size_t keys = 0;
  ForEachColumnOf(index, puts,
                  [&](const IndexColumnRecord& column, const Cell* put, JoinedPuts joined) {
                    if (put != nullptr && AppendPutKey(column, *put, out, joined)) {
                      ++keys;
                    } else {
                      AppendAbsentKey(column, out);
                    }
                  });
  return keys;
}

void FactsOfRow(const IndexRecord& index, std::string_view row_key, std::span<const Cell> cells,
                RowIndexFacts* facts) {
  if (index.is_of_several()) return FactsOfColumns(index, row_key, cells, facts);
  const IndexColumnRecord& column = index.columns.front();
  if (column.is_of_family()) return FactsOfFamily(column, cells, facts);
  const ColumnCells found = FindColumn(column, cells);
  facts->entries.clear();
  facts->touched = !found.empty();
  facts->complete = true;
  PutKeys scratch;
  const Cell* current = CurrentPut(found);
  if (current != nullptr) AddEntries(column, *current, /*current=*/true, &scratch, facts);
  const size_t current_entries = facts->entries.size();
  for (const Cell& cell : found.cells) {
    if (cell.kind != CellKind::kPut || &cell == current) continue;
    AddEntries(column, cell, /*current=*/false, &scratch, facts);
  }
  facts->present = !facts->entries.empty();
  DropRepeatedKeys(current_entries, &facts->entries);
}

bool IsCleanRow(std::span<const Cell> cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].kind != CellKind::kPut) return false;
    if (i > 0 && SameColumn(cells[i - 1], cells[i])) return false;
  }
  return !cells.empty();
}

}  // namespace tandem::format
