// ROOT: the newer valid slot counts, a torn write never loses the older one, damage is reported.
#define BOOST_TEST_DYN_LINK
#include "format/root.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "format/coding.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::MemoryFile;
using test::SampleId;

RootFile Sample() {
  RootFile root;
  root.database = SampleId(1);
  root.record.generation = 1;
  root.record.next_file_number = 66;
  root.record.manifest = {FileNumber(2), SampleId(32), 300, 0x0102030405060708};
  return root;
}

RootFile Closed(const RootFile& root) {
  RootFile closed = root;
  ++closed.record.generation;
  closed.record.closed = true;
  closed.record.segments.push_back({FileNumber(3), SampleId(48), 160, 9});
  return closed;
}

// The bytes of a new ROOT.
std::string Created() {
  MemoryFile file;
  BOOST_TEST_REQUIRE(CreateRoot(&file, Sample()).ToString() == "OK");
  return file.bytes();
}

BOOST_AUTO_TEST_SUITE(RootSuite)

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  MemoryFile file;
  RootFile root = Closed(Sample());
  BOOST_TEST(CreateRoot(&file, root).ToString() == "OK");
  BOOST_TEST(file.bytes().size() == kRootFileBytes);
  const std::string slot = file.bytes().substr(4096, 4096);
  BOOST_TEST(Hex(slot.substr(0, 120)) ==
             "36 D8 D4 E1 B4 8E 09 99 02 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 "
             "42 00 00 00 00 00 00 00 02 00 00 00 01 00 00 00 "
             "02 00 00 00 00 00 00 00 20 21 22 23 24 25 26 27 28 29 2A 2B 2C 2D 2E 2F "
             "2C 01 00 00 00 00 00 00 08 07 06 05 04 03 02 01 "
             "03 00 00 00 00 00 00 00 30 31 32 33 34 35 36 37 38 39 3A 3B 3C 3D 3E 3F "
             "A0 00 00 00 00 00 00 00 09 00 00 00 00 00 00 00");
  BOOST_TEST(slot.find_first_not_of('\0', 120) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(TheHigherGenerationCounts) {
  MemoryFile file(Created());
  RootFile root = *ReadRoot(&file);
  for (uint64_t generation = 2; generation < 8; ++generation) {
    root.record.generation = generation;
    root.record.manifest.length_bytes = generation * 100;
    BOOST_TEST(WriteRoot(&file, &root, false).ToString() == "OK");
    const RootFile again = *ReadRoot(&file);
    BOOST_TEST(again.record.generation == generation);
    BOOST_TEST(again.record.manifest.length_bytes == generation * 100);
    BOOST_TEST(again.record.next_file_number == 66u);
    BOOST_TEST(again.slot == root.slot);
    BOOST_TEST((again.database == root.database));
    BOOST_TEST(!again.record.closed);
  }
  RootFile closed = Closed(root);
  BOOST_TEST(WriteRoot(&file, &closed, true).ToString() == "OK");
  const RootFile again = *ReadRoot(&file);
  BOOST_TEST(again.record.closed);
  BOOST_TEST(again.record.segments.size() == 1u);
  BOOST_TEST(again.record.segments[0].last_checksum == 9u);
}

BOOST_AUTO_TEST_CASE(ATornWriteLeavesTheRecordBefore) {
  MemoryFile file(Created());
  const std::string before = file.bytes();
  RootFile root = *ReadRoot(&file);
  root.record.generation = 2;
  root.record.manifest.length_bytes = 999;
  BOOST_TEST(WriteRoot(&file, &root, false).ToString() == "OK");
  const std::string after = file.bytes();
  for (size_t cut = 4096; cut <= after.size(); cut += 8) {
    MemoryFile torn(after.substr(0, cut) + before.substr(cut));
    const auto read = ReadRoot(&torn);
    BOOST_REQUIRE(read.has_value());
    const uint64_t length = read->record.manifest.length_bytes;
    BOOST_TEST((length == 300 || length == 999));
  }
}

BOOST_AUTO_TEST_CASE(WhatIsWrittenAfterDamageSparesTheGoodSlot) {
  for (size_t damaged : {4096 + 8, 8192 + 8}) {
    MemoryFile file(Created());
    file.bytes()[damaged] ^= 1;
    RootFile root = *ReadRoot(&file);
    const std::string before = file.bytes();
    root.record.generation = 2;
    BOOST_TEST(WriteRoot(&file, &root, false).ToString() == "OK");
    const size_t slot = damaged / 4096 * 4096;
    BOOST_TEST((before.substr(12288 - slot, 4096) == file.bytes().substr(12288 - slot, 4096)));
    BOOST_TEST((before.substr(slot, 4096) != file.bytes().substr(slot, 4096)));
  }
}

BOOST_AUTO_TEST_CASE(DamageIsToldOrHarmless) {
  MemoryFile file(Created());
  const std::string whole = file.bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    file.bytes()[at] ^= 0x10;
    const auto read = ReadRoot(&file);
    if (at < 4096) {
      BOOST_TEST((read.status().code() == StatusCode::kCorruption), "offset " << at);
    } else {
      BOOST_TEST(read.has_value());
      BOOST_TEST(read->record.manifest.length_bytes == 300u);
    }
    file.bytes()[at] ^= 0x10;
  }
  for (size_t length = 0; length < whole.size(); ++length) {
    MemoryFile cut(whole.substr(0, length));
    BOOST_TEST((ReadRoot(&cut).status().code() == StatusCode::kCorruption), "length " << length);
  }
  MemoryFile longer(whole + '\0');
  BOOST_TEST((ReadRoot(&longer).status().code() == StatusCode::kCorruption));
  MemoryFile swapped(whole.substr(0, 4096) + whole.substr(8192) + whole.substr(4096, 4096));
  BOOST_TEST((ReadRoot(&swapped).status().code() == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
