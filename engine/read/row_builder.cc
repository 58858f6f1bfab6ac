// From gathered cells to the row that is returned.
#include "engine/read/row_builder.h"

#include <algorithm>
#include <iterator>

#include "format/cell/visibility.h"
#include "format/row/wide_row.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr size_t kUsualCells = 8;
// Cells of a family in memstore trees; a row with more is streamed.
constexpr size_t kTreeCellsMax = 4096;

}  // namespace

RowBuilder::RowBuilder(const ReadSchema& schema, ReadCounters* counters)
    : schema_(schema),
      counters_(counters),
      decodes_all_families_(schema.merged.families().size() == schema.table->families.size()),
      may_merge_puts_(schema.ShowsNewestPuts()) {}

void RowBuilder::Reserve() {
  gathered_.reserve(kUsualCells);
  returned_.reserve(kUsualCells);
}

void RowBuilder::Append(const MemRow* row) {
  const auto first = static_cast<ptrdiff_t>(gathered_.size());
  uint64_t looked_at = 0;
  const RowTreeView tree =
      Memstore::RecentCells(row, schema_.point.sequence, &gathered_, &looked_at);
  if (tree.root != nullptr) trees_.Add(tree);
  if (counters_ != nullptr) counters_->memstore_cells += looked_at;
  if (!decodes_all_families_) {
    const auto unwanted = std::remove_if(
        gathered_.begin() + first, gathered_.end(),
        [this](const format::Cell& cell) { return !schema_.DecodesFamily(cell.family); });
    gathered_.erase(unwanted, gathered_.end());
  }
  // Sorted like the cells of files, so that Merge merges sorted parts.
  format::SortCells(std::span(gathered_).subspan(static_cast<size_t>(first)));
  AddRun(static_cast<size_t>(first));
}

bool RowBuilder::GatherPuts(const MemRow* row, format::FamilyId family) {
  if (!shows_newest_puts()) return false;
  Begin();
  Append(row);
  return trees_.empty() && std::ranges::all_of(gathered_, [family](const format::Cell& cell) {
           return cell.family == family && cell.kind == format::CellKind::kPut;
         });
}

// The cells from `first` on are sorted. The families of a file come one after the other and are one
// run.
void RowBuilder::AddRun(size_t first) {
  if (first == gathered_.size() || first != sorted_cells_) return;
  sorted_cells_ = gathered_.size();
  if (runs_ > 0 && format::CellLess(gathered_[first - 1], gathered_[first])) return;
  if (++runs_ == 2) second_run_ = first;
}

void RowBuilder::BeginAfterPartial() {
  is_partial_ = is_large_ = false;
  pins_.clear();
  trees_.Clear();
}

Status RowBuilder::AppendWide(const format::DataSection& data, const format::RowBlockRef& rows) {
  is_partial_ = true;
  const ColumnSet::Family* returned = schema_.returned.Find(data.family());
  is_large_ |= returned != nullptr && returned->all;
  const ColumnSet::Family* named = schema_.named.Find(data.family());
  if (named == nullptr) return {};
  return format::AppendWideColumns(data.blocks(), rows, named->qualifiers, &gathered_, &pins_);
}

void RowBuilder::Merge() {
  merged_.clear();
  has_one_version_ = shows_newest_puts() && MergePuts();
  if (!has_one_version_) {
    if (!trees_.empty()) MergeTrees();
    Sort();
    merged_.clear();
    format::VisibleCells(gathered_, schema_.table->families, schema_.point, &merged_);
  }
  visible_ = merged_;
}

// Merges the newest Put of each column of two sources: the usual row that a memstore updates.
// False: it is another one.
bool RowBuilder::MergePuts() {
  if (runs_ != 2 || sorted_cells_ != gathered_.size() || is_partial_ || !trees_.empty())
    return false;
  const auto second = gathered_.begin() + static_cast<ptrdiff_t>(second_run_);
  auto left = gathered_.begin(), right = second;
  while (left != second || right != gathered_.end()) {
    const bool is_right = left == second || (right != gathered_.end() && CellLess(*right, *left));
    const format::Cell& cell = *(is_right ? right++ : left++);
    const bool is_put = cell.kind == format::CellKind::kPut;
    if (!is_put || !format::IsSeenAt(cell.sequence, schema_.point.sequence)) return false;
    if (merged_.empty() || !format::SameColumn(merged_.back(), cell)) merged_.push_back(cell);
  }
  return true;
}

void RowBuilder::MergeTrees() {
  trees_.RemoveHidden(&gathered_);
  for (const ColumnSet::Family& family : schema_.merged.families()) {
    if (GatherFromTrees(family, kTreeCellsMax)) continue;
    is_partial_ = true;
    const ColumnSet::Family* returned = schema_.returned.Find(family.id);
    is_large_ |= returned != nullptr && returned->all;
    const ColumnSet::Family* named = schema_.named.Find(family.id);
    if (named != nullptr) GatherFromTrees(*named, SIZE_MAX);
  }
  if (counters_ != nullptr) counters_->memstore_cells += trees_.looked_at();
}

// Returns false and gathers nothing if the columns are a whole family that shows more than
// `cells_max` cells.
bool RowBuilder::GatherFromTrees(const ColumnSet::Family& columns, size_t cells_max) {
  const uint32_t versions = schema_.point.older_decide ? UINT32_MAX : schema_.versions;
  const VersionsWanted wanted{schema_.table.get(), schema_.point, versions};
  const size_t before = gathered_.size();
  for (size_t tree = 0; tree < trees_.count(); ++tree) {
    TreeColumns source(&trees_, tree, wanted, &columns);
    while (source.Next(&gathered_)) {
      if (!columns.all || gathered_.size() - before <= cells_max) continue;
      gathered_.resize(before);
      return false;
    }
  }
  return true;
}

// Sorts the gathered cells, which come source by source. Usually there are two sources, and one
// pass merges them.
void RowBuilder::Sort() {
  const auto second = std::is_sorted_until(gathered_.begin(), gathered_.end(), format::CellLess);
  if (second == gathered_.end()) return;
  if (!std::is_sorted(second, gathered_.end(), format::CellLess)) {
    return format::SortCells(gathered_);
  }
  sorted_.clear();
  std::merge(gathered_.begin(), second, second, gathered_.end(), std::back_inserter(sorted_),
             format::CellLess);
  gathered_.swap(sorted_);
}

bool RowBuilder::returns_cells() {
  return std::any_of(visible_.begin(), visible_.end(),
                     [this](const format::Cell& cell) { return IsReturned(cell); });
}

template <typename Use>
void RowBuilder::ForEachReturned(Use&& use) {
  if (has_one_version_) {
    for (const format::Cell& cell : visible_) {
      if (IsReturned(cell)) use(cell);
    }
    return;
  }
  const format::Cell* previous = nullptr;
  uint32_t versions = 0;  // Of the current column so far.
  bool is_returned = true;
  for (const format::Cell& cell : visible_) {
    if (previous != nullptr && format::SameColumn(*previous, cell)) {
      ++versions;
    } else {
      versions = 1;
      is_returned = IsReturned(cell);
    }
    previous = &cell;
    if (is_returned && versions <= schema_.versions) use(cell);
  }
}

void RowBuilder::FindFamily(format::FamilyId id) {
  for (const format::FamilyRecord& record : schema_.table->families) {
    if (record.id == id) family_ = &record;
  }
}

inline Cell RowBuilder::ToReturned(const format::Cell& cell) {
  if (family_ == nullptr || family_->id != cell.family) FindFamily(cell.family);
  has_overflow_values_ |= cell.is_overflow();
  returned_bytes_ += cell.qualifier.size() + cell.value.size();
  return {family_->options.name, cell.qualifier, cell.timestamp, cell.value};
}

RowView RowBuilder::Project(std::string_view key) {
  returned_bytes_ = 0;
  has_overflow_values_ = false;
  if (has_one_version_ && schema_.returns_all) {  // The common case: no cell is tested.
    returned_.resize(visible_.size());
    for (size_t i = 0; i < visible_.size(); ++i) returned_[i] = ToReturned(visible_[i]);
  } else {
    returned_.clear();
    ForEachReturned([this](const format::Cell& cell) { returned_.push_back(ToReturned(cell)); });
  }
  return {key, returned_};
}

bool RowBuilder::AddTo(std::string_view key, format::RowBatch* batch) {
  if (is_partial_) return false;
  returned_bytes_ = 0;
  has_overflow_values_ = false;
  batch->Begin(key);
  for (const format::RowBlockRef& block : blocks_) batch->Pin(block);
  ForEachReturned([&](const format::Cell& cell) { batch->AppendCell(ToReturned(cell)); });
  const bool fits = !has_overflow_values_ && returned_bytes_ <= kRowPieceBytes;
  return batch->End(/*is_plain=*/fits, /*needs_cells=*/false);
}

std::vector<format::Cell> RowBuilder::ReturnedCells() {
  std::vector<format::Cell> cells;
  ForEachReturned([&cells](const format::Cell& cell) { cells.push_back(cell); });
  return cells;
}

bool RowBuilder::IsReturned(const format::Cell& cell) {
  if (schema_.returns_all) return true;
  if (returned_columns_ == nullptr || returned_columns_->id != cell.family) {
    returned_columns_ = schema_.returned.Find(cell.family);
  }
  return returned_columns_ != nullptr && returned_columns_->Contains(cell.qualifier);
}

}  // namespace tandem::engine
