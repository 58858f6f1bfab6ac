// The encoded operations of a bulk load on their way from the caller to its files, so that reading
// the input and writing files take a processor each.
//
// A background task writes what waits. Where it gets no thread, or is behind, the caller writes
// instead of waiting: a load needs no free thread to go on. Whoever writes has the turn, which one
// thread has at a time, so batches are written in their order.
//
// Parts of the writing are loops that both may run (base/executor.h): the caller when it adds a
// batch or waits, and the task when the caller writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/executor.h"
#include "base/memory_account.h"
#include "engine/runtime/background.h"
#include "tandem/status.h"
#include "wal/operation.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: its task may run until it is destroyed.
class BulkQueue final : public base::Parallel {
 public:
  /// Writes a batch. Threads: one at a time, not always the same.
  using Write = std::function<Status(wal::BatchEncoder batch)>;

  /// `jobs` is stopped before what `write` refers to is destroyed. `charge` is for what waits.
  BulkQueue(BackgroundJobs* jobs, Write write, base::MemoryCharge charge = {});
  /// Drops what waits.
  ~BulkQueue() override;
  BulkQueue(const BulkQueue&) = delete;
  BulkQueue& operator=(const BulkQueue&) = delete;

  /// From now on up to `bytes` may wait, or a few MiB if that is more: where some writes take much
  /// longer than others, the caller goes on meanwhile.
  void LetWait(uint64_t bytes);
  /// Adds a batch, which is written later. Writes others while more wait than may. Errors: those of
  /// `write` for earlier batches; nothing is written after one.
  Status Push(wal::BatchEncoder batch);
  /// Returns when everything is written. Errors: as Push.
  Status Drain();
  /// Threads: any. Lifetime: the loop may end after the queue.
  std::unique_ptr<Loop> Begin(size_t count, Iteration iteration) override;

 private:
  struct State;
  class SharedLoop;
  const std::shared_ptr<State> state_;  // Shared with the task.
  BackgroundTask task_;
};

}  // namespace tandem::engine
