// Making the next tree of a row from the one before and the cells applied since (row_tree.h).
//
// A node that was made for an earlier tree is copied before it changes, one of this tree changes in
// place. Everything is taken from the arena before the tree is linked: when there is no memory, the
// row stays as it was.
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
  /// Both outlive it. `root` (null: an empty tree) is that of the tree before, `number` the new
  /// tree's.
  RowTreeWriter(const format::TableRecord& table, base::Arena* arena, const RowTreeNode* root,
                uint32_t number)
      : table_(table), arena_(arena), root_(root), number_(number) {}

  /// Adds whole operations. Requires: sequences do not fall, within `cells` and from the tree on.
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
  Node* free_ = nullptr;  // Nodes of this tree that it lost again, chained by `left`.
};

}  // namespace tandem::engine
