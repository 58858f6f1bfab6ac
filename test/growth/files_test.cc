// Memory with the number of rows of one store file: of its writer, and of its readers; and what its
// verification reads. The account is looked at whenever the file of a merge is written to, which
// happens every quarter of a mebibyte and in between.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/memory_account.h"
#include "compaction/merge.h"
#include "engine/verify/rows.h"
#include "format/block/block_cache.h"
#include "format/block/section_table.h"
#include "format/hash.h"
#include "store_file/key_hashes_reader.h"
#include "store_file/writer.h"
#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

constexpr uint64_t kCacheBytes = 4 << 20;
constexpr uint64_t kEntryBytes = 256 << 10;

/// Keeps the most that file writers had at a write.
class Watched final : public ForwardingFile {
 public:
  Watched(std::unique_ptr<base::File> file, const base::MemoryAccount& account, uint64_t* peak)
      : ForwardingFile(std::move(file)), account_(account), peak_(peak) {}
  Status Write(uint64_t offset, std::string_view data) override {
    *peak_ = std::max(*peak_, account_.bytes(base::MemoryPart::kFileWriters));
    return ForwardingFile::Write(offset, data);
  }

 private:
  const base::MemoryAccount& account_;
  uint64_t* peak_;
};

// Files of a table with an index on each of two columns.
class Files final : public compaction::MergeOutput {
 public:
  explicit Files(uint32_t block_bytes = FamilyOptions().block_size_bytes)
      : cache_(kCacheBytes, &account_), directory_(*disk_.OpenDirectory("db", true)) {
    table_->name = "t";
    table_->families.push_back(
        {format::FamilyId(0), {.name = "f", .block_size_bytes = block_bytes}});
    for (const std::string column : {"a", "b"}) {
      format::IndexRecord& index = table_->indexes.emplace_back();
      index.id = format::IndexId(static_cast<uint32_t>(table_->indexes.size()));
      index.name = "by_" + column;
      index.columns.push_back({format::FamilyId(0), column, ColumnType::kBytes, false});
    }
  }

  static std::string Key(uint64_t row) {
    char key[24];
    std::snprintf(key, sizeof(key), "row%012llu", static_cast<unsigned long long>(row));
    return key;
  }

  // n rows with one column, which takes `values` values in turn.
  std::shared_ptr<format::StoreFile> Write(uint64_t n, const std::string& column,
                                           uint64_t values = 1000) {
    const auto writer = NewWriter("input-" + column);
    for (uint64_t row = 0; row < n; ++row) {
      const std::string value = "value " + std::to_string(row % values);
      format::Cell cell;
      cell.qualifier = column;
      cell.value = value;
      cell.sequence = format::SequenceNumber(1 + row);
      BOOST_REQUIRE(writer->AddRow(Key(row), {&cell, 1}).has_value());
    }
    BOOST_REQUIRE(writer->Finish().has_value());
    auto store = format::StoreFile::Open(
        *directory_->Open("input-" + column, base::OpenMode::kReadOnly), {}, &cache_);
    BOOST_REQUIRE(store.has_value());
    return *store;
  }

  // Merges a file alone, whose entries are all copied, or with another one that has the same rows:
  // those of all are collected.
  double PeakOfMerge(uint64_t n, std::vector<std::string> columns) {
    std::vector<std::shared_ptr<format::StoreFile>> files;
    std::vector<compaction::MergeInput> inputs;
    for (const std::string& column : columns) {
      files.push_back(Write(n, column));
      inputs.push_back({files.back().get(), 0, files.back()->row_count()});
    }
    compaction::MergeOptions options;
    options.table = table_;
    options.entry_bytes = kEntryBytes;
    peak_ = 0;
    const auto merged = compaction::MergeFiles(inputs, options, this);
    BOOST_REQUIRE_EQUAL(merged.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(merged->rows_out, n);
    return static_cast<double>(peak_);
  }

  Result<format::StoreFileWriter*> NextFile() override {
    merged_ = NewWriter("merged-" + std::to_string(count_++));
    return merged_.get();
  }
  Status Finished(const format::StoreFileSummary&) override {
    merged_.reset();
    return {};
  }

  // Bytes that a deep verification of a file of n rows reads of an index, for each of its bytes.
  double ReadByVerification(uint64_t n) {
    const auto file = Write(n, "a", n);
    disk_.control().SetTracing(true);
    (void)disk_.control().TakeTrace();
    VerifyReport report;
    format::Findings findings("the file", &report);
    BOOST_REQUIRE_EQUAL(format::VerifyRows(file.get(), {.deep = true}, &findings).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(findings.count(), 0u);
    BOOST_REQUIRE_EQUAL(report.index_entries, n);
    const format::SectionEntry* const leaves =
        format::FindSection(file->sections(), format::SectionKind::kIndexLeaves, 1);
    uint64_t bytes = 0;
    for (const DiskEvent& event : disk_.control().TakeTrace()) {
      const bool is_of_leaves =
          event.offset >= leaves->offset && event.offset < leaves->offset + leaves->size_bytes;
      if (event.operation == DiskOperation::kRead && is_of_leaves) bytes += event.size;
    }
    return static_cast<double>(bytes) / static_cast<double>(leaves->size_bytes);
  }

  base::MemoryAccount& account() { return account_; }
  const format::TableRecord& table() const { return *table_; }

 private:
  std::unique_ptr<format::StoreFileWriter> NewWriter(const std::string& name) {
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(++number_);
    spec.table = table_.get();
    spec.cache = &cache_;
    auto file = std::make_unique<Watched>(*directory_->Create(name), account_, &peak_);
    return std::make_unique<format::StoreFileWriter>(std::move(file), spec);
  }

  base::MemoryAccount account_;
  format::BlockCache cache_;
  SimulatedDisk disk_;
  std::unique_ptr<base::Directory> directory_;
  std::shared_ptr<format::TableRecord> table_ = std::make_shared<format::TableRecord>();
  std::unique_ptr<format::StoreFileWriter> merged_;
  uint64_t count_ = 0, number_ = 0, peak_ = 0;
};

// Finds rows all over the file, and asks for their hashes; then the most that hashes took.
double HashesOfReader(uint64_t n) {
  Files files;
  const auto file = files.Write(n, "a");
  auto reader = format::KeyHashesReader::Open(file.get());
  BOOST_REQUIRE(reader.has_value());
  uint64_t peak = 0;
  for (uint64_t row = 0; row < n; row += n / 50) {
    const std::string key = Files::Key(row);
    const uint64_t hash = format::RowHash(key, files.table().hash_secret);
    const auto found = file->FindByHash(key, hash);
    BOOST_REQUIRE(found.has_value() && found->has_value());
    BOOST_REQUIRE_EQUAL((*found)->ordinal.value, row);
    const std::string missing = key + "x";
    const auto nothing =
        file->FindByHash(missing, format::RowHash(missing, files.table().hash_secret));
    BOOST_REQUIRE(nothing.has_value() && !nothing->has_value());
    std::vector<uint32_t> ordinals;
    const std::vector<format::HashedKey> keys = {{key, hash}};
    BOOST_REQUIRE(file->FindEachByHash(keys, &ordinals).ok());
    BOOST_REQUIRE(ordinals == std::vector<uint32_t>{static_cast<uint32_t>(row)});
    const Result<uint64_t> stated = reader->At(static_cast<uint32_t>(row));
    BOOST_REQUIRE(stated.has_value() && *stated == hash);
    peak = std::max(peak, files.account().bytes(base::MemoryPart::kKeyHashes));
  }
  return static_cast<double>(peak);
}

// Bytes that operator new gave and that no account knows, after every block of a file was read
// through a cache that holds few of them.
double UnaccountedOfReader(uint64_t n) {
  Files files(/*block_bytes=*/1024);
  const auto file = files.Write(n, "a");
  const auto carrier = file->Carrier();
  BOOST_REQUIRE(carrier.has_value());
  const auto unaccounted = [&] {
    return LiveBytes() - static_cast<int64_t>(files.account().bytes());
  };
  const int64_t before = unaccounted();
  BOOST_REQUIRE((*carrier)->LoadBlocks().ok());
  for (uint32_t block = 0; block < (*carrier)->block_count(); ++block) {
    BOOST_REQUIRE((*carrier)->ReadRows(block).has_value());
  }
  return static_cast<double>(std::max<int64_t>(unaccounted() - before, 0));
}

BOOST_AUTO_TEST_SUITE(FileMemory)

BOOST_AUTO_TEST_CASE(AWriterKeepsAFewBytesForEachRow) {
  Check({.cost = "accounted bytes of a writer that copies the entries of n rows",
         .n = 16000,
         .bound = AtMostLinear(1 << 20, 24),
         .measure = [](uint64_t n) { return Files().PeakOfMerge(n, {"a"}); }});
  Check({.cost = "accounted bytes of a writer that may keep 256 KiB of entries, those of n rows",
         .n = 16000,
         .bound = AtMost(1 << 20),
         .measure = [](uint64_t n) {
           return Files().PeakOfMerge(n, {"a", "b"});
         }});
}

BOOST_AUTO_TEST_CASE(AReaderKeepsHashesThatFit) {
  Check({.cost = "accounted bytes of key hashes of a file of n rows, with a cache of 4 MiB",
         .n = 16000,
         .bound = AtMost(1 << 20),
         .measure = HashesOfReader});
}

BOOST_AUTO_TEST_CASE(ABlockThatIsNotCachedTakesNothing) {
  Check({.cost = "unaccounted bytes after the blocks of n rows were read, most not cached",
         .n = 32000,
         .bound = AtMost(65536),
         .measure = UnaccountedOfReader});
}

BOOST_AUTO_TEST_CASE(AVerificationReadsAnIndexAFewTimes) {
  Check({.cost = "bytes read of an index by a deep verification of n rows, for each of its bytes",
         .n = 64000,
         .bound = AtMost(4),
         .measure = [](uint64_t n) { return Files().ReadByVerification(n); }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
