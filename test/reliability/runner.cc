// See runner.h.
#include "test/reliability/runner.h"

#include <algorithm>

#include "base/status_macros.h"
#include "engine/transaction_state.h"
#include "tools/simulation/bulk_load.h"
#include "tools/simulation/table_copy.h"

namespace tandem::reliability {
namespace {

// Between two writes, so that the clock is ahead of every timestamp and a batch's is the time.
constexpr int64_t kStepMicros = 1000;
constexpr const char* kAbsent = "absent";  // No row has such a column.

WriteBatch BatchOf(const Step& step) {
  WriteBatch batch;
  for (const test::ModelOperation& operation : step.batch) operation.AddTo(&batch);
  return batch;
}

}  // namespace

Status Runner::Take(const Step& step) {
  if (!machine_.is_open()) RETURN_IF_ERROR(machine_.Open());
  RETURN_IF_ERROR(CreateMissing());
  switch (step.kind) {
    case Step::Kind::kWrite:
      return Write(step);
    case Step::Kind::kCreateTable:
      return Create(step.table);
    case Step::Kind::kFlush:
      RETURN_IF_ERROR(machine_.engine().Flush(step.table));
      history_.Flushed(step.table);
      return {};
    case Step::Kind::kCompact:
      RETURN_IF_ERROR(machine_.engine().Compact(step.table));
      history_.Flushed(step.table);
      return {};
    case Step::Kind::kSplit:
      return Split(step);
    case Step::Kind::kMergeRegions:
      return MergeRegions(step);
    case Step::Kind::kTruncate:
      return Remove(step);
    case Step::Kind::kDropAndCreate:
      return DropAndCreate(step);
    case Step::Kind::kToggleIndex:
      return ToggleIndex(step);
    case Step::Kind::kToggleSnapshot:
      return ToggleSnapshot(step);
    case Step::Kind::kRenewFamily:
      return RenewFamily(step);
    case Step::Kind::kAlterFamily:
      return AlterFamily(step);
    case Step::Kind::kCopyTable:
      return CopyTable(step);
    case Step::Kind::kRunJob:
      machine_.RunJob();
      return {};
    case Step::Kind::kReopen:
      RETURN_IF_ERROR(machine_.Close());
      history_.Closed();
      return machine_.Open();
  }
  return {};
}

Status Runner::Split(const Step& step) {
  const Status status = machine_.engine().Split(step.table, {.key = step.key}).status();
  return status.code() == StatusCode::kInvalidArgument ? Status() : status;  // It has no boundary.
}

Status Runner::MergeRegions(const Step& step) {
  const Status status = machine_.engine().MergeRegions(step.table, {.key = step.key}).status();
  return status.code() == StatusCode::kInvalidArgument ? Status() : status;  // There is one region.
}

// For the history a batch that deletes every row. A database that is read-only removes nothing.
Status Runner::Remove(const Step& step) {
  const bool is_truncation = step.kind == Step::Kind::kTruncate;
  if (!machine_.engine().Info().read_only) history_.Removing(step.table, is_truncation);
  const Status status = is_truncation ? machine_.engine().TruncateTable(step.table)
                                      : machine_.engine().DropTable(step.table);
  if (status.ok()) history_.Acknowledged();
  return status;
}

// A creation that fails is tried again before the next step, which needs the table.
Status Runner::DropAndCreate(const Step& step) {
  RETURN_IF_ERROR(Remove(step));
  missing_ = step.table;
  return CreateMissing();
}

// Over the column of the first index, so that it refuses nothing else. One that failed may have
// been created or dropped all the same.
Status Runner::ToggleIndex(const Step& step) {
  for (const TableOptions& options : workload_.tables) {
    if (options.name != step.table) continue;
    IndexOptions index = options.indexes.front();
    index.name = "toggled";
    index.columns.front().descending ^= true;  // Two of one definition are refused.
    const Status created = machine_.engine().CreateIndex(step.table, index);
    if (created.code() != StatusCode::kAlreadyExists) return created;
    const Status dropped = machine_.engine().DropIndex(step.table, index.name);
    if (dropped.code() != StatusCode::kNotFound) return dropped;
  }
  return {};
}

// It is of what the tables show before. One that failed may have been created or dropped all the
// same.
Status Runner::ToggleSnapshot(const Step& step) {
  engine::Engine& engine = machine_.engine();
  const bool is_refused = engine.Info().read_only;
  ASSIGN_OR_RETURN(const auto snapshots, engine.ListSnapshots());
  for (const NamedSnapshotInfo& snapshot : snapshots) {
    if (snapshot.name != step.key) continue;
    if (!is_refused) history_.DroppingSnapshot(step.key);
    RETURN_IF_ERROR(engine.DropSnapshot(step.key));
    history_.SnapshotDropped(step.key);
    return {};
  }
  ASSIGN_OR_RETURN(const Content content, ReadContent(&engine, workload_.tables));
  if (!is_refused) history_.CreatingSnapshot(step.key, content);
  RETURN_IF_ERROR(engine.CreateSnapshot(step.key, {}));
  history_.SnapshotCreated(step.key);
  return {};
}

namespace {

bool IsIndexed(const TableOptions& table, const std::string& family) {
  return std::ranges::any_of(table.indexes, [&](const IndexOptions& index) {
    return std::ranges::any_of(index.columns,
                               [&](const IndexColumn& column) { return column.family == family; });
  });
}

}  // namespace

// For the history a batch that deletes the cells of the family. The drop may have been made durable
// though it failed: the next step needs the family in any case.
Status Runner::RenewFamily(const Step& step) {
  for (const TableOptions& options : workload_.tables) {
    if (options.name != step.table || options.families.size() == 1) continue;
    const std::string& family = options.families.back().name;
    if (IsIndexed(options, family)) continue;  // It would be refused.
    if (!machine_.engine().Info().read_only) history_.DroppingFamily(step.table, family);
    lacks_a_family_ = step.table;
    const Status status = machine_.engine().DropFamily(step.table, family);
    // The table's own creation failed: it has the family when it comes.
    if (status.code() == StatusCode::kNotFound) lacks_a_family_.clear();
    RETURN_IF_ERROR(status);
    history_.Acknowledged();
    return CreateMissing();
  }
  return {};
}

// One that failed may have been made durable all the same.
Status Runner::AlterFamily(const Step& step) {
  const DatabaseInfo info = machine_.engine().Info();
  for (const TableInfo& table : info.tables) {
    if (table.options.name != step.table) continue;
    FamilyOptions family = table.options.families.back();
    constexpr uint32_t kMany = 3;
    family.max_versions = family.max_versions == 1 ? kMany : 1;
    if (!info.read_only) history_.Altering(step.table, family);
    RETURN_IF_ERROR(machine_.engine().AlterFamily(step.table, family));
    history_.Acknowledged();
  }
  return {};
}

// For the history nothing happens.
Status Runner::CopyTable(const Step& step) {
  return test::CopyOntoItself(&machine_.engine(), step.table, &copies_);
}

// What failed to be created may have been made durable all the same.
Status Runner::CreateMissing() {
  if (missing_.empty() && lacks_a_family_.empty()) return {};
  const auto exists = [](const Status& status) {
    return status.ok() || status.code() == StatusCode::kAlreadyExists;
  };
  if (!missing_.empty()) {
    const Status status = Create(missing_);
    if (!exists(status)) return status;
    missing_.clear();
  }
  for (const TableOptions& options : workload_.tables) {
    if (options.name != lacks_a_family_) continue;
    const Status status = machine_.engine().AddFamily(options.name, options.families.back());
    if (!exists(status)) return status;
  }
  lacks_a_family_.clear();
  history_.Found(
      machine_.engine().Info().tables);  // What is new has the limits of its declaration.
  return {};
}

Status Runner::Apply(const Step& step) {
  engine::Engine& engine = machine_.engine();
  if (step.in_transaction) {
    ASSIGN_OR_RETURN(Transaction transaction, engine::TransactionState::Begin(&engine));
    for (const test::ModelOperation& operation : step.batch) {
      RETURN_IF_ERROR(transaction.Get({}, operation.table, operation.row).status());
      RETURN_IF_ERROR(operation.AddTo(&transaction));
    }
    return transaction.Commit({.durability = step.durability});
  }
  if (step.in_bulk) {
    return test::LoadInBulk(&engine, step.batch,
                            [this] { history_.Wrote(machine_.clock().WallMicros()); });
  }
  if (step.in_check) {
    return Check(step.batch[0], Predicate::IsNull(kAbsent), {.durability = step.durability},
                 BatchOf(step));
  }
  return engine.Write({.durability = step.durability}, BatchOf(step));
}

// Applies the batch if the condition holds for the row of `first`: it does if it is that the column
// is absent.
Status Runner::Check(const test::ModelOperation& first, const Predicate& condition,
                     const WriteOptions& options, const WriteBatch& batch) {
  const bool holds = condition.kind() == Predicate::Kind::kIsNull;
  ASSIGN_OR_RETURN(const bool applied, machine_.engine().CheckAndMutate(
                                           options, first.table, first.row, condition, batch));
  if (applied == holds) return {};
  return Status::InvalidArgument(condition.ToString() + (holds ? " does not hold" : " holds") +
                                 " of an absent column");
}

// A check that does not hold writes nothing, but takes a timestamp.
Status Runner::CheckInVain(const Step& step) {
  machine_.clock().Advance(kStepMicros);
  return Check(step.batch[0], Predicate::Equal(kAbsent, "1"), {.durability = step.durability},
               BatchOf(step));
}

Status Runner::Write(const Step& step) {
  if (step.in_check) RETURN_IF_ERROR(CheckInVain(step));
  machine_.clock().Advance(kStepMicros);
  // A database that is read-only writes nothing, so that nothing of the step can ever show.
  const bool is_refused = machine_.engine().Info().read_only;
  if (!is_refused) history_.Writing(step, machine_.clock().WallMicros());
  const Status status = Apply(step);
  if (is_refused) {
    return status.ok() ? Status::InvalidArgument("a read-only database takes a write") : status;
  }
  // A writer that has to wait sleeps, and takes its time afterwards.
  history_.UnderWay(machine_.clock().WallMicros());
  if (status.ok()) history_.Acknowledged();
  return status;
}

Status Runner::Create(const std::string& table) {
  for (const TableOptions& options : workload_.tables) {
    if (options.name != table) continue;
    RETURN_IF_ERROR(machine_.engine().CreateTable(options));
    history_.Created(table);
  }
  return {};
}

}  // namespace tandem::reliability
