// The account of memory: every part is counted and given back, and the block cache makes room for
// the others.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/source/read_queue.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

std::string Key(uint64_t row) { return std::to_string(1'000'000 + row); }

struct MemoryFixture : TestEngine {
  MemoryFixture() {
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 32 << 20;
    tuning.log_segment_bytes = 16 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.families[0].block_size_bytes = 1024;
    BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }
  MemoryInfo Memory() { return engine().Info().memory; }

  void PutRows(uint64_t first, uint64_t count) {
    WriteBatch batch;
    for (uint64_t row = first; row < first + count; ++row) {
      batch.Put("t", Key(row), "d", "c", "value" + std::to_string(row % 10));
      if (row % 5 == 0) batch.Put("t", Key(row), "d", "q", std::string(50, 'q'));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  uint64_t CountRows(const QueryOptions& query = {}, const Predicate& predicate = {}) {
    Result<Cursor> cursor = engine().Query({}, "t", predicate, query);
    uint64_t rows = 0;
    while (cursor->Next()) ++rows;
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
};

// What depends on more than which files there are.
uint64_t Loaded(const MemoryInfo& memory) { return memory.total_bytes() - memory.catalog_bytes; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(MemoryTest, MemoryFixture)

BOOST_AUTO_TEST_CASE(MemstoresAreCountedUntilNobodyHasThem) {
  BOOST_CHECK_EQUAL(Loaded(Memory()), 0u);
  PutRows(0, 2000);
  const MemoryInfo full = Memory();
  BOOST_CHECK_GT(full.memstore_bytes, 2000u * 100);
  BOOST_CHECK_GT(full.append_buffer_bytes, 2000u * 40);
  BOOST_CHECK_EQUAL(full.memstore_bytes + full.append_buffer_bytes, engine().Info().memstore_bytes);
  {
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    BOOST_REQUIRE(cursor->Next());
    BOOST_REQUIRE(engine().Flush("t").ok());
    // The budget of writers knows nothing of readers; the account does.
    BOOST_CHECK_EQUAL(engine().Info().memstore_bytes, 0u);
    BOOST_CHECK_EQUAL(Memory().memstore_bytes, full.memstore_bytes);
  }
  BOOST_CHECK_EQUAL(Memory().memstore_bytes, 0u);
  BOOST_CHECK_EQUAL(Memory().append_buffer_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(WhatIsKeptOfFilesIsCountedWhenItIsLoaded) {
  PutRows(0, 4000);
  BOOST_REQUIRE(engine().Flush("t").ok());
  PutRows(1000, 100);
  BOOST_REQUIRE(engine().Flush("t").ok());
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_CHECK_EQUAL(Loaded(Memory()), 0u);
  BOOST_CHECK_EQUAL(CountRows(), 4000u);
  QueryOptions by_index;
  by_index.use_index = "by_c";
  BOOST_CHECK_EQUAL(CountRows(by_index, Predicate::Equal("c", "value3")), 400u);
  BOOST_CHECK_EQUAL(Value(Key(17), "c"), "value7");
  const MemoryInfo memory = Memory();
  BOOST_CHECK_GT(memory.block_cache_bytes, 10'000u);
  BOOST_CHECK_GT(memory.block_index_bytes, 1000u);
  BOOST_CHECK_GE(memory.key_hash_bytes, 8 * 4100u);
  BOOST_CHECK_GE(memory.filter_bytes, 4100u);
  BOOST_CHECK_GT(memory.dictionary_bytes, 0u);
  BOOST_CHECK_GT(memory.index_directory_bytes, 0u);
  BOOST_CHECK_EQUAL(memory.read_buffer_bytes, 0u);
  BOOST_CHECK_EQUAL(memory.memstore_bytes, 0u);
  // What goes with its files is given back.
  WriteBatch batch;
  for (uint64_t row = 0; row < 4000; ++row) batch.DeleteRow("t", Key(row));
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_REQUIRE(engine().Compact("t").ok());
  BOOST_CHECK_EQUAL(FileCount(), 0u);
  BOOST_CHECK_EQUAL(Loaded(Memory()), 0u);
}

BOOST_AUTO_TEST_CASE(BitmapsOverSharedRowsAreCounted) {
  for (int i = 0; i < 2; ++i) {
    PutRows(0, 1000);
    BOOST_REQUIRE(engine().Flush("t").ok());
    executor.Drain();
  }
  BOOST_CHECK_GT(Memory().overlap_bytes, 0u);
  BOOST_REQUIRE(engine().Compact("t").ok());
  executor.Drain();
  BOOST_CHECK_EQUAL(Memory().overlap_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(ReadsInFlightAreCounted) {
  PutRows(0, 4000);
  BOOST_REQUIRE(engine().Flush("t").ok());
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  Result<Cursor> cursor = engine().Scan({}, "t", {});
  BOOST_REQUIRE(cursor->Next());
  BOOST_CHECK_GT(Memory().read_buffer_bytes, 10'000u);
  cursor = Status::Cancelled("");
  BOOST_CHECK_EQUAL(Memory().read_buffer_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(CursorsShareWhatTheyReadAhead) {
  constexpr uint64_t kCursors = 8;
  tuning.read_buffer_bytes = 256 << 10;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  WriteBatch batch;
  for (uint64_t row = 0; row < 4000; ++row) {
    std::string value;
    for (uint64_t i = 0; i < 50; ++i) value += std::to_string(row * 7'919 + i * i * 104'729);
    batch.Put("t", Key(row), "d", "q", value);
  }
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_REQUIRE(engine().Flush("t").ok());
  std::vector<Cursor> cursors;
  for (uint64_t i = 0; i < kCursors; ++i) {
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    BOOST_REQUIRE(cursor->Next());
    cursors.push_back(std::move(*cursor));
  }
  // A late one has a read of its own at least, and a second that was begun below the limit.
  BOOST_CHECK_GT(Memory().read_buffer_bytes, kCursors * (32u << 10));
  BOOST_CHECK_LE(Memory().read_buffer_bytes,
                 tuning.read_buffer_bytes + 2 * kCursors * engine::ReadQueue::kReadBytesMin);
  uint64_t rows = kCursors;
  for (Cursor& cursor : cursors) {
    while (cursor.Next()) ++rows;
  }
  BOOST_CHECK_EQUAL(rows, kCursors * 4000);
  cursors.clear();
  BOOST_CHECK_EQUAL(Memory().read_buffer_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(TheCacheMakesRoomForTheOthers) {
  tuning.block_cache_bytes = 256 << 10;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  for (uint64_t i = 0; i < 10; ++i) {
    PutRows(i * 2000, 2000);
    BOOST_REQUIRE(engine().Flush("t").ok());
    for (uint64_t row = 0; row < (i + 1) * 2000; row += 7) {
      BOOST_REQUIRE_NE(Value(Key(row), "c"), "-");
      if (row % 70 != 0) continue;
      const MemoryInfo memory = Memory();
      const uint64_t others = memory.total_bytes() - memory.block_cache_bytes;
      const uint64_t least = tuning.block_cache_bytes / 8;
      BOOST_REQUIRE_LE(
          memory.block_cache_bytes,
          std::max(least, tuning.block_cache_bytes - std::min(others, tuning.block_cache_bytes)));
    }
  }
  // The key hashes alone pass the budget by now; the cache has its eighth.
  BOOST_CHECK_GT(Memory().key_hash_bytes, 150u << 10);
  BOOST_CHECK_GT(Memory().block_cache_bytes, 0u);
}

// While they grow it gives back what they need, a sixteenth of their limit at a time; when they are
// flushed it may have it again.
BOOST_AUTO_TEST_CASE(TheCacheUsesWhatMemstoresLeave) {
  tuning.block_cache_bytes = 512 << 10;
  tuning.memstores_total_bytes = tuning.cache_lent_bytes = 4 << 20;
  tuning.memstore_bytes = 4 << 20;  // It is flushed by hand.
  const uint64_t budget = tuning.block_cache_bytes + tuning.cache_lent_bytes;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  for (uint64_t first = 0; first < 60'000; first += 4000) {
    PutRows(first, 4000);
    BOOST_REQUIRE(engine().Flush("t").ok());
  }
  const auto read = [&] {
    for (uint64_t row = 0; row < 60'000; row += 3) BOOST_REQUIRE_NE(Value(Key(row), "c"), "-");
  };
  for (int round = 0; round < 2; ++round) {
    read();
    BOOST_CHECK_GT(Memory().block_cache_bytes, 2 * tuning.block_cache_bytes);
    BOOST_CHECK_LE(Memory().total_bytes(), budget);
    const uint64_t cached = Memory().block_cache_bytes;
    for (uint64_t first = 0; first < 12'000; first += 100) {
      PutRows(first, 100);
      executor.Drain();
      BOOST_CHECK_LE(Memory().total_bytes(), budget + tuning.memstores_total_bytes / 8);
    }
    BOOST_CHECK_LT(Memory().block_cache_bytes, cached * 3 / 4);
    BOOST_REQUIRE(engine().Flush("t").ok());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
