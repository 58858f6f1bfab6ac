// Scans of salted tables: the rows of W1 in the order of their times, in tables whose keys are led
// by one of n salts, a region for each; see measuring.h. All is read in the order of the times,
// merged, or in that of the keys, by as many scans at a time as there are salts.
#include <tandem/row_key.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/default_environment.h"
#include "engine/engine.h"
#include "tools/bench/cold_cache.h"
#include "tools/bench/key_phases.h"
#include "tools/bench/measuring.h"
#include "tools/bench/slow_files.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

constexpr uint32_t kPayloadBytes = 100;
constexpr int64_t kLatencyMicros = 1'000;
constexpr uint64_t kFewRows = 10;
constexpr int kOpensMax = 3;  // Of a table that is not warm, for each figure.

RowKeySchema SchemaOf(uint32_t salts) {
  auto schema = RowKeySchema::Parse("salt(" + std::to_string(salts) + "), at:int64, id:text");
  Check(schema.status());
  return *std::move(schema);
}

ScanOptions InOrder(const RowKeySchema& schema, const RowKeyBounds& bounds = {}) {
  auto scan = schema.InFieldOrder({}, bounds);
  Check(scan.status());
  return *std::move(scan);
}

void Load(const W1& w1, const RowKeySchema& schema, const std::string& path) {
  const auto database = OpenTandem(path);
  TableOptions table;
  table.name = kRowsTable;
  table.families = {{.name = "d"}};
  table.row_key = schema.ToString();
  const std::vector<RowRange> salts = InOrder(schema).ranges;
  for (size_t i = 1; i < salts.size(); ++i) table.split_keys.push_back(salts[i].start);
  Check(database->CreateTable(table));
  WriteBatch batch;
  W1Row row;
  for (uint64_t i = 0; i < w1.rows(); ++i) {
    w1.Row(i, &row);
    const std::array<RowKeyField, 2> fields = {{{"at", std::to_string(i)}, {"id", row.key}}};
    const auto key = schema.Encode(fields);
    Check(key.status());
    batch.Put(kRowsTable, *key, "d", "payload", row.payload);
    if ((i + 1) % kBatchRows != 0 && i + 1 != w1.rows()) continue;
    Check(database->Write({}, batch));
    batch.Clear();
  }
  Check(database->Compact(kRowsTable));
  Check(database->Close());
}

// The table while it is open. Where its reads are slow they are so from the first scan on.
class SaltedTable {
 public:
  SaltedTable(const std::string& path, Blocks blocks)
      : clock_(base::NewSystemClock()), path_(path), blocks_(blocks) {
    Options options;
    options.memory_bytes = cache_bytes + cache_bytes / 4;
    auto environment = engine::DefaultEnvironment(options);
    Check(environment.status());
    slow_files_ = std::make_unique<SlowFileSystem>(environment->file_system, clock_.get());
    if (blocks_ == Blocks::kSlow) environment->file_system = slow_files_.get();
    auto opened = engine::Engine::Open(path, options, engine::TuningFor(options), *environment);
    Check(opened.status());
    engine_ = std::move(*opened);
    if (blocks_ == Blocks::kCold) DropPageCache(path_);
    slow_files_->SetLatency(kLatencyMicros);
  }
  ~SaltedTable() {
    slow_files_->SetLatency(0);
    Check(engine_->Close());
  }

  uint64_t Merged(const ScanOptions& scan, uint32_t threads) {
    ReadOptions read;
    read.threads = threads;
    return Rows(read, scan);
  }
  uint64_t InParts(uint32_t parts) {
    const auto ranges = engine_->SplitScan({}, kRowsTable, parts);
    Check(ranges.status());
    std::vector<uint64_t> rows(ranges->size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < ranges->size(); ++i) {
      threads.emplace_back([&, i] {
        ScanOptions scan;
        scan.ranges = {(*ranges)[i]};
        rows[i] = Rows({}, scan);
      });
    }
    for (std::thread& thread : threads) thread.join();
    uint64_t all = 0;
    for (const uint64_t part : rows) all += part;
    return all;
  }

 private:
  uint64_t Rows(const ReadOptions& read, const ScanOptions& scan) {
    auto cursor = engine_->Scan(read, kRowsTable, scan);
    Check(cursor.status());
    Consumer consumer;
    while (cursor->Next()) {
      ++consumer.rows;
      for (const Cell& cell : cursor->row().cells()) consumer.Value(cell.value);
    }
    Check(cursor->status());
    return consumer.rows;
  }

  const std::unique_ptr<base::Clock> clock_;
  const std::string path_;
  const Blocks blocks_;
  std::unique_ptr<SlowFileSystem> slow_files_;
  std::unique_ptr<engine::Engine> engine_;
};

class SaltRun {
 public:
  SaltRun(const Arguments& arguments, uint32_t salts)
      : w1_(arguments.rows, kPayloadBytes),
        seconds_(arguments.seconds),
        path_(arguments.path + "/salts"),
        salts_(salts),
        schema_(SchemaOf(salts)) {
    std::filesystem::create_directory(path_);
    Load(w1_, schema_, path_);
  }
  ~SaltRun() { std::filesystem::remove_all(path_); }
  SaltRun(const SaltRun&) = delete;
  SaltRun& operator=(const SaltRun&) = delete;

  void MeasureWarm(const NamedBlocks& blocks) {
    SaltedTable table(path_, blocks.blocks);
    for (const SaltScan& scan : kSaltScans) {
      Read(scan, &table);
      int times = 0;
      const Usage begin = UsageNow();
      do {
        Read(scan, &table);
        ++times;
      } while (SecondsNow() - begin.seconds < seconds_);
      PrintScan(scan, times, FigureBetween(SaltPhase(blocks, scan, salts_), begin, UsageNow()));
    }
  }
  // Each time from files that were just opened; the best of some.
  void MeasureOpened(const NamedBlocks& blocks) {
    for (const SaltScan& scan : kSaltScans) {
      Figure best;
      double seconds = 0;
      for (int i = 0; i < kOpensMax && seconds < seconds_; ++i) {
        const Figure one = ReadOpened(blocks, scan);
        seconds += one.seconds;
        if (i == 0 || one.seconds < best.seconds) best = one;
      }
      PrintScan(scan, 1, best);
    }
  }

 private:
  uint64_t RowsOf(const SaltScan& scan) const {
    return scan.part == 0 ? std::min(kFewRows, w1_.rows()) : w1_.rows() / scan.part;
  }

  Figure ReadOpened(const NamedBlocks& blocks, const SaltScan& scan) {
    if (blocks.blocks == Blocks::kCold) DropPageCache(path_);
    SaltedTable table(path_, blocks.blocks);
    const Usage begin = UsageNow();
    Read(scan, &table);
    return FigureBetween(SaltPhase(blocks, scan, salts_), begin, UsageNow());
  }

  void Read(const SaltScan& scan, SaltedTable* table) {
    uint64_t rows = 0;
    if (scan.in_parts) {
      rows = table->InParts(salts_);
    } else {
      RowKeyBounds bounds;
      if (scan.part > 1) {
        const uint64_t from = w1_.rows() / 3;
        bounds = {
            .field = "at", .from = std::to_string(from), .to = std::to_string(from + RowsOf(scan))};
      }
      ScanOptions options = InOrder(schema_, bounds);
      if (scan.part == 0) options.limit = kFewRows;
      rows = table->Merged(options, scan.threads);
    }
    if (rows != RowsOf(scan)) Fail(std::string(scan.name) + ": rows are missing");
  }

  void PrintScan(const SaltScan& scan, int times, Figure figure) const {
    if (scan.part == 1) return PrintRate(figure, static_cast<uint64_t>(times) * w1_.rows());
    figure.items = static_cast<uint64_t>(times);
    figure.value = figure.seconds * 1e6 / times;
    Print(figure);
  }

  const W1 w1_;
  const double seconds_;
  const std::string path_;
  const uint32_t salts_;
  const RowKeySchema schema_;
};

}  // namespace

void MeasureSalts(const Arguments& arguments) {
  for (const uint32_t salts : kSalts) {
    SaltRun run(arguments, salts);
    for (const NamedBlocks& blocks : kBlocks) {
      blocks.blocks == Blocks::kWarm ? run.MeasureWarm(blocks) : run.MeasureOpened(blocks);
    }
  }
}

}  // namespace tandem::bench
