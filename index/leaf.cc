// Leaves. Parse only checks that the arrays fit, so a look-up does no work per value. The builder
// computes everything that depends on the common prefix in Finish.
#include "index/leaf.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "format/coding.h"
#include "format/key_head.h"

namespace tandem::format {
namespace {

constexpr size_t kHeadBytes = 8;
constexpr size_t kTailBytesMax = std::numeric_limits<uint16_t>::max();
constexpr size_t kFixedBytes = 16;
constexpr size_t kValueBytes = 8 + 4 + 4 + 2 + 1;  // Per value, all arrays together.

}  // namespace

std::optional<IndexLeaf> IndexLeaf::Parse(BlockRef block) {
  IndexLeaf leaf;
  leaf.raw_ = block->raw();
  leaf.count_ = block->count;
  leaf.all_single_ = (block->flags & kLeafFlagAllSingle) != 0;
  const size_t count = leaf.count_;
  ByteReader reader(leaf.raw_);
  reader.U64();
  const size_t prefix_bytes = reader.U16();
  leaf.suffix_bytes_ = reader.U16();
  const size_t tail_bytes = reader.U32();
  reader.Skip(count * 8);
  leaf.references_at_ = reader.offset();
  reader.Skip(count * 4);
  leaf.counts_at_ = reader.offset();
  if (!leaf.all_single_) reader.Skip(count * 4);
  leaf.tail_ends_at_ = reader.offset();
  if (leaf.suffix_bytes_ == 0) reader.Skip(count * 2);
  leaf.head_lengths_at_ = reader.offset();
  if (leaf.suffix_bytes_ == 0) reader.Skip(count);
  leaf.prefix_at_ = reader.offset();
  reader.Skip(prefix_bytes);
  leaf.tails_at_ = reader.offset();
  reader.Skip(tail_bytes);
  leaf.lists_at_ = reader.offset();
  if (!reader.ok() || count == 0 || tail_bytes > kTailBytesMax) return std::nullopt;
  if (leaf.suffix_bytes_ > kHeadBytes || (leaf.suffix_bytes_ != 0 && tail_bytes != 0)) {
    return std::nullopt;
  }
  if ((block->flags & ~kLeafFlagAllSingle) != 0) return std::nullopt;
  leaf.block_ = std::move(block);
  return leaf;
}

std::optional<std::string_view> IndexLeaf::Tail(uint32_t position) const {
  if (suffix_bytes_ != 0) return std::string_view();
  const auto end_of = [this](uint32_t i) -> size_t {
    return LoadAt<uint16_t>(raw_, tail_ends_at_ + i * size_t{2});
  };
  const size_t start = position == 0 ? 0 : end_of(position - 1);
  const size_t end = end_of(position);
  if (start > end || end > lists_at_ - tails_at_) return std::nullopt;
  return raw_.substr(tails_at_ + start, end - start);
}

// Whether the key at `position` is less than the prefix followed by `suffix`, whose head is `head`.
bool IndexLeaf::SuffixLess(uint32_t position, uint64_t head, std::string_view suffix) const {
  const uint64_t own = Head(position);
  if (own != head) return own < head;
  const size_t own_bytes = HeadBytes(position);
  if (own_bytes < kHeadBytes || suffix.size() < kHeadBytes) return own_bytes < suffix.size();
  return Tail(position).value_or("") < suffix.substr(kHeadBytes);
}

// The first position whose head is at least `head`. In a large leaf most steps of a binary search
// wait for memory, each for the one before; here the loads of each of two steps go on together.
uint32_t IndexLeaf::FirstHead(uint64_t head) const {
  constexpr uint32_t kParts = 8, kHeadsOfLine = 8;
  if (count_ < kParts * kParts) return LowerBoundOfHeads(raw_, kHeadsAt, count_, head);
  const uint32_t part = count_ / kParts;
  uint32_t low = 0;
  for (uint32_t i = 1; i < kParts; ++i) low += Head(part * i - 1) < head ? part : 0;
  const uint32_t size = low == (kParts - 1) * part ? count_ - low : part;
  const size_t at = kHeadsAt + low * size_t{8};
  for (uint32_t i = 0; i < size; i += kHeadsOfLine) {
    __builtin_prefetch(raw_.data() + at + i * size_t{8});
  }
  return low + LowerBoundOfHeads(raw_, at, size, head);
}

uint32_t IndexLeaf::LowerBound(std::string_view key) const {
  const int order = key.substr(0, prefix().size()).compare(prefix());
  if (order != 0) return order < 0 ? 0 : count_;
  const std::string_view suffix = key.substr(prefix().size());
  const uint64_t head = KeyHead(suffix);
  uint32_t low = FirstHead(head);
  if (low == count_ || Head(low) != head) return low;
  // Several may have this head.
  uint32_t size = count_ - low;
  if (!SuffixLess(low, head, suffix)) return low;
  while (size > 0) {
    const uint32_t half = size / 2;
    if (SuffixLess(low + half, head, suffix)) {
      low += half + 1;
      size -= half + 1;
    } else {
      size = half;
    }
  }
  return low;
}

bool IndexLeaf::Key(uint32_t position, std::string* key) const {
  const size_t head_bytes = HeadBytes(position);
  const std::optional<std::string_view> tail = Tail(position);
  const bool sound =
      tail.has_value() && (head_bytes == kHeadBytes || (head_bytes < kHeadBytes && tail->empty()));
  if (!sound) return false;
  const uint64_t big_endian = __builtin_bswap64(Head(position));
  char head[kHeadBytes];
  std::memcpy(head, &big_endian, kHeadBytes);
  key->assign(prefix()).append(head, head_bytes).append(*tail);
  return true;
}

ByteReader IndexLeaf::ListAt(uint32_t reference) const {
  ByteReader reader(raw_.substr(lists_at_));
  reader.Skip(reference);
  return reader;
}

std::string_view IndexLeafBuilder::Key(size_t i) const {
  const size_t start = i == 0 ? 0 : values_[i - 1].key_end;
  return std::string_view(keys_).substr(start, values_[i].key_end - start);
}

bool IndexLeafBuilder::IsFullFor(const LeafValue& value) const {
  if (values_.empty()) return false;
  if (value.count > std::numeric_limits<uint32_t>::max() - entries_) return true;
  // An estimate: a few bytes too small for keys shorter than prefix and head, up to half too large
  // where arrays are left out. Leaves need no exact size.
  const size_t count = values_.size() + 1;
  const size_t stripped = count * (CommonPrefix(first_key(), value.key) + kHeadBytes);
  const size_t key_bytes = keys_.size() + value.key.size();
  const size_t tail_bytes = key_bytes > stripped ? key_bytes - stripped : 0;
  const size_t list_bytes = lists_.size() + value.list.size();
  return kFixedBytes + count * kValueBytes + tail_bytes + list_bytes > kLeafBytes;
}

void IndexLeafBuilder::Add(const LeafValue& value) {
  DCHECK(values_.empty() || last_key() < value.key);
  keys_.append(value.key);
  entries_ += value.count;
  uint32_t reference = value.ordinal;
  if (value.count != 1) {
    reference = static_cast<uint32_t>(lists_.size());
    lists_.append(value.list);
  }
  values_.push_back({keys_.size(), reference, entries_});
}

BlockContent IndexLeafBuilder::Finish(uint64_t entries_before) {
  const size_t prefix_bytes = CommonPrefix(first_key(), last_key());
  const size_t suffix_bytes = CommonSuffixBytes(prefix_bytes);
  raw_.clear();
  AppendU64(&raw_, entries_before);
  AppendU16(&raw_, static_cast<uint16_t>(prefix_bytes));
  AppendU16(&raw_, static_cast<uint16_t>(suffix_bytes));
  AppendU32(&raw_, 0);
  AppendNumbers(prefix_bytes);
  tails_.clear();
  if (suffix_bytes == 0) AppendLengths(prefix_bytes);
  CHECK(tails_.size() <= kTailBytesMax && prefix_bytes <= kTailBytesMax);
  StoreAt(&raw_, 12, static_cast<uint32_t>(tails_.size()));
  raw_.append(first_key().substr(0, prefix_bytes)).append(tails_).append(lists_);
  BlockContent content;
  content.kind = BlockKind::kIndexLeaf;
  content.flags = entries_ == values_.size() ? kLeafFlagAllSingle : 0;
  content.count = static_cast<uint32_t>(values_.size());
  content.raw = raw_;
  values_.clear();
  keys_.clear();
  lists_.clear();
  entries_ = 0;
  return content;
}

// Appends heads, references and counts.
void IndexLeafBuilder::AppendNumbers(size_t prefix_bytes) {
  const size_t count = values_.size();
  const size_t heads_at = raw_.size();
  const size_t references_at = heads_at + count * 8;
  raw_.resize(references_at + count * 4);
  for (size_t i = 0; i < count; ++i) {
    StoreAt(&raw_, heads_at + i * 8, KeyHead(Key(i).substr(prefix_bytes)));
    StoreAt(&raw_, references_at + i * 4, values_[i].reference);
  }
  if (entries_ == count) return;
  for (const Value& value : values_) AppendU32(&raw_, value.entries);
}

// The length of every key after the prefix, if all have the same one and it fits a head; else 0.
size_t IndexLeafBuilder::CommonSuffixBytes(size_t prefix_bytes) const {
  const size_t key_bytes = first_key().size();
  if (key_bytes > prefix_bytes + kHeadBytes) return 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].key_end != (i + 1) * key_bytes) return 0;
  }
  return key_bytes - prefix_bytes;
}

// Appends tail ends and head lengths, and gathers the tails.
void IndexLeafBuilder::AppendLengths(size_t prefix_bytes) {
  std::string head_lengths;
  for (size_t i = 0; i < values_.size(); ++i) {
    const std::string_view suffix = Key(i).substr(prefix_bytes);
    const size_t head_bytes = std::min(suffix.size(), kHeadBytes);
    tails_.append(suffix.substr(head_bytes));
    AppendU16(&raw_, static_cast<uint16_t>(tails_.size()));
    AppendU8(&head_lengths, static_cast<uint8_t>(head_bytes));
  }
  raw_.append(head_lengths);
}

}  // namespace tandem::format
