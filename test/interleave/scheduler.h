// Threads of a test that run one at a time and switch only where they synchronize. The list of
// choices made there determines a run: the same list makes the same run.
//
// A scheduled thread is a fiber. In this test program the POSIX calls under std::mutex and
// std::condition_variable are defined by interpose.cc: on a scheduled thread they come here, on any
// other they go to the C library. The engine does not know about it.
//
// States of a thread: ready -> (chosen) running -> ready at a yield point, or waiting for a mutex,
// a condition, other threads -> ready -> ... -> done. What a thread does between two yield points
// happens at once. Atomics are sequentially consistent here, and no yield points unless the program
// is instrumented (instrumented.cc).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/interleave/fiber.h"

namespace tandem::test {

using ThreadId = uint32_t;
constexpr ThreadId kNoThread = ~ThreadId{0};

/// Where threads hand over.
enum class Point : uint8_t { kLock, kUnlock, kWait, kNotify, kDisk, kSpawn, kAtomic, kPick, kEnd };
std::string_view PointName(Point point);

/// A point at which more than one thread could run.
struct Decision {
  uint64_t index = 0;                            ///< Of the run's decisions.
  const std::vector<ThreadId>* ready = nullptr;  ///< The usual choice first, then by id.
  ThreadId current = kNoThread;                  ///< The running thread, if it could continue.
  Point point = Point::kEnd;
};

/// Decides which of the ready threads runs next. The usual choice is the running thread, and where
/// that cannot go on the one with the lowest id.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// An index into `decision.ready`.
  virtual size_t Choose(const Decision& decision) = 0;
};

/// The choices that were not the usual ones, by index of their decision: a whole run.
using Schedule = std::vector<std::pair<uint64_t, ThreadId>>;
std::string Describe(const Schedule& schedule);
/// Of such text. Returns false when it is none.
bool ParseSchedule(std::string_view text, Schedule* schedule);

/// A yield point that was passed while exploring, with the index of the last label then.
struct Passed {
  ThreadId thread = kNoThread;
  Point point = Point::kEnd;
  size_t label = 0;
  bool operator==(const Passed&) const = default;
};

struct Outcome {
  std::string failure;  ///< Why the run did not end: a deadlock, too many steps. Empty: it did.
  Schedule schedule;
  uint64_t decisions = 0;
  uint64_t preemptions = 0;  ///< Choices of another thread while the running one could continue.
  uint64_t steps = 0;        ///< Yield points.
  uint64_t trace = 0;        ///< A hash of everything that was decided and of all points.
  std::vector<Passed> path;
  std::vector<std::string> labels;  ///< Of calls, in the order of their beginning.
};
/// Where two runs that ought to be the same part, for people.
std::string Parting(const Outcome& one, const Outcome& other);

class Scheduler {
 public:
  explicit Scheduler(Chooser* chooser) : chooser_(*chooser) {}
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Runs `main` as thread 0, and every thread that comes from it, to their ends. After a failure
  /// the threads stay where they were, and what they held is lost.
  Outcome Run(std::function<void()> main);
  /// The one whose thread this is; nullptr on other threads.
  static Scheduler* Current();

  // For scheduled threads.
  ThreadId Spawn(std::string name, std::function<void()> body);
  /// As Spawn, without a yield point: for calls made when no thread can run.
  ThreadId SpawnWhenIdle(std::string name, std::function<void()> body);
  /// Waits until they are done.
  void Join(const std::vector<ThreadId>& threads);
  /// Whether choices are the chooser's; otherwise they are the usual ones, and do not count.
  void SetExploring(bool exploring) { exploring_ = exploring; }
  /// A place where another thread may run.
  void Yield(Point point);
  /// A choice of the test's own among 0 to count - 1, of which 0 is the usual one: part of the
  /// schedule as all others, and no preemption.
  uint32_t Pick(uint32_t count);
  /// Whether a thread runs that explores, and nothing of the scheduler's own: where an atomic
  /// operation may be a yield point.
  bool IsAtRest() const {
    return exploring_ && on_thread_ && !deciding_ && threads_[running_]->quiet_held == 0;
  }
  /// Adds to the trace of the run.
  void Note(uint64_t hash);
  /// The choices so far.
  const Schedule& schedule() const { return outcome_.schedule; }
  ThreadId running() const { return running_; }
  /// The last steps, and who waits for what: for the report of an abort.
  std::string Report() const;
  /// What the running thread is about to do, for reports.
  void Label(std::string label);
  /// Called when no thread can run; true if that has changed. Time passes there.
  void SetWhenIdle(std::function<bool()> when_idle) { when_idle_ = std::move(when_idle); }
  /// Mutexes in this memory belong to the test: nobody hands over at them, or while one is held,
  /// except to wait.
  void Quiet(const void* begin, size_t size_bytes);
  /// The same for arrays of that many mutexes, known by their being locked one after the
  /// other before exploring begins: the shards of a cache, say, which are walked so often that
  /// little else would be explored. 0: none are.
  void QuietArraysOf(size_t count) { array_count_ = count; }
  /// The arrays found so far, but for the first `kept`, are gone: what comes to lie in their memory
  /// is as everything else.
  void ForgetArrays(size_t kept = 0);
  size_t found_arrays() const { return quiet_arrays_.size(); }

  // The primitives; see interpose.cc.
  void Lock(const void* mutex);
  bool TryLock(const void* mutex);
  void Unlock(const void* mutex);
  /// False: the wait is `timed`, no other thread could run, and the time passed.
  bool Wait(const void* condition, const void* mutex, bool timed);
  void Notify(const void* condition, bool all);

 private:
  enum class State : uint8_t { kReady, kLocking, kWaiting, kJoining, kDone };
  struct Thread {
    std::string name, label;
    std::unique_ptr<Fiber> fiber;
    State state = State::kReady;
    const void* object = nullptr;  // What it waits for.
    bool timed = false, timed_out = false;
    uint32_t quiet_held = 0;  // Mutexes.
    std::vector<ThreadId> joined;
  };

  // How a mutex was taken, so that it is given back alike: what is quiet may change meanwhile.
  struct Owner {
    ThreadId thread;
    bool is_quiet;
  };
  using Range = std::pair<uintptr_t, uintptr_t>;
  struct Step {
    ThreadId thread = kNoThread;
    const char* what = nullptr;
    const void* object = nullptr;
  };

  bool IsQuiet(const void* mutex) const;
  void NoteWalk(const void* mutex);
  void Acquire(const void* mutex, bool is_quiet);
  bool TryAcquire(const void* mutex, bool is_quiet);
  /// Whether it was quiet.
  bool Release(const void* mutex);
  void Keep(const char* what, const void* object);
  /// Runs the chosen thread in place of this one.
  void Suspend();
  void Block(State state, const void* object);
  void WakeJoining();
  uint32_t Decide(Point point, ThreadId current);
  /// The next thread; kNoThread if none can run.
  ThreadId Choose(Point point);
  ThreadId ChooseReady(Point point);
  bool TimeOutOne();
  void NoteStep(Point point);
  uint32_t NumberOf(const void* object);
  std::string Waits() const;
  void Fail(std::string failure);

  Chooser& chooser_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ThreadId running_ = kNoThread;
  ThreadId next_ = kNoThread;  // Chosen at a yield point of another thread.
  bool exploring_ = false;
  bool deciding_ = false;
  bool on_thread_ = false;  // And not on the way to one.
  uint32_t atomics_in_a_row_ = 0;
  ThreadId last_running_ = kNoThread;
  uint32_t idle_rounds_ = 0;
  std::vector<Range> quiet_, quiet_arrays_;
  size_t array_count_ = 0;
  std::vector<uintptr_t> walk_;  // Mutexes locked one after the other, at equal distances.
  uintptr_t before_walk_ = 0;    // Locked just before them; 0: none was.
  std::unordered_map<const void*, Owner> owners_;
  std::unordered_map<const void*, std::vector<ThreadId>>
      waiting_;                                        // By condition, first come first.
  std::unordered_map<const void*, uint32_t> numbers_;  // Of objects, in order of their use.
  std::vector<ThreadId> ready_;
  std::array<Step, 64> kept_;  // The last steps at mutexes and conditions, as a ring.
  uint64_t kept_count_ = 0;
  std::function<bool()> when_idle_;
  Outcome outcome_;
};

}  // namespace tandem::test
