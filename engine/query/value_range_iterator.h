// Cutting the values of an index into contiguous ranges of about a given number of entries, over
// all files and memstores of a view, forward or backward.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/section.h"
#include "memstore/memstore.h"

namespace tandem::engine {

struct ValueRangeStep {
  format::KeyRange keys;
  bool is_large = false;  ///< One value with too many entries to collect its rows.
};

/// Threads: one at a time.
class ValueRangeIterator {
 public:
  /// Of a read of all values, the rows of as many entries are collected together at most.
  static constexpr uint64_t kLargeMin = 4096;

  /// A cursor, and whether it may be dropped after that error.
  struct Part {
    std::unique_ptr<format::IndexValueCursor> cursor;
    std::function<bool(const Status&)> can_go;
  };
  /// The entries of an index in a memstore. Lifetime: it outlives the iterator.
  struct InMemory {
    const Memstore* memstore = nullptr;
    size_t index = 0;  ///< See Memstore::FindIndex.
  };
  /// `parts` has a cursor for each part of each section that is read; `ranges` ascend. Values that
  /// no cursor has may exist between the others: the resulting ranges leave no gap, even if a
  /// cursor is dropped.
  /// A value with more than `large_min` entries is a range of its own.
  ValueRangeIterator(std::vector<Part> parts, std::vector<InMemory> in_memory,
                     std::vector<format::KeyRange> ranges, bool backward,
                     uint64_t large_min = kLargeMin);

  /// The next range, with about `entries` entries; nullopt at the end. Errors: kCorruption,
  /// kIoError.
  Result<std::optional<ValueRangeStep>> Next(uint64_t entries);

 private:
  Result<uint64_t> PassMany(uint64_t entries);
  Status OpenRange();
  std::optional<std::string> NextValue() const;
  std::optional<std::string> MemstoreBound(uint64_t entries) const;
  bool IsBefore(const std::string& value, const std::string& other) const;
  uint64_t CountOf(const std::string& value) const;
  uint64_t CountInMemory(const std::string& value) const;
  Status Pass(const std::string& value);
  bool IsAtEdge(const std::string& value) const;
  format::KeyRange CutBefore(const std::string& value);
  format::KeyRange Invalidate(const std::string& value);

  template <typename Move>
  Status MoveEach(const Move& move);

  std::vector<Part> parts_;
  std::vector<InMemory> in_memory_;
  std::vector<format::KeyRange> ranges_;  // Still to come, the next one last.
  bool backward_;
  const uint64_t large_min_;
  std::optional<format::KeyRange> open_;  // What is left of the current one.
};

}  // namespace tandem::engine
