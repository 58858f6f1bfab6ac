// The directory is kept as its bytes; Decode checks once that every array is within bounds and
// ascending, so look-ups need no checks.
#include "index/directory.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "format/coding.h"
#include "format/key_head.h"

namespace tandem::format {
namespace {

// The shortest key that is greater than `before` and at most `key`. Requires: before < key.
std::string_view ShortestSeparator(std::string_view before, std::string_view key) {
  size_t common = 0;
  while (common < before.size() && before[common] == key[common]) ++common;
  return key.substr(0, common + 1);
}

}  // namespace

std::optional<IndexDirectory> IndexDirectory::Decode(std::string bytes) {
  IndexDirectory directory;
  directory.bytes_ = std::move(bytes);
  ByteReader reader(directory.bytes_);
  reader.Skip(16);
  directory.count_ = reader.U32();
  const size_t key_bytes = reader.U32();
  const size_t count = directory.count_;
  reader.Skip(count * 8);
  directory.before_at_ = reader.offset();
  reader.Skip(count * 8);
  directory.sizes_at_ = reader.offset();
  reader.Skip(count * 4);
  directory.key_ends_at_ = reader.offset();
  reader.Skip(count * 4);
  directory.keys_at_ = reader.offset();
  reader.Skip(key_bytes);
  if (!reader.done() || count == 0 || !directory.IsSound()) return std::nullopt;
  directory.GatherHeads();
  return directory;
}

// Offsets, counts and separators ascend, and the separators fill the keys exactly.
bool IndexDirectory::IsSound() const {
  size_t key_start = 0;
  const auto key_end = [this](uint32_t leaf) -> size_t {
    return LoadAt<uint32_t>(bytes_, key_ends_at_ + leaf * size_t{4});
  };
  for (uint32_t leaf = 0; leaf < count_; ++leaf) {
    const size_t end = key_end(leaf);
    if (end < key_start || end > bytes_.size() - keys_at_) return false;
    if (EntriesBefore(leaf) >= EntriesBefore(leaf + 1)) return false;
    if (leaf > 0 &&
        (Leaf(leaf - 1).offset >= Leaf(leaf).offset || Separator(leaf - 1) >= Separator(leaf))) {
      return false;
    }
    key_start = end;
  }
  return EntriesBefore(0) == 0 && Separator(0).empty() && key_start == bytes_.size() - keys_at_ &&
         values() >= count_ && values() <= entries();
}

std::string_view IndexDirectory::Separator(uint32_t leaf) const {
  const size_t end = LoadAt<uint32_t>(bytes_, key_ends_at_ + leaf * size_t{4});
  const size_t start =
      leaf == 0 ? 0 : LoadAt<uint32_t>(bytes_, key_ends_at_ + (leaf - 1) * size_t{4});
  return std::string_view(bytes_).substr(keys_at_ + start, end - start);
}

void IndexDirectory::GatherHeads() {
  if (count_ == 1) return;
  prefix_bytes_ = CommonPrefix(Separator(1), Separator(count_ - 1));
  heads_.resize((count_ - size_t{1}) * sizeof(uint64_t));
  for (uint32_t leaf = 1; leaf < count_; ++leaf) {
    StoreAt(&heads_, (leaf - 1) * sizeof(uint64_t), KeyHead(Separator(leaf).substr(prefix_bytes_)));
  }
}

uint32_t IndexDirectory::LeafOfEntry(uint64_t number) const {
  uint32_t low = 0, high = count_;  // The leaf is at or after `low`.
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (EntriesBefore(middle) <= number ? low : high) = middle;
  }
  return low;
}

uint32_t IndexDirectory::LeafOf(std::string_view key) const {
  if (count_ == 1) return 0;
  const std::string_view prefix = Separator(1).substr(0, prefix_bytes_);
  const int order = key.substr(0, prefix_bytes_).compare(prefix);
  if (order != 0) return order < 0 ? 0 : count_ - 1;
  // The first leaf whose separator has this head or a greater one, less 1.
  const uint64_t head = KeyHead(key.substr(prefix_bytes_));
  uint32_t low = LowerBoundOfHeads(heads_, 0, count_ - 1, head);
  if (low + 1 == count_ || Separator(low + 1) > key) return low;
  // Several may have this head: the last one whose separator is <= key.
  uint32_t size = count_ - low;
  while (size > 1) {
    const uint32_t half = size / 2;
    if (Separator(low + half) <= key) low += half;
    size -= half;
  }
  return low;
}

void IndexDirectoryBuilder::Add(BlockHandle handle, const LeafSummary& leaf) {
  DCHECK(empty() || last_key_ < leaf.first_key);
  if (!empty()) keys_.append(ShortestSeparator(last_key_, leaf.first_key));
  CHECK(keys_.size() <= std::numeric_limits<uint32_t>::max());
  AppendU64(&offsets_, handle.offset);
  AppendU64(&before_, entries_);
  AppendU32(&sizes_, handle.stored_bytes);
  AppendU32(&key_ends_, static_cast<uint32_t>(keys_.size()));
  values_ += leaf.values;
  entries_ += leaf.entries;
  last_key_ = leaf.last_key;
}

std::string IndexDirectoryBuilder::Finish() const {
  CHECK(!empty());
  std::string bytes;
  AppendU64(&bytes, values_);
  AppendU64(&bytes, entries_);
  AppendU32(&bytes, static_cast<uint32_t>(key_ends_.size() / 4));
  AppendU32(&bytes, static_cast<uint32_t>(keys_.size()));
  return bytes + offsets_ + before_ + sizes_ + key_ends_ + keys_;
}

}  // namespace tandem::format
