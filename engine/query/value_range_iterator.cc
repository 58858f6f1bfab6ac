// The cursors move together from value to value; a range ends before the value that would make it
// too large. Memstores have no cursor: each says after which value it has enough entries, and a
// range ends there at the latest. A value with that many entries is a range of its own.
#include "engine/query/value_range_iterator.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "index/key.h"

namespace tandem::engine {
namespace {

// Entries of a memstore among very many. Ranges with fewer are not worth a walk over all of them.
constexpr uint64_t kFromEachMin = 8;

// The first key after those equal to `value`.
std::string After(const std::string& value) { return *format::EqualRange(value).high; }

}  // namespace

ValueRangeIterator::ValueRangeIterator(std::vector<Part> parts, std::vector<InMemory> in_memory,
                                       std::vector<format::KeyRange> ranges, bool backward,
                                       uint64_t large_min)
    : parts_(std::move(parts)),
      in_memory_(std::move(in_memory)),
      ranges_(std::move(ranges)),
      backward_(backward),
      large_min_(large_min) {
  if (!backward_) std::reverse(ranges_.begin(), ranges_.end());
}

Result<std::optional<ValueRangeStep>> ValueRangeIterator::Next(uint64_t entries) {
  if (!open_.has_value()) {
    if (ranges_.empty()) return std::optional<ValueRangeStep>();
    RETURN_IF_ERROR(OpenRange());
  }
  const std::optional<std::string> bound = MemstoreBound(entries);
  ASSIGN_OR_RETURN(uint64_t total, PassMany(entries));
  while (true) {
    const std::optional<std::string> value = NextValue();
    if (bound.has_value() && (!value.has_value() || !IsBefore(*value, *bound))) {
      if (!IsAtEdge(*bound)) return std::optional(ValueRangeStep{CutBefore(*bound), false});
      const bool is_large = CountOf(*bound) + CountInMemory(*bound) > large_min_;
      RETURN_IF_ERROR(Pass(*bound));
      return std::optional(ValueRangeStep{Invalidate(*bound), is_large});
    }
    if (!value.has_value()) {
      ValueRangeStep rest{*std::exchange(open_, std::nullopt), false};
      return std::optional(std::move(rest));
    }
    const uint64_t count = CountOf(*value);
    const bool is_large = count > large_min_;
    if (is_large && total == 0 && IsAtEdge(*value)) {
      RETURN_IF_ERROR(Pass(*value));
      return std::optional(ValueRangeStep{Invalidate(*value), true});
    }
    if (is_large || total >= entries) {
      return std::optional(ValueRangeStep{CutBefore(*value), false});
    }
    total += count;
    RETURN_IF_ERROR(Pass(*value));
  }
}

// Passes values of the only source together: none of them has too many entries alone. Returns how
// many they have.
Result<uint64_t> ValueRangeIterator::PassMany(uint64_t entries) {
  uint64_t passed = 0;
  if (parts_.size() != 1 || !in_memory_.empty() || entries > large_min_) return passed;
  RETURN_IF_ERROR(MoveEach([&](format::IndexValueCursor& cursor) -> Status {
    if (!cursor.valid() || !open_->Contains(cursor.key())) return {};
    ASSIGN_OR_RETURN(passed, cursor.PassMany(entries, *open_, backward_));
    return {};
  }));
  return passed;
}

Status ValueRangeIterator::OpenRange() {
  open_ = std::move(ranges_.back());
  ranges_.pop_back();
  return MoveEach([this](format::IndexValueCursor& cursor) {
    return backward_ ? cursor.SeekBefore(open_->high) : cursor.Seek(open_->low);
  });
}

// Applies `move` to every cursor. A cursor that fails is dropped if its can_go accepts the error.
template <typename Move>
Status ValueRangeIterator::MoveEach(const Move& move) {
  for (size_t i = 0; i < parts_.size();) {
    const Status status = move(*parts_[i].cursor);
    if (status.ok()) {
      ++i;
    } else if (parts_[i].can_go(status)) {
      parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      return status;
    }
  }
  return {};
}

// The first value, in the direction of the walk, of any cursor within the open range.
std::optional<std::string> ValueRangeIterator::NextValue() const {
  std::optional<std::string> next;
  for (const auto& [cursor, can_go] : parts_) {
    if (!cursor->valid() || !open_->Contains(cursor->key())) continue;
    const std::string_view key = cursor->key();
    if (!next.has_value() || (backward_ ? key > *next : key < *next)) next = key;
  }
  return next;
}

// The value of the open range at which it ends at the latest; nullopt: memstores have few entries.
std::optional<std::string> ValueRangeIterator::MemstoreBound(uint64_t entries) const {
  std::optional<std::string> bound;
  if (in_memory_.empty()) return bound;
  const uint64_t each = std::max(kFromEachMin, entries / in_memory_.size());
  for (const auto& [memstore, index] : in_memory_) {
    const auto key = memstore->IndexKeyAfter(index, *open_, each, backward_);
    if (!key.has_value()) continue;
    if (std::string value(*key); !bound.has_value() || IsBefore(value, *bound)) {
      bound = std::move(value);
    }
  }
  return bound;
}

bool ValueRangeIterator::IsBefore(const std::string& value, const std::string& other) const {
  return backward_ ? value > other : value < other;
}

// Of memstores.
uint64_t ValueRangeIterator::CountInMemory(const std::string& value) const {
  uint64_t count = 0;
  for (const auto& [memstore, index] : in_memory_) {
    count += memstore->CountIndex(index, format::EqualRange(value));
  }
  return count;
}

// Of files.
uint64_t ValueRangeIterator::CountOf(const std::string& value) const {
  uint64_t count = 0;
  for (const auto& [cursor, can_go] : parts_) {
    if (cursor->valid() && cursor->key() == value) count += cursor->count();
  }
  return count;
}

// Advances every cursor that is at `value`.
Status ValueRangeIterator::Pass(const std::string& value) {
  return MoveEach([&](format::IndexValueCursor& cursor) {
    if (!cursor.valid() || cursor.key() != value) return Status();
    return backward_ ? cursor.Previous() : cursor.Next();
  });
}

// Whether no key of the open range comes before `value`.
bool ValueRangeIterator::IsAtEdge(const std::string& value) const {
  return backward_ ? open_->high.has_value() && *open_->high == After(value) : open_->low == value;
}

// Cuts the part before `value` off the open range and returns it.
format::KeyRange ValueRangeIterator::CutBefore(const std::string& value) {
  format::KeyRange cut = *open_;
  if (backward_) {
    cut.low = After(value);
    open_->high = cut.low;
  } else {
    cut.high = value;
    open_->low = value;
  }
  return cut;
}

// Cuts `value`, which is at the edge, off the open range and returns its range.
format::KeyRange ValueRangeIterator::Invalidate(const std::string& value) {
  if (backward_) {
    open_->high = value;
  } else {
    open_->low = After(value);
  }
  return format::EqualRange(value);
}

}  // namespace tandem::engine
