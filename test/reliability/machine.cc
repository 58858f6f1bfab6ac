// See machine.h.
#include "test/reliability/machine.h"

#include <utility>

#include "tools/simulation/same_observer.h"

namespace tandem::reliability {

Machine::Machine(const Setup& setup)
    : setup_(setup), clock_(setup.wall_micros), random_(base::NewSeededRandom(setup.seed)) {}

Status Machine::Open() {
  executor_ = std::make_unique<test::InlineExecutor>(clock_);
  Options options;
  options.create_if_missing = true;
  options.observers[test::kSameObserver] = test::NewSameObserver();
  options.listener = listener_;
  const std::string path = kDatabasePath;
  const engine::Environment environment{.file_system = setup_.files,
                                        .clock = &clock_,
                                        .random = random_.get(),
                                        .executor = executor_.get()};
  auto opened = Within(setup_.guard, [&] {
    return engine::Engine::Open(path, options, setup_.tuning, environment);
  });
  if (!opened.has_value()) return opened.error();
  engine_ = *std::move(opened);
  if (setup_.guard != nullptr) {
    engine_ = std::make_unique<GuardedEngine>(std::move(engine_), setup_.guard);
  }
  return {};
}

Status Machine::Close() {
  const Status status = engine_->Close();
  // After some errors it is closed, though not cleanly.
  if (status.ok() || engine_->TakeSnapshot().status().code() == StatusCode::kClosed) LetGo();
  return status;
}

// An exception that leaves the job ends the process, as it does on a thread of its own.
void Machine::RunJob() {
  if (setup_.guard != nullptr) setup_.guard->Begin();
  executor_->RunOne();
  if (setup_.guard != nullptr) setup_.guard->End();
}

void Machine::LetGo() {
  engine_.reset();
  executor_.reset();
}

}  // namespace tandem::reliability
