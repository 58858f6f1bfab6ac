// Sets of values: normal form, complement, membership.
#include "engine/predicate/value_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tandem::engine {
namespace {

// Whether `a` starts before `b`; an open side starts before everything.
bool StartsBefore(const ValueInterval& a, const ValueInterval& b) {
  if (!a.low.has_value() || !b.low.has_value()) return !a.low.has_value() && b.low.has_value();
  const int order = a.low->key.compare(b.low->key);
  return order != 0 ? order < 0 : a.low->inclusive && !b.low->inclusive;
}

// Whether `next`, which does not start before `first`, begins at or before the end of `first`.
bool Touches(const ValueInterval& first, const ValueInterval& next) {
  if (!first.high.has_value() || !next.low.has_value()) return true;
  const int order = next.low->key.compare(first.high->key);
  return order < 0 || (order == 0 && (next.low->inclusive || first.high->inclusive));
}

bool EndsBefore(const ValueInterval& a, const ValueInterval& b) {
  if (!a.high.has_value() || !b.high.has_value()) return a.high.has_value() && !b.high.has_value();
  const int order = a.high->key.compare(b.high->key);
  return order != 0 ? order < 0 : !a.high->inclusive && b.high->inclusive;
}

ValueBound Opposite(const ValueBound& bound) { return {bound.key, !bound.inclusive}; }

}  // namespace

bool ValueInterval::Contains(std::string_view key) const {
  if (low.has_value()) {
    const int order = key.compare(low->key);
    if (order < 0 || (order == 0 && !low->inclusive)) return false;
  }
  if (high.has_value()) {
    const int order = key.compare(high->key);
    if (order > 0 || (order == 0 && !high->inclusive)) return false;
  }
  return true;
}

bool ValueInterval::empty() const {
  if (!low.has_value() || !high.has_value()) return false;
  const int order = low->key.compare(high->key);
  return order > 0 || (order == 0 && !(low->inclusive && high->inclusive));
}

ValueSet::ValueSet(std::vector<ValueInterval> intervals) : intervals_(std::move(intervals)) {
  std::erase_if(intervals_, [](const ValueInterval& interval) { return interval.empty(); });
  if (intervals_.size() < 2) return;
  std::stable_sort(intervals_.begin(), intervals_.end(), StartsBefore);
  auto last = intervals_.begin();  // Of those that are in normal form.
  for (auto next = last + 1; next != intervals_.end(); ++next) {
    if (!Touches(*last, *next)) {
      if (++last != next) *last = std::move(*next);
    } else if (EndsBefore(*last, *next)) {
      last->high = std::move(next->high);
    }
  }
  intervals_.erase(last + 1, intervals_.end());
}

bool ValueSet::Contains(std::string_view key) const {
  // Only the last interval that starts at or before the key can contain it: if two intervals meet
  // at a key, neither contains it, or they would have been merged.
  const auto after = std::partition_point(
      intervals_.begin(), intervals_.end(), [&](const ValueInterval& interval) {
        return !interval.low.has_value() || std::string_view(interval.low->key) <= key;
      });
  return after != intervals_.begin() && (after - 1)->Contains(key);
}

ValueSet ValueSet::Complement() const {
  std::vector<ValueInterval> gaps;
  ValueInterval gap;
  for (const ValueInterval& interval : intervals_) {
    if (interval.low.has_value()) {
      gap.high = Opposite(*interval.low);
      gaps.push_back(std::move(gap));
    }
    if (!interval.high.has_value()) return ValueSet(std::move(gaps));
    gap = {Opposite(*interval.high), std::nullopt};
  }
  gaps.push_back(std::move(gap));
  return ValueSet(std::move(gaps));
}

ValueSet ValueSet::UnionOf(std::span<const ValueSet* const> sets) {
  std::vector<ValueInterval> intervals;
  for (const ValueSet* set : sets) {
    intervals.insert(intervals.end(), set->intervals_.begin(), set->intervals_.end());
  }
  return ValueSet(std::move(intervals));
}

// By De Morgan: the complement of the union of the complements.
ValueSet ValueSet::IntersectionOf(std::span<const ValueSet* const> sets) {
  std::vector<ValueInterval> outside;
  for (const ValueSet* set : sets) {
    std::vector<ValueInterval> gaps = set->Complement().intervals_;
    std::move(gaps.begin(), gaps.end(), std::back_inserter(outside));
  }
  return ValueSet(std::move(outside)).Complement();
}

}  // namespace tandem::engine
