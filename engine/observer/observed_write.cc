// A changed batch is copied operation by operation; one that nobody changes is copied as a whole.
#include "engine/observer/observed_write.h"

#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// Numbers of both enumerations are the same.
static_assert(static_cast<int>(Mutation::Kind::kPut) == static_cast<int>(BatchKind::kPut));
static_assert(static_cast<int>(Mutation::Kind::kDeleteCell) ==
              static_cast<int>(BatchKind::kDeleteCell));
static_assert(static_cast<int>(Mutation::Kind::kDeleteColumn) ==
              static_cast<int>(BatchKind::kDeleteColumn));
static_assert(static_cast<int>(Mutation::Kind::kDeleteFamily) ==
              static_cast<int>(BatchKind::kDeleteFamily));
static_assert(static_cast<int>(Mutation::Kind::kDeleteRow) ==
              static_cast<int>(BatchKind::kDeleteRow));
static_assert(static_cast<int>(Mutation::Kind::kIncrement) ==
              static_cast<int>(BatchKind::kIncrement));
static_assert(static_cast<int>(Mutation::Kind::kAppend) == static_cast<int>(BatchKind::kAppend));

// A larger one could not be taken apart again (BatchReader).
Status CheckSize(const WriteBatch& batch) {
  if (batch.size_bytes() <= kBatchBytesMax) return {};
  return Status::InvalidArgument("an observer's operations have " +
                                 std::to_string(batch.size_bytes()) + " bytes, the limit is " +
                                 std::to_string(kBatchBytesMax));
}

std::set<std::string, std::less<>> TablesOf(const WriteBatch& batch) {
  std::set<std::string, std::less<>> tables;
  BatchReader reader(batch);
  BatchOperation operation;
  while (reader.Next(&operation)) {
    if (!tables.contains(operation.table)) tables.emplace(operation.table);
  }
  return tables;
}

}  // namespace

BatchMutations::BatchMutations(const WriteBatch& batch, const std::set<std::string_view>& tables) {
  for (const std::string_view table : tables) mutations_.emplace(table, std::vector<Mutation>());
  BatchReader reader(batch);
  BatchOperation operation;
  while (reader.Next(&operation)) {
    const auto of_table = mutations_.find(operation.table);
    if (of_table == mutations_.end()) continue;
    operations_.push_back(std::move(operation));
    const BatchOperation& kept = operations_.back();
    of_table->second.push_back({.kind = static_cast<Mutation::Kind>(kept.kind),
                                .row = kept.row,
                                .family = kept.family,
                                .timestamp = kept.timestamp,
                                .columns = kept.columns});
    operation = {};
  }
}

std::span<const Mutation> BatchMutations::Of(std::string_view table) const {
  return mutations_.find(table)->second;
}

// What one observer wants done with the batch. It takes effect when the hook has returned.
class ObservedWrite::Pending final : public PendingWrite {
 public:
  Pending(const ObservedWrite& write, std::string_view table)
      : write_(write), table_(table), mutations_(write.mutations_->Of(table)) {}

  std::string_view table() const override { return table_; }
  std::span<const Mutation> mutations() const override { return mutations_; }
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row) override {
    return write_.read_row_(options, table, row);
  }
  Status Drop(size_t mutation) override { return Replace(mutation, WriteBatch()); }
  Status Replace(size_t mutation, const WriteBatch& operations) override;
  Status Add(const WriteBatch& operations) override {
    RETURN_IF_ERROR(CheckSize(operations));
    added_.Add(operations);
    return CheckSize(added_);
  }

  bool has_changes() const { return !replaced_.empty(); }
  /// What takes the place of a mutation; nullptr: itself.
  const WriteBatch* ReplacedBy(size_t mutation) const {
    const auto found = replaced_.find(mutation);
    return found == replaced_.end() ? nullptr : &found->second;
  }
  const WriteBatch& added() const { return added_; }

 private:
  const ObservedWrite& write_;
  const std::string_view table_;
  const std::span<const Mutation> mutations_;
  std::map<size_t, WriteBatch> replaced_;
  WriteBatch added_;
};

Status ObservedWrite::Pending::Replace(size_t mutation, const WriteBatch& operations) {
  if (mutation >= mutations_.size()) {
    return Status::InvalidArgument("mutation " + std::to_string(mutation) + " of " +
                                   std::to_string(mutations_.size()) + " is asked for");
  }
  if (write_.returns_values_) {
    return Status::InvalidArgument(
        "the call returns the new value of this operation, so it can be neither dropped nor "
        "replaced");
  }
  RETURN_IF_ERROR(CheckSize(operations));
  replaced_.insert_or_assign(mutation, operations);
  return {};
}

ObservedWrite::ObservedWrite(const WriteBatch& batch, bool returns_values,
                             const Observers& observers, ReadRow read_row)
    : returns_values_(returns_values),
      observers_(observers),
      read_row_(std::move(read_row)),
      batch_(batch),
      written_(TablesOf(batch)) {}

// A table is there twice if it got another record while the batch was planned. Its observers are
// asked once, and CheckTables finds out whether that was enough.
Status ObservedWrite::Ask(Tables tables) {
  std::vector<const AskedTables::value_type*> in_order;
  for (const auto& table : tables) {
    const format::TableRecord& record = *table->record;
    if (!written_.contains(record.name)) continue;  // The condition's, or one that was only read.
    RETURN_IF_ERROR(observers_.CheckRegistered(record));
    const auto [asked, is_new] = asked_.emplace(
        record.name,
        Asked{.id = record.id, .names = record.observers, .observers = observers_.Of(record)});
    if (is_new) in_order.push_back(&*asked);
  }
  TakeApart();
  for (const auto* asked : in_order) {
    RETURN_IF_ERROR(AskAbout(asked->first, asked->second.observers));
  }
  if (added_.operation_count() > 0) {
    batch_.Add(added_);
    RETURN_IF_ERROR(CheckSize(batch_));
    TakeApart();
  }
  written_ = TablesOf(batch_);
  return {};
}

// Once for all tables.
void ObservedWrite::TakeApart() {
  std::set<std::string_view> observed;
  for (const auto& [name, asked] : asked_) {
    if (!asked.observers.empty()) observed.insert(name);
  }
  mutations_.reset();
  mutations_ = std::make_unique<const BatchMutations>(batch_, observed);
}

Status ObservedWrite::AskAbout(const std::string& table, const ObserverList& observers) {
  for (size_t i = 0; i < observers.size(); ++i) {
    Pending pending(*this, table);
    if (pending.mutations().empty()) return {};
    RETURN_IF_ERROR(observers.Ask(i, "BeforeWrite", [&pending](Observer& observer) {
      return observer.BeforeWrite(&pending);
    }));
    if (pending.has_changes()) Apply(pending);
    RETURN_IF_ERROR(CheckSize(batch_));
    added_.Add(pending.added());
    RETURN_IF_ERROR(CheckSize(added_));
  }
  return {};
}

void ObservedWrite::Apply(const Pending& pending) {
  WriteBatch changed;
  size_t mutation = 0;
  BatchReader reader(batch_);
  BatchOperation operation;
  while (reader.Next(&operation)) {
    const bool is_seen = operation.table == pending.table();
    const WriteBatch* replaced = is_seen ? pending.ReplacedBy(mutation) : nullptr;
    mutation += is_seen;
    if (replaced != nullptr) {
      changed.Add(*replaced);
    } else {
      BatchReader::Copy(operation, &changed);
    }
  }
  batch_ = std::move(changed);
  TakeApart();
}

Status ObservedWrite::CheckTables(Tables tables) const {
  for (const auto& table : tables) {
    const format::TableRecord& record = *table->record;
    if (!written_.contains(record.name)) continue;
    RETURN_IF_ERROR(observers_.CheckRegistered(record));
    const auto asked = asked_.find(record.name);
    if (asked == asked_.end()) continue;  // An observer's operations, which nobody is asked about.
    const bool is_same = asked->second.id == record.id && asked->second.names == record.observers;
    if (is_same) continue;
    return Status::Conflict(
        "table " + base::Quote(record.name) +
        " got other observers, or was replaced, while its observers were asked");
  }
  return {};
}

void ObservedWrite::Tell(format::SequenceNumber sequence, Monitor* monitor) const {
  for (const auto& [name, asked] : asked_) {
    if (asked.observers.empty() || mutations_->Of(name).empty()) continue;
    const CommittedWrite write{
        .table = name, .mutations = mutations_->Of(name), .sequence = sequence.value};
    const auto tell = [&write](Observer& observer) { observer.AfterWrite(write); };
    monitor->TellObservers(asked.observers, "AfterWrite", std::cref(tell));
  }
}

}  // namespace tandem::engine
