// Appending, sorting on demand, and looking up.
#include "memstore/append_buffer.h"

#include <algorithm>
#include <new>
#include <span>

#include "format/coding.h"
#include "memstore/stamped_bits.h"

namespace tandem::index {
namespace {

// The first chunks are small, so that the many memstores with few rows stay small.
constexpr uint32_t kChunkEntries[] = {8, 64, 512};
constexpr size_t kRunsPerLevel = 4;

}  // namespace

// A key range prepared for comparing heads first.
class AppendBuffer::Probe {
 public:
  explicit Probe(const format::KeyRange& range)
      : low_(range.low), low_head_(format::KeyHead(range.low)), bounded_(range.high.has_value()) {
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
  bool Holds(const Entry& entry) const {
    return !IsBelow(entry.head, entry) && !IsAbove(entry.head, entry);
  }
  // The part of a sorted run that is in the range.
  std::span<const SortedEntry> PartOf(const Run& run) const {
    const std::span<const SortedEntry> entries = run.entries;
    const auto first = std::partition_point(
        entries.begin(), entries.end(),
        [&](const SortedEntry& sorted) { return IsBelow(sorted.head, *sorted.entry); });
    const auto end = std::partition_point(first, entries.end(), [&](const SortedEntry& sorted) {
      return !IsAbove(sorted.head, *sorted.entry);
    });
    return {first, end};
  }

 private:
  std::string_view low_, high_;
  uint64_t low_head_ = 0, high_head_ = 0;
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
  const Entry entry{.head = format::KeyHead(copy),
                    .key = copy.data(),
                    .key_bytes = static_cast<uint32_t>(copy.size()),
                    .number = chunk->first + count,
                    .row = row,
                    .sequence = sequence};
  new (&chunk->entries[count]) Entry(entry);
  chunk->count.store(count + 1, std::memory_order_release);
}

// Seals the active chunk, if any, by publishing the next one.
AppendBuffer::Chunk* AppendBuffer::NewChunk() {
  Chunk* sealed = active_.load(std::memory_order_relaxed);
  Chunk* chunk = new (arena_->Allocate(sizeof(Chunk), alignof(Chunk))) Chunk;
  chunk->number = sealed == nullptr ? 0 : sealed->number + 1;
  chunk->capacity = kChunkEntries[std::min<size_t>(chunk->number, std::size(kChunkEntries) - 1)];
  chunk->first = sealed == nullptr ? 0 : sealed->first + sealed->capacity;
  chunk->previous = sealed;
  chunk->entries =
      reinterpret_cast<Entry*>(arena_->Allocate(chunk->capacity * sizeof(Entry), alignof(Entry)));
  (sealed == nullptr ? first_ : sealed->next).store(chunk, std::memory_order_release);
  active_.store(chunk, std::memory_order_release);
  return chunk;
}

template <typename Use>
void AppendBuffer::ForEach(const format::KeyRange& range, format::SequenceNumber max_sequence,
                           Use&& use) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return;
  const Probe probe(range);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  for (const Entry& entry : Unsorted(*active, *runs)) {
    if (probe.Holds(entry) && entry.sequence <= max_sequence) use(entry.number, entry);
  }
  for (const auto& run : runs->list) {
    const bool is_visible = run->max_sequence <= max_sequence;
    for (const SortedEntry& sorted : probe.PartOf(*run)) {
      if (is_visible || sorted.entry->sequence <= max_sequence) use(sorted.number, *sorted.entry);
    }
  }
}

void AppendBuffer::Collect(const format::KeyRange& range, format::SequenceNumber max_sequence,
                           std::vector<const void*>* rows) const {
  ForEach(range, max_sequence, [&](uint32_t, const Entry& entry) { rows->push_back(entry.row); });
}

template <typename Use>
void AppendBuffer::ForEachLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                               const engine::StampedBits& dead,
                               std::vector<const BufferEntry*>* unknown, Use&& use) const {
  using Answer = engine::StampedBits::Answer;
  ForEach(range, max_sequence, [&](uint32_t number, const Entry& entry) {
    const Answer is_dead = dead.At(number, max_sequence);
    if (is_dead == Answer::kNo) use(entry);
    if (is_dead == Answer::kUnknown) unknown->push_back(&entry);
  });
}

void AppendBuffer::CollectLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                               const engine::StampedBits& dead, std::vector<const void*>* rows,
                               std::vector<const BufferEntry*>* unknown) const {
  ForEachLive(range, max_sequence, dead, unknown,
              [&](const Entry& entry) { rows->push_back(entry.row); });
}

uint64_t AppendBuffer::CountLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                                 const engine::StampedBits& dead,
                                 std::vector<const BufferEntry*>* unknown) const {
  uint64_t count = 0;
  ForEachLive(range, max_sequence, dead, unknown, [&](const Entry&) { ++count; });
  return count;
}

const BufferEntry* AppendBuffer::Cursor::Next(format::SequenceNumber max_sequence) {
  if (chunk_ == nullptr || at_ == chunk_->capacity) {
    const Chunk* next =
        (chunk_ == nullptr ? buffer_->first_ : chunk_->next).load(std::memory_order_acquire);
    if (next == nullptr) return nullptr;
    chunk_ = next;
    at_ = 0;
  }
  if (at_ == chunk_->count.load(std::memory_order_acquire)) return nullptr;
  const Entry* entry = &chunk_->entries[at_];
  if (entry->sequence > max_sequence) return nullptr;
  ++at_;
  return entry;
}

uint32_t AppendBuffer::entry_count() const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  return active == nullptr ? 0 : active->first + active->count.load(std::memory_order_acquire);
}

uint64_t AppendBuffer::Count(const format::KeyRange& range) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return 0;
  const Probe probe(range);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  uint64_t count = 0;
  for (const Entry& entry : Unsorted(*active, *runs)) count += probe.Holds(entry) ? 1 : 0;
  for (const auto& run : runs->list) count += probe.PartOf(*run).size();
  return count;
}

std::optional<std::string_view> AppendBuffer::KeyAfter(const format::KeyRange& range,
                                                       uint64_t entries, bool backward) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return std::nullopt;
  const Probe probe(range);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  std::optional<std::string_view> first;
  for (const auto& run : runs->list) {
    const std::span<const SortedEntry> part = probe.PartOf(*run);
    if (part.size() <= entries) continue;
    const SortedEntry& after = backward ? part[part.size() - 1 - entries] : part[entries];
    const std::string_view key = after.entry->key_view();
    if (!first.has_value() || (backward ? key > *first : key < *first)) first = key;
  }
  return first;
}

// The entries of the active chunk; none if another reader has since found it sealed and sorted it.
std::span<const AppendBuffer::Entry> AppendBuffer::Unsorted(const Chunk& active, const Runs& runs) {
  if (runs.chunks > active.number) return {};
  return {active.entries, active.count.load(std::memory_order_acquire)};
}

// The runs of all chunks before `active`, and perhaps of later ones.
std::shared_ptr<const AppendBuffer::Runs> AppendBuffer::SortedBefore(const Chunk& active) const {
  base::MutexLock lock(mutex_);
  if (runs_->chunks >= active.number) return runs_;
  std::vector<const Chunk*> unsorted;
  for (const Chunk* chunk = active.previous; chunk != nullptr && chunk->number >= runs_->chunks;
       chunk = chunk->previous) {
    unsorted.push_back(chunk);
  }
  auto runs = std::make_shared<Runs>(*runs_);
  for (auto chunk = unsorted.rbegin(); chunk != unsorted.rend(); ++chunk) {
    runs->list.push_back(Sort(**chunk));
    MergeLevels(&runs->list);
  }
  runs->chunks = active.number;
  uint64_t bytes = 0;
  for (const auto& run : runs->list) bytes += run->entries.capacity() * sizeof(SortedEntry);
  run_bytes_.store(bytes, std::memory_order_relaxed);
  runs_ = std::move(runs);
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
    const Entry& entry = chunk.entries[i];
    run->entries.push_back({entry.head, &entry, entry.number});
    run->max_sequence = std::max(run->max_sequence, entry.sequence);
  }
  std::sort(run->entries.begin(), run->entries.end(), Less);
  return run;
}

// Merges the last kRunsPerLevel runs as long as they have the same level.
void AppendBuffer::MergeLevels(std::vector<std::shared_ptr<const Run>>* runs) {
  while (runs->size() >= kRunsPerLevel) {
    const auto first = runs->end() - kRunsPerLevel;
    const uint32_t level = runs->back()->level;
    if ((*first)->level != level) return;
    auto merged = std::make_shared<Run>();
    merged->level = level + 1;
    for (auto run = first; run != runs->end(); ++run) {
      merged->max_sequence = std::max(merged->max_sequence, (*run)->max_sequence);
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
