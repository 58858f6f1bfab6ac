// See process_life.h.
#include "test/reliability/process_life.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/runtime/background.h"
#include "tools/generator/tuning.h"

namespace tandem::reliability {
namespace {

using test::ModelOperation;
using Kind = ModelOperation::Kind;

constexpr uint64_t kKeys = 150;
constexpr int64_t kNow = 1'700'000'000'000'000;

/// SplitMix64 (Steele, Lea and Flood 2014).
uint64_t Mix(uint64_t state) {
  state += 0x9E3779B97F4A7C15ull;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
  return state ^ (state >> 31);
}

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(Mix(seed)) {}
  uint64_t Below(uint64_t limit) { return (state_ = Mix(state_)) % limit; }

 private:
  uint64_t state_;
};

std::string WriterPrefix(size_t writer) { return "w" + std::to_string(writer) + "-"; }

std::vector<TableOptions> LifeTables() {
  TableOptions a, b;
  a.name = "a";
  a.families = {{.name = "d", .max_versions = 2}, {.name = "e"}};
  a.indexes = {{"kind", {{"d", "kind", ColumnType::kText, false}}},
               {"size", {{"d", "size", ColumnType::kInt64, false}}}};
  a.split_keys = {"w0-k0070", "w1-", "w1-k0110"};
  b.name = "b";
  b.families = {{.name = "d"}};
  b.indexes = {{"size", {{"d", "size", ColumnType::kInt64, false}}}};
  return {a, b};
}

ModelOperation RowOperation(size_t writer, uint64_t number, Choices* choices) {
  char key[16];
  std::snprintf(key, sizeof(key), "k%04u", static_cast<unsigned>(choices->Below(kKeys)));
  ModelOperation operation;
  operation.table = choices->Below(3) == 0 ? "b" : "a";
  operation.row = WriterPrefix(writer) + key;
  operation.timestamp = static_cast<int64_t>(number);
  if (choices->Below(8) == 0) {
    operation.kind = Kind::kDeleteRow;
    return operation;
  }
  operation.family = operation.table == "a" && choices->Below(4) == 0 ? "e" : "d";
  operation.columns = {
      {"kind", std::to_string(choices->Below(5))},
      {"size", std::to_string(choices->Below(1000))},
      {"text", std::string(choices->Below(300), static_cast<char>('a' + number % 26))}};
  return operation;
}

/// Batch `number` of a writer, from 1. Its last operation says its number.
std::vector<ModelOperation> BatchOf(uint64_t seed, size_t writer, uint64_t number) {
  Choices choices(seed * 31 + writer + (number << 20));
  std::vector<ModelOperation> operations;
  for (uint64_t left = 1 + choices.Below(8); left > 0; --left) {
    operations.push_back(RowOperation(writer, number, &choices));
  }
  ModelOperation counter;
  counter.table = "b";
  counter.row = WriterPrefix(writer) + "last";
  counter.family = "d";
  counter.columns = {{"number", std::to_string(number)}};
  counter.timestamp = static_cast<int64_t>(number);
  operations.push_back(counter);
  return operations;
}

Durability DurabilityOf(uint64_t number) {
  const uint64_t choice = Mix(number) % 10;
  return choice < 2 ? Durability::kBuffered
                    : (choice < 8 ? Durability::kWritten : Durability::kSynced);
}

/// An engine with threads on real files.
class LifeDatabase {
 public:
  Status Open(const LifePlan& plan) {
    file_system_ = plan.uring ? base::NewUringFileSystem(nullptr) : base::NewPosixFileSystem();
    auto executor = engine::NewThreadPool(2, clock_.get());
    if (!executor.has_value()) return executor.error();
    executor_ = std::move(*executor);
    Options options;
    options.create_if_missing = true;
    auto engine =
        engine::Engine::Open(plan.path, options, test::RandomTuning(plan.seed),
                             {file_system_.get(), clock_.get(), random_.get(), executor_.get()});
    if (!engine.has_value()) return engine.error();
    engine_ = std::move(*engine);
    return {};
  }
  engine::Engine& engine() { return *engine_; }
  base::Clock& clock() { return *clock_; }

 private:
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random_ = base::NewSystemRandom();
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::Executor> executor_;
  std::unique_ptr<engine::Engine> engine_;
};

Status CreateTables(engine::Engine& engine) {
  for (const TableOptions& table : LifeTables()) {
    const Status created = engine.CreateTable(table);
    if (!created.ok() && created.code() != StatusCode::kAlreadyExists) return created;
  }
  return {};
}

/// Writes until an error comes.
void WriteOn(const LifePlan& plan, size_t writer, uint64_t number, engine::Engine& engine,
             LifeProgress* progress) {
  for (;; ++number) {
    WriteBatch batch;
    for (const auto& operation : BatchOf(plan.seed, writer, number)) operation.AddTo(&batch);
    const Durability durability = DurabilityOf(number);
    progress->begun[writer] = number;
    const Status written = engine.Write({.durability = durability}, batch);
    if (!written.ok()) return progress->Tell("write: " + written.ToString());
    if (durability >= Durability::kWritten) progress->written[writer] = number;
    if (durability == Durability::kSynced) progress->synced[writer] = number;
  }
}

/// Flushes and compacts at random moments, until an error comes.
void MaintainOn(const LifePlan& plan, LifeDatabase& database) {
  Choices choices(plan.seed + static_cast<uint64_t>(getpid()));
  for (;;) {
    database.clock().SleepMicros(static_cast<int64_t>(1000 + choices.Below(15000)));
    const Status status =
        choices.Below(4) == 0 ? database.engine().Compact("a") : database.engine().Flush({});
    if (!status.ok()) return;
  }
}

std::vector<test::ModelRow> Drain(Result<Cursor> cursor, Status* status) {
  std::vector<test::ModelRow> rows;
  *status = cursor.status();
  if (!status->ok()) return rows;
  while (cursor->Next()) rows.emplace_back(cursor->row());
  *status = cursor->status();
  return rows;
}

std::string RowsDifference(const std::vector<test::ModelRow>& expected,
                           const std::vector<test::ModelRow>& found, const std::string& what) {
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    if (i < expected.size() && i < found.size() && expected[i] == found[i]) continue;
    return what + ": row " + std::to_string(i) + " is " +
           (i < found.size() ? found[i].Describe() : "missing") + ", expected " +
           (i < expected.size() ? expected[i].Describe() : "none");
  }
  return "";
}

/// The number of the last batch that the database shows; 0 when there is none.
Result<uint64_t> LastBatch(engine::Engine& engine, size_t writer) {
  const auto row = engine.Get({}, "b", WriterPrefix(writer) + "last");
  if (!row.has_value()) {
    // The process may have died before it made the tables.
    if (row.error().code() == StatusCode::kNotFound) return uint64_t{0};
    return row.error();
  }
  if (!row->has_value()) return uint64_t{0};
  return std::stoull(std::string((*row)->Find("d", "number").value_or("0")));
}

/// Checks the number of batches against what was acknowledged and begun.
std::string CountDifference(const LifePlan& plan, const LifeProgress& progress, size_t writer,
                            uint64_t found, uint64_t before) {
  const uint64_t acknowledged = plan.no_losses ? progress.written[writer] : progress.synced[writer];
  const uint64_t floor = std::max(acknowledged, before);
  if (found >= floor && found <= progress.begun[writer]) return "";
  return "writer " + std::to_string(writer) + ": " + std::to_string(found) +
         " batches are there, of " + std::to_string(progress.begun[writer]) + " begun, " +
         std::to_string(progress.written[writer]) + " acknowledged as written, " +
         std::to_string(progress.synced[writer]) + " as synced, " + std::to_string(before) +
         " found before";
}

std::string CheckOpened(const LifePlan& plan, LifeModel* model, engine::Engine& engine,
                        LifeProgress* progress) {
  LifeCounts counts{};
  for (size_t writer = 0; writer < kLifeWriters; ++writer) {
    const auto last = LastBatch(engine, writer);
    if (!last.has_value()) return "reading the last batch: " + last.error().ToString();
    counts[writer] = *last;
    progress->found[writer] = *last;
    std::string wrong = CountDifference(plan, *progress, writer, *last, model->counts()[writer]);
    if (!wrong.empty()) return wrong;
  }
  if (const Status made = CreateTables(engine); !made.ok()) return "tables: " + made.ToString();
  model->AdvanceTo(counts);
  std::string wrong = model->Difference(engine);
  if (!wrong.empty()) return wrong;
  const auto report = engine.Verify(true);
  if (!report.has_value()) return "verify: " + report.error().ToString();
  return report->findings.empty() ? "" : "verify: " + report->findings[0].text;
}

}  // namespace

void LifeProgress::Reset(const LifeCounts& counts) {
  is_open = false;
  checked = false;
  wrong[0] = '\0';
  for (size_t writer = 0; writer < kLifeWriters; ++writer) {
    begun[writer] = written[writer] = synced[writer] = counts[writer];
  }
}

void LifeProgress::Tell(const std::string& text) {
  std::snprintf(wrong, sizeof(wrong), "%s", text.c_str());
}

SharedProgress::SharedProgress() {
  void* memory = mmap(nullptr, sizeof(LifeProgress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  progress_ = ::new (memory) LifeProgress;
}

SharedProgress::~SharedProgress() { munmap(progress_, sizeof(LifeProgress)); }

void Live(const LifePlan& plan, const LifeCounts& counts, LifeProgress* progress) {
  LifeDatabase database;
  Status status = database.Open(plan);
  if (status.ok()) status = CreateTables(database.engine());
  if (!status.ok()) return progress->Tell("open to write: " + status.ToString());
  progress->is_open = true;
  std::vector<std::thread> threads;
  for (size_t writer = 0; writer < kLifeWriters; ++writer) {
    threads.emplace_back(
        [&, writer] { WriteOn(plan, writer, counts[writer] + 1, database.engine(), progress); });
  }
  threads.emplace_back([&] { MaintainOn(plan, database); });
  for (std::thread& thread : threads) thread.join();
}

LifeModel::LifeModel(uint64_t seed) : seed_(seed) {
  for (test::Model& model : models_) {
    for (const TableOptions& table : LifeTables()) model.CreateTable(table);
  }
}

void LifeModel::AdvanceTo(const LifeCounts& counts) {
  for (size_t writer = 0; writer < kLifeWriters; ++writer) {
    while (counts_[writer] < counts[writer]) {
      for (const auto& operation : BatchOf(seed_, writer, ++counts_[writer])) {
        models_[writer].Apply(operation, static_cast<int64_t>(counts_[writer]), kNow);
      }
    }
  }
}

std::string LifeModel::Difference(engine::Engine& engine) const {
  for (size_t writer = 0; writer < kLifeWriters; ++writer) {
    std::string wrong = WriterDifference(engine, writer);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string LifeModel::WriterDifference(engine::Engine& engine, size_t writer) const {
  const test::Model& model = models_[writer];
  const test::ModelRead read{.now_micros = kNow, .versions = 2, .columns = {}};
  Status status;
  for (const TableOptions& table : LifeTables()) {
    ScanOptions scan;
    scan.prefix = WriterPrefix(writer);
    ReadOptions options;
    options.versions = 2;
    auto found = Drain(engine.Scan(options, table.name, scan), &status);
    if (!status.ok()) return "scan: " + status.ToString();
    std::string wrong =
        RowsDifference(model.Scan(table.name, scan, read), found, "scan of " + table.name);
    if (!wrong.empty()) return wrong;
    for (const IndexOptions& index : table.indexes) {
      const auto predicate =
          Predicate::And({Predicate::Prefix("_row", scan.prefix),
                          Predicate::Compare(Predicate::Kind::kGreaterOrEqual,
                                             index.columns[0].qualifier, {"3"})});
      const QueryOptions query{.use_index = index.name};
      found = Drain(engine.Query(options, table.name, predicate, query), &status);
      if (!status.ok()) return "query: " + status.ToString();
      wrong = RowsDifference(model.Query(table.name, predicate, query, read), found,
                             "query of " + table.name + " by " + index.name);
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

void CheckLife(const LifePlan& plan, LifeModel model, bool dies, LifeProgress* progress) {
  LifeDatabase database;
  const Status opened = database.Open(plan);
  std::string wrong = opened.ok() ? CheckOpened(plan, &model, database.engine(), progress)
                                  : "open: " + opened.ToString();
  if (!wrong.empty()) progress->Tell(wrong);
  progress->checked = true;
  if (dies) raise(SIGKILL);
  if (!opened.ok()) return;
  const Status closed = database.engine().Close();
  if (!closed.ok() && wrong.empty()) progress->Tell("close: " + closed.ToString());
}

}  // namespace tandem::reliability
