// Balance: neither of two sibling subtrees has more than 0.71 of their weight, where the weight of
// a tree is its size plus one. A join restores it with at most two rotations per level.
#include "memstore/row_tree_writer.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tandem::engine {
namespace {

using Place = RowTreePlace;

uint64_t Weight(const RowTreeNode* node) { return node == nullptr ? 1 : uint64_t{node->size} + 1; }

bool IsBalanced(uint64_t a, uint64_t b) {
  constexpr uint64_t kShareMin = 29, kWhole = 100;
  return std::min(a, b) * kWhole >= kShareMin * (a + b);
}

bool IsBalanced(const RowTreeNode* a, const RowTreeNode* b) {
  return IsBalanced(Weight(a), Weight(b));
}

// Makes `node` the parent of both and updates its sums.
RowTreeNode* Link(RowTreeNode* node, const RowTreeNode* left, const RowTreeNode* right) {
  const MemCell& cell = *node->cell;
  node->left = left;
  node->right = right;
  node->size = 1;
  node->puts = cell.is_put() ? 1 : 0;
  node->min_timestamp = node->max_timestamp = cell.timestamp;
  node->max_put_timestamp = cell.is_put() ? cell.timestamp : std::numeric_limits<int64_t>::min();
  for (const RowTreeNode* below : {left, right}) {
    if (below == nullptr) continue;
    node->size += below->size;
    node->puts += below->puts;
    node->min_timestamp = std::min(node->min_timestamp, below->min_timestamp);
    node->max_timestamp = std::max(node->max_timestamp, below->max_timestamp);
    node->max_put_timestamp = std::max(node->max_put_timestamp, below->max_put_timestamp);
  }
  return node;
}

// The Put with `rank` Puts before it. Requires: there is one.
const MemCell& PutAt(const RowTreeNode* node, uint64_t rank) {
  while (true) {
    const uint64_t left = node->left == nullptr ? 0 : node->left->puts;
    if (rank < left) {
      node = node->left;
      continue;
    }
    rank -= left;
    if (node->cell->is_put()) {
      if (rank == 0) return *node->cell;
      --rank;
    }
    node = node->right;
  }
}

uint32_t VersionsOf(const format::TableRecord& table, uint8_t family) {
  for (const format::FamilyRecord& record : table.families) {
    if (record.id.value == family) return record.options.max_versions;
  }
  return std::numeric_limits<uint32_t>::max();
}

}  // namespace

// The markers of an operation apply to older cells, so they go before its Puts.
void RowTreeWriter::Add(std::span<const MemCell* const> cells) {
  for (size_t begin = 0; begin < cells.size();) {
    size_t end = begin;
    while (end < cells.size() && cells[end]->sequence == cells[begin]->sequence) ++end;
    for (size_t i = begin; i < end; ++i) {
      if (!cells[i]->is_put()) Add(*cells[i]);
    }
    for (size_t i = begin; i < end; ++i) {
      if (cells[i]->is_put()) Add(*cells[i]);
    }
    begin = end;
  }
}

void RowTreeWriter::Add(const MemCell& cell) {
  const format::FamilyId family(cell.family);
  if (cell.is_family_delete()) {
    DeleteFamily(cell);
  } else if (cell.is_column_delete()) {
    RemoveBetween(Place::Of(cell), Place::OfVersions(family, cell.qualifier()));
    RemoveBetween(Place::OfVersions(family, cell.qualifier(), cell.timestamp),
                  Place::AfterColumn(family, cell.qualifier()));
  }
  root_ = Insert(root_, cell);
  if (cell.is_put()) DropBehindVersions(cell);
}

void RowTreeWriter::DeleteFamily(const MemCell& cell) {
  const format::FamilyId family(cell.family);
  const Place begin = Place::Of(cell), end = Place::AfterFamily(family);
  uint64_t looked_at = 0;
  const MemCell* first = FindCell(root_, begin, &looked_at);
  if (first == nullptr || Compare(end, *first) <= 0) return;
  const auto [before, rest] = Split(root_, begin);
  const auto [here, after] = Split(rest, end);
  root_ = Join(Join(before, KeepAbove(here, cell.timestamp)), after);
}

// The cells below `node` that are above the timestamp.
const RowTreeNode* RowTreeWriter::KeepAbove(const Node* node, int64_t timestamp) {
  if (node == nullptr || node->min_timestamp > timestamp) return node;
  if (node->max_timestamp <= timestamp) {
    Drop(node);
    return nullptr;
  }
  Node* own = Own(node);
  const Node* left = KeepAbove(own->left, timestamp);
  const Node* right = KeepAbove(own->right, timestamp);
  if (own->cell->timestamp > timestamp) return Join(left, own, right);
  own->left = own->right = nullptr;
  Drop(own);
  return Join(left, right);
}

void RowTreeWriter::DropBehindVersions(const MemCell& put) {
  const uint64_t kept = VersionsOf(table_, put.family);
  const format::FamilyId family(put.family);
  if (root_->puts <= kept || CountPuts(root_, family, put.qualifier()) <= kept) return;
  const uint64_t rank = PutsBefore(root_, Place::OfVersions(family, put.qualifier()));
  RemoveBetween(Place::Of(PutAt(root_, rank + kept)), Place::AfterColumn(family, put.qualifier()));
}

// Removes [begin, end); copies nothing when there is nothing.
void RowTreeWriter::RemoveBetween(const Place& begin, const Place& end) {
  uint64_t looked_at = 0;
  const MemCell* first = FindCell(root_, begin, &looked_at);
  if (first == nullptr || Compare(end, *first) <= 0) return;
  const auto [before, rest] = Split(root_, begin);
  const auto [removed, after] = Split(rest, end);
  Drop(removed);
  root_ = Join(before, after);
}

RowTreeNode* RowTreeWriter::NewNode() {
  static_assert(sizeof(Node) == 64 && alignof(Node) == 8);
  if (free_ == nullptr) return new (arena_->Allocate(sizeof(Node))) Node;
  Node* node = free_;
  free_ = const_cast<Node*>(node->left);
  return new (node) Node;
}

// The node itself if it was made for this tree, else a copy made for it.
RowTreeNode* RowTreeWriter::Own(const Node* node) {
  if (node->batch == number_) return const_cast<Node*>(node);
  Node* copy = NewNode();
  *copy = *node;
  copy->batch = number_;
  return copy;
}

// Frees `node` and the nodes below it that are of this tree; those are only below nodes of this
// tree.
void RowTreeWriter::Drop(const Node* node) {
  if (node == nullptr || node->batch != number_) return;
  Drop(node->left);
  Drop(node->right);
  Node* own = const_cast<Node*>(node);
  own->left = free_;
  free_ = own;
}

const RowTreeNode* RowTreeWriter::Insert(const Node* node, const MemCell& cell) {
  if (node == nullptr) {
    Node* made = NewNode();
    made->cell = &cell;
    made->batch = number_;
    return Link(made, nullptr, nullptr);
  }
  const int order = Compare(Place::Of(cell), *node->cell);
  Node* own = Own(node);
  if (order < 0) return Join(Insert(own->left, cell), own, own->right);
  if (order > 0) return Join(own->left, own, Insert(own->right, cell));
  own->cell = &cell;
  return Link(own, own->left, own->right);
}

RowTreeWriter::Halves RowTreeWriter::Split(const Node* node, const Place& place) {
  if (node == nullptr) return {};
  Node* own = Own(node);
  if (Compare(place, *own->cell) <= 0) {
    const Node* right = own->right;
    const Halves halves = Split(own->left, place);
    return {halves.before, Join(halves.after, own, right)};
  }
  const Node* left = own->left;
  const Halves halves = Split(own->right, place);
  return {Join(left, own, halves.before), halves.after};
}

const RowTreeNode* RowTreeWriter::Join(const Node* left, Node* middle, const Node* right) {
  if (IsBalanced(left, right)) return Link(middle, left, right);
  if (Weight(left) > Weight(right)) return JoinRight(left, middle, right);
  return JoinLeft(left, middle, right);
}

// Descends the right side of `left`, which is heavier, to where `right` fits.
const RowTreeNode* RowTreeWriter::JoinRight(const Node* left, Node* middle, const Node* right) {
  if (IsBalanced(left, right)) return Link(middle, left, right);
  Node* top = Own(left);
  const Node* outer = top->left;
  Node* joined = Own(JoinRight(top->right, middle, right));
  if (IsBalanced(outer, joined)) return Link(top, outer, joined);
  const Node* inner = joined->left;
  if (IsBalanced(outer, inner) &&
      IsBalanced(Weight(outer) + Weight(inner), Weight(joined->right))) {
    const Node* far = joined->right;
    return Link(joined, Link(top, outer, inner), far);
  }
  Node* root = Own(inner);
  const Node* root_left = root->left;
  const Node* root_right = root->right;
  return Link(root, Link(top, outer, root_left), Link(joined, root_right, joined->right));
}

// The mirror image.
const RowTreeNode* RowTreeWriter::JoinLeft(const Node* left, Node* middle, const Node* right) {
  if (IsBalanced(left, right)) return Link(middle, left, right);
  Node* top = Own(right);
  const Node* outer = top->right;
  Node* joined = Own(JoinLeft(left, middle, top->left));
  if (IsBalanced(joined, outer)) return Link(top, joined, outer);
  const Node* inner = joined->right;
  if (IsBalanced(inner, outer) && IsBalanced(Weight(inner) + Weight(outer), Weight(joined->left))) {
    const Node* far = joined->left;
    return Link(joined, far, Link(top, inner, outer));
  }
  Node* root = Own(inner);
  const Node* root_left = root->left;
  const Node* root_right = root->right;
  return Link(root, Link(joined, joined->left, root_left), Link(top, root_right, outer));
}

const RowTreeNode* RowTreeWriter::Join(const Node* left, const Node* right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  Node* last = nullptr;
  const Node* others = TakeLast(left, &last);
  return Join(others, last, right);
}

const RowTreeNode* RowTreeWriter::TakeLast(const Node* node, Node** last) {
  Node* own = Own(node);
  if (own->right == nullptr) {
    *last = own;
    return own->left;
  }
  const Node* left = own->left;
  const Node* right = TakeLast(own->right, last);
  return Join(left, own, right);
}

}  // namespace tandem::engine
