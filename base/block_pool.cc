// A chunk has a bit for each unit in use and one for each page that was returned.
#include "base/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define TANDEM_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TANDEM_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef TANDEM_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace tandem::base {
namespace {

constexpr size_t kChunkBytes = size_t{2} << 20;
constexpr size_t kUnitBytes = 256;
constexpr size_t kPageBytes = 4096;
constexpr size_t kUnits = kChunkBytes / kUnitBytes;
constexpr size_t kPages = kChunkBytes / kPageBytes;
constexpr size_t kUnitsPerPage = kPageBytes / kUnitBytes;
constexpr size_t kHolesPart = 16;              // Holes of this part of the pieces are left alone,
constexpr size_t kHolesMin = 2 * kChunkBytes;  // and of this size.

size_t UnitsOf(size_t size_bytes) { return (size_bytes + kUnitBytes - 1) / kUnitBytes; }

// Aligned to its size, as a huge page is.
char* MapChunk() {
  constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  void* mapped = mmap(nullptr, 2 * kChunkBytes, PROT_READ | PROT_WRITE, kAnonymous, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kChunkBytes;
  if (before > 0) CHECK(munmap(begin, before) == 0);
  CHECK(munmap(begin + before + kChunkBytes, kChunkBytes - before) == 0);
  (void)madvise(begin + before, kChunkBytes, MADV_HUGEPAGE);  // A hint.
  return begin + before;
}

// Bits of a fixed number; searches go word by word.
template <size_t kBits>
class Bits {
 public:
  bool test(size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1) != 0; }
  void Assign(size_t first, size_t end, bool value) {
    for (size_t bit = first; bit < end; ++bit) {
      const uint64_t mask = uint64_t{1} << bit % 64;
      words_[bit / 64] = value ? words_[bit / 64] | mask : words_[bit / 64] & ~mask;
    }
  }
  /// The first bit of that value at or after `from`; kBits when there is none.
  size_t Next(bool value, size_t from) const {
    for (size_t word = from / 64; word < words_.size(); ++word) {
      uint64_t found = value ? words_[word] : ~words_[word];
      if (word == from / 64) found &= ~uint64_t{0} << from % 64;
      if (found != 0) return word * 64 + static_cast<size_t>(std::countr_zero(found));
    }
    return kBits;
  }
  /// The bit after the last one of that value before `from`; 0 when there is none.
  size_t EndBefore(bool value, size_t from) const {
    while (from > 0 && test(from - 1) != value) --from;
    return from;
  }

 private:
  static_assert(kBits % 64 == 0);
  std::array<uint64_t, kBits / 64> words_{};
};

}  // namespace

class BlockPool::Chunk {
 public:
  Chunk() : memory_(MapChunk()) { ASAN_POISON_MEMORY_REGION(memory_, kChunkBytes); }
  ~Chunk() {
    ASAN_UNPOISON_MEMORY_REGION(memory_, kChunkBytes);
    CHECK(munmap(memory_, kChunkBytes) == 0);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const char* begin() const { return memory_; }
  bool empty() const { return in_use_.Next(true, 0) == kUnits; }
  size_t memory_bytes() const { return kChunkBytes - returned_pages_ * kPageBytes; }

  /// nullptr when no hole has as many units.
  char* Take(size_t units) {
    for (size_t at = in_use_.Next(false, 0); at < kUnits;) {
      const size_t end = in_use_.Next(true, at);
      if (end - at >= units) return TakeAt(at, units);
      at = in_use_.Next(false, end);
    }
    return nullptr;
  }
  /// Returns the units of the hole that the piece is in now.
  size_t Free(const char* piece, size_t units) {
    ASAN_POISON_MEMORY_REGION(piece, units * kUnitBytes);
    const size_t at = static_cast<size_t>(piece - memory_) / kUnitBytes;
    DCHECK(in_use_.Next(false, at) >= at + units);
    in_use_.Assign(at, at + units, false);
    return in_use_.Next(true, at) - in_use_.EndBefore(true, at);
  }
  /// Returns the pages that are wholly in holes to the system.
  void ReturnPages() {
    for (size_t page = 0; page < kPages; ++page) {
      if (returned_.test(page) || !IsUnused(page)) continue;
      size_t end = page + 1;
      while (end < kPages && !returned_.test(end) && IsUnused(end)) ++end;
      (void)madvise(memory_ + page * kPageBytes, (end - page) * kPageBytes, MADV_DONTNEED);
      returned_.Assign(page, end, true);
      returned_pages_ += end - page;
      page = end;
    }
  }

 private:
  char* TakeAt(size_t at, size_t units) {
    in_use_.Assign(at, at + units, true);
    const size_t last_page = (at + units - 1) / kUnitsPerPage;
    for (size_t page = at / kUnitsPerPage; page <= last_page; ++page) {
      if (returned_.test(page)) --returned_pages_;
      returned_.Assign(page, page + 1, false);
    }
    char* piece = memory_ + at * kUnitBytes;
    ASAN_UNPOISON_MEMORY_REGION(piece, units * kUnitBytes);
    return piece;
  }
  bool IsUnused(size_t page) const {
    return in_use_.Next(true, page * kUnitsPerPage) >= (page + 1) * kUnitsPerPage;
  }

  char* const memory_;
  Bits<kUnits> in_use_;
  Bits<kPages> returned_;
  size_t returned_pages_ = 0;  // Set in returned_.
};

BlockMemory AllocateInHeap(size_t size_bytes) { return BlockMemory(new char[size_bytes]); }

void BlockDeleter::operator()(char* memory) const {
  if (pool_ != nullptr) {
    pool_->Free(memory, size_bytes_);
  } else {
    delete[] memory;
  }
}

BlockPool::BlockPool() = default;
BlockPool::~BlockPool() = default;

void BlockPool::Retire() {
  MutexLock lock(mutex_);
  is_retired_ = true;
}

size_t BlockPool::PieceBytes(size_t size_bytes) {
  return size_bytes > kPieceBytesMax ? size_bytes : UnitsOf(size_bytes) * kUnitBytes;
}

size_t BlockPool::used_bytes() const {
  MutexLock lock(mutex_);
  return used_bytes_;
}

size_t BlockPool::memory_bytes() const {
  MutexLock lock(mutex_);
  return memory_bytes_;
}

BlockMemory BlockPool::Allocate(size_t size_bytes) {
  if (size_bytes > kPieceBytesMax) return AllocateInHeap(size_bytes);
  const size_t units = std::max<size_t>(UnitsOf(size_bytes), 1);
  BlockDeleter deleter(shared_from_this(), units * kUnitBytes);
  MutexLock lock(mutex_);
  return BlockMemory(Take(units), std::move(deleter));
}

// Begins with the chunk that was used last: after a block was freed, the next one fits there.
char* BlockPool::Take(size_t units) {
  for (size_t i = 0; i < places_.size(); ++i, at_ = at_ + 1 < places_.size() ? at_ + 1 : 0) {
    if (places_[at_].hole_units_max < units) continue;
    if (char* piece = TakeFrom(&places_[at_], units)) return piece;
    places_[at_].hole_units_max = units - 1;
  }
  auto chunk = std::make_unique<Chunk>();
  const auto after = std::find_if(places_.begin(), places_.end(), [&](const Place& place) {
    return place.chunk->begin() > chunk->begin();
  });
  memory_bytes_ += kChunkBytes;
  const auto added = places_.insert(after, {std::move(chunk), kUnits});
  at_ = static_cast<size_t>(added - places_.begin());
  return TakeFrom(&*added, units);
}

char* BlockPool::TakeFrom(Place* place, size_t units) {
  const size_t before = place->chunk->memory_bytes();
  char* piece = place->chunk->Take(units);
  if (piece == nullptr) return nullptr;
  memory_bytes_ += place->chunk->memory_bytes() - before;
  used_bytes_ += units * kUnitBytes;
  return piece;
}

void BlockPool::Free(char* memory, size_t size_bytes) {
  MutexLock lock(mutex_);
  const auto after =
      std::upper_bound(places_.begin(), places_.end(), memory,
                       [](const char* piece, const Place& p) { return piece < p.chunk->begin(); });
  at_ = static_cast<size_t>(after - places_.begin()) - 1;
  Place& place = places_[at_];
  const size_t hole = place.chunk->Free(memory, UnitsOf(size_bytes));
  place.hole_units_max = std::max(place.hole_units_max, hole);
  used_bytes_ -= size_bytes;
  if (memory_bytes_ - used_bytes_ <= std::max(kHolesMin, used_bytes_ / kHolesPart)) return;
  if (is_retired_ && hole != kUnits) return;
  memory_bytes_ -= place.chunk->memory_bytes();
  if (hole == kUnits) {
    places_.erase(places_.begin() + static_cast<ptrdiff_t>(at_));
    at_ = 0;
    return;
  }
  place.chunk->ReturnPages();
  memory_bytes_ += place.chunk->memory_bytes();
}

}  // namespace tandem::base
