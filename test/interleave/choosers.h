// Ways of choosing the next thread: by a given schedule, systematically, and at random.
#pragma once

#include <cstdint>
#include <vector>

#include "test/interleave/scheduler.h"
#include "tools/generator/dice.h"

namespace tandem::test {

/// Makes the choices of a schedule, and the usual ones elsewhere. A choice that is not possible
/// becomes the usual one, so that a schedule from which choices were removed is a schedule.
class ScheduleChooser final : public Chooser {
 public:
  explicit ScheduleChooser(Schedule schedule) : schedule_(std::move(schedule)) {}
  size_t Choose(const Decision& decision) override;

 private:
  Schedule schedule_;
  size_t next_ = 0;
};

/// Walks the tree of all choices depth first, one path a run, over all schedules with at most
/// `preemptions_max` preemptions (Musuvathi and Qadeer, "Iterative context bounding", 2007). A
/// choice among others when the running thread waits or ends is no preemption, but at most
/// `turns_max` of those differ from the usual one in a schedule. Nobody is preempted after an
/// unlock: for what mutexes guard, that is the same as before the next lock.
class SystematicChooser final : public Chooser {
 public:
  SystematicChooser(uint32_t preemptions_max, uint32_t turns_max)
      : preemptions_max_(preemptions_max), turns_max_(turns_max) {}
  size_t Choose(const Decision& decision) override;
  /// Goes to the next path. False: every one was walked.
  bool Advance();
  /// Runs that left the path that they were to repeat.
  uint64_t strays() const { return strays_; }

 private:
  struct Node {
    uint32_t chosen = 0, count = 0;
    bool is_preemption = false;  // Of the running thread, where another one is chosen.
  };

  const uint32_t preemptions_max_, turns_max_;
  std::vector<Node> path_;
  size_t depth_ = 0;  // In this run.
  uint64_t strays_ = 0;
};

/// Random priorities that fall at `changes` random decisions out of about `length` (Burckhardt et
/// al., "A randomized scheduler with probabilistic guarantees of finding bugs", 2010): a bug that
/// needs d orderings in a run of n threads and k decisions is found with a probability of at least
/// 1 / (n * k^(d-1)) a run.
class PriorityChooser final : public Chooser {
 public:
  PriorityChooser(uint64_t seed, uint64_t length, uint32_t changes);
  size_t Choose(const Decision& decision) override;

 private:
  int64_t PriorityOf(ThreadId thread);

  Dice dice_;
  std::vector<uint64_t> changes_;    // Decisions, ascending.
  std::vector<int64_t> priorities_;  // By thread; 0: not drawn yet.
  size_t changes_made_ = 0;
};

}  // namespace tandem::test
