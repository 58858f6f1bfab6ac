// Checks and searches a table of separators. Heads are compared first; if they are equal, the rests
// of the separators decide.
#include "format/row/block_index_table.h"

#include <algorithm>

#include "format/coding.h"
#include "format/key_head.h"
#include "format/row/block_index_writer.h"
#include "tandem/limits.h"

namespace tandem::format {

std::optional<IndexTable> IndexTable::Parse(std::string_view raw, uint32_t count, size_t heads_at) {
  const uint64_t prefix_bytes = LoadAt<uint16_t>(raw, 0);
  const uint64_t heap = heads_at + uint64_t{count} * kBlockIndexEntryBytes + prefix_bytes;
  if (count == 0 || heap > raw.size()) return std::nullopt;
  IndexTable table;
  table.raw_ = raw;
  table.count_ = count;
  table.heads_ = heads_at;
  table.offsets_ = table.heads_ + sizeof(uint64_t) * count;
  table.sizes_ = table.offsets_ + sizeof(uint64_t) * count;
  table.firsts_ = table.sizes_ + sizeof(uint32_t) * count;
  table.key_ends_ = table.firsts_ + sizeof(uint32_t) * count;
  table.prefix_at_ = table.key_ends_ + sizeof(uint32_t) * count;
  table.heap_ = heap;
  if (table.KeyEnd(count - 1) != raw.size() - heap || !table.RestsRise()) return std::nullopt;
  return table;
}

// Whether the rests are within the heap, ascend, and have the stated heads. If two heads differ,
// comparing the heads is enough.
bool IndexTable::RestsRise() const {
  const size_t heap_bytes = raw_.size() - heap_;
  const size_t rest_max = kRowKeyBytesMax - std::min(kRowKeyBytesMax, prefix().size());
  uint32_t begin = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    const uint32_t end = KeyEnd(i);
    if (begin > end || end > heap_bytes || end - begin > rest_max) return false;
    begin = end;
    const std::string_view rest = Rest(i);
    const uint64_t head = HeadOf(i);
    if (head != KeyHead(rest)) return false;
    if (i == 0 || HeadOf(i - 1) < head) continue;
    if (HeadOf(i - 1) > head || Rest(i - 1) >= rest) return false;
  }
  return true;
}

uint32_t IndexTable::EntryOf(uint32_t position, uint32_t low, uint32_t end) const {
  constexpr uint32_t kNear = 2;
  if (FirstOf(low) > position) low = 0;
  uint32_t high = std::min(low + kNear, count_);  // The first of `high` is > position.
  if (low + kNear < count_ && FirstOf(low + kNear) <= position) {
    low += kNear;
    const uint64_t first = FirstOf(low);
    const auto guess =
        static_cast<uint32_t>(low + (position - first) * (count_ - low) / (end - first));
    uint32_t step = 1;
    if (FirstOf(guess) <= position) {
      low = guess;
      while (low + step < count_ && FirstOf(low + step) <= position) {
        low += step;
        step *= 2;
      }
      high = std::min(low + step, count_);
    } else {
      high = guess;
      while (high - low > step && FirstOf(high - step) > position) {
        high -= step;
        step *= 2;
      }
      if (high - low > step) low = high - step;
    }
  }
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (FirstOf(middle) <= position ? low : high) = middle;
  }
  return low;
}

void IndexTable::Separator(uint32_t entry, std::string* separator) const {
  separator->assign(prefix());
  separator->append(Rest(entry));
}

bool IndexTable::IsAtMost(uint32_t entry, std::string_view key) const {
  if (!key.starts_with(prefix())) return key > prefix();
  const std::string_view rest = key.substr(heap_ - prefix_at_);
  return IsAtMost(entry, Wanted{rest, KeyHead(rest)});
}

uint32_t IndexTable::UpperBound(std::string_view key) const {
  if (!key.starts_with(prefix())) return key < prefix() ? 0 : count_;
  const std::string_view rest = key.substr(heap_ - prefix_at_);
  const uint64_t head = KeyHead(rest);
  uint32_t low = LowerBoundOfHeads(raw_, heads_, count_, head);
  // The entries with the same head, which are usually few.
  uint32_t high = low, step = 1;
  while (high < count_ && HeadOf(high) == head) {
    if (Rest(high) > rest) break;
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, count_);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (IsAtMost(middle, Wanted{rest, head})) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t IndexTable::UpperBound(std::string_view key, uint32_t low) const {
  if (!key.starts_with(prefix())) return 0;
  const std::string_view rest = key.substr(heap_ - prefix_at_);
  const Wanted wanted{rest, KeyHead(rest)};
  if (!IsAtMost(low, wanted)) return 0;
  uint32_t step = 1;
  while (low + step < count_ && IsAtMost(low + step, wanted)) {
    low += step;
    step *= 2;
  }
  uint32_t high = std::min(low + step, count_);
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (IsAtMost(middle, wanted) ? low : high) = middle;
  }
  return low + 1;
}

std::optional<IndexTable> ParseIndexPiece(const Block& block) {
  if (block.raw_bytes < kBlockIndexFixedBytes || block.count > kBlockIndexPieceEntriesMax) {
    return std::nullopt;
  }
  if (LoadAt<uint64_t>(block.raw(), 0) >> 16 != 0) return std::nullopt;  // Not zero.
  return IndexTable::Parse(block.raw(), block.count, kBlockIndexFixedBytes);
}

}  // namespace tandem::format
