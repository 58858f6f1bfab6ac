// Damaged and forged store files. Damage (flipped bits, cuts, appended bytes) is reported, or what
// is read equals what was written; forged content under right checksums does no more than fail.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "format/block/block_codec.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/file_header.h"
#include "format/hash.h"
#include "test/store_file/forged_file.h"
#include "test/store_file/store_files.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::BlocksOf;
using test::IsRefusal;
using test::OpenBytes;
using test::PlainTable;
using test::RandomRows;
using test::Rows;
using test::SealBlock;
using test::WriteRows;
using test::WrittenFile;

TableRecord SmallTable() {
  TableRecord table = PlainTable();
  table.families[0].options.compression = Compression::kNone;
  test::AddTextIndex(&table, 4, "a");
  return table;
}

Rows SmallRows() {
  Rows rows;
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    test::OwnedRow& row = rows["row" + number];
    row.push_back({CellKind::kPut, "a", 50 + i, static_cast<uint64_t>(i + 1), "value" + number});
    row.push_back({CellKind::kPut, "b", 50, static_cast<uint64_t>(i + 1), std::string(60, 'b')});
    if (i % 3 == 0) row.push_back({CellKind::kDeleteColumn, "c", 60, 20, ""});
  }
  return rows;
}

// Everything that a file can be asked, in one value.
struct Everything {
  Rows rows;
  std::vector<uint64_t> hashes, clean, present;
  std::vector<uint32_t> bounds, found, ordinals;
  FileStatistics statistics;
  std::string region_start, table_name;
  uint64_t entries = 0;
  bool operator==(const Everything&) const = default;
};

Status AskForKeys(StoreFile* file, const Rows& rows, Everything* all) {
  std::vector<HashedKey> keys;
  for (const auto& [key, row] : rows) {
    const uint64_t hash = RowHash(key, file->table().hash_secret);
    keys.push_back({key, hash});
    auto bound = file->LowerBound(key);
    if (!bound) return bound.error();
    all->bounds.push_back(*bound);
    auto found = file->FindByHash(key, hash);
    if (!found) return found.error();
    all->found.push_back(found->has_value() ? (*found)->ordinal.value : ~0u);
    auto may = file->MayContain(hash);
    if (!may) return may.error();
    all->found.push_back(*may);
  }
  return file->FindEachByHash(keys, &all->found);
}

Status AskIndex(StoreFile* file, Everything* all) {
  auto index = file->Index(IndexId(4));
  if (!index) return index.error();
  if (*index == nullptr) return {};
  auto entries = (*index)->CountEntries(IndexPart::kCurrent, {"", std::nullopt});
  if (!entries) return entries.error();
  all->entries = *entries;
  auto present = (*index)->Present();
  if (!present) return present.error();
  all->present.assign((*present)->words().begin(), (*present)->words().end());
  return (*index)->AppendOrdinals(IndexPart::kCurrent, {"", std::nullopt}, &all->ordinals);
}

Result<Everything> AskEverything(const std::string& bytes, const Rows& keys) {
  auto opened = OpenBytes(bytes);
  if (!opened) return opened.error();
  StoreFile* file = opened->get();
  Everything all;
  auto rows = test::ReadAllRows(file);
  if (!rows) return rows.error();
  all.rows = *std::move(rows);
  auto hashes = file->KeyHashes();
  if (!hashes) return hashes.error();
  all.hashes.assign(hashes->begin(), hashes->end());
  auto clean = file->CleanRows();
  if (!clean) return clean.error();
  all.clean.assign((*clean)->words().begin(), (*clean)->words().end());
  Status status = AskForKeys(file, keys, &all);
  if (status.ok()) status = AskIndex(file, &all);
  if (!status.ok()) return status;
  all.statistics = file->statistics();
  all.region_start = file->region_start();
  all.table_name = file->table().name;
  return all;
}

struct Sample {
  Rows rows = SmallRows();
  TableRecord table = SmallTable();
  WrittenFile written;
  Everything everything;

  Sample() {
    auto file = WriteRows(table, rows);
    BOOST_TEST_REQUIRE(file.has_value(), file.status());
    written = *std::move(file);
    auto all = AskEverything(written.bytes, rows);
    BOOST_TEST_REQUIRE(all.has_value(), all.status());
    everything = *std::move(all);
  }
};

void SealEnds(std::string* bytes) {
  const uint64_t header = Hash64(std::string_view(*bytes).substr(0, 120));
  std::memcpy(bytes->data() + 120, &header, sizeof(header));
  for (const size_t from_end : {128, 64}) {
    const size_t at = bytes->size() - from_end;
    const uint64_t seed = ChecksumSeed(test::kStoreFileId, at);
    const uint64_t checksum = Hash64(std::string_view(*bytes).substr(at, 56), seed);
    std::memcpy(bytes->data() + at + 56, &checksum, sizeof(checksum));
  }
}

BOOST_AUTO_TEST_SUITE(StoreFileDamageTest)

BOOST_AUTO_TEST_CASE(AFlippedBitIsReportedOrChangesNothing) {
  const Sample sample;
  size_t healed = 0;
  for (size_t at = 0; at < sample.written.bytes.size(); ++at) {
    std::string bytes = sample.written.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const auto all = AskEverything(bytes, sample.rows);
    if (all) {
      BOOST_TEST((*all == sample.everything), "a flip at " << at << " is read as data");
      ++healed;
    } else {
      BOOST_TEST(IsRefusal(all.status()), at << ": " << all.status());
    }
    const auto opened = OpenBytes(bytes);
    if (opened) {
      const auto verified = (*opened)->VerifyBytes();
      const bool noticed = !verified || !(*verified == sample.written.summary.hash);
      BOOST_TEST(noticed, "the flip at " << at << " passes VerifyBytes");
      // The header alone is covered by no more than the hash of the whole file and Open.
      BOOST_TEST(!verified, "the flip at " << at << " is left to the hash");
    }
  }
  BOOST_TEST(healed > 0u);
  BOOST_TEST(healed < sample.written.bytes.size() / 2);
}

BOOST_AUTO_TEST_CASE(EveryCutAndExtensionIsReported) {
  const Sample sample;
  const std::string& bytes = sample.written.bytes;
  for (size_t size = 0; size < bytes.size(); ++size) {
    BOOST_TEST(OpenBytes(bytes.substr(0, size)).status().code() == StatusCode::kCorruption);
  }
  for (const std::string& tail : {std::string(1, '\0'), std::string(64, '\0'), std::string("x"),
                                  bytes, bytes.substr(bytes.size() - kFooterBytes)}) {
    BOOST_TEST(OpenBytes(bytes + tail).status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(SwappedAndZeroedSpansAreReportedOrChangeNothing) {
  const Sample sample;
  const std::string& good = sample.written.bytes;
  for (size_t at = 0; at + 64 <= good.size(); at += 64) {
    std::string zeroed = good;
    zeroed.replace(at, 64, 64, '\0');
    std::string swapped = good;
    const size_t other = (at + 640) % (good.size() - 64) / 64 * 64;
    swapped.replace(at, 64, good, other, 64);
    swapped.replace(other, 64, good, at, 64);
    for (const std::string& bytes : {zeroed, swapped}) {
      const auto all = AskEverything(bytes, sample.rows);
      BOOST_TEST((all ? *all == sample.everything : IsRefusal(all.status())));
    }
  }
}

BOOST_AUTO_TEST_CASE(OneDamagedCopyOfTableFooterOrDictionaryIsSurvived) {
  const Sample sample;
  const auto blocks = BlocksOf(sample.written.bytes);
  std::vector<uint64_t> copies = {
      blocks[blocks.size() - 1].offset, blocks[blocks.size() - 2].offset,
      sample.written.bytes.size() - 128, sample.written.bytes.size() - 64};
  for (size_t i = 0; i < blocks.size(); ++i) {
    const uint8_t kind = static_cast<uint8_t>(sample.written.bytes[blocks[i].offset + 16]);
    if (kind == static_cast<uint8_t>(BlockKind::kDictionary)) copies.push_back(blocks[i].offset);
  }
  BOOST_TEST(copies.size() == 6u);
  for (const uint64_t offset : copies) {
    std::string bytes = sample.written.bytes;
    bytes[offset + 40] = static_cast<char>(bytes[offset + 40] ^ 1);
    const auto all = AskEverything(bytes, sample.rows);
    BOOST_TEST_REQUIRE(all.has_value(), all.status());
    BOOST_TEST((*all == sample.everything));
    BOOST_TEST((*OpenBytes(bytes))->VerifyBytes().status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(ForgedBlocksDoNoMoreThanFail) {
  const Sample sample;
  const auto blocks = BlocksOf(sample.written.bytes);
  BOOST_TEST_REQUIRE(blocks.size() > 12u);
  RandomRows random(21);
  size_t refused = 0;
  constexpr size_t kTrials = 20000;
  for (size_t trial = 0; trial < kTrials; ++trial) {
    std::string bytes = sample.written.bytes;
    const BlockHandle block = blocks[random.Below(blocks.size())];
    for (uint64_t change = random.Below(3); change < 3; ++change) {
      // Not the checksum and not the stored size, which place the block.
      const uint64_t at = 12 + random.Below(block.stored_bytes - 12);
      const uint64_t value = random.Below(3) == 0 ? 0xff : random.Below(256);
      bytes[block.offset + at] = static_cast<char>(value);
    }
    SealBlock(&bytes, block.offset);
    const auto all = AskEverything(bytes, sample.rows);
    if (all) continue;
    BOOST_REQUIRE_MESSAGE(IsRefusal(all.status()), all.status());
    ++refused;
  }
  BOOST_TEST(refused > kTrials / 10);
}

BOOST_AUTO_TEST_CASE(ForgedHeadersAndFootersDoNoMoreThanFail) {
  const Sample sample;
  RandomRows random(22);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes = sample.written.bytes;
    for (uint64_t change = random.Below(3); change < 3; ++change) {
      const bool header = random.Below(2) == 0;
      const size_t at = header ? random.Below(120) : bytes.size() - 128 + random.Below(128);
      bytes[at] = static_cast<char>(random.Below(256));
    }
    SealEnds(&bytes);
    const auto all = AskEverything(bytes, sample.rows);
    BOOST_REQUIRE((all || IsRefusal(all.status())));
  }
}

BOOST_AUTO_TEST_CASE(ForgedOffsetsAndSizesInTheSectionTableFail) {
  const Sample sample;
  const auto blocks = BlocksOf(sample.written.bytes);
  const uint64_t tables[] = {blocks[blocks.size() - 2].offset, blocks[blocks.size() - 1].offset};
  const size_t entries = (blocks.back().stored_bytes - kBlockHeaderBytes) / kSectionEntryBytes;
  for (size_t entry = 0; entry < entries; ++entry) {
    for (const size_t field : {16, 24}) {
      for (const uint64_t value : {uint64_t{0}, uint64_t{64}, uint64_t{8}, uint64_t{1} << 40,
                                   ~uint64_t{0}, ~uint64_t{63}}) {
        std::string bytes = sample.written.bytes;
        bool changed = false;
        for (const uint64_t table : tables) {
          char* at = bytes.data() + table + kBlockHeaderBytes + entry * kSectionEntryBytes + field;
          changed |= std::memcmp(at, &value, sizeof(value)) != 0;
          std::memcpy(at, &value, sizeof(value));
          SealBlock(&bytes, table);
        }
        const auto all = AskEverything(bytes, sample.rows);
        BOOST_TEST((all.has_value() != changed || *all == sample.everything));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(MessagesNameFileOffsetExpectedAndFound) {
  const Sample sample;
  std::string bytes = sample.written.bytes;
  bytes[kFileHeaderBytes + 50] = static_cast<char>(bytes[kFileHeaderBytes + 50] ^ 1);
  const auto all = AskEverything(bytes, sample.rows);
  BOOST_REQUIRE(!all.has_value());
  const std::string message(all.error().message());
  BOOST_TEST(message.starts_with("memory: offset 128: checksum of block: expected "), message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
