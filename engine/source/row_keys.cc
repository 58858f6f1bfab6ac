// See row_keys.h.
#include "engine/source/row_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status_macros.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

constexpr size_t kTogether = 64;

struct ByBytes {
  bool operator()(const format::HashedKey& a, std::string_view b) const { return a.bytes < b; }
  bool operator()(std::string_view a, const format::HashedKey& b) const { return a < b.bytes; }
};

KeySpan KeysFrom(KeySpan keys, std::string_view low) {
  return {std::lower_bound(keys.begin(), keys.end(), low, ByBytes()), keys.end()};
}

}  // namespace

KeySpan KeysIn(KeySpan keys, const format::KeyRange& range) {
  keys = KeysFrom(keys, range.low);
  if (!range.high.has_value()) return keys;
  return keys.first(keys.size() - KeysFrom(keys, *range.high).size());
}

KeySpan KeysWithin(KeySpan keys, const FileSource& source) {
  keys = KeysFrom(keys, source.min_key());
  return {keys.begin(), std::upper_bound(keys.begin(), keys.end(), source.max_key(), ByBytes())};
}

Status KeepPossible(format::StoreFile* file, std::vector<format::HashedKey>* keys) {
  std::array<uint64_t, kTogether> hashes;
  std::array<bool, kTogether> may_hold;
  ASSIGN_OR_RETURN(const format::BloomFilter* filter, file->Filter());
  if (filter == nullptr) return {};
  size_t kept = 0;
  for (size_t first = 0; first < keys->size(); first += kTogether) {
    const size_t count = std::min(kTogether, keys->size() - first);
    for (size_t i = 0; i < count; ++i) hashes[i] = (*keys)[first + i].hash;
    filter->MayContainEach({hashes.data(), count}, {may_hold.data(), count});
    for (size_t i = 0; i < count; ++i) {
      if (may_hold[i]) (*keys)[kept++] = (*keys)[first + i];
    }
  }
  keys->resize(kept);
  return {};
}

RowKeys::RowKeys(std::vector<std::string> keys, std::span<const char> secret)
    : bytes_(std::move(keys)) {
  std::sort(bytes_.begin(), bytes_.end());
  bytes_.erase(std::unique(bytes_.begin(), bytes_.end()), bytes_.end());
  hashed_.reserve(bytes_.size());
  for (const std::string& key : bytes_) hashed_.push_back({key, format::RowHash(key, secret)});
}

Status FindRows(const FileSource& source, KeySpan keys, bool filters,
                std::vector<uint32_t>* ordinals) {
  keys = KeysWithin(keys, source);
  std::vector<format::HashedKey> possible;
  if (filters) {
    possible.assign(keys.begin(), keys.end());
    RETURN_IF_ERROR(KeepPossible(source.file, &possible));
    keys = possible;
  }
  const auto first = static_cast<ptrdiff_t>(ordinals->size());
  RETURN_IF_ERROR(source.file->FindEachByHash(keys, ordinals));
  const auto is_outside = [&source](uint32_t ordinal) {
    return ordinal < source.low || ordinal >= source.high;
  };
  ordinals->erase(std::remove_if(ordinals->begin() + first, ordinals->end(), is_outside),
                  ordinals->end());
  return {};
}

void FindRows(const Memstore& memstore, KeySpan keys, format::SequenceNumber sequence,
              std::vector<const MemRow*>* rows) {
  std::array<uint64_t, kTogether> hashes;
  std::array<const MemRow*, kTogether> here;
  for (; !keys.empty(); keys = keys.subspan(std::min(kTogether, keys.size()))) {
    const size_t count = std::min(kTogether, keys.size());
    for (size_t i = 0; i < count; ++i) hashes[i] = keys[i].hash;
    memstore.FindEach({hashes.data(), count}, {here.data(), count});
    for (size_t i = 0; i < count; ++i) {
      const MemRow* row = here[i];
      // Another row may have the same hash.
      if (row != nullptr && Memstore::Key(row) != keys[i].bytes) {
        row = memstore.Find(keys[i].bytes, keys[i].hash);
      }
      if (row != nullptr && Memstore::HasCells(row, sequence)) rows->push_back(row);
    }
  }
}

}  // namespace tandem::engine
