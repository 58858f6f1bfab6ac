// Tables of several regions: routing, recovery, reads across their borders, and a hundred of them
// under one budget of memory and one log.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tandem/limits.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/simulation/model.h"

namespace tandem::test {
namespace {

std::string Key(uint64_t row) {
  std::string digits = std::to_string(row);
  return std::string(6 - digits.size(), '0') + digits;
}

// Regions of `rows` keys each.
TableOptions SplitTable(uint64_t regions, uint64_t rows) {
  TableOptions options = SimpleTable();
  for (uint64_t i = 1; i < regions; ++i) options.split_keys.push_back(Key(i * rows));
  return options;
}

struct RegionsFixture : TestEngine {
  RegionsFixture() { BOOST_REQUIRE_EQUAL(Open().ToString(), "OK"); }
  engine::Engine& engine() { return **this; }

  std::vector<RegionInfo> Regions() { return engine().Info().tables[0].regions; }
  std::string CreateError(std::vector<std::string> split_keys) {
    TableOptions options = SimpleTable();
    options.split_keys = std::move(split_keys);
    const Status status = engine().CreateTable(options);
    if (!status.ok()) BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
  std::vector<std::string> Keys(Result<Cursor> cursor) {
    BOOST_REQUIRE(cursor.has_value());
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  void CheckVerified() {
    const Result<VerifyReport> report = engine().Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(RegionsTest, RegionsFixture)

BOOST_AUTO_TEST_CASE(SplitKeysMakeRegionsThatTile) {
  BOOST_REQUIRE_EQUAL(CreateError({"m", "c", std::string("\xff\x00", 2)}), "");
  const std::vector<std::string> starts = {"", "c", "m", std::string("\xff\x00", 2)};
  for (int life = 0; life < 2; ++life) {
    const std::vector<RegionInfo> regions = Regions();
    BOOST_REQUIRE_EQUAL(regions.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      BOOST_CHECK_EQUAL(regions[i].start_key, starts[i]);
      BOOST_CHECK_EQUAL(regions[i].end_key, i < 3 ? starts[i + 1] : "");
    }
    CheckVerified();
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(SplitKeysOutOfTheirLimitsAreRefused) {
  BOOST_CHECK_EQUAL(CreateError({"a", ""}), "table 't': a split key is empty");
  BOOST_CHECK_EQUAL(CreateError({"b", "a", "b"}), "table 't': split key 'b' is repeated");
  BOOST_CHECK_EQUAL(CreateError({std::string(kRowKeyBytesMax + 1, 'k')}),
                    "table 't': a split key has 65536 bytes, the limit is 65535");
  std::vector<std::string> many, large;
  for (uint32_t i = 0; i < kRegionsMax; ++i) many.push_back(Key(i));
  BOOST_CHECK_EQUAL(CreateError(many),
                    "table 't': its split keys make 4097 regions, the limit is 4096");
  for (uint32_t i = 0; i < 150; ++i) large.push_back(std::string(60'000, 'k') + Key(i));
  BOOST_CHECK_EQUAL(CreateError(large),
                    "table 't': its split keys have 9000900 bytes together, the limit is 8388608");
  BOOST_CHECK(engine().Info().tables.empty());
  many.pop_back();
  BOOST_CHECK_EQUAL(CreateError(many), "");
  BOOST_CHECK_EQUAL(Regions().size(), kRegionsMax);
}

BOOST_AUTO_TEST_CASE(KeysGoToTheRegionThatHoldsThem) {
  BOOST_REQUIRE_EQUAL(CreateError({"b", "c"}), "");
  WriteBatch batch;
  for (const char* row : {"a", "az", "b", "b0", "c", "\xff", "d"}) {
    batch.Put("t", row, "d", "c", row);
  }
  BOOST_REQUIRE(Write(batch).ok());
  for (int life = 0; life < 3; ++life) {
    std::vector<uint64_t> rows;
    for (const RegionInfo& region : Regions()) {
      uint64_t count = region.memstore_rows;
      for (const FileInfo& file : region.files) {
        count += file.rows;
        BOOST_CHECK(file.min_key >= region.start_key);
        BOOST_CHECK(region.end_key.empty() || file.max_key < region.end_key);
      }
      rows.push_back(count);
    }
    BOOST_CHECK((rows == std::vector<uint64_t>{2, 2, 3}));
    for (const char* row : {"a", "az", "b", "b0", "c", "\xff", "d"}) {
      BOOST_CHECK_EQUAL(Value(row, "c"), row);
    }
    if (life == 1) BOOST_REQUIRE(engine().Flush("t").ok());
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
}

ModelOperation RandomOperation(TestRandom* random, uint64_t rows) {
  ModelOperation operation;
  operation.table = "t";
  operation.row = Key(random->Below(rows));
  operation.family = "d";
  if (random->OneIn(8)) {
    operation.kind = ModelOperation::Kind::kDeleteRow;
    operation.family.clear();
  } else if (random->OneIn(8)) {
    operation.kind = ModelOperation::Kind::kDeleteCell;
    operation.columns = {{"c", ""}};
  } else {
    operation.columns = {{"c", std::to_string(random->Below(40))}, {"q", "v"}};
  }
  return operation;
}

// Every read over many regions against the model, with sources of every kind in them.
BOOST_AUTO_TEST_CASE(ReadsAcrossRegionsEqualTheModel) {
  TestRandom random("regions/ReadsAcrossRegionsEqualTheModel");
  constexpr uint64_t kRows = 600;
  TableOptions options = SplitTable(20, kRows / 20);
  BOOST_REQUIRE(engine().CreateTable(options).ok());
  Model model;
  model.CreateTable(options);
  int64_t timestamp = clock.WallMicros();  // Of each batch; they rise.
  for (int round = 0; round < 8; ++round) {
    for (int batches = 0; batches < 30; ++batches) {
      WriteBatch batch;
      std::vector<ModelOperation> operations(1 + random.Below(12));
      for (ModelOperation& operation : operations) {
        operation = RandomOperation(&random, kRows);
        operation.AddTo(&batch);
      }
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
      for (const ModelOperation& operation : operations) {
        model.Apply(operation, timestamp, clock.WallMicros());
      }
      ++timestamp;
    }
    if (random.OneIn(3)) BOOST_REQUIRE(engine().Flush("t").ok());
    if (random.OneIn(4)) BOOST_REQUIRE(engine().Compact("t").ok());
    if (random.OneIn(3)) {
      Kill();
      BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    }
    const ModelRead now{.now_micros = clock.WallMicros(), .columns = {}};
    const auto keys_of = [](const std::vector<ModelRow>& rows) {
      std::vector<std::string> keys;
      for (const ModelRow& row : rows) keys.push_back(row.key);
      return keys;
    };
    for (int i = 0; i < 20; ++i) {
      ScanOptions scan;
      if (random.OneIn(2)) scan.start = Key(random.Below(kRows));
      if (random.OneIn(2)) scan.end = Key(random.Below(kRows));
      if (random.OneIn(4)) scan.prefix = Key(random.Below(kRows)).substr(0, 3 + random.Below(3));
      scan.reverse = random.OneIn(2);
      scan.limit = random.OneIn(3) ? random.Below(80) : 0;
      BOOST_CHECK(Keys(engine().Scan({}, "t", scan)) == keys_of(model.Scan("t", scan, now)));
      const uint64_t low = random.Below(40);
      const Predicate predicate =
          random.OneIn(2) ? Predicate::Equal("c", std::to_string(low))
                          : Predicate::Between("c", std::to_string(low), std::to_string(low + 5));
      QueryOptions query;
      if (random.OneIn(2)) query.order_by = "by_c";
      query.descending = !query.order_by.empty() && random.OneIn(2);
      query.limit = random.OneIn(3) ? 1 + random.Below(30) : 0;
      query.no_index = random.OneIn(3);
      BOOST_CHECK(Keys(engine().Query({}, "t", predicate, query)) ==
                  keys_of(model.Query("t", predicate, query, now)));
      const Result<uint64_t> count = engine().Count({}, "t", predicate, {});
      BOOST_REQUIRE(count.has_value());
      BOOST_CHECK_EQUAL(*count, model.Count("t", predicate, now.now_micros));
      const Result<Explanation> explained = engine().Explain({}, "t", predicate, {});
      BOOST_REQUIRE(explained.has_value());
      BOOST_CHECK_EQUAL(explained->rows, *count);
    }
  }
  CheckVerified();
}

BOOST_AUTO_TEST_CASE(ABatchOverRegionsIsAllOrNothingAfterACrash) {
  for (uint64_t at = 1; at < 60; at += 3) {
    TestEngine other(at);
    BOOST_REQUIRE_EQUAL(other.Open().ToString(), "OK");
    BOOST_REQUIRE(other->CreateTable(SplitTable(10, 10)).ok());
    int written = 0;
    other.disk.control().PowerOffAt(at);
    for (int i = 0; i < 10; ++i, ++written) {
      WriteBatch batch;
      for (uint64_t region = 0; region < 10; ++region) {
        batch.Put("t", Key(region * 10 + 5), "d", "c", std::to_string(i));
      }
      if (!other.Write(batch, Durability::kSynced).ok()) break;
      if (i % 4 == 3 && !other->Flush("t").ok()) break;
    }
    other.Crash({.kept = CrashPolicy::Kept::kRandom});
    BOOST_REQUIRE_EQUAL(other.Open().ToString(), "OK");
    const std::string value = other.Value(Key(5), "c");
    for (uint64_t region = 1; region < 10; ++region) {
      BOOST_REQUIRE_EQUAL(other.Value(Key(region * 10 + 5), "c"), value);
    }
    if (written > 0) BOOST_REQUIRE_GE(std::stoi(value), written - 1);
  }
}

BOOST_AUTO_TEST_CASE(EmptyMemstoresCostNextToNothing) {
  const uint64_t regions = std::getenv("TANDEM_QUICK") == nullptr ? 1000 : 125;
  BOOST_REQUIRE(engine().CreateTable(SplitTable(regions, 10)).ok());
  BOOST_CHECK_EQUAL(engine().Info().memstore_bytes, 0u);
  // One small row in each costs little more than itself.
  WriteBatch batch;
  for (uint64_t region = 0; region < regions; ++region) {
    batch.Put("t", Key(region * 10), "d", "c", "value");
  }
  tuning.memstores_total_bytes = 16 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_CHECK_LT(engine().Info().memstore_bytes, regions * 2048);
}

// No single memstore is ever full: only together they pass their budget.
BOOST_AUTO_TEST_CASE(AHundredRegionsStayUnderOneBudget) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 1 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(engine().CreateTable(SplitTable(100, 1000)).ok());
  TestRandom random("regions/AHundredRegionsStayUnderOneBudget");
  std::map<std::string, std::string> expected;
  const int writes = std::getenv("TANDEM_QUICK") == nullptr ? 6000 : 2500;
  for (int i = 0; i < writes; ++i) {
    const std::string row = Key(random.Below(100'000));
    expected[row] = std::to_string(i) + std::string(500, 'v');
    // Never refused for good: whenever writers wait, a flush is under way.
    BOOST_REQUIRE_EQUAL(Put(row, "c", expected[row]).ToString(), "OK");
    BOOST_REQUIRE_LT(engine().Info().memstore_bytes, (1 << 20) + (64 << 10));
  }
  BOOST_CHECK_GT(FileCount(), 10u);
  for (const auto& [row, value] : expected) BOOST_REQUIRE_EQUAL(Value(row, "c"), value);
}

BOOST_AUTO_TEST_CASE(ALargeBatchOverRegionsDoesNotStopWritersForGood) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 1 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(engine().CreateTable(SplitTable(50, 10)).ok());
  for (int i = 0; i < 3; ++i) {
    WriteBatch batch;
    for (uint64_t row = 0; row < 500; ++row) {
      batch.Put("t", Key(row), "d", "q", std::string(10'000, 'v'));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  executor.Drain();
  BOOST_CHECK_LT(engine().Info().memstore_bytes, 1u << 20);
}

BOOST_AUTO_TEST_CASE(ASmallerBudgetAfterReopeningIsReached) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 64 << 20;
  tuning.log_segment_bytes = 64 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(engine().CreateTable(SplitTable(40, 10)).ok());
  for (uint64_t row = 0; row < 400; ++row) {
    BOOST_REQUIRE(Put(Key(row), "q", std::string(10'000, 'v')).ok());
  }
  Kill();
  tuning.memstores_total_bytes = 1 << 20;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_GT(engine().Info().memstore_bytes, 1u << 20);
  BOOST_CHECK_EQUAL(Put(Key(1), "q", "v").ToString(), "OK");
  BOOST_CHECK_LE(engine().Info().memstore_bytes, 1u << 20);
}

// Many regions hold one old row each; a busy one fills the log.
BOOST_AUTO_TEST_CASE(TheLogStaysSmallBesideManyIdleRegions) {
  tuning.memstores_total_bytes = 64 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  BOOST_REQUIRE(engine().CreateTable(SplitTable(100, 10)).ok());
  for (uint64_t region = 0; region < 100; ++region) {
    BOOST_REQUIRE(Put(Key(region * 10), "c", "old").ok());
  }
  for (int i = 0; i < 300; ++i) {
    BOOST_REQUIRE(Put(Key(5), "q" + std::to_string(i), std::string(10'000, 'v')).ok());
    executor.Drain();
    BOOST_REQUIRE_LE(engine().Info().log_bytes, 8 * tuning.memstore_bytes);
  }
  for (const RegionInfo& region : Regions()) BOOST_CHECK_LE(region.memstore_rows, 1u);
  for (uint64_t region = 0; region < 100; ++region) {
    BOOST_CHECK_EQUAL(Value(Key(region * 10), "c"), "old");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
