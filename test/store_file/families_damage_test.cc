// Files of several families that lie about which rows have which family, or are damaged: what is
// wrong is refused or found by verification, and nothing reads beyond its bytes.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "test/store_file/family_files.h"
#include "test/store_file/forged_file.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::FindingsOf;
using test::IsRefusal;
using test::OpenBytes;
using test::RandomRows;
using test::Rows;
using test::SealBlock;
using test::StreamRows;
using test::WrittenFile;

constexpr uint32_t kRows = 700;

// Every family lacks rows, so the file has keys of its own.
Rows SampleRows() {
  Rows rows;
  for (uint32_t i = 0; i < kRows; ++i) {
    test::OwnedRow& row = rows["row" + std::to_string(10'000 + i)];
    for (const uint8_t family : {1, 2, 6}) {
      const bool has = family == 1 ? i % 2 == 0 : family == 2 ? i % 2 == 1 : i % 5 == 0;
      if (has) row.push_back({CellKind::kPut, "a", 5, i + 1, "v" + std::to_string(i), family});
    }
  }
  return rows;
}

struct Sample {
  Rows rows = SampleRows();
  TableRecord table = test::TableOf({1, 2, 6});
  std::string bytes;

  Sample() {
    const auto written = test::WriteRows(table, rows);
    BOOST_TEST_REQUIRE(written.has_value(), written.status());
    bytes = written->bytes;
  }
};

// What a file of these bytes answers: its rows, read whole and family by family.
Result<Rows> Ask(const std::string& bytes) {
  auto opened = OpenBytes(bytes);
  if (!opened) return opened.error();
  StoreFile* file = opened->get();
  for (const FamilyId family : file->families()) {
    auto loaded = file->Family(family);
    if (!loaded) return loaded.error();
    const DataSection& data = **loaded;
    for (uint32_t ordinal = 0; ordinal < file->row_count(); ++ordinal) {
      const uint32_t rank = data.RankOf(ordinal);
      if (data.Has(ordinal) && data.OrdinalOf(rank) != ordinal) {
        return Status::InvalidArgument("rank and select disagree");
      }
    }
    if (const Status status = data.LoadBlocks(); !status.ok()) return status;
    for (uint32_t block = 0; block < data.block_count(); ++block) {
      auto rows = data.ReadRows(block);
      if (!rows) return rows.error();
    }
  }
  for (const auto& key : {"", "row10000", "row10333", "row9"}) {
    auto bound = file->LowerBound(key);
    if (!bound) return bound.error();
    auto found = file->FindByHash(key, RowHash(key, file->table().hash_secret));
    if (!found) return found.error();
  }
  return StreamRows(file, 0, file->row_count());
}

std::vector<std::string> Verified(const std::string& bytes) {
  const auto file = OpenBytes(bytes);
  return file ? FindingsOf(file->get()) : std::vector{file.status().ToString()};
}

// The presence bitmaps of the file, by family.
std::vector<SectionEntry> PresencesOf(const std::string& bytes) {
  std::vector<SectionEntry> presences;
  const auto file = OpenBytes(bytes);
  BOOST_REQUIRE(file.has_value());
  for (const SectionEntry& section : (*file)->sections()) {
    if (section.kind == SectionKind::kPresence) presences.push_back(section);
  }
  return presences;
}

void FlipBit(std::string* bytes, uint64_t words_at, uint32_t bit) {
  char& byte = (*bytes)[words_at + bit / 8];
  byte = static_cast<char>(byte ^ (1 << bit % 8));
}

bool TestBit(const std::string& bytes, uint64_t words_at, uint32_t bit) {
  return (bytes[words_at + bit / 8] >> (bit % 8) & 1) != 0;
}

BOOST_AUTO_TEST_SUITE(FamiliesDamageTest)

BOOST_AUTO_TEST_CASE(RowsThatAPresenceGivesToOthersAreFound) {
  const Sample sample;
  BOOST_TEST(Verified(sample.bytes).empty());
  BOOST_TEST((*Ask(sample.bytes) == sample.rows));
  const auto presences = PresencesOf(sample.bytes);
  BOOST_TEST(presences.size() == 3u);
  RandomRows random(5);
  for (const SectionEntry& presence : presences) {
    const uint64_t words_at = presence.offset + kBlockHeaderBytes;
    for (int trial = 0; trial < 20; ++trial) {
      // Ones and zeros change places within the bits of one rank, so every count agrees.
      const auto first = static_cast<uint32_t>(random.Below(512));
      uint32_t other = first;
      while (TestBit(sample.bytes, words_at, other) == TestBit(sample.bytes, words_at, first)) {
        other = static_cast<uint32_t>(random.Below(512));
      }
      std::string bytes = sample.bytes;
      FlipBit(&bytes, words_at, first);
      FlipBit(&bytes, words_at, other);
      SealBlock(&bytes, presence.offset);
      const auto rows = Ask(bytes);
      BOOST_TEST(rows.status().code() == StatusCode::kCorruption);
      BOOST_TEST((rows.status().message().find("has another key at ordinal") != std::string::npos));
      const auto findings = Verified(bytes);
      BOOST_TEST((findings.size() >= 2));  // The section's checksum is one.
    }
  }
}

BOOST_AUTO_TEST_CASE(PresencesOfMoreOrFewerRowsAreRefused) {
  const Sample sample;
  for (const SectionEntry& presence : PresencesOf(sample.bytes)) {
    for (const uint32_t bit : {0u, 1u, 63u, 64u, 500u, 512u, kRows - 1, kRows, kRows + 3}) {
      std::string bytes = sample.bytes;
      FlipBit(&bytes, presence.offset + kBlockHeaderBytes, bit);
      SealBlock(&bytes, presence.offset);
      BOOST_TEST(Ask(bytes).status().code() == StatusCode::kCorruption);
      BOOST_TEST(!Verified(bytes).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(SectionEntriesOfFamiliesThatLieAreRefused) {
  const Sample sample;
  const auto blocks = test::BlocksOf(sample.bytes);
  const uint64_t tables[] = {blocks[blocks.size() - 2].offset, blocks[blocks.size() - 1].offset};
  const auto sections = (*OpenBytes(sample.bytes))->sections();
  for (size_t entry = 0; entry < sections.size(); ++entry) {
    const SectionKind kind = sections[entry].kind;
    if (kind != SectionKind::kPresence && kind != SectionKind::kBlockIndex &&
        kind != SectionKind::kDictionary) {
      continue;
    }
    for (const size_t field : {0, 8, 32}) {  // Kind, owner, count.
      for (const uint32_t value : {0u, 1u, 2u, 3u, 6u, 15u, 255u, 256u, kRows, kRows + 1, ~0u}) {
        std::string bytes = sample.bytes;
        bool changed = false;
        for (const uint64_t table : tables) {
          char* at = bytes.data() + table + kBlockHeaderBytes + entry * kSectionEntryBytes + field;
          const size_t size = field == 0 ? 2 : 4;
          changed |= std::memcmp(at, &value, size) != 0;
          std::memcpy(at, &value, size);
          SealBlock(&bytes, table);
        }
        const auto rows = Ask(bytes);
        // A kind that nobody knows is passed over: the family may be missing as a whole.
        BOOST_TEST_CONTEXT("entry " << entry << ", field " << field << ", value " << value) {
          if (rows) BOOST_TEST((!changed || !Verified(bytes).empty()));
        }
        if (!rows) BOOST_TEST((changed && IsRefusal(rows.status())), rows.status());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AFlippedBitIsReportedOrChangesNothing) {
  const Sample sample;
  RandomRows random(7);
  for (int trial = 0; trial < 4000; ++trial) {
    std::string bytes = sample.bytes;
    char& byte = bytes[random.Below(bytes.size())];
    byte = static_cast<char>(byte ^ (1 << random.Below(8)));
    const auto rows = Ask(bytes);
    BOOST_TEST((rows ? *rows == sample.rows : IsRefusal(rows.status())));
  }
}

BOOST_AUTO_TEST_CASE(ForgedBlocksDoNoMoreThanFail) {
  const Sample sample;
  const auto blocks = test::BlocksOf(sample.bytes);
  RandomRows random(22);
  size_t refused = 0;
  constexpr size_t kTrials = 6000;
  for (size_t trial = 0; trial < kTrials; ++trial) {
    std::string bytes = sample.bytes;
    const BlockHandle block = blocks[random.Below(blocks.size())];
    for (uint64_t change = random.Below(3); change < 3; ++change) {
      const uint64_t at = 12 + random.Below(block.stored_bytes - 12);
      const uint64_t value = random.Below(3) == 0 ? 0xff : random.Below(256);
      bytes[block.offset + at] = static_cast<char>(value);
    }
    SealBlock(&bytes, block.offset);
    const auto rows = Ask(bytes);
    if (trial % 50 == 0) Verified(bytes);
    if (rows) continue;
    BOOST_REQUIRE_MESSAGE(IsRefusal(rows.status()), rows.status());
    ++refused;
  }
  BOOST_TEST(refused > kTrials / 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
