// A run of threads on one database in one process: rounds of work, between them looks at
// everything. Also the child of a run with kills, which never comes to an end by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tandem/database.h"
#include "tools/stress/stress.h"
#include "tools/stress/stressed.h"

namespace tandem::stress {

/// The parts of a database under stress.
class Site {
 public:
  /// Makes a directory with a database and an expected state, both empty. Errors: those of the
  /// harness.
  static Result<std::unique_ptr<Site>> Create(const Setup& setup,
                                              const RunEnvironment& environment);
  /// Takes up what an earlier run left; the database is not opened. Errors: kInvalidArgument where
  /// `setup` asks for other rows or threads.
  static Result<std::unique_ptr<Site>> Open(const Setup& setup, const RunEnvironment& environment);
  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site();

  /// Opens the database in one of several ways, which `choice` decides. Errors: a finding.
  Status OpenDatabase(uint64_t choice);
  /// Closes and opens. Errors: a finding.
  Status Reopen(uint64_t choice);
  /// Errors: a finding.
  Status Close();

  /// As the thread that runs the whole uses it.
  Stressed stressed() const {
    return {database_.get(), workload_.get(), expected_.get(),
            log_.get(),      watchdog_.get(), directory_};
  }
  /// As a worker uses it, of 0 to workload_->thread_count() - 1.
  Stressed StressedBy(uint32_t thread) const;
  Expected& expected() { return *expected_; }
  /// What was done, over all lives.
  std::vector<std::pair<std::string, uint64_t>> Counts();
  /// A finding as text, with what is kept: also a copy of the database as it is at this moment,
  /// since closing it changes it.
  std::string FindingText(const Status& finding) const;

 private:
  void Watch(const Setup& setup, const RunEnvironment& environment);

  std::string directory_;
  std::unique_ptr<test::Watchdog> watchdog_;
  std::unique_ptr<Expected> expected_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<OperationLog> log_;
  std::unique_ptr<Database> database_;
};

/// Errors: a finding, but kNoSpace, which a full disk of this machine answers.
Status RunRounds(Site* site, const Setup& setup, const RunEnvironment& environment);

}  // namespace tandem::stress
