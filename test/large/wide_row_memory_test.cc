// A row of five million cells is written, merged from several inputs and read by column in bounded
// memory. Every allocation of this program is counted (test/allocations).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>

#include "base/file_system.h"
#include "compaction/merge.h"
#include "engine/verify/blocks.h"
#include "engine/verify/rows.h"
#include "format/row/wide_row.h"
#include "store_file/writer.h"
#include "test/allocations/allocations.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::format {
namespace {

constexpr int64_t kPeakBytesMax = 64 << 20;
constexpr uint64_t kInputs = 3;
constexpr uint64_t kPiece = 1000;

uint64_t CellsWanted() { return std::getenv("TANDEM_QUICK") == nullptr ? 5'000'000 : 300'000; }

// The most that is allocated beyond what was there before.
class PeakMemory {
 public:
  PeakMemory() : before_(test::LiveBytes()) { test::ResetPeakBytes(); }
  int64_t extra_bytes() const { return test::PeakBytes() - before_; }

 private:
  int64_t before_;
};

std::string Number(uint64_t number) {
  char text[16];
  std::snprintf(text, sizeof(text), "%08llu", static_cast<unsigned long long>(number));
  return text;
}

class Bench {
 public:
  Bench() : file_system_(base::NewPosixFileSystem()) {
    directory_ = *file_system_->OpenDirectory(path_.path(), false);
    table_ = std::make_shared<TableRecord>();
    table_->name = "t";
    table_->families.push_back({FamilyId(0), {.name = "f"}});
    IndexRecord index;
    index.id = IndexId(1);
    index.name = "by_column";
    index.columns.push_back({FamilyId(0), Number(4711), ColumnType::kBytes, false});
    table_->indexes.push_back(index);
  }

  const std::shared_ptr<TableRecord>& table() const { return table_; }

  std::unique_ptr<StoreFileWriter> NewWriter(const std::string& name) {
    StoreFileSpec spec;
    spec.number = FileNumber(7);
    spec.table = table_.get();
    auto file = directory_->Create(name);
    BOOST_TEST_REQUIRE(file.has_value(), file.status());
    return std::make_unique<StoreFileWriter>(std::move(*file), spec);
  }

  std::shared_ptr<StoreFile> Open(const std::string& name) {
    auto file = directory_->Open(name, base::OpenMode::kReadOnly);
    BOOST_TEST_REQUIRE(file.has_value(), file.status());
    auto store = StoreFile::Open(std::make_unique<test::CountingFile>(std::move(*file), &reads_),
                                 {}, nullptr);
    BOOST_TEST_REQUIRE(store.has_value(), store.status());
    return *store;
  }

  uint64_t reads() const { return reads_; }

  /// A small row, then one with the columns n < end of which n % step is `which`, then a small row.
  void WriteInput(const std::string& name, uint64_t which, uint64_t step, uint64_t end) {
    auto writer = NewWriter(name);
    Cell cell;
    cell.sequence = SequenceNumber(1 + which);
    cell.value = "x";
    BOOST_REQUIRE(writer->AddRow("before", {&cell, 1}).has_value());
    BOOST_REQUIRE(writer->BeginRow("row").ok());
    std::vector<std::string> bytes;
    std::vector<Cell> cells;
    bytes.reserve(2 * kPiece);
    for (uint64_t n = which; n < end; n += step) {
      cell.qualifier = bytes.emplace_back(Number(n));
      cell.value = bytes.emplace_back(Number(end - n));
      cell.timestamp = static_cast<int64_t>(n % 3);
      cells.push_back(cell);
      if (cells.size() < kPiece && n + step < end) continue;
      BOOST_REQUIRE(writer->AddCells(cells).ok());
      bytes.clear();
      cells.clear();
    }
    BOOST_REQUIRE(writer->EndRow().has_value());
    cell = Cell();
    cell.sequence = SequenceNumber(1 + which);
    BOOST_REQUIRE(writer->AddRow("row2", {&cell, 1}).has_value());
    BOOST_REQUIRE(writer->Finish().has_value());
  }

 private:
  test::TemporaryDirectory path_;
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::Directory> directory_;
  std::shared_ptr<TableRecord> table_;
  uint64_t reads_ = 0;
};

BOOST_AUTO_TEST_SUITE(WideRowMemoryTest)

BOOST_AUTO_TEST_CASE(ARowOfMillionsOfCellsTakesBoundedMemory) {
  const uint64_t count = CellsWanted();
  Bench bench;
  {
    const PeakMemory memory;
    for (uint64_t i = 0; i < kInputs; ++i) {
      bench.WriteInput("input-" + std::to_string(i), i, kInputs, count);
    }
    BOOST_TEST(memory.extra_bytes() < kPeakBytesMax);
    BOOST_TEST_MESSAGE("written with " << memory.extra_bytes() / 1024 << " KiB");
  }
  {
    const PeakMemory memory;
    std::vector<std::shared_ptr<StoreFile>> files;
    std::vector<compaction::MergeInput> inputs;
    for (uint64_t i = 0; i < kInputs; ++i) {
      files.push_back(bench.Open("input-" + std::to_string(i)));
      inputs.push_back({files.back().get(), 0, files.back()->row_count()});
    }
    compaction::MergeOptions options;
    options.table = bench.table();
    auto writer = bench.NewWriter("merged");
    const auto merged = compaction::MergeFiles(inputs, options, writer.get());
    BOOST_TEST_REQUIRE(merged.has_value(), merged.status());
    BOOST_TEST(merged->cells.in == count + 2 * kInputs);
    BOOST_TEST(merged->cells.out == count + 2);
    BOOST_TEST(memory.extra_bytes() < kPeakBytesMax);
    BOOST_TEST_MESSAGE("merged with " << memory.extra_bytes() / 1024 << " KiB");
  }
  const auto file = bench.Open("merged");
  const DataSection* data = *file->Carrier();
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t column = i * 7'919'117 % count;
    const uint64_t before = bench.reads();
    const uint32_t block = *data->BlockOfKey("row");
    const RowBlockRef head = *data->ReadRows(block);
    std::vector<Cell> cells;
    std::vector<std::shared_ptr<const void>> pins;
    const std::string name = Number(column);
    BOOST_REQUIRE(AppendWideColumns(data->blocks(), head, {&name, 1}, &cells, &pins).ok());
    BOOST_TEST_REQUIRE(cells.size() == 1u);
    BOOST_TEST(cells[0].value == Number(count - column));
    BOOST_TEST(bench.reads() - before <= 4u);
  }
}

BOOST_AUTO_TEST_CASE(VerifyingSuchARowTakesBoundedMemory) {
  const uint64_t count = CellsWanted() / 5;
  Bench bench;
  bench.WriteInput("input", 0, 1, count);
  const auto file = bench.Open("input");
  const PeakMemory memory;
  VerifyReport report;
  {
    Findings findings("input", &report);
    BOOST_REQUIRE(VerifyBlocks(*file, &findings).ok());
    BOOST_REQUIRE(VerifyRows(file.get(), {.deep = true}, &findings).ok());
  }
  BOOST_TEST(report.findings.empty());
  BOOST_TEST(report.cells == count + 2);
  BOOST_TEST(memory.extra_bytes() < kPeakBytesMax);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
