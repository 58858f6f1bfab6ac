// A row of five million cells through a database of 32 MiB: written in batches, flushed, compacted,
// read by column and whole, piece by piece. The process is to stay within the budget and 64 MiB.
#define BOOST_TEST_DYN_LINK
#include <tandem/tandem.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem {
namespace {

constexpr uint64_t kMemoryBytes = 32 << 20;
constexpr uint64_t kExtraBytesMax = 64 << 20;
constexpr uint64_t kBatchCells = 10'000;
constexpr uint64_t kReadsMax = 4;

uint64_t CellsWanted() { return std::getenv("TANDEM_QUICK") == nullptr ? 5'000'000 : 300'000; }

std::string Number(uint64_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "%08llu", static_cast<unsigned long long>(number));
  return text;
}

// The number after `name` in a file of /proc.
uint64_t ProcFigure(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    uint64_t value = 0;
    if (word == name && file >> value) return value;
  }
  return 0;
}

// The most that the process had resident since this was made, beyond what it had then.
class PeakResident {
 public:
  PeakResident() {
    std::ofstream("/proc/self/clear_refs") << 5;  // Resets the high-water mark.
    before_ = ProcFigure("/proc/self/status", "VmRSS:");
  }
  uint64_t extra_bytes() const {
    const uint64_t peak = ProcFigure("/proc/self/status", "VmHWM:");
    return peak > before_ ? (peak - before_) * 1024 : 0;
  }

 private:
  uint64_t before_ = 0;
};

// Read calls of this thread; asking makes some, always as many.
uint64_t ReadCalls() { return ProcFigure("/proc/thread-self/io", "syscr:"); }

std::unique_ptr<Database> Opened(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = kMemoryBytes;
  auto database = Database::Open(path, options);
  BOOST_TEST_REQUIRE(database.has_value(), database.status());
  return std::move(*database);
}

// Every `step`-th column from `first` on.
void PutColumns(Database* database, uint64_t first, uint64_t step, uint64_t count) {
  WriteBatch batch;
  uint64_t cells = 0;
  for (uint64_t n = first; n < count; n += step) {
    batch.Put("t", "row", "f", Number(n), Number(count - n));
    if (++cells % kBatchCells != 0 && n + step < count) continue;
    BOOST_REQUIRE(database->Write({.durability = Durability::kBuffered}, batch).ok());
    batch.Clear();
  }
}

void CheckColumns(Database* database, uint64_t count) {
  ReadOptions options;
  options.columns = {{"f", ""}};
  BOOST_REQUIRE((*database->Get({}, "t", "after"))->cells().size() == 1u);  // What is kept is read.
  (void)ReadCalls();
  const uint64_t asking = [] {
    const uint64_t before = ReadCalls();
    return ReadCalls() - before;
  }();
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t column = i * 7'919'117 % count;
    options.columns[0].qualifier = Number(column);
    const uint64_t before = ReadCalls();
    const auto row = database->Get(options, "t", "row");
    const uint64_t reads = ReadCalls() - before - asking;
    BOOST_TEST_REQUIRE(row.has_value(), row.status());
    BOOST_TEST_REQUIRE((*row)->cells().size() == 1u);
    BOOST_TEST((*row)->cells()[0].value == Number(count - column));
    BOOST_TEST(reads <= kReadsMax);
  }
}

void CheckWholeRow(Database* database, uint64_t count) {
  ReadOptions options;
  options.pieces = true;
  ScanOptions rows;
  rows.prefix = "row";
  auto scan = database->Scan(options, "t", rows);
  BOOST_TEST_REQUIRE(scan.has_value(), scan.status());
  uint64_t next = 0, pieces = 0, wrong = 0;
  while (scan->Next()) {
    ++pieces;
    for (const Cell& cell : scan->row().cells()) {
      wrong += cell.qualifier == Number(next) && cell.value == Number(count - next) ? 0 : 1;
      ++next;
    }
  }
  BOOST_TEST_REQUIRE(scan->status().ok(), scan->status());
  BOOST_TEST(next == count);
  BOOST_TEST(wrong == 0u);
  BOOST_TEST(pieces > count * 16 / kRowPieceBytes);
}

BOOST_AUTO_TEST_SUITE(WideRowDatabaseTest)

BOOST_AUTO_TEST_CASE(ARowOfMillionsOfCellsLivesInASmallDatabase) {
  const uint64_t count = CellsWanted();
  const test::TemporaryDirectory place;
  auto database = Opened(place.Path("db"));
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "f"}};
  table.indexes = {{"by_column", {{"f", Number(4711)}}}};
  BOOST_REQUIRE(database->CreateTable(table).ok());
  const PeakResident memory;
  WriteBatch around;
  around.Put("t", "before", "f", "x", "1");
  around.Put("t", "after", "f", "x", "1");
  BOOST_REQUIRE(database->Write({}, around).ok());
  for (uint64_t first = 0; first < 3; ++first) PutColumns(database.get(), first, 3, count);
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_TEST_MESSAGE("written with " << memory.extra_bytes() / 1024 << " KiB");
  const Status compacted = database->Compact("t");
  BOOST_TEST_REQUIRE(compacted.ok(), compacted);
  BOOST_TEST_MESSAGE("compacted with " << memory.extra_bytes() / 1024 << " KiB");
  CheckColumns(database.get(), count);
  CheckWholeRow(database.get(), count);
  const auto found =
      database->Count({}, "t", Predicate::Equal(Number(4711), Number(count - 4711)), {});
  BOOST_TEST_REQUIRE(found.has_value(), found.status());
  BOOST_TEST(*found == 1u);
  BOOST_TEST(memory.extra_bytes() < kMemoryBytes + kExtraBytesMax);
  BOOST_TEST_MESSAGE("in all " << memory.extra_bytes() / 1024 << " KiB");
  BOOST_TEST_REQUIRE(database->Close().ok());
  const auto report = Opened(place.Path("db"))->Verify(/*deep=*/true);
  BOOST_TEST_REQUIRE(report.has_value(), report.status());
  BOOST_TEST(report->findings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem
