// Takes the steps of a workload on a machine and keeps its history.
#pragma once

#include <string>

#include "test/reliability/history.h"
#include "test/reliability/machine.h"
#include "test/reliability/workload.h"

namespace tandem::reliability {

/// Threads: one.
class Runner {
 public:
  /// All three outlive it.
  Runner(const Workload& workload, Machine* machine, History* history)
      : workload_(workload), machine_(*machine), history_(*history) {}

  /// Opens the database where it is not open, then takes the step. Errors: the engine's.
  Status Take(const Step& step);

 private:
  Status Write(const Step& step);
  Status Apply(const Step& step);
  Status Check(const test::ModelOperation& first, const Predicate& condition,
               const WriteOptions& options, const WriteBatch& batch);
  Status CheckInVain(const Step& step);
  Status Split(const Step& step);
  Status MergeRegions(const Step& step);
  Status Remove(const Step& step);
  Status DropAndCreate(const Step& step);
  Status ToggleIndex(const Step& step);
  Status ToggleSnapshot(const Step& step);
  Status RenewFamily(const Step& step);
  Status AlterFamily(const Step& step);
  Status CopyTable(const Step& step);
  Status CreateMissing();
  Status Create(const std::string& table);

  const Workload& workload_;
  Machine& machine_;
  History& history_;
  uint64_t copies_ = 0;         ///< Directories of exports.
  std::string missing_;         ///< A table that was dropped and is to be created.
  std::string lacks_a_family_;  ///< A table whose last family was dropped, perhaps.
};

}  // namespace tandem::reliability
