// Row blocks: their bytes, that every row comes back, that searches agree with std::lower_bound,
// and that no content, however made, does more than fail.
#include "format/row/row_block.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>
#include <span>

#include "format/cell/column_places.h"
#include "format/hash.h"
#include "format/row/pod_array.h"
#include "format/row/row_batch.h"
#include "format/row/row_block_writer.h"
#include "tandem/limits.h"
#include "test/format/random_rows.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::OwnedCell;
using test::OwnedRow;
using test::RandomRows;
using test::Rows;

// A buffer of exactly the block's size, so that a sanitizer sees each byte read beyond it.
BlockRef BlockOf(BlockKind kind, std::string_view raw, uint32_t count, uint16_t flags = 0) {
  auto block = std::make_shared<Block>();
  block->kind = kind;
  block->flags = flags;
  block->count = count;
  block->first = 100;
  block->raw_bytes = static_cast<uint32_t>(raw.size());
  block->data = base::AllocateInHeap(raw.size());
  std::memcpy(block->data.get(), raw.data(), raw.size());
  return block;
}

// The row block of these raw bytes, by way of the bytes on disk.
Result<RowBlockRef> Decoded(std::string_view raw, uint32_t count, uint16_t flags = 0) {
  std::string bytes, scratch;
  AppendBlock({BlockKind::kRows, flags, count, 100, raw, Compression::kNone},
              ChecksumSeed(FileId(), 64), &scratch, &bytes);
  return RowBlock::Decode({std::make_shared<const std::string>("store-1"), FileId(), 64},
                          FamilyId(0), bytes);
}

struct Encoded {
  std::string raw;
  std::string names;
  uint32_t count = 0;
  uint32_t name_count = 0;
  uint16_t flags = 0;
};

Encoded Encode(const Rows& rows) {
  Encoded encoded;
  DictionaryBuilder names;
  RowBlockWriter writer(&names);
  for (const auto& [key, row] : rows) writer.Add(key, test::Views(row));
  encoded.count = writer.row_count();
  encoded.flags = writer.Finish(&encoded.raw);
  encoded.names = names.Encode();
  encoded.name_count = names.size();
  return encoded;
}

Dictionary NamesOf(const Encoded& encoded) {
  auto names =
      Dictionary::Decode(BlockOf(BlockKind::kDictionary, encoded.names, encoded.name_count));
  BOOST_REQUIRE(names.has_value());
  return *std::move(names);
}

RowBlockRef Parsed(const Encoded& encoded) {
  auto block = Decoded(encoded.raw, encoded.count, encoded.flags);
  BOOST_REQUIRE(block.has_value());
  return *std::move(block);
}

Rows ExampleRows() {
  Rows rows;
  rows["k1"] = {{CellKind::kPut, "a", 5, 9, "x"}};
  rows["k2"] = {{CellKind::kDeleteColumn, "a", 5, 9, ""}, {CellKind::kPut, "b", 5, 9, ""}};
  return rows;
}

void CheckRows(const RowBlock& block, const Dictionary& names, const Rows& rows) {
  const Projection all(names, nullptr);
  std::vector<Cell> cells;
  std::string key;
  uint32_t slot = 0;
  for (const auto& [expected_key, row] : rows) {
    BOOST_REQUIRE(block.Key(slot, &key).ok());
    BOOST_TEST(key == expected_key);
    BOOST_TEST(*block.KeyEquals(slot, expected_key));
    cells.clear();
    BOOST_REQUIRE(block.Cells(slot, all, &cells).ok());
    BOOST_TEST((test::Owned(cells) == row));
    ++slot;
  }
  BOOST_TEST(slot == block.row_count());
}

bool IsPlain(const std::vector<Cell>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].kind != CellKind::kPut || cells[i].is_overflow()) return false;
    if (i > 0 && SameColumn(cells[i - 1], cells[i])) return false;
  }
  return true;
}

void CheckSame(std::span<const tandem::Cell> plain, const std::vector<Cell>& cells) {
  BOOST_REQUIRE_EQUAL(plain.size(), cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    BOOST_REQUIRE(cells[i].kind == CellKind::kPut && !cells[i].is_overflow());
    BOOST_REQUIRE_EQUAL(plain[i].family, "family");
    BOOST_REQUIRE_EQUAL(plain[i].qualifier, cells[i].qualifier);
    BOOST_REQUIRE_EQUAL(plain[i].timestamp, cells[i].timestamp);
    BOOST_REQUIRE_EQUAL(plain[i].value, cells[i].value);
  }
}

// Whether AppendPlain and AppendPlainRow take the row; what they give is checked against Cells and
// Key.
bool TakesPlain(const RowBlock& block, uint32_t slot, const Projection& columns) {
  PodArray<tandem::Cell> plain, of_row;
  PodArray<char> key;
  const bool takes = block.AppendPlain(slot, columns, "family", &plain);
  const bool takes_row = block.AppendPlainRow(slot, columns, "family", &key, &of_row);
  std::vector<Cell> cells;
  const Status status = block.Cells(slot, columns, &cells);
  std::string expected_key;
  BOOST_REQUIRE_EQUAL(takes_row, takes && block.Key(slot, &expected_key).ok());
  if (!takes) return false;
  BOOST_REQUIRE(status.ok());
  CheckSame(plain.all(), cells);
  if (!takes_row) return true;
  CheckSame(of_row.all(), cells);
  BOOST_REQUIRE(std::string_view(key.data(), key.size()) == expected_key);
  return true;
}

// Whether FindPlain takes the row; what it gives is checked against Cells.
bool FindsPlain(const RowBlock& block, uint32_t slot, const Dictionary& names,
                const std::vector<std::string>& columns) {
  std::vector<std::string_view> values(columns.size(), "left from before");
  if (!block.FindPlain(slot, ColumnPlaces(names, columns), values)) return false;
  std::vector<Cell> cells;
  BOOST_REQUIRE(block.Cells(slot, Projection(names, nullptr), &cells).ok());
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto cell = std::ranges::find(cells, columns[i], &Cell::qualifier);
    BOOST_REQUIRE_EQUAL(values[i].data() == nullptr, cell == cells.end());
    if (cell != cells.end()) BOOST_REQUIRE(values[i] == cell->value);
  }
  return true;
}

// Newer or older Puts of columns that the row has or has not, some with the timestamp of its cell.
OwnedRow RandomPuts(const OwnedRow& row, RandomRows* random) {
  OwnedRow puts;
  for (uint64_t left = random->Below(5); left > 0; --left) {
    const OwnedCell& cell = row[random->Below(row.size())];
    const char* const others[] = {"", "column12", "column5", "z"};
    const int64_t timestamps[] = {cell.timestamp, INT64_MAX, 1'700'000'000'000'500, -7};
    puts.push_back({CellKind::kPut, random->Below(2) == 0 ? cell.qualifier : others[left % 4],
                    timestamps[random->Below(4)], 1'000'000 + left, std::to_string(left)});
  }
  test::SortCells(&puts);
  return puts;
}

// Of cells and Puts that are sorted, the first of each column. `*tied`: a column has one timestamp
// in both.
std::vector<Cell> NewestOf(std::vector<Cell> cells, const OwnedRow& puts,
                           const std::vector<std::string>* columns, bool* tied) {
  const std::vector<Cell> of_row = cells;
  for (const OwnedCell& put : puts) {
    if (columns != nullptr && !std::ranges::count(*columns, put.qualifier)) continue;
    cells.push_back(put.View());
  }
  SortCells(cells);
  const auto rest = std::ranges::unique(cells, SameColumn);
  cells.erase(rest.begin(), rest.end());
  *tied = std::ranges::any_of(of_row, [&](const Cell& cell) {
    const auto put = std::ranges::find(puts, cell.qualifier, &OwnedCell::qualifier);
    return put != puts.end() && put->timestamp == cell.timestamp;
  });
  return cells;
}

BOOST_AUTO_TEST_SUITE(RowBlockTest)

BOOST_AUTO_TEST_CASE(PutsOverAPlainRowAreTheNewestOfEachColumn) {
  std::vector<std::string> some = {"", "column12", "column5", "nowhere"};
  int taken = 0, ties = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomRows random(seed);
    const Rows rows = random.Many(30);
    const Encoded encoded = Encode(rows);
    const Dictionary names = NamesOf(encoded);
    const RowBlockRef block = Parsed(encoded);
    uint32_t slot = 0;
    for (const auto& [key, row] : rows) {
      const bool is_plain = IsPlain(test::Views(row));
      const OwnedRow puts = RandomPuts(row, &random);
      for (const std::vector<std::string>* columns :
           {static_cast<std::vector<std::string>*>(nullptr), &some}) {
        const Projection wanted(names, columns, nullptr);
        std::vector<Cell> cells;
        BOOST_REQUIRE(block->Cells(slot, wanted, &cells).ok());
        bool tied = false;
        const std::vector<Cell> newest = NewestOf(cells, puts, columns, &tied);
        RowBatch batch;
        const bool takes =
            batch.AddUpdated(block, slot, wanted, "family", key, test::Views(puts), false);
        BOOST_REQUIRE_EQUAL(takes, is_plain && !tied);
        ties += is_plain && tied;
        BOOST_REQUIRE_EQUAL(batch.size(), takes ? 1u : 0u);
        if (!takes) continue;
        ++taken;
        CheckSame(batch.rows()[0].cells(), newest);
        BOOST_REQUIRE(batch.rows()[0].key() == key);
      }
      ++slot;
    }
  }
  BOOST_TEST(taken > 300);
  BOOST_TEST(ties > 100);
}

BOOST_AUTO_TEST_CASE(APutThatExceedsAPieceIsNotAddedToABatch) {
  const Encoded encoded = Encode({{"k1", {{CellKind::kPut, "a", 5, 9, "x"}}}});
  const Dictionary names = NamesOf(encoded);
  const RowBlockRef block = Parsed(encoded);
  const Projection all(names, nullptr);
  for (const bool fits : {true, false}) {
    const OwnedCell put{CellKind::kPut, "a", 6, 10,
                        std::string(kRowPieceBytes - (fits ? 1 : 0), 'v')};
    RowBatch batch;
    const std::vector<Cell> puts = {put.View()};
    BOOST_TEST(batch.AddUpdated(block, 0, all, "family", "k1", puts, true) == fits);
    BOOST_TEST(batch.size() == (fits ? 1u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(PlainRowsAreDecodedAsCellsDoes) {
  const std::vector<std::string> some = {"", "column12", "column5", "nowhere"};
  int taken = 0, left = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Rows rows = RandomRows(seed).Many(50);
    const Encoded encoded = Encode(rows);
    const Dictionary names = NamesOf(encoded);
    const RowBlockRef block = Parsed(encoded);
    uint32_t slot = 0;
    for (const auto& [key, row] : rows) {
      const bool is_plain = IsPlain(test::Views(row));
      BOOST_REQUIRE_EQUAL(TakesPlain(*block, slot, Projection(names, nullptr)), is_plain);
      BOOST_REQUIRE_EQUAL(TakesPlain(*block, slot, Projection(names, some, nullptr)), is_plain);
      const bool finds = FindsPlain(*block, slot, names, some);
      BOOST_REQUIRE(finds || !is_plain);
      ++(is_plain ? taken : left);
      ++slot;
    }
  }
  BOOST_TEST(taken > 300);
  BOOST_TEST(left > 300);
}

// Each length that one, two or three bytes tell, columns with ids of one and two bytes and without
// one, and keys around the sizes that are copied as words.
BOOST_AUTO_TEST_CASE(PlainRowsOfAllSizesAreDecodedAsCellsDoes) {
  const std::vector<size_t> value_sizes = {0, 1, 2, 3, 127, 128, 129, 16383, 16384, 20000};
  std::vector<std::string> columns;
  for (int i = 0; i < 200; ++i) columns.push_back("c" + std::to_string(1000 + i));
  for (const size_t prefix : {0, 1, 15, 16, 17, 60}) {
    Rows rows;
    for (const size_t tail : {0, 1, 7, 8, 9, 16, 40}) {
      OwnedRow& row = rows[std::string(prefix, 'p') + (tail == 0 ? "k" : std::string(tail, 't'))];
      for (size_t i = 0; i < columns.size(); ++i) {
        if ((i + tail) % 3 == 0) continue;
        const size_t bytes = value_sizes[(i + tail) % value_sizes.size()];
        row.push_back({CellKind::kPut, columns[i], 5, 9, std::string(bytes, 'v')});
      }
      row.push_back({CellKind::kPut, "d", 5, 9, std::string(tail % 3, 'e')});  // At the end.
    }
    const Encoded encoded = Encode(rows);
    const Dictionary names = NamesOf(encoded);
    const RowBlockRef block = Parsed(encoded);
    for (uint32_t slot = 0; slot < block->row_count(); ++slot) {
      BOOST_REQUIRE(TakesPlain(*block, slot, Projection(names, nullptr)));
      BOOST_REQUIRE(TakesPlain(*block, slot, Projection(names, columns, nullptr)));
      BOOST_REQUIRE(FindsPlain(*block, slot, names, columns));
      BOOST_REQUIRE(FindsPlain(*block, slot, names, {"d"}));
      BOOST_REQUIRE(FindsPlain(*block, slot, names, {columns[1], columns[150], "nowhere"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  const Encoded encoded = Encode(ExampleRows());
  BOOST_TEST(test::Hex(encoded.raw) == test::HexOf(R"(
    05 00 00 00 00 00 00 00  # base timestamp
    09 00 00 00 00 00 00 00  # base sequence
    01 00 00 00 00 00 00 00  # prefix length, zeros
    00 00 00 00 00 00 00 31  # head "1"
    00 00 00 00 00 00 00 32  # head "2"
    35 00 00 00  3D 00 00 00  46 00 00 00  # slots: 53, 61, end 70
    6B                       # prefix "k"
    01 03 00 00              # key of 1 byte, one timestamp and sequence, deltas 0
    00 01 01 78              # Put a "x"
    01 07 00 00              # as above, has markers
    02 01                    # DeleteColumn a
    00 02 00                 # Put b "")"));
  BOOST_TEST(encoded.flags == kRowBlockSingleVersions);
  BOOST_TEST(test::Hex(encoded.names) == "01 61 01 62");
}

BOOST_AUTO_TEST_CASE(KeysWithoutCellsHaveTheDocumentedBytes) {
  DictionaryBuilder names;
  RowBlockWriter writer(&names);
  writer.Add("k1", {});
  writer.Add("k2", {});
  std::string raw;
  writer.Finish(&raw);
  BOOST_TEST(test::Hex(raw) == test::HexOf(R"(
    00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
    01 00 00 00 00 00 00 00                             # prefix length
    00 00 00 00 00 00 00 31  00 00 00 00 00 00 00 32    # heads
    35 00 00 00  37 00 00 00  39 00 00 00               # slots
    6B                                                  # prefix
    01 00  01 00                                        # key length, flags)"));
}

BOOST_AUTO_TEST_CASE(VersionsAndOwnDeltasHaveTheDocumentedBytes) {
  Rows rows;
  rows["key beyond the head"] = {{CellKind::kDeleteFamily, "", 7, 3, ""},
                                 {CellKind::kPut, "a", 9, 3, "1"},
                                 {CellKind::kPut, "a", 8, 4, "2"},
                                 {CellKind::kPut, "b", 8, 4, "3"}};
  const Encoded encoded = Encode(rows);
  // The only row is its block's whole prefix.
  BOOST_TEST(test::Hex(std::string_view(encoded.raw).substr(40 + 19)) == test::HexOf(R"(
    00 0C            # nothing after the prefix; has markers, has versions
    03 00 00         # DeleteFamily, timestamp + 0, sequence + 0
    20 01 02 01 31   # sequence as before; column 1; timestamp + 2; "1"
    08 01 01 01 32   # column as before; timestamp + 1; sequence + 1; "2"
    30 02 01 33      # timestamp and sequence as before; column 2; "3")"));
  BOOST_TEST(encoded.flags == 0);
}

BOOST_AUTO_TEST_CASE(RandomRowsComeBack) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const Rows rows = random.Many(1 + random.Below(80));
      const Encoded encoded = Encode(rows);
      CheckRows(*Parsed(encoded), NamesOf(encoded), rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(SearchAgreesWithStdLowerBound) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const Rows rows = random.Many(1 + random.Below(200));
      const Encoded encoded = Encode(rows);
      const RowBlockRef block = Parsed(encoded);
      for (int i = 0; i < 300; ++i) {
        std::string key = random.Key();
        if (i % 3 == 0) key = std::next(rows.begin(), random.Below(rows.size()))->first;
        if (i % 9 == 0) key.push_back('\0');
        if (i % 9 == 3) key.pop_back();
        const auto expected = std::distance(rows.begin(), rows.lower_bound(key));
        const uint32_t slot = block->LowerBound(key);
        BOOST_TEST(slot == expected);
        const auto from = static_cast<uint32_t>(random.Below(slot + 1));
        BOOST_TEST(block->LowerBoundFrom(from, key) == slot);
        if (slot < block->row_count()) {
          BOOST_TEST(*block->KeyEquals(slot, key) == (rows.count(key) == 1));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ProjectionGivesTheWantedColumnsAndFamilyMarkers) {
  const std::vector<std::string> columns = {"", "column12", "column5", "nowhere",
                                            std::string(2048, 'q')};
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Rows rows = RandomRows(seed).Many(50);
    const Encoded encoded = Encode(rows);
    const Dictionary names = NamesOf(encoded);
    const RowBlockRef block = Parsed(encoded);
    uint32_t slot = 0;
    for (const auto& [key, row] : rows) {
      OwnedRow expected;
      for (const OwnedCell& cell : row) {
        const bool wanted = std::count(columns.begin(), columns.end(), cell.qualifier) > 0;
        if (wanted || cell.kind == CellKind::kDeleteFamily) expected.push_back(cell);
      }
      std::vector<Cell> cells;
      BOOST_REQUIRE(block->Cells(slot++, Projection(names, columns, nullptr), &cells).ok());
      BOOST_TEST((test::Owned(cells) == expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(ColumnsBeyondTheDictionaryStandInline) {
  Rows rows;
  for (int i = 0; i < 5000; ++i) {
    rows["wide"].push_back({CellKind::kPut, "q" + std::to_string(i), 1, 1, std::to_string(i)});
  }
  test::SortCells(&rows["wide"]);
  const Encoded encoded = Encode(rows);
  BOOST_TEST(encoded.name_count == kDictionaryNamesMax);
  const Dictionary names = NamesOf(encoded);
  const RowBlockRef block = Parsed(encoded);
  CheckRows(*block, names, rows);

  const std::vector<std::string> columns = {"q0", "q4999", "q777"};
  std::vector<Cell> cells;
  BOOST_REQUIRE(block->Cells(0, Projection(names, columns, nullptr), &cells).ok());
  BOOST_REQUIRE(cells.size() == 3u);
  BOOST_TEST(cells[1].value == "4999");
}

BOOST_AUTO_TEST_CASE(LongNamesFillTheDictionaryByBytes) {
  DictionaryBuilder names;
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i) + std::string(2000, 'n');
    BOOST_TEST(names.IdOf(name) == (i < 32 ? static_cast<uint32_t>(i + 1) : 0u));
  }
  BOOST_TEST(names.IdOf("short") == 33u);
  BOOST_TEST(names.IdOf("7" + std::string(2000, 'n')) == 8u);
}

BOOST_AUTO_TEST_CASE(RowStaysWithinItsBound) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RandomRows random(seed);
    Rows rows;
    rows[random.Key()] = random.Row();
    const auto& [key, row] = *rows.begin();
    BOOST_TEST(Encode(rows).raw.size() <= RowBytesBound(key, test::Views(row)));
  }
}

BOOST_AUTO_TEST_CASE(EveryCutIsCorruption) {
  const Encoded encoded = Encode(RandomRows(5).Many(8));
  for (size_t size = 0; size < encoded.raw.size(); ++size) {
    const auto block = Decoded(encoded.raw.substr(0, size), encoded.count);
    BOOST_TEST(block.status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(FalseCountsAndFlagsAreCorruption) {
  const Encoded encoded = Encode(ExampleRows());
  const auto code = [&](uint32_t count, uint16_t flags) {
    return Decoded(encoded.raw, count, flags).status().code();
  };
  BOOST_TEST(code(2, 0) == StatusCode::kOk);
  for (const uint32_t count : {0u, 1u, 3u, 0x20000000u, 0xffffffffu}) {
    BOOST_TEST(code(count, 0) == StatusCode::kCorruption);
  }
  BOOST_TEST(code(2, 4) == StatusCode::kCorruption);
}

// Content that the checksum vouches for but that no writer made: it may decode to anything, but it
// stays within the block and nothing but kCorruption comes back.
BOOST_AUTO_TEST_CASE(ForgedContentFailsOrDecodesWithinItsBounds) {
  RandomRows random(11);
  const Rows rows = random.Many(6);
  const Encoded encoded = Encode(rows);
  const Dictionary names = NamesOf(encoded);
  const Projection all(names, nullptr);
  const std::vector<std::string> one_column = {std::string(names.Name(1))};
  const ColumnPlaces places(names, one_column);
  for (int trial = 0; trial < 20000; ++trial) {
    Encoded forged = encoded;
    for (uint64_t change = random.Below(4); change < 4; ++change) {
      // Fixed part, heads and slots get their share beside the longer rows.
      const size_t limit = random.Below(2) == 0 ? 130 : forged.raw.size();
      forged.raw[random.Below(limit)] = static_cast<char>(random.Below(256));
    }
    const auto block = Decoded(forged.raw, forged.count);
    if (!block) {
      BOOST_REQUIRE(block.status().code() == StatusCode::kCorruption);
      continue;
    }
    BOOST_REQUIRE((*block)->LowerBound(random.Key()) <= forged.count);
    std::string key;
    for (uint32_t slot = 0; slot < forged.count; ++slot) {
      std::vector<Cell> cells;
      const Status status = (*block)->Cells(slot, all, &cells);
      BOOST_REQUIRE((status.ok() || status.code() == StatusCode::kCorruption));
      BOOST_REQUIRE((!status.ok() || !cells.empty()));
      for (const Cell& cell : cells) BOOST_REQUIRE(cell.value.size() <= forged.raw.size());
      TakesPlain(**block, slot, all);
      std::array<std::string_view, 1> values;
      if ((*block)->FindPlain(slot, places, values)) {
        BOOST_REQUIRE(values[0].size() <= forged.raw.size());
      }
      const Status key_status = (*block)->Key(slot, &key);
      BOOST_REQUIRE((key_status.ok() || key_status.code() == StatusCode::kCorruption));
      BOOST_REQUIRE(key.size() <= kRowKeyBytesMax);
      (*block)->KeyEquals(slot, "user:0000a").status().Ignore("only memory errors count");
    }
  }
}

BOOST_AUTO_TEST_CASE(ForgedDictionariesFail) {
  const auto code = [](std::string_view raw, uint32_t count) {
    return Dictionary::Decode(BlockOf(BlockKind::kDictionary, raw, count)).status().code();
  };
  BOOST_TEST(code("\1a", 1) == StatusCode::kOk);
  BOOST_TEST(code("\1a", 2) == StatusCode::kCorruption);
  BOOST_TEST(code("\1a", 0) == StatusCode::kCorruption);
  BOOST_TEST(code("\2a", 1) == StatusCode::kCorruption);
  BOOST_TEST(code("", 0xffffffff) == StatusCode::kCorruption);
  BOOST_TEST(code("\x81\x10" + std::string(2049, 'a'), 1) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
