// An ordered map whose copies share their entries: a copy costs a pointer for every few dozen
// entries, a change of a copy as much and one chunk of pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tandem::base {

/// Entries are not changed in place: Put replaces one. Lifetime: an entry lives as long as a map
/// that has it; iterators are valid until their map changes. A moved-from map may only be assigned
/// to or destroyed. Threads: as a std::map; maps that share entries are used by different threads
/// freely.
template <typename Key, typename Value>
class SharedMap {
 public:
  using value_type = std::pair<const Key, Value>;

 private:
  using Chunk = std::vector<std::shared_ptr<const value_type>>;  ///< 1 to kChunkMax, by key.
  static constexpr size_t kChunkMax = 64;

 public:
  class const_iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = SharedMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    reference operator*() const { return *(*(*chunks_)[chunk_])[at_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == (*chunks_)[chunk_]->size()) {
        ++chunk_;
        at_ = 0;
      }
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    const_iterator& operator--() {
      if (at_ == 0) at_ = (*chunks_)[--chunk_]->size();
      --at_;
      return *this;
    }
    const_iterator operator--(int) {
      const const_iterator before = *this;
      --*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    friend class SharedMap;
    using Chunks = std::vector<std::shared_ptr<const Chunk>>;
    const_iterator(const Chunks* chunks, size_t chunk, size_t at)
        : chunks_(chunks), chunk_(chunk), at_(at) {}

    const Chunks* chunks_ = nullptr;
    size_t chunk_ = 0, at_ = 0;
  };
  using iterator = const_iterator;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  SharedMap() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return {&chunks_, 0, 0}; }
  const_iterator end() const { return {&chunks_, chunks_.size(), 0}; }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  const_iterator find(const Key& key) const {
    const const_iterator found = lower_bound(key);
    return found != end() && found->first == key ? found : end();
  }
  bool contains(const Key& key) const { return find(key) != end(); }
  /// The first entry that is not below `key`.
  const_iterator lower_bound(const Key& key) const {
    const auto chunk = std::partition_point(
        chunks_.begin(), chunks_.end(),
        [&key](const std::shared_ptr<const Chunk>& each) { return each->back()->first < key; });
    if (chunk == chunks_.end()) return end();
    return {&chunks_, static_cast<size_t>(chunk - chunks_.begin()), PlaceOf(**chunk, key)};
  }
  /// Requires: contains(key).
  const Value& at(const Key& key) const { return find(key)->second; }
  /// The entry, which lives on without a map that has it. nullptr: there is none.
  std::shared_ptr<const value_type> Share(const Key& key) const {
    const const_iterator found = find(key);
    return found == end() ? nullptr : (*chunks_[found.chunk_])[found.at_];
  }

  /// Adds an entry or replaces the one of that key. Returns whether it is new. After an exception
  /// (std::bad_alloc) the map is as before.
  bool Put(const Key& key, Value value) {
    auto entry = std::make_shared<const value_type>(key, std::move(value));
    if (chunks_.empty()) {
      chunks_.push_back(std::make_shared<const Chunk>(Chunk{std::move(entry)}));
      size_ = 1;
      return true;
    }
    const_iterator place = lower_bound(key);
    if (place == end()) place = {&chunks_, chunks_.size() - 1, chunks_.back()->size()};
    const Chunk& chunk = *chunks_[place.chunk_];
    Chunk changed;
    changed.reserve(chunk.size() + 1);
    changed.assign(chunk.begin(), chunk.end());
    const auto at = changed.begin() + static_cast<std::ptrdiff_t>(place.at_);
    const bool is_new = at == changed.end() || key < (*at)->first;
    if (is_new) {
      changed.insert(at, std::move(entry));
    } else {
      *at = std::move(entry);
    }
    Replace(place.chunk_, std::move(changed));
    size_ += is_new ? 1 : 0;
    return is_new;
  }

  /// Returns whether there was one. Exceptions: as Put.
  bool Erase(const Key& key) {
    const const_iterator place = find(key);
    if (place == end()) return false;
    Chunk changed = *chunks_[place.chunk_];
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(place.at_));
    Replace(place.chunk_, std::move(changed));
    --size_;
    return true;
  }

 private:
  static size_t PlaceOf(const Chunk& chunk, const Key& key) {
    const auto place = std::partition_point(
        chunk.begin(), chunk.end(),
        [&key](const std::shared_ptr<const value_type>& each) { return each->first < key; });
    return static_cast<size_t>(place - chunk.begin());
  }

  // A chunk that is too large becomes two, one that is small joins a small neighbour.
  void Replace(size_t at, Chunk changed) {
    const auto place = chunks_.begin() + static_cast<std::ptrdiff_t>(at);
    if (changed.size() > kChunkMax) {
      // Keys that come in order leave full chunks behind.
      const bool is_last = at + 1 == chunks_.size();
      const auto middle =
          changed.begin() + static_cast<std::ptrdiff_t>(is_last ? kChunkMax : kChunkMax / 2);
      auto upper = std::make_shared<const Chunk>(middle, changed.end());
      changed.erase(middle, changed.end());
      auto lower = std::make_shared<const Chunk>(std::move(changed));
      chunks_.insert(place, std::move(lower));
      chunks_[at + 1] = std::move(upper);
      return;
    }
    if (changed.empty()) {
      chunks_.erase(place);
      return;
    }
    const bool joins =
        at + 1 < chunks_.size() && changed.size() + chunks_[at + 1]->size() <= kChunkMax / 2;
    if (joins) changed.insert(changed.end(), chunks_[at + 1]->begin(), chunks_[at + 1]->end());
    *place = std::make_shared<const Chunk>(std::move(changed));
    if (joins) chunks_.erase(place + 1);
  }

  std::vector<std::shared_ptr<const Chunk>> chunks_;
  size_t size_ = 0;
};

}  // namespace tandem::base
