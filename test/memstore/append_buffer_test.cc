// The append buffer against a plain vector, alone and with readers beside the writer.
#define BOOST_TEST_DYN_LINK
#include "memstore/append_buffer.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>

#include "test/support/test_random.h"

namespace tandem::index {
namespace {

using format::KeyRange;
using format::SequenceNumber;
using test::TestRandom;

struct Reference {
  std::string key;
  const void* row;
  SequenceNumber sequence;
};

std::set<const void*> Expected(const std::vector<Reference>& entries, const KeyRange& range,
                               SequenceNumber max_sequence) {
  std::set<const void*> rows;
  for (const Reference& entry : entries) {
    if (range.Contains(entry.key) && entry.sequence <= max_sequence) rows.insert(entry.row);
  }
  return rows;
}

uint64_t ExpectedCount(const std::vector<Reference>& entries, const KeyRange& range) {
  return static_cast<uint64_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const Reference& entry) { return range.Contains(entry.key); }));
}

std::set<const void*> Found(const AppendBuffer& buffer, const KeyRange& range,
                            SequenceNumber max_sequence) {
  std::vector<const void*> rows;
  buffer.Collect(range, max_sequence, &rows);
  return {rows.begin(), rows.end()};
}

const void* RowPointer(uint64_t number) { return reinterpret_cast<const void*>(number + 1); }

// Sequence i has the key of i % 1000, padded so that text order is number order, and the row i.
std::string NumberedKey(uint64_t i) { return "key-" + std::to_string(1000 + i % 1000); }

BOOST_AUTO_TEST_SUITE(AppendBufferSuite)

BOOST_AUTO_TEST_CASE(EmptyBufferGivesNothing) {
  base::Arena arena;
  const AppendBuffer buffer(&arena);
  BOOST_TEST(Found(buffer, {"", std::nullopt}, format::kSequenceMax).empty());
}

BOOST_AUTO_TEST_CASE(RangesAgreeWithAPlainVector) {
  TestRandom random("RangesAgreeWithAPlainVector");
  for (const size_t count : {1, 7, 8, 9, 72, 73, 584, 585, 5'000, 60'000}) {
    base::Arena arena;
    AppendBuffer buffer(&arena);
    std::vector<Reference> entries;
    // A prefix for most keys, and after a while another one.
    std::string prefix = random.Text(20, "p");
    const auto random_key = [&] {
      const std::string key = prefix + random.Text(4, std::string_view("\0ab\xff", 4));
      return random.OneIn(16) ? key.substr(random.Below(key.size() + 1)) : key;
    };
    const size_t every = 1 + random.Below(count);
    for (size_t i = 0; i < count; ++i) {
      if (i == count / 2 && random.OneIn(2)) prefix = random.Text(20, "pq");
      entries.push_back({random_key(), RowPointer(random.Below(1000)), SequenceNumber(i / 3)});
      buffer.Append(entries.back().key, entries.back().row, entries.back().sequence);
      if (i % every == 0) (void)Found(buffer, {random_key(), std::nullopt}, SequenceNumber(i));
    }
    for (int i = 0; i < 40; ++i) {
      KeyRange range{random_key(), random_key()};
      if (random.OneIn(2)) range.low = entries[random.Below(entries.size())].key;
      if (random.OneIn(3)) range = format::EqualRange(range.low);
      if (random.OneIn(8)) range.high.reset();
      const SequenceNumber max_sequence(random.Below(count));
      BOOST_REQUIRE((Found(buffer, range, max_sequence) == Expected(entries, range, max_sequence)));
      BOOST_REQUIRE_EQUAL(buffer.Count(range), ExpectedCount(entries, range));
    }
  }
}

BOOST_AUTO_TEST_CASE(AKeyComesAfterAboutSoManyEntries) {
  base::Arena arena;
  AppendBuffer buffer(&arena);
  BOOST_TEST(!buffer.KeyAfter({"", std::nullopt}, 0, false).has_value());
  constexpr uint64_t kEntries = 20'000;
  constexpr uint64_t kRunsMax = 20;
  constexpr uint64_t kUnsortedMax = 512;
  std::vector<Reference> entries;
  for (uint64_t i = 0; i < kEntries; ++i) {
    entries.push_back({NumberedKey(i * 7), RowPointer(i), SequenceNumber(i)});
    buffer.Append(entries.back().key, entries.back().row, SequenceNumber(i));
  }
  const KeyRange range{"key-1100", "key-1900"};
  for (const bool backward : {false, true}) {
    for (const uint64_t wanted : {1, 64, 2000}) {
      const auto key = buffer.KeyAfter(range, wanted, backward);
      BOOST_TEST_REQUIRE(key.has_value());
      BOOST_TEST(range.Contains(*key));
      // Some run has that many up to the key, and none has more before it.
      KeyRange before = range, through = range;
      if (backward) {
        before.low = std::string(*key) + '\0';
        through.low = std::string(*key);
      } else {
        before.high = std::string(*key);
        through.high = std::string(*key) + '\0';
      }
      BOOST_TEST(ExpectedCount(entries, before) <= wanted * kRunsMax + kUnsortedMax);
      BOOST_TEST(ExpectedCount(entries, through) > wanted);
    }
    BOOST_TEST(!buffer.KeyAfter(range, kEntries, backward).has_value());
  }
}

BOOST_AUTO_TEST_CASE(ReadersSeeEverythingPublishedBefore) {
  constexpr uint64_t kEntries = 150'000;
  base::Arena arena;
  AppendBuffer buffer(&arena);
  std::atomic<uint64_t> published{0};
  std::atomic<int> failures{0};
  std::atomic<int> started{0};
  const auto read = [&](uint64_t seed) {
    uint64_t visible = 0;
    ++started;
    for (uint64_t i = seed; visible < kEntries; i += 7919) {
      visible = published.load(std::memory_order_acquire);
      const std::string key = NumberedKey(i);
      const auto rows = Found(buffer, format::EqualRange(key), SequenceNumber(visible));
      // Exactly the rows i, i + 1000, ... below what was published.
      const uint64_t expected = visible / 1000 + (i % 1000 < visible % 1000 ? 1 : 0);
      if (rows.size() != expected) ++failures;
      // Counted before what is published from now on, or with some of it, but nothing twice.
      const uint64_t counted = buffer.Count(format::EqualRange(key));
      const uint64_t at_most = published.load(std::memory_order_acquire) + 1;
      if (counted < expected || counted > at_most / 1000 + 1) ++failures;
      for (const void* row : rows) {
        if ((reinterpret_cast<uint64_t>(row) - 1) % 1000 != i % 1000) ++failures;
      }
    }
  };
  std::vector<std::thread> readers;
  for (uint64_t seed = 0; seed < 3; ++seed) readers.emplace_back(read, seed);
  while (started < 3) std::this_thread::yield();
  for (uint64_t i = 0; i < kEntries; ++i) {
    buffer.Append(NumberedKey(i), RowPointer(i), SequenceNumber(i + 1));
    published.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(failures.load() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::index
