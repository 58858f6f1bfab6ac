// A set of small numbers that only grows, each member from a sequence on: which entries and rows a
// memstore has made dead so far. A reader at a sequence learns of each number that it is no member,
// that it is one, or that it became one so recently that the reader has to look for itself.
//
// Numbers lie in groups of one cache line: the bits, and the sequence of the newest member. A bit
// may be set for readers that come later; so it counts for those alone that see the newest member
// of its group. With few changes between two readers there are few such groups.
//
// Threads: one adds, any number read. Add stores the sequence before the bit, which is stored with
// release; a reader loads the bit with acquire and the sequence after it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "format/types.h"

namespace tandem::engine {

class StampedBits {
 public:
  enum class Answer : uint8_t { kNo, kYes, kUnknown };

  static constexpr uint32_t kGroupBits = 448;
  using Words = std::array<uint64_t, kGroupBits / 64>;

  /// For numbers below `size`.
  explicit StampedBits(uint32_t size)
      : size_(size), groups_(std::make_unique<Group[]>(GroupsFor(size))) {}
  /// A copy for more numbers. Threads: the one that adds.
  StampedBits(const StampedBits& other, uint32_t size);

  /// Requires: number < size(); sequences never decrease from call to call.
  void Add(uint32_t number, format::SequenceNumber sequence) {
    Group& group = groups_[number / kGroupBits];
    const uint32_t bit = number % kGroupBits;
    std::atomic<uint64_t>& word = group.words[bit / 64];
    const uint64_t before = word.load(std::memory_order_relaxed);  // Written by this thread alone.
    const uint64_t after = before | uint64_t{1} << (bit % 64);
    if (after == before) return;
    group.newest.store(sequence.value, std::memory_order_relaxed);
    word.store(after, std::memory_order_release);
  }

  /// Whether it is a member for a reader at `sequence`. Requires: number < size(); members up to
  /// that sequence were added.
  Answer At(uint32_t number, format::SequenceNumber sequence) const {
    const Group& group = groups_[number / kGroupBits];
    if (!Has(group, number % kGroupBits)) return Answer::kNo;
    return group.newest.load(std::memory_order_relaxed) <= sequence.value ? Answer::kYes
                                                                          : Answer::kUnknown;
  }

  /// Reads the members from group * kGroupBits on for a reader at `sequence`. False: some may be
  /// newer. Requires: the first of these numbers is below size(); members up to that sequence were
  /// added.
  bool ReadGroup(uint32_t group, format::SequenceNumber sequence, Words* words) const {
    const Group& from = groups_[group];
    for (size_t i = 0; i < words->size(); ++i) {
      (*words)[i] = from.words[i].load(std::memory_order_acquire);
    }
    return from.newest.load(std::memory_order_relaxed) <= sequence.value;
  }

  /// Whether it was added, for the thread that adds. Requires: number < size().
  bool Has(uint32_t number) const { return Has(groups_[number / kGroupBits], number % kGroupBits); }

  uint32_t size() const { return size_; }
  uint64_t size_bytes() const { return BytesFor(size_); }
  static uint64_t BytesFor(uint32_t size) { return GroupsFor(size) * sizeof(Group); }

 private:
  struct alignas(64) Group {
    std::atomic<uint64_t> newest{0};  // The sequence of the last member added; 0: there is none.
    std::array<std::atomic<uint64_t>, kGroupBits / 64> words{};
  };
  static_assert(sizeof(Group) == 64);
  static bool Has(const Group& group, uint32_t bit) {
    return (group.words[bit / 64].load(std::memory_order_acquire) >> (bit % 64) & 1) != 0;
  }
  static uint64_t GroupsFor(uint32_t size) { return uint64_t{size} / kGroupBits + 1; }

  uint32_t size_;
  std::unique_ptr<Group[]> groups_;
};

}  // namespace tandem::engine
