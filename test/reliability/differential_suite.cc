// differential: the same random operations on Tandem with random options, on Tandem with all in one
// memstore, on RocksDB and on SQLite; every read has one answer. A list that fails is cut down.
#include <algorithm>
#include <fstream>

#include "test/reliability/differential_store.h"
#include "test/reliability/rounds.h"
#include "test/reliability/trial_workers.h"
#include "test/reliability/work_sharing.h"
#include "tools/simulation/minimize.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {
namespace {

constexpr uint64_t kSessions = 60;
constexpr uint64_t kOperationsPerSession = 5000;
constexpr double kShrinkSeconds = 30;

using Operations = std::vector<DiffOperation>;

struct Difference {
  size_t at = 0;  ///< The operation that shows it.
  std::string text{};
};

class Session {
 public:
  Session(uint64_t seed, std::string directory) : seed_(seed), directory_(std::move(directory)) {}

  /// The first difference between the answers; nothing when there is none.
  std::optional<Difference> Run(const Operations& operations) {
    std::vector<std::unique_ptr<DifferentialStore>> subjects;
    subjects.push_back(NewBusyTandem(seed_, directory_));
    subjects.push_back(NewPlainTandem(seed_));
    if (&NewRocksDbStore != nullptr) subjects.push_back(NewRocksDbStore());
    if (&NewSqliteStore != nullptr) subjects.push_back(NewSqliteStore());
    for (size_t at = 0; at < operations.size(); ++at) {
      std::string wrong = Compare(operations[at], &subjects);
      if (!wrong.empty()) return Difference{at, std::move(wrong)};
    }
    splits_ += subjects.front()->splits();
    region_merges_ += subjects.front()->region_merges();
    return std::nullopt;
  }
  // Of all runs.
  uint64_t answers() const { return answers_; }
  uint64_t splits() const { return splits_; }
  uint64_t region_merges() const { return region_merges_; }

  /// Fewer operations that still differ.
  Operations Shrink(Operations operations) {
    const Timer timer(kShrinkSeconds);
    return test::Minimize(std::move(operations), [&](const Operations& fewer) {
      return !timer.is_over() && Run(fewer).has_value();
    });
  }

 private:
  std::string Compare(const DiffOperation& operation,
                      std::vector<std::unique_ptr<DifferentialStore>>* subjects) {
    std::optional<std::string> expected;
    std::string expected_by;
    for (auto subject = subjects->rbegin(); subject != subjects->rend(); ++subject) {
      std::optional<std::string> answer;
      try {
        answer = (*subject)->Run(operation);
      } catch (const std::exception& error) {
        return (*subject)->name() + " fails: " + error.what();
      }
      if (!answer.has_value()) continue;
      ++answers_;
      if (expected.has_value() && *answer != *expected) {
        return (*subject)->name() + " answers " + test::Shown(*answer) + ", " + expected_by + " " +
               test::Shown(*expected);
      }
      expected = std::move(answer);
      expected_by = (*subject)->name();
    }
    return "";
  }

  const uint64_t seed_;
  const std::string directory_;
  uint64_t answers_ = 0, splits_ = 0, region_merges_ = 0;
};

TrialResult RunSession(const Plan& plan, uint64_t number) {
  const uint64_t seed = plan.seed * 100'000 + number;
  Session session(seed, plan.directory);
  Operations operations = NewOperations(seed, kOperationsPerSession);
  TrialResult result;
  const auto difference = session.Run(operations);
  if (!difference.has_value()) {
    uint64_t weight = 0;
    for (const DiffOperation& operation : operations) weight += operation.weight();
    result.figures = {weight, session.answers(), session.splits(), session.region_merges()};
    return result;
  }
  operations.resize(difference->at + 1);
  operations = session.Shrink(std::move(operations));
  const auto left = session.Run(operations);
  const std::string path = plan.directory + "/differential-" + std::to_string(seed) + ".txt";
  std::ofstream list(path);
  for (const DiffOperation& operation : operations) list << operation.Describe() << "\n";
  result.outcome = Outcome::kWrong;
  result.note = "session " + std::to_string(number) + ": " +
                (left.has_value() ? left->text : difference->text + " (not when shrunk)") + "\n  " +
                std::to_string(operations.size()) + " operations left, in " + path;
  return result;
}

}  // namespace

Report RunDifferential(const Plan& plan) {
  const TrialRun run = RunTrials(
      {.count = plan.seconds > 0 ? ~uint32_t{0} : kSessions,
       .seconds = plan.seconds,
       .hang_seconds = 120},
      [&](uint64_t number) { return RunSession(plan, number); },
      [](uint64_t number) { return "session " + std::to_string(number); });
  Report report;
  report.counts = {{"sessions", run.ran},
                   {"operations", run.figures[0]},
                   {"answers compared", run.figures[1]},
                   {"region splits", run.figures[2]},
                   {"region merges", run.figures[3]},
                   {"oracles", 1u + (&NewRocksDbStore != nullptr ? 1 : 0) +
                                   (&NewSqliteStore != nullptr ? 1 : 0)}};
  for (const std::string& note : run.notes) {
    report.failures.push_back(note + "\n  reliability differential --seed " +
                              std::to_string(plan.seed));
  }
  return report;
}

}  // namespace tandem::reliability
