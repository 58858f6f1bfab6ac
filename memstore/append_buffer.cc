// Appending, sorting on demand, and looking up.
#include "memstore/append_buffer.h"

#include <algorithm>
#include <functional>
#include <new>
#include <span>

#include "format/coding.h"
#include "format/key_head.h"
#include "memstore/stamped_bits.h"

namespace tandem::index {
namespace {

// The first chunks are small, so that the many memstores with few rows stay small.
constexpr uint32_t kChunkEntries[] = {8, 64, 512};
constexpr size_t kRunsPerLevel = 4;

}  // namespace

// A key range as it compares with keys that have a prefix in common, by their heads first.
class AppendBuffer::Probe {
 public:
  Probe(const format::KeyRange& range, std::string_view prefix)
      : range_(range), low_(range.low, prefix) {
    if (range.high.has_value()) high_.emplace(*range.high, prefix);
  }

  bool IsBelow(uint64_t head, const Entry& entry) const {
    if (low_.side != 0) return low_.side > 0;
    return head != low_.head ? head < low_.head : entry.key_view() < range_.low;
  }
  bool IsAbove(uint64_t head, const Entry& entry) const {
    if (!high_.has_value()) return false;
    if (high_->side != 0) return high_->side < 0;
    return head != high_->head ? head > high_->head : entry.key_view() >= *range_.high;
  }
  // Of an entry of the active chunk.
  bool Holds(const Entry& entry) const {
    if (!entry.has_prefix) return range_.Contains(entry.key_view());
    return !IsBelow(entry.head, entry) && !IsAbove(entry.head, entry);
  }
  // The part of a sorted run that is in the range.
  static std::span<const SortedEntry> PartOf(const Run& run, const format::KeyRange& range) {
    const Probe probe(range, run.prefix());
    const std::span<const SortedEntry> entries = run.entries;
    const auto first = std::partition_point(
        entries.begin(), entries.end(),
        [&](const SortedEntry& sorted) { return probe.IsBelow(sorted.head, *sorted.entry); });
    // Most parts are short, so the end is near.
    const std::span<const SortedEntry> rest(first, entries.end());
    const auto ends_before = [&](const SortedEntry& sorted) {
      return probe.IsAbove(sorted.head, *sorted.entry);
    };
    size_t far = 1;
    while (far <= rest.size() && !ends_before(rest[far - 1])) far *= 2;
    const auto near = rest.begin() + static_cast<std::ptrdiff_t>(far / 2);
    const auto limit = rest.begin() + static_cast<std::ptrdiff_t>(std::min(far, rest.size()));
    const auto end = std::partition_point(near, limit, std::not_fn(ends_before));
    return {first, end};
  }

 private:
  struct Bound {
    Bound(std::string_view key, std::string_view prefix)
        : side(key.substr(0, prefix.size()).compare(prefix)),
          head(side == 0 ? format::KeyHead(key.substr(prefix.size())) : 0) {}
    int side;  // Below 0: all keys with the prefix are larger; above 0: smaller.
    uint64_t head;
  };
  const format::KeyRange& range_;
  const Bound low_;
  std::optional<Bound> high_;
};

void AppendBuffer::Append(std::string_view key, const void* row, format::SequenceNumber sequence) {
  Chunk* chunk = active_.load(std::memory_order_relaxed);  // Written by this thread alone.
  uint32_t count = chunk == nullptr ? 0 : chunk->count.load(std::memory_order_relaxed);
  if (chunk == nullptr || count == chunk->capacity) {
    chunk = NewChunk();
    count = 0;
  }
  const std::string_view copy = arena_->Copy(key);
  const bool has_prefix = copy.starts_with(chunk->prefix);
  const Entry entry{.head = has_prefix ? format::KeyHead(copy.substr(chunk->prefix.size())) : 0,
                    .key = copy.data(),
                    .key_bytes = static_cast<uint32_t>(copy.size()),
                    .has_prefix = has_prefix,
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
  if (sealed != nullptr) chunk->prefix = PrefixAfter(*sealed);
  chunk->entries =
      reinterpret_cast<Entry*>(arena_->Allocate(chunk->capacity * sizeof(Entry), alignof(Entry)));
  (sealed == nullptr ? first_ : sealed->next).store(chunk, std::memory_order_release);
  active_.store(chunk, std::memory_order_release);
  return chunk;
}

// What some of its keys have in common, which the next ones are likely to have as well.
std::string_view AppendBuffer::PrefixAfter(const Chunk& sealed) {
  constexpr uint32_t kKeys = 8;
  const std::string_view last = sealed.entries[sealed.capacity - 1].key_view();
  size_t bytes = last.size();
  for (uint32_t i = 0; i + 1 < sealed.capacity; i += std::max(1U, sealed.capacity / kKeys)) {
    bytes = std::min(bytes, format::CommonPrefix(sealed.entries[i].key_view(), last));
  }
  return last.substr(0, bytes);
}

template <typename Use>
void AppendBuffer::ForEach(const format::KeyRange& range, format::SequenceNumber max_sequence,
                           Use&& use) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return;
  const Probe probe(range, active->prefix);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  for (const Entry& entry : Unsorted(*active, *runs)) {
    if (probe.Holds(entry) && entry.sequence <= max_sequence) use(entry.number, entry);
  }
  for (const auto& run : runs->list) {
    const bool is_visible = run->max_sequence <= max_sequence;
    for (const SortedEntry& sorted : Probe::PartOf(*run, range)) {
      if (is_visible || sorted.entry->sequence <= max_sequence) use(sorted.number, *sorted.entry);
    }
  }
}

void AppendBuffer::Collect(const format::KeyRange& range, format::SequenceNumber max_sequence,
                           std::vector<const void*>* rows) const {
  ForEach(range, max_sequence, [&](uint32_t, const Entry& entry) { rows->push_back(entry.row); });
}

bool AppendBuffer::CollectFew(const format::KeyRange& range, format::SequenceNumber max_sequence,
                              size_t most, std::vector<const void*>* rows) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return true;
  const Probe probe(range, active->prefix);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  const size_t end = rows->size() + most;
  for (const auto& run : runs->list) {
    const std::span<const SortedEntry> part = Probe::PartOf(*run, range);
    if (part.size() > end - rows->size()) return false;
    for (const SortedEntry& sorted : part) {
      if (sorted.entry->sequence <= max_sequence) rows->push_back(sorted.entry->row);
    }
  }
  for (const Entry& entry : Unsorted(*active, *runs)) {
    if (!probe.Holds(entry) || entry.sequence > max_sequence) continue;
    if (rows->size() == end) return false;
    rows->push_back(entry.row);
  }
  return true;
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
  const Probe probe(range, active->prefix);
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  uint64_t count = 0;
  for (const Entry& entry : Unsorted(*active, *runs)) count += probe.Holds(entry) ? 1 : 0;
  for (const auto& run : runs->list) count += Probe::PartOf(*run, range).size();
  return count;
}

std::optional<std::string_view> AppendBuffer::KeyAfter(const format::KeyRange& range,
                                                       uint64_t entries, bool backward) const {
  const Chunk* active = active_.load(std::memory_order_acquire);
  if (active == nullptr) return std::nullopt;
  const std::shared_ptr<const Runs> runs = SortedBefore(*active);
  std::optional<std::string_view> first;
  for (const auto& run : runs->list) {
    const std::span<const SortedEntry> part = Probe::PartOf(*run, range);
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

// Requires: the heads of both come after one prefix.
bool AppendBuffer::Less(const SortedEntry& a, const SortedEntry& b) {
  return a.head != b.head ? a.head < b.head : a.entry->key_view() < b.entry->key_view();
}

// Requires: the chunk is sealed.
std::shared_ptr<const AppendBuffer::Run> AppendBuffer::Sort(const Chunk& chunk) {
  auto run = std::make_shared<Run>();
  run->entries.reserve(chunk.capacity);
  const std::string_view first = chunk.entries[0].key_view();
  run->prefix_bytes = first.size();
  for (uint32_t i = 1; i < chunk.capacity; ++i) {
    run->prefix_bytes =
        std::min(run->prefix_bytes, format::CommonPrefix(first, chunk.entries[i].key_view()));
  }
  for (uint32_t i = 0; i < chunk.capacity; ++i) {
    const Entry& entry = chunk.entries[i];
    run->entries.push_back(
        {format::KeyHead(entry.key_view().substr(run->prefix_bytes)), &entry, entry.number});
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
    merged->prefix_bytes = (*first)->prefix_bytes;
    for (auto run = first; run != runs->end(); ++run) {
      merged->prefix_bytes = std::min(merged->prefix_bytes,
                                      format::CommonPrefix((*first)->prefix(), (*run)->prefix()));
    }
    for (auto run = first; run != runs->end(); ++run) {
      merged->max_sequence = std::max(merged->max_sequence, (*run)->max_sequence);
      const auto middle = static_cast<std::ptrdiff_t>(merged->entries.size());
      merged->entries.insert(merged->entries.end(), (*run)->entries.begin(), (*run)->entries.end());
      const auto added = merged->entries.begin() + middle;
      if ((*run)->prefix_bytes != merged->prefix_bytes) {
        for (auto sorted = added; sorted != merged->entries.end(); ++sorted) {
          sorted->head = format::KeyHead(sorted->entry->key_view().substr(merged->prefix_bytes));
        }
      }
      std::inplace_merge(merged->entries.begin(), added, merged->entries.end(), Less);
    }
    runs->erase(first, runs->end());
    runs->push_back(std::move(merged));
  }
}

}  // namespace tandem::index
