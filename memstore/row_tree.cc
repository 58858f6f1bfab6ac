// Look-ups in a tree.
#include "memstore/row_tree.h"

#include <algorithm>

namespace tandem::engine {
namespace {

using Group = RowTreePlace::Group;
using Section = RowTreePlace::Section;

constexpr int64_t kNoTimestamp = std::numeric_limits<int64_t>::min();

bool IsOfColumn(const MemCell* cell, format::FamilyId family, std::string_view qualifier) {
  return cell != nullptr && cell->family == family.value && !cell->is_family_delete() &&
         cell->qualifier() == qualifier;
}

}  // namespace

// If the last two jumps have the same length, the new one spans both; otherwise it leads to the
// tree before. So jumps of every length are found on the way back, and any tree is a logarithmic
// number of steps away.
const MemCell* JumpAfter(const MemCell* tree) {
  const auto back = [](const MemCell* from) {
    const MemCell* jump = RowTree::Of(from).jump;
    return jump == nullptr ? from : jump;
  };
  const auto number = [](const MemCell* of) { return RowTree::Of(of).number; };
  const MemCell* near = back(tree);
  const MemCell* far = back(near);
  return number(tree) - number(near) == number(near) - number(far) ? far : tree;
}

RowTreePlace RowTreePlace::Of(const MemCell& cell) {
  const format::FamilyId family(cell.family);
  RowTreePlace place = cell.is_family_delete()   ? OfFamily(family)
                       : cell.is_column_delete() ? OfColumn(family, cell.qualifier())
                                                 : OfVersions(family, cell.qualifier());
  place.timestamp = cell.timestamp;
  return place;
}

int Compare(const RowTreePlace& place, const MemCell& cell) {
  if (place.family != cell.family) return place.family < cell.family ? -1 : 1;
  const Section section = cell.is_family_delete() ? Section::kFamilyDeletes : Section::kColumns;
  if (place.section != section) return place.section < section ? -1 : 1;
  if (section == Section::kColumns) {
    const int order = place.qualifier.compare(cell.qualifier());
    if (order != 0) return order;
    const Group group = cell.is_column_delete() ? Group::kColumnDeletes : Group::kVersions;
    if (place.group != group) return place.group < group ? -1 : 1;
  }
  if (place.timestamp == cell.timestamp) return 0;
  return place.timestamp > cell.timestamp ? -1 : 1;
}

const MemCell* FindCell(const RowTreeNode* root, const RowTreePlace& place, uint64_t* looked_at) {
  const MemCell* found = nullptr;
  for (const RowTreeNode* node = root; node != nullptr;) {
    ++*looked_at;
    const int order = Compare(place, *node->cell);
    if (order == 0) return node->cell;
    if (order < 0) found = node->cell;
    node = order < 0 ? node->left : node->right;
  }
  return found;
}

int64_t FamilyDeletedThrough(const RowTreeNode* root, format::FamilyId family,
                             uint64_t* looked_at) {
  const MemCell* first = FindCell(root, RowTreePlace::OfFamily(family), looked_at);
  const bool has = first != nullptr && first->family == family.value && first->is_family_delete();
  return has ? first->timestamp : kNoTimestamp;
}

ColumnShadow ShadowOnColumn(const RowTreeNode* root, format::FamilyId family,
                            std::string_view qualifier, uint64_t* looked_at) {
  ColumnShadow shadow;
  const MemCell* first = FindCell(root, RowTreePlace::OfFamily(family), looked_at);
  if (first == nullptr || first->family != family.value) return shadow;
  if (first->is_family_delete()) shadow.deleted_through = first->timestamp;
  first = FindCell(root, RowTreePlace::OfColumn(family, qualifier), looked_at);
  shadow.has_cells = IsOfColumn(first, family, qualifier);
  if (shadow.has_cells && first->is_column_delete()) {
    shadow.deleted_through =
        std::max(shadow.deleted_through.value_or(kNoTimestamp), first->timestamp);
  }
  return shadow;
}

bool TouchesAtOrAbove(const RowTreeNode* root, format::FamilyId family, std::string_view qualifier,
                      int64_t timestamp, uint64_t* looked_at) {
  const ColumnShadow shadow = ShadowOnColumn(root, family, qualifier, looked_at);
  if (shadow.deleted_through.has_value() && *shadow.deleted_through >= timestamp) return true;
  if (!shadow.has_cells) return false;
  RowTreeCursor puts = RowTreeCursor::OverPuts(root);
  puts.Seek(RowTreePlace::OfVersions(family, qualifier));
  *looked_at += puts.looked_at();
  return IsOfColumn(puts.cell(), family, qualifier) && puts.cell()->timestamp >= timestamp;
}

bool DeletesFamilyAtOrAbove(const RowTreeNode* root, format::FamilyId family, int64_t timestamp,
                            uint64_t* looked_at) {
  const MemCell* first = FindCell(root, RowTreePlace::OfFamily(family), looked_at);
  const bool has = first != nullptr && first->family == family.value && first->is_family_delete();
  return has && first->timestamp >= timestamp;
}

uint64_t PutsBefore(const RowTreeNode* node, const RowTreePlace& place) {
  uint64_t puts = 0;
  while (node != nullptr) {
    if (Compare(place, *node->cell) <= 0) {
      node = node->left;
      continue;
    }
    puts += node->puts - (node->right == nullptr ? 0 : node->right->puts);
    node = node->right;
  }
  return puts;
}

uint64_t CountPuts(const RowTreeNode* root, format::FamilyId family, std::string_view qualifier) {
  return PutsBefore(root, RowTreePlace::AfterColumn(family, qualifier)) -
         PutsBefore(root, RowTreePlace::OfVersions(family, qualifier));
}

bool RowTreeCursor::IsAskedFor(const RowTreeNode* node) const {
  if (!only_puts_) return true;
  return node->cell->is_put() && (floor_ == kNoTimestamp || node->cell->timestamp > floor_);
}

// Whether the node or one below it may hold a cell that is asked for.
bool RowTreeCursor::Has(const RowTreeNode* node) const {
  if (node == nullptr) return false;
  if (!only_puts_) return true;
  return node->puts > 0 && (floor_ == kNoTimestamp || node->max_put_timestamp > floor_);
}

void RowTreeCursor::PushLeft(const RowTreeNode* node) {
  for (; Has(node); node = node->left) {
    ++looked_at_;
    path_[depth_++] = node;
  }
}

void RowTreeCursor::PopUnasked() {
  while (depth_ > 0 && !IsAskedFor(path_[depth_ - 1])) PushLeft(path_[--depth_]->right);
}

void RowTreeCursor::Seek(const RowTreePlace& place) {
  depth_ = 0;
  for (const RowTreeNode* node = root_; Has(node);) {
    ++looked_at_;
    if (Compare(place, *node->cell) <= 0) {
      path_[depth_++] = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  PopUnasked();
}

void RowTreeCursor::Next() {
  PushLeft(path_[--depth_]->right);
  PopUnasked();
}

}  // namespace tandem::engine
