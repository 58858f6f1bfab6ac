// The key hashes of a file that is being written, in the blocks that the file will have. A list of
// ten million grows without being copied, and its memory goes back to the system.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/page_memory.h"
#include "store_file/store_file.h"

namespace tandem::format {

class KeyHashList {
 public:
  void Add(uint64_t hash) {
    const size_t place = size_ % kKeyHashesPerBlock;
    if (place == 0) blocks_.push_back(base::MapPages(kKeyHashesPerBlock * sizeof(uint64_t)));
    reinterpret_cast<uint64_t*>(blocks_.back().get())[place] = hash;
    ++size_;
  }
  uint32_t size() const { return size_; }
  uint64_t memory_bytes() const { return blocks_.size() * kKeyHashesPerBlock * sizeof(uint64_t); }
  size_t block_count() const { return blocks_.size(); }
  /// The hashes of a block: kKeyHashesPerBlock, fewer in the last.
  std::span<const uint64_t> block(size_t i) const {
    const size_t first = i * kKeyHashesPerBlock;
    return {reinterpret_cast<const uint64_t*>(blocks_[i].get()),
            std::min<size_t>(kKeyHashesPerBlock, size_ - first)};
  }

 private:
  std::vector<base::PageMemory> blocks_;
  uint32_t size_ = 0;
};

}  // namespace tandem::format
