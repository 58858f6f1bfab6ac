// Overflow values: their bytes, that every length comes back, and that damage of any part is found.
#include "format/cell/overflow_value.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <random>

#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/row/row_block_writer.h"
#include "test/format/data_file.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::DataFile;

std::string RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (size_t i = 0; i + 8 <= size; i += 8) StoreAt<uint64_t>(&bytes, i, random());
  return bytes;
}

// Lifetime: the cell's bytes are in `reference`.
struct OverflowCell {
  std::string bytes;
  Cell cell;
};

OverflowCell CellOf(const OverflowReference& reference, const BlockFile* file) {
  OverflowCell overflow;
  AppendOverflowReference(reference, &overflow.bytes);
  overflow.cell.overflow_file = file;
  return overflow;
}

StatusCode ReadCode(DataFile* file, const OverflowReference& reference) {
  OverflowCell overflow = CellOf(reference, file->blocks.get());
  overflow.cell.value = overflow.bytes;
  std::string value = "before";
  const Status status = ReadOverflowValue(overflow.cell, &value);
  BOOST_TEST((status.ok() || value == "before"));
  return status.code();
}

BOOST_AUTO_TEST_SUITE(OverflowValueTest)

BOOST_AUTO_TEST_CASE(ReferenceHasTheDocumentedBytes) {
  std::string bytes;
  AppendOverflowReference({70'000, 4096, 0x1122334455667788}, &bytes);
  BOOST_TEST(test::Hex(bytes) == "F0 A2 04 80 20 88 77 66 55 44 33 22 11");
  BOOST_TEST(
      (DecodeOverflowReference(bytes) == OverflowReference{70'000, 4096, 0x1122334455667788}));
}

BOOST_AUTO_TEST_CASE(EveryLengthComesBack) {
  const size_t lengths[] = {kInlineValueBytesMax + 1, kValueBlockBytes - 1, kValueBlockBytes,
                            kValueBlockBytes + 1,     3 * kValueBlockBytes, kOverflowValueBytesMax};
  for (const size_t length : lengths) {
    for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
      BOOST_TEST_CONTEXT("length " << length) {
        std::string value = RandomBytes(length, length);
        if (length % 2 == 1) value.assign(length, 'v');
        DataFile file;
        const auto first = WriteOverflowValue("x" + value.substr(1), compression, &file.out);
        const auto second = WriteOverflowValue(value, compression, &file.out);
        BOOST_REQUIRE((first.has_value() && second.has_value()));
        file.Close();
        OverflowCell overflow = CellOf(*second, file.blocks.get());
        overflow.cell.value = overflow.bytes;
        BOOST_TEST(*ValueBytes(overflow.cell) == length);
        std::string read = "before";
        BOOST_REQUIRE(ReadOverflowValue(overflow.cell, &read).ok());
        BOOST_TEST((read == "before" + value));

        DataFile copy;
        const auto copied = CopyOverflowValue(overflow.cell, Compression::kZstd, &copy.out);
        BOOST_REQUIRE(copied.has_value());
        copy.Close();
        OverflowCell again = CellOf(*copied, copy.blocks.get());
        again.cell.value = again.bytes;
        read.clear();
        BOOST_REQUIRE(ReadOverflowValue(again.cell, &read).ok());
        BOOST_TEST((read == value));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(LyingReferencesAreCorruption) {
  DataFile file;
  const std::string value = RandomBytes(3 * kValueBlockBytes + 5, 1);
  const OverflowReference right = *WriteOverflowValue(value, Compression::kNone, &file.out);
  file.Close();
  BOOST_TEST(ReadCode(&file, right) == StatusCode::kOk);
  const auto code = [&](auto change) {
    OverflowReference wrong = right;
    change(&wrong);
    return ReadCode(&file, wrong);
  };
  using Reference = OverflowReference*;
  BOOST_TEST(code([](Reference r) { ++r->hash; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { ++r->length; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { --r->length; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->length -= 5; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->length = kValueBlockBytes; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->length = kInlineValueBytesMax; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->length = kOverflowValueBytesMax + 1; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->length = UINT64_MAX; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->offset += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->offset += kValueBlockBytes + 32; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->offset = 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Reference r) { r->offset = UINT64_MAX - 7; }) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(MalformedReferencesAreCorruption) {
  DataFile file;
  file.Close();
  std::string bytes;
  AppendOverflowReference({70'000, 0, 1}, &bytes);
  bytes.push_back('\0');
  for (size_t size = 0; size <= bytes.size(); ++size) {
    Cell cell;
    cell.value = std::string_view(bytes).substr(0, size);
    cell.overflow_file = file.blocks.get();
    std::string value;
    BOOST_TEST(ReadOverflowValue(cell, &value).code() == StatusCode::kCorruption);
    BOOST_TEST(ValueBytes(cell).has_value() == (size == bytes.size() - 1));
  }
}

BOOST_AUTO_TEST_CASE(TruncatedAndForgedBlocksAreCorruption) {
  DataFile file;
  const std::string value = RandomBytes(2 * kValueBlockBytes + 5, 1);
  const OverflowReference reference = *WriteOverflowValue(value, Compression::kNone, &file.out);
  file.Close();
  const std::string whole = file.bytes;
  for (const size_t cut : {size_t{8}, size_t{40}, kValueBlockBytes, 2 * kValueBlockBytes + 60}) {
    file.bytes = whole.substr(0, whole.size() - cut);
    file.Open();
    BOOST_TEST(ReadCode(&file, reference) == StatusCode::kCorruption);
  }
  file.bytes = whole;
  file.bytes[kValueBlockBytes] ^= 1;
  file.Open();
  BOOST_TEST(ReadCode(&file, reference) == StatusCode::kCorruption);

  const BlockHandle second{reference.offset + kValueBlockBytes + 32, kValueBlockBytes + 32};
  const auto forged = [&](const std::function<void(BlockContent*, std::string*)>& change) {
    file.bytes = whole;
    file.Forge(second, change);
    file.Open();
    return ReadCode(&file, reference);
  };
  BOOST_TEST(forged([](BlockContent*, std::string*) {}) == StatusCode::kOk);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->first = 0; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { --block->count; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent* block, std::string*) { block->kind = BlockKind::kRows; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(forged([](BlockContent*, std::string* raw) { (*raw)[7] ^= 1; }) ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(CopyingADamagedValueFails) {
  DataFile file;
  OverflowReference reference =
      *WriteOverflowValue(std::string(100'000, 'v'), Compression::kZstd, &file.out);
  file.Close();
  ++reference.hash;
  OverflowCell overflow = CellOf(reference, file.blocks.get());
  overflow.cell.value = overflow.bytes;
  DataFile copy;
  BOOST_TEST(CopyOverflowValue(overflow.cell, Compression::kZstd, &copy.out).status().code() ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(RowBlocksHoldReferencesAsWhatTheyAre) {
  DataFile file;
  const OverflowReference reference =
      *WriteOverflowValue(std::string(70'000, 'v'), Compression::kZstd, &file.out);
  OverflowCell overflow = CellOf(reference, OverflowInFileBeingWritten());
  std::vector<Cell> row(2);
  row[0].qualifier = "a";
  row[0].value = overflow.bytes;
  row[0].overflow_file = overflow.cell.overflow_file;
  row[1].qualifier = "b";
  row[1].value = overflow.bytes;  // The same bytes as a plain value.
  DictionaryBuilder names;
  RowBlockWriter writer(&names);
  writer.Add("k", row);
  std::string raw;
  BlockContent content{.kind = BlockKind::kRows, .flags = writer.Finish(&raw)};
  content.count = 1;
  content.raw = raw;
  const BlockHandle handle = *file.out.Append(content);
  const std::string encoded = names.Encode();
  file.Close();

  auto block = std::make_shared<Block>();
  block->count = names.size();
  block->raw_bytes = static_cast<uint32_t>(encoded.size());
  block->data = base::AllocateInHeap(encoded.size());
  encoded.copy(block->data.get(), encoded.size());
  const Dictionary dictionary = *Dictionary::Decode(block);
  const RowBlockRef rows = *file.Rows(handle);
  std::vector<Cell> cells;
  BOOST_REQUIRE(rows->Cells(0, Projection(dictionary, file.blocks.get()), &cells).ok());
  BOOST_REQUIRE(cells.size() == 2u);
  BOOST_TEST(cells[0].is_overflow());
  BOOST_TEST(!cells[1].is_overflow());
  BOOST_TEST((cells[1].value == overflow.bytes));
  std::string value;
  BOOST_REQUIRE(ReadOverflowValue(cells[0], &value).ok());
  BOOST_TEST((value == std::string(70'000, 'v')));
  BOOST_TEST(rows->Cells(0, Projection(dictionary, nullptr), &cells).code() ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(NothingIsReadThroughAFileBeingWritten) {
  OverflowCell overflow = CellOf({70'000, 4096, 1}, OverflowInFileBeingWritten());
  overflow.cell.value = overflow.bytes;
  std::string value;
  BOOST_TEST(ReadOverflowValue(overflow.cell, &value).code() == StatusCode::kIoError);
  BOOST_TEST(*ValueBytes(overflow.cell) == 70'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
