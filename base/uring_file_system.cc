// Rings over io_uring, and the file system whose queues use them. Directories and files are the
// POSIX ones. The only file that uses liburing.
#include <liburing.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define TANDEM_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TANDEM_THREAD_SANITIZER 1
#endif
#endif
#ifdef TANDEM_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#include "base/file_system.h"
#include "base/mutex.h"
#include "base/posix_file.h"
#include "base/ring.h"

namespace tandem::base {
namespace {

// liburing maps and unmaps a ring's memory with its own system calls, which the thread sanitizer
// does not see. If two threads' rings get the same pages one after the other, it would report a
// race. These two functions tell it what the kernel guarantees: a page is unmapped before it is
// mapped again.
#ifdef TANDEM_THREAD_SANITIZER
template <typename Tell>
void ForEachPage(const io_uring& ring, Tell tell) {
  constexpr size_t kPageBytes = 4096;
  const auto each = [&](void* memory, size_t size_bytes) {
    for (size_t at = 0; at < size_bytes; at += kPageBytes) tell(static_cast<char*>(memory) + at);
  };
  each(ring.sq.ring_ptr, ring.sq.ring_sz);
  each(ring.cq.ring_ptr, ring.cq.ring_sz);
  each(ring.sq.sqes, ring.sq.ring_entries * sizeof(io_uring_sqe));
}
void HasMapped(const io_uring& ring) { ForEachPage(ring, __tsan_acquire); }
void WillUnmap(const io_uring& ring) { ForEachPage(ring, __tsan_release); }
#else
void HasMapped(const io_uring&) {}
void WillUnmap(const io_uring&) {}
#endif

class Uring final : public Ring {
 public:
  Uring() = default;
  ~Uring() override;

  // False: no ring was made, and nothing else may be called.
  bool Init(uint32_t entry_count);

  bool Takes(const File& file) const override {
    return dynamic_cast<const PosixFile*>(&file) != nullptr;
  }
  bool Push(const RingOperation& operation) override;
  int Enter(unsigned wait_count) override { return io_uring_submit_and_wait(&ring_, wait_count); }
  int Await() override;
  bool Reap(RingCompletion* completion) override;

 private:
  io_uring ring_{};
  bool has_ring_ = false;
};

bool Uring::Init(uint32_t entry_count) {
  has_ring_ = io_uring_queue_init(entry_count, &ring_, 0) == 0;
  if (has_ring_) HasMapped(ring_);
  return has_ring_;
}

Uring::~Uring() {
  if (!has_ring_) return;
  WillUnmap(ring_);
  io_uring_queue_exit(&ring_);
}

bool Uring::Push(const RingOperation& operation) {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return false;
  const int fd = static_cast<PosixFile*>(operation.file)->fd();  // Pinned until completion.
  const auto length = static_cast<unsigned>(operation.buffer.size());
  switch (operation.kind) {
    case IoRequest::Kind::kRead:
      io_uring_prep_read(entry, fd, operation.buffer.data(), length, operation.offset);
      break;
    case IoRequest::Kind::kWrite:
      io_uring_prep_write(entry, fd, operation.buffer.data(), length, operation.offset);
      break;
    case IoRequest::Kind::kDataSync:
      io_uring_prep_fsync(entry, fd, IORING_FSYNC_DATASYNC);
      break;
  }
  entry->user_data = operation.user_data;
  return true;
}

int Uring::Await() {
  io_uring_cqe* completion = nullptr;
  return io_uring_wait_cqe(&ring_, &completion);
}

bool Uring::Reap(RingCompletion* completion) {
  io_uring_cqe* entry = nullptr;
  if (io_uring_peek_cqe(&ring_, &entry) != 0) return false;
  *completion = {.user_data = entry->user_data, .result = entry->res};
  io_uring_cqe_seen(&ring_, entry);
  return true;
}

// All rings, with a list of the idle ones. Threads: any.
class RingPool {
 public:
  explicit RingPool(uint32_t rings_max) : rings_max_(rings_max) { idle_.reserve(rings_max); }

  /// A ring with room for `entry_count` operations; null at the limit, or if none can be made. The
  /// caller gives it back or drops it, whatever happens.
  std::unique_ptr<Uring> Take(uint32_t entry_count);
  /// Keeps the ring for the next queue. Requires: nothing is in it.
  void GiveBack(std::unique_ptr<Uring> ring, uint32_t entry_count);
  /// Uncounts a ring that was taken and destroyed.
  void Drop();
  uint64_t count() const {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  struct Idle {
    std::unique_ptr<Uring> ring;
    uint32_t entry_count;
  };

  std::unique_ptr<Uring> TakeIdle(uint32_t entry_count);

  const uint32_t rings_max_;
  mutable Mutex mutex_;
  uint32_t count_ GUARDED_BY(mutex_) = 0;  // In use and idle.
  std::vector<Idle> idle_ GUARDED_BY(mutex_);
};

std::unique_ptr<Uring> RingPool::TakeIdle(uint32_t entry_count) {
  MutexLock lock(mutex_);
  for (Idle& idle : idle_) {
    if (idle.entry_count < entry_count) continue;
    std::unique_ptr<Uring> ring = std::move(idle.ring);
    std::swap(idle, idle_.back());
    idle_.pop_back();
    return ring;
  }
  return nullptr;
}

// Allocates nothing once a ring is counted: nobody would uncount it.
std::unique_ptr<Uring> RingPool::Take(uint32_t entry_count) {
  if (std::unique_ptr<Uring> idle = TakeIdle(entry_count)) return idle;
  auto ring = std::make_unique<Uring>();
  Idle other{};  // A too small ring to replace; unmapped without the lock.
  {
    MutexLock lock(mutex_);
    if (count_ < rings_max_) {
      ++count_;
    } else if (!idle_.empty()) {
      other = std::move(idle_.back());
      idle_.pop_back();
    } else {
      return nullptr;
    }
  }
  other.ring.reset();
  if (ring->Init(entry_count)) return ring;
  Drop();
  return nullptr;
}

void RingPool::GiveBack(std::unique_ptr<Uring> ring, uint32_t entry_count) {
  MutexLock lock(mutex_);
  idle_.push_back({std::move(ring), entry_count});
}

void RingPool::Drop() {
  MutexLock lock(mutex_);
  --count_;
}

// A ring of the pool, in use by one queue. It returns to the pool only if every operation pushed
// was reaped; otherwise the next queue would run what was left in it.
class LentRing final : public Ring {
 public:
  LentRing(std::shared_ptr<RingPool> pool, uint32_t entry_count)
      : pool_(std::move(pool)), entry_count_(entry_count) {}
  ~LentRing() override {
    if (ring_ == nullptr) return;
    if (in_ring_ == 0) {
      pool_->GiveBack(std::move(ring_), entry_count_);
    } else {
      ring_.reset();
      pool_->Drop();
    }
  }

  /// Takes the ring from the pool. False: there is none, and nothing else may be called.
  bool Take() {
    ring_ = pool_->Take(entry_count_);
    return ring_ != nullptr;
  }

  bool Takes(const File& file) const override { return ring_->Takes(file); }
  bool Push(const RingOperation& operation) override {
    const bool is_pushed = ring_->Push(operation);
    in_ring_ += is_pushed;
    return is_pushed;
  }
  int Enter(unsigned wait_count) override { return ring_->Enter(wait_count); }
  int Await() override { return ring_->Await(); }
  bool Reap(RingCompletion* completion) override {
    const bool is_reaped = ring_->Reap(completion);
    in_ring_ -= is_reaped;
    return is_reaped;
  }

 private:
  const std::shared_ptr<RingPool> pool_;
  std::unique_ptr<Uring> ring_;
  const uint32_t entry_count_;
  uint64_t in_ring_ = 0;  // Pushed and not reaped.
};

class UringFileSystem final : public FileSystem {
 public:
  UringFileSystem(std::unique_ptr<FileSystem> posix, uint32_t rings_max)
      : posix_(std::move(posix)), rings_(std::make_shared<RingPool>(rings_max)) {}

  Result<std::unique_ptr<Directory>> OpenDirectory(const std::string& path, bool create) override {
    return posix_->OpenDirectory(path, create);
  }
  Result<std::unique_ptr<Directory>> CreateDirectory(const std::string& path) override {
    return posix_->CreateDirectory(path);
  }
  Status RemoveDirectory(const std::string& path) override { return posix_->RemoveDirectory(path); }

  std::unique_ptr<IoQueue> NewQueue(uint32_t depth) override {
    const uint32_t slot_count = std::clamp<uint32_t>(depth, 1, kRingDepthMax);
    auto ring = std::make_unique<LentRing>(rings_, slot_count);
    if (!ring->Take()) return posix_->NewQueue(depth);
    return NewRingQueue(std::move(ring), slot_count);
  }

  uint64_t open_rings() const override { return rings_->count(); }
  std::string_view name() const override { return "io_uring"; }

 private:
  std::unique_ptr<FileSystem> posix_;
  const std::shared_ptr<RingPool> rings_;  // Shared with the queues.
};

// Empty if rings can be made here and support the three operations.
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

std::unique_ptr<FileSystem> NewUringFileSystem(std::string* fallback_reason, uint32_t rings_max) {
  const std::string why = WhyNoRings();
  if (fallback_reason != nullptr) {
    *fallback_reason = why.empty() ? "" : "io_uring is " + why + ": using POSIX reads";
  }
  if (!why.empty()) return NewPosixFileSystem();
  return std::make_unique<UringFileSystem>(NewPosixFileSystem(), rings_max);
}

}  // namespace tandem::base
