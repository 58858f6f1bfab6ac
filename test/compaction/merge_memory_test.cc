// What a merge reads of its inputs at once, and what it knows of them, is counted and bounded.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "compaction/merge.h"
#include "format/block/block_cache.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::compaction {
namespace {

constexpr size_t kInputs = 16;
constexpr uint64_t kRows = 600;  // Of each input, a kilobyte each.
constexpr uint64_t kWindowBytes = 1 << 20;

struct MergeMemoryFixture {
  MergeMemoryFixture() : cache(64 << 20, &account) {
    directory = *disk.OpenDirectory("db", true);
    table = std::make_shared<format::TableRecord>();
    table->name = "t";
    table->families.push_back(
        {format::FamilyId(0), {.name = "f", .compression = Compression::kNone}});
    format::IndexRecord index;
    index.id = format::IndexId(1);
    index.name = "by_q";
    index.columns.push_back({format::FamilyId(0), "q", ColumnType::kBytes, false});
    table->indexes.push_back(index);
  }

  std::unique_ptr<format::StoreFileWriter> NewWriter(const std::string& name) {
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(7);
    spec.table = table.get();
    spec.cache = &cache;
    auto file = directory->Create(name);
    BOOST_REQUIRE(file.has_value());
    return std::make_unique<format::StoreFileWriter>(std::move(*file), spec);
  }

  std::shared_ptr<format::StoreFile> WriteInput(size_t which) {
    const std::string name = "input-" + std::to_string(which);
    auto writer = NewWriter(name);
    for (uint64_t row = 0; row < kRows; ++row) {
      const std::string key = std::to_string(100'000 + row) + "-" + std::to_string(which);
      const std::string value(1000, static_cast<char>('a' + which));
      format::Cell cell;
      cell.qualifier = "q";
      cell.value = value;
      cell.sequence = format::SequenceNumber(1 + which);
      BOOST_REQUIRE(writer->AddRow(key, {&cell, 1}).has_value());
    }
    BOOST_REQUIRE(writer->Finish().has_value());
    auto file = directory->Open(name, base::OpenMode::kReadOnly);
    auto store = format::StoreFile::Open(std::move(*file), {}, &cache);
    BOOST_REQUIRE(store.has_value());
    return *store;
  }

  base::MemoryAccount account;
  format::BlockCache cache;
  test::SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory;
  std::shared_ptr<format::TableRecord> table;
};

// Looks at the account when every input has been read from for the first time.
class Watch final : public MergeOutput {
 public:
  explicit Watch(MergeMemoryFixture* fixture) : fixture_(fixture) {}
  Result<format::StoreFileWriter*> NextFile() override {
    windows_bytes = fixture_->account.bytes(base::MemoryPart::kFileWindows);
    writer_ = fixture_->NewWriter("merged");
    return writer_.get();
  }
  Status Finished(const format::StoreFileSummary&) override {
    writers_bytes = fixture_->account.bytes(base::MemoryPart::kFileWriters);
    return {};
  }
  uint64_t windows_bytes = 0, writers_bytes = 0;

 private:
  MergeMemoryFixture* fixture_;
  std::unique_ptr<format::StoreFileWriter> writer_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(MergeMemoryTest, MergeMemoryFixture)

BOOST_AUTO_TEST_CASE(WindowsOverManyInputsShareABudget) {
  std::vector<std::shared_ptr<format::StoreFile>> files;
  std::vector<MergeInput> inputs;
  for (size_t i = 0; i < kInputs; ++i) {
    files.push_back(WriteInput(i));
    inputs.push_back({files.back().get(), 0, files.back()->row_count()});
  }
  MergeOptions options;
  options.table = table;
  options.window_bytes = kWindowBytes;
  Watch output(this);
  const auto merged = MergeFiles(inputs, options, &output);
  BOOST_TEST_REQUIRE(merged.has_value(), merged.status());
  BOOST_TEST(merged->rows_out == kInputs * kRows);
  // Each has its part, and no more.
  BOOST_TEST(output.windows_bytes > kWindowBytes / 2);
  BOOST_TEST(output.windows_bytes <= kWindowBytes);
  // Maps and hashes of all rows, at least; everything is given back.
  BOOST_TEST(output.writers_bytes >= kInputs * kRows * 8);
  BOOST_TEST(account.bytes(base::MemoryPart::kFileWindows) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::compaction
