// Appending, sorting on demand, and looking up.
#include "index/append_buffer.h"

#include <algorithm>
#include <new>

#include "format/coding.h"

namespace tandem::index {
namespace {

// The first chunks are small, so that the many memstores with few rows stay small.
constexpr uint32_t kChunkEntries[] = {8, 64, 512, 4096};
constexpr size_t kRunsPerLevel = 4;

}  // namespace

// A key range prepared for comparing heads first.
class AppendBuffer::Probe {
 public:
  Probe(const format::KeyRange& range, format::SequenceNumber max_sequence)
      : low_(range.low),
        low_head_(format::KeyHead(range.low)),
        max_sequence_(max_sequence),
        bounded_(range.high.has_value()) {
    if (!bounded_) return;
    high_ = *range.high;
    high_head_ = format::KeyHead(high_);
  }

  bool IsBelow(uint64_t head, const Entry& entry) const {
    return head != low_head_ ? head < low_head_ : entry.key_view() < low_;
  }
  bool IsAbove(uint64_t head, const Entry& entry) const {
    if (!bounded_) return false;
    return head != high_head_ ? head > high_head_ : entry.key_view() >= high_;
  }
  void Take(const Entry& entry, std::vector<const void*>* rows) const {
    if (entry.sequence <= max_sequence_) rows->push_back(entry.row);
  }

 private:
  std::string_view low_, high_;
  uint64_t low_head_ = 0, high_head_ = 0;
  format::SequenceNumber max_sequence_;
  bool bounded_;
};

void AppendBuffer::Append(std::string_view key, const void* row, format::SequenceNumber sequence) {
  Chunk* chunk = active_.load(std::memory_order_relaxed);  // Written by this thread alone.
  uint32_t count = chunk == nullptr ? 0 : chunk->count.load(std::memory_order_relaxed);
  if (chunk == nullptr || count == chunk->capacity) {
    chunk = NewChunk();
    count = 0;
  }
  const std::string_view copy = arena_->Copy(key);
  const Entry entry{format::KeyHead(copy), copy.data(), static_cast<uint32_t>(copy.size()), row,
                    sequence};
  new (&chunk->entries[count]) Entry(entry);
  chunk->count.store(count + 1, std::memory_order_release);
}

// Seals the active chunk, if any, by publishing the next one.
AppendBuffer::Chunk* AppendBuffer::NewChunk() {
  const Chunk* sealed = active_.load(std::memory_order_relaxed);
  Chunk* chunk = new (arena_->Allocate(sizeof(Chunk), alignof(Chunk))) Chunk;
  chunk->number = sealed == nullptr ? 0 : sealed->number + 1;
  chunk->capacity = kChunkEntries[std::min<size_t>(chunk->number, std::size(kChunkEntries) - 1)];
  chunk->previous = sealed;
  chunk->entries =
      reinterpret_cast<Entry*>(arena_->Allocate(chunk->capacity * sizeof(Entry), alignof(Entry)));
  active_.store(chunk, std::memory_order_release);
  return chunk;
}

void AppendBuffer::Collect(const format::KeyRange& range, format::SequenceNumber max_sequence,
                           std::vector<const void*>* rows) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return;
  const Probe probe(range, max_sequence);
  const uint32_t count = active->count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Entry& entry = active->entries[i];
    if (!probe.IsBelow(entry.head, entry) && !probe.IsAbove(entry.head, entry)) {
      probe.Take(entry, rows);
    }
  }
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  for (const auto& run : *runs) {
    auto at = std::partition_point(
        run->entries.begin(), run->entries.end(),
        [&](const SortedEntry& sorted) { return probe.IsBelow(sorted.head, *sorted.entry); });
    for (; at != run->entries.end() && !probe.IsAbove(at->head, *at->entry); ++at) {
      probe.Take(*at->entry, rows);
    }
  }
}

// The runs of all chunks before `active`, and perhaps of later ones.
std::shared_ptr<const AppendBuffer::Runs> AppendBuffer::SortedBefore(const Chunk& active) const {
  base::MutexLock lock(mutex_);
  if (sorted_chunks_ >= active.number) return runs_;
  std::vector<const Chunk*> unsorted;
  for (const Chunk* chunk = active.previous; chunk != nullptr && chunk->number >= sorted_chunks_;
       chunk = chunk->previous) {
    unsorted.push_back(chunk);
  }
  auto runs = std::make_shared<Runs>(*runs_);
  for (auto chunk = unsorted.rbegin(); chunk != unsorted.rend(); ++chunk) {
    runs->push_back(Sort(**chunk));
    MergeLevels(runs.get());
  }
  uint64_t bytes = 0;
  for (const auto& run : *runs) bytes += run->entries.capacity() * sizeof(SortedEntry);
  run_bytes_.store(bytes, std::memory_order_relaxed);
  runs_ = std::move(runs);
  sorted_chunks_ = active.number;
  return runs_;
}

bool AppendBuffer::Less(const SortedEntry& a, const SortedEntry& b) {
  return a.head != b.head ? a.head < b.head : a.entry->key_view() < b.entry->key_view();
}

// Requires: the chunk is sealed.
std::shared_ptr<const AppendBuffer::Run> AppendBuffer::Sort(const Chunk& chunk) {
  auto run = std::make_shared<Run>();
  run->entries.reserve(chunk.capacity);
  for (uint32_t i = 0; i < chunk.capacity; ++i) {
    run->entries.push_back({chunk.entries[i].head, &chunk.entries[i]});
  }
  std::sort(run->entries.begin(), run->entries.end(), Less);
  return run;
}

// Merges the last runs as long as kRunsPerLevel of them are of one level.
void AppendBuffer::MergeLevels(Runs* runs) {
  while (runs->size() >= kRunsPerLevel) {
    const auto first = runs->end() - kRunsPerLevel;
    const uint32_t level = runs->back()->level;
    if ((*first)->level != level) return;
    auto merged = std::make_shared<Run>();
    merged->level = level + 1;
    for (auto run = first; run != runs->end(); ++run) {
      const auto middle = static_cast<std::ptrdiff_t>(merged->entries.size());
      merged->entries.insert(merged->entries.end(), (*run)->entries.begin(), (*run)->entries.end());
      std::inplace_merge(merged->entries.begin(), merged->entries.begin() + middle,
                         merged->entries.end(), Less);
    }
    runs->erase(first, runs->end());
    runs->push_back(std::move(merged));
  }
}

}  // namespace tandem::index
