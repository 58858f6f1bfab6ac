// Queues of a simulated disk. A request takes effect some time between Submit and its completion,
// and requests complete in an order that the disk's seed decides. A sync covers only what was
// written when it was submitted. Buffers of reads hold garbage until their completion, and those of
// writes must not change.
#include <algorithm>
#include <vector>

#include "format/hash.h"
#include "tools/simulation/simulated_file.h"
#include "tools/simulation/simulated_handles.h"

namespace tandem::test {
namespace {

constexpr char kGarbage = '\xdb';

uint64_t WriteHash(const base::IoRequest& request) {
  if (request.kind != base::IoRequest::Kind::kWrite) return 0;
  return format::Hash64({request.buffer.data(), request.buffer.size()});
}

class SimulatedQueue final : public base::IoQueue {
 public:
  SimulatedQueue(std::shared_ptr<SimulatedState> state, uint32_t depth)
      : state_(std::move(state)), depth_(std::max(depth, 1u)) {}
  ~SimulatedQueue() override {
    while (Wait() != nullptr) {
    }
  }

  void Submit(std::span<base::IoRequest* const> requests) override;
  base::IoRequest* Wait() override;

 private:
  struct Outstanding {
    base::IoRequest* request;
    uint64_t last_effect;  // At the time of Submit.
    uint64_t hash;         // Of what a write was given at Submit.
  };

  void Complete(const Outstanding& outstanding);

  const std::shared_ptr<SimulatedState> state_;
  const size_t depth_;
  std::vector<Outstanding> outstanding_;
};

void SimulatedQueue::Submit(std::span<base::IoRequest* const> requests) {
  uint64_t last_effect = 0;
  {
    base::MutexLock lock(state_->mutex);
    last_effect = state_->image.last_effect_id();
  }
  for (base::IoRequest* request : requests) {
    const bool is_read = request->kind == base::IoRequest::Kind::kRead;
    if (is_read) std::fill(request->buffer.begin(), request->buffer.end(), kGarbage);
    request->pin = request->file->Pin();
    outstanding_.push_back({request, last_effect, WriteHash(*request)});
  }
}

base::IoRequest* SimulatedQueue::Wait() {
  if (outstanding_.empty()) return nullptr;
  const size_t in_flight = std::min(outstanding_.size(), depth_);
  const auto chosen = outstanding_.begin() + state_->random->Next64() % in_flight;
  const Outstanding outstanding = *chosen;
  outstanding_.erase(chosen);
  Complete(outstanding);
  outstanding.request->pin = base::FilePin();
  return outstanding.request;
}

void SimulatedQueue::Complete(const Outstanding& outstanding) {
  base::IoRequest& request = *outstanding.request;
  auto* file = dynamic_cast<SimulatedFile*>(request.open_file());
  if (WriteHash(request) != outstanding.hash) {
    state_->control.Report("the buffer of a write to '" + request.file->name() + "' at " +
                           std::to_string(request.offset) + " changed while it was in flight");
  }
  if (request.kind != base::IoRequest::Kind::kDataSync || file == nullptr) {
    return base::RunRequest(request);
  }
  request.transferred = 0;
  request.status = file->SyncUpTo(outstanding.last_effect);
}

}  // namespace

std::unique_ptr<base::IoQueue> NewSimulatedQueue(std::shared_ptr<SimulatedState> state,
                                                 uint32_t depth) {
  return std::make_unique<SimulatedQueue>(std::move(state), depth);
}

}  // namespace tandem::test
