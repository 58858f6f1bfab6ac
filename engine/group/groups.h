// Groups in memory: the values that are computed of one, a table of them, and a source that turns
// them into rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/memory_account.h"
#include "base/mutex.h"
#include "engine/parallel/parted_read.h"
#include "engine/read/row_column.h"
#include "engine/read/row_source.h"
#include "engine/source/read_meter.h"
#include "engine/source/read_resources.h"
#include "format/schema.h"
#include "tandem/aggregate.h"
#include "tandem/options.h"
#include "tandem/row.h"

namespace tandem::engine {

/// What is asked for, bound to a table.
struct GroupSpec {
  struct Value {
    AggregateKind kind = AggregateKind::kRows;
    std::optional<format::IndexColumnRecord> column;  ///< nullopt: kRows.
  };
  std::vector<format::IndexColumnRecord> keys;  ///< Ascending.
  std::vector<Value> values;
  bool descending = false;
  uint64_t limit = 0;               ///< 0: none.
  std::vector<ColumnName> columns;  ///< That rows are read for.
  std::shared_ptr<const format::TableRecord> table;
};

/// One value of a group, as far as its rows are known.
struct Accumulator {
  uint64_t count = 0;
  __int128 integer = 0;       // Of integers: their sum, which cannot overflow.
  double real = 0, rest = 0;  // Of doubles: their sum, and what rounding has left out of it.
  std::string extreme;        // The key of the smallest or largest; empty: none.
};

struct Group {
  std::string key;  ///< Index keys of the columns, one after the other.
  std::vector<Accumulator> values;
};

/// What of a row goes into groups. Threads: one at a time. Lifetime: the spec outlives it.
class GroupedRow {
 public:
  explicit GroupedRow(const GroupSpec& spec);
  /// Replaces `*key` by that of the row's group.
  void KeyOf(const RowView& row, std::string* key) const;
  /// Adds the row to the values of its group.
  void AddTo(const RowView& row, std::vector<Accumulator>* values);
  /// Adds that many rows of a group that has the key, which is that of the only column. Requires:
  /// no value is a sum or of another column.
  void AddCounted(std::string_view key, uint64_t rows, std::vector<Accumulator>* values) const;

 private:
  const GroupSpec& spec_;
  std::vector<RowColumn> keys_;
  std::vector<std::optional<RowColumn>> values_;  // nullopt: kRows.
  std::string scratch_;
};

/// Distinct groups, collected. Threads: one at a time. Lifetime: the spec outlives it.
class GroupTable {
 public:
  GroupTable(const GroupSpec& spec, const ReadResources& resources,
             std::shared_ptr<ReadMeter> meter);
  /// Errors: kOverBudget.
  Status Add(const RowView& row);
  /// Takes the groups of another table of the same spec without sums of doubles. Errors:
  /// kOverBudget.
  Status AddAll(GroupTable* other);
  uint64_t bytes() const { return bytes_; }
  /// All groups in their order; the table has none afterwards.
  std::vector<Group> TakeSorted();

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  uint64_t BytesOfGroup(std::string_view key) const;
  Status Charge(uint64_t bytes);

  const GroupSpec& spec_;
  GroupedRow row_;
  std::unordered_map<std::string, std::vector<Accumulator>, Hash, std::equal_to<>> groups_;
  std::string key_;
  const uint64_t bytes_max_;
  std::shared_ptr<ReadMeter> meter_;
  uint64_t bytes_ = 0;
  base::MemoryCharge charge_;
};

/// Groups of rows that several threads read: each adds its rows to a table of its own, and the
/// tables become one. Lifetime: the spec outlives it.
class GroupFold final : public PartFold {
 public:
  GroupFold(const GroupSpec& spec, const ReadResources& resources);
  ~GroupFold() override;
  /// Whether the groups do not depend on the order of the rows, as sums of doubles do.
  static bool Serves(const GroupSpec& spec);

  Status Take(RowSource* rows) override EXCLUDES(mutex_);
  /// All groups in their order. Requires: no thread takes rows. Errors: kOverBudget.
  Result<std::vector<Group>> TakeSorted() EXCLUDES(mutex_);

 private:
  struct Worker;

  const GroupSpec& spec_;
  const ReadResources resources_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_ GUARDED_BY(mutex_);
  GroupTable all_ GUARDED_BY(mutex_);
};

/// Makes groups, some at a time. Threads: one at a time.
class GroupMaker {
 public:
  virtual ~GroupMaker() = default;
  /// Appends the next groups to `*groups`; false: there are no more, and none was appended.
  virtual Result<bool> Next(std::vector<Group>* groups) = 0;
};

/// The groups of the makers, one maker after the other, as rows.
std::unique_ptr<RowSource> NewGroupSource(std::shared_ptr<const GroupSpec> spec,
                                          std::vector<std::unique_ptr<GroupMaker>> makers);

}  // namespace tandem::engine
