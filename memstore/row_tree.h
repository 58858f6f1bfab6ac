// The cells of a hot row that still matter, in order: a persistent tree, balanced by weight (Adams
// 1993; joins after Blelloch, Ferizovic, Sun 2016).
//
// A row of few cells is a chain, newest first. When the chain passes a length (kChainCellsMax), its
// cells go into a tree, and a cell of kind kTreeCell takes their place in front of the chain. The
// next tree copies the nodes on the path to each change and shares the others, so a tree never
// changes: the tree at sequence S is the state of the row at S, and a reader at S never finds a
// later cell.
//
// The next tree omits a cell when a later one makes it redundant:
//   1. DeleteFamily at t replaces all cells of its family at or below t.
//   2. DeleteColumn at t replaces all cells of its column at or below t.
//   3. Put and DeleteCell at t replace a Put or DeleteCell of their column at t.
//   4. Nothing older than the Puts of a column that its family keeps (max_versions) matters: what
//      hides one of these Puts also hides everything older, DeleteCell by the cut that it writes
//      (rule 3 of docs/index-rules.md).
// So every Put of a tree is visible at its sequence, up to expiry, and a marker in it matters to
// older sources and to Puts that only an earlier tree has.
//
// The order is that of CellLess, except that DeleteColumn markers come before the versions of their
// column: family; DeleteFamily markers; qualifier; DeleteColumn markers; Puts and DeleteCells;
// within each the timestamp, descending. No two cells of a tree have the same place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "format/types.h"
#include "memstore/mem_cell.h"

namespace tandem::engine {

/// Immutable once a reader can reach it. Lifetime: the arena's.
struct RowTreeNode {
  const RowTreeNode* left = nullptr;
  const RowTreeNode* right = nullptr;
  const MemCell* cell = nullptr;
  // Of the node and all below it.
  int64_t min_timestamp = 0, max_timestamp = 0;
  int64_t max_put_timestamp = 0;  ///< INT64_MIN where there is no Put.
  uint32_t size = 0;
  uint32_t puts = 0;

  uint32_t batch = 0;  ///< The tree that it was made for (RowTree::number).
};

/// Follows a MemCell of kind kTreeCell, whose sequence is the last one in the tree and whose
/// `older` is the newest cell in it. Trees are found by sequence along the jumps (Myers 1983).
struct RowTree {
  const RowTreeNode* root = nullptr;
  const MemCell* previous = nullptr;  ///< The tree cell before; nullptr: the first.
  const MemCell* jump = nullptr;      ///< One farther back; nullptr in the first.
  uint32_t number = 0;                ///< 1, 2, ... in a row.

  static const RowTree& Of(const MemCell* cell) {
    return *reinterpret_cast<const RowTree*>(cell + 1);
  }
};

/// The jump of the tree that follows `tree`.
const MemCell* JumpAfter(const MemCell* tree);

/// A position between cells of a tree: before the first cell that does not precede it.
struct RowTreePlace {
  enum class Section : uint8_t { kFamilyDeletes, kColumns, kEnd };
  enum class Group : uint8_t { kColumnDeletes, kVersions, kEnd };

  uint8_t family = 0;
  Section section = Section::kFamilyDeletes;
  std::string_view qualifier = {};
  Group group = Group::kColumnDeletes;
  int64_t timestamp = std::numeric_limits<int64_t>::max();

  /// Of the cell itself.
  static RowTreePlace Of(const MemCell& cell);
  static RowTreePlace OfFamily(format::FamilyId family) { return {.family = family.value}; }
  static RowTreePlace OfColumns(format::FamilyId family) {
    return {.family = family.value, .section = Section::kColumns};
  }
  static RowTreePlace AfterFamily(format::FamilyId family) {
    return {.family = family.value, .section = Section::kEnd};
  }
  static RowTreePlace OfColumn(format::FamilyId family, std::string_view qualifier) {
    return {.family = family.value, .section = Section::kColumns, .qualifier = qualifier};
  }
  /// Before the versions at or below `timestamp`.
  static RowTreePlace OfVersions(format::FamilyId family, std::string_view qualifier,
                                 int64_t timestamp = std::numeric_limits<int64_t>::max()) {
    return {.family = family.value,
            .section = Section::kColumns,
            .qualifier = qualifier,
            .group = Group::kVersions,
            .timestamp = timestamp};
  }
  static RowTreePlace AfterColumn(format::FamilyId family, std::string_view qualifier) {
    return {.family = family.value,
            .section = Section::kColumns,
            .qualifier = qualifier,
            .group = Group::kEnd};
  }
};

/// Negative, zero or positive: the place comes before the cell's, is the cell's, comes after it.
int Compare(const RowTreePlace& place, const MemCell& cell);

/// The first cell at or after a place; nullptr when there is none. `*looked_at` counts nodes.
const MemCell* FindCell(const RowTreeNode* root, const RowTreePlace& place, uint64_t* looked_at);

/// How newer cells shadow a Put in an older source.
enum class Shadow : uint8_t {
  kNone,
  kReplaced,  ///< A Put of the same timestamp is visible in its place.
  kDeleted,   ///< It is not visible.
  kRest,      ///< Nor is any older version of its column.
};
/// How a tree shadows all Puts of a column in older sources.
struct ColumnShadow {
  bool has_cells = false;                  ///< Of the column itself.
  std::optional<int64_t> deleted_through;  ///< None at or below it is visible.
};
ColumnShadow ShadowOnColumn(const RowTreeNode* root, format::FamilyId family,
                            std::string_view qualifier, uint64_t* looked_at);

/// The greatest timestamp of a DeleteFamily marker of the family; INT64_MIN when there is none.
int64_t FamilyDeletedThrough(const RowTreeNode* root, format::FamilyId family, uint64_t* looked_at);

/// Whether the tree has a Put, DeleteColumn or DeleteFamily of the column at or above `timestamp`.
bool TouchesAtOrAbove(const RowTreeNode* root, format::FamilyId family, std::string_view qualifier,
                      int64_t timestamp, uint64_t* looked_at);

/// The same of a DeleteFamily alone.
bool DeletesFamilyAtOrAbove(const RowTreeNode* root, format::FamilyId family, int64_t timestamp,
                            uint64_t* looked_at);

/// Puts before a place.
uint64_t PutsBefore(const RowTreeNode* root, const RowTreePlace& place);
/// Puts of the column.
uint64_t CountPuts(const RowTreeNode* root, format::FamilyId family, std::string_view qualifier);

/// Walks a tree and skips what is not asked for in logarithmic time. Threads: one at a time.
class RowTreeCursor {
 public:
  /// Every cell.
  explicit RowTreeCursor(const RowTreeNode* root) : root_(root) {}
  /// Puts only, those above the floor (SetFloor). With a floor of INT64_MIN, the default, all Puts,
  /// even one at INT64_MIN.
  static RowTreeCursor OverPuts(const RowTreeNode* root) {
    RowTreeCursor cursor(root);
    cursor.only_puts_ = true;
    return cursor;
  }
  void SetFloor(int64_t timestamp) { floor_ = timestamp; }

  /// Moves to the first cell at or after `place` that is asked for.
  void Seek(const RowTreePlace& place);
  /// Requires: cell() != nullptr.
  void Next();
  /// nullptr at the end.
  const MemCell* cell() const { return depth_ == 0 ? nullptr : path_[depth_ - 1]->cell; }
  /// Nodes visited so far.
  uint64_t looked_at() const { return looked_at_; }

 private:
  // A tree of 2^32 cells is at most 65 deep: no side has more than 0.71 of the weight.
  static constexpr size_t kDepthMax = 72;

  bool IsAskedFor(const RowTreeNode* node) const;
  bool Has(const RowTreeNode* node) const;
  void PushLeft(const RowTreeNode* node);
  void PopUnasked();

  const RowTreeNode* root_;
  bool only_puts_ = false;
  int64_t floor_ = std::numeric_limits<int64_t>::min();
  std::array<const RowTreeNode*, kDepthMax> path_;  // Not visited yet, the next one last.
  size_t depth_ = 0;
  uint64_t looked_at_ = 0;
};

}  // namespace tandem::engine
