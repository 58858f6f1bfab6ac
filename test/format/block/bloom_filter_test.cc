// The filter never loses a hash, errs about as rarely as it should, and survives the disk.
#include "format/block/bloom_filter.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <vector>

#include "tools/simulation/memory_file.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

constexpr FileId kId{{4}};

std::vector<uint64_t> Hashes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) hash = random();
  return hashes;
}

BloomFilter FilterOf(const std::vector<uint64_t>& hashes) {
  BloomFilter filter(hashes.size());
  for (const uint64_t hash : hashes) filter.Add(hash);
  return filter;
}

BOOST_AUTO_TEST_SUITE(BloomFilterTest)

BOOST_AUTO_TEST_CASE(NoHashIsLost) {
  for (const size_t count : {0, 1, 2, 51, 52, 1000, 100000}) {
    const auto hashes = Hashes(count, 5);
    const BloomFilter filter = FilterOf(hashes);
    for (const uint64_t hash : hashes) BOOST_REQUIRE(filter.MayContain(hash));
  }
}

BOOST_AUTO_TEST_CASE(FewStrangersPass) {
  const BloomFilter filter = FilterOf(Hashes(100000, 5));
  size_t passed = 0;
  for (const uint64_t hash : Hashes(100000, 6)) passed += filter.MayContain(hash);
  BOOST_TEST(passed < 2000u);
  BOOST_TEST(filter.size_bytes() <= 125064u);
}

BOOST_AUTO_TEST_CASE(BatchAgreesWithSingleProbes) {
  const BloomFilter filter = FilterOf(Hashes(3000, 5));
  const auto probes = Hashes(1000, 5);
  const auto found = std::make_unique<bool[]>(probes.size());
  filter.MayContainEach(probes, {found.get(), probes.size()});
  for (size_t i = 0; i < probes.size(); ++i) BOOST_TEST(found[i] == filter.MayContain(probes[i]));
}

BOOST_AUTO_TEST_CASE(BitsAreTheDocumentedOnes) {
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(FilterOf({1}).Write(&out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  std::vector<int> bits;
  for (int bit = 0; bit < 512; ++bit) {
    if ((memory.bytes()[static_cast<size_t>(32 + bit / 8)] >> (bit % 8)) & 1) bits.push_back(bit);
  }
  BOOST_TEST(bits == (std::vector<int>{8, 104, 107, 230, 316, 342, 445, 454}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ReadsWhatWasWritten) {
  const auto hashes = Hashes(900000, 8);  // More than one block.
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(FilterOf(hashes).Write(&out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  const BlockFile file(std::make_unique<test::MemoryFile>(memory.bytes()), FileNumber(1), kId,
                       nullptr);
  SectionEntry section = out.sections()[0];
  const auto filter = BloomFilter::Read(file, section);
  BOOST_REQUIRE(filter.has_value());
  for (const uint64_t hash : hashes) BOOST_REQUIRE(filter->MayContain(hash));
  for (const uint64_t count : {uint64_t{0}, section.count - 1, section.count + 1, ~uint64_t{0}}) {
    section.count = count;
    BOOST_TEST(BloomFilter::Read(file, section).status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
