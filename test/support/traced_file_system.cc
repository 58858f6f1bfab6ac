// See traced_file_system.h.
#include "test/support/traced_file_system.h"

#include <algorithm>
#include <utility>

namespace tandem::test {
namespace {

class TracedQueue final : public base::IoQueue {
 public:
  TracedQueue(std::unique_ptr<base::IoQueue> beneath, TracedFileSystem* owner)
      : beneath_(std::move(beneath)), owner_(owner) {}

  void Submit(std::span<base::IoRequest* const> requests) override {
    for (const base::IoRequest* request : requests) {
      owner_->Note(+1);
      owner_->Note(*request);
    }
    beneath_->Submit(requests);
  }
  base::IoRequest* Wait() override {
    base::IoRequest* request = beneath_->Wait();
    if (request != nullptr) owner_->Note(-1);
    return request;
  }

 private:
  const std::unique_ptr<base::IoQueue> beneath_;
  TracedFileSystem* const owner_;
};

}  // namespace

std::unique_ptr<base::IoQueue> TracedFileSystem::NewQueue(uint32_t depth) {
  return std::make_unique<TracedQueue>(beneath_->NewQueue(depth), this);
}

std::vector<uint32_t> TracedFileSystem::TakeDepths() {
  base::MutexLock lock(mutex_);
  return std::exchange(depths_, {});
}

void TracedFileSystem::Note(int32_t change) {
  base::MutexLock lock(mutex_);
  in_flight_ += static_cast<uint32_t>(change);
  depths_.push_back(in_flight_);
}

std::vector<const char*> TracedFileSystem::TakeBuffers(size_t size_bytes) {
  base::MutexLock lock(mutex_);
  std::vector<const char*> large;
  for (const std::span<char> buffer : std::exchange(buffers_, {})) {
    if (buffer.size() >= size_bytes) large.push_back(buffer.data());
  }
  return large;
}

void TracedFileSystem::Note(const base::IoRequest& request) {
  base::MutexLock lock(mutex_);
  if (request.kind == base::IoRequest::Kind::kRead) buffers_.push_back(request.buffer);
}

uint32_t Median(std::vector<uint32_t> numbers) {
  const auto middle = numbers.begin() + static_cast<ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace tandem::test
