// Verification finds nothing in good files and something in every bad one.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <numeric>
#include <string>

#include "engine/verify/blocks.h"
#include "engine/verify/file_hash.h"
#include "engine/verify/indexes.h"
#include "engine/verify/rows.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/hash.h"
#include "index/section_writer.h"
#include "store_file/store_file.h"
#include "store_file/writer.h"
#include "test/store_file/family_files.h"
#include "test/store_file/forged_file.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

struct GoodFile {
  GoodFile() {
    table.name = "t";
    table.families.push_back({FamilyId(0), {.name = "d", .max_versions = 3, .ttl_micros = 50}});
    table.families[0].options.block_size_bytes = 512;
    table.indexes.push_back({IndexId(1), "by_a", IndexState::kReady, {{FamilyId(0), "a"}}});
  }

  std::unique_ptr<StoreFileWriter> NewWriter() {
    memory = std::make_shared<test::MemoryFile>();
    StoreFileSpec spec;
    spec.number = FileNumber(3);
    spec.id.bytes.fill(5);
    spec.table = &table;
    spec.alignment = 64;
    return std::make_unique<StoreFileWriter>(std::make_unique<test::ForwardingFile>(memory), spec);
  }

  /// Row i has value i % 4, an older version now and then, a marker now and then.
  static std::vector<Cell> CellsOf(int i) {
    static const std::string kValues[] = {"red", "green", "blue", ""};
    std::vector<Cell> cells;
    const auto add = [&](CellKind kind, int64_t timestamp, uint64_t sequence,
                         std::string_view value) {
      cells.push_back({kind, FamilyId(0), "a", timestamp, SequenceNumber(sequence), value});
    };
    add(CellKind::kPut, 9, 100, kValues[i % 4]);
    if (i % 3 == 0) add(CellKind::kPut, 8, 50, kValues[(i + 1) % 4]);
    if (i % 5 == 0) add(CellKind::kDeleteColumn, 7, 60, "");
    return cells;
  }
  static std::string KeyOf(int i) { return "row" + std::to_string(1000000 + i); }

  StoreFileSummary WriteRows(int rows) {
    auto writer = NewWriter();
    for (int i = 0; i < rows; ++i) {
      BOOST_REQUIRE(writer->AddRow(KeyOf(i), CellsOf(i)).has_value());
    }
    auto summary = writer->Finish();
    BOOST_REQUIRE(summary.has_value());
    return *summary;
  }

  Result<std::shared_ptr<StoreFile>> Open() const {
    return StoreFile::Open(std::make_unique<test::ForwardingFile>(memory), {}, nullptr);
  }

  /// Everything that opening and verifying have to say.
  std::vector<std::string> Verify() const {
    VerifyReport report;
    const auto file = Open();
    if (!file.has_value()) return {file.error().ToString()};
    {
      Findings findings("memory", &report);
      BOOST_REQUIRE(VerifyBlocks(**file, &findings).ok());
      BOOST_REQUIRE(VerifyRows(file->get(), {.deep = true}, &findings).ok());
    }
    std::vector<std::string> texts;
    for (const Finding& finding : report.findings) texts.push_back(finding.text);
    return texts;
  }

  /// What verification says of rows beside an index section of as many others: row i has the cells
  /// of row cells_of(i).
  std::vector<std::string> VerifyWithEntriesOf(int rows, const std::function<int(int)>& cells_of) {
    const auto other = *Open();
    std::vector<uint32_t> map(static_cast<size_t>(rows));
    std::iota(map.begin(), map.end(), 0);
    auto writer = NewWriter();
    writer->index(0).AddSection(*other->Index(IndexId(1)), map);
    for (int i = 0; i < rows; ++i) {
      BOOST_REQUIRE(
          writer->AddRow(KeyOf(i), CellsOf(cells_of(i)), RowEntries::kCopied).has_value());
    }
    BOOST_REQUIRE(writer->Finish().has_value());
    return Verify();
  }

  TableRecord table;
  std::shared_ptr<test::MemoryFile> memory;
};

bool Has(const std::vector<std::string>& findings, std::string_view text) {
  return std::any_of(findings.begin(), findings.end(), [&](const std::string& finding) {
    return finding.find(text) != std::string::npos;
  });
}

BOOST_FIXTURE_TEST_SUITE(verify, GoodFile)

BOOST_AUTO_TEST_CASE(GoodFilesHaveNoFindings) {
  for (const int rows : {1, 2, 64, 1000}) {
    WriteRows(rows);
    const auto findings = Verify();
    BOOST_TEST(findings.empty());
    if (!findings.empty()) BOOST_TEST_MESSAGE(findings[0]);
  }
}

BOOST_AUTO_TEST_CASE(EveryFlippedByteIsFound) {
  WriteRows(40);
  for (size_t at = 0; at < memory->bytes().size(); ++at) {
    memory->bytes()[at] ^= 0x10;
    BOOST_REQUIRE_MESSAGE(!Verify().empty(), "byte " << at << " was flipped silently");
    memory->bytes()[at] ^= 0x10;
  }
  BOOST_TEST(Verify().empty());
}

BOOST_AUTO_TEST_CASE(SeveralDamagedBlocksAreSeveralFindings) {
  WriteRows(1000);
  const uint64_t data = (*Open())->sections()[0].offset;
  memory->bytes()[data + 40] ^= 1;
  memory->bytes()[data + 4000] ^= 1;
  BOOST_TEST(Verify().size() >= 2u);
}

// Sound checksums, but the index section is that of other rows.
BOOST_AUTO_TEST_CASE(PostingsThatRowsDoNotImplyAreFound) {
  // One row to a group of those that are compared together, and several.
  for (const int rows : {40, 20000}) {
    WriteRows(rows);
    const auto findings = VerifyWithEntriesOf(rows, [](int i) { return i == 17 ? 18 : i; });
    BOOST_TEST(Has(findings, "row 17 lacks its current entry"));
    BOOST_TEST(Has(findings, "row 17 does not imply its current entry 'green'"));
    BOOST_TEST(Has(findings, "digest of the current part"));
    BOOST_TEST(!Has(findings, "row 16 "));
    BOOST_TEST(!Has(findings, "one by one"));
  }
}

// The memory for what is compared one by one has an end.
BOOST_AUTO_TEST_CASE(OneIndexIsComparedAlone) {
  table.indexes.push_back({IndexId(2), "by_b", IndexState::kReady, {{FamilyId(0), "b"}}});
  WriteRows(40);
  const auto other = *Open();
  std::vector<uint32_t> map(40);
  std::iota(map.begin(), map.end(), 0);
  auto writer = NewWriter();
  for (const int index : {0, 1}) {
    writer->index(static_cast<size_t>(index))
        .AddSection(*other->Index(IndexId(static_cast<uint32_t>(index + 1))), map);
  }
  for (int i = 0; i < 40; ++i) {
    const int cells_of = i == 7 ? 6 : i;
    BOOST_REQUIRE(writer->AddRow(KeyOf(i), CellsOf(cells_of), RowEntries::kCopied).has_value());
  }
  BOOST_REQUIRE(writer->Finish().has_value());
  const auto findings_of = [&](std::optional<IndexId> only) {
    VerifyReport report;
    const auto file = *Open();
    Findings findings("memory", &report);
    BOOST_REQUIRE(VerifyIndexes(file.get(), {.only = only}, &findings).ok());
    BOOST_TEST(report.rows == 40u);
    BOOST_TEST(report.cells == 40u + 15 + 8);
    return report.findings;
  };
  BOOST_TEST(findings_of(IndexId(2)).empty());
  BOOST_TEST(findings_of(IndexId(3)).empty());  // From before the index.
  const auto wrong = findings_of(IndexId(1));
  BOOST_TEST(wrong.size() > 0u);
  for (const Finding& finding : wrong) BOOST_TEST(finding.kind == "index");
  BOOST_TEST((findings_of(std::nullopt) == wrong));
}

BOOST_AUTO_TEST_CASE(OfAnIndexThatIsWrongForEachRowAPartIsDescribed) {
  constexpr int kRows = 280'000;
  WriteRows(kRows);
  const auto findings = VerifyWithEntriesOf(kRows, [](int i) { return i ^ 1; });
  BOOST_TEST(Has(findings, "on were not compared one by one"));
  BOOST_TEST(Has(findings, "row 3 does not imply"));
}

BOOST_AUTO_TEST_CASE(EntriesOfRowsThatAreGoneAreFound) {
  WriteRows(40);
  const auto other = *Open();
  // Row 5 is gone, but its entries refer to row 6, whose own are removed. The counts agree, or
  // the writer itself would refuse.
  std::vector<uint32_t> map(40, kNotCopied);
  auto writer = NewWriter();
  writer->index(0).AddSection(*other->Index(IndexId(1)), map);
  uint32_t next = 0;
  for (int i = 0; i < 40; ++i) {
    if (i == 5) continue;
    map[static_cast<size_t>(i == 6 ? 5 : i)] = next;
    if (i == 6) writer->index(0).SubtractRow(KeyOf(i), CellsOf(i));
    BOOST_REQUIRE(writer->AddRow(KeyOf(i), CellsOf(i), RowEntries::kCopied).has_value());
    ++next;
  }
  const Status status = writer->Finish().status();
  BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
  BOOST_TEST(!Verify().empty());
}

BOOST_AUTO_TEST_CASE(MergedEntriesThatDigestsDoNotImplyAreRefused) {
  WriteRows(40);
  const auto other = *Open();
  const std::vector<uint32_t> map(40, kNotCopied);
  auto writer = NewWriter();
  writer->index(0).AddSection(*other->Index(IndexId(1)), map);
  BOOST_REQUIRE(writer->AddRow(KeyOf(0), CellsOf(0), RowEntries::kCopied).has_value());
  BOOST_TEST(writer->Finish().status().code() == StatusCode::kCorruption);
}

// Behind right checksums: such a row has no entry, so that each of them is a finding.
BOOST_AUTO_TEST_CASE(EntriesOfValuesThatDoNotFitAreFound) {
  constexpr int kRows = 30;
  TableRecord table = test::PlainTable();
  table.families[0].options.compression = Compression::kNone;
  test::AddTextIndex(&table, 1, "a");
  table.indexes[0].columns[0].type = ColumnType::kInt64;
  test::Rows rows;
  for (int i = 0; i < kRows; ++i) {
    rows[GoodFile::KeyOf(i)] = {
        {CellKind::kPut, "a", 9, 1, (i % 3 == 0 ? "7654321" : "1234567") + std::to_string(i)}};
  }
  auto written = test::WriteRows(table, rows);
  BOOST_TEST_REQUIRE(written.has_value(), written.status());
  std::string& bytes = written->bytes;
  int changed = 0;
  for (size_t at; (at = bytes.find("7654321")) != std::string::npos; ++changed) bytes[at] = 'x';
  BOOST_TEST(changed == kRows / 3);
  for (const BlockHandle& block : test::BlocksOf(bytes)) test::SealBlock(&bytes, block.offset);
  auto file = test::OpenBytes(bytes);
  BOOST_TEST_REQUIRE(file.has_value(), file.status());
  const std::vector<std::string> findings = test::FindingsOf(file->get());
  const auto has = [&](std::string_view what) {
    return std::count_if(findings.begin(), findings.end(), [&](const std::string& finding) {
      return finding.find(what) != std::string::npos;
    });
  };
  BOOST_TEST(has("bit 'present'") == kRows / 3);
  BOOST_TEST(has("lacks") == 0);
  BOOST_TEST(has("does not imply") == kRows / 3);
}

// Under a right checksum of the block, what the top says of a piece and what the piece holds
// differ.
BOOST_AUTO_TEST_CASE(ATopThatContradictsAPieceIsFound) {
  WriteRows(6000);
  BOOST_TEST(Verify().empty());
  std::string& bytes = memory->bytes();
  FileId id;
  id.bytes.fill(5);
  const auto has = [&](std::string_view what) { return Has(Verify(), what); };
  uint64_t tops = 0;
  for (const BlockHandle& block : test::BlocksOf(bytes)) {
    if (bytes[block.offset + 16] != static_cast<char>(BlockKind::kBlockIndexTop)) continue;
    ++tops;
    const uint32_t pieces = LoadAt<uint32_t>(bytes, block.offset + 20);
    const std::string good = bytes;
    const auto change = [&](uint64_t at) {
      bytes = good;
      bytes[block.offset + kBlockHeaderBytes + at] ^= 1;
      const std::string_view covered =
          std::string_view(bytes).substr(block.offset + 8, block.stored_bytes - 8);
      StoreAt(&bytes, block.offset, Hash64(covered, ChecksumSeed(id, block.offset)));
    };
    change(8 + 8 * pieces);  // Data bytes.
    BOOST_TEST(has("bytes of the row blocks of a piece"));
    change(block.stored_bytes - kBlockHeaderBytes - 1);  // The last separator.
    BOOST_TEST(has("block index"));
    bytes = good;
  }
  BOOST_TEST(tops == 1u);
  BOOST_TEST(Verify().empty());
}

BOOST_AUTO_TEST_CASE(ManyFindingsAreCounted) {
  VerifyReport report;
  {
    Findings findings("store-1", &report);
    for (int i = 0; i < 70; ++i) findings.Compare("something", 1, 2);
    findings.Compare("something", 3, 3);
  }
  BOOST_TEST(report.findings.size() == Findings::kMax + 1);
  BOOST_TEST(report.findings.front().text == "store-1: something: expected 1, found 2");
  BOOST_TEST(report.findings.back().text == "store-1: and 20 findings more");
}

BOOST_AUTO_TEST_CASE(WholeFilesAreComparedWithTheCatalog) {
  const StoreFileSummary summary = WriteRows(1000);
  const auto findings = [&](uint64_t size, const Hash128& hash) {
    VerifyReport report;
    BOOST_REQUIRE(VerifyFileHash(memory.get(), size, hash, &report).ok());
    return report.findings.size();
  };
  BOOST_TEST(findings(summary.size_bytes, summary.hash) == 0u);
  BOOST_TEST(findings(summary.size_bytes - 1, summary.hash) == 1u);
  memory->bytes()[summary.size_bytes / 2] ^= 1;
  BOOST_TEST(findings(summary.size_bytes, summary.hash) == 1u);
  memory->bytes().resize(summary.size_bytes - 1);
  BOOST_TEST(findings(summary.size_bytes, summary.hash) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
