// Opening to read only while a writer works: between any two operations of the open the
// writer may commit, flush, merge, roll its log, end and begin again. The reader never takes that
// for damage, and sees the database as of one point in time between the open's begin and its end.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "test/engine/copied_database.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "tools/simulation/trace_linter.h"

namespace tandem::test {
namespace {

// A writer whose every batch raises the value of both rows, which lie in two regions.
class Writer {
 public:
  Writer() : Writer(std::make_unique<TraceLinter>()) {}
  explicit Writer(std::unique_ptr<DiskObserver> observer) : engine(1, std::move(observer)) {
    engine.tuning.memstore_bytes = 4 << 10;
    engine.tuning.log_segment_bytes = 4 << 10;
    engine.tuning.compaction_runs = 2;
    BOOST_REQUIRE(engine.Open().ok());
    TableOptions table = SimpleTable(1);
    table.split_keys = {"m"};
    BOOST_REQUIRE(engine->CreateTable(table).ok());
    for (int i = 0; i < 30; ++i) Put();
    engine.executor.Drain();
  }

  void Put() {
    WriteBatch batch;
    ++count;
    for (const char* row : {"a", "z"}) {
      batch.Put("t", row, "d", "c", std::to_string(count));
      batch.Put("t", row, "d", "pad", std::string(200, 'p'));
    }
    Require(engine.Write(batch));
  }
  void Flush() {
    Put();
    Require(engine->Flush({}));
    engine.executor.Drain();
  }
  void Compact() {
    Put();
    Require(engine->Compact({}));
    engine.executor.Drain();
  }
  void Reopen() {
    Put();
    Require(engine.Close());
    Require(engine.Open());
  }
  void CreateTable() {
    TableOptions table = SimpleTable(1);
    table.name = "t" + std::to_string(++tables);
    Require(engine->CreateTable(table));
    WriteBatch batch;
    batch.Put(table.name, "row", "d", "c", "1");
    Require(engine.Write(batch));
    Put();
  }
  void Die() {
    Put();
    // A process that ends without a word: the next one recovers.
    engine.Drop();
    Require(engine.Open());
  }
  void Step(uint64_t kind) {
    switch (kind % 6) {
      case 0:
        return Put();
      case 1:
        return Flush();
      case 2:
        return Compact();
      case 3:
        return Reopen();
      case 4:
        return CreateTable();
      default:
        for (int i = 0; i < 40; ++i) Put();
        engine.executor.Drain();
    }
  }

  TestEngine engine;
  ManualClock reader_clock;
  int count = 0;
  int tables = 0;

 private:
  static void Require(const Status& status) { BOOST_REQUIRE_EQUAL(status.ToString(), "OK"); }
};

// Opens beside `writer`, with `between` called before each operation of the open, by its number.
// How many operations that took.
uint64_t OpenBeside(Writer* writer, const std::function<void(uint64_t)>& between,
                    const std::string& where) {
  const int before = writer->count;
  bool writing = false;
  uint64_t operations = 0;
  writer->engine.disk.control().SetHook([&](const DiskEvent&) {
    if (writing) return;
    writing = true;
    between(++operations);
    writing = false;
  });
  CopiedDatabase reader(&writer->engine.disk, "db", /*read_only=*/true, &writer->reader_clock);
  const uint64_t opened = operations;
  writing = true;
  const bool may_give_up =
      where.starts_with("restless") && reader.status().code() == StatusCode::kBusy;
  BOOST_TEST((reader.status().ok() || may_give_up), where << ": " << reader.status().ToString());
  if (!reader.status().ok()) {
    writer->engine.disk.control().SetHook(nullptr);
    return opened;
  }
  writing = false;
  const Result<std::optional<Row>> a = reader->Get({}, "t", "a");
  const Result<std::optional<Row>> z = reader->Get({}, "t", "z");
  writing = true;
  BOOST_REQUIRE_MESSAGE((a.has_value() && z.has_value()), where << a.status().ToString());
  BOOST_REQUIRE((a->has_value() && z->has_value()));
  const std::string value((*a)->Find("d", "c").value_or("-"));
  BOOST_TEST(value == (*z)->Find("d", "c").value_or("-"), where);
  BOOST_TEST(std::stoi(value) >= before, where);
  BOOST_TEST(std::stoi(value) <= writer->count, where);
  BOOST_TEST(reader.Findings() == "", where);
  writer->engine.disk.control().SetHook(nullptr);
  return opened;
}

BOOST_AUTO_TEST_SUITE(OpenBesideWriterSuite)

BOOST_AUTO_TEST_CASE(TheWriterWorksBetweenAnyTwoOperationsOfTheOpen) {
  for (uint64_t kind = 0; kind < 6; ++kind) {
    Writer writer;
    uint64_t operations = 1;
    for (uint64_t at = 1; at <= std::min<uint64_t>(operations, 25); ++at) {
      const std::string where = "kind " + std::to_string(kind) + " at " + std::to_string(at);
      operations = OpenBeside(
          &writer,
          [&](uint64_t now) {
            if (now == at) writer.Step(kind);
          },
          where);
    }
    BOOST_TEST(operations > 10u);
  }
}

BOOST_AUTO_TEST_CASE(TheWriterWorksAgainAndAgain) {
  uint64_t operations = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Writer writer;
    const auto random = base::NewSeededRandom(seed);
    const uint64_t pause = 10 + seed;
    for (int open = 0; open < 2; ++open) {
      operations += OpenBeside(
          &writer,
          [&](uint64_t) {
            if (random->Next64() % pause == 0) writer.Step(random->Next64());
          },
          "seed " + std::to_string(seed));
    }
  }
  BOOST_TEST(operations > 200u);
}

// Where the writer always is faster the reader gives up at last, and does not call it damage.
BOOST_AUTO_TEST_CASE(ARestlessWriterIsNoDamageEither) {
  // Thousands of commits: nobody reads the manifest again at each.
  Writer writer(nullptr);
  uint64_t step = 0;
  OpenBeside(
      &writer,
      [&](uint64_t) {
        writer.Step(++step % 2 == 0 ? 2 : 1);
        writer.reader_clock.Advance(20'000);
      },
      "restless");
}

// However many attempts fail, the reader tries for seconds, and waits between them.
BOOST_AUTO_TEST_CASE(PatienceIsCountedInTimeNotInAttempts) {
  Writer writer;
  writer.Flush();
  SimulatedDisk& disk = writer.engine.disk;
  std::string name;
  for (const std::string& file : *(*disk.OpenDirectory("db", false))->List()) {
    if (file.starts_with("manifest-")) name = file;
  }
  const std::string bytes = *disk.Content("db", name);
  for (const int spoilt : {150, 1'000'000}) {
    int attempts = 0;
    disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation != DiskOperation::kOpen || event.name != "ROOT") return;
      // Each attempt finds it in another state.
      std::string state = bytes;
      if (++attempts <= spoilt) state[100] = static_cast<char>(state[100] ^ (1 + attempts % 64));
      disk.SetContent("db", name, state);
    });
    const int64_t begin = writer.reader_clock.MonotonicMicros();
    CopiedDatabase reader(&disk, "db", /*read_only=*/true, &writer.reader_clock);
    const int64_t waited = writer.reader_clock.MonotonicMicros() - begin;
    disk.control().SetHook(nullptr);
    disk.SetContent("db", name, bytes);
    if (spoilt == 150) {
      BOOST_TEST(reader.status().ToString() == "OK");
      BOOST_TEST(attempts > spoilt);
    } else {
      BOOST_TEST(reader.status().code() == StatusCode::kBusy);
      BOOST_TEST(attempts < 1000);
      BOOST_TEST(waited >= 8'000'000);
      BOOST_TEST(waited < 10'000'000);
    }
  }
}

BOOST_AUTO_TEST_CASE(DamageBesideAWriterIsStillDamage) {
  Writer writer;
  writer.Flush();
  for (const char* prefix : {"manifest-", "log-", "store-"}) {
    std::string name;
    for (const std::string& file : *(*writer.engine.disk.OpenDirectory("db", false))->List()) {
      if (file.starts_with(prefix)) name = file;
    }
    const std::string bytes = *writer.engine.disk.Content("db", name);
    std::string damaged = bytes;
    damaged[100] = static_cast<char>(damaged[100] ^ 1);
    writer.engine.disk.SetContent("db", name, damaged);
    CopiedDatabase reader(&writer.engine.disk, "db", /*read_only=*/true);
    BOOST_TEST(reader.status().code() == StatusCode::kCorruption, name);
    writer.engine.disk.SetContent("db", name, bytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
