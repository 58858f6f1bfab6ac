// See test_engine.h.
#include "test/engine/test_engine.h"

#include <utility>

#include "tools/simulation/trace_linter.h"

namespace tandem::test {

TableOptions SimpleTable(uint32_t max_versions, int64_t ttl_micros) {
  TableOptions options;
  options.name = "t";
  options.families.push_back({.name = "d", .max_versions = max_versions, .ttl_micros = ttl_micros});
  options.indexes.push_back({.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}});
  return options;
}

TestEngine::TestEngine(uint64_t seed) : TestEngine(seed, std::make_unique<TraceLinter>()) {}

TestEngine::TestEngine(uint64_t seed, std::unique_ptr<DiskObserver> observer)
    : disk(seed, std::move(observer)), executor(clock), random_(base::NewSeededRandom(seed)) {
  options.create_if_missing = true;
  options.log = [this](std::string_view line) { log.emplace_back(line); };
}

Status TestEngine::Open() {
  engine::Environment environment;
  environment.file_system = &disk;
  environment.clock = &clock;
  environment.random = random_.get();
  environment.executor = &executor;
  Result<std::unique_ptr<engine::Engine>> opened =
      engine::Engine::Open("db", options, tuning, environment);
  if (!opened.has_value()) return opened.error();
  engine_ = std::move(*opened);
  return {};
}

void TestEngine::Kill() {
  disk.KillProcess();  // Nothing that the destructor tries reaches the disk any more.
  engine_.reset();
}

void TestEngine::Crash(const CrashPolicy& policy) {
  disk.Crash(policy);
  engine_.reset();
}

Status TestEngine::Close() {
  const Status status = engine_->Close();
  if (status.ok()) engine_.reset();
  return status;
}

Status TestEngine::Put(std::string_view row, std::string_view qualifier, std::string_view value,
                       Durability durability, std::optional<int64_t> timestamp) {
  WriteBatch batch;
  batch.Put("t", row, "d", qualifier, value, timestamp);
  return Write(batch, durability);
}

Status TestEngine::Write(const WriteBatch& batch, Durability durability) {
  return engine_->Write({.durability = durability}, batch);
}

std::string TestEngine::Value(std::string_view row, std::string_view qualifier) {
  const Result<std::optional<Row>> found = engine_->Get({}, "t", row);
  if (!found.has_value()) return "!" + found.error().ToString();
  if (!found->has_value()) return "-";
  return std::string((*found)->Find("d", qualifier).value_or("-"));
}

std::string TestEngine::Versions(std::string_view row, std::string_view qualifier) {
  ReadOptions options;
  options.versions = 100;
  const Result<std::optional<Row>> found = engine_->Get(options, "t", row);
  if (!found.has_value()) return "!" + found.error().ToString();
  std::string text;
  if (!found->has_value()) return text;
  for (const Cell& cell : (*found)->cells()) {
    if (cell.qualifier != qualifier) continue;
    if (!text.empty()) text += " ";
    text.append(cell.value).append("@").append(std::to_string(cell.timestamp));
  }
  return text;
}

std::string TestEngine::Rows(std::string_view table) {
  Result<Cursor> cursor = engine_->Scan({}, table, {});
  if (!cursor.has_value()) return "!" + cursor.error().ToString();
  std::string text;
  while (cursor->Next()) {
    if (!text.empty()) text += " ";
    text.append(cursor->row().key()).append("{");
    bool first = true;
    for (const Cell& cell : cursor->row().cells()) {
      text.append(first ? "" : " ").append(cell.qualifier).append("=").append(cell.value);
      first = false;
    }
    text += "}";
  }
  if (!cursor->status().ok()) text += "!" + cursor->status().ToString();
  return text;
}

uint64_t TestEngine::FileCount() {
  uint64_t count = 0;
  for (const TableInfo& table : engine_->Info().tables) {
    for (const RegionInfo& region : table.regions) count += region.files.size();
  }
  return count;
}

}  // namespace tandem::test
