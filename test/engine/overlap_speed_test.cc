// How long the walk for overlaps takes, and what queries gain from it; not run by default:
//   make build/test_engine && build/test_engine --run_test=overlap_speed
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/default_environment.h"
#include "engine/engine.h"
#include "engine/overlap_walk.h"
#include "format/store_file_writer.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr uint32_t kOlderRows = 2'000'000;
constexpr uint32_t kNewerRows = 100'000;

// Files of a table with three indexed columns and one that is not.
class Files {
 public:
  Files() : file_system_(base::NewPosixFileSystem()), random_(base::NewSeededRandom(1)) {
    table_.id = format::TableId(1);
    table_.name = "t";
    random_->Fill(table_.hash_secret);
    FamilyOptions family;
    family.name = "f";
    table_.families.push_back({format::FamilyId(0), family});
    for (uint32_t i = 0; i < 3; ++i) {
      format::IndexRecord index;
      index.id = format::IndexId(i + 1);
      index.name = std::string(1, static_cast<char>('a' + i));
      index.columns.push_back({format::FamilyId(0), index.name, ColumnType::kText, false});
      table_.indexes.push_back(index);
    }
    directory_ = file_system_->OpenDirectory(place_.path(), true).value();
  }

  struct File {
    std::shared_ptr<format::StoreFile> store;
    std::shared_ptr<const engine::RowRecord> record;
  };
  using CellsOf = std::function<void(uint32_t, std::vector<format::Cell>*)>;
  File Write(uint32_t rows, uint32_t step, const CellsOf& cells_of) {
    const std::string name = "f" + std::to_string(++count_);
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(count_);
    spec.id.bytes[0] = static_cast<uint8_t>(count_);
    spec.table = &table_;
    format::StoreFileWriter writer(directory_->Create(name).value(), spec);
    engine::RowRecord::Recorder recorder(table_, memory_);
    std::vector<format::Cell> cells;
    for (uint32_t i = 0; i < rows; ++i) {
      cells.clear();
      cells_of(i, &cells);
      BOOST_REQUIRE(writer.AddRow(KeyOf(i * step), cells).has_value());
      recorder.AddRow(KeyOf(i * step), cells);
    }
    BOOST_REQUIRE(writer.Finish().has_value());
    format::ExpectedFile expected;
    expected.number = spec.number;
    auto file = directory_->Open(name, base::OpenMode::kReadOnly).value();
    return {format::StoreFile::Open(std::move(file), expected, nullptr).value(), recorder.Finish()};
  }

  /// Three indexed Puts and a payload of 40 bytes, of one timestamp.
  void AppendRow(int64_t timestamp, std::vector<format::Cell>* cells) {
    static const std::string kPayload(40, 'x');
    static const std::string kNames[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; ++i) {
      values_[i] = "value" + std::to_string(random_->Next64() % 1000);
      cells->push_back(PutOf(kNames[i], timestamp, values_[i]));
    }
    cells->push_back(PutOf("payload", timestamp, kPayload));
  }
  static format::Cell PutOf(std::string_view name, int64_t timestamp, std::string_view value) {
    format::Cell cell;
    cell.qualifier = name;
    cell.timestamp = timestamp;
    cell.sequence = format::SequenceNumber(static_cast<uint64_t>(timestamp));
    cell.value = value;
    return cell;
  }
  uint64_t Random() { return random_->Next64(); }
  const format::TableRecord& table() const { return table_; }

  void Measure(const char* what, const std::vector<format::StoreFile*>& older, const File& file) {
    format::StoreFile* newer = file.store.get();
    for (int pass = 0; pass < 6; ++pass) {
      const engine::RowRecord* record = pass < 3 ? nullptr : file.record.get();
      const int64_t begin = clock_->MonotonicMicros();
      const auto pairs =
          engine::FindOverlaps({.table = table_, .newer = newer, .record = record, .older = older});
      const int64_t micros = clock_->MonotonicMicros() - begin;
      BOOST_REQUIRE(pairs.has_value());
      const engine::PairOverlap& pair = pairs->front();
      const index::RowSet* dead = pair.Dead(format::IndexId(1));
      std::fprintf(stderr,
                   "%-44s from %s %6.1f ns a row and older file; meets %u dead %u, %llu B, record "
                   "%.1f B a row\n",
                   what, record == nullptr ? "file  " : "record",
                   1000.0 * static_cast<double>(micros) / newer->row_count() /
                       static_cast<double>(older.size()),
                   pair.older_meets == nullptr ? 0 : pair.older_meets->count(),
                   dead == nullptr ? 0 : dead->count(),
                   static_cast<unsigned long long>(pair.size_bytes()),
                   static_cast<double>(file.record->size_bytes()) / newer->row_count());
    }
  }

 private:
  static std::string KeyOf(uint32_t row) {
    char key[32];
    std::snprintf(key, sizeof key, "user%012u", row);
    return key;
  }

  TemporaryDirectory place_;
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::Directory> directory_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  std::shared_ptr<engine::OverlapMemory> memory_ =
      std::make_shared<engine::OverlapMemory>(UINT64_MAX);
  format::TableRecord table_;
  uint64_t count_ = 0;
  std::string values_[3];
};

constexpr uint32_t kTableRows = 1'000'000;
constexpr uint32_t kUpdateFiles = 8;
constexpr uint32_t kValues = 1000;

// A table whose rows lie in one large file, and in eight newer ones that change the indexed column
// of three rows in ten.
class UpdatedTable {
 public:
  explicit UpdatedTable(bool with_overlaps) {
    options_.create_if_missing = true;
    environment_ = engine::DefaultEnvironment(options_).value();
    engine::Tuning tuning = engine::TuningFor(options_);
    tuning.compaction_runs = 1000;
    if (!with_overlaps) tuning.overlap_bytes = 0;
    engine_ = engine::Engine::Open(place_.Path("db"), options_, tuning, environment_).value();
    BOOST_REQUIRE(engine_->CreateTable(Options()).ok());
    for (uint32_t row = 0; row < kTableRows; ++row) Put(row, true);
    Compact();
    for (uint32_t file = 0; file < kUpdateFiles; ++file) {
      for (uint32_t i = 0; i < kTableRows * 3 / 10 / kUpdateFiles; ++i) {
        Put(static_cast<uint32_t>(random_->Next64() % kTableRows), false);
      }
      Send();
      BOOST_REQUIRE(engine_->Flush("t").ok());
    }
    environment_.executor->Drain();
  }

  void Compact() {
    Send();
    BOOST_REQUIRE(engine_->Compact("t").ok());
    environment_.executor->Drain();
  }

  void Measure(const char* what, bool only_indexed) {
    ReadOptions read;
    if (only_indexed) read.columns.push_back({"f", "c"});
    uint64_t rows = 0;
    int64_t best = INT64_MAX;
    for (int pass = 0; pass < 5; ++pass) {
      rows = 0;
      const int64_t begin = clock_->MonotonicMicros();
      for (uint32_t value = 0; value < kValues; value += 10) rows += CountRows(read, value);
      best = std::min(best, clock_->MonotonicMicros() - begin);
    }
    const int64_t begin = clock_->MonotonicMicros();
    for (uint32_t value = 0; value < kValues; value += 10) {
      BOOST_REQUIRE(engine_->Count({}, "t", IsValue(value), {}).has_value());
    }
    const int64_t counting = clock_->MonotonicMicros() - begin;
    const Explanation explained = engine_->Explain(read, "t", IsValue(0), {}).value();
    std::fprintf(stderr,
                 "%-36s %-11s %6.0f ns a row; counting %5.0f; settled by bitmap %llu, filter %llu; "
                 "unsettled %llu\n",
                 what, only_indexed ? "one column" : "whole rows",
                 1000.0 * static_cast<double>(best) / static_cast<double>(rows),
                 1000.0 * static_cast<double>(counting) / static_cast<double>(rows),
                 static_cast<unsigned long long>(explained.settled_by_bitmap),
                 static_cast<unsigned long long>(explained.settled_by_filter),
                 static_cast<unsigned long long>(explained.unsettled_rows));
  }

 private:
  static TableOptions Options() {
    TableOptions table;
    table.name = "t";
    table.families.push_back({.name = "f"});
    table.indexes.push_back({.name = "by_c", .columns = {{.family = "f", .qualifier = "c"}}});
    return table;
  }
  static std::string ValueOf(uint32_t value) { return "value" + std::to_string(value); }
  static Predicate IsValue(uint32_t value) { return Predicate::Equal("f:c", ValueOf(value)); }

  void Put(uint32_t row, bool whole) {
    char key[32];
    std::snprintf(key, sizeof key, "user%012u", row);
    batch_.Put("t", key, "f", "c", ValueOf(static_cast<uint32_t>(random_->Next64() % kValues)));
    if (whole) batch_.Put("t", key, "f", "payload", std::string(60, 'x'));
    if (batch_.operation_count() >= 1000) Send();
  }
  void Send() {
    BOOST_REQUIRE(engine_->Write({.durability = Durability::kMemory}, batch_).ok());
    batch_ = WriteBatch();
  }
  uint64_t CountRows(const ReadOptions& read, uint32_t value) {
    Cursor cursor = engine_->Query(read, "t", IsValue(value), {}).value();
    uint64_t rows = 0;
    while (cursor.Next()) ++rows;
    BOOST_REQUIRE(cursor.status().ok());
    return rows;
  }

  TemporaryDirectory place_;
  tandem::Options options_;
  engine::Environment environment_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<base::RandomSource> random_ = base::NewSeededRandom(1);
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  WriteBatch batch_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(overlap_speed, *boost::unit_test::disabled())

BOOST_AUTO_TEST_CASE(OneNewerFileAgainstALargeOne) {
  Files files;
  using Cells = std::vector<format::Cell>;
  const auto older = files.Write(
      kOlderRows, 2, [&](uint32_t row, Cells* cells) { files.AppendRow(1 + row, cells); });
  const int64_t later = kOlderRows + 1;
  const auto newer_row = [&](uint32_t, Cells* cells) { files.AppendRow(later, cells); };
  const auto update = files.Write(kNewerRows, 40, newer_row);
  files.Measure("whole rows, every 20th of the older file", {older.store.get()}, update);
  const auto dense = files.Write(kNewerRows, 2, newer_row);
  files.Measure("whole rows, neighbours", {older.store.get()}, dense);
  const auto fresh = files.Write(kNewerRows, 39, newer_row);
  files.Measure("one row in 2 new, 39 apart", {older.store.get()}, fresh);
  const auto column = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    cells->push_back(Files::PutOf("a", later, "new"));
  });
  files.Measure("one column", {older.store.get()}, column);
  const auto deletes = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    format::Cell cell = Files::PutOf("", later, "");
    cell.kind = format::CellKind::kDeleteFamily;
    cells->push_back(cell);
  });
  files.Measure("deleted rows", {older.store.get()}, deletes);
  const auto random = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    files.AppendRow(static_cast<int64_t>(files.Random() % (2 * kOlderRows)), cells);
  });
  files.Measure("timestamps in any order, to twice the older", {older.store.get()}, random);
  const auto thin = files.Write(kNewerRows / 10, 400, newer_row);
  files.Measure("whole rows, every 200th of the older file", {older.store.get()}, thin);
  files.Measure("four older files",
                {older.store.get(), dense.store.get(), column.store.get(), deletes.store.get()},
                random);
  (void)older.store->KeyHashes();
  files.Measure("whole rows, key hashes in memory", {older.store.get()}, update);
  files.Measure("every 200th, key hashes in memory", {older.store.get()}, thin);
}

BOOST_AUTO_TEST_CASE(QueriesOverUpdateFiles) {
  for (const bool with_overlaps : {false, true}) {
    UpdatedTable table(with_overlaps);
    const char* what =
        with_overlaps ? "eight update files, overlaps" : "eight update files, filters";
    table.Measure(what, false);
    table.Measure(what, true);
    if (!with_overlaps) continue;
    table.Compact();
    table.Measure("compacted", false);
    table.Measure("compacted", true);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
