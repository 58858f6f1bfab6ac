// Tandem in the differential suite.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/runtime/background.h"
#include "test/reliability/differential_store.h"
#include "test/support/temporary_directory.h"
#include "tools/generator/tuning.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {
namespace {

void Require(const Status& status, const char* what) {
  if (!status.ok()) throw std::runtime_error(std::string(what) + ": " + status.ToString());
}

/// What an engine lives on: a simulated disk without threads, or real files with two of them.
struct Setting {
  test::ManualClock manual_clock;
  test::SimulatedDisk disk;
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random;
  std::optional<test::TemporaryDirectory> directory;
  std::unique_ptr<base::FileSystem> files;
  std::unique_ptr<base::Executor> executor;
  std::string path = "db";

  engine::Environment environment() {
    const bool is_real = files != nullptr;
    return {is_real ? files.get() : &disk, is_real ? clock.get() : &manual_clock, random.get(),
            executor.get()};
  }
};

constexpr size_t kRegionsUsed = 12;  // Splits wait for merges then.

engine::Tuning BusyTuning(uint64_t seed) {
  engine::Tuning tuning = test::RandomTuning(seed);
  tuning.section_alignment = seed % 2 == 0 ? 64 : 4096;
  tuning.file_rows = seed % 5 == 0 ? 50 : kRowsPerFileMax;
  return tuning;
}

class TandemStore final : public DifferentialStore {
 public:
  TandemStore(uint64_t seed, std::unique_ptr<Setting> surroundings, const engine::Tuning& tuning,
              bool maintained)
      : seed_(seed),
        maintained_(maintained),
        tuning_(tuning),
        surroundings_(std::move(surroundings)) {
    Open();
    Require(engine_->CreateTable(Table()), "create table");
  }
  ~TandemStore() override { Release(); }

  uint64_t splits() const override { return splits_; }
  uint64_t region_merges() const override { return region_merges_; }
  std::string name() const override { return maintained_ ? "Tandem" : "Tandem, all in memory"; }

  std::optional<std::string> Run(const DiffOperation& operation) override {
    switch (operation.kind) {
      case DiffOperation::Kind::kBatch:
        Write(operation);
        return std::nullopt;
      case DiffOperation::Kind::kGet:
        return Get(operation);
      case DiffOperation::Kind::kScan:
        return Scan(operation);
      case DiffOperation::Kind::kQuery:
      case DiffOperation::Kind::kCount:
        return Query(operation);
      case DiffOperation::Kind::kSnapshot: {
        auto snapshot = engine_->TakeSnapshot();
        Require(snapshot.status(), "snapshot");
        snapshots_[operation.slot].emplace(std::move(*snapshot));
        return std::nullopt;
      }
      case DiffOperation::Kind::kRelease:
        snapshots_[operation.slot].reset();
        return std::nullopt;
      default:
        if (maintained_) Maintain(operation);
        return std::nullopt;
    }
  }

 private:
  TableOptions Table() const {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d", .block_size_bytes = seed_ % 2 == 0 ? 512u : 8192u}};
    if (maintained_ && seed_ % 3 == 1) table.families[0].compression = Compression::kNone;
    table.indexes = {{"a", {{"d", "a", ColumnType::kInt64, false}}},
                     {"b", {{"d", "b", ColumnType::kText, false}}}};
    if (maintained_ && seed_ % 3 == 0) table.split_keys = {"k2", "k5"};
    return table;
  }
  void Open() {
    Options options;
    options.create_if_missing = true;
    auto engine =
        engine::Engine::Open(surroundings_->path, options, tuning_, surroundings_->environment());
    Require(engine.status(), "open");
    engine_ = std::move(*engine);
  }
  void Release() {
    for (auto& snapshot : snapshots_) snapshot.reset();
  }
  void Write(const DiffOperation& operation) {
    WriteBatch batch;
    for (const RowChange& change : operation.changes) {
      if (change.kind == RowChange::Kind::kDeleteRow) batch.DeleteRow("t", change.key);
      for (const auto& [column, value] : change.columns) {
        const std::string_view qualifier(&column, 1);
        if (change.kind == RowChange::Kind::kPut) {
          batch.Put("t", change.key, "d", qualifier, value);
        } else {
          batch.DeleteColumn("t", change.key, "d", qualifier);
        }
      }
    }
    Require(engine_->Write({}, batch), "write");
  }
  ReadOptions ReadOf(const DiffOperation& operation) const {
    ReadOptions read;
    if (operation.snapshot && snapshots_[*operation.snapshot]) {
      read.snapshot = &*snapshots_[*operation.snapshot];
    }
    return read;
  }
  static void Append(const RowView& row, std::string* text) {
    std::array<std::optional<std::string>, kColumnCount> columns;
    for (size_t i = 0; i < kColumnCount; ++i) {
      if (const auto value = row.Find("d", std::string_view(&kColumns[i], 1))) columns[i] = *value;
    }
    AppendRow(row.key(), columns, text);
  }
  static std::string Drain(Result<Cursor> cursor, const char* what) {
    Require(cursor.status(), what);
    std::string text;
    while (cursor->Next()) Append(cursor->row(), &text);
    Require(cursor->status(), what);
    return text;
  }
  std::string Get(const DiffOperation& operation) {
    const auto row = engine_->Get(ReadOf(operation), "t", operation.key);
    Require(row.status(), "get");
    std::string text;
    if (row->has_value()) Append((*row)->view(), &text);
    return text;
  }
  std::string Scan(const DiffOperation& operation) {
    ScanOptions scan;
    scan.start = operation.key;
    scan.end = operation.end;
    scan.reverse = operation.descending;
    scan.limit = operation.limit;
    scan.offset = operation.offset;
    return Drain(engine_->Scan(ReadOf(operation), "t", scan), "scan");
  }
  std::string Query(const DiffOperation& operation) {
    auto predicate = Predicate::Parse(operation.condition.Text(false));
    Require(predicate.status(), "predicate");
    QueryOptions query;
    query.limit = operation.limit;
    query.offset = operation.offset;
    query.descending = operation.descending;
    if (operation.order_by != '\0') query.order_by = std::string(1, operation.order_by);
    query.no_index = maintained_ && operation.hint == 1;
    if (operation.kind == DiffOperation::Kind::kQuery) {
      return Drain(engine_->Query(ReadOf(operation), "t", *predicate, query), "query");
    }
    const auto count = engine_->Count(ReadOf(operation), "t", *predicate, query);
    Require(count.status(), "count");
    return std::to_string(*count);
  }
  void Maintain(const DiffOperation& operation) {
    switch (operation.kind) {
      case DiffOperation::Kind::kFlush:
        return Require(engine_->Flush("t"), "flush");
      case DiffOperation::Kind::kCompact:
        return Require(engine_->Compact("t"), "compact");
      case DiffOperation::Kind::kSplit:
        return Split(operation.key);
      case DiffOperation::Kind::kMergeRegions:
        return MergeRegions(operation.key);
      default:
        return Reopen();
    }
  }
  // Only these two change the regions, so it is known which calls are refused.
  void Split(const std::string& key) {
    const std::vector<RegionInfo> regions = engine_->Info().tables[0].regions;
    if (regions.size() >= kRegionsUsed) return;
    const bool begins_one = std::any_of(regions.begin(), regions.end(), [&](const auto& region) {
      return region.start_key == key;
    });
    const Status status = engine_->Split("t", {.key = key}).status();
    if (begins_one) return RequireRefused(status, "split");
    Require(status, "split");
    ++splits_;
  }
  void MergeRegions(const std::string& key) {
    const std::string last_start = engine_->Info().tables[0].regions.back().start_key;
    const Status status = engine_->MergeRegions("t", {.key = key}).status();
    if (key >= last_start) return RequireRefused(status, "merge of regions");
    Require(status, "merge of regions");
    ++region_merges_;
  }
  static void RequireRefused(const Status& status, const std::string& what) {
    if (status.code() == StatusCode::kInvalidArgument) return;
    throw std::runtime_error("a " + what + " is not refused: " + status.ToString());
  }
  void Reopen() {
    for (const auto& snapshot : snapshots_) {
      if (snapshot.has_value()) return;  // They end with the database.
    }
    const auto report = engine_->Verify(true);
    Require(report.status(), "verify");
    if (!report->findings.empty()) throw std::runtime_error("verify: " + report->findings[0].text);
    Require(engine_->Close(), "close");
    engine_.reset();
    Open();
  }

  const uint64_t seed_;
  const bool maintained_;
  const engine::Tuning tuning_;
  std::unique_ptr<Setting> surroundings_;
  std::unique_ptr<engine::Engine> engine_;
  std::array<std::optional<Snapshot>, kSnapshotSlots> snapshots_;
  uint64_t splits_ = 0, region_merges_ = 0;
};

}  // namespace

std::unique_ptr<DifferentialStore> NewBusyTandem(uint64_t seed, const std::string& directory) {
  auto surroundings = std::make_unique<Setting>();
  surroundings->random = base::NewSeededRandom(seed);
  if (seed % 4 < 2) {
    surroundings->executor = std::make_unique<test::InlineExecutor>(surroundings->manual_clock);
  } else {
    surroundings->directory.emplace(directory);
    surroundings->path = surroundings->directory->Path("db");
    surroundings->files =
        seed % 4 == 2 ? base::NewPosixFileSystem() : base::NewUringFileSystem(nullptr);
    auto executor = engine::NewThreadPool(2, surroundings->clock.get());
    Require(executor.status(), "threads");
    surroundings->executor = std::move(*executor);
  }
  return std::make_unique<TandemStore>(seed, std::move(surroundings), BusyTuning(seed / 4), true);
}

std::unique_ptr<DifferentialStore> NewPlainTandem(uint64_t seed) {
  auto surroundings = std::make_unique<Setting>();
  surroundings->random = base::NewSeededRandom(seed);
  surroundings->executor = std::make_unique<test::InlineExecutor>(surroundings->manual_clock);
  return std::make_unique<TandemStore>(seed, std::move(surroundings), engine::Tuning(), false);
}

}  // namespace tandem::reliability
