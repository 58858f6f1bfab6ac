// A radix sort over eight key bytes at a time.
//
// 1. Skip the prefix that all keys of the run share; when that is a whole key, all are equal: done.
// 2. Load the next eight bytes of every key into its head, zero-padded.
// 3. Sort by head: byte by byte from the lowest, skipping bytes that are the same in every head;
//    short runs by comparison. Both are stable.
// 4. Every run of equal heads is sorted likewise from the byte after them.
#include "format/index_sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "format/coding.h"

namespace tandem::format {
namespace {

// Below this many entries comparing is cheaper than counting 256 buckets.
constexpr size_t kComparedMax = 128;
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

// Distributes `from` to `to` by the byte of the head at `shift`, keeping the order within a bucket.
void Distribute(Run from, Run to, int shift) {
  const auto bucket = [shift](const CollectedEntry& entry) { return (entry.head >> shift) & 0xff; };
  std::array<uint32_t, 256> starts{};
  for (const CollectedEntry& entry : from) ++starts[bucket(entry)];
  uint32_t start = 0;
  for (uint32_t& place : starts) {
    const uint32_t count = place;
    place = start;
    start += count;
  }
  for (const CollectedEntry& entry : from) to[starts[bucket(entry)]++] = entry;
}

void SortByHead(Run run, Run scratch) {
  if (run.size() <= kComparedMax) {
    std::stable_sort(run.begin(), run.end(), [](const CollectedEntry& a, const CollectedEntry& b) {
      return a.head < b.head;
    });
    return;
  }
  uint64_t differing = 0;
  for (const CollectedEntry& entry : run) differing |= entry.head ^ run.front().head;
  Run from = run;
  Run to = scratch.first(run.size());
  for (int shift = 0; shift < 64; shift += 8) {
    if (((differing >> shift) & 0xff) == 0) continue;
    Distribute(from, to, shift);
    std::swap(from, to);
  }
  if (from.data() != run.data()) std::copy(from.begin(), from.end(), run.begin());
}

void SortRun(Run run, size_t known_prefix, Run scratch) {
  const size_t prefix = SharedPrefix(run, known_prefix);
  if (prefix == run.front().key_bytes) return;
  for (CollectedEntry& entry : run) entry.head = KeyHead(entry.key_view().substr(prefix));
  SortByHead(run, scratch);
  for (size_t first = 0; first < run.size();) {
    size_t end = first + 1;
    while (end < run.size() && run[end].head == run[first].head) ++end;
    if (end - first > 1 && run[first].key_bytes > prefix + kHeadBytes) {
      SortRun(run.subspan(first, end - first), prefix + kHeadBytes, scratch);
    }
    first = end;
  }
}

}  // namespace

void SortByKey(std::vector<CollectedEntry>* entries) {
  if (entries->size() < 2) return;
  std::vector<CollectedEntry> scratch(entries->size() > kComparedMax ? entries->size() : 0);
  SortRun(*entries, 0, scratch);
}

}  // namespace tandem::format
