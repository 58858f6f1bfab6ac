// A radix sort over eight key bytes at a time.
//
// 1. Skip the prefix that all keys of the run share; when that is a whole key, all are equal: done.
// 2. Load the next eight bytes of every key into its head, zero-padded.
// 3. Sort by head: distribute by the highest kDigits digits that differ, least significant first;
//    then sort each run that is still equal by the bits below them in the same way. Sort short runs
//    by comparison.
// 4. Sort every run of equal heads in the same way, from the byte after the heads.
#include "index/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/page_memory.h"
#include "format/coding.h"

namespace tandem::format {
namespace {

// Three digits distinguish most of a few million entries. 256 buckets are as many as the processor
// can write to concurrently: two digits of 11 bits take half as long again.
constexpr int kDigitBits = 8;
constexpr int kDigits = 3;
constexpr uint64_t kDigitMask = (1u << kDigitBits) - 1;
// Up to this many entries, sorting by comparison is cheaper than counting buckets.
constexpr size_t kComparedMax = 256;
constexpr size_t kHeadBytes = 8;

using Run = std::span<CollectedEntry>;

// The length of the prefix that all keys share. Requires: they share `known` bytes.
size_t SharedPrefix(Run run, size_t known) {
  const std::string_view first = run.front().key_view();
  size_t shared = first.size();
  for (const CollectedEntry& entry : run) {
    const std::string_view key = entry.key_view();
    if (key.size() >= shared &&
        std::memcmp(first.data() + known, key.data() + known, shared - known) == 0) {
      continue;
    }
    shared = std::min(shared, key.size());
    size_t same = known;
    while (same < shared && first[same] == key[same]) ++same;
    shared = same;
  }
  return shared;
}

// Distributes `from` to `to` by one digit of the head, keeping the order within a bucket.
void Distribute(Run from, Run to, int shift) {
  const auto digit = [shift](const CollectedEntry& entry) {
    return (entry.head >> shift) & kDigitMask;
  };
  std::array<uint32_t, kDigitMask + 1> places{};
  for (const CollectedEntry& entry : from) ++places[digit(entry)];
  uint32_t place = 0;
  for (uint32_t& count : places) {
    const uint32_t next = place + count;
    count = place;
    place = next;
  }
  for (const CollectedEntry& entry : from) to[places[digit(entry)]++] = entry;
}

// Calls visit(run) for every run of more than one entry whose heads are equal from bit `low` on.
template <typename Visit>
void ForEachTie(Run run, int low, Visit visit) {
  for (size_t first = 0; first < run.size();) {
    size_t end = first + 1;
    while (end < run.size() && run[end].head >> low == run[first].head >> low) ++end;
    if (end - first > 1) visit(run.subspan(first, end - first));
    first = end;
  }
}

void SortByHead(Run run, Run scratch) {
  if (run.size() <= kComparedMax) {
    std::sort(run.begin(), run.end(), [](const CollectedEntry& a, const CollectedEntry& b) {
      return a.head != b.head ? a.head < b.head : a.ordinal < b.ordinal;
    });
    return;
  }
  uint64_t differing = 0;
  for (const CollectedEntry& entry : run) differing |= entry.head ^ run.front().head;
  const int top = std::bit_width(differing);
  const int low = std::max(0, top - kDigits * kDigitBits);
  Run from = run;
  Run to = scratch.first(run.size());
  for (int shift = low; shift < top; shift += kDigitBits) {
    if (((differing >> shift) & kDigitMask) == 0) continue;
    Distribute(from, to, shift);
    std::swap(from, to);
  }
  if (from.data() != run.data()) std::copy(from.begin(), from.end(), run.begin());
  if (low > 0) ForEachTie(run, low, [&](Run tie) { SortByHead(tie, scratch); });
}

void SortRun(Run run, size_t known_prefix, Run scratch) {
  const size_t prefix = SharedPrefix(run, known_prefix);
  if (prefix == run.front().key_bytes) return;
  for (CollectedEntry& entry : run) entry.head = KeyHead(entry.key_view().substr(prefix));
  SortByHead(run, scratch);
  ForEachTie(run, 0, [&](Run tie) {
    if (tie.front().key_bytes > prefix + kHeadBytes) SortRun(tie, prefix + kHeadBytes, scratch);
  });
}

}  // namespace

void CollectedEntries::Grow() {
  constexpr size_t kFirstCapacity = 16;
  const size_t larger = capacity_ + std::max(kFirstCapacity, capacity_ / 2);
  entries_.Grow(larger * sizeof(CollectedEntry));
  capacity_ = larger;
}

void SortByKey(std::span<CollectedEntry> entries) {
  if (entries.size() < 2) return;
  base::PageBuffer memory;
  Run scratch;
  if (entries.size() > kComparedMax) {
    memory.Resize(entries.size_bytes());
    scratch = {reinterpret_cast<CollectedEntry*>(memory.data()), entries.size()};
  }
  SortRun(entries, 0, scratch);
}

}  // namespace tandem::format
