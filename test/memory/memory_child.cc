// Two lives of one database, each in a process of its own: fork() comes before any thread.
#include "test/memory/memory_child.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "tandem/database.h"
#include "tandem/event_listener.h"
#include "test/memory/memory_sampler.h"

namespace tandem::test {
namespace {

constexpr uint64_t kBatchRows = 500;
constexpr uint64_t kRowsOfCity = 1000;

void Require(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::_Exit(1);
}

uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::string Key(uint64_t row) {
  char key[17];
  std::snprintf(key, sizeof(key), "%016llx", static_cast<unsigned long long>(Mix(row)));
  return key;
}

/// Ends the process where background work finds no memory; it would be tried again.
class MemoryWatch final : public EventListener {
 public:
  void OnFlushEnd(const FlushEvent& event) override { RequireMemory(event.status, "flush"); }
  void OnCompactionEnd(const CompactionEvent& event) override {
    RequireMemory(event.status, "compaction");
  }
  void OnLogLine(std::string_view line) override {
    const bool is_failure = line.find(StatusCodeName(StatusCode::kOutOfMemory)) != line.npos;
    if (is_failure) Require(Status::OutOfMemory(std::string(line)), "log");
  }

 private:
  static void RequireMemory(const Status& status, const char* what) {
    if (status.code() == StatusCode::kOutOfMemory) Require(status, what);
  }
};

// The C library reserves 64 MiB of addresses for the heap of each thread, as long as there are
// some; how many would be left depends on the size of this program.
void LimitMappedBytes(uint64_t bytes) {
  mallopt(M_ARENA_MAX, 4);
  const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  Require(setrlimit(RLIMIT_AS, &limit) == 0 ? Status() : Status::IoError("setrlimit"), "limit");
  std::set_new_handler([] { Require(Status::OutOfMemory("operator new"), "limit"); });
}

class Life {
 public:
  Life(const std::string& path, const MemoryShape& shape, MemoryReport* report)
      : path_(path), shape_(shape), sampler_(report) {
    if (shape.fixes_threshold) mallopt(M_MMAP_THRESHOLD, 128 << 10);
    if (is_limited()) LimitMappedBytes(shape.budget_bytes + shape.mapped_above_budget_max);
  }

  /// Everything, and an end without a close.
  void First() {
    Open("empty");
    WarmUp();
    sampler_.SetEmpty();
    Phase("load", [&] { Load(0, shape_.rows); });
    Phase("flush", [&] { Require(database_->Flush(), "flush"); });
    Phase("merge", [&] { Require(database_->Compact(""), "merge"); });
    Phase("query", [&] { AskWithThreads(); });
    Phase("verify", [&] { Verify(); });
    sampler_.Begin("close");
    sampler_.Watch(nullptr);
    Require(database_->Close(), "close");
    database_.reset();
    sampler_.End();
    Open("open");
    Phase("query2", [&] { AskWithThreads(); });
    Phase("load2", [&] {
      Load(0, shape_.rows / 4);
      Require(database_->Compact(""), "merge");  // No merge is under way at the end.
    });
    Load(0, 2000);  // For the log.
  }

  /// Opens what First left.
  void Second() {
    Open("replay");
    Phase("query3", [&] { AskWithThreads(); });
  }

 private:
  bool is_limited() const { return shape_.mapped_above_budget_max > 0; }

  void Phase(const char* name, const std::function<void()>& work) {
    sampler_.Begin(name);
    work();
    sampler_.End();
  }

  void Open(const char* phase) {
    sampler_.Begin(phase);
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = shape_.budget_bytes;
    if (is_limited()) options.listener = std::make_shared<MemoryWatch>();
    auto database = Database::Open(path_, options);
    Require(database.has_value() ? Status() : database.error(), "open");
    database_ = *std::move(database);
    sampler_.Watch(database_.get());
    sampler_.End();
  }

  // What each thread keeps to compress and to wait is made when it is used first.
  void WarmUp() {
    CreateTable();
    Load(0, 1);
    Require(database_->Compact(""), "merge");
    AskWithThreads();
  }

  void CreateTable() {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.indexes = {{.name = "by_city", .columns = {{.qualifier = "city"}}},
                     {.name = "by_status", .columns = {{.qualifier = "status"}}},
                     {.name = "by_time",
                      .columns = {{.qualifier = "time", .type = ColumnType::kInt64}}}};
    Require(database_->CreateTable(table), "create");
  }

  void Load(uint64_t first, uint64_t end) {
    WriteBatch batch;
    for (uint64_t row = first; row < end; ++row) {
      const uint64_t mixed = Mix(row ^ 0xC117);
      const std::string city = "city-" + std::to_string(mixed % Cities());
      const std::string status = "status-" + std::to_string(mixed / 7 % 10);
      const std::string time = std::to_string(mixed % 1'000'000'007);
      const std::string text = Key(mixed) + Key(mixed + 1) + Key(mixed + 2) + std::string(72, 't');
      const ColumnValue columns[] = {
          {"city", city}, {"status", status}, {"time", time}, {"text", text}};
      batch.PutColumns("t", Key(row), "d", columns);
      if (batch.operation_count() < kBatchRows && row + 1 < end) continue;
      Require(database_->Write({.durability = Durability::kBuffered}, batch), "write");
      batch.Clear();
    }
  }

  uint64_t Cities() const { return shape_.rows / kRowsOfCity + 1; }

  void AskWithThreads() {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < shape_.query_threads; ++i) {
      threads.emplace_back([this, i] { Ask(i); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Ask(uint64_t thread) {
    for (uint64_t i = 0; i < 8; ++i) {
      const uint64_t mixed = Mix(thread * 100 + i);
      Walk(Predicate::Equal("city", "city-" + std::to_string(mixed % Cities())));
      for (uint64_t get = 0; get < 200; ++get) {
        const auto row = database_->Get({}, "t", Key(Mix(mixed + get) % shape_.rows));
        Require(row.has_value() ? Status() : row.error(), "get");
      }
    }
    Walk(Predicate::Equal("status", "status-" + std::to_string(thread)));
    Walk(Predicate::Between("time", "0", "300000000"));
    const auto count = database_->Count({}, "t", Predicate::Equal("status", "status-9"));
    Require(count.has_value() ? Status() : count.error(), "count");
    auto cursor = database_->Scan({}, "t", {});
    Drain(&cursor);
  }

  void Walk(const Predicate& predicate) {
    auto cursor = database_->Query({}, "t", predicate);
    Drain(&cursor);
  }

  static void Drain(Result<Cursor>* cursor) {
    Require(cursor->has_value() ? Status() : cursor->error(), "cursor");
    while ((*cursor)->Next()) {
    }
    Require((*cursor)->status(), "next");
  }

  void Verify() {
    const auto report = database_->Verify(true);
    Require(report.has_value() ? Status() : report.error(), "verify");
    if (!report->findings.empty()) Require(Status::Corruption(report->findings[0].text), "verify");
  }

  const std::string path_;
  const MemoryShape shape_;
  std::unique_ptr<Database> database_;
  MemorySampler sampler_;  // Ends before the database.
};

bool InChild(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

bool RunMemoryChild(const std::string& path, const MemoryShape& shape, MemoryReport* report) {
  void* const shared = mmap(nullptr, sizeof(MemoryReport), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return false;
  auto* const figures = static_cast<MemoryReport*>(shared);
  const bool ok = InChild([&] {
                    auto* life = new Life(path, shape, figures);  // It ends with the process.
                    life->First();
                  }) &&
                  InChild([&] {
                    auto* life = new Life(path, shape, figures);
                    life->Second();
                  });
  std::memcpy(report, figures, sizeof(*report));
  munmap(shared, sizeof(MemoryReport));
  return ok;
}

}  // namespace tandem::test
