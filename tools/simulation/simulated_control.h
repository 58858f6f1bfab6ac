// What a test does to a simulated disk from outside: it counts and traces operations, lets chosen
// ones fail, switches the power off, limits the space, and has a hook called.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tandem/status.h"
#include "tools/simulation/simulated_inode.h"

namespace tandem::test {

enum class DiskOperation : uint8_t {
  kRead,
  kWrite,
  kTruncate,
  kPreallocate,
  kDataSync,
  kCreate,
  kOpen,
  kRemove,
  kList,
  kDirectorySync,
  kLink,
  kExtend,
};

/// "read", "sync", "directory sync", ...
std::string_view DiskOperationName(DiskOperation operation);

/// One operation, as the trace and the hook see it.
struct DiskEvent {
  DiskOperation operation = DiskOperation::kRead;
  std::string name{};   ///< Of the file; of the directory for kList and kDirectorySync.
  uint64_t offset = 0;  ///< kRead, kWrite.
  uint64_t size = 0;    ///< Bytes asked for; the new size for kTruncate, kPreallocate, kExtend.

  bool operator==(const DiskEvent&) const = default;
};

/// "write 000001.log at 4096, 100 bytes".
std::string Describe(const DiskEvent& event);

/// Handles on files, whatever they are opened for.
struct OpenFileCount {
  uint64_t now = 0;
  uint64_t most = 0;  ///< At any moment since it was asked for last.
};

/// An error to inject.
struct DiskFault {
  std::vector<DiskOperation> operations{};  ///< That count and can fail; empty means all.
  uint64_t at = 1;                          ///< The at-th of them from now fails; 1 is the next.
  bool sticky = false;                      ///< All of them after it fail too.
  /// A failing write leaves its first half, and of a failing sync a random half reaches the disk.
  /// Without it a failing write leaves nothing, and what a failing sync covered is lost.
  bool partly = false;
  Status status = Status::IoError("injected: the disk answers with an error");
  /// What a failing sync of a file does. A failing sync of a directory says OK where that of a file
  /// does and leaves the names pending, which a later one may make durable.
  SyncFailure sync_failure = SyncFailure::kCleanButLost;
};

/// Threads: any.
class DiskControl {
 public:
  struct Verdict {
    Status status{};
    bool partly = false;
    bool is_power_off = false;
    SyncFailure sync_failure = SyncFailure::kCleanButLost;
  };

  /// Counts, traces and announces an operation that is about to happen, and says whether it fails.
  Verdict Admit(const DiskEvent& event);

  void InjectFault(DiskFault fault);
  void ClearFaults();
  /// The `at`-th operation from now and all after it fail without effect, as 1 is the next.
  void PowerOffAt(uint64_t at);
  void PowerOn();
  uint64_t operation_count() const;
  /// Whether any injected fault has struck.
  bool has_struck() const;

  void SetTracing(bool on);
  /// The trace since the last call.
  std::vector<DiskEvent> TakeTrace();
  /// Called before each operation, without a lock, on the thread that performs it.
  void SetHook(std::function<void(const DiskEvent&)> hook);

  /// Something was done with the disk that no program may do: prints it with the last operations
  /// and aborts, unless there is a handler.
  void Report(const std::string& violation);
  /// Called by Report instead. For tests of what reports.
  void SetViolationHandler(std::function<void(const std::string&)> handler);

  void SetSpaceBudget(std::optional<uint64_t> size_bytes);
  std::optional<uint64_t> space_budget() const;

 private:
  Verdict Judge(DiskOperation operation) REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::vector<DiskFault> faults_ GUARDED_BY(mutex_);
  std::optional<uint64_t> power_off_in_ GUARDED_BY(mutex_);
  uint64_t operation_count_ GUARDED_BY(mutex_) = 0;
  bool has_struck_ GUARDED_BY(mutex_) = false;
  bool is_tracing_ GUARDED_BY(mutex_) = false;
  std::vector<DiskEvent> trace_ GUARDED_BY(mutex_);
  std::function<void(const DiskEvent&)> hook_ GUARDED_BY(mutex_);
  std::function<void(const std::string&)> violation_handler_ GUARDED_BY(mutex_);
  std::array<DiskEvent, 48> last_events_ GUARDED_BY(mutex_);  // A circle.
  std::optional<uint64_t> space_budget_ GUARDED_BY(mutex_);
};

}  // namespace tandem::test
