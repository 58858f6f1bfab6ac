// Search and insertion. The writer keeps the path of its last search; a new search climbs from the
// lowest level to the first whose gap contains the key and descends from there.
#include "engine/row_skiplist.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

#include "format/coding.h"

namespace tandem::engine {
namespace {

// One node in four reaches the next level.
int HeightOf(uint64_t hash) {
  return std::min(1 + std::countr_zero(hash) / 2, RowSkiplist::kHeightMax);
}

}  // namespace

RowSkiplist::Key::Key(std::string_view b) : bytes(b), head(b.empty() ? 0 : format::KeyHead(b)) {}

RowSkiplist::RowSkiplist(base::Arena* arena)
    : arena_(arena), head_(NewNode(Key(std::string_view()), kHeightMax)) {
  path_.fill(head_);
}

MemRow* RowSkiplist::NewNode(const Key& key, int height) {
  static_assert(alignof(MemRow) == 8 && sizeof(std::atomic<MemRow*>) == 8);
  const size_t tower_bytes = (height - 1) * sizeof(std::atomic<MemRow*>);
  char* memory = arena_->Allocate(sizeof(MemRow) + tower_bytes + key.bytes.size());
  auto* row = new (memory) MemRow;
  row->head = key.head;
  row->key_bytes = static_cast<uint16_t>(key.bytes.size());
  row->height = static_cast<uint8_t>(height);
  for (int level = 1; level < height; ++level) {
    new (&row->next[0] + level) std::atomic<MemRow*>(nullptr);
  }
  if (!key.bytes.empty()) {
    std::memcpy(memory + sizeof(MemRow) + tower_bytes, key.bytes.data(), key.bytes.size());
  }
  return row;
}

bool RowSkiplist::RowLess(const MemRow* row, const Key& key) {
  if (row->head != key.head) return row->head < key.head;
  return row->key() < key.bytes;
}

namespace {

// The tower lies behind the struct; its first place is `next[0]`.
std::atomic<MemRow*>& Link(MemRow* row, int level) { return *(&row->next[0] + level); }

}  // namespace

MemRow* RowSkiplist::LastLess(const Key& key) const {
  MemRow* row = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    for (MemRow* next = Link(row, level).load(std::memory_order_acquire);
         next != nullptr && RowLess(next, key);
         next = Link(row, level).load(std::memory_order_acquire)) {
      row = next;
    }
  }
  return row;
}

int RowSkiplist::StartLevel(const Key& key) const {
  const int height = height_.load(std::memory_order_relaxed);
  for (int level = 0; level < height; ++level) {
    MemRow* before = path_[level];
    if (before != head_ && !RowLess(before, key)) continue;
    const MemRow* after = Link(before, level).load(std::memory_order_relaxed);
    if (after == nullptr || !RowLess(after, key)) return level;
  }
  return height;  // No gap contains it: start at the top of the list.
}

void RowSkiplist::Descend(const Key& key) {
  const int height = height_.load(std::memory_order_relaxed);
  int level = StartLevel(key);
  MemRow* row = head_;
  if (level < height) {
    row = path_[level];
  } else {
    level = height - 1;
  }
  for (; level >= 0; --level) {
    MemRow* next = Link(row, level).load(std::memory_order_relaxed);
    while (next != nullptr) {
      if (level > 0) __builtin_prefetch(Link(row, level - 1).load(std::memory_order_relaxed));
      if (!RowLess(next, key)) break;
      row = next;
      next = Link(row, level).load(std::memory_order_relaxed);
    }
    path_[level] = row;
  }
}

RowSkiplist::Insertion RowSkiplist::FindOrInsert(std::string_view bytes, uint64_t hash) {
  const Key key(bytes);
  Descend(key);
  MemRow* found = Link(path_[0], 0).load(std::memory_order_relaxed);
  if (found != nullptr && found->head == key.head && found->key() == bytes) return {found, false};

  const int height = HeightOf(hash);
  MemRow* row = NewNode(key, height);
  const int list_height = height_.load(std::memory_order_relaxed);
  for (int level = list_height; level < height; ++level) path_[level] = head_;
  for (int level = 0; level < height; ++level) {
    std::atomic<MemRow*>& link = Link(path_[level], level);
    Link(row, level).store(link.load(std::memory_order_relaxed), std::memory_order_relaxed);
    link.store(row, std::memory_order_release);
    path_[level] = row;
  }
  if (height > list_height) height_.store(height, std::memory_order_relaxed);
  return {row, true};
}

MemRow* RowSkiplist::AtOrAfter(std::string_view key) const { return Next(LastLess(Key(key))); }

MemRow* RowSkiplist::Before(std::string_view key) const {
  MemRow* row = LastLess(Key(key));
  return row == head_ ? nullptr : row;
}

MemRow* RowSkiplist::Last() const {
  MemRow* row = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    for (MemRow* next = Link(row, level).load(std::memory_order_acquire); next != nullptr;
         next = Link(row, level).load(std::memory_order_acquire)) {
      row = next;
    }
  }
  return row == head_ ? nullptr : row;
}

}  // namespace tandem::engine
