// Builds the next tree of a row from the previous one and the cells applied since (row_tree.h).
//
// A node of an earlier tree is copied before it changes; one of this tree changes in place. All
// memory is allocated before the tree is linked: if an allocation fails, the row is unchanged.
#pragma once

#include <cstdint>
#include <span>

#include "base/arena.h"
#include "format/schema.h"
#include "memstore/row_tree.h"

namespace tandem::engine {

/// Threads: one at a time.
class RowTreeWriter {
 public:
  /// `table` and `arena` outlive it. `root` (null: an empty tree) is that of the previous tree,
  /// `number` is the new tree's.
  RowTreeWriter(const format::TableRecord& table, base::Arena* arena, const RowTreeNode* root,
                uint32_t number)
      : table_(table), arena_(arena), root_(root), number_(number) {}

  /// Adds whole operations. Requires: sequences do not decrease, from the tree to `cells` and
  /// within `cells`.
  void Add(std::span<const MemCell* const> cells);
  const RowTreeNode* root() const { return root_; }

 private:
  using Node = RowTreeNode;
  struct Halves {
    const Node* before = nullptr;
    const Node* after = nullptr;
  };

  void Add(const MemCell& cell);
  void DeleteFamily(const MemCell& cell);
  void DropBehindVersions(const MemCell& put);
  void RemoveBetween(const RowTreePlace& begin, const RowTreePlace& end);
  const Node* KeepAbove(const Node* node, int64_t timestamp);

  Node* NewNode();
  Node* Own(const Node* node);
  void Drop(const Node* node);
  const Node* Insert(const Node* node, const MemCell& cell);
  Halves Split(const Node* node, const RowTreePlace& place);
  const Node* Join(const Node* left, Node* middle, const Node* right);
  const Node* JoinRight(const Node* left, Node* middle, const Node* right);
  const Node* JoinLeft(const Node* left, Node* middle, const Node* right);
  const Node* Join(const Node* left, const Node* right);
  const Node* TakeLast(const Node* node, Node** last);

  const format::TableRecord& table_;
  base::Arena* arena_;
  const Node* root_;
  const uint32_t number_;
  Node* free_ = nullptr;  // Dropped nodes of this tree, chained by `left`.
};

}  // namespace tandem::engine
