// Wide rows: their bytes, that every cell and every column comes back with few reads, and that no
// content, however made, does more than fail.
#include "format/row/wide_row.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <deque>
#include <set>

#include "format/byte_reader.h"
#include "format/cell/overflow_value.h"
#include "format/coding.h"
#include "format/row/chunk.h"
#include "format/row/wide_row_writer.h"
#include "tandem/limits.h"
#include "test/format/data_file.h"
#include "test/format/random_rows.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::DataFile;
using test::OwnedCell;
using test::OwnedRow;
using test::RandomRows;

constexpr uint64_t kHash = 0x1122334455667788;
constexpr size_t kCellsAtOnce = 100;

// A wide row in a file. Values of more than kInlineValueBytesMax bytes go out as far ones.
struct WrittenRow {
  DataFile file;
  BlockHandle head;
  OwnedRow cells;
};

std::unique_ptr<WrittenRow> Write(OwnedRow row, Compression compression, uint32_t position = 0) {
  auto written = std::make_unique<WrittenRow>();
  SectionWriter* out = &written->file.out;
  WideRowWriter writer("row", kHash, position, compression, out);
  std::vector<Cell> deletes, cells;
  std::deque<std::string> references;
  for (Cell& cell : test::Views(row)) {
    if (cell.kind == CellKind::kDeleteFamily) {
      deletes.push_back(cell);
      continue;
    }
    if (cell.value.size() > kInlineValueBytesMax) {
      const auto reference = WriteOverflowValue(cell.value, compression, out);
      BOOST_REQUIRE(reference.has_value());
      AppendOverflowReference(*reference, &references.emplace_back());
      cell.value = references.back();
      cell.overflow_file = OverflowInFileBeingWritten();
    }
    cells.push_back(cell);
    if (cells.size() == kCellsAtOnce) {
      BOOST_REQUIRE(writer.Add(cells).ok());
      cells.clear();
    }
  }
  BOOST_REQUIRE(writer.Add(cells).ok());
  const auto head = writer.Finish(deletes);
  BOOST_REQUIRE(head.has_value());
  written->head = *head;
  written->file.Close();
  written->cells = std::move(row);
  return written;
}

RowBlockRef HeadOf(WrittenRow* row) {
  auto head = row->file.Rows(row->head);
  BOOST_REQUIRE(head.has_value());
  return *head;
}

// Copies a cell, an overflow value with it.
Status AppendOwned(const Cell& cell, OwnedRow* out) {
  OwnedCell owned{cell.kind, std::string(cell.qualifier), cell.timestamp, cell.sequence.value, ""};
  Status status;
  if (cell.is_overflow()) {
    status = ReadOverflowValue(cell, &owned.value);
  } else {
    owned.value = cell.value;
  }
  out->push_back(std::move(owned));
  return status;
}

Status Drain(const BlockFile& file, RowBlockRef head, OwnedRow* out) {
  const auto stream = NewWideRowStream(file, std::move(head));
  while (true) {
    auto more = stream->Next();
    if (!more.has_value()) return more.error();
    if (!*more) return {};
    BOOST_REQUIRE(!stream->cells().empty());
    for (const Cell& cell : stream->cells()) {
      const Status status = AppendOwned(cell, out);
      if (!status.ok()) return status;
    }
  }
}

Status Columns(const BlockFile& file, const RowBlockRef& head,
               const std::vector<std::string>& columns, OwnedRow* out) {
  std::vector<Cell> cells;
  std::vector<std::shared_ptr<const void>> pins;
  Status status = AppendWideColumns(file, head, columns, &cells, &pins);
  for (size_t i = 0; i < cells.size() && status.ok(); ++i) status = AppendOwned(cells[i], out);
  return status;
}

OwnedRow OnlyColumns(const OwnedRow& row, const std::vector<std::string>& columns) {
  OwnedRow some;
  for (const OwnedCell& cell : row) {
    const bool wanted = std::binary_search(columns.begin(), columns.end(), cell.qualifier);
    if (wanted || cell.kind == CellKind::kDeleteFamily) some.push_back(cell);
  }
  return some;
}

std::string Name(uint64_t i) {
  std::string name = std::to_string(i);
  return std::string(8 - name.size(), '0') + name;
}

// `count` columns of one Put.
OwnedRow PlainRow(size_t count, size_t value_bytes) {
  OwnedRow row;
  for (size_t i = 0; i < count; ++i) {
    row.push_back({CellKind::kPut, Name(2 * i), 5, 9, std::string(value_bytes, 'a' + i % 26)});
  }
  return row;
}

OwnedRow RandomRow(RandomRows* random) {
  OwnedRow row;
  const uint64_t shape = random->Below(4);
  const size_t count = 1 + random->Below(3000);
  for (size_t i = 0; i < count; ++i) {
    OwnedCell cell;
    const uint64_t kind = random->Below(12);
    cell.kind = kind < 4 ? static_cast<CellKind>(kind) : CellKind::kPut;
    if (cell.kind != CellKind::kDeleteFamily) {
      cell.qualifier = Name(random->Below(shape == 0 ? 20 : 4000));
      if (shape == 1) cell.qualifier.insert(0, 2000, 'p');
      if (random->Below(500) == 0) cell.qualifier.clear();
    }
    cell.timestamp = static_cast<int64_t>(random->Below(shape == 2 ? 5 : 1'000'000)) - 100;
    if (random->Below(100) == 0) cell.timestamp = random->Below(2) ? INT64_MIN : INT64_MAX;
    cell.sequence = random->Below(1'000'000'000);
    if (cell.kind == CellKind::kPut) {
      cell.value.assign(random->Below(random->Below(50) == 0 ? 3000 : 60), 'v');
      if (random->Below(2000) == 0) cell.value.assign(kInlineValueBytesMax + random->Below(2), 'n');
    }
    row.push_back(std::move(cell));
  }
  test::SortCells(&row);
  const auto equal = [](const OwnedCell& a, const OwnedCell& b) {
    return !CellLess(a.View(), b.View());
  };
  row.erase(std::unique(row.begin(), row.end(), equal), row.end());
  return row;
}

// Changes a block and says what reading the whole row, and each column, gives. Whatever it gives,
// it ends.
StatusCode AfterForging(WrittenRow* row, BlockHandle block,
                        const std::function<void(BlockContent*, std::string*)>& change) {
  const std::string whole = row->file.bytes;
  row->file.Forge(block, change);
  row->file.Open();
  const auto head = row->file.Rows(row->head);
  Status status = head.status();
  if (status.ok()) {
    OwnedRow cells;
    status = Drain(*row->file.blocks, *head, &cells);
    std::vector<std::string> names;
    for (const OwnedCell& cell : row->cells) names.push_back(cell.qualifier);
    cells.clear();
    const Status columns = Columns(*row->file.blocks, *head, names, &cells);
    BOOST_REQUIRE((columns.ok() || columns.code() == StatusCode::kCorruption));
  }
  row->file.bytes = whole;
  row->file.Open();
  return status.code();
}

BOOST_AUTO_TEST_SUITE(WideRowTest)

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  DataFile file;
  BOOST_REQUIRE(
      file.out.Append({.kind = BlockKind::kValue, .raw = "0123456789abcdef"}).has_value());
  WideRowWriter writer("r", kHash, 0, Compression::kNone, &file.out);
  const OwnedRow row = {{CellKind::kDeleteFamily, "", 4, 3, ""},
                        {CellKind::kPut, "ab", 5, 9, "1"},
                        {CellKind::kPut, "ac", 5, 9, "2"}};
  const std::vector<Cell> cells = test::Views(row);
  BOOST_REQUIRE(writer.Add(std::span(cells).subspan(1)).ok());
  const BlockHandle head = *writer.Finish(std::span(cells).first(1));
  file.Close();
  const auto raw = [&](uint64_t offset, size_t size) {
    return test::Hex(std::string_view(file.bytes).substr(offset + kBlockHeaderBytes, size));
  };
  BOOST_TEST(raw(48, 47) == test::HexOf(R"(
    05 00 00 00 00 00 00 00   09 00 00 00 00 00 00 00     # base timestamp, base sequence
    88 77 66 55 44 33 22 11   00 00 00 00   04 00 00 00   # key hash, number, name bytes
    00  00 02 61 62  00 00  01 31                         # Put; shares 0, "ab"; deltas 0; "1"
    30  01 01 63  01 32                                   # Put, times as before; shares 1, "c")"));
  BOOST_TEST(raw(head.offset, head.stored_bytes - kBlockHeaderBytes) == test::HexOf(R"(
    04 00 00 00 00 00 00 00   03 00 00 00 00 00 00 00     # base timestamp, base sequence
    88 77 66 55 44 33 22 11   02 00 00 00 00 00 00 00     # key hash, cells
    06 00 00 00 00 00 00 00   30 00 00 00 00 00 00 00     # bytes, first chunk
    01 00 00 00   01 00 00 00   01 00 00 00               # chunks, fences, markers
    01 00   00   00                                       # key length, stride, zero
    30 00 00 00 00 00 00 00   05 00 00 00 00 00 00 00     # fence: offset, timestamp
    09 00 00 00 00 00 00 00   4F 00 00 00   02 00 00 00   # sequence, stored size, name's end
    61 62   72   00 00                                    # "ab", key "r", marker)"));
}

BOOST_AUTO_TEST_CASE(HeadIsARowBlockOfOneRow) {
  const auto row = Write(PlainRow(20'000, 8), Compression::kZstd, 17);
  const RowBlockRef head = HeadOf(row.get());
  BOOST_TEST(head->is_wide());
  BOOST_TEST(head->row_count() == 1u);
  BOOST_TEST(head->first() == 17u);
  BOOST_TEST(head->LowerBound("row") == 0u);
  BOOST_TEST(head->LowerBound("ro") == 0u);
  BOOST_TEST(head->LowerBound("row0") == 1u);
  std::string key;
  BOOST_REQUIRE(head->Key(0, &key).ok());
  BOOST_TEST(key == "row");
  BOOST_TEST(*head->KeyEquals(0, "row"));
  BOOST_TEST(!*head->KeyEquals(0, "row "));
  BOOST_TEST(head->wide_totals().cells == 20'000u);
  BOOST_TEST(head->wide_totals().bytes == 20'000u * 16);
  BOOST_TEST(head->wide_totals().chunks > 2u);
  BOOST_TEST(head->wide_head().key_hash() == kHash);
}

BOOST_AUTO_TEST_CASE(RandomRowsComeBack) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomRows random(seed);
      const auto row =
          Write(RandomRow(&random), random.Below(2) ? Compression::kZstd : Compression::kNone);
      const RowBlockRef head = HeadOf(row.get());
      OwnedRow read;
      BOOST_REQUIRE(Drain(*row->file.blocks, head, &read).ok());
      BOOST_TEST((read == row->cells));
      for (int i = 0; i < 20; ++i) {
        std::set<std::string> names;
        for (uint64_t n = random.Below(6); n > 0; --n) {
          std::string name = row->cells[random.Below(row->cells.size())].qualifier;
          if (random.Below(4) == 0) name.push_back('x');
          if (random.Below(9) == 0) name = "";
          names.insert(name);
        }
        const std::vector<std::string> columns(names.begin(), names.end());
        read.clear();
        BOOST_REQUIRE(Columns(*row->file.blocks, head, columns, &read).ok());
        BOOST_TEST((read == OnlyColumns(row->cells, columns)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(RowOfMarkersAloneComesBack) {
  OwnedRow row;
  for (int i = 0; i < 10'000; ++i) row.push_back({CellKind::kDeleteFamily, "", 10'000 - i, 7, ""});
  const auto written = Write(row, Compression::kNone);
  OwnedRow read;
  BOOST_REQUIRE(Drain(*written->file.blocks, HeadOf(written.get()), &read).ok());
  BOOST_TEST((read == row));
  read.clear();
  BOOST_REQUIRE(Columns(*written->file.blocks, HeadOf(written.get()), {"", "a"}, &read).ok());
  BOOST_TEST((read == row));
}

BOOST_AUTO_TEST_CASE(OverflowValuesStandBetweenChunks) {
  OwnedRow row = PlainRow(10'000, 20);
  for (const size_t i : {0, 1, 3000, 9999}) row[i].value.assign(kInlineValueBytesMax + 1 + i, 'f');
  row[5000].value.assign(3 << 20, 'g');
  const auto written = Write(row, Compression::kNone);
  const RowBlockRef head = HeadOf(written.get());
  uint64_t bytes = 0;
  for (const OwnedCell& cell : row) bytes += cell.qualifier.size() + cell.value.size();
  BOOST_TEST(head->wide_totals().bytes == bytes);
  OwnedRow read;
  BOOST_REQUIRE(Drain(*written->file.blocks, head, &read).ok());
  BOOST_TEST((read == row));
  for (const size_t i : {0, 1, 2999, 3000, 3001, 5000, 9999}) {
    read.clear();
    BOOST_REQUIRE(Columns(*written->file.blocks, head, {row[i].qualifier}, &read).ok());
    BOOST_TEST((read == OwnedRow{row[i]}));
  }
}

BOOST_AUTO_TEST_CASE(ValueThatHadToOverflowIsRefused) {
  DataFile file;
  WideRowWriter writer("r", kHash, 0, Compression::kNone, &file.out);
  const std::string value(kInlineValueBytesMax + 1, 'v');
  Cell cell;
  cell.value = value;
  BOOST_TEST(writer.Add({&cell, 1}).code() == StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(CellsOfAWideRowAreNotThoseOfItsHead) {
  const auto row = Write(PlainRow(10, 8), Compression::kNone);
  std::vector<Cell> cells;
  const Dictionary names;
  BOOST_TEST(HeadOf(row.get())->Cells(0, Projection(names, nullptr), &cells).code() ==
             StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(OneColumnCostsFourReadsAtMost) {
  OwnedRow cells = PlainRow(100'000, 8);
  for (int64_t version = 0; version < 300; ++version) {  // One column over chunk borders.
    cells.push_back({CellKind::kPut, Name(70'001), 1000 - version, 9, std::string(300, 'w')});
  }
  test::SortCells(&cells);
  const auto row = Write(std::move(cells), Compression::kZstd);
  RandomRows random(3);
  for (int i = 0; i < 60; ++i) {
    const std::string name = i == 0 ? Name(70'001) : Name(random.Below(200'100));
    row->file.reads = 0;
    const RowBlockRef head = HeadOf(row.get());
    OwnedRow read;
    BOOST_REQUIRE(Columns(*row->file.blocks, head, {name}, &read).ok());
    BOOST_TEST(row->file.reads <= 4u);
    BOOST_TEST(read.size() == OnlyColumns(row->cells, {name}).size());
  }
}

BOOST_AUTO_TEST_CASE(FencesAreThinnedOutWhenThereAreTooMany) {
  OwnedRow cells;
  for (size_t i = 0; i < 2 * kFencesMax + 300; ++i) {  // A chunk each.
    cells.push_back({CellKind::kPut, Name(2 * i), 5, 9, std::string(kInlineValueBytesMax, 'v')});
    cells.back().value.replace(0, 8, Name(i));
  }
  const auto row = Write(std::move(cells), Compression::kZstd);
  const RowBlockRef head = HeadOf(row.get());
  BOOST_TEST(head->wide_totals().chunks == row->cells.size());
  BOOST_TEST(head->wide_head().stride() == 2u);
  BOOST_TEST(head->wide_head().fence_count() == (row->cells.size() + 3) / 4);
  RandomRows random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> names = {Name(random.Below(2 * row->cells.size() + 4)),
                                      Name(random.Below(2 * row->cells.size() + 4))};
    std::sort(names.begin(), names.end());
    OwnedRow read;
    BOOST_REQUIRE(Columns(*row->file.blocks, head, names, &read).ok());
    for (const OwnedCell& cell : read) {
      BOOST_TEST(cell.value.substr(0, 8) == Name(std::stoull(cell.qualifier) / 2));
    }
    size_t expected = 0;
    for (const std::string& name : names) {
      const uint64_t number = std::stoull(name);
      expected += number % 2 == 0 && number < 2 * row->cells.size() ? 1 : 0;
    }
    BOOST_TEST(read.size() == (names[0] == names[1] ? expected / 2 : expected));
  }
  uint64_t count = 0;
  const auto stream = NewWideRowStream(*row->file.blocks, head);
  while (*stream->Next()) count += stream->cells().size();
  BOOST_TEST(count == row->cells.size());
}

BOOST_AUTO_TEST_CASE(LyingHeadsAreCorruption) {
  const auto row = Write(PlainRow(20'000, 8), Compression::kNone);
  const auto forged = [&](const std::function<void(std::string*)>& change) {
    return AfterForging(row.get(), row->head,
                        [&](BlockContent*, std::string* raw) { change(raw); });
  };
  const auto add64 = [](size_t at, uint64_t more) {
    return [=](std::string* raw) { StoreAt(raw, at, LoadAt<uint64_t>(*raw, at) + more); };
  };
  const auto add32 = [](size_t at, uint32_t more) {
    return [=](std::string* raw) { StoreAt(raw, at, LoadAt<uint32_t>(*raw, at) + more); };
  };
  BOOST_TEST(forged([](std::string*) {}) == StatusCode::kOk);
  // Key hash, cells, bytes, first chunk, chunks, fences, markers.
  for (const size_t at : {16, 24, 32, 40}) {
    BOOST_TEST(forged(add64(at, 1)) == StatusCode::kCorruption);
    BOOST_TEST(forged(add64(at, uint64_t{0} - 1)) == StatusCode::kCorruption);
    BOOST_TEST(forged(add64(at, uint64_t{1} << 60)) == StatusCode::kCorruption);
  }
  for (const size_t at : {48, 52, 56}) {
    BOOST_TEST(forged(add32(at, 1)) == StatusCode::kCorruption);
    BOOST_TEST(forged(add32(at, 0xf000'0000)) == StatusCode::kCorruption);
  }
  const auto fewer = [](std::string* raw) {  // One chunk and fence fewer, their bytes as names.
    StoreAt(raw, 48, LoadAt<uint32_t>(*raw, 48) - 1);
    StoreAt(raw, 52, LoadAt<uint32_t>(*raw, 52) - 1);
  };
  BOOST_TEST(forged(fewer) == StatusCode::kCorruption);
  BOOST_TEST(forged([](std::string* raw) { (*raw)[62] = 1; }) == StatusCode::kCorruption);
  BOOST_TEST(forged([](std::string* raw) { (*raw)[62] = 63; }) == StatusCode::kCorruption);
  BOOST_TEST(forged([](std::string* raw) { (*raw)[63] = 1; }) == StatusCode::kCorruption);
  // The second fence: offset, timestamp, sequence, stored size, name.
  const size_t second = kWideHeadFixedBytes + kFenceBytes;
  for (const size_t at : {0, 8, 16}) {
    BOOST_TEST(forged(add64(second + at, 8)) == StatusCode::kCorruption);
  }
  BOOST_TEST(forged(add32(second + 28, 1)) == StatusCode::kCorruption);
  BOOST_TEST(forged([&](std::string* raw) {  // To the third chunk.
               raw->replace(second, 8, raw->substr(second + kFenceBytes, 8));
             }) == StatusCode::kCorruption);
}

// A stored size that lies does no harm to who walks the chunks, but to who follows the fence.
BOOST_AUTO_TEST_CASE(LyingSizeOfAChunkIsCorruption) {
  const auto row = Write(PlainRow(20'000, 8), Compression::kNone);
  for (const uint32_t more : {1u, 8u, 0u - 1, 0x7000'0000u}) {
    const std::string whole = row->file.bytes;
    row->file.Forge(row->head, [&](BlockContent*, std::string* raw) {
      const size_t at = kWideHeadFixedBytes + kFenceBytes + 24;
      StoreAt(raw, at, LoadAt<uint32_t>(*raw, at) + more);
    });
    row->file.Open();
    const auto head = row->file.Rows(row->head);
    OwnedRow read;
    if (head.has_value()) {
      const uint32_t middle = static_cast<uint32_t>(row->cells.size() / 5);
      const Status status = Columns(*row->file.blocks, *head, {Name(2 * middle)}, &read);
      BOOST_TEST((status.ok() || status.code() == StatusCode::kCorruption));
    } else {
      BOOST_TEST(head.status().code() == StatusCode::kCorruption);
    }
    row->file.bytes = whole;
  }
}

BOOST_AUTO_TEST_CASE(LyingChunksAreCorruption) {
  const auto row = Write(PlainRow(20'000, 8), Compression::kNone, 5);
  const BlockHandle second = HeadOf(row.get())->wide_head().FenceAt(1).chunk;
  const auto forged = [&](const std::function<void(BlockContent*, std::string*)>& change) {
    return AfterForging(row.get(), second, change);
  };
  BOOST_TEST(forged([](BlockContent*, std::string*) {}) == StatusCode::kOk);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->first = 4; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { --block->count; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->count = 0; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->count = 0xffff'ffff; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->flags = 1; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->kind = BlockKind::kValue; }) ==
             StatusCode::kCorruption);
  for (const size_t at : {0, 8, 16, 24, 28}) {  // Bases, key hash, number, name bytes.
    BOOST_TEST(forged([at](BlockContent*, std::string* raw) { (*raw)[at] ^= 1; }) ==
               StatusCode::kCorruption);
  }
  BOOST_TEST(forged([](BlockContent*, std::string* raw) { StoreAt(raw, 28, 0xffff'ffffu); }) ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(ChunkOfAnotherRowIsCorruption) {
  DataFile file;
  const OwnedRow cells = PlainRow(100, 8);
  BlockHandle heads[2];
  for (uint64_t i = 0; i < 2; ++i) {
    WideRowWriter writer("r" + std::to_string(i), kHash + i, 3, Compression::kNone, &file.out);
    BOOST_REQUIRE(writer.Add(test::Views(cells)).ok());
    heads[i] = *writer.Finish({});
  }
  file.Close();
  const uint64_t first = (*file.Rows(heads[0]))->wide_totals().first_chunk;
  file.Forge(heads[1], [&](BlockContent*, std::string* raw) {
    StoreAt(raw, 40, first);
    StoreAt(raw, kWideHeadFixedBytes, first);
  });
  file.Open();
  OwnedRow read;
  const RowBlockRef head = *file.Rows(heads[1]);
  BOOST_TEST(Drain(*file.blocks, head, &read).code() == StatusCode::kCorruption);
  BOOST_TEST(Columns(*file.blocks, head, {Name(4)}, &read).code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(TruncatedRowsAreCorruption) {
  const auto row = Write(PlainRow(20'000, 8), Compression::kNone);
  const RowBlockRef head = HeadOf(row.get());
  const std::string whole = row->file.bytes;
  for (size_t size = 0; size < row->head.offset; size += 9973) {
    row->file.bytes = whole.substr(0, size);
    row->file.Open();
    OwnedRow read;
    BOOST_TEST(Drain(*row->file.blocks, head, &read).code() == StatusCode::kCorruption);
  }
}

// Content that the checksum vouches for but that no writer made: it may decode to anything, but
// nothing but kCorruption comes back, and it stays within its bounds.
BOOST_AUTO_TEST_CASE(ForgedContentFailsOrDecodesWithinItsBounds) {
  OwnedRow cells = PlainRow(600, 150);
  cells[300].value.assign(kInlineValueBytesMax + 1, 'f');
  cells.insert(cells.begin(), {CellKind::kDeleteFamily, "", 4, 3, ""});
  const auto row = Write(std::move(cells), Compression::kNone);
  const BlockHandle chunk = HeadOf(row.get())->wide_head().FenceAt(0).chunk;
  RandomRows random(11);
  for (int trial = 0; trial < 1500; ++trial) {
    const bool in_head = trial % 2 == 0;
    const StatusCode code = AfterForging(
        row.get(), in_head ? row->head : chunk, [&](BlockContent* block, std::string* raw) {
          for (uint64_t change = random.Below(3); change < 3; ++change) {
            const size_t limit = random.Below(2) == 0 ? 150 : raw->size();
            (*raw)[random.Below(std::min(limit, raw->size()))] =
                static_cast<char>(random.Below(256));
          }
          if (random.Below(20) == 0) block->count = static_cast<uint32_t>(random.Below(1000));
        });
    BOOST_REQUIRE((code == StatusCode::kOk || code == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
