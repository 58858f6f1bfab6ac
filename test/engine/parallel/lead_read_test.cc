// Merged scans that several threads read: the same rows in the same order as by one, with the same
// tokens, wherever the other threads are; which scans ask for threads; and how far these read.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kLeads = 5;

std::string LeadOf(uint64_t lead) { return {static_cast<char>('a' + lead)}; }
std::string RestOf(uint64_t number) { return std::to_string(100'000 + number); }

// A table whose keys begin with one of some letters. Rows of a lead may all lie before or after
// those of the others.
struct LeadsFixture : TestEngine {
  explicit LeadsFixture(uint64_t seed = 1, uint64_t memstore_bytes = 32 << 10) : random(seed) {
    tuning.memstore_bytes = memstore_bytes;
    tuning.block_cache_bytes = 16 << 10;  // Nearly nothing is cached.
    tuning.region_bytes_max = UINT64_MAX;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.families[0].block_size_bytes = 512;
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
  }

  uint64_t Below(uint64_t end) { return random() % end; }
  uint64_t RandomNumber(uint64_t lead) { return lead * skew + Below(span); }
  void WriteSome(uint64_t rows) {
    WriteBatch batch;
    for (uint64_t i = 0; i < rows; ++i) {
      const uint64_t lead = Below(kLeads);
      const std::string key = LeadOf(lead) + RestOf(RandomNumber(lead));
      const uint64_t kind = Below(40);
      if (kind < 6) {
        batch.DeleteRow("t", key);
      } else if (kind == 6) {
        batch.Put("t", key, "d", "large", std::string(80'000, 'l'));
      } else {
        batch.Put("t", key, "d", "c", std::to_string(Below(1'000)) + std::string(Below(60), 'v'));
      }
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  void Change() {
    const uint64_t choice = Below(12);
    if (choice < 6) return WriteSome(200);
    if (choice < 9) BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
    if (choice == 9) (void)(**this).Split("t", {.key = LeadOf(Below(kLeads)) + RestOf(Below(99))});
    if (choice == 10) (void)(**this).MergeRegions("t", {});
    if (choice == 11) BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
    executor.Drain();
  }

  /// Ranges of each lead: all of it, or one or two parts.
  ScanOptions RandomScan() {
    ScanOptions scan;
    const uint64_t shape = Below(3);
    for (uint64_t lead = 0; lead < kLeads; ++lead) {
      if (shape == 0) {
        scan.ranges.push_back({LeadOf(lead), LeadOf(lead + 1), 1});
        continue;
      }
      uint64_t from = Below(span);
      for (uint64_t range = 0; range < shape; ++range) {
        const uint64_t to = from + 1 + Below(span);
        scan.ranges.push_back({LeadOf(lead) + RestOf(from), LeadOf(lead) + RestOf(to), 1});
        from = to + Below(50);
      }
    }
    scan.reverse = Below(2) == 0;
    if (Below(3) == 0) scan.limit = 1 + Below(1'500);
    if (Below(4) == 0) scan.offset = Below(300);
    return scan;
  }

  /// Rows and some tokens, then how it ended. The executor runs the other threads now and then.
  std::vector<std::string> All(const ScanOptions& scan, const ReadOptions& read) {
    std::vector<std::string> all;
    auto cursor = (**this).Scan(read, "t", scan);
    while (cursor.has_value() && cursor->Next()) {
      const RowView& row = cursor->row();
      std::string line(row.key());
      for (const Cell& cell : row.cells()) {
        line += " " + std::string(cell.qualifier) + "=" + std::to_string(cell.value.size()) +
                std::string(cell.value.substr(0, 8));
      }
      if (row.continues()) line += " ...";
      if (all.size() % 37 == 0) token = *cursor->Token(), line += token;
      all.push_back(std::move(line));
      if (read.threads > 1 && executor.due_count() > 0 && drains() % 8 == 0) executor.Drain();
      helped |= executor.due_count() > 0;
    }
    all.push_back(cursor.has_value() ? cursor->status().ToString() : cursor.status().ToString());
    return all;
  }
  void CheckSame(const ScanOptions& scan, ReadOptions read) {
    const std::vector<std::string> one = All(scan, read);
    BOOST_REQUIRE_EQUAL(one.back(), "OK");
    for (const uint32_t threads : {2u, 4u}) {
      read.threads = threads;
      const std::vector<std::string> several = All(scan, read);
      BOOST_REQUIRE_EQUAL(several.size(), one.size());
      for (size_t i = 0; i < one.size(); ++i) BOOST_REQUIRE_EQUAL(several[i], one[i]);
    }
  }

  std::mt19937_64 random, drains{7};
  uint64_t span = 1'000, skew = 0;
  std::string token;    // Of a row of the last scan.
  bool helped = false;  // Some scan left a job to other threads.
};

ScanOptions AllLeads() {
  ScanOptions scan;
  for (uint64_t lead = 0; lead < kLeads; ++lead) {
    scan.ranges.push_back({LeadOf(lead), LeadOf(lead + 1), 1});
  }
  return scan;
}

BOOST_AUTO_TEST_SUITE(LeadRead)

BOOST_AUTO_TEST_CASE(SeveralThreadsReadTheSameRows) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    LeadsFixture table(seed);
    table.skew = seed % 3 * 400;
    std::optional<Snapshot> snapshot;
    for (int i = 0; i < 40; ++i) {
      table.Change();
      if (i % 9 == 4) snapshot = *table->TakeSnapshot();
      ReadOptions read;
      read.pieces = table.Below(2) == 0;
      if (snapshot.has_value() && table.Below(2) == 0) read.snapshot = &*snapshot;
      ScanOptions scan = table.RandomScan();
      table.token.clear();
      table.CheckSame(scan, read);
      if (table.token.empty() || scan.offset > 0) continue;
      (table.Below(2) == 0 ? scan.after : scan.before) = table.token;
      table.CheckSame(scan, read);
    }
    BOOST_CHECK(table.helped);
  }
}

// The rows of one lead come long after those of the others: none of its parts is read before.
BOOST_AUTO_TEST_CASE(ALeadThatComesLaterIsNotReadBefore) {
  LeadsFixture table;
  WriteBatch batch;
  for (uint64_t row = 0; row < 1'000; ++row) {
    batch.Put("t", LeadOf(0) + RestOf(row), "d", "c", std::string(40, 'v'));
    batch.Put("t", LeadOf(1) + RestOf(5'000 + row), "d", "c", std::string(40, 'v'));
  }
  BOOST_REQUIRE_EQUAL(table.Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(table->Flush("t").ToString(), "OK");
  for (const bool reverse : {false, true}) {
    ScanOptions scan = AllLeads();
    scan.reverse = reverse;
    table.CheckSame(scan, {});
    ReadOptions read;
    read.threads = 4;
    auto cursor = table->Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    uint64_t most = 0;
    for (uint64_t rows = 0; rows < 1'000; ++rows) {
      BOOST_REQUIRE(cursor->Next());
      table.executor.Drain();
      most = std::max(most, table->Info().memory.read_buffer_bytes);
    }
    BOOST_CHECK_GT(most, 1'000u);
    BOOST_CHECK_LT(most, 80'000u);  // The other lead has 150,000.
  }
}

BOOST_AUTO_TEST_CASE(ScansThatEndEarlyAskForNoThreads) {
  LeadsFixture table(1, 1 << 20);
  WriteBatch batch;
  for (uint64_t row = 0; row < 4'000; ++row) {
    batch.Put("t", LeadOf(row % kLeads) + RestOf(row), "d", "c", std::string(40, 'v'));
  }
  BOOST_REQUIRE_EQUAL(table.Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(table->Compact("t").ToString(), "OK");
  table.executor.Drain();
  const auto asked = [&](uint64_t limit, uint64_t rows) {
    ScanOptions scan = AllLeads();
    scan.limit = limit;
    ReadOptions read;
    read.threads = 4;
    auto cursor = table->Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    table.executor.Drain();  // Those that have found where the leads begin.
    for (uint64_t row = 0; row < rows; ++row) BOOST_REQUIRE(cursor->Next());
    return table.executor.due_count() > 0;
  };
  BOOST_CHECK(asked(0, 10));
  BOOST_CHECK(asked(2'500, 10));
  BOOST_CHECK(!asked(500, 400));
}

// A read that fails in another thread ends the scan where the rows before it end.
BOOST_AUTO_TEST_CASE(AReadThatFailsEndsTheScan) {
  LeadsFixture table;
  for (int i = 0; i < 6; ++i) table.WriteSome(300);
  BOOST_REQUIRE_EQUAL(table->Compact("t").ToString(), "OK");
  const std::vector<std::string> expected = table.All(AllLeads(), {});
  ReadOptions read;
  read.threads = 4;
  auto cursor = table->Scan(read, "t", AllLeads());
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  uint64_t rows = 0;
  for (; rows < 100; ++rows) BOOST_REQUIRE(cursor->Next());
  const auto directory = *table.disk.OpenDirectory("db", false);
  for (const std::string& name : *directory->List()) {
    if (!name.starts_with("store-")) continue;
    const uint64_t size = *(*directory->Open(name, base::OpenMode::kReadOnly))->Size();
    BOOST_REQUIRE(
        table.disk.InjectReadFault("db", name, {.offset = size / 4, .size = size / 4}).ok());
  }
  table.executor.Drain();
  while (cursor->Next()) {
    const std::string key(cursor->row().key());
    BOOST_REQUIRE_EQUAL(expected.at(rows).substr(0, key.size()), key);
    ++rows;
  }
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kIoError);
  BOOST_CHECK_LT(rows, expected.size() - 1);
}

BOOST_AUTO_TEST_CASE(ACancelledScanEnds) {
  LeadsFixture table;
  for (int i = 0; i < 6; ++i) table.WriteSome(300);
  BOOST_REQUIRE_EQUAL(table->Flush("t").ToString(), "OK");
  std::atomic<bool> cancelled = false;
  ReadOptions read;
  read.threads = 4;
  read.cancelled = &cancelled;
  auto cursor = table->Scan(read, "t", AllLeads());
  for (uint64_t rows = 0; rows < 100; ++rows) BOOST_REQUIRE(cursor->Next());
  cancelled = true;
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kCancelled);
  table.executor.Drain();  // What waits for a thread finds the scan gone, or ends.
  cursor = Status::NotFound("dropped");
  table.executor.Drain();
  BOOST_CHECK_EQUAL(table.Close().ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
