// Workers take the numbers of trials from a counter in shared memory and leave the outcomes there.
// The parent looks every few milliseconds whether one of them died, or works for too long on one
// trial, and then starts another in its place.
#include "test/reliability/trial_workers.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/clock.h"

namespace tandem::reliability {
namespace {

constexpr size_t kNoteBytes = 1024;
constexpr uint32_t kWorkersMax = 16;
constexpr int64_t kPollMicros = 5000;
constexpr uint64_t kNone = ~uint64_t{0};

struct WorkerState {
  std::atomic<uint64_t> trial{kNone};
  std::atomic<int64_t> begin_micros{0};
};

/// Between parent and workers. All orders are sequentially consistent: trials are long.
struct Shared {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> notes{0};
  std::array<std::atomic<uint64_t>, kOutcomes> counts{};
  std::array<std::atomic<uint64_t>, kFigures> figures{};
  std::array<WorkerState, kWorkersMax> workers;
  char texts[kNotesMax][kNoteBytes] = {};

  void Count(const TrialResult& result) {
    ++counts[static_cast<size_t>(result.outcome)];
    for (size_t i = 0; i < kFigures; ++i) figures[i] += result.figures[i];
    if (result.note.empty()) return;
    const uint64_t slot = notes++;
    if (slot < kNotesMax) std::snprintf(texts[slot], kNoteBytes, "%s", result.note.c_str());
  }
};

class SharedMemory {
 public:
  SharedMemory() {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = ::new (memory) Shared;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  Shared* operator->() { return shared_; }

 private:
  Shared* shared_;
};

class Pool {
 public:
  Pool(const TrialPlan& plan, const std::function<TrialResult(uint64_t)>& trial,
       const std::function<std::string(uint64_t)>& describe)
      : plan_(plan), trial_(trial), describe_(describe), processes_(plan.workers, -1) {}

  TrialRun Run() {
    begin_micros_ = clock_->MonotonicMicros();
    for (uint32_t worker = 0; worker < plan_.workers; ++worker) Start(worker);
    while (running_ > 0) {
      Look();
      if (running_ > 0) clock_->SleepMicros(kPollMicros);
    }
    TrialRun run;
    for (size_t i = 0; i < kOutcomes; ++i) run.ran += run.counts[i] = shared_->counts[i];
    for (size_t i = 0; i < kFigures; ++i) run.figures[i] = shared_->figures[i];
    for (uint64_t i = 0; i < std::min<uint64_t>(shared_->notes, kNotesMax); ++i) {
      run.notes.emplace_back(shared_->texts[i]);
    }
    return run;
  }

 private:
  bool IsTimeUp() {
    return plan_.seconds > 0 &&
           static_cast<double>(clock_->MonotonicMicros() - begin_micros_) > plan_.seconds * 1e6;
  }
  bool HasNoted() { return plan_.until_noted && shared_->notes >= kNotesMax; }
  void Start(uint32_t worker) {
    const pid_t process = ForkBound();
    if (process == 0) Work(&shared_->workers[worker]);
    processes_[worker] = process;
    ++running_;
  }
  [[noreturn]] void Work(WorkerState* state) {
    while (!IsTimeUp() && !HasNoted()) {
      const uint64_t number = shared_->next++;
      if (number >= plan_.count) break;
      state->begin_micros = clock_->MonotonicMicros();
      state->trial = number;
      shared_->Count(trial_(number));
      state->trial = kNone;
    }
    std::fflush(nullptr);
    _exit(0);
  }
  void Look() {
    for (uint32_t worker = 0; worker < plan_.workers; ++worker) {
      if (processes_[worker] < 0) continue;
      WorkerState& state = shared_->workers[worker];
      const uint64_t trial = state.trial;
      const auto worked = static_cast<double>(clock_->MonotonicMicros() - state.begin_micros);
      const bool hangs = trial != kNone && worked > plan_.hang_seconds * 1e6;
      if (hangs) kill(processes_[worker], SIGKILL);
      int status = 0;
      if (waitpid(processes_[worker], &status, hangs ? 0 : WNOHANG) == 0) continue;
      processes_[worker] = -1;
      --running_;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      Bury(state.trial, hangs, status);
      state.trial = kNone;
      Start(worker);
    }
  }
  void Bury(uint64_t trial, bool hangs, int status) {
    const std::string what = trial == kNone ? "between trials" : describe_(trial);
    const std::string how =
        hangs ? "hangs"
              : (WIFSIGNALED(status) ? "dies of signal " + std::to_string(WTERMSIG(status))
                                     : "exits " + std::to_string(WEXITSTATUS(status)));
    shared_->Count({hangs ? Outcome::kHang : Outcome::kCrash, what + ": " + how});
  }

  const TrialPlan& plan_;
  const std::function<TrialResult(uint64_t)>& trial_;
  const std::function<std::string(uint64_t)>& describe_;
  SharedMemory shared_;
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  int64_t begin_micros_ = 0;
  std::vector<pid_t> processes_;
  uint32_t running_ = 0;
};

}  // namespace

std::string_view NameOf(Outcome outcome) {
  static constexpr std::string_view kNames[kOutcomes] = {
      "not run",         "harmless",      "reported",
      "found by verify", "tail lost",     "SILENT: suffix lost",
      "SILENT: hole",    "SILENT: wrong", "odd error",
      "crash",           "hang"};
  return kNames[static_cast<size_t>(outcome)];
}

int ForkBound() {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return process;
}

bool HasEnded(int process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

TrialRun RunTrials(const TrialPlan& plan, const std::function<TrialResult(uint64_t)>& trial,
                   const std::function<std::string(uint64_t)>& describe) {
  return Pool(plan, trial, describe).Run();
}

bool RunInChild(const std::function<bool()>& work) {
  const pid_t process = ForkBound();
  if (process == 0) {
    const bool holds = work();
    std::fflush(nullptr);
    _exit(holds ? 0 : 1);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tandem::reliability
