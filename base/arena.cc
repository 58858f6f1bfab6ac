// Arena blocks start small, so that a small arena is cheap, and double up to a limit. A large
// request gets a block of its own, and the current block stays in use. Large blocks are mapped, so
// they leave no holes in the heap.
#include "base/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace tandem::base {
namespace {

constexpr size_t kAlignmentMax = 16;
constexpr size_t kFirstBlockBytes = 512;
// 256 KiB: one allocation in thousands reaches the system, and little of the last block is wasted.
constexpr size_t kBlockDoublings = 9;
constexpr size_t kMappedBytes = kFirstBlockBytes << kBlockDoublings;

static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kAlignmentMax, "blocks start aligned");

size_t NextBlockBytes(size_t block_count) {
  return kFirstBlockBytes << std::min(block_count, kBlockDoublings);
}

}  // namespace

char* Arena::Allocate(size_t size, size_t alignment) {
  DCHECK(alignment != 0 && alignment <= kAlignmentMax && (alignment & (alignment - 1)) == 0);
  const size_t padding = -reinterpret_cast<uintptr_t>(next_) & (alignment - 1);
  if (next_ != nullptr && padding <= left_ && size <= left_ - padding) {
    char* bytes = next_ + padding;
    next_ = bytes + size;
    left_ -= padding + size;
    return bytes;
  }
  const size_t usual_bytes = NextBlockBytes(block_count_);
  const bool alone = size > usual_bytes / 4;
  const size_t block_bytes = alone ? size : usual_bytes;
  char* block = NewBlock(block_bytes);
  size_bytes_.fetch_add(block_bytes, std::memory_order_relaxed);
  if (!alone) {
    current_ = block;
    next_ = block + size;
    left_ = block_bytes - size;
  }
  return block;
}

char* Arena::NewBlock(size_t size_bytes) {
  ++block_count_;
  if (size_bytes >= kMappedBytes) {
    return mapped_.emplace_back(MapPages(size_bytes, PagesComing::kAtOnce)).get();
  }
  return blocks_.emplace_back(std::make_unique_for_overwrite<char[]>(size_bytes)).get();
}

std::string_view Arena::Copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* copy = Allocate(bytes.size(), 1);
  std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, bytes.size()};
}

void Arena::Reset() {
  const auto is_other = [this](const auto& block) { return block.get() != current_; };
  std::erase_if(blocks_, is_other);
  std::erase_if(mapped_, is_other);
  left_ += static_cast<size_t>(next_ - current_);
  next_ = current_;
  size_bytes_.store(left_, std::memory_order_relaxed);
}

}  // namespace tandem::base
