// Table records: what is encoded comes back, and no other bytes are taken for a table.
#define BOOST_TEST_DYN_LINK
#include "format/schema.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "base/random.h"
#include "format/coding.h"
#include "format/fields.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::SampleTable;

std::string Encoded(const TableRecord& table) {
  std::string bytes;
  EncodeTable(table, &bytes);
  return bytes;
}

StatusCode CodeOf(std::string_view bytes) { return DecodeTable(bytes).status().code(); }

StatusCode CodeAfter(const std::function<void(TableRecord*)>& change) {
  TableRecord table = SampleTable();
  change(&table);
  return CodeOf(Encoded(table));
}

BOOST_AUTO_TEST_SUITE(SchemaSuite)

BOOST_AUTO_TEST_CASE(ATableComesBackAsItWas) {
  TableRecord table = SampleTable(7);
  FamilyOptions& family = table.families[0].options;
  family.max_versions = 4'000'000'000;
  family.ttl_micros = INT64_MAX;
  family.compression = Compression::kNone;
  family.block_size_bytes = 1 << 20;
  table.families[0].id = FamilyId(254);
  table.indexes[0].columns[0].family = FamilyId(254);
  table.indexes[0].columns[0].descending = true;
  table.indexes[0].columns[0].qualifier = std::string("\0\xff", 2);
  table.indexes[0].state = IndexState::kDropping;
  const auto decoded = DecodeTable(Encoded(table));
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST(decoded->id.value == 7u);
  BOOST_TEST(decoded->name == "table-7");
  BOOST_TEST((decoded->hash_secret == table.hash_secret));
  const FamilyRecord* found = decoded->FindFamily("f");
  BOOST_REQUIRE(found != nullptr);
  BOOST_TEST(found->options.max_versions == family.max_versions);
  BOOST_TEST(found->options.ttl_micros == family.ttl_micros);
  BOOST_TEST((found->options.compression == Compression::kNone));
  BOOST_TEST(found->options.block_size_bytes == family.block_size_bytes);
  const IndexRecord* index = decoded->FindIndex("by_n");
  BOOST_REQUIRE(index != nullptr);
  BOOST_TEST((index == decoded->FindIndex(IndexId(1))));
  BOOST_TEST((index->state == IndexState::kDropping));
  BOOST_TEST((index->columns[0].qualifier == table.indexes[0].columns[0].qualifier));
  BOOST_TEST((index->columns[0].type == ColumnType::kInt64));
  BOOST_TEST(index->columns[0].descending);
  BOOST_TEST(decoded->FindFamily("") == nullptr);
  BOOST_TEST(decoded->FindIndex("n") == nullptr);
  BOOST_TEST(Encoded(*decoded) == Encoded(table));
}

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  std::string bytes = Encoded(SampleTable());
  const size_t secret = bytes.find(std::string(kHashSecretBytes, 's'));
  BOOST_REQUIRE(secret != std::string::npos);
  bytes.erase(secret, kHashSecretBytes);
  BOOST_TEST(Hex(bytes) ==
             "01 01 01 "                                // id 1
             "03 07 74 61 62 6C 65 2D 31 "              // name "table-1"
             "05 C0 01 "                                // secret, 192 bytes cut out here
             "07 13 01 01 00 03 01 66 05 01 01 07 01 "  // family 0 "f", 1 version, no TTL,
             "00 09 01 01 0B 02 80 40 "                 // zstd, 8,192
             "09 1A 01 01 01 03 04 62 79 5F 6E "        // index 1 "by_n"
             "05 01 02 07 0C 01 01 00 03 01 6E 05 01 03 07 01 00");  // ready, 0:n int64
}

BOOST_AUTO_TEST_CASE(EveryCutIsRefused) {
  const std::string bytes = Encoded(SampleTable());
  const std::string without_index = [] {
    TableRecord table = SampleTable();
    table.indexes.clear();
    return Encoded(table);
  }();
  for (size_t length = 0; length < bytes.size(); ++length) {
    // A table without indexes is a table: the record's own length is its container's to keep.
    if (length == without_index.size()) continue;
    BOOST_TEST(CodeOf(bytes.substr(0, length)) == StatusCode::kCorruption, "length " << length);
  }
}

BOOST_AUTO_TEST_CASE(UnknownFieldsAreSkippedWhenEvenAndRefusedWhenOdd) {
  std::string bytes = Encoded(SampleTable());
  AppendField(&bytes, 1000, "later");
  BOOST_TEST(CodeOf(bytes) == StatusCode::kOk);
  AppendField(&bytes, 1001, "later");
  BOOST_TEST(CodeOf(bytes) == StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(FieldsThatDoNotAscendOrRepeatAreRefused) {
  std::string bytes = Encoded(SampleTable());
  std::string name_again = bytes;
  AppendField(&name_again, 3, "x");
  BOOST_TEST(CodeOf(name_again) == StatusCode::kCorruption);
  std::string twice;
  AppendNumberField(&twice, 1, 1);
  BOOST_TEST(CodeOf(twice + bytes) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(std::string("\0\0", 2) + bytes) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(ValuesOutOfRangeAreRefused) {
  using T = TableRecord*;
  const StatusCode corrupt = StatusCode::kCorruption;
  BOOST_TEST(CodeAfter([](T t) { t->name = ""; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->name = std::string(256, 'x'); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->name = "a\nb"; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->name = "a\x7f"; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families.clear(); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.name = ""; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.max_versions = 0; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.ttl_micros = -1; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.block_size_bytes = 511; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.block_size_bytes = 1 << 21; }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->indexes.push_back(t->indexes[0]); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->indexes[0].columns.clear(); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->indexes[0].columns[0].family = FamilyId(9); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) { t->indexes[0].state = IndexState(0); }) == corrupt);
  BOOST_TEST(CodeAfter([](T t) {
               t->indexes[0].columns[0].qualifier.assign(kQualifierBytesMax + 1, 'q');
             }) == corrupt);
}

BOOST_AUTO_TEST_CASE(WhatALaterVersionMayKnowIsUnsupported) {
  using T = TableRecord*;
  const StatusCode unsupported = StatusCode::kUnsupported;
  BOOST_TEST(CodeAfter([](T t) { t->families[0].options.compression = Compression(2); }) ==
             unsupported);
  BOOST_TEST(CodeAfter([](T t) { t->indexes[0].columns[0].type = ColumnType(8); }) == unsupported);
  BOOST_TEST(CodeAfter([](T t) { t->indexes[0].state = IndexState(4); }) == unsupported);
  BOOST_TEST(CodeAfter([](T t) {
               for (uint8_t i = 1; i <= kFamiliesMax; ++i) {
                 t->families.push_back(t->families[0]);
                 t->families.back().id = FamilyId(i);
                 t->families.back().options.name = "f" + std::to_string(i);
               }
             }) == unsupported);
  BOOST_TEST(CodeAfter([](T t) {
               for (uint32_t i = 2; i <= kIndexesMax + 1; ++i) {
                 t->indexes.push_back(t->indexes[0]);
                 t->indexes.back().id = IndexId(i);
                 t->indexes.back().name = "by_" + std::to_string(i);
               }
             }) == unsupported);
}

BOOST_AUTO_TEST_CASE(DamagedBytesNeverPassForAnotherShape) {
  const std::string bytes = Encoded(SampleTable());
  const auto random = base::NewSeededRandom(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    for (uint64_t n = random->Next64() % 3 + 1; n > 0; --n) {
      damaged[random->Next64() % damaged.size()] = static_cast<char>(random->Next64());
    }
    const auto decoded = DecodeTable(damaged);
    // A change that is not noticed must be a table that encodes and decodes as itself.
    if (decoded) BOOST_TEST(Encoded(*DecodeTable(Encoded(*decoded))) == Encoded(*decoded));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
