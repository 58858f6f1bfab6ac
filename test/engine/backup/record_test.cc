// The record of a backup: its bytes are those of the table in engine/backup/record.h, and a record
// that was changed, cut, extended, renamed or does not agree with itself is refused with file and
// offset.
#define BOOST_TEST_DYN_LINK
#include "engine/backup/record.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "format/coding.h"
#include "format/file_header.h"
#include "format/frame.h"
#include "test/support/hex.h"
#include "tools/simulation/memory_file.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::HexOf;
using test::MemoryFile;
using test::SampleId;

constexpr uint64_t kNumber = 7;
constexpr size_t kPayloadAt = kFileHeaderBytes + kFrameHeaderBytes;

// Of a catalog of one table, one file and one segment.
BackupRecord Sample() {
  BackupRecord record;
  record.number = kNumber;
  record.created_micros = 1'000'000;
  record.catalog.database = SampleId(1);
  record.catalog.epoch = 3;
  CatalogEdit edit = test::SampleTableEdit();
  edit.add_files.push_back(test::SampleFile(8));
  edit.put_regions[0].files.push_back({FileNumber(8), 1, 0, 100});
  edit.add_segments.push_back({FileNumber(9), SampleId(0x50)});
  BOOST_TEST_REQUIRE(ApplyEdit(edit, &record.catalog).ToString() == "OK");
  record.segments.push_back({{FileNumber(9), SampleId(0x50), 160, 0x1122334455667788}, {5, 6}});
  return record;
}

std::string BytesOf(const BackupRecord& record) {
  MemoryFile file;
  BOOST_TEST_REQUIRE(WriteBackupRecord(&file, SampleId(0x21), record).ToString() == "OK");
  return file.bytes();
}

Result<BackupRecord> Read(std::string bytes, uint64_t number = kNumber) {
  MemoryFile file(std::move(bytes));
  return ReadBackupRecord(&file, number);
}

// What a file of these bytes is refused with.
Status Refusal(std::string bytes, uint64_t number = kNumber) {
  const Result<BackupRecord> record = Read(std::move(bytes), number);
  return record ? Status() : record.error();
}

BOOST_AUTO_TEST_SUITE(BackupRecordSuite)

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  const std::string bytes = BytesOf(Sample());
  BOOST_TEST(
      Hex(bytes.substr(0, 80)) ==
      HexOf("89 54 41 4E 44 45 4D 0A  06 0C 01 00  80 00 00 00  # magic, kind, version, size\n"
            "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  # features\n"
            "00 00 00 00 00 00 00 00\n"
            "01 02 03 04 05 06 07 08  09 0A 0B 0C 0D 0E 0F 10  # database\n"
            "07 00 00 00 00 00 00 00                           # number\n"
            "21 22 23 24 25 26 27 28  29 2A 2B 2C 2D 2E 2F 30  # id\n"));
  BOOST_TEST(Hex(bytes.substr(kFileHeaderBytes + 16, 24)) ==
             HexOf("01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  # number 1, no durable mark\n"
                   "40 42 0F 00 00 00 00 00                           # a second after 1970\n"));
  BOOST_TEST(Hex(bytes.substr(kPayloadAt, 72)) ==
             HexOf("03 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  # epoch, one segment\n"
                   "09 00 00 00 00 00 00 00                           # its number\n"
                   "50 51 52 53 54 55 56 57  58 59 5A 5B 5C 5D 5E 5F  # its id\n"
                   "A0 00 00 00 00 00 00 00  88 77 66 55 44 33 22 11  # length, last checksum\n"
                   "05 00 00 00 00 00 00 00  06 00 00 00 00 00 00 00  # hash\n"));
  std::string edit;
  EncodeEdit(FullEdit(Sample().catalog), &edit);
  BOOST_TEST(bytes.substr(kPayloadAt + 72, edit.size()) == edit);
}

BOOST_AUTO_TEST_CASE(WhatWasWrittenIsReadBack) {
  const Result<BackupRecord> record = Read(BytesOf(Sample()));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(record->number == kNumber);
  BOOST_TEST(record->created_micros == 1'000'000);
  BOOST_TEST(record->catalog.epoch == 3u);
  BOOST_TEST((record->catalog.database == SampleId(1)));
  BOOST_TEST(BytesOf(*record) == BytesOf(Sample()));
}

BOOST_AUTO_TEST_CASE(EveryFlippedBitIsFound) {
  const std::string bytes = BytesOf(Sample());
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const Status status = Refusal(std::move(flipped));
    BOOST_TEST_CONTEXT("bit " << bit) {
      BOOST_TEST(!status.ok());
      BOOST_TEST(status.message().starts_with("memory: "));
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryOtherLengthIsFound) {
  const std::string bytes = BytesOf(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    BOOST_TEST(Refusal(bytes.substr(0, size)).code() == StatusCode::kCorruption);
  }
  for (const size_t extra : {1, 8, 100}) {
    const Status status = Refusal(bytes + std::string(extra, '\0'));
    BOOST_TEST(status.code() == StatusCode::kCorruption);
    BOOST_TEST(status.message().find("bytes of file") != std::string_view::npos);
  }
}

BOOST_AUTO_TEST_CASE(ARecordUnderAnotherNumberIsRefused) {
  const Status status = Refusal(BytesOf(Sample()), kNumber + 1);
  BOOST_TEST(status.code() == StatusCode::kCorruption);
  BOOST_TEST(status.message().find("number of backup") != std::string_view::npos);
}

BOOST_AUTO_TEST_CASE(SegmentsAreThoseOfTheCatalog) {
  BackupRecord record = Sample();
  record.segments[0].end.id = SampleId(0x51);
  BOOST_TEST(Refusal(BytesOf(record)).message().find("segments") != std::string_view::npos);
  record = Sample();
  record.segments.clear();
  BOOST_TEST(Refusal(BytesOf(record)).message().find("segments") != std::string_view::npos);
  record = Sample();
  record.segments.push_back(record.segments[0]);
  BOOST_TEST(Refusal(BytesOf(record)).code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
