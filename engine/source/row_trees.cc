// Newer sources decide whether a Put of a tree is hidden: recent cells are scanned, since they are
// few, and newer trees are searched. A cell that hides it usually hides the rest of its column too,
// or counts in its place.
#include "engine/source/row_trees.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

constexpr int64_t kNoTimestamp = std::numeric_limits<int64_t>::min();

Shadow ShadowOfCell(const format::Cell& newer, const format::Cell& put) {
  if (newer.family != put.family) return Shadow::kNone;
  const bool covers = newer.timestamp >= put.timestamp;
  if (newer.kind == format::CellKind::kDeleteFamily) {
    return covers ? Shadow::kRest : Shadow::kNone;
  }
  if (newer.qualifier != put.qualifier) return Shadow::kNone;
  if (newer.kind == format::CellKind::kDeleteColumn) {
    return covers ? Shadow::kRest : Shadow::kNone;
  }
  if (newer.timestamp != put.timestamp) return Shadow::kNone;
  return newer.kind == format::CellKind::kPut ? Shadow::kReplaced : Shadow::kDeleted;
}

// Puts at or below it are too old for the read.
int64_t OldestWanted(const format::FamilyRecord* family, const format::ReadPoint& point) {
  int64_t floor = point.since == kNoTimestamp ? kNoTimestamp : point.since - 1;
  if (family == nullptr) return floor;
  return std::max(floor, family->ExpiredThrough(point.now_micros).value_or(floor));
}

}  // namespace

void RowTrees::Clear() {
  trees_.clear();
  recent_.clear();
  looked_at_ = 0;
}

void RowTrees::Add(RowTreeView tree) {
  const auto older = std::find_if(trees_.begin(), trees_.end(),
                                  [&](const Tree& other) { return other.view.last < tree.last; });
  trees_.insert(older,
                {.view = tree, .is_known = false, .family = {}, .qualifier = {}, .shadow = {}});
}

void RowTrees::RemoveHidden(std::vector<format::Cell>* cells) {
  for (const format::Cell& cell : *cells) {
    if (cell.sequence > trees_.back().view.last) recent_.push_back(cell);
  }
  // An operation hides none of its own Puts.
  std::sort(recent_.begin(), recent_.end(), [](const format::Cell& a, const format::Cell& b) {
    return a.sequence != b.sequence ? a.sequence > b.sequence : a.kind < b.kind;
  });
  std::vector<format::Cell> kept;
  kept.reserve(cells->size());
  for (const format::Cell& cell : *cells) Keep(cell, &kept);
  cells->swap(kept);
}

void RowTrees::Keep(const format::Cell& cell, std::vector<format::Cell>* kept) const {
  for (Tree& tree : trees_) {
    // Those that follow are older too.
    if (cell.kind != format::CellKind::kPut || tree.view.last < cell.sequence) break;
    const Shadow shadow = ShadowOn(&tree, cell);
    if (shadow == Shadow::kNone) continue;
    if (shadow == Shadow::kRest || cell.sequence >= last_limits_) return;
    if (shadow == Shadow::kReplaced) continue;
    const auto place = RowTreePlace::OfVersions(cell.family, cell.qualifier, cell.timestamp);
    kept->push_back(ToCell(*FindCell(tree.view.root, place, &looked_at_)));
    break;
  }
  kept->push_back(cell);
}

// The shadow that the tree casts on an older Put.
Shadow RowTrees::ShadowOn(Tree* tree, const format::Cell& put) const {
  if (!tree->is_known || tree->family != put.family || tree->qualifier != put.qualifier) {
    tree->shadow = ShadowOnColumn(tree->view.root, put.family, put.qualifier, &looked_at_);
    tree->family = put.family;
    tree->qualifier = put.qualifier;
    tree->is_known = true;
  }
  const ColumnShadow& shadow = tree->shadow;
  if (shadow.deleted_through.has_value() && *shadow.deleted_through >= put.timestamp) {
    return Shadow::kRest;
  }
  if (!shadow.has_cells) return Shadow::kNone;
  const auto place = RowTreePlace::OfVersions(put.family, put.qualifier, put.timestamp);
  const MemCell* same = FindCell(tree->view.root, place, &looked_at_);
  if (same == nullptr || Compare(place, *same) != 0) return Shadow::kNone;
  return same->is_put() ? Shadow::kReplaced : Shadow::kDeleted;
}

// Of cells at the Put's own timestamp the newest decides: the recent ones are sorted, newest first,
// and those of a memstore come before its tree.
Shadow RowTrees::ShadowOf(size_t tree, const format::Cell& put) const {
  Shadow shadow = Shadow::kNone;
  size_t recent = 0;
  for (size_t newer = 0; newer <= tree; ++newer) {
    for (; recent < recent_.size() && recent_[recent].sequence > trees_[newer].view.last;
         ++recent) {
      const Shadow here = ShadowOfCell(recent_[recent], put);
      if (here == Shadow::kRest) return here;
      if (shadow == Shadow::kNone) shadow = here;
    }
    if (newer == tree) return shadow;
    const Shadow here = ShadowOn(&trees_[newer], put);
    if (here == Shadow::kRest) return here;
    if (shadow == Shadow::kNone) shadow = here;
  }
  return shadow;
}

// The largest timestamp of a newer DeleteFamily marker.
int64_t RowTrees::FamilyDeletedThrough(size_t tree, format::FamilyId family) const {
  int64_t through = kNoTimestamp;
  for (size_t newer = 0; newer < tree; ++newer) {
    through = std::max(through,
                       engine::FamilyDeletedThrough(trees_[newer].view.root, family, &looked_at_));
  }
  for (const format::Cell& cell : recent_) {
    const bool deletes = cell.kind == format::CellKind::kDeleteFamily && cell.family == family;
    if (deletes && cell.sequence > trees_[tree].view.last)
      through = std::max(through, cell.timestamp);
  }
  return through;
}

const MemCell* RowTrees::PutAt(const format::Cell& column, int64_t timestamp) const {
  const auto place = RowTreePlace::OfVersions(column.family, column.qualifier, timestamp);
  for (size_t tree = 0; tree < trees_.size(); ++tree) {
    const MemCell* cell = FindCell(trees_[tree].view.root, place, &looked_at_);
    if (cell == nullptr || Compare(place, *cell) != 0) continue;
    // What an older tree has at that timestamp is hidden by this cell.
    const bool shows = cell->is_put() && ShadowOf(tree, ToCell(*cell)) == Shadow::kNone;
    return shows ? cell : nullptr;
  }
  return nullptr;
}

uint64_t RowTrees::CountPuts(const format::Cell& column) const {
  uint64_t puts = 0;
  for (const Tree& tree : trees_) {
    puts += engine::CountPuts(tree.view.root, column.family, column.qualifier);
  }
  return puts;
}

uint64_t RowTrees::CountBytes() const {
  uint64_t bytes = 0;
  for (const Tree& tree : trees_) {
    RowTreeCursor cursor(tree.view.root);
    for (cursor.Seek({}); cursor.cell() != nullptr; cursor.Next()) {
      bytes += cursor.cell()->qualifier_bytes + cursor.cell()->value_bytes;
    }
  }
  return bytes;
}

TreeColumns::TreeColumns(const RowTrees* trees, size_t tree, const VersionsWanted& wanted,
                         const ColumnSet::Family* family)
    : trees_(trees),
      tree_(tree),
      family_(family),
      versions_(wanted.versions),
      as_of_(wanted.point.as_of),
      cursor_(RowTreeCursor::OverPuts(trees->trees_[tree].view.root)) {
  const format::FamilyRecord* record = wanted.table->FindFamily(family->id);
  kept_ = record == nullptr ? std::numeric_limits<uint32_t>::max() : record->options.max_versions;
  floor_ =
      std::max(OldestWanted(record, wanted.point), trees->FamilyDeletedThrough(tree, family->id));
  cursor_.SetFloor(floor_);
}

TreeColumns::~TreeColumns() { trees_->looked_at_ += cursor_.looked_at(); }

bool TreeColumns::Next(std::vector<format::Cell>* out) {
  if (!family_->all) {
    if (next_ == family_->qualifiers.size()) return false;
    const std::string_view qualifier = family_->qualifiers[next_++];
    cursor_.Seek(RowTreePlace::OfVersions(family_->id, qualifier));
    Append(qualifier, out);
    return true;
  }
  if (!std::exchange(has_begun_, true)) cursor_.Seek(RowTreePlace::OfColumns(family_->id));
  const MemCell* cell = cursor_.cell();
  if (cell == nullptr || cell->family != family_->id.value) return false;
  const std::string_view qualifier = cell->qualifier();
  Append(qualifier, out);
  if (IsAt(qualifier)) cursor_.Seek(RowTreePlace::AfterColumn(family_->id, qualifier));
  return true;
}

bool TreeColumns::IsAt(std::string_view qualifier) const {
  const MemCell* cell = cursor_.cell();
  return cell != nullptr && cell->family == family_->id.value && cell->qualifier() == qualifier;
}

// Requires: the cursor is at the first version that is asked for, or past the column.
void TreeColumns::Append(std::string_view qualifier, std::vector<format::Cell>* out) {
  // Versions after as_of count towards the kept versions, unless the family keeps every version.
  const bool skips = kept_ == std::numeric_limits<uint32_t>::max() && IsAt(qualifier) &&
                     cursor_.cell()->timestamp > as_of_;
  if (skips) cursor_.Seek(RowTreePlace::OfVersions(family_->id, qualifier, as_of_));
  uint32_t seen = 0, shown = 0;
  for (; IsAt(qualifier) && seen < kept_ && shown < versions_; cursor_.Next()) {
    const format::Cell put = ToCell(*cursor_.cell());
    if (put.timestamp <= floor_ && floor_ != kNoTimestamp) return;
    const Shadow shadow = trees_->ShadowOf(tree_, put);
    if (shadow == Shadow::kRest) return;
    if (shadow == Shadow::kDeleted) continue;
    if (shadow == Shadow::kNone) out->push_back(put);
    ++seen;
    if (put.timestamp <= as_of_) ++shown;
  }
}

namespace {

class TreeStream final : public format::CellStream {
 public:
  TreeStream(std::shared_ptr<const RowTrees> trees, size_t tree, const VersionsWanted& wanted,
             const ColumnSet& columns)
      : trees_(std::move(trees)), tree_(tree), wanted_(wanted), columns_(columns) {}

  Result<bool> Next() override {
    constexpr size_t kPieceCells = 64;
    cells_.clear();
    while (cells_.size() < kPieceCells) {
      if (!family_.has_value()) {
        if (next_ == columns_.families().size()) break;
        family_.emplace(trees_.get(), tree_, wanted_, &columns_.families()[next_++]);
      }
      if (!family_->Next(&cells_)) family_.reset();
    }
    return !cells_.empty();
  }

 private:
  const std::shared_ptr<const RowTrees> trees_;
  const size_t tree_;
  const VersionsWanted wanted_;
  const ColumnSet& columns_;
  size_t next_ = 0;  // Of the families.
  std::optional<TreeColumns> family_;
};

class ShadowedStream final : public format::CellStream {
 public:
  ShadowedStream(std::shared_ptr<const RowTrees> trees, std::unique_ptr<format::CellStream> source)
      : trees_(std::move(trees)), source_(std::move(source)) {}

  Result<bool> Next() override {
    do {
      ASSIGN_OR_RETURN(const bool more, source_->Next());
      cells_.clear();
      pin_ = source_->pin();
      if (!more) return false;
      for (const format::Cell& cell : source_->cells()) trees_->Keep(cell, &cells_);
    } while (cells_.empty());
    return true;
  }

 private:
  const std::shared_ptr<const RowTrees> trees_;
  const std::unique_ptr<format::CellStream> source_;
};

}  // namespace

std::unique_ptr<format::CellStream> NewTreeStream(std::shared_ptr<const RowTrees> trees,
                                                  size_t tree, const VersionsWanted& wanted,
                                                  const ColumnSet& columns) {
  return std::make_unique<TreeStream>(std::move(trees), tree, wanted, columns);
}

std::unique_ptr<format::CellStream> NewShadowedStream(std::shared_ptr<const RowTrees> trees,
                                                      std::unique_ptr<format::CellStream> source) {
  return std::make_unique<ShadowedStream>(std::move(trees), std::move(source));
}

}  // namespace tandem::engine
