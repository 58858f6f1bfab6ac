// Tall tables beside wide ones: the same cells, each in a row of its own or all of an entity in one
// row; see measuring.h. An entity is a row of W1 with its four columns, or something that is
// measured a hundred times, with a payload for each time. All come by time, as measurements do.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/disk_size.h"
#include "tools/bench/key_phases.h"
#include "tools/bench/measuring.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

constexpr const char* kCellsTable = "cells";
constexpr uint32_t kRangePart = 10;  // A range of times has a tenth of those of an entity.
constexpr uint64_t kGets = 100;      // Between two looks at the time.

// The cells of all entities, numbered from 0 in the order in which they come.
class Cells {
 public:
  Cells(const W1& w1, const CellSet& set) : w1_(w1), set_(set) {
    if (are_columns()) {
      names_ = {"city", "payload", "status", "ts"};
    } else {
      for (uint32_t i = 0; i < set.cells; ++i) names_.push_back(std::to_string(1'000'000 + i));
    }
  }

  bool are_columns() const { return std::string(set_.name) == "columns"; }
  const CellSet& set() const { return set_; }
  uint64_t entities() const {
    return are_columns() ? w1_.rows() : std::max<uint64_t>(w1_.rows() / set_.cells, 1);
  }
  uint64_t count() const { return entities() * set_.cells; }
  std::string Entity(uint64_t number) const { return w1_.Key(number); }
  const std::string& Name(uint32_t cell) const { return names_[cell]; }
  std::string Tall(uint64_t entity, uint32_t cell) const {
    return Entity(entity) + "/" + Name(cell);
  }

  /// Calls `use(entity, cell, value)`: of columns all of an entity one after the other, of times
  /// one of each entity and then the next.
  template <typename Use>
  void ForEach(const Use& use) const {
    W1Row row;
    for (uint64_t i = 0; i < (are_columns() ? entities() : count()); ++i) {
      w1_.Row(i, &row);
      if (!are_columns()) {
        use(i % entities(), static_cast<uint32_t>(i / entities()), row.payload);
        continue;
      }
      const std::array<const std::string*, 4> values = {&row.city, &row.payload, &row.status,
                                                        &row.ts};
      for (uint32_t cell = 0; cell < values.size(); ++cell) use(i, cell, *values[cell]);
    }
  }

 private:
  const W1& w1_;
  const CellSet& set_;
  std::vector<std::string> names_;
};

class LayoutRun {
 public:
  LayoutRun(const Arguments& arguments, const Cells& cells, bool is_tall)
      : seconds_(arguments.seconds),
        path_(arguments.path + "/layout"),
        cells_(cells),
        is_tall_(is_tall) {
    std::filesystem::create_directory(path_);
    database_ = OpenTandem(path_);
    TableOptions table;
    table.name = kCellsTable;
    table.families = {{.name = "d"}};
    Check(database_->CreateTable(table));
  }
  ~LayoutRun() { std::filesystem::remove_all(path_); }
  LayoutRun(const LayoutRun&) = delete;
  LayoutRun& operator=(const LayoutRun&) = delete;

  void Run() {
    const std::string all = cells_.set().name, one = cells_.set().one;
    Load("load of " + all);
    Measure("entity, all " + all, [this](uint64_t entity) { ReadAll(entity); });
    Measure("entity, one " + one, [this](uint64_t entity) { ReadOne(entity); });
    if (!cells_.are_columns()) {
      Measure("entity, a tenth of the times", [this](uint64_t entity) { ReadTimes(entity); });
    }
    MeasureScan("scan of " + all);
    Check(database_->Close());
    PrintDiskSize(NameOf("disk of " + all), path_);
  }

 private:
  std::string NameOf(const std::string& phase) const {
    return std::string(kLayouts[is_tall_ ? 0 : 1]) + " " + phase;
  }

  // In batches of as many cells, so that neither layout has fewer commits.
  void Load(const std::string& phase) {
    const Usage begin = UsageNow();
    WriteBatch batch;
    cells_.ForEach([&](uint64_t entity, uint32_t cell, const std::string& value) {
      if (is_tall_) {
        batch.Put(kCellsTable, cells_.Tall(entity, cell), "d", "v", value);
      } else {
        batch.Put(kCellsTable, cells_.Entity(entity), "d", cells_.Name(cell), value);
      }
      if (batch.operation_count() < kBatchRows) return;
      Check(database_->Write({}, batch));
      batch.Clear();
    });
    Check(database_->Write({}, batch));
    Check(database_->Compact(kCellsTable));
    PrintRate(FigureBetween(NameOf(phase), begin, UsageNow()), cells_.count());
  }

  // Microseconds a call, each for another entity.
  void Measure(const std::string& phase, const std::function<void(uint64_t)>& read) {
    uint64_t calls = 0;
    const auto some = [&] {
      for (uint64_t i = 0; i < kGets; ++i) read(Scattered(calls++, cells_.entities()));
    };
    some();
    calls = 0;
    const Usage begin = UsageNow();
    do {
      some();
    } while (SecondsNow() - begin.seconds < seconds_);
    Figure figure = FigureBetween(NameOf(phase), begin, UsageNow());
    figure.items = calls;
    figure.value = figure.seconds * 1e6 / static_cast<double>(calls);
    Print(figure);
  }

  void MeasureScan(const std::string& phase) {
    ScanAll();
    uint64_t cells = 0;
    Consumer consumer;
    const Usage begin = UsageNow();
    do {
      consumer = ScanAll();
      cells += cells_.count();
    } while (SecondsNow() - begin.seconds < seconds_);
    Figure figure = FigureBetween(NameOf(phase), begin, UsageNow());
    figure.rows_name = phase;
    figure.proof = ProofOf(consumer);
    PrintRate(figure, cells);
  }

  // Counts cells as rows, so that both layouts have the same.
  Consumer ScanAll() {
    ReadOptions read;
    read.pieces = true;
    return Consume(database_->Scan(read, kCellsTable, {}), cells_.count());
  }

  void ReadAll(uint64_t entity) {
    if (is_tall_) {
      ScanOptions scan;
      scan.prefix = cells_.Entity(entity) + "/";
      (void)Consume(database_->Scan({}, kCellsTable, scan), cells_.set().cells);
    } else {
      const auto row = database_->Get({}, kCellsTable, cells_.Entity(entity));
      CheckCells(row, cells_.set().cells);
    }
  }
  void ReadOne(uint64_t entity) {
    const auto cell = static_cast<uint32_t>(entity % cells_.set().cells);
    if (is_tall_) return CheckCells(database_->Get({}, kCellsTable, cells_.Tall(entity, cell)), 1);
    ReadOptions read;
    read.columns = {{"d", cells_.Name(cell)}};
    CheckCells(database_->Get(read, kCellsTable, cells_.Entity(entity)), 1);
  }
  // Of a wide row the columns are named: what a caller does who knows the times, and the cheapest.
  void ReadTimes(uint64_t entity) {
    const uint32_t count = cells_.set().cells / kRangePart, first = count * 3;
    if (is_tall_) {
      ScanOptions scan;
      scan.start = cells_.Tall(entity, first);
      scan.end = cells_.Tall(entity, first + count);
      (void)Consume(database_->Scan({}, kCellsTable, scan), count);
      return;
    }
    ReadOptions read;
    for (uint32_t cell = first; cell < first + count; ++cell) {
      read.columns.push_back({"d", cells_.Name(cell)});
    }
    CheckCells(database_->Get(read, kCellsTable, cells_.Entity(entity)), count);
  }

  static Consumer Consume(Result<Cursor> cursor, uint64_t expected) {
    Check(cursor.status());
    Consumer consumer;
    while (cursor->Next()) {
      for (const Cell& cell : cursor->row().cells()) {
        ++consumer.rows;
        consumer.Value(cell.value);
      }
    }
    Check(cursor->status());
    if (consumer.rows != expected) Fail("cells are missing");
    return consumer;
  }
  static void CheckCells(const Result<std::optional<Row>>& row, size_t expected) {
    Check(row.status());
    if (!row->has_value() || (*row)->cells().size() != expected) Fail("cells are missing");
  }

  const double seconds_;
  const std::string path_;
  const Cells& cells_;
  const bool is_tall_;
  std::unique_ptr<Database> database_;
};

}  // namespace

void MeasureLayouts(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  for (const CellSet& set : kCellSets) {
    const Cells cells(w1, set);
    for (const bool is_tall : {true, false}) LayoutRun(arguments, cells, is_tall).Run();
  }
}

}  // namespace tandem::bench
