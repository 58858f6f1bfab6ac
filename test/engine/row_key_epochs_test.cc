// Row keys that change, and crashes: wherever the power goes while keys are rewritten, each row is
// there once, with all that it had.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "tandem/row_key.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

// Fewer salts, so that the ranges of the newest do not have all former keys.
constexpr const char* kFormer = "salt(11), id:int64";
constexpr const char* kNewest = "salt(3), id:int64";
constexpr int kRows = 40;

// By id: "value@timestamp ..." of all versions. A row under two keys would be "twice".
using VersionsById = std::map<std::string, std::string>;

class Changed : public TestEngine {
 public:
  explicit Changed(uint64_t seed) : TestEngine(seed) {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable(3);
    table.row_key = kFormer;
    BOOST_REQUIRE_EQUAL((*this)->CreateTable(table).ToString(), "OK");
    const RowKeySchema keys = *RowKeySchema::Parse(kFormer);
    for (int i = 0; i < 2 * kRows; ++i) {
      const auto key = keys.Encode(std::vector<RowKeyField>{{"id", std::to_string(i % kRows)}});
      BOOST_REQUIRE_EQUAL(Put(*key, "c", std::to_string(i)).ToString(), "OK");
      if (i == kRows) BOOST_REQUIRE_EQUAL((*this)->Flush("t").ToString(), "OK");
    }
    // All that the test begins with is durable.
    BOOST_REQUIRE_EQUAL(Put("raw", "c", "v", Durability::kSynced).ToString(), "OK");
  }

  VersionsById AllRows() {
    ReadOptions read;
    read.versions = 9;
    Result<RowKeyEpochs> keys = (*this)->RowKeysOf({}, "t");
    BOOST_REQUIRE_EQUAL(keys.status().ToString(), "OK");
    auto cursor = (*this)->Scan(read, "t", *keys->InFieldOrder({}));
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    VersionsById rows;
    while (cursor->Next()) {
      const auto fields = keys->Decode(cursor->row().key());
      if (!fields.has_value()) continue;
      std::string& text = rows[fields->front().value];
      if (!text.empty()) text += "twice ";
      for (const Cell& cell : cursor->row().cells()) {
        text.append(cell.value).append("@").append(std::to_string(cell.timestamp)).append(" ");
      }
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  size_t FormerKeys() { return (*this)->RowKeysOf({}, "t")->schemas().size() - 1; }
};

// False: the operation to fail at was not reached.
bool FailAt(uint64_t at, CrashPolicy::Kept kept) {
  Changed engine(at + 1);
  const VersionsById expected = engine.AllRows();
  BOOST_REQUIRE_EQUAL(expected.size(), static_cast<size_t>(kRows));
  engine.disk.control().PowerOffAt(at);
  bool is_done = engine->ChangeRowKey("t", kNewest).ok();
  if (is_done) {
    const auto report = engine->RewriteKeys("t", {.write = {.durability = Durability::kBuffered}});
    is_done = report.has_value() && report->closed;
  }
  engine.Crash({.kept = kept, .seed = at});
  engine.disk.control().PowerOn();
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_TEST((engine.AllRows() == expected), "power off at " << at);
  BOOST_REQUIRE_EQUAL(engine->ChangeRowKey("t", kNewest).ToString(), "OK");
  const auto report = engine->RewriteKeys("t", {});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(report->closed);
  BOOST_TEST(engine.FormerKeys() == 0u);
  BOOST_TEST((engine.AllRows() == expected), "rewritten after power off at " << at);
  const auto verified = engine->Verify(true);
  BOOST_REQUIRE_EQUAL(verified.status().ToString(), "OK");
  BOOST_TEST(verified->findings.empty());
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  return !is_done;
}

BOOST_AUTO_TEST_SUITE(row_key_epochs)

// The edit that forgets the former keys is durable before the end of the log that has the moves may
// be.
BOOST_AUTO_TEST_CASE(WhereverPowerGoesEachRowIsThereOnce) {
  for (const auto kept :
       {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, CrashPolicy::Kept::kRandom}) {
    uint64_t at = 1;
    while (FailAt(at, kept)) ++at;
    BOOST_TEST(at > 5u);
  }
}

// A process that dies between two rows leaves the first moved and the second not.
BOOST_AUTO_TEST_CASE(RowsThatWereMovedBeforeAKillStayMoved) {
  Changed engine(1);
  const VersionsById expected = engine.AllRows();
  BOOST_REQUIRE_EQUAL(engine->ChangeRowKey("t", kNewest).ToString(), "OK");
  for (int i = 0; i < kRows; i += 2) {
    const std::vector<RowKeyField> fields = {{"id", std::to_string(i)}};
    BOOST_REQUIRE_EQUAL(engine->KeyForWrite({}, "t", fields).status().ToString(), "OK");
  }
  engine.Kill();
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_TEST(engine.FormerKeys() == 1u);
  BOOST_TEST((engine.AllRows() == expected));
  const auto report = engine->RewriteKeys("t", {});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(report->moved > 0u);
  BOOST_TEST(report->moved <= static_cast<uint64_t>(kRows) / 2);
  BOOST_TEST((engine.AllRows() == expected));
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ARowThatIsWrittenHasOneKey) {
  Changed engine(1);
  BOOST_REQUIRE_EQUAL(engine->ChangeRowKey("t", kNewest).ToString(), "OK");
  for (int i = 0; i < kRows; ++i) {
    const std::vector<RowKeyField> fields = {{"id", std::to_string(i)}};
    const auto key = engine->KeyForWrite({}, "t", fields);
    BOOST_REQUIRE_EQUAL(key.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine.Put(*key, "c", "later").ToString(), "OK");
  }
  const VersionsById rows = engine.AllRows();
  BOOST_TEST(rows.size() == static_cast<size_t>(kRows));
  for (const auto& [id, versions] : rows) {
    BOOST_TEST(versions.starts_with("later@"), versions);
    BOOST_TEST(versions.find("twice") == std::string::npos, versions);
  }
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ARateBoundsWhatIsLookedAt) {
  Changed engine(1);
  BOOST_REQUIRE_EQUAL(engine->ChangeRowKey("t", kNewest).ToString(), "OK");
  const int64_t begun = engine.clock.MonotonicMicros();
  const auto report = engine->RewriteKeys("t", {.bytes_per_second = 100});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  // Two passes over 40 rows of 9 bytes and a cell of at least two.
  const int64_t seconds = (engine.clock.MonotonicMicros() - begun) / 1'000'000;
  BOOST_TEST(seconds >= 2 * kRows * 11 / 100);
  BOOST_TEST(seconds <= 2 * kRows * 20 / 100);
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
