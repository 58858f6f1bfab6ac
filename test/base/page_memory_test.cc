// Buffers of pages, and the heap's way back to the system.
#include "base/page_memory.h"

#define BOOST_TEST_DYN_LINK
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/heap_return.h"

namespace tandem::base {
namespace {

uint64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long long total = 0, resident = 0;
  const bool ok = file != nullptr && std::fscanf(file, "%llu %llu", &total, &resident) == 2;
  if (file != nullptr) std::fclose(file);
  BOOST_REQUIRE(ok);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(PageMemoryTest)

BOOST_AUTO_TEST_CASE(BuffersGrowAndKeepWhatTheyHave) {
  PageBuffer buffer;
  BOOST_TEST(buffer.view().empty());
  BOOST_TEST(buffer.memory_bytes() == 0u);
  for (const size_t size : {size_t{10}, size_t{1000}, size_t{64} << 10, size_t{1} << 20}) {
    const std::span<char> bytes = buffer.Resize(size);
    BOOST_TEST_REQUIRE(bytes.size() == size);
    std::fill(bytes.begin(), bytes.end(), 'x');
    BOOST_TEST(buffer.memory_bytes() == size);
  }
  const char* const before = buffer.data();
  BOOST_TEST((buffer.Resize(100).data() == before));
  BOOST_TEST(buffer.view() == std::string(100, 'x'));
  buffer.Truncate(3);
  BOOST_TEST(buffer.view() == "xxx");
  const PageBuffer moved = std::move(buffer);
  BOOST_TEST(moved.view() == "xxx");
}

BOOST_AUTO_TEST_CASE(LargeBuffersLeaveNothingBehind) {
  const uint64_t before = ResidentBytes();
  for (int i = 0; i < 3; ++i) {
    std::vector<PageBuffer> buffers(64);
    for (PageBuffer& buffer : buffers) {
      const std::span<char> bytes = buffer.Resize(1 << 20);
      std::fill(bytes.begin(), bytes.end(), 'x');
    }
    BOOST_TEST(ResidentBytes() > before + (48 << 20));
  }
  BOOST_TEST(ResidentBytes() < before + (8 << 20));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAllocatorKeepsAll = true;
#elif defined(__has_feature)
constexpr bool kAllocatorKeepsAll =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kAllocatorKeepsAll = false;
#endif

// Blocks that live on hold the top of the heap: without a trim nothing below goes back.
BOOST_AUTO_TEST_CASE(AHeapIsTrimmedAfterMuchWasFreed) {
  if (kAllocatorKeepsAll) {
    std::printf("skipped: a sanitizer's allocator gives nothing back\n");
    return;
  }
  constexpr size_t kBlockBytes = 8 << 10, kBlocks = 8 << 10;
  HeapReturn heap(32 << 20);
  malloc_trim(0);  // What earlier cases left free would serve this one.
  const uint64_t before = ResidentBytes();
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (std::unique_ptr<char[]>& block : blocks) block = std::make_unique<char[]>(kBlockBytes);
  const uint64_t full = ResidentBytes();
  BOOST_TEST(full > before + (48 << 20));
  for (size_t i = 0; i + 1 < kBlocks; ++i) {
    blocks[i].reset();
    if (i == kBlocks / 4) BOOST_TEST(ResidentBytes() + (16 << 20) > full);
    heap.Freed(kBlockBytes);
  }
  heap.Freed(kBlockBytes);
  BOOST_TEST(ResidentBytes() < before + (8 << 20));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::base
