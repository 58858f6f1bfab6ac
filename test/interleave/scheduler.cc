// See scheduler.h. Choices are made on the stack of the thread that comes to a yield point; the
// loop in Run only carries them out.
#include "test/interleave/scheduler.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"

namespace tandem::test {
namespace {

// A run has some thousand steps. One that passes this goes round in circles.
constexpr uint64_t kStepsMax = 200'000;
constexpr uint32_t kIdleRoundsMax = 200;
constexpr uint32_t kSpinsMax = 1000;

Scheduler*& CurrentScheduler() {
  static thread_local Scheduler* current = nullptr;
  return current;
}

uint64_t MixTrace(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace

std::string_view PointName(Point point) {
  constexpr std::string_view kNames[] = {"lock",  "unlock", "wait", "notify", "disk",
                                         "spawn", "atomic", "pick", "end"};
  return kNames[static_cast<size_t>(point)];
}

std::string Describe(const Schedule& schedule) {
  std::string text;
  for (const auto& [index, thread] : schedule) {
    if (!text.empty()) text += ",";
    text += std::to_string(index) + ":" + std::to_string(thread);
  }
  return text.empty() ? "usual" : text;
}

bool ParseSchedule(std::string_view text, Schedule* schedule) {
  schedule->clear();
  if (text == "usual") return true;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    std::pair<uint64_t, ThreadId> choice;
    auto parsed = std::from_chars(at, end, choice.first);
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != ':') return false;
    parsed = std::from_chars(parsed.ptr + 1, end, choice.second);
    if (parsed.ec != std::errc()) return false;
    schedule->push_back(choice);
    at = parsed.ptr;
    if (at != end && *at++ != ',') return false;
  }
  return true;
}

std::string Parting(const Outcome& one, const Outcome& other) {
  const auto [at, there] =
      std::mismatch(one.path.begin(), one.path.end(), other.path.begin(), other.path.end());
  const auto place = [](const Outcome& outcome, auto passed) {
    if (passed == outcome.path.end()) return std::string("at its end");
    return "thread " + std::to_string(passed->thread) + " at a point of kind " +
           std::string(PointName(passed->point)) + ", the last call begun: " +
           (passed->label == 0 ? "none" : outcome.labels[passed->label - 1]);
  };
  return "they part after " + std::to_string(at - one.path.begin()) + " points\n    first " +
         place(one, at) + "\n    then  " + place(other, there);
}

Scheduler* Scheduler::Current() { return CurrentScheduler(); }

Scheduler::~Scheduler() = default;

Outcome Scheduler::Run(std::function<void()> main) {
  CHECK(CurrentScheduler() == nullptr);
  next_ = SpawnWhenIdle("main", std::move(main));
  while (outcome_.failure.empty()) {
    running_ = next_ != kNoThread ? next_ : Choose(Point::kEnd);
    next_ = kNoThread;
    if (running_ == kNoThread) break;
    Thread& thread = *threads_[running_];
    CurrentScheduler() = this;
    thread.fiber->Enter();
    CurrentScheduler() = nullptr;
    if (!thread.fiber->is_done()) continue;
    thread.state = State::kDone;
    thread.fiber = nullptr;
    WakeJoining();
  }
  const bool all_done = std::all_of(threads_.begin(), threads_.end(),
                                    [](const auto& t) { return t->state == State::kDone; });
  if (!all_done && outcome_.failure.empty()) Fail("deadlock: no thread can go on");
  return outcome_;
}

ThreadId Scheduler::SpawnWhenIdle(std::string name, std::function<void()> body) {
  auto& thread = threads_.emplace_back(std::make_unique<Thread>());
  thread->name = std::move(name);
  thread->fiber = std::make_unique<Fiber>([this, body = std::move(body)] {
    on_thread_ = true;
    body();
    on_thread_ = false;
  });
  return static_cast<ThreadId>(threads_.size() - 1);
}

ThreadId Scheduler::Spawn(std::string name, std::function<void()> body) {
  const ThreadId id = SpawnWhenIdle(std::move(name), std::move(body));
  Yield(Point::kSpawn);
  return id;
}

void Scheduler::Join(const std::vector<ThreadId>& threads) {
  Thread& self = *threads_[running_];
  self.joined = threads;
  const bool done = std::all_of(threads.begin(), threads.end(), [this](ThreadId id) {
    return threads_[id]->state == State::kDone;
  });
  if (!done) Block(State::kJoining, nullptr);
}

void Scheduler::WakeJoining() {
  for (const auto& thread : threads_) {
    if (thread->state != State::kJoining) continue;
    const bool done =
        std::all_of(thread->joined.begin(), thread->joined.end(),
                    [this](ThreadId id) { return threads_[id]->state == State::kDone; });
    if (done) thread->state = State::kReady;
  }
}

void Scheduler::Yield(Point point) {
  if (threads_[running_]->quiet_held > 0) return;
  NoteStep(point);
  const ThreadId next = Choose(point);
  if (next == running_ && outcome_.failure.empty()) return;
  next_ = next;
  Suspend();
}

void Scheduler::Suspend() {
  on_thread_ = false;
  threads_[running_]->fiber->Leave();
  on_thread_ = true;
}

void Scheduler::Block(State state, const void* object) {
  Thread& self = *threads_[running_];
  self.state = state;
  self.object = object;
  next_ = Choose(Point::kWait);
  if (next_ == running_) {  // Time passed, and it continues itself.
    next_ = kNoThread;
    return;
  }
  Suspend();
}

ThreadId Scheduler::Choose(Point point) {
  deciding_ = true;
  const ThreadId chosen = ChooseReady(point);
  deciding_ = false;
  return chosen;
}

ThreadId Scheduler::ChooseReady(Point point) {
  ready_.clear();
  while (true) {
    for (ThreadId id = 0; id < threads_.size(); ++id) {
      if (threads_[id]->state == State::kReady) ready_.push_back(id);
    }
    if (!ready_.empty()) break;
    const bool goes_on = idle_rounds_++ < kIdleRoundsMax &&
                         ((when_idle_ != nullptr && when_idle_()) || TimeOutOne());
    if (!goes_on) return kNoThread;
  }
  const auto self = std::find(ready_.begin(), ready_.end(), running_);
  // Who does nothing but look at atomics spins, and waits for another one.
  atomics_in_a_row_ =
      point == Point::kAtomic && running_ == last_running_ ? atomics_in_a_row_ + 1 : 0;
  last_running_ = running_;
  const bool spins = atomics_in_a_row_ >= kSpinsMax;
  if (spins) atomics_in_a_row_ = 0;
  const bool could_go_on = self != ready_.end() && !spins;
  if (could_go_on) std::rotate(ready_.begin(), self, self + 1);
  if (spins && ready_.size() > 1) ready_.erase(self);
  if (!exploring_ || ready_.size() == 1) return ready_[0];
  return Decide(point, could_go_on ? running_ : kNoThread);
}

uint32_t Scheduler::Pick(uint32_t count) {
  ready_.clear();
  for (uint32_t i = 0; i < count; ++i) ready_.push_back(i);
  return Decide(Point::kPick, kNoThread);
}

// Among those in ready_, the usual choice first.
uint32_t Scheduler::Decide(Point point, ThreadId current) {
  const size_t chosen = chooser_.Choose(
      {.index = outcome_.decisions, .ready = &ready_, .current = current, .point = point});
  if (chosen != 0) {
    outcome_.schedule.emplace_back(outcome_.decisions, ready_[chosen]);
    if (current != kNoThread) ++outcome_.preemptions;
  }
  ++outcome_.decisions;
  Note(ready_[chosen] * 64 + ready_.size());
  return ready_[chosen];
}

// A wait with a limit ends when no other thread can run.
bool Scheduler::TimeOutOne() {
  for (ThreadId id = 0; id < threads_.size(); ++id) {
    Thread& thread = *threads_[id];
    if (thread.state != State::kWaiting || !thread.timed) continue;
    thread.timed_out = true;
    thread.state = State::kReady;
    std::erase(waiting_[thread.object], id);
    return true;
  }
  return false;
}

uint32_t Scheduler::NumberOf(const void* object) {
  return numbers_.try_emplace(object, static_cast<uint32_t>(numbers_.size())).first->second;
}

void Scheduler::Label(std::string label) {
  if (!label.empty()) outcome_.labels.push_back(label);
  threads_[running_]->label = std::move(label);
}

void Scheduler::Note(uint64_t hash) { outcome_.trace = MixTrace(outcome_.trace, hash); }

// Addresses differ between runs that are otherwise the same, so they are not noted; nor are steps
// outside of the exploration, whose number depends on which memory is quiet.
void Scheduler::NoteStep(Point point) {
  ++outcome_.steps;
  if (exploring_) {
    Note((static_cast<uint64_t>(running_) << 4) + static_cast<uint64_t>(point));
    outcome_.path.push_back({running_, point, outcome_.labels.size()});
  }
  if (outcome_.steps > kStepsMax) Fail("no end after " + std::to_string(kStepsMax) + " steps");
}

void Scheduler::Fail(std::string failure) {
  if (outcome_.failure.empty()) outcome_.failure = std::move(failure) + Waits();
}

std::string Scheduler::Waits() const {
  std::string text;
  for (ThreadId id = 0; id < threads_.size(); ++id) {
    const Thread& thread = *threads_[id];
    if (thread.state == State::kDone) continue;
    text += "\n    thread " + std::to_string(id) + " (" + thread.name + ")";
    if (!thread.label.empty()) text += " in " + thread.label;
    const auto number = numbers_.find(thread.object);
    const std::string name = number == numbers_.end() ? "?" : std::to_string(number->second);
    if (thread.state == State::kReady) text += " could go on";
    if (thread.state == State::kWaiting) text += " waits for condition " + name;
    if (thread.state == State::kLocking) {
      text += " waits for mutex " + name;
      const auto owner = owners_.find(thread.object);
      if (owner != owners_.end())
        text += ", held by thread " + std::to_string(owner->second.thread);
    }
    if (thread.state == State::kJoining) {
      text += " waits for the end of";
      for (const ThreadId other : thread.joined) {
        if (threads_[other]->state != State::kDone) text += " " + std::to_string(other);
      }
    }
  }
  return text;
}

void Scheduler::Keep(const char* what, const void* object) {
  kept_[kept_count_++ % kept_.size()] = {running_, what, object};
}

std::string Scheduler::Report() const {
  std::string text = "the last steps:";
  const uint64_t count = std::min<uint64_t>(kept_count_, kept_.size());
  for (uint64_t i = kept_count_ - count; i < kept_count_; ++i) {
    const Step& step = kept_[i % kept_.size()];
    const auto number = numbers_.find(step.object);
    text += "\n    thread " + std::to_string(step.thread) + " " + step.what + " ";
    text += number == numbers_.end() ? "?" : std::to_string(number->second);
    if (IsQuiet(step.object)) text += ", which is quiet";
  }
  return text + "\n  at the end:" + Waits();
}

void Scheduler::Quiet(const void* begin, size_t size_bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  quiet_.emplace_back(address, address + size_bytes);
}

void Scheduler::ForgetArrays(size_t kept) {
  quiet_arrays_.resize(std::min(kept, quiet_arrays_.size()));
  walk_.clear();
  before_walk_ = 0;
}

bool Scheduler::IsQuiet(const void* mutex) const {
  const auto address = reinterpret_cast<uintptr_t>(mutex);
  const auto has_it = [address](const Range& range) {
    return range.first <= address && address < range.second;
  };
  return std::any_of(quiet_.begin(), quiet_.end(), has_it) ||
         std::any_of(quiet_arrays_.begin(), quiet_arrays_.end(), has_it);
}

// Where objects come to lie differs between runs, so what lies at the array's distance before or
// after it must not be taken for a part of it: a mutex that was locked just before the walk began
// ends it, and of a walk that is too long the last mutexes are the array.
void Scheduler::NoteWalk(const void* mutex) {
  if (exploring_ || array_count_ == 0) return;
  const auto address = reinterpret_cast<uintptr_t>(mutex);
  const size_t size = walk_.size();
  const bool rises = size > 0 && walk_.back() < address;
  if (rises && address != before_walk_ &&
      (size == 1 || address - walk_.back() == walk_[1] - walk_[0])) {
    walk_.push_back(address);
    return;
  }
  if (size >= array_count_) {
    quiet_arrays_.emplace_back(walk_[size - array_count_], walk_.back() + 1);
  }
  if (rises && size > 1) {  // Another walk may have begun with the last one.
    before_walk_ = walk_[size - 2];
    walk_ = {walk_.back(), address};
    return;
  }
  before_walk_ = size > 0 ? walk_.back() : 0;
  walk_ = {address};
}

bool Scheduler::TryAcquire(const void* mutex, bool is_quiet) {
  if (!owners_.try_emplace(mutex, Owner{running_, is_quiet}).second) return false;
  if (is_quiet) ++threads_[running_]->quiet_held;
  return true;
}

void Scheduler::Acquire(const void* mutex, bool is_quiet) {
  while (!TryAcquire(mutex, is_quiet)) Block(State::kLocking, mutex);
}

bool Scheduler::Release(const void* mutex) {
  const auto owner = owners_.find(mutex);
  CHECK(owner != owners_.end() && owner->second.thread == running_);
  const bool is_quiet = owner->second.is_quiet;
  if (is_quiet) --threads_[running_]->quiet_held;
  owners_.erase(owner);
  for (const auto& thread : threads_) {
    if (thread->state == State::kLocking && thread->object == mutex) thread->state = State::kReady;
  }
  return is_quiet;
}

void Scheduler::Lock(const void* mutex) {
  const bool is_quiet = IsQuiet(mutex);
  if (!is_quiet) {
    NoteWalk(mutex);
    NumberOf(mutex);
    Yield(Point::kLock);
  }
  Acquire(mutex, is_quiet);
  Keep("has locked mutex", mutex);
}

bool Scheduler::TryLock(const void* mutex) {
  const bool is_quiet = IsQuiet(mutex);
  if (!is_quiet) {
    NumberOf(mutex);
    Yield(Point::kLock);
  }
  return TryAcquire(mutex, is_quiet);
}

void Scheduler::Unlock(const void* mutex) {
  Keep("unlocks mutex", mutex);
  if (!Release(mutex)) Yield(Point::kUnlock);
}

bool Scheduler::Wait(const void* condition, const void* mutex, bool timed) {
  NumberOf(condition);
  Keep("waits with mutex", mutex);
  Keep("waits for condition", condition);
  Thread& self = *threads_[running_];
  self.timed = timed;
  self.timed_out = false;
  const bool is_quiet = Release(mutex);
  waiting_[condition].push_back(running_);
  Block(State::kWaiting, condition);
  Acquire(mutex, is_quiet);
  return !self.timed_out;
}

void Scheduler::Notify(const void* condition, bool all) {
  Keep("notifies condition", condition);
  const auto found = waiting_.find(condition);
  if (found != waiting_.end()) {
    std::vector<ThreadId>& waiters = found->second;
    const size_t count = all ? waiters.size() : std::min<size_t>(waiters.size(), 1);
    for (size_t i = 0; i < count; ++i) threads_[waiters[i]]->state = State::kReady;
    waiters.erase(waiters.begin(), waiters.begin() + static_cast<std::ptrdiff_t>(count));
    if (waiters.empty()) waiting_.erase(found);
  }
  Yield(Point::kNotify);
}

}  // namespace tandem::test
