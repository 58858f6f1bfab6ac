// What the calls that write have in common on their way to the commit queue.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/commit/row_checks.h"
#include "engine/open_handles.h"
#include "index/key.h"
#include "tandem/options.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

/// The rows that a batch depends on, by table and key: a transaction or a hook has read them.
struct RowsRead {
  using Name = std::pair<std::string, std::string>;

  std::optional<SnapshotPoint> point;   ///< At which they are read; a hook takes it when it reads.
  std::map<Name, bool> rows;            ///< True: a transaction has read it for update.
  const WriteBatch* written = nullptr;  ///< Its rows are checked too; null: none are.
  /// The ranges that a transaction has read, by table.
  std::map<std::string, std::vector<format::KeyRange>> ranges = {};
  RowChecks checks;  ///< What the leader checks; made once.
};

/// Lifetime: that of the call.
struct WriteCall {
  const WriteOptions& options;
  const WriteBatch& batch;
  bool returns_values = false;    ///< The new values of its operations.
  RowsRead* rows_read = nullptr;  ///< A transaction's; null: it is none.
};

struct Written {
  bool holds = true;                ///< The condition of the batch.
  std::vector<std::string> values;  ///< As of WritePlan.
};

}  // namespace tandem::engine
