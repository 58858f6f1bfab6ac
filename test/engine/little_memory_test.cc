// A database whose block indexes and filters do not fit in memory answers as one in which they do.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 12'000;

std::string Key(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }

// Three files that overlap, of small blocks, so that their indexes have many pieces.
struct FilledEngine : TestEngine {
  explicit FilledEngine(uint64_t cache_bytes) {
    tuning.block_cache_bytes = cache_bytes;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 32 << 20;
    tuning.log_segment_bytes = 16 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.families[0].block_size_bytes = 512;
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    Put(0, 1, "a");
    Put(1, 3, "b");
    Put(2, 7, "c");
  }

  void Put(uint64_t first, uint64_t step, const std::string& mark) {
    WriteBatch batch;
    for (uint64_t row = first; row < kRows; row += step) {
      batch.Put("t", Key(row), "d", "c", "value" + std::to_string(row % 50));
      batch.Put("t", Key(row), "d", "p", mark + std::string(100, 'p'));
      if (row % 11 == 0 && step > 1) batch.DeleteRow("t", Key(row));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  }
  uint64_t IndexBytes() { return (**this).Info().memory.block_index_bytes; }
};

// The rows, or an error.
std::string Text(Result<Cursor> cursor) {
  if (!cursor.has_value()) return "!" + cursor.error().ToString();
  std::string text;
  while (cursor->Next()) {
    text.append(cursor->row().key());
    for (const Cell& cell : cursor->row().cells()) text.append(" ").append(cell.value);
    text += "\n";
  }
  return cursor->status().ok() ? text : "!" + cursor->status().ToString();
}

std::string Text(const Result<std::optional<Row>>& row) {
  if (!row.has_value()) return "!" + row.error().ToString();
  if (!row->has_value()) return "-";
  std::string text;
  for (const Cell& cell : (*row)->cells()) text.append(" ").append(cell.value);
  return text;
}

// Random reads of each kind.
void CheckReads(FilledEngine* usual, FilledEngine* little, TestRandom* random) {
  const auto same = [&](const auto& read) {
    const std::string expected = read(**usual);
    return !expected.starts_with("!") && read(**little) == expected;
  };
  for (int i = 0; i < 40; ++i) {
    ScanOptions scan;
    scan.start = Key(random->Below(kRows));
    scan.limit = random->OneIn(3) ? 0 : 1 + random->Below(500);
    scan.reverse = random->OneIn(2);
    BOOST_REQUIRE(same([&](engine::Engine& engine) { return Text(engine.Scan({}, "t", scan)); }));
    QueryOptions query;
    query.limit = random->OneIn(2) ? 0 : 1 + random->Below(100);
    query.use_index = "by_c";
    const Predicate value = Predicate::Equal("c", "value" + std::to_string(random->Below(60)));
    BOOST_REQUIRE(
        same([&](engine::Engine& engine) { return Text(engine.Query({}, "t", value, query)); }));
    for (int k = 0; k < 10; ++k) {
      const std::string key = Key(random->Below(kRows + 100)) + (random->OneIn(4) ? "x" : "");
      BOOST_REQUIRE(same([&](engine::Engine& engine) { return Text(engine.Get({}, "t", key)); }));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(little_memory)

BOOST_AUTO_TEST_CASE(ReadsAndMergesGiveTheSame) {
  TestRandom random("little_memory/ReadsAndMergesGiveTheSame");
  for (const uint64_t cache_bytes : {4u << 10, 64u << 10, 256u << 10}) {
    FilledEngine usual(64 << 20), little(cache_bytes);
    CheckReads(&usual, &little, &random);
    BOOST_CHECK_EQUAL(usual.Rows(), little.Rows());
    usual.executor.Drain();  // Overlaps are built.
    little.executor.Drain();
    CheckReads(&usual, &little, &random);
    BOOST_CHECK_LT(little.IndexBytes() * 2, usual.IndexBytes());
    BOOST_REQUIRE_EQUAL(little->Compact("t").ToString(), "OK");
    BOOST_REQUIRE_EQUAL(usual->Compact("t").ToString(), "OK");
    little.executor.Drain();
    usual.executor.Drain();
    CheckReads(&usual, &little, &random);
    const Result<VerifyReport> report = little->Verify(/*deep=*/true);
    BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
    BOOST_CHECK(report->findings.empty());
  }
}

BOOST_AUTO_TEST_CASE(ThreadsReadTheSame) {
  FilledEngine little(64 << 10);
  const std::string rows = Text(little->Scan({}, "t", {}));
  const Predicate value = Predicate::Equal("c", "value7");
  const std::string hits = Text(little->Query({}, "t", value, {}));
  BOOST_REQUIRE(!rows.starts_with("!") && !hits.starts_with("!"));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        wrong += Text(little->Scan({}, "t", {})) == rows ? 0 : 1;
        wrong += Text(little->Query({}, "t", value, {})) == hits ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(wrong, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
