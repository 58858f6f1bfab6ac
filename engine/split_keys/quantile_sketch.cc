// Keys are collected, sorted and merged into the entries, at a time a quarter as many as there are:
// few enough to take little memory beside them, and enough that a merge costs each key little.
#include "engine/split_keys/quantile_sketch.h"

#include <algorithm>

namespace tandem::engine {
namespace {

using Entry = QuantileSketch::Entry;
using Added = std::vector<std::pair<std::string, uint64_t>>;

constexpr size_t kAddedMin = 4096;

/// Sorts, and makes one of equal keys.
void Combine(Added* added) {
  std::ranges::sort(*added, {}, &Added::value_type::first);
  size_t kept = 0;
  for (size_t i = 1; i < added->size(); ++i) {
    if ((*added)[i].first == (*added)[kept].first) {
      (*added)[kept].second += (*added)[i].second;
    } else if (++kept != i) {
      (*added)[kept] = std::move((*added)[i]);
    }
  }
  added->resize(kept + 1);
}

/// Takes entries in their order and drops each that its successor can stand for.
class Compressor {
 public:
  Compressor(uint64_t room, size_t count) : room_(room) { kept_.reserve(count); }

  void Take(Entry entry) {
    // The first key stays: what lies before a split key has to begin somewhere.
    if (kept_.size() > 1) {
      const Entry& last = kept_.back();
      const uint64_t more = last.gap + last.weight;
      if (more + entry.gap + entry.spread <= room_) {
        entry.gap += more;
        kept_.back() = std::move(entry);
        return;
      }
    }
    kept_.push_back(std::move(entry));
  }

  std::vector<Entry> Finish() {
    // Most of what was reserved is not used.
    if (kept_.size() < kept_.capacity() / 2) kept_.shrink_to_fit();
    return std::move(kept_);
  }

 private:
  uint64_t room_;
  std::vector<Entry> kept_;
};

}  // namespace

QuantileSketch::QuantileSketch(double error_share) : error_share_(error_share) {}

void QuantileSketch::Add(std::string_view key, uint64_t weight) {
  weight_ += weight;
  ++keys_;
  added_.emplace_back(key, weight);
  if (added_.size() >= std::max(kAddedMin, entries_.size() / 4)) Settle();
}

void QuantileSketch::Settle() {
  if (added_.empty()) return;
  Combine(&added_);
  const auto room = static_cast<uint64_t>(error_share_ * static_cast<double>(weight_));
  Compressor compressor(room, entries_.size() + added_.size());
  auto next = entries_.begin();
  for (auto& [key, weight] : added_) {
    for (; next != entries_.end() && next->key < key; ++next) compressor.Take(std::move(*next));
    if (next != entries_.end() && next->key == key) {
      next->weight += weight;
      continue;
    }
    // Nobody knows which of the dropped keys before the next entry lie before this one.
    const uint64_t spread = next == entries_.end() ? 0 : next->gap + next->spread;
    compressor.Take({.key = std::move(key), .gap = 0, .weight = weight, .spread = spread});
  }
  for (; next != entries_.end(); ++next) compressor.Take(std::move(*next));
  entries_ = compressor.Finish();
  added_.clear();
}

const std::vector<Entry>& QuantileSketch::entries() {
  Settle();
  return entries_;
}

QuantileSketch::Rank QuantileSketch::RankOf(std::string_view key) {
  Settle();
  uint64_t before = 0;  // The weight that certainly lies before the entry.
  for (const Entry& entry : entries_) {
    const uint64_t below = before + entry.gap;
    if (entry.key == key) return {below, below + entry.spread};
    if (entry.key > key) return {before, below + entry.spread};
    before = below + entry.weight;
  }
  return {before, before};
}

uint64_t QuantileSketch::error() {
  Settle();
  uint64_t error = 0;
  for (const Entry& entry : entries_) error = std::max(error, entry.gap + entry.spread);
  return error;
}

size_t QuantileSketch::memory_bytes() const {
  constexpr size_t kInPlace = 15;  // A short string is where its object is.
  size_t bytes =
      entries_.capacity() * sizeof(Entry) + added_.capacity() * sizeof(Added::value_type);
  const auto add = [&bytes](const std::string& key) {
    if (key.capacity() > kInPlace) bytes += key.capacity() + 1;
  };
  for (const Entry& entry : entries_) add(entry.key);
  for (const auto& [key, weight] : added_) add(key);
  return bytes;
}

}  // namespace tandem::engine
