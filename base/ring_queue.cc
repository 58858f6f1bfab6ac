// Queues over rings: see ring.h.
//
// A queue has `depth` slots, one for each request in the kernel, so a completion ring with at least
// that many entries cannot overflow. Life of a request:
// 1. Submit puts it into waiting_.
// 2. Fill gives it a free slot, and Prepare pushes its operation: it is in prepared_.
// 3. Enter submits the operations to the kernel in order: it is counted in in_kernel_count_.
// 4. Reap gets its completion and moves it to done_. If it was short or interrupted, it goes back
//    to 2 in the same slot with the remaining bytes.
// An operation is identified by its slot and a generation that each Prepare increments, so a stale
// completion is dropped.
// The file of a request is pinned from step 1 to its completion, retries included, so its
// descriptor does not change.
// A ring that stops accepting operations is broken. Requests that are not in the kernel then run
// through their file's own calls, so every request completes.
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <vector>

#include "base/posix_file.h"
#include "base/ring.h"

namespace tandem::base {
namespace {

// An operation's length has 32 bits; longer requests are continued as short ones are.
constexpr size_t kTransferMax = size_t{1} << 30;
constexpr int kSlotBits = 32;

// Interrupted, refused for now, or cancelled because the thread that submitted it has ended.
bool IsRepeatable(int error) { return IsTransient(error) || error == ECANCELED; }

class RingQueue final : public IoQueue {
 public:
  RingQueue(std::unique_ptr<Ring> ring, uint32_t depth);
  ~RingQueue() override;

  void Submit(std::span<IoRequest* const> requests) override;
  IoRequest* Wait() override;

 private:
  struct Slot {
    IoRequest* request = nullptr;
    uint32_t generation = 0;
    int fruitless_attempts = 0;
  };

  void Start(IoRequest* request);
  void Run(IoRequest* request);
  void Fill();
  void Prepare(uint32_t slot_index);
  void Enter(unsigned wait_count);
  void WaitOnly();
  void Reap();
  void Complete(uint32_t slot_index, int result);
  void Transferred(uint32_t slot_index, int result);
  void Finish(uint32_t slot_index);
  void FinishByOwnCalls(uint32_t slot_index);
  void Abandon();

  const std::unique_ptr<Ring> ring_;
  bool is_broken_ = false;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::deque<IoRequest*> waiting_;
  std::deque<uint32_t> prepared_;  // Slots whose operation the kernel has not taken, in order.
  uint32_t in_kernel_count_ = 0;
  int fruitless_enters_ = 0;
  std::deque<IoRequest*> done_;
};

RingQueue::RingQueue(std::unique_ptr<Ring> ring, uint32_t depth)
    : ring_(std::move(ring)), slots_(depth) {
  for (uint32_t i = depth; i > 0; --i) free_slots_.push_back(i - 1);
}

RingQueue::~RingQueue() {
  // The kernel must be done with the buffers before the caller frees them.
  while (Wait() != nullptr) {
  }
}

void RingQueue::Submit(std::span<IoRequest* const> requests) {
  for (IoRequest* request : requests) Start(request);
  Fill();
  if (!prepared_.empty()) Enter(0);
}

IoRequest* RingQueue::Wait() {
  while (true) {
    Fill();
    if (done_.empty() && prepared_.empty() && in_kernel_count_ == 0) return nullptr;
    // Free slots are refilled before the caller processes a completed request.
    if (done_.empty() || !prepared_.empty()) {
      Enter(done_.empty() ? 1 : 0);
      Reap();
    }
    if (!done_.empty()) break;
  }
  IoRequest* request = done_.front();
  done_.pop_front();
  return request;
}

// Requests that need no I/O, or whose file the ring does not take (a wrapper), run at once.
void RingQueue::Start(IoRequest* request) {
  request->status = Status();
  request->transferred = 0;
  const bool is_empty = request->kind != IoRequest::Kind::kDataSync && request->buffer.empty();
  if (!is_empty) request->pin = request->file->Pin();
  if (is_empty || !ring_->Takes(*request->open_file())) return Run(request);
  waiting_.push_back(request);
}

void RingQueue::Run(IoRequest* request) {
  RunRequest(*request);
  request->pin = FilePin();
  done_.push_back(request);
}

void RingQueue::Fill() {
  while (!waiting_.empty() && !free_slots_.empty()) {
    IoRequest* request = waiting_.front();
    waiting_.pop_front();
    const uint32_t slot_index = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot_index].request = request;
    slots_[slot_index].fruitless_attempts = 0;
    Prepare(slot_index);
  }
}

void RingQueue::Prepare(uint32_t slot_index) {
  Slot& slot = slots_[slot_index];
  const IoRequest& request = *slot.request;
  const std::span<char> left = request.buffer.subspan(request.transferred);
  ++slot.generation;
  const RingOperation operation{.kind = request.kind,
                                .file = request.open_file(),
                                .offset = request.offset + request.transferred,
                                .buffer = left.first(std::min(left.size(), kTransferMax)),
                                .user_data = uint64_t{slot.generation} << kSlotBits | slot_index};
  if (is_broken_ || !ring_->Push(operation)) return FinishByOwnCalls(slot_index);
  prepared_.push_back(slot_index);
}

// Submits the prepared operations and waits for `wait_count` completions. It may return earlier:
// the caller reaps and calls it again.
void RingQueue::Enter(unsigned wait_count) {
  if (is_broken_) return WaitOnly();
  const int result = ring_->Enter(wait_count);
  for (int taken = 0; taken < result && !prepared_.empty(); ++taken) {
    prepared_.pop_front();
    ++in_kernel_count_;
  }
  if (result > 0 || prepared_.empty()) {
    fruitless_enters_ = 0;
    // Nothing was left to submit, so an error can only come from the wait.
    if (result < 0 && result != -EINTR) sched_yield();
    return;
  }
  // EBUSY: completions must be reaped first.
  const bool is_passing = result == 0 || IsTransient(-result) || result == -EBUSY;
  if (!is_passing || ++fruitless_enters_ > kFruitlessAttemptsMax) Abandon();
}

// The wait of a broken ring: submits nothing.
void RingQueue::WaitOnly() {
  if (in_kernel_count_ > 0 && ring_->Await() < 0) sched_yield();
}

void RingQueue::Reap() {
  RingCompletion completion;
  while (in_kernel_count_ > 0 && ring_->Reap(&completion)) {
    const auto slot_index = static_cast<uint32_t>(completion.user_data);
    const auto generation = static_cast<uint32_t>(completion.user_data >> kSlotBits);
    const bool is_known = slot_index < slots_.size() && slots_[slot_index].request != nullptr &&
                          slots_[slot_index].generation == generation;
    if (!is_known) continue;
    --in_kernel_count_;
    Complete(slot_index, completion.result);
  }
}

void RingQueue::Complete(uint32_t slot_index, int result) {
  Slot& slot = slots_[slot_index];
  IoRequest& request = *slot.request;
  if (result < 0 && IsRepeatable(-result)) {
    // A ring may lack memory that a plain call does not need.
    const bool is_hopeless = ++slot.fruitless_attempts > kFruitlessAttemptsMax;
    return is_hopeless ? FinishByOwnCalls(slot_index) : Prepare(slot_index);
  }
  if (request.kind == IoRequest::Kind::kDataSync) {
    if (result < 0) request.status = PosixError("sync", request.file->name(), -result);
    return Finish(slot_index);
  }
  Transferred(slot_index, result);
}

void RingQueue::Transferred(uint32_t slot_index, int result) {
  Slot& slot = slots_[slot_index];
  IoRequest& request = *slot.request;
  const bool is_read = request.kind == IoRequest::Kind::kRead;
  const size_t left = request.buffer.size() - request.transferred;
  // A write of zero bytes, or more bytes than requested, is an invalid result.
  const bool is_nonsense =
      result >= 0 && ((result == 0 && !is_read) || static_cast<size_t>(result) > left);
  if (result < 0 || is_nonsense) {
    const uint64_t offset = request.offset + request.transferred;
    request.status = PosixError(ActionAt(is_read ? "read" : "write", offset), request.file->name(),
                                is_nonsense ? EIO : -result);
    return Finish(slot_index);
  }
  request.transferred += static_cast<size_t>(result);
  slot.fruitless_attempts = 0;
  const bool is_at_end = result == 0 || request.transferred == request.buffer.size();
  return is_at_end ? Finish(slot_index) : Prepare(slot_index);
}

void RingQueue::Finish(uint32_t slot_index) {
  slots_[slot_index].request->pin = FilePin();  // All retries are over.
  done_.push_back(slots_[slot_index].request);
  slots_[slot_index].request = nullptr;
  free_slots_.push_back(slot_index);
}

void RingQueue::FinishByOwnCalls(uint32_t slot_index) {
  RunRequest(*slots_[slot_index].request);
  Finish(slot_index);
}

// Stops using the ring for new operations. Operations in the kernel are still waited for.
// Operations that the kernel has not taken stay in the ring, which is never entered again.
void RingQueue::Abandon() {
  is_broken_ = true;
  while (!prepared_.empty()) {
    FinishByOwnCalls(prepared_.front());
    prepared_.pop_front();
  }
}

}  // namespace

std::unique_ptr<IoQueue> NewRingQueue(std::unique_ptr<Ring> ring, uint32_t depth) {
  return std::make_unique<RingQueue>(std::move(ring), depth);
}

}  // namespace tandem::base
