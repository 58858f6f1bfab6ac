// See router.h.
#include "tools/row_keys/router.h"

#include <algorithm>
#include <cstring>

#include "format/key_head.h"

namespace tandem::row_keys {
namespace {

uint64_t HeadOf(std::string_view bytes) {
  uint64_t head = 0;
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  return __builtin_bswap64(head);
}

}  // namespace

Router::Router(std::span<const std::string> split_keys)
    : split_keys_(split_keys.begin(), split_keys.end()) {
  if (split_keys_.empty()) return;
  // Keys that rise share what the first and the last share.
  prefix_ =
      split_keys_.front().substr(0, format::CommonPrefix(split_keys_.front(), split_keys_.back()));
  for (const std::string& key : split_keys_) {
    heads_.push_back(HeadOf(std::string_view(key).substr(prefix_.size())));
  }
}

size_t Router::RegionOf(std::string_view key) const {
  if (!key.starts_with(prefix_)) return key < prefix_ ? 0 : split_keys_.size();
  const uint64_t head = HeadOf(key.substr(prefix_.size()));
  const std::string_view bytes(reinterpret_cast<const char*>(heads_.data()),
                               heads_.size() * sizeof(uint64_t));
  const auto count = static_cast<uint32_t>(heads_.size());
  const auto begin = static_cast<std::ptrdiff_t>(format::LowerBoundOfHeads(bytes, 0, count, head));
  if (begin == static_cast<std::ptrdiff_t>(count) || heads_[static_cast<size_t>(begin)] != head) {
    return static_cast<size_t>(begin);
  }
  // Of those with the same head the rest decides.
  const auto end = std::upper_bound(heads_.begin() + begin, heads_.end(), head) - heads_.begin();
  const auto after = std::upper_bound(split_keys_.begin() + begin, split_keys_.begin() + end, key);
  return static_cast<size_t>(after - split_keys_.begin());
}

}  // namespace tandem::row_keys
