// How long the walk for overlaps takes; not run by default:
//   make build/test_engine && build/test_engine --run_test=overlap_speed
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
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

  using CellsOf = std::function<void(uint32_t, std::vector<format::Cell>*)>;
  std::shared_ptr<format::StoreFile> Write(uint32_t rows, uint32_t step, const CellsOf& cells_of) {
    const std::string name = "f" + std::to_string(++count_);
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(count_);
    spec.id.bytes[0] = static_cast<uint8_t>(count_);
    spec.table = &table_;
    format::StoreFileWriter writer(directory_->Create(name).value(), spec);
    std::vector<format::Cell> cells;
    for (uint32_t i = 0; i < rows; ++i) {
      cells.clear();
      cells_of(i, &cells);
      BOOST_REQUIRE(writer.AddRow(KeyOf(i * step), cells).has_value());
    }
    BOOST_REQUIRE(writer.Finish().has_value());
    format::ExpectedFile expected;
    expected.number = spec.number;
    return format::StoreFile::Open(directory_->Open(name, base::OpenMode::kReadOnly).value(),
                                   expected, nullptr)
        .value();
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

  void Measure(const char* what, const std::vector<format::StoreFile*>& older,
               format::StoreFile* newer) {
    for (int pass = 0; pass < 3; ++pass) {
      const int64_t begin = clock_->MonotonicMicros();
      const auto pairs = engine::FindOverlaps({.table = table_, .newer = newer, .older = older});
      const int64_t micros = clock_->MonotonicMicros() - begin;
      BOOST_REQUIRE(pairs.has_value());
      const engine::PairOverlap& pair = pairs->front();
      const index::RowSet* dead = pair.Dead(format::IndexId(1));
      std::fprintf(stderr, "%-44s pass %d %6.1f ns a row and older file; meets %u dead %u %llu B\n",
                   what, pass,
                   1000.0 * static_cast<double>(micros) / newer->row_count() /
                       static_cast<double>(older.size()),
                   pair.older_meets == nullptr ? 0 : pair.older_meets->count(),
                   dead == nullptr ? 0 : dead->count(),
                   static_cast<unsigned long long>(pair.size_bytes()));
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
  format::TableRecord table_;
  uint64_t count_ = 0;
  std::string values_[3];
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
  files.Measure("whole rows, every 20th of the older file", {older.get()}, update.get());
  const auto dense = files.Write(kNewerRows, 2, newer_row);
  files.Measure("whole rows, neighbours", {older.get()}, dense.get());
  const auto fresh = files.Write(kNewerRows, 39, newer_row);
  files.Measure("one row in 2 new, 39 apart", {older.get()}, fresh.get());
  const auto column = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    cells->push_back(Files::PutOf("a", later, "new"));
  });
  files.Measure("one column", {older.get()}, column.get());
  const auto deletes = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    format::Cell cell = Files::PutOf("", later, "");
    cell.kind = format::CellKind::kDeleteFamily;
    cells->push_back(cell);
  });
  files.Measure("deleted rows", {older.get()}, deletes.get());
  const auto random = files.Write(kNewerRows, 40, [&](uint32_t, Cells* cells) {
    files.AppendRow(static_cast<int64_t>(files.Random() % (2 * kOlderRows)), cells);
  });
  files.Measure("timestamps in any order, to twice the older", {older.get()}, random.get());
  files.Measure("four older files", {older.get(), dense.get(), column.get(), deletes.get()},
                random.get());
  (void)older->KeyHashes();
  files.Measure("whole rows, key hashes in memory", {older.get()}, update.get());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
