// Reads one row of a memstore: the chain of its recent cells, then the tree. Sequences do not
// increase along the chain, so a reader skips the cells newer than its own sequence and takes the
// rest up to the first tree. If that tree is too new, it jumps along the trees to the oldest one
// that is too new, and takes the cells between that tree and the one before it.
#include <algorithm>

#include "memstore/memstore.h"
#include "memstore/row_tree.h"
#include "memstore/skiplist.h"

namespace tandem::engine {
namespace {

constexpr size_t kLineBytes = 64;  // Of the CPU cache.

bool IsTree(const MemCell* cell) { return cell->kind == kTreeCell; }

// The oldest tree with a cell after `sequence`. Requires: `tree` is one.
const MemCell* OldestTreeAfter(const MemCell* tree, format::SequenceNumber sequence) {
  while (true) {
    const RowTree& here = RowTree::Of(tree);
    if (here.jump != nullptr && here.jump->sequence > sequence) {
      tree = here.jump;
    } else if (here.previous != nullptr && here.previous->sequence > sequence) {
      tree = here.previous;
    } else {
      return tree;
    }
  }
}

// Where the row begins for a reader at `sequence`: a cell, a tree, or nullptr.
const MemCell* FirstAt(const MemRow* row, format::SequenceNumber sequence, uint64_t* looked_at) {
  const MemCell* cell = row->newest.load(std::memory_order_acquire);
  for (; cell != nullptr && !format::IsSeenAt(cell->sequence, sequence); cell = cell->older) {
    ++*looked_at;
    if (IsTree(cell)) cell = OldestTreeAfter(cell, sequence);
  }
  return cell;
}

bool IsRecent(const MemCell* cell) { return cell != nullptr && !IsTree(cell); }

bool IsOfColumn(const MemCell& cell, const format::IndexColumnRecord& column) {
  return cell.family == column.family.value && cell.qualifier() == column.qualifier;
}

// How the cells from `first` up to `end` shadow `put`, an older cell of `column`.
Shadow ShadowOfRecent(const MemCell* first, const MemCell* end, const MemCell& put,
                      const format::IndexColumnRecord& column) {
  Shadow shadow = Shadow::kNone;
  for (const MemCell* cell = first; cell != end && IsRecent(cell); cell = cell->older) {
    if (cell->sequence <= put.sequence || cell->family != put.family) continue;
    const bool covers = cell->timestamp >= put.timestamp;
    if (cell->is_family_delete()) {
      if (covers) return Shadow::kRest;
    } else if (IsOfColumn(*cell, column)) {
      if (cell->is_column_delete() && covers) return Shadow::kRest;
      if (!cell->is_column_delete() && cell->timestamp == put.timestamp) {
        shadow = Shadow::kDeleted;  // Or replaced, by a Put that is examined itself.
      }
    }
  }
  return shadow;
}

// The newest Put of the tree that the recent cells do not shadow.
const MemCell* NewestInTree(const MemCell* first, const RowTreeNode* root,
                            const format::IndexColumnRecord& column) {
  RowTreeCursor puts = RowTreeCursor::OverPuts(root);
  puts.Seek(RowTreePlace::OfVersions(column.family, column.qualifier));
  for (; puts.cell() != nullptr && IsOfColumn(*puts.cell(), column); puts.Next()) {
    const Shadow shadow = ShadowOfRecent(first, nullptr, *puts.cell(), column);
    if (shadow == Shadow::kNone) return puts.cell();
    if (shadow == Shadow::kRest) return nullptr;
  }
  return nullptr;
}

}  // namespace

format::SequenceNumber Memstore::NewestSequence(const MemRow* row) {
  return row->newest.load(std::memory_order_acquire)->sequence;
}

bool Memstore::HasCells(const MemRow* row, format::SequenceNumber max_sequence) {
  uint64_t looked_at = 0;
  return FirstAt(row, max_sequence, &looked_at) != nullptr;
}

bool Memstore::Supersedes(const MemRow* row, const OlderPuts& puts,
                          format::SequenceNumber max_sequence) {
  const format::IndexColumnRecord& column = *puts.column;
  uint64_t looked_at = 0;
  const MemCell* cell = FirstAt(row, max_sequence, &looked_at);
  for (; IsRecent(cell); cell = cell->older) {
    if (cell->timestamp < puts.max_timestamp || cell->family != column.family.value) continue;
    if (cell->is_family_delete()) return true;
    if (column.is_of_family()) continue;
    const bool supersedes = cell->is_put() || cell->is_column_delete();
    if (supersedes && cell->qualifier() == column.qualifier) return true;
  }
  if (cell == nullptr) return false;
  const RowTreeNode* tree = RowTree::Of(cell).root;
  if (column.is_of_family()) {
    return DeletesFamilyAtOrAbove(tree, column.family, puts.max_timestamp, &looked_at);
  }
  return TouchesAtOrAbove(tree, column.family, column.qualifier, puts.max_timestamp, &looked_at);
}

bool Memstore::Touches(const MemRow* row, const format::IndexColumnRecord& column,
                       format::SequenceNumber max_sequence) {
  uint64_t looked_at = 0;
  const MemCell* cell = FirstAt(row, max_sequence, &looked_at);
  for (; IsRecent(cell); cell = cell->older) {
    if (cell->family != column.family.value) continue;
    if (cell->is_family_delete() || column.is_of_family()) return true;
    if (cell->qualifier() == column.qualifier) return true;
  }
  return cell != nullptr;  // A tree may have some.
}

std::optional<LivePut> Memstore::NewestPut(const MemRow* row,
                                           const format::IndexColumnRecord& column,
                                           format::SequenceNumber max_sequence) {
  uint64_t looked_at = 0;
  const MemCell* first = FirstAt(row, max_sequence, &looked_at);
  const MemCell* newest = nullptr;
  const MemCell* cell = first;
  for (; IsRecent(cell); cell = cell->older) {
    if (!cell->is_put() || !IsOfColumn(*cell, column)) continue;
    if (newest != nullptr && newest->timestamp >= cell->timestamp) continue;
    if (ShadowOfRecent(first, cell, *cell, column) == Shadow::kNone) newest = cell;
  }
  if (cell != nullptr) {
    const MemCell* before = NewestInTree(first, RowTree::Of(cell).root, column);
    if (newest == nullptr || (before != nullptr && before->timestamp > newest->timestamp)) {
      newest = before;
    }
  }
  if (newest == nullptr) return std::nullopt;
  return LivePut{newest->value(), newest->sequence, newest->timestamp};
}

std::optional<LivePuts> Memstore::LivePutsOf(const MemRow* row, format::FamilyId family,
                                             format::SequenceNumber max_sequence) {
  uint64_t looked_at = 0;
  std::optional<int64_t> deleted_through;
  std::optional<LivePuts> live;
  const auto add = [&](int64_t timestamp, format::SequenceNumber sequence) {
    if (deleted_through.has_value() && timestamp <= *deleted_through) return;
    if (!live.has_value()) live = LivePuts{timestamp, sequence};  // No later one is newer.
    live->max_timestamp = std::max(live->max_timestamp, timestamp);
  };
  const MemCell* cell = FirstAt(row, max_sequence, &looked_at);
  for (; IsRecent(cell); cell = cell->older) {
    if (cell->family != family.value) continue;
    if (cell->is_put()) add(cell->timestamp, cell->sequence);
    if (!cell->is_family_delete()) continue;
    deleted_through = std::max(deleted_through.value_or(cell->timestamp), cell->timestamp);
  }
  if (cell == nullptr) return live;
  const RowTreeNode* tree = RowTree::Of(cell).root;
  if (tree->puts > 0) add(tree->max_put_timestamp, cell->sequence);
  return live;
}

void Memstore::PrefetchRow(const MemRow* row) {
  __builtin_prefetch(row);
  __builtin_prefetch(reinterpret_cast<const char*>(row) + kLineBytes);
}

// The cells of one operation are adjacent in memory, the newest last.
void Memstore::PrefetchCells(const MemRow* row) {
  const auto* newest = reinterpret_cast<const char*>(row->newest.load(std::memory_order_relaxed));
  if (newest == nullptr) return;
  __builtin_prefetch(newest);
  __builtin_prefetch(newest - kLineBytes);
}

RowTreeView Memstore::RecentCells(const MemRow* row, format::SequenceNumber max_sequence,
                                  std::vector<format::Cell>* out, uint64_t* looked_at) {
  const MemCell* cell = FirstAt(row, max_sequence, looked_at);
  for (; IsRecent(cell); cell = cell->older) {
    ++*looked_at;
    out->push_back(ToCell(*cell));
  }
  return cell == nullptr ? RowTreeView() : RowTreeView{RowTree::Of(cell).root, cell->sequence};
}

void Memstore::Cells(const MemRow* row, format::SequenceNumber max_sequence,
                     std::vector<format::Cell>* out) {
  const size_t first = out->size();
  uint64_t looked_at = 0;
  const RowTreeView tree = RecentCells(row, max_sequence, out, &looked_at);
  RowTreeCursor cursor(tree.root);
  for (cursor.Seek({}); cursor.cell() != nullptr; cursor.Next()) {
    out->push_back(ToCell(*cursor.cell()));
  }
  format::SortCells(std::span(*out).subspan(first));
}

}  // namespace tandem::engine
