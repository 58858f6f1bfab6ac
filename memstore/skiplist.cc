// Search and insertion. The writer keeps the path of its last insertion; a new one climbs from the
// lowest level to the first whose gap contains the key and descends from there, or from a place
// that was found before.
#include "memstore/skiplist.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

#include "base/check.h"
#include "format/coding.h"

namespace tandem::engine {
namespace {

// Searches that wait for memory together.
constexpr size_t kSearchesMax = 16;

// A key that belongs this near to the last insertion is not searched for ahead of its own.
constexpr int kNearLevels = 2;

// One node in four reaches the next level.
constexpr int kBitsOfLevel = 2;
int HeightOf(uint64_t hash) {
  return std::min(1 + std::countr_zero(hash) / kBitsOfLevel, RowSkiplist::kHeightMax);
}

// Rows are passed over by this many hops or more: their number is known to a fifth or better.
constexpr uint64_t kHopsMin = 32;

}  // namespace

RowSkiplist::Key::Key(std::string_view b) : bytes(b), head(b.empty() ? 0 : format::KeyHead(b)) {}

RowSkiplist::RowSkiplist(base::Arena* arena)
    : arena_(arena), start_(NewNodeAt(start_memory_.data(), Key(std::string_view()), kHeightMax)) {
  path_.fill(start_);
}

MemRow* RowSkiplist::NewNode(const Key& key, int height) {
  return NewNodeAt(arena_->Allocate(RowNodeBytes(height) + key.bytes.size()), key, height);
}

MemRow* RowSkiplist::NewNodeAt(char* memory, const Key& key, int height) {
  static_assert(alignof(MemRow) == 8 && sizeof(RowLink) == 16);
  auto* row = new (memory) MemRow;
  row->key_bytes = static_cast<uint16_t>(key.bytes.size());
  row->height = static_cast<uint8_t>(height);
  for (int level = 1; level < height; ++level) new (&row->link(level)) RowLink;
  if (!key.bytes.empty()) {
    std::memcpy(memory + RowNodeBytes(height), key.bytes.data(), key.bytes.size());
  }
  return row;
}

MemRow* RowSkiplist::NextLess(MemRow* row, int level, const Key& key) {
  const RowLink& link = row->link(level);
  const uint64_t head = link.head.load(std::memory_order_acquire);
  MemRow* next = link.row.load(std::memory_order_acquire);
  if (next == nullptr || head > key.head) return nullptr;
  if (head < key.head) return next;
  return next->key() < key.bytes ? next : nullptr;
}

MemRow* RowSkiplist::LastLess(const Key& key, int lowest) const {
  MemRow* row = start_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= lowest; --level) {
    while (MemRow* next = NextLess(row, level, key)) row = next;
  }
  return row;
}

// The lowest level on which the key falls into the gap after the last path's node; `height` when it
// does on none below.
int RowSkiplist::StartLevel(const Key& key, int height) const {
  for (int level = 0; level < height; ++level) {
    MemRow* before = path_[level];
    if (before != start_ && before->key() >= key.bytes) continue;
    if (NextLess(before, level, key) == nullptr) return level;
  }
  return height;
}

void RowSkiplist::Descend(const Key& key) {
  const int height = height_.load(std::memory_order_relaxed);
  int level = StartLevel(key, height);
  MemRow* row = start_;
  if (level < height) {
    row = path_[level];
  } else {
    level = height - 1;
  }
  for (; level >= 0; --level) {
    while (MemRow* next = NextLess(row, level, key)) row = next;
    path_[level] = row;
  }
}

// A step looks at one link and prefetches what the next step reads: the link that it moved to or,
// when heads tie, the node whose key it has to compare. False: the place is found.
bool RowSkiplist::Search::Step() {
  const RowLink& link = row->link(level);
  MemRow* next = link.row.load(std::memory_order_relaxed);
  const bool ties = next != nullptr && link.head.load(std::memory_order_relaxed) == place->key.head;
  if (ties && !is_next_fetched) {
    is_next_fetched = true;
    __builtin_prefetch(next);
    return true;
  }
  is_next_fetched = false;
  if (NextLess(row, level, place->key) != nullptr) {
    row = next;
  } else {
    place->path[level] = row;
    if (level == 0) return false;
    --level;
  }
  __builtin_prefetch(&row->link(level));
  return true;
}

void RowSkiplist::FindPlaces(std::span<Place* const> places) const {
  const int height = height_.load(std::memory_order_relaxed);
  std::array<Search, kSearchesMax> searches;
  while (!places.empty()) {
    size_t running = 0;
    for (; !places.empty() && running < searches.size(); places = places.subspan(1)) {
      Place* place = places.front();
      place->is_found = height > kNearLevels && StartLevel(place->key, kNearLevels) == kNearLevels;
      if (!place->is_found) continue;
      place->path.fill(start_);
      searches[running++] = {.place = place, .row = start_, .level = height - 1};
    }
    while (running > 0) {
      for (size_t i = 0; i < running;) {
        if (searches[i].Step()) {
          ++i;
        } else {
          searches[i] = searches[--running];
        }
      }
    }
  }
}

// Rows that were added since the place was found may lie after its path.
void RowSkiplist::Follow(const Place& place) {
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    MemRow* row = place.path[level];
    while (MemRow* next = NextLess(row, level, place.key)) row = next;
    path_[level] = row;
  }
}

RowSkiplist::Insertion RowSkiplist::FindOrInsert(const Place& place, uint64_t hash) {
  if (place.is_found) {
    Follow(place);
  } else {
    Descend(place.key);
  }
  return InsertAtPath(place.key, hash);
}

RowSkiplist::Insertion RowSkiplist::InsertAtPath(const Key& key, uint64_t hash) {
  const RowLink& behind = path_[0]->link(0);
  MemRow* found = behind.row.load(std::memory_order_relaxed);
  if (found != nullptr && behind.head.load(std::memory_order_relaxed) == key.head &&
      found->key() == key.bytes) {
    return {found, false};
  }

  const int height = HeightOf(hash);
  MemRow* row = NewNode(key, height);
  row->number = next_number_++;
  CHECK(next_number_ != 0);
  const int list_height = height_.load(std::memory_order_relaxed);
  for (int level = list_height; level < height; ++level) path_[level] = start_;
  for (int level = 0; level < height; ++level) {
    RowLink& before = path_[level]->link(level);
    RowLink& after = row->link(level);
    after.row.store(before.row.load(std::memory_order_relaxed), std::memory_order_relaxed);
    after.head.store(before.head.load(std::memory_order_relaxed), std::memory_order_relaxed);
    before.row.store(row, std::memory_order_release);
    before.head.store(key.head, std::memory_order_release);
    path_[level] = row;
  }
  if (height > list_height) height_.store(height, std::memory_order_relaxed);
  return {row, true};
}

MemRow* RowSkiplist::AtOrAfter(std::string_view key) const { return Next(LastLess(Key(key))); }

MemRow* RowSkiplist::Before(std::string_view key) const {
  MemRow* row = LastLess(Key(key));
  return row == start_ ? nullptr : row;
}

MemRow* RowSkiplist::Last() const {
  MemRow* row = LastOf(0);
  return row == start_ ? nullptr : row;
}

MemRow* RowSkiplist::LastOf(int lowest) const {
  MemRow* row = start_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= lowest; --level) {
    while (MemRow* next = row->link(level).row.load(std::memory_order_acquire)) row = next;
  }
  return row;
}

// The highest level on which `rows` rows are kHopsMin hops or more.
int RowSkiplist::LevelOfHops(uint64_t rows) const {
  const int highest = height_.load(std::memory_order_relaxed) - 1;
  int level = 0;
  while (level < highest && rows >> kBitsOfLevel * (level + 1) >= kHopsMin) ++level;
  return level;
}

MemRow* RowSkiplist::AboutAfter(std::string_view key, uint64_t rows) const {
  const int level = LevelOfHops(rows);
  MemRow* row = LastLess(Key(key), level);
  for (uint64_t hops = (rows >> kBitsOfLevel * level) + 1; hops > 0 && row != nullptr; --hops) {
    row = row->link(level).row.load(std::memory_order_acquire);
  }
  return row;
}

// There are no links backward, so each hop is a search, of the upper levels alone.
MemRow* RowSkiplist::AboutBefore(std::optional<std::string_view> key, uint64_t rows) const {
  const int level = LevelOfHops(rows);
  MemRow* row = key.has_value() ? LastLess(Key(*key), level) : LastOf(level);
  for (uint64_t hops = rows >> kBitsOfLevel * level; hops > 0 && row != start_; --hops) {
    row = LastLess(Key(row->key()), level);
  }
  return row == start_ ? nullptr : row;
}

}  // namespace tandem::engine
