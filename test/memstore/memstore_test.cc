// The memstore against plain containers, and its promise to readers beside one writer.
#define BOOST_TEST_DYN_LINK
#include "memstore/memstore.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include "engine/create_table.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "index/key.h"
#include "test/engine/test_engine.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::MemRow;
using engine::Memstore;
using format::Cell;
using format::CellKind;
using format::SequenceNumber;

std::shared_ptr<const format::TableRecord> Record() {
  const auto random = base::NewSeededRandom(7);
  auto record = engine::MakeTableRecord(SimpleTable(3), random.get());
  return std::make_shared<const format::TableRecord>(std::move(*record));
}

Cell NewCell(CellKind kind, std::string_view qualifier, int64_t timestamp, uint64_t sequence,
             std::string_view value = {}) {
  Cell cell;
  cell.kind = kind;
  cell.qualifier = qualifier;
  cell.timestamp = timestamp;
  cell.sequence = SequenceNumber(sequence);
  cell.value = value;
  return cell;
}

std::string Text(const Cell& cell) {
  return std::to_string(static_cast<int>(cell.kind)) + std::string(cell.qualifier) + "@" +
         std::to_string(cell.timestamp) + "#" + std::to_string(cell.sequence.value) + "=" +
         std::string(cell.value);
}

std::string Text(const Memstore& memstore, std::string_view row,
                 SequenceNumber max = format::kSequenceMax) {
  const MemRow* found = memstore.Find(row);
  if (found == nullptr) return "-";
  std::vector<Cell> cells;
  Memstore::Cells(found, max, &cells);
  std::string text;
  for (const Cell& cell : cells) text += Text(cell) + " ";
  return text;
}

void Put(Memstore* memstore, std::string_view row, std::string_view qualifier, int64_t timestamp,
         uint64_t sequence, std::string_view value) {
  const Cell cell = NewCell(CellKind::kPut, qualifier, timestamp, sequence, value);
  memstore->Apply(row, {&cell, 1});
}

BOOST_AUTO_TEST_SUITE(MemstoreTest)

BOOST_AUTO_TEST_CASE(AnEmptyOneHasNothing) {
  const Memstore memstore(Record());
  BOOST_CHECK(memstore.empty());
  BOOST_CHECK_EQUAL(memstore.row_count(), 0u);
  BOOST_CHECK(memstore.Find("a") == nullptr);
  BOOST_CHECK(!memstore.MayContain(1));
  BOOST_CHECK_EQUAL(memstore.min_timestamp(), INT64_MAX);
  Memstore::Iterator row(&memstore);
  row.SeekToFirst();
  BOOST_CHECK(!row.valid());
  row.SeekToLast();
  BOOST_CHECK(!row.valid());
  row.SeekBefore("z");
  BOOST_CHECK(!row.valid());
}

BOOST_AUTO_TEST_CASE(CellsOfARowComeInTheirOrderUpToASequence) {
  Memstore memstore(Record());
  Put(&memstore, "r", "b", 5, 1, "one");
  Put(&memstore, "r", "a", 5, 2, "two");
  Put(&memstore, "r", "b", 9, 3, "three");
  const std::vector<Cell> deletes = {NewCell(CellKind::kDeleteFamily, "", 4, 4),
                                     NewCell(CellKind::kDeleteColumn, "b", 5, 4),
                                     NewCell(CellKind::kDeleteCell, "b", 9, 4)};
  memstore.Apply("r", deletes);
  BOOST_CHECK_EQUAL(Text(memstore, "r"),
                    "3@4#4= 0a@5#2=two 1b@9#4= 0b@9#3=three 2b@5#4= 0b@5#1=one ");
  BOOST_CHECK_EQUAL(Text(memstore, "r", SequenceNumber(2)), "0a@5#2=two 0b@5#1=one ");
  BOOST_CHECK_EQUAL(Text(memstore, "r", SequenceNumber(0)), "");
  BOOST_CHECK_EQUAL(memstore.min_sequence().value, 1u);
  BOOST_CHECK_EQUAL(memstore.max_sequence().value, 4u);
  BOOST_CHECK_EQUAL(memstore.min_timestamp(), 5);
  BOOST_CHECK_EQUAL(memstore.row_count(), 1u);
}

// Rows that are there, rows that are new, and rows that several operations of a call name.
BOOST_AUTO_TEST_CASE(OperationsOfOneCallAreAppliedOneAfterTheOther) {
  TestRandom random("operations of a call");
  Memstore together(Record());
  Memstore single(Record());
  uint64_t sequence = 0;
  for (size_t call = 0; call < Trials(400); ++call) {
    std::vector<std::string> rows(1 + random.Below(40));
    for (std::string& row : rows) row = std::to_string(random.Below(2'000));
    std::vector<std::vector<Cell>> cells(rows.size());
    std::vector<engine::RowOperation> operations;
    for (size_t i = 0; i < rows.size(); ++i) {
      ++sequence;
      for (uint64_t n = random.Below(3); n > 0; --n) {
        cells[i].push_back(NewCell(CellKind::kPut, n == 1 ? "a" : "c",
                                   static_cast<int64_t>(random.Below(100)), sequence, rows[i]));
      }
      operations.push_back({rows[i], cells[i]});
      single.Apply(rows[i], cells[i]);
    }
    together.Apply(operations);
  }
  BOOST_CHECK_EQUAL(together.row_count(), single.row_count());
  BOOST_CHECK_EQUAL(together.max_sequence().value, single.max_sequence().value);
  BOOST_CHECK_EQUAL(together.min_timestamp(), single.min_timestamp());
  Memstore::Iterator row(&together);
  Memstore::Iterator expected(&single);
  row.SeekToFirst();
  for (expected.SeekToFirst(); expected.valid(); expected.Next(), row.Next()) {
    BOOST_REQUIRE(row.valid());
    BOOST_REQUIRE_EQUAL(row.key(), expected.key());
    BOOST_REQUIRE_EQUAL(Text(together, row.key()), Text(single, row.key()));
  }
  BOOST_CHECK(!row.valid());
  const format::KeyRange all = format::PresentRange(together.table().indexes[0].columns[0]);
  BOOST_CHECK_GT(together.CountIndex(0, all), 0u);
  BOOST_CHECK_EQUAL(together.CountIndex(0, all), single.CountIndex(0, all));
}

BOOST_AUTO_TEST_CASE(LimitsOfKeysQualifiersAndValuesFit) {
  Memstore memstore(Record());
  const std::string row(65'535, '\xff');
  const std::string qualifier(2'048, '\0');
  const std::string value(64 * 1024, 'v');
  Put(&memstore, row, qualifier, INT64_MIN, 1, value);
  Put(&memstore, std::string(1, '\0'), "", INT64_MAX, 2, "");
  BOOST_CHECK(Text(memstore, row) ==
              "0" + qualifier + "@" + std::to_string(INT64_MIN) + "#1=" + value + " ");
  BOOST_CHECK_EQUAL(Text(memstore, std::string_view("\0", 1)),
                    "0@" + std::to_string(INT64_MAX) + "#2= ");
  BOOST_CHECK_EQUAL(memstore.min_timestamp(), INT64_MIN);
}

// Keys share prefixes of all lengths around the eight bytes that are in the node, and contain
// zeros, which the padded head cannot distinguish from the end of a key.
std::string RandomKey(TestRandom* random) {
  std::string key = "prefix";
  key.resize(random->Below(7));
  key += random->Text(6, std::string_view("\0\1\xff"
                                          "a",
                                          4));
  return key.empty() ? std::string(1, '\0') : key;
}

BOOST_AUTO_TEST_CASE(RowsAreFoundAndWalkedLikeASortedMap) {
  TestRandom random("RowsAreFoundAndWalkedLikeASortedMap");
  for (int round = 0; round < 20; ++round) {
    Memstore memstore(Record());
    std::map<std::string, std::string> reference;
    for (uint64_t i = 1; i <= 300; ++i) {
      const std::string key = RandomKey(&random);
      const std::string value = std::to_string(i);
      Put(&memstore, key, "q", static_cast<int64_t>(i), i, value);
      reference[key] = value;
    }
    BOOST_REQUIRE_EQUAL(memstore.row_count(), reference.size());
    Memstore::Iterator row(&memstore);
    row.SeekToFirst();
    for (const auto& [key, value] : reference) {
      BOOST_REQUIRE(row.valid());
      BOOST_REQUIRE(row.key() == key);
      std::vector<Cell> cells;
      Memstore::Cells(row.row(), format::kSequenceMax, &cells);
      BOOST_REQUIRE_EQUAL(cells.front().value, value);
      BOOST_REQUIRE(memstore.MayContain(format::RowHash(key, memstore.table().hash_secret)));
      row.Next();
    }
    BOOST_REQUIRE(!row.valid());
    row.SeekToLast();
    for (auto it = reference.rbegin(); it != reference.rend(); ++it) {
      BOOST_REQUIRE(row.valid() && row.key() == it->first);
      row.Previous();
    }
    BOOST_REQUIRE(!row.valid());
    for (int probe = 0; probe < 100; ++probe) {
      const std::string key = RandomKey(&random);
      const auto at = reference.lower_bound(key);
      row.Seek(key);
      BOOST_REQUIRE_EQUAL(row.valid(), at != reference.end());
      if (row.valid()) BOOST_REQUIRE(row.key() == at->first);
      row.SeekBefore(key);
      BOOST_REQUIRE_EQUAL(row.valid(), at != reference.begin());
      if (row.valid()) BOOST_REQUIRE(row.key() == std::prev(at)->first);
      BOOST_REQUIRE_EQUAL(memstore.Find(key) != nullptr, reference.contains(key));
    }
  }
}

BOOST_AUTO_TEST_CASE(AscendingDescendingAndRepeatedKeysFindTheirPlace) {
  for (const int step : {1, -1, 0}) {
    Memstore memstore(Record());
    std::set<std::string> reference;
    for (int i = 0; i < 2000; ++i) {
      const std::string key = "key" + std::to_string(100'000 + i * step);
      Put(&memstore, key, "q", 1, static_cast<uint64_t>(i) + 1, "v");
      reference.insert(key);
    }
    Memstore::Iterator row(&memstore);
    row.SeekToFirst();
    for (const std::string& key : reference) {
      BOOST_REQUIRE(row.valid() && row.key() == key);
      row.Next();
    }
    BOOST_REQUIRE(!row.valid());
  }
}

BOOST_AUTO_TEST_CASE(EveryRowIsFoundByItsHashAndNoOther) {
  Memstore memstore(Record());
  constexpr int kRows = 5'000;
  const auto hash = [&](int i) {
    return format::RowHash("row" + std::to_string(i), memstore.table().hash_secret);
  };
  // While the table grows and when it has grown.
  for (int i = 0; i < kRows; ++i) {
    const std::string key = "row" + std::to_string(i);
    BOOST_REQUIRE(!memstore.MayContain(hash(i)));
    Put(&memstore, key, "q", 1, static_cast<uint64_t>(i) + 1, "v");
    BOOST_REQUIRE(memstore.MayContain(hash(i)));
    const MemRow* row = memstore.Find(key, hash(i));
    BOOST_REQUIRE(row != nullptr);
    BOOST_REQUIRE_EQUAL(Memstore::Key(row), key);
  }
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 2 * kRows; ++i) hashes.push_back(hash(i));
  std::vector<const MemRow*> rows(hashes.size());
  memstore.FindEach(hashes, rows);
  for (int i = 0; i < kRows; ++i) {
    BOOST_REQUIRE(rows[i] != nullptr && rows[kRows + i] == nullptr);
    BOOST_REQUIRE_EQUAL(Memstore::Key(rows[i]), "row" + std::to_string(i));
  }
  // A row is its key, not its hash.
  BOOST_CHECK(memstore.Find("row1", hash(2)) == nullptr);
}

// Readers look rows up while the table grows under them.
BOOST_AUTO_TEST_CASE(RowsAreFoundByHashBesideTheWriter) {
  Memstore memstore(Record());
  constexpr uint64_t kRows = 20'000;
  std::atomic<uint64_t> published{0};
  std::atomic<bool> failed{false};
  const auto read = [&](uint64_t seed) {
    while (published.load() < kRows && !failed) {
      const uint64_t visible = published.load(std::memory_order_acquire);
      for (uint64_t i = seed; i < visible; i += 1 + visible / 64) {
        const std::string key = std::to_string(i);
        const MemRow* row = memstore.Find(key);
        if (row == nullptr || Memstore::Key(row) != key) failed = true;
      }
      if (memstore.Find(std::to_string(kRows + seed)) != nullptr) failed = true;
    }
  };
  std::thread first(read, 0), second(read, 1);
  for (uint64_t i = 0; i < kRows; ++i) {
    Put(&memstore, std::to_string(i), "q", 1, i + 1, "v");
    published.store(i + 1, std::memory_order_release);
  }
  first.join();
  second.join();
  BOOST_CHECK(!failed);
}

BOOST_AUTO_TEST_CASE(EveryPutOfAnIndexedColumnIsInItsBuffer) {
  Memstore memstore(Record());
  const format::IndexColumnRecord& column = memstore.table().indexes.front().columns.front();
  Put(&memstore, "a", "c", 1, 1, "x");
  Put(&memstore, "b", "c", 1, 2, "y");
  Put(&memstore, "c", "other", 1, 3, "x");
  Put(&memstore, "a", "c", 2, 4, "y");
  const auto rows_of = [&](std::string_view value, uint64_t max) {
    std::string key;
    BOOST_REQUIRE(format::AppendIndexKey(column, value, &key).ok());
    std::vector<const MemRow*> rows;
    memstore.CollectIndex(0, format::EqualRange(key), SequenceNumber(max), &rows);
    std::set<std::string> keys;
    for (const MemRow* row : rows) keys.emplace(Memstore::Key(row));
    std::string text;
    for (const std::string& row : keys) text += row;
    return text;
  };
  BOOST_CHECK_EQUAL(rows_of("x", 9), "a");
  BOOST_CHECK_EQUAL(rows_of("y", 9), "ab");
  BOOST_CHECK_EQUAL(rows_of("y", 3), "b");
  BOOST_CHECK_EQUAL(rows_of("z", 9), "");
}

// What a reader has seen of a row it goes on seeing; cells of one operation come together. Rows
// become trees meanwhile: of each operation a Put stays there, and what it took the place of does
// not.
BOOST_AUTO_TEST_CASE(ReadersBesideTheWriterSeeWholeOperations) {
  Memstore memstore(Record());
  constexpr uint64_t kOperations = 20'000;
  constexpr uint64_t kRows = 100;
  std::atomic<uint64_t> published{0};
  std::atomic<bool> failed{false};
  const auto read = [&] {
    std::vector<Cell> cells, shown;
    while (published.load() < kOperations && !failed) {
      const SequenceNumber visible(published.load(std::memory_order_acquire));
      Memstore::Iterator row(&memstore);
      uint64_t rows = 0, newest = 0;
      for (row.SeekToFirst(); row.valid(); row.Next()) {
        cells.clear();
        shown.clear();
        Memstore::Cells(row.row(), visible, &cells);
        format::VisibleCells(cells, memstore.table().families, {.sequence = visible}, &shown);
        if (shown.empty()) continue;
        // Operation i puts both columns of row i % kRows, each version at its own timestamp.
        ++rows;
        const bool is_whole = shown.size() % 2 == 0 && shown[0].qualifier == "a" &&
                              shown[shown.size() / 2].qualifier == "c" &&
                              shown[0].sequence == shown[shown.size() / 2].sequence &&
                              visible.value - shown[0].sequence.value < kRows;
        if (!is_whole) failed = true;
        newest = std::max(newest, shown[0].sequence.value);
      }
      if (rows != std::min(kRows, visible.value) || newest != visible.value) failed = true;
    }
  };
  std::thread first(read);
  std::thread second(read);
  for (uint64_t i = 1; i <= kOperations; ++i) {
    const auto at = static_cast<int64_t>(i);
    const std::vector<Cell> cells = {NewCell(CellKind::kPut, "a", at, i, "x"),
                                     NewCell(CellKind::kPut, "c", at, i, "y")};
    memstore.Apply(std::to_string(i % kRows), cells);
    published.store(i, std::memory_order_release);
  }
  first.join();
  second.join();
  BOOST_CHECK(!failed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
