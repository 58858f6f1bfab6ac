// Queues over io_uring rings; directories and files themselves are the POSIX ones. The only file
// that knows liburing.
//
// A queue holds `depth` slots, each for one request in the kernel, so the completion ring, which
// has at least as many entries, cannot overflow. Life of a request:
// 1. Submit puts it into waiting_.
// 2. Fill gives it a free slot and a submission entry: prepared_.
// 3. Enter passes the entries to the kernel, which takes them in order: in_kernel_count_.
// 4. Reap takes its completion: to done_, or, when it was short or interrupted, back to 2 in the
// same
//    slot with what is left.
// A ring that stops accepting entries is broken: requests that are not in the kernel then run
// through POSIX calls, so every request completes in any case.
#include <liburing.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <system_error>
#include <vector>

#include "base/file_system.h"
#include "base/posix_file.h"

namespace tandem::base {
namespace {

constexpr uint32_t kDepthMax = 4096;
// An entry's length has 32 bits; longer requests are continued as short ones are.
constexpr size_t kTransferMax = size_t{1} << 30;

// Interrupted, refused for now, or cancelled because the thread that submitted it has ended.
bool IsRepeatable(int error) { return IsTransient(error) || error == ECANCELED; }

class UringQueue final : public IoQueue {
 public:
  UringQueue() = default;
  ~UringQueue() override;

  // Returns 0 or the errno why there is no ring. Nothing else may be called after a failure.
  int Init(uint32_t depth);

  void Submit(std::span<IoRequest* const> requests) override;
  IoRequest* Wait() override;

 private:
  struct Slot {
    IoRequest* request = nullptr;
    int fd = -1;
    int fruitless_attempts = 0;
  };

  void Start(IoRequest* request);
  void Fill();
  void Prepare(uint32_t slot_index);
  void Enter(unsigned wait_count);
  void WaitOnly();
  void Reap();
  void Complete(uint32_t slot_index, int result);
  void Finish(uint32_t slot_index);
  void FinishByPosix(uint32_t slot_index);
  void Abandon();

  io_uring ring_{};
  bool has_ring_ = false;
  bool is_broken_ = false;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::deque<IoRequest*> waiting_;
  std::deque<uint32_t> prepared_;  // Slots whose entry the kernel has not taken, in entry order.
  uint32_t in_kernel_count_ = 0;
  int fruitless_enters_ = 0;
  std::deque<IoRequest*> done_;
};

int UringQueue::Init(uint32_t depth) {
  const uint32_t slot_count = std::clamp<uint32_t>(depth, 1, kDepthMax);
  const int result = io_uring_queue_init(slot_count, &ring_, 0);
  if (result < 0) return -result;
  has_ring_ = true;
  slots_.resize(slot_count);
  for (uint32_t i = slot_count; i > 0; --i) free_slots_.push_back(i - 1);
  return 0;
}

UringQueue::~UringQueue() {
  // The kernel must be done with the buffers before the caller frees them.
  while (has_ring_ && Wait() != nullptr) {
  }
  if (has_ring_) io_uring_queue_exit(&ring_);
}

void UringQueue::Submit(std::span<IoRequest* const> requests) {
  for (IoRequest* request : requests) Start(request);
  Fill();
  if (!prepared_.empty()) Enter(0);
}

IoRequest* UringQueue::Wait() {
  while (true) {
    Fill();
    if (done_.empty() && prepared_.empty() && in_kernel_count_ == 0) return nullptr;
    // Slots that became free are put to work before the caller processes what is done.
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

// Requests that need no kernel, or whose file is not one of ours (a wrapper), run here and now.
void UringQueue::Start(IoRequest* request) {
  request->status = Status();
  request->transferred = 0;
  const bool is_empty = request->kind != IoRequest::Kind::kDataSync && request->buffer.empty();
  if (is_empty || dynamic_cast<PosixFile*>(request->file) == nullptr) {
    RunRequest(*request);
    done_.push_back(request);
    return;
  }
  waiting_.push_back(request);
}

void UringQueue::Fill() {
  while (!waiting_.empty() && !free_slots_.empty()) {
    IoRequest* request = waiting_.front();
    waiting_.pop_front();
    const uint32_t slot_index = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot_index] = {.request = request, .fd = static_cast<PosixFile*>(request->file)->fd()};
    Prepare(slot_index);
  }
}

void UringQueue::Prepare(uint32_t slot_index) {
  io_uring_sqe* entry = is_broken_ ? nullptr : io_uring_get_sqe(&ring_);
  if (entry == nullptr) return FinishByPosix(slot_index);
  const Slot& slot = slots_[slot_index];
  const IoRequest& request = *slot.request;
  const std::span<char> left = request.buffer.subspan(request.transferred);
  const auto length = static_cast<unsigned>(std::min(left.size(), kTransferMax));
  const uint64_t offset = request.offset + request.transferred;
  switch (request.kind) {
    case IoRequest::Kind::kRead:
      io_uring_prep_read(entry, slot.fd, left.data(), length, offset);
      break;
    case IoRequest::Kind::kWrite:
      io_uring_prep_write(entry, slot.fd, left.data(), length, offset);
      break;
    case IoRequest::Kind::kDataSync:
      io_uring_prep_fsync(entry, slot.fd, IORING_FSYNC_DATASYNC);
      break;
  }
  entry->user_data = slot_index;
  prepared_.push_back(slot_index);
}

// Passes the prepared entries to the kernel and waits until `wait_count` completions are there, or
// less long: the caller reaps and comes back.
void UringQueue::Enter(unsigned wait_count) {
  if (is_broken_) return WaitOnly();
  const int result = io_uring_submit_and_wait(&ring_, wait_count);
  for (int taken = 0; taken < result && !prepared_.empty(); ++taken) {
    prepared_.pop_front();
    ++in_kernel_count_;
  }
  if (result > 0 || prepared_.empty()) {
    fruitless_enters_ = 0;
    // Nothing was left to pass on, so an error concerns the wait alone.
    if (result < 0 && result != -EINTR) sched_yield();
    return;
  }
  // EBUSY: completions must be reaped first.
  const bool is_passing = result == 0 || IsTransient(-result) || result == -EBUSY;
  if (!is_passing || ++fruitless_enters_ > kFruitlessAttemptsMax) Abandon();
}

// The wait of a broken ring: passes nothing on.
void UringQueue::WaitOnly() {
  io_uring_cqe* completion = nullptr;
  if (in_kernel_count_ > 0 && io_uring_wait_cqe(&ring_, &completion) < 0) sched_yield();
}

void UringQueue::Reap() {
  io_uring_cqe* completion = nullptr;
  while (in_kernel_count_ > 0 && io_uring_peek_cqe(&ring_, &completion) == 0) {
    const auto slot_index = static_cast<uint32_t>(completion->user_data);
    const int result = completion->res;
    io_uring_cqe_seen(&ring_, completion);
    --in_kernel_count_;
    Complete(slot_index, result);
  }
}

void UringQueue::Complete(uint32_t slot_index, int result) {
  Slot& slot = slots_[slot_index];
  IoRequest& request = *slot.request;
  if (result < 0 && IsRepeatable(-result)) {
    // A ring may lack memory that a plain call does not need.
    const bool is_hopeless = ++slot.fruitless_attempts > kFruitlessAttemptsMax;
    return is_hopeless ? FinishByPosix(slot_index) : Prepare(slot_index);
  }
  if (request.kind == IoRequest::Kind::kDataSync) {
    if (result < 0) request.status = PosixError("sync", request.file->name(), -result);
    return Finish(slot_index);
  }
  const bool is_read = request.kind == IoRequest::Kind::kRead;
  const bool is_stuck_write = result == 0 && !is_read;
  if (result < 0 || is_stuck_write) {
    const uint64_t offset = request.offset + request.transferred;
    request.status = PosixError(ActionAt(is_read ? "read" : "write", offset), request.file->name(),
                                is_stuck_write ? EIO : -result);
    return Finish(slot_index);
  }
  request.transferred += static_cast<size_t>(result);
  slot.fruitless_attempts = 0;
  const bool is_at_end = result == 0 || request.transferred == request.buffer.size();
  return is_at_end ? Finish(slot_index) : Prepare(slot_index);
}

void UringQueue::Finish(uint32_t slot_index) {
  done_.push_back(slots_[slot_index].request);
  slots_[slot_index] = {};
  free_slots_.push_back(slot_index);
}

void UringQueue::FinishByPosix(uint32_t slot_index) {
  RunRequest(*slots_[slot_index].request);
  Finish(slot_index);
}

// Gives the ring up for new entries. What the kernel has taken is still awaited. The entries that
// it has not taken stay in the submission ring, which nobody passes on any more.
void UringQueue::Abandon() {
  is_broken_ = true;
  while (!prepared_.empty()) {
    FinishByPosix(prepared_.front());
    prepared_.pop_front();
  }
}

class UringFileSystem final : public FileSystem {
 public:
  explicit UringFileSystem(std::unique_ptr<FileSystem> posix) : posix_(std::move(posix)) {}

  Result<std::unique_ptr<Directory>> OpenDirectory(const std::string& path, bool create) override {
    return posix_->OpenDirectory(path, create);
  }
  Result<std::unique_ptr<Directory>> CreateDirectory(const std::string& path) override {
    return posix_->CreateDirectory(path);
  }
  Status RemoveDirectory(const std::string& path) override { return posix_->RemoveDirectory(path); }

  std::unique_ptr<IoQueue> NewQueue(uint32_t depth) override {
    auto queue = std::make_unique<UringQueue>();
    if (queue->Init(depth) == 0) return queue;
    return posix_->NewQueue(depth);
  }

  std::string_view name() const override { return "io_uring"; }

 private:
  std::unique_ptr<FileSystem> posix_;
};

// Empty when rings can be made here and know the three operations.
std::string WhyNoRings() {
  io_uring ring{};
  const int result = io_uring_queue_init(1, &ring, 0);
  if (result < 0) return "refused here (" + std::generic_category().message(-result) + ")";
  io_uring_probe* probe = io_uring_get_probe_ring(&ring);
  const bool is_complete = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) &&
                           io_uring_opcode_supported(probe, IORING_OP_WRITE) &&
                           io_uring_opcode_supported(probe, IORING_OP_FSYNC);
  if (probe != nullptr) io_uring_free_probe(probe);
  io_uring_queue_exit(&ring);
  return is_complete ? "" : "too old here";
}

}  // namespace

std::unique_ptr<FileSystem> NewUringFileSystem(std::string* fallback_reason) {
  const std::string why = WhyNoRings();
  if (fallback_reason != nullptr) {
    *fallback_reason = why.empty() ? "" : "io_uring is " + why + ": using POSIX reads";
  }
  if (!why.empty()) return NewPosixFileSystem();
  return std::make_unique<UringFileSystem>(NewPosixFileSystem());
}

}  // namespace tandem::base
