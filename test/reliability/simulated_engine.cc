// See simulated_engine.h.
#include "test/reliability/simulated_engine.h"

#include <utility>

#include "tools/generator/tuning.h"

namespace tandem::reliability {

SimulatedEngine::SimulatedEngine(uint64_t seed, const engine::Tuning& tuning)
    : disk_(seed), executor_(clock_), random_(base::NewSeededRandom(seed)), tuning_(tuning) {}

SimulatedEngine::~SimulatedEngine() { Kill(); }

Status SimulatedEngine::Open(bool read_only) {
  Options options;
  options.create_if_missing = !read_only;
  options.read_only = read_only;
  auto engine = engine::Engine::Open(
      kShapePath, options, tuning_,
      {.file_system = &disk_, .clock = &clock_, .random = random_.get(), .executor = &executor_});
  if (!engine.has_value()) return engine.error();
  engine_ = std::move(*engine);
  return {};
}

Status SimulatedEngine::Close() {
  const Status status = engine_->Close();
  if (status.ok()) engine_.reset();
  return status;
}

void SimulatedEngine::Kill() {
  disk_.KillProcess();  // Nothing that the destructor tries reaches the disk any more.
  engine_.reset();
}

void SimulatedEngine::Load(const Files& files) {
  for (const auto& [name, bytes] : files) disk_.SetContent(kShapePath, name, bytes);
}

Files SimulatedEngine::Take() const {
  Files files;
  auto directory = const_cast<test::SimulatedDisk&>(disk_).OpenDirectory(kShapePath, false);
  if (!directory.has_value()) return files;
  for (const std::string& name : *(*directory)->List()) {
    files[name] = *disk_.Content(kShapePath, name);
  }
  return files;
}

engine::Tuning ShapeTuning() {
  engine::Tuning tuning = test::SmallTuning();
  tuning.memstore_bytes = 1 << 20;
  tuning.memstores_total_bytes = 4 << 20;
  tuning.log_segment_bytes = 4 << 10;
  tuning.compaction_runs = 8;
  return tuning;
}

}  // namespace tandem::reliability
