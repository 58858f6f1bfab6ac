// The engine under test with its simulated surroundings; see store.h.
#include "test/model/store.h"

#include <utility>

#include "tools/simulation/same_observer.h"

namespace tandem::test {

Store::Store(const Setup& setup)
    : setup_(setup), clock_(setup.wall_micros), random_(base::NewSeededRandom(setup.seed)) {
  if (setup_.disk == DiskKind::kSimulated) {
    simulated_ = std::make_unique<SimulatedDisk>(setup_.seed);
    if (setup_.seed % 2 == 0) simulated_->UseRings();
    file_system_ = simulated_.get();
    path_ = "database";
    return;
  }
  directory_.emplace(setup_.parent);
  path_ = directory_->Path("database");
  real_ = setup_.disk == DiskKind::kPosix ? base::NewPosixFileSystem()
                                          : base::NewUringFileSystem(&fallback_reason_);
  file_system_ = real_.get();
}

Store::~Store() { Abandon(); }

Status Store::Open(const format::FunctionRegistry& functions) {
  executor_ = std::make_unique<InlineExecutor>(clock_);
  Options options;
  options.create_if_missing = true;
  options.observers[kSameObserver] = NewSameObserver();
  options.functions = functions;
  auto engine = engine::Engine::Open(path_, options, setup_.tuning,
                                     {.file_system = file_system_,
                                      .clock = &clock_,
                                      .random = random_.get(),
                                      .executor = executor_.get()});
  if (!engine.has_value()) return engine.error();
  engine_ = std::move(*engine);
  return {};
}

Status Store::Close() {
  Status status = engine_->Close();
  if (status.ok()) Abandon();
  return status;
}

uint64_t Store::LastSequence() {
  const auto snapshot = engine_->TakeSnapshot();
  return snapshot.has_value() ? snapshot->sequence() : 0;
}

void Store::Abandon() {
  engine_.reset();
  executor_.reset();
}

}  // namespace tandem::test
