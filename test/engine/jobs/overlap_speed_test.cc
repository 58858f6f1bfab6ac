// How long the walk for overlaps takes, and what queries gain from it; not run by default:
//   make build/test_engine && build/test_engine --run_test=overlap_speed
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/default_environment.h"
#include "engine/engine.h"
#include "engine/jobs/overlap_walk.h"
#include "store_file/writer.h"
#include "test/support/temporary_directory.h"
#include "tools/simulation/inline_executor.h"

namespace tandem::test {
namespace {

constexpr uint32_t kOlderRows = 2'000'000;
constexpr uint32_t kNewerRows = 100'000;

// Of this process: what the disk and other programs do is not of interest.
int64_t ProcessorMicros() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

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
    std::shared_ptr<const engine::FlushedRows> record;
    double recording_nanos = 0;  // A row.
  };
  using CellsOf = std::function<void(uint32_t, std::vector<format::Cell>*)>;
  File Write(uint32_t rows, uint32_t step, const CellsOf& cells_of) {
    const std::string name = "f" + std::to_string(++count_);
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(count_);
    spec.id.bytes[0] = static_cast<uint8_t>(count_);
    spec.table = &table_;
    format::StoreFileWriter writer(directory_->Create(name).value(), spec);
    std::vector<Row> recorded(rows == kOlderRows ? 0 : rows);
    std::vector<format::Cell> cells;
    for (uint32_t i = 0; i < rows; ++i) {
      cells.clear();
      cells_of(i, &cells);
      const std::string key = KeyOf(i * step);
      BOOST_REQUIRE(writer.AddRow(key, cells).has_value());
      if (!recorded.empty()) recorded[i] = {key, cells};
    }
    BOOST_REQUIRE(writer.Finish().has_value());
    format::ExpectedFile expected;
    expected.number = spec.number;
    auto file = directory_->Open(name, base::OpenMode::kReadOnly).value();
    File result;
    result.store = format::StoreFile::Open(std::move(file), expected, nullptr).value();
    Record(recorded, &result);
    return result;
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
      const engine::FlushedRows* record = pass < 3 ? nullptr : file.record.get();
      const int64_t begin = ProcessorMicros();
      const auto pairs =
          engine::FindOverlaps({.table = table_, .newer = newer, .record = record, .older = older});
      const int64_t micros = ProcessorMicros() - begin;
      BOOST_REQUIRE(pairs.has_value());
      const engine::PairOverlap& pair = pairs->front();
      const engine::RowSet* dead = pair.Dead(format::IndexId(1));
      std::fprintf(
          stderr,
          "%-44s from %s %6.1f ns a row and older file; recording %.1f ns, %.1f B a row; "
          "shared %u dead %u, %llu B\n",
          what, record == nullptr ? "file  " : "record",
          1000.0 * static_cast<double>(micros) / newer->row_count() /
              static_cast<double>(older.size()),
          file.recording_nanos, static_cast<double>(file.record->size_bytes()) / newer->row_count(),
          pair.older_shared == nullptr ? 0 : pair.older_shared->count(),
          dead == nullptr ? 0 : dead->count(), static_cast<unsigned long long>(pair.size_bytes()));
    }
  }

 private:
  struct Row {
    std::string key;
    std::vector<format::Cell> cells;  // Their values are gone.
  };
  void Record(const std::vector<Row>& rows, File* file) {
    for (int pass = 0; pass < 3 && !rows.empty(); ++pass) {
      engine::FlushedRows::Recorder recorder(table_, memory_);
      const int64_t begin = ProcessorMicros();
      for (const Row& row : rows) recorder.AddRow(row.key, row.cells);
      file->record = recorder.Finish();
      const double nanos = 1000.0 * static_cast<double>(ProcessorMicros() - begin) /
                           static_cast<double>(rows.size());
      file->recording_nanos = pass == 0 ? nanos : std::min(nanos, file->recording_nanos);
    }
  }

  static std::string KeyOf(uint32_t row) {
    char key[32];
    std::snprintf(key, sizeof key, "user%012u", row);
    return key;
  }

  TemporaryDirectory place_;
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::Directory> directory_;
  std::unique_ptr<base::RandomSource> random_;
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
    std::fprintf(
        stderr,
        "%-36s %-11s %6.0f ns a row; counting %5.0f; single-source by bitmap %llu, filter %llu; "
        "merged %llu\n",
        what, only_indexed ? "one column" : "whole rows",
        1000.0 * static_cast<double>(best) / static_cast<double>(rows),
        1000.0 * static_cast<double>(counting) / static_cast<double>(rows),
        static_cast<unsigned long long>(explained.single_source_by_bitmap),
        static_cast<unsigned long long>(explained.single_source_by_filter),
        static_cast<unsigned long long>(explained.merged_rows));
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

// A table of three indexed columns in an engine: one large file, and flushes of newer rows.
class FlushedTable {
 public:
  explicit FlushedTable(bool with_overlaps) : with_overlaps_(with_overlaps) {
    options_.create_if_missing = true;
    options_.memory_bytes = 4ull << 30;
    environment_ = engine::DefaultEnvironment(options_).value();
    environment_.executor = &executor_;
    engine::Tuning tuning = engine::TuningFor(options_);
    tuning.compaction_runs = 1000;
    if (!with_overlaps) tuning.overlap_bytes = 0;
    engine_ = engine::Engine::Open(place_.Path("db"), options_, tuning, environment_).value();
    TableOptions table;
    table.name = "t";
    table.families.push_back({.name = "f"});
    for (const char* name : {"a", "b", "c"}) {
      table.indexes.push_back({.name = name, .columns = {{.family = "f", .qualifier = name}}});
    }
    BOOST_REQUIRE(engine_->CreateTable(table).ok());
    for (uint32_t row = 0; row < kOlderRows; ++row) Put(row * 2, 1 + row);
    CompactAll();
  }

  /// Writes rows `step` apart by `write`, flushes them, and waits until their overlaps with the
  /// large file are built. The best of five in processor time, since the disk says
  /// nothing about either.
  void Measure(const char* what, uint32_t step, const std::function<void(uint32_t)>& write) {
    int64_t flush = INT64_MAX, build = INT64_MAX;
    for (int pass = 0; pass < 5; ++pass) {
      for (uint32_t i = 0; i < kNewerRows; ++i) write(i * step);
      Send();
      const int64_t begin = ProcessorMicros();
      BOOST_REQUIRE(engine_->Flush("t").ok());
      const int64_t flushed = ProcessorMicros();
      executor_.Drain();
      flush = std::min(flush, flushed - begin);
      build = std::min(build, ProcessorMicros() - flushed);
      CompactAll();
    }
    const auto nanos = [](int64_t micros) {
      return 1000.0 * static_cast<double>(micros) / kNewerRows;
    };
    std::fprintf(stderr, "%-44s %s: flush %7.1f ns a row, then overlaps %6.1f ns\n", what,
                 with_overlaps_ ? "with overlaps" : "without      ", nanos(flush), nanos(build));
  }

  void Put(uint32_t row, int64_t timestamp) {
    static const std::string kNames[] = {"a", "b", "c"};
    static const std::string kPayload(40, 'x');
    std::string values[3];
    std::vector<ColumnValue> columns;
    for (size_t i = 0; i < 3; ++i) {
      values[i] = "value" + std::to_string(random_->Next64() % 1000);
      columns.push_back({kNames[i], values[i]});
    }
    columns.push_back({"payload", kPayload});
    batch_.PutColumns("t", KeyOf(row), "f", columns, timestamp);
    SendFull();
  }
  void PutOne(uint32_t row, int64_t timestamp) {
    batch_.Put("t", KeyOf(row), "f", "a", "new", timestamp);
    SendFull();
  }
  void Delete(uint32_t row, int64_t timestamp) {
    batch_.DeleteFamily("t", KeyOf(row), "f", timestamp);
    SendFull();
  }
  int64_t later() const { return later_; }
  int64_t AnyTime() {
    return static_cast<int64_t>(random_->Next64() % static_cast<uint64_t>(2 * later_));
  }

 private:
  static std::string KeyOf(uint32_t row) {
    char key[32];
    std::snprintf(key, sizeof key, "user%012u", row);
    return key;
  }
  // One file again; without overlaps nothing depends on how many there are.
  void CompactAll() {
    Send();
    if (with_overlaps_ || later_ == kFirstLater) BOOST_REQUIRE(engine_->Compact("t").ok());
    executor_.Drain();
    ++later_;
  }
  void SendFull() {
    if (batch_.operation_count() >= 1000) Send();
  }
  void Send() {
    if (batch_.operation_count() == 0) return;
    BOOST_REQUIRE(engine_->Write({.durability = Durability::kMemory}, batch_).ok());
    batch_.Clear();
  }

  static constexpr int64_t kFirstLater = kOlderRows + 1;
  const bool with_overlaps_;
  TemporaryDirectory place_;
  tandem::Options options_;
  ManualClock delays_;  // Of jobs; there are none.
  InlineExecutor executor_{delays_};
  engine::Environment environment_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<base::RandomSource> random_ = base::NewSeededRandom(1);
  WriteBatch batch_;
  int64_t later_ = kFirstLater;
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

BOOST_AUTO_TEST_CASE(FlushesOfAnEngine) {
  for (const bool with_overlaps : {false, true}) {
    FlushedTable table(with_overlaps);
    const auto put = [&](uint32_t row) { table.Put(row, table.later()); };
    table.Measure("whole rows, every 20th of the older file", 40, put);
    table.Measure("whole rows, neighbours", 2, put);
    table.Measure("one row in 2 new, 39 apart", 39, put);
    table.Measure("one column", 40, [&](uint32_t row) { table.PutOne(row, table.later()); });
    table.Measure("timestamps in any order, to twice the older", 40,
                  [&](uint32_t row) { table.Put(row, table.AnyTime()); });
    table.Measure("deleted rows", 40, [&](uint32_t row) { table.Delete(row, table.later()); });
  }
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
