// The parts that are cut and not taken are a list under one mutex. No part is cut, read or freed
// while it is held.
#include "engine/parallel/part_readers.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// Of the rows of a part that is read ahead, as far as the memory of all cursors allows.
constexpr uint64_t kHeldBytesMax = 4 << 20;
constexpr uint64_t kHeldBytesMin = 16 << 10;
constexpr uint64_t kHeldPart = 2;  // Of what cursors may read ahead.
// Parts that are read ahead for each thread.
constexpr size_t kAhead = 2;
// How long the caller waits before it looks whether it was cancelled.
constexpr int64_t kLookMicros = 10'000;
constexpr size_t kSpareBatchesMax = 256;

uint64_t MemoryOf(const RowView& row) {
  uint64_t bytes = sizeof(RowView) + row.key().size() + row.cells().size() * sizeof(Cell);
  for (const Cell& cell : row.cells()) bytes += cell.value.size();
  return bytes;
}

}  // namespace

class PartReaders::Shared {
 public:
  explicit Shared(Work work)
      : work_(std::move(work)),
        caller_(work_.context->cancellation),
        ahead_max_(kAhead * work_.threads),
        held_bytes_max_(std::clamp(
            work_.context->resources.read_buffer_bytes / kHeldPart / (ahead_max_ + work_.taken - 1),
            kHeldBytesMin, kHeldBytesMax)),
        is_helping_(work_.threads - 1, false) {}

  const Work& work() const { return work_; }
  Result<std::unique_ptr<PartInWork>> Take() EXCLUDES(mutex_);
  Status Open(PartInWork* part, bool by_caller) EXCLUDES(mutex_);
  Status Fold(PartInWork* part, bool by_caller) EXCLUDES(mutex_);
  void Return(std::unique_ptr<PartInWork> part) EXCLUDES(mutex_);
  void Help(size_t number) EXCLUDES(mutex_);
  std::vector<size_t> Idle() EXCLUDES(mutex_);
  void End() EXCLUDES(mutex_);

 private:
  using Parts = std::list<std::unique_ptr<PartInWork>>;

  bool MayCutAhead() const REQUIRES(mutex_) {
    return !is_cutting_ && !is_at_end_ && !has_ended_ && parts_.size() < ahead_max_ && HasMemory();
  }
  bool HasMemory() const {
    const ReadResources& resources = work_.context->resources;
    return resources.memory == nullptr ||
           resources.memory->bytes(base::MemoryPart::kReadBuffers) < resources.read_buffer_bytes;
  }
  Parts Cut();
  PartInWork* CutAhead() EXCLUDES(mutex_);
  std::unique_ptr<ReadContext> TakeContext() EXCLUDES(mutex_);
  std::unique_ptr<format::RowBatch> TakeBatch() EXCLUDES(mutex_);
  void Read(PartInWork* part, bool by_caller) EXCLUDES(mutex_);
  static std::unique_ptr<ReadContext> TakeContextOf(PartInWork* part);
  Status Hold(PartInWork* part, bool by_caller) EXCLUDES(mutex_);
  void Wait() REQUIRES(mutex_) { (void)changed_.WaitFor(mutex_, kLookMicros); }

  Work work_;  // Its read is used by the thread that has is_cutting_.
  const base::Cancellation caller_;
  const size_t ahead_max_;
  const uint64_t held_bytes_max_;
  std::atomic<bool> stops_{false};  // Relaxed, as every flag that cancels.

  base::Mutex mutex_;
  base::CondVar changed_;
  Parts parts_ GUARDED_BY(mutex_);                   // Cut and not taken, in order.
  bool is_cutting_ GUARDED_BY(mutex_) = false;       // A thread cuts the next part.
  bool is_at_end_ GUARDED_BY(mutex_) = false;        // No part is to be cut any more.
  Status failure_ GUARDED_BY(mutex_);                // Of cutting; comes after `parts_`.
  bool has_ended_ GUARDED_BY(mutex_) = false;        // The caller is gone.
  uint32_t inside_ GUARDED_BY(mutex_) = 0;           // Other threads that are in Help.
  std::vector<bool> is_helping_ GUARDED_BY(mutex_);  // By the job's number: it waits or runs.
  std::vector<std::unique_ptr<ReadContext>> contexts_ GUARDED_BY(mutex_);  // That are not used.
  size_t contexts_made_ GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<format::RowBatch>> batches_ GUARDED_BY(mutex_);
};

// The next part, in a list so that no allocation can fail once it is cut; empty at the end.
// Requires: the caller has is_cutting_, and gives it back.
PartReaders::Shared::Parts PartReaders::Shared::Cut() {
  Parts cut;
  const Status status = Guarded([&]() -> Status {
    cut.push_back(std::make_unique<PartInWork>());
    ASSIGN_OR_RETURN(cut.front()->part, work_.read->Cut());
    return {};
  });
  if (status.ok() && cut.front()->part != nullptr) return cut;
  cut.clear();
  base::MutexLock lock(mutex_);
  is_at_end_ = true;
  failure_ = status;
  return cut;
}

PartInWork* PartReaders::Shared::CutAhead() {
  {
    base::MutexLock lock(mutex_);
    while (is_cutting_ && !has_ended_) Wait();
    if (!MayCutAhead() || caller_.is_cancelled()) return nullptr;
    is_cutting_ = true;
  }
  Parts cut = Cut();
  PartInWork* const part = cut.empty() ? nullptr : cut.front().get();
  base::MutexLock lock(mutex_);
  parts_.splice(parts_.end(), cut);
  is_cutting_ = false;
  changed_.NotifyAll();
  return part;
}

Result<std::unique_ptr<PartInWork>> PartReaders::Shared::Take() {
  while (true) {
    bool is_next = false;
    {
      base::MutexLock lock(mutex_);
      while (true) {
        if (!parts_.empty() && !parts_.front()->is_running) {
          std::unique_ptr<PartInWork> part = std::move(parts_.front());
          parts_.pop_front();
          return part;
        }
        if (parts_.empty() && is_at_end_) {
          RETURN_IF_ERROR(failure_);
          return std::unique_ptr<PartInWork>();
        }
        RETURN_IF_ERROR(caller_.Check());
        is_next = parts_.empty();
        if (!is_cutting_ && (is_next || MayCutAhead())) break;
        Wait();
      }
      if (is_next) is_cutting_ = true;
    }
    if (!is_next) {
      PartInWork* const ahead = CutAhead();
      if (ahead != nullptr) Read(ahead, true);
      continue;
    }
    Parts cut = Cut();
    {
      base::MutexLock lock(mutex_);
      is_cutting_ = false;
      changed_.NotifyAll();
    }
    if (cut.empty()) continue;
    // Of several parts that the caller has at a time none keeps a context.
    if (work_.taken > 1) Read(cut.front().get(), true);
    return std::move(cut.front());
  }
}

std::unique_ptr<ReadContext> PartReaders::Shared::TakeContext() {
  {
    base::MutexLock lock(mutex_);
    if (!contexts_.empty()) {
      std::unique_ptr<ReadContext> context = std::move(contexts_.back());
      contexts_.pop_back();
      return context;
    }
    contexts_.reserve(++contexts_made_);  // So that none is lost where it comes back.
  }
  const ReadContext& original = *work_.context;
  auto context = std::make_unique<ReadContext>(original.resources, original.view, original.schema);
  context->predicate = original.predicate;
  context->may_end_early = original.may_end_early;
  context->fills_cache = original.fills_cache;
  return context;
}

std::unique_ptr<format::RowBatch> PartReaders::Shared::TakeBatch() {
  {
    base::MutexLock lock(mutex_);
    if (!batches_.empty()) {
      std::unique_ptr<format::RowBatch> batch = std::move(batches_.back());
      batches_.pop_back();
      return batch;
    }
  }
  return std::make_unique<format::RowBatch>();
}

// A part that another thread has begun goes on by the caller's flag.
Status PartReaders::Shared::Open(PartInWork* part, bool by_caller) {
  if (part->context == nullptr) part->context = TakeContext();
  part->context->cancellation = by_caller ? caller_ : base::Cancellation(&stops_);
  if (part->is_opened || work_.counts) return {};
  ASSIGN_OR_RETURN(part->source, part->part->Open(part->context.get()));
  part->is_opened = true;
  return {};
}

Status PartReaders::Shared::Fold(PartInWork* part, bool by_caller) {
  RETURN_IF_ERROR(Open(part, by_caller));
  RETURN_IF_ERROR(work_.fold->Take(part->source.get()));
  part->source.reset();
  return {};
}

// A batch of several rows was decoded into it, and has all that it refers to; a single row may be a
// view of what its reader holds.
Status PartReaders::Shared::Hold(PartInWork* part, bool by_caller) {
  if (work_.fold != nullptr) return Fold(part, by_caller);
  RETURN_IF_ERROR(Open(part, by_caller));
  if (work_.counts) {
    ASSIGN_OR_RETURN(part->count, part->part->Count(part->context.get()));
    return {};
  }
  if (part->part->holds_rows()) return {};
  uint64_t bytes = 0;
  std::unique_ptr<format::RowBatch> batch;
  while (bytes < held_bytes_max_) {
    RETURN_IF_ERROR(caller_.Check());
    if (batch == nullptr) batch = TakeBatch();
    ASSIGN_OR_RETURN(const bool more, part->source->NextBatch(batch.get()));
    if (!more) {
      part->source.reset();
      break;
    }
    HeldRows& held = part->held.emplace_back();
    held.entry = part->source->entry();
    held.continues = batch->continues();
    for (const RowView& row : batch->rows()) bytes += MemoryOf(row);
    if (batch->size() == 1) {
      held.row.emplace(batch->rows().front());
      batch->Clear();
    } else {
      bytes += sizeof(format::RowBatch);
      held.batch = std::move(batch);
    }
  }
  part->charge =
      base::MemoryCharge(work_.context->resources.memory, base::MemoryPart::kReadBuffers, bytes);
  return {};
}

void PartReaders::Shared::Read(PartInWork* part, bool by_caller) {
  part->status = Guarded([&] { return Hold(part, by_caller); });
  if (!part->status.ok()) part->source.reset();
  // What is held needs no context: it reads another part while the caller has this one.
  std::unique_ptr<ReadContext> context =
      part->source == nullptr ? TakeContextOf(part) : std::unique_ptr<ReadContext>();
  base::MutexLock lock(mutex_);
  if (context != nullptr) contexts_.push_back(std::move(context));
  part->is_running = false;
  if (!part->status.ok()) is_at_end_ = true;  // What comes after it is not returned.
  changed_.NotifyAll();
}

// With what it has counted left with the part.
std::unique_ptr<ReadContext> PartReaders::Shared::TakeContextOf(PartInWork* part) {
  if (part->context != nullptr) part->counters = std::exchange(part->context->counters, {});
  return std::move(part->context);
}

void PartReaders::Shared::Return(std::unique_ptr<PartInWork> part) {
  part->source.reset();
  for (HeldRows& held : part->held) {
    if (held.batch != nullptr) held.batch->Clear();
  }
  std::unique_ptr<ReadContext> context = TakeContextOf(part.get());
  part->counters.passed_over += part->passed_over;
  if (work_.context->trace != nullptr) work_.context->trace->Add(part->counters);
  base::MutexLock lock(mutex_);
  for (HeldRows& held : part->held) {
    if (held.batch == nullptr || batches_.size() >= kSpareBatchesMax) continue;
    if (held.batch->is_usual()) batches_.push_back(std::move(held.batch));
  }
  if (context != nullptr) contexts_.push_back(std::move(context));
}

// The numbers of jobs that may help now and do not.
std::vector<size_t> PartReaders::Shared::Idle() {
  std::vector<size_t> idle;
  idle.reserve(work_.threads);
  base::MutexLock lock(mutex_);
  if (is_at_end_ || parts_.size() > ahead_max_ / 2) return idle;
  for (size_t i = 0; i < is_helping_.size(); ++i) {
    if (is_helping_[i]) continue;
    is_helping_[i] = true;
    idle.push_back(i);
  }
  return idle;
}

// One job.
void PartReaders::Shared::Help(size_t number) {
  {
    base::MutexLock lock(mutex_);
    if (has_ended_) return;
    ++inside_;
  }
  while (PartInWork* const part = CutAhead()) Read(part, false);
  base::MutexLock lock(mutex_);
  is_helping_[number] = false;
  --inside_;
  changed_.NotifyAll();
}

void PartReaders::Shared::End() {
  stops_.store(true, std::memory_order_relaxed);
  Parts parts;
  std::vector<std::unique_ptr<ReadContext>> contexts;
  std::vector<std::unique_ptr<format::RowBatch>> batches;
  {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
    changed_.NotifyAll();
    while (inside_ > 0) changed_.Wait(mutex_);
    parts.swap(parts_);
    contexts.swap(contexts_);
    batches.swap(batches_);
  }
  parts.clear();
  work_.read.reset();
  // What they have freed is returned to the system at once, not context by context. Where blocks
  // enter the cache, that is little, and to look for it in the heaps of several threads takes long.
  uint64_t freed = 0;
  for (const auto& context : contexts) freed += context->queue.TakeReadBytes();
  contexts.clear();
  batches.clear();
  base::MemoryAccount* const memory = work_.context->resources.memory;
  if (memory != nullptr && !work_.context->fills_cache) memory->heap().Freed(freed);
}

PartReaders::PartReaders(Work work) : shared_(std::make_shared<Shared>(std::move(work))) {}

PartReaders::~PartReaders() { shared_->End(); }

Result<std::unique_ptr<PartInWork>> PartReaders::Take() {
  if (taken_ >= shared_->work().alone) GetHelp();
  ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, shared_->Take());
  ++taken_;
  return part;
}

// Where a job cannot be made, the caller reads alone.
void PartReaders::GetHelp() {
  const size_t helpers = shared_->work().threads - 1;
  const Status status = Guarded([&] {
    while (jobs_.size() < helpers) {
      jobs_.push_back(
          base::NewJob(base::Priority::kHigh,
                       [shared = shared_, number = jobs_.size()] { shared->Help(number); }));
    }
    base::Executor* const readers = shared_->work().context->resources.readers;
    for (const size_t number : shared_->Idle()) readers->Schedule(jobs_[number]);
    return Status();
  });
  (void)status;
}

Status PartReaders::Open(PartInWork* part) { return shared_->Open(part, true); }

Result<uint64_t> PartReaders::Count(PartInWork* part) {
  RETURN_IF_ERROR(part->status);
  if (!part->is_running) return part->count;
  RETURN_IF_ERROR(shared_->Open(part, true));
  return part->part->Count(part->context.get());
}

Status PartReaders::Fold(PartInWork* part) {
  RETURN_IF_ERROR(part->status);
  return part->is_running ? shared_->Fold(part, true) : Status();
}

void PartReaders::Return(std::unique_ptr<PartInWork> part) { shared_->Return(std::move(part)); }

// A budget is counted row by row in the order of the rows.
uint32_t ThreadsFor(const ReadContext& context, uint32_t asked, uint64_t parts) {
  if (asked <= 1 || context.resources.readers == nullptr || context.meter != nullptr) return 1;
  return parts < kPartsMin ? 1 : asked;
}

}  // namespace tandem::engine
