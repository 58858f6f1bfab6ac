// Trials in child processes: one that crashes or hangs is an outcome like any other, and two run at
// a time. A trial is known by its number, so that a run is repeated by its seed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tandem::reliability {

/// What a trial came to.
enum class Outcome : uint8_t {
  kNotRun,
  kHarmless,    ///< Everything that was acknowledged is read.
  kReported,    ///< Opening or a read answered an error, and no read answered anything wrong.
  kVerified,    ///< All reads are right, and verify names the damage.
  kTailLost,    ///< After a crash: later writes are gone that this damage may take.
  kSuffixLost,  ///< Silent: the last acknowledged writes are gone.
  kHole,        ///< Silent: earlier writes are gone, later ones are there.
  kWrong,       ///< Silent: something that was never written.
  kOddError,    ///< An error, but not one that says what happened.
  kCrash,
  kHang,
};
inline constexpr size_t kOutcomes = 11;

std::string_view NameOf(Outcome outcome);

/// How many figures of its own a suite may count.
inline constexpr size_t kFigures = 14;

struct TrialResult {
  Outcome outcome = Outcome::kHarmless;
  std::string note{};                        ///< For people; may be empty.
  std::array<uint64_t, kFigures> figures{};  ///< The suite's own, summed over the run.
};

struct TrialRun {
  std::array<uint64_t, kOutcomes> counts{};
  std::array<uint64_t, kFigures> figures{};
  uint64_t ran = 0;
  std::vector<std::string> notes;  ///< At most kNotesMax.

  uint64_t count(Outcome outcome) const { return counts[static_cast<size_t>(outcome)]; }
};

struct TrialPlan {
  uint64_t count = 0;
  double seconds = 0;        ///< No trial begins later than this; 0: all of them.
  double hang_seconds = 20;  ///< A trial that takes longer is killed.
  uint32_t workers = 2;
  bool until_noted = false;  ///< Ends as soon as there are kNotesMax notes.
};

inline constexpr size_t kNotesMax = 32;

/// Runs trial(0) to trial(count - 1), each in one of the child processes. `describe` names a trial
/// that crashed or hung. Requires: this process has one thread.
TrialRun RunTrials(const TrialPlan& plan, const std::function<TrialResult(uint64_t)>& trial,
                   const std::function<std::string(uint64_t)>& describe);

/// Forks a child that is killed when this process ends, however it ends: 0 in the child. Requires:
/// as RunTrials.
int ForkBound();
/// Whether a child of this process has ended; it stays to be waited for.
bool HasEnded(int process);

/// Runs `work` in a child process; whether it ended with success. Requires: as RunTrials.
bool RunInChild(const std::function<bool()>& work);

}  // namespace tandem::reliability
