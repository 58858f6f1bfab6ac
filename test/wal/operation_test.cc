// Operations in a group's payload: what is encoded comes back, and malformed bytes are refused.
#define BOOST_TEST_DYN_LINK
#include "wal/operation.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "format/coding.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using format::Cell;
using format::CellKind;
using format::SequenceNumber;
using format::TableId;
using wal::BatchEncoder;
using wal::GroupReader;
using wal::Operation;

Cell Put(std::string_view qualifier, std::string_view value) {
  Cell cell;
  cell.qualifier = qualifier;
  cell.value = value;
  return cell;
}

Cell Delete(CellKind kind, std::string_view qualifier) {
  Cell cell;
  cell.kind = kind;
  cell.qualifier = qualifier;
  cell.family = format::FamilyId(3);
  return cell;
}

std::string Group(const BatchEncoder& batch) {
  std::string payload;
  AppendBatch(batch, &payload);
  return payload;
}

// Reads everything and returns how that ended.
StatusCode ReadAll(std::string_view payload) {
  GroupReader reader(payload, SequenceNumber(1), 0);
  Operation operation;
  while (reader.Next(&operation)) {
  }
  return reader.status().code();
}

BOOST_AUTO_TEST_SUITE(OperationSuite)

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  BatchEncoder batch;
  batch.BeginOperation(TableId(1), "r");
  batch.AddCell(Put("c", "v"), std::nullopt);
  BOOST_TEST(Hex(Group(batch)) == "01 0D 01 01 72 01 00 00 00 00 00 01 63 01 76");
  batch.Clear();
  batch.BeginOperation(TableId(300), "row");
  batch.AddCell(Delete(CellKind::kDeleteFamily, ""), 5);
  batch.AddCell(Delete(CellKind::kDeleteColumn, ""), -1);
  BOOST_TEST(Hex(Group(batch)) ==
             "01 1F AC 02 03 72 6F 77 02 00 00 00 "
             "0B 03 05 00 00 00 00 00 00 00 "
             "0A 03 FF FF FF FF FF FF FF FF 00");
}

BOOST_AUTO_TEST_CASE(AGroupComesBackWithItsSequencesAndTimestamps) {
  BatchEncoder first, empty, second;
  first.BeginOperation(TableId(1), "a");
  first.AddCell(Put("x", "1"), std::nullopt);
  first.AddCell(Delete(CellKind::kDeleteCell, "y"), 77);
  first.BeginOperation(TableId(2), "b");
  second.BeginOperation(TableId(3), std::string(kRowKeyBytesMax, 'k'));
  const std::string value(kValueBytesMax, 'v');
  second.AddCell(Put("", value), std::nullopt);
  BOOST_TEST(first.operation_count() == 2u);
  std::string payload;
  AppendBatch(first, &payload);
  AppendBatch(empty, &payload);
  AppendBatch(second, &payload);

  GroupReader reader(payload, SequenceNumber(40), 1000);
  Operation operation;
  BOOST_REQUIRE(reader.Next(&operation));
  BOOST_TEST(operation.table.value == 1u);
  BOOST_TEST(operation.row == "a");
  BOOST_TEST(operation.sequence.value == 40u);
  BOOST_REQUIRE(operation.cells.size() == 2u);
  BOOST_TEST(operation.cells[0].timestamp == 1000);
  BOOST_TEST(operation.cells[0].value == "1");
  BOOST_TEST(operation.cells[0].sequence.value == 40u);
  BOOST_TEST((operation.cells[1].kind == CellKind::kDeleteCell));
  BOOST_TEST(operation.cells[1].timestamp == 77);
  BOOST_TEST(operation.cells[1].family.value == 3);
  BOOST_REQUIRE(reader.Next(&operation));
  BOOST_TEST(operation.sequence.value == 41u);
  BOOST_TEST(operation.cells.empty());
  BOOST_REQUIRE(reader.Next(&operation));
  BOOST_TEST(operation.sequence.value == 42u);
  BOOST_TEST(operation.row.size() == kRowKeyBytesMax);
  BOOST_TEST(operation.cells[0].timestamp == 1002);
  BOOST_TEST((operation.cells[0].value == value));
  BOOST_TEST(!reader.Next(&operation));
  BOOST_TEST(reader.status().ToString() == "OK");
  BOOST_TEST(reader.sequences() == 3u);
  BOOST_TEST(reader.batches() == 3u);
}

BOOST_AUTO_TEST_CASE(AnEmptyGroupHasNoOperation) {
  BOOST_TEST((ReadAll("") == StatusCode::kOk));
  BOOST_TEST((ReadAll(Group(BatchEncoder())) == StatusCode::kOk));
}

BOOST_AUTO_TEST_CASE(EveryCutInsideABatchIsRefused) {
  BatchEncoder batch;
  for (int i = 0; i < 3; ++i) {
    batch.BeginOperation(TableId(1), "row");
    batch.AddCell(Put("column", "value"), i);
  }
  const std::string payload = Group(batch);
  for (size_t length = 1; length < payload.size(); ++length) {
    BOOST_TEST((ReadAll(payload.substr(0, length)) == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(WhatPassesALimitIsRefused) {
  const auto code_of = [](TableId table, std::string_view row, const Cell& cell) {
    BatchEncoder batch;
    batch.BeginOperation(table, row);
    batch.AddCell(cell, std::nullopt);
    return ReadAll(Group(batch));
  };
  const std::string long_key(kRowKeyBytesMax + 1, 'k');
  const std::string long_qualifier(kQualifierBytesMax + 1, 'q');
  const std::string long_value(kValueBytesMax + 1, 'v');
  BOOST_TEST((code_of(TableId(UINT32_MAX), "r", Put("", "")) == StatusCode::kOk));
  BOOST_TEST((code_of(TableId(1), "", Put("", "")) == StatusCode::kCorruption));
  BOOST_TEST((code_of(TableId(1), long_key, Put("", "")) == StatusCode::kCorruption));
  BOOST_TEST((code_of(TableId(1), "r", Put(long_qualifier, "")) == StatusCode::kCorruption));
  BOOST_TEST((code_of(TableId(1), "r", Put("", long_value)) == StatusCode::kCorruption));
  BOOST_TEST((code_of(TableId(1), "r", Delete(CellKind(4), "q")) == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(CountsBeyondTheBytesAllocateNothing) {
  BatchEncoder batch;
  batch.BeginOperation(TableId(1), "r");
  batch.AddCell(Put("c", "v"), std::nullopt);
  std::string payload = Group(batch);
  for (uint32_t cells : {2u, 1000u, UINT32_MAX}) {
    format::StoreAt(&payload, 5, cells);
    BOOST_TEST((ReadAll(payload) == StatusCode::kCorruption));
  }
  // The batch claims operations, or bytes, that it does not have.
  BOOST_TEST((ReadAll("\x02" + Group(batch).substr(1)) == StatusCode::kCorruption));
  BOOST_TEST((ReadAll(std::string("\x00", 1) + Group(batch).substr(1)) == StatusCode::kCorruption));
  BOOST_TEST((ReadAll("\xff\xff\xff\xff\x0f\x00") == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(RandomOperationsComeBack) {
  const auto random = base::NewSeededRandom(11);
  const auto below = [&](uint64_t n) { return random->Next64() % n; };
  for (int round = 0; round < 200; ++round) {
    BatchEncoder batch;
    std::vector<std::string> expected;
    for (uint64_t i = below(20); i > 0; --i) {
      const std::string row(1 + below(30), static_cast<char>(below(256)));
      batch.BeginOperation(TableId(static_cast<uint32_t>(below(5))), row);
      expected.push_back(row);
      for (uint64_t c = below(5); c > 0; --c) {
        const std::string qualifier(below(40), 'q'), value(below(200), 'v');
        const auto kind = static_cast<CellKind>(below(4));
        Cell cell = kind == CellKind::kPut ? Put(qualifier, value) : Delete(kind, "");
        if (kind == CellKind::kDeleteCell) cell.qualifier = qualifier;
        batch.AddCell(cell, below(2) == 0 ? std::optional<int64_t>() : std::optional<int64_t>(c));
        expected.back() += "|" + std::string(cell.qualifier) + "=" + std::string(cell.value);
      }
    }
    const std::string payload = Group(batch);
    GroupReader reader(payload, SequenceNumber(1), 9);
    Operation operation;
    for (const std::string& row : expected) {
      BOOST_REQUIRE(reader.Next(&operation));
      std::string found(operation.row);
      for (const Cell& cell : operation.cells) {
        found += "|" + std::string(cell.qualifier) + "=" + std::string(cell.value);
      }
      BOOST_TEST(found == row);
    }
    BOOST_TEST(!reader.Next(&operation));
    BOOST_TEST(reader.status().ToString() == "OK");
    // Damage is refused or read as something else, never beyond the bytes.
    if (payload.empty()) continue;
    std::string damaged = payload;
    damaged[below(damaged.size())] = static_cast<char>(below(256));
    (void)ReadAll(damaged);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
