// What a flush records of its rows: every key and every timestamp comes back, memory is bounded,
// and the search for overlaps makes of it what it makes of the file, or more of wide rows.
#define BOOST_TEST_DYN_LINK
#include "engine/region/flushed_rows.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/jobs/overlap_walk.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::FlushedRows;

format::IndexColumnRecord ColumnOf(uint8_t family, const std::string& qualifier) {
  return {format::FamilyId(family), qualifier, ColumnType::kBytes, false};
}

// All columns of a family.
format::IndexColumnRecord FamilyOf(uint8_t family) {
  format::IndexColumnRecord column = ColumnOf(family, "");
  column.functions = {Function::MapKeys()};
  return column;
}

format::TableRecord TableOf(const std::vector<format::IndexColumnRecord>& columns) {
  format::TableRecord table;
  for (const format::IndexColumnRecord& column : columns) {
    format::IndexRecord& index = table.indexes.emplace_back();
    index.id = format::IndexId(static_cast<uint32_t>(table.indexes.size()));
    index.columns = {column};
  }
  return table;
}

struct PlainRow {
  std::string key;
  std::vector<format::Cell> cells;  // Qualifiers are of kQualifiers.
};

const std::string kQualifiers[] = {"", "a", "ab", "b", "payload"};

// How the timestamps of a trial are spread.
int64_t TimestampOf(TestRandom& random, uint64_t spread) {
  switch (spread) {
    case 0:
      return 7;
    case 1:
      return static_cast<int64_t>(random.Below(200));
    case 2:
      return 1'700'000'000'000'000 + static_cast<int64_t>(random.Below(60'000));
    case 3:
      return 1'700'000'000'000'000 + static_cast<int64_t>(random.Below(4'000'000'000));
    default:
      return static_cast<int64_t>(random.Next() | 1);  // Not the least of all.
  }
}

PlainRow RandomRow(TestRandom& random, uint64_t spread, std::string key) {
  PlainRow row{std::move(key), {}};
  const int64_t common = TimestampOf(random, spread);
  for (uint64_t i = 1 + random.Below(6); i > 0; --i) {
    format::Cell cell;
    cell.kind =
        random.OneIn(3) ? static_cast<format::CellKind>(random.Below(4)) : format::CellKind::kPut;
    cell.family = format::FamilyId(static_cast<uint8_t>(random.Below(3)));
    if (cell.kind != format::CellKind::kDeleteFamily) {
      cell.qualifier = kQualifiers[random.Below(std::size(kQualifiers))];
    }
    cell.timestamp = random.OneIn(2) ? common : TimestampOf(random, spread);
    row.cells.push_back(cell);
  }
  std::sort(row.cells.begin(), row.cells.end(), format::CellLess);
  return row;
}

// Rules 13 and 32: the newest of what touches the column, of a family the newest DeleteFamily.
int64_t NewestOf(const PlainRow& row, const format::IndexColumnRecord& column) {
  int64_t newest = engine::kSupersedesNothing;
  for (const format::Cell& cell : row.cells) {
    if (cell.family != column.family || cell.kind == format::CellKind::kDeleteCell) continue;
    const bool touches = cell.kind == format::CellKind::kDeleteFamily ||
                         (!column.is_of_family() && cell.qualifier == column.qualifier);
    if (touches) newest = std::max(newest, cell.timestamp);
  }
  return newest;
}

void CheckRange(const std::vector<int64_t>& newest, const engine::SupersededRange& range) {
  engine::SupersededRange expected;
  for (const int64_t timestamp : newest) {
    expected.every = expected.every && timestamp != engine::kSupersedesNothing;
    if (timestamp == engine::kSupersedesNothing) continue;
    expected.min = std::min(expected.min, timestamp);
    expected.max = std::max(expected.max, timestamp);
  }
  BOOST_REQUIRE_EQUAL(range.min, expected.min);
  BOOST_REQUIRE_EQUAL(range.max, expected.max);
  BOOST_REQUIRE_EQUAL(range.every, expected.every);
}

void CheckRecord(const FlushedRows& record, const std::vector<PlainRow>& rows,
                 const std::vector<format::IndexColumnRecord>& columns, TestRandom& random) {
  BOOST_REQUIRE_EQUAL(record.row_count(), rows.size());
  std::vector<std::vector<int64_t>> all(columns.size());
  FlushedRows::Cursor cursor(record);
  uint32_t ordinal = 0;
  for (uint32_t chunk = 0; chunk < record.chunk_count(); ++chunk) {
    BOOST_REQUIRE_EQUAL(record.first(chunk), ordinal);
    BOOST_REQUIRE_LE(record.row_count(chunk), FlushedRows::kChunkRows);
    cursor.Enter(chunk);
    std::vector<std::vector<int64_t>> newest(columns.size());
    for (uint32_t slot = 0; slot < record.row_count(chunk); ++slot, ++ordinal) {
      if (!random.OneIn(3)) BOOST_REQUIRE_EQUAL(cursor.Key(slot), rows[ordinal].key);
      for (size_t i = 0; i < columns.size(); ++i) {
        newest[i].push_back(NewestOf(rows[ordinal], columns[i]));
        BOOST_REQUIRE_EQUAL(cursor.Newest(slot, *record.Find(columns[i])), newest[i].back());
      }
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      CheckRange(newest[i], record.range(chunk, *record.Find(columns[i])));
      all[i].insert(all[i].end(), newest[i].begin(), newest[i].end());
    }
  }
  BOOST_REQUIRE_EQUAL(ordinal, rows.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    CheckRange(all[i], record.range(*record.Find(columns[i])));
  }
}

std::vector<PlainRow> RandomRows(TestRandom& random) {
  const uint64_t spread = random.Below(5);
  const size_t key_bytes = random.OneIn(8) ? 5000 : 1 + random.Below(30);
  std::map<std::string, PlainRow> rows;
  for (size_t i = random.OneIn(3) ? 2000 : 1 + random.Below(40); i > 0; --i) {
    const std::string key = "k" + random.Text(key_bytes, "ab");
    rows.emplace(key, RandomRow(random, spread, key));
  }
  std::vector<PlainRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

const std::vector<format::IndexColumnRecord> kColumns = {
    ColumnOf(1, "b"), FamilyOf(1),       ColumnOf(0, "a"), ColumnOf(1, ""),
    ColumnOf(0, "a"), ColumnOf(2, "ab"), FamilyOf(2)};

// An older file of small rows and a newer one in which some are wide.
class WideHistory {
 public:
  explicit WideHistory(TestRandom& random) : random_(random), world_(Options()) {}

  void WriteOlder() {
    for (uint32_t row = 0; row < kRows; ++row) {
      for (size_t i = 0; i < 2; ++i) {
        const auto timestamp = static_cast<int64_t>(1 + random_.Below(7));
        newest_older_[i] = std::max(newest_older_[i], timestamp);
        Apply(row, i, ModelOperation::Kind::kPut, timestamp);
      }
    }
    world_.Flush(0);
  }

  void WriteNewer() {
    for (uint32_t row = 0; row < kRows; ++row) {
      if (row > 0 && random_.OneIn(3)) continue;
      met_.push_back(row);
      is_wide_[row] = random_.OneIn(2);
      PutOthers(row, is_wide_[row] ? 40 : 1);
      for (size_t i = 0; i < 2; ++i) {
        if (random_.OneIn(3)) continue;
        constexpr ModelOperation::Kind kKinds[] = {ModelOperation::Kind::kPut,
                                                   ModelOperation::Kind::kDeleteColumn,
                                                   ModelOperation::Kind::kDeleteFamily};
        const auto timestamp = static_cast<int64_t>(1 + random_.Below(9));
        const ModelOperation::Kind kind = kKinds[random_.Below(3)];
        Apply(row, i, kind, timestamp);
        dies_[i][row] = timestamp >= newest_older_[i];
        const bool is_of_family = i == 0 && kind == ModelOperation::Kind::kDeleteFamily;
        if (is_of_family) dies_[2][row] = dies_[0][row];
      }
    }
    world_.Flush(0);
  }

  void Check() {
    const auto record = world_.region(0).files[1].file->record();
    const engine::PairOverlap recorded = Walk(record.get()), read = Walk(nullptr);
    BOOST_REQUIRE(*recorded.older_shared == *read.older_shared);
    BOOST_REQUIRE(*recorded.newer_shared == *read.newer_shared);
    BOOST_REQUIRE_EQUAL(recorded.older_shared->count(), met_.size());
    for (size_t i = 0; i < 3; ++i) {
      const format::IndexId index = world_.table().indexes[i].id;
      for (uint32_t row = 0; row < kRows; ++row) {
        BOOST_REQUIRE_EQUAL(Has(recorded.Dead(index), row), dies_[i][row]);
        const bool is_found = Has(read.Dead(index), row);
        BOOST_REQUIRE(is_found == dies_[i][row] || (dies_[i][row] && is_wide_[row]));
      }
    }
  }

 private:
  static constexpr uint32_t kRows = 12;
  static WorldOptions Options() {
    WorldOptions options;
    for (const char* name : {"f", "g"}) options.families.push_back({.name = name});
    options.indexes.push_back({"by_a", {{"f", "a", ColumnType::kText, false}}});
    options.indexes.push_back({"by_b", {{"g", "b", ColumnType::kText, false}}});
    IndexColumn keys;
    keys.family = "f";
    keys.functions = {Function::MapKeys()};
    options.indexes.push_back({"by_keys", {keys}});
    return options;
  }
  static bool Has(const engine::RowSet* rows, uint32_t row) {
    return rows != nullptr && rows->Contains(row);
  }

  void Apply(uint32_t row, size_t index, ModelOperation::Kind kind, int64_t timestamp) {
    ModelOperation operation;
    operation.table = kWorldTable;
    operation.row = "r" + std::to_string(100 + row);
    operation.family = index == 0 ? "f" : "g";
    operation.kind = kind;
    operation.timestamp = timestamp;
    operation.columns = {{index == 0 ? "a" : "b", "1"}};
    world_.Apply(operation);
  }
  void PutOthers(uint32_t row, int columns) {
    ModelOperation put;
    put.table = kWorldTable;
    put.row = "r" + std::to_string(100 + row);
    put.family = random_.OneIn(2) ? "f" : "g";
    for (int i = 0; i < columns; ++i) {
      put.columns.emplace_back("x" + std::to_string(100 + i), std::string(2000, 'x'));
    }
    world_.Apply(put);
  }
  engine::PairOverlap Walk(const FlushedRows* record) {
    const std::vector<engine::FileSlice>& files = world_.region(0).files;
    format::StoreFile* const older = &files[0].file->store();
    auto pairs = engine::FindOverlaps({.table = world_.table(),
                                       .newer = &files[1].file->store(),
                                       .record = record,
                                       .older = {&older, 1}});
    BOOST_REQUIRE_MESSAGE(pairs.has_value(), pairs.status().ToString());
    return std::move((*pairs)[0]);
  }

  TestRandom& random_;
  ReadWorld world_;
  int64_t newest_older_[2] = {0, 0};
  std::vector<uint32_t> met_;
  bool is_wide_[kRows] = {};
  bool dies_[3][kRows] = {};  // By index.
};

}  // namespace

BOOST_AUTO_TEST_SUITE(row_record)

BOOST_AUTO_TEST_CASE(EveryKeyAndTimestampComesBack) {
  TestRandom random("row_record/EveryKeyAndTimestampComesBack");
  for (size_t i = 0; i < Trials(150); ++i) {
    const std::vector<format::IndexColumnRecord> none;
    const std::vector<format::IndexColumnRecord>& columns = random.OneIn(8) ? none : kColumns;
    const format::TableRecord table = TableOf(columns);
    const auto memory = std::make_shared<engine::OverlapMemory>(UINT64_MAX);
    const std::vector<PlainRow> rows = RandomRows(random);
    FlushedRows::Recorder recorder(table, memory);
    for (const PlainRow& row : rows) recorder.AddRow(row.key, row.cells);
    auto record = recorder.Finish();
    BOOST_REQUIRE(record != nullptr);
    BOOST_REQUIRE_EQUAL(memory->used_bytes(), record->size_bytes());
    BOOST_REQUIRE(!record->Find(ColumnOf(2, "a")).has_value());
    CheckRecord(*record, rows, columns, random);
    record.reset();
    BOOST_REQUIRE_EQUAL(memory->used_bytes(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(RowsWrittenAtOnceTakeTheirKeysAlone) {
  const auto memory = std::make_shared<engine::OverlapMemory>(UINT64_MAX);
  FlushedRows::Recorder recorder(TableOf({ColumnOf(0, "a"), ColumnOf(0, "b")}), memory);
  std::vector<format::Cell> cells(2);
  cells[0].qualifier = "a";
  cells[1].qualifier = "b";
  cells[0].timestamp = cells[1].timestamp = 1'700'000'000'000'000;
  for (int i = 0; i < 10'000; ++i) recorder.AddRow("user" + std::to_string(100'000 + i), cells);
  BOOST_CHECK_LT(recorder.Finish()->size_bytes(), 10'000u * 4);
}

BOOST_AUTO_TEST_CASE(ARecorderWithoutMemoryLetsGoOfEverything) {
  TestRandom random("row_record/ARecorderWithoutMemoryLetsGoOfEverything");
  const auto memory = std::make_shared<engine::OverlapMemory>(40'000);
  FlushedRows::Recorder recorder(TableOf(kColumns), memory);
  bool had_some = false;
  for (int i = 0; i < 20'000; ++i) {
    const PlainRow row = RandomRow(random, 4, std::to_string(100'000 + i));
    recorder.AddRow(row.key, row.cells);
    had_some = had_some || memory->used_bytes() > 0;
  }
  BOOST_CHECK(had_some);
  BOOST_CHECK_EQUAL(memory->used_bytes(), 0u);
  BOOST_CHECK(recorder.Finish() == nullptr);
}

BOOST_AUTO_TEST_CASE(TheWalkReadsNoRowOfTheNewerFile) {
  WorldOptions options;
  options.families.push_back({.name = "f", .block_size_bytes = 512});
  options.indexes.push_back({"by_a", {{"f", "a", ColumnType::kText, false}}});
  options.cache_bytes = 0;
  ReadWorld world(options);
  for (int file = 0; file < 2; ++file) {
    for (int row = 0; row < 1000; row += 1 + file) {
      ModelOperation put;
      put.table = kWorldTable;
      put.row = "row" + std::to_string(1000 + row);
      put.family = "f";
      put.columns = {{"a", "1"}};
      put.timestamp = 1 + (row * 7) % 1000;
      world.Apply(put);
    }
    world.Flush(0);
  }
  format::StoreFile& newer = world.region(0).files[1].file->store();
  const auto record = world.region(0).files[1].file->record();
  format::StoreFile* const older = &world.region(0).files[0].file->store();
  uint64_t end = 0;  // Of the rows, which come first.
  for (const format::SectionEntry& section : newer.sections()) {
    if (section.kind == format::SectionKind::kData) end = section.offset + section.size_bytes;
  }
  BOOST_REQUIRE_GT(end, 4000u);
  for (const bool from_record : {false, true}) {
    world.disk().control().SetTracing(true);
    const auto pairs = engine::FindOverlaps({.table = world.table(),
                                             .newer = &newer,
                                             .record = from_record ? record.get() : nullptr,
                                             .older = {&older, 1}});
    BOOST_REQUIRE(pairs.has_value());
    BOOST_REQUIRE_EQUAL((*pairs)[0].newer_shared->count(), 500u);
    const std::vector<DiskEvent> trace = world.disk().control().TakeTrace();
    const bool reads_rows = std::any_of(trace.begin(), trace.end(), [&](const DiskEvent& event) {
      return event.operation == DiskOperation::kRead && event.offset < end;
    });
    BOOST_CHECK_EQUAL(reads_rows, !from_record);
  }
}

// What a wide row supersedes is known to its flush; to the walk over its file only what it deletes.
BOOST_AUTO_TEST_CASE(WideRowsKillByRuleThirteen) {
  TestRandom random("row_record/WideRowsKillByRuleThirteen");
  for (size_t trial = 0; trial < Trials(12); ++trial) {
    WideHistory history(random);
    history.WriteOlder();
    history.WriteNewer();
    history.Check();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
