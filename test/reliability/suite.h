// A reliability suite: what it runs, how much of it, and what it reports. The suites of this folder
// make the program `reliability`; test/support has what they share with the tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::reliability {

/// How much to run, and from which seed.
struct Plan {
  uint64_t seed = 1;
  /// Run for this many seconds; 0: the suite's own count, the same in every run.
  double seconds = 0;
  /// Where real files go: an existing directory.
  std::string directory = "/tmp";
  /// Of a suite of several workloads, the one to run; empty: all.
  std::string only = {};
};

/// What a run of a suite found. A failure is a few lines: what broke, the seed, and the command
/// that shows it again.
struct Report {
  std::vector<std::pair<std::string, uint64_t>> counts;  ///< "crash states" and the like.
  std::vector<std::string> failures;                     ///< Empty: the suite holds.
  std::string skipped;  ///< Why nothing could be run here; empty where it was.
};

struct Suite {
  std::string_view name;  ///< As `reliability NAME`.
  std::string_view what;  ///< One line of help.
  Report (*run)(const Plan& plan);
};

/// All suites, in the order in which they run.
std::span<const Suite> Suites();

/// At most this many failures are worth printing; a suite may stop there.
inline constexpr size_t kFailuresMax = 10;

}  // namespace tandem::reliability
