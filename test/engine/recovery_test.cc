// Power cuts at every disk operation of a small workload: what was synced is there, the rest is a
// prefix, and recovery itself may be cut off as well.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

std::string RowName(int i) {
  std::string digits = std::to_string(i);
  return "row" + std::string(4 - digits.size(), '0') + digits;
}

// Writes rows 0, 1, 2, ... each in a batch over two tables, with flushes, compactions and rolls in
// between, until something fails.
class Workload {
 public:
  static constexpr int kWrites = 60;

  explicit Workload(TestEngine* engine) : engine_(*engine) {}

  void Run() {
    if (!engine_.Open().ok()) return;
    if (!CreateTables()) return;
    for (int i = 0; i < kWrites; ++i) {
      if (!Write(i)) return;
      if (i % 16 == 7 && !engine_->Flush("t").ok()) return;
      if (i % 32 == 20 && !engine_->Compact("").ok()) return;
      engine_.executor.Drain();
    }
    closed_ = engine_.Close().ok();
  }

  int acknowledged = 0;  ///< Writes at any level.
  int written = 0;       ///< Up to the last at kWritten or above.
  int synced = 0;        ///< Up to the last at kSynced, or before a finished close.
  bool closed() const { return closed_; }

 private:
  bool CreateTables() {
    TableOptions second = SimpleTable();
    second.name = "u";
    return engine_->CreateTable(SimpleTable()).ok() && engine_->CreateTable(second).ok();
  }
  bool Write(int i) {
    constexpr Durability kLevels[] = {Durability::kBuffered, Durability::kWritten,
                                      Durability::kBuffered, Durability::kSynced,
                                      Durability::kWritten};
    const Durability level = kLevels[i % 5];
    WriteBatch batch;
    batch.Put("t", RowName(i), "d", "c", std::to_string(i % 3));
    batch.Put("u", RowName(i), "d", "c", std::string(500, 'v'));
    if (!engine_.Write(batch, level).ok()) return false;
    acknowledged = i + 1;
    if (level >= Durability::kWritten) written = i + 1;
    if (level == Durability::kSynced) synced = i + 1;
    return true;
  }

  TestEngine& engine_;
  bool closed_ = false;
};

// Rows of a table; -1 when they are no prefix.
int PrefixOf(TestEngine& engine, std::string_view table) {
  Result<Cursor> cursor = engine->Scan({}, table, {});
  if (!cursor.has_value()) return -1;
  int count = 0;
  while (cursor->Next()) {
    if (cursor->row().key() != RowName(count)) return -1;
    ++count;
  }
  return cursor->status().ok() ? count : -1;
}

void CheckRecovered(TestEngine& engine, const Workload& workload, int at_least) {
  const std::vector<TableInfo> tables = engine->Info().tables;
  if (tables.size() < 2) {
    BOOST_REQUIRE_EQUAL(at_least, 0);
    return;
  }
  const int rows = PrefixOf(engine, "t");
  BOOST_REQUIRE_GE(rows, at_least);
  BOOST_REQUIRE_LE(rows, workload.acknowledged + 1);
  BOOST_REQUIRE_EQUAL(PrefixOf(engine, "u"), rows);
  const Result<VerifyReport> report = engine->Verify(true);
  BOOST_REQUIRE(report.has_value());
  for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  int found = 0;
  for (const char* value : {"0", "1", "2"}) {
    found += static_cast<int>(*engine->Count({}, "t", Predicate::Equal("c", value), {}));
  }
  BOOST_REQUIRE_EQUAL(found, rows);
}

// One life that ends at the `cut`-th operation, and the ones after it.
bool CutAndRecover(uint64_t cut, CrashPolicy::Kept kept, uint64_t seed) {
  TestEngine engine(seed);
  engine.disk.control().PowerOffAt(cut);
  Workload workload(&engine);
  workload.Run();
  const bool reached_the_end = workload.closed();
  engine.Crash({.kept = kept, .seed = seed});
  engine.disk.control().PowerOffAt(1 + seed % 23);
  (void)engine.Open().ok();  // Perhaps it is cut off again.
  engine.Crash({.kept = kept, .seed = seed + 1});
  engine.disk.control().PowerOn();
  const Status opened = engine.Open();
  BOOST_REQUIRE_EQUAL(opened.ToString(), "OK");
  CheckRecovered(engine, workload, reached_the_end ? Workload::kWrites : workload.synced);
  if (engine->Info().tables.empty()) return reached_the_end;

  // Work continues, and a clean close keeps everything.
  BOOST_REQUIRE(engine.Put("zzz", "c", "0", Durability::kSynced).ok());
  const std::string rows = engine.Rows();
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine.Rows(), rows);
  BOOST_REQUIRE_EQUAL(engine->Info().recovered_operations, 0u);
  return reached_the_end;
}

BOOST_AUTO_TEST_SUITE(Recovery)

BOOST_AUTO_TEST_CASE(EveryPowerCutLeavesAPrefixWithAllThatWasSynced) {
  TestRandom random("EveryPowerCutLeavesAPrefixWithAllThatWasSynced");
  const bool quick = std::getenv("TANDEM_QUICK") != nullptr;
  for (const CrashPolicy::Kept kept :
       {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, CrashPolicy::Kept::kRandom}) {
    for (uint64_t cut = 1;; cut += quick ? 1 + random.Below(12) : 1) {
      const uint64_t seed = random.Next();
      BOOST_TEST_CONTEXT("cut " << cut << ", kept " << static_cast<int>(kept) << ", seed "
                                << seed) {
        if (CutAndRecover(cut, kept, seed)) break;
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AKilledProcessLosesNothingThatWasWritten) {
  TestRandom random("AKilledProcessLosesNothingThatWasWritten");
  for (int trial = 0; trial < 40; ++trial) {
    TestEngine engine(random.Next());
    engine.disk.control().PowerOffAt(20 + random.Below(300));
    Workload workload(&engine);
    workload.Run();
    if (engine.is_open()) engine.Kill();
    engine.disk.control().PowerOn();
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    CheckRecovered(engine, workload, workload.written);
  }
}

BOOST_AUTO_TEST_CASE(LargeLogsBecomeSeveralMemstores) {
  TestEngine engine;
  engine.tuning.memstore_bytes = 8 << 20;
  engine.tuning.memstores_total_bytes = 16 << 20;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  for (int i = 0; i < 400; ++i) {
    BOOST_REQUIRE(engine.Put(RowName(i), "c", std::string(1000, 'v')).ok());
  }
  engine.Kill();
  engine.tuning.memstore_bytes = 64 << 10;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_CHECK_GT(engine->Info().tables[0].regions[0].memstores, 3u);
  BOOST_CHECK_EQUAL(engine->Info().recovered_operations, 400u);
  BOOST_CHECK_EQUAL(PrefixOf(engine, "t"), 400);
  engine.executor.Drain();
  BOOST_CHECK_EQUAL(engine->Info().tables[0].regions[0].memstores, 1u);
  BOOST_CHECK_EQUAL(PrefixOf(engine, "t"), 400);
  engine.Kill();
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_CHECK_EQUAL(PrefixOf(engine, "t"), 400);
}

BOOST_AUTO_TEST_CASE(AMissingFileIsToldByName) {
  TestEngine engine;
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine.Put("a", "c", "1").ok());
  BOOST_REQUIRE(engine->Flush("t").ok());
  const std::string name =
      "store-" + std::to_string(engine->Info().tables[0].regions[0].files[0].number);
  BOOST_REQUIRE(engine.Close().ok());
  const std::string content = *engine.disk.Content("db", name);
  BOOST_REQUIRE(engine.disk.RemoveDurably("db", name).ok());
  const Status status = engine.Open();
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kCorruption);
  BOOST_CHECK(status.message().find(name) != std::string_view::npos);
  // It fails as often as it is tried, and harms nothing.
  BOOST_CHECK_EQUAL(engine.Open().code(), StatusCode::kCorruption);
  engine.disk.SetContent("db", name, content);
  BOOST_CHECK_EQUAL(engine.Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(engine.Rows(), "a{c=1}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
