// The files of a database of which an operation, a system call or a completion goes wrong: the
// kinds of errors of the suite `errors`, and the back ends that they happen in.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "test/reliability/emulated_calls.h"
#include "test/reliability/workload.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

enum class BackEnd : uint8_t {
  kDisk,   ///< The simulated disk's own files and queues.
  kPosix,  ///< The production code over POSIX calls; these reach the simulated disk.
  kRing,   ///< The production queues of io_uring over emulated rings; files are the disk's own.
};
inline constexpr size_t kBackEnds = 3;

const char* BackEndName(BackEnd back_end);

/// A way in which something goes wrong, wherever it strikes.
struct FaultKind {
  const char* name;
  BackEnd back_end;  ///< Where it is; what is of the disk happens in all of them.
  std::variant<test::DiskFault, CallFault, test::RingFault> fault;
  /// Whether nobody may notice it when it happens once, and when it goes on.
  bool passes_once = false, passes_always = false;
  /// Where time is short it is left to others that show the same.
  bool is_for_pairs = false;
};

std::span<const FaultKind> FaultKinds();

/// One of a kind.
struct Fault {
  const FaultKind* kind = nullptr;
  uint64_t at = 1;
  bool sticky = false;

  bool passes() const { return sticky ? kind->passes_always : kind->passes_once; }
  std::string Describe() const;
};

/// Threads: one, and at most one on a thread.
class FaultyFiles {
 public:
  FaultyFiles(uint64_t seed, BackEnd back_end);

  /// Requires: the kind is the disk's or this back end's.
  void Inject(const Fault& fault);
  void ClearFaults();
  bool has_struck();
  /// What has happened so far that a fault of this kind counts, or more.
  uint64_t CountFor(const FaultKind& kind);
  /// Descriptors that were opened and not closed.
  size_t open_count() const { return calls_.has_value() ? calls_->open_count() : 0; }

  test::SimulatedDisk& disk() { return disk_; }
  base::FileSystem& files() { return posix_ != nullptr ? *posix_ : disk_; }

 private:
  test::SimulatedDisk disk_;
  std::optional<EmulatedCalls> calls_;
  std::unique_ptr<base::FileSystem> posix_;
  const std::shared_ptr<test::RingFaults> rings_ = std::make_shared<test::RingFaults>();
};

/// `workload` as this back end is run with: over rings a cache keeps nothing, so that reads
/// reach them.
Workload WorkloadFor(const Workload& workload, BackEnd back_end);

}  // namespace tandem::reliability
