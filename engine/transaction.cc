// The public Transaction. Each call enters what is open of it, so that the database is not closed
// meanwhile.
#include "tandem/transaction.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/engine.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/scan.h"
#include "engine/transaction_state.h"
#include "format/value_text.h"

namespace tandem {

using engine::Guarded;
using engine::KeyRanges;
using engine::OpenTransaction;
using engine::RangeSet;
using engine::TransactionState;

namespace {

// A call of an open transaction.
class Entry {
 public:
  explicit Entry(std::shared_ptr<OpenTransaction> open)
      : open_(std::move(open)), snapshot_(open_->Enter()) {}
  ~Entry() {
    if (snapshot_.has_value()) open_->Leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  Result<const Snapshot*> snapshot() const { return snapshot_; }

 private:
  const std::shared_ptr<OpenTransaction> open_;
  const Result<const Snapshot*> snapshot_;
};

Status HasEnded() { return Status::InvalidArgument("the transaction has ended"); }

Result<ReadOptions> At(const Snapshot& snapshot, const ReadOptions& options) {
  if (options.snapshot != nullptr) {
    return Status::InvalidArgument("a transaction reads its own snapshot and no other");
  }
  ReadOptions at = options;
  at.snapshot = &snapshot;
  return at;
}

// Reads see the writes that are in `own`.
Status BringUpToDate(const Snapshot& snapshot, TransactionState* state) {
  if (!state->own_is_stale) return {};
  return state->engine->AddToTransaction(snapshot, {}, state);
}

// Rows that a call reads. They are noted when it has succeeded, which cannot fail then.
using RowNames = std::map<TransactionState::RowName, bool>;

// Those that are not noted yet. `operations`: that the call will write at most. Errors:
// kOverBudget.
Result<RowNames> RowsToNote(std::string_view table, std::span<const std::string_view> rows,
                            size_t operations, const TransactionState& state) {
  RowNames added;
  for (const std::string_view row : rows) {
    TransactionState::RowName name(table, row);
    if (!state.rows_read.contains(name)) added.emplace(std::move(name), false);
  }
  RETURN_IF_ERROR(state.CheckRoomFor(added.size() + operations));
  return added;
}

void NoteRows(RowNames rows, TransactionState* state) { state->rows_read.merge(rows); }

// The same for ranges, where they are checked. What is noted before memory runs out stays noted.
void NoteRanges(std::string_view table, KeyRanges ranges, TransactionState* state) {
  if (!state->validates_ranges || ranges.empty()) return;
  RangeSet& read = state->ranges_read.try_emplace(std::string(table)).first->second;
  for (format::KeyRange& range : ranges) read.Add(std::move(range));
}

// The ranges of a scan, if they are to be noted.
Result<KeyRanges> RangesToNote(const ScanOptions& scan, const TransactionState& state) {
  if (!state.validates_ranges) return KeyRanges();
  KeyRanges ranges = engine::RowsOf(scan);
  RETURN_IF_ERROR(state.CheckRoomFor(ranges.size()));
  return ranges;
}

// A query, or a count.
struct QueryToNote {
  const ReadOptions& at;
  std::string_view table;
  const Predicate& predicate;
  const QueryOptions& options;
};
Result<KeyRanges> RangesToNote(const QueryToNote& query, const TransactionState& state) {
  if (!state.validates_ranges) return KeyRanges();
  ASSIGN_OR_RETURN(KeyRanges ranges, state.engine->RowsOfQuery(query.at, query.table,
                                                               query.predicate, query.options));
  RETURN_IF_ERROR(state.CheckRoomFor(ranges.size()));
  return ranges;
}

// The row as it is, if nobody else is known to have changed it.
Result<std::optional<Row>> GetUnchanged(const ReadOptions& at, std::string_view table,
                                        std::string_view row, const TransactionState& state) {
  RETURN_IF_ERROR(state.engine->CheckUnchanged(*at.snapshot, table, row));
  return state.engine->Get(at, table, row);
}

}  // namespace

Result<Transaction> TransactionState::Begin(engine::Engine* engine,
                                            const TransactionOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<TransactionState> state, engine->BeginTransaction());
  state->engine = engine;
  state->validates_ranges = options.validate_ranges;
  return Transaction(std::move(state));
}

Transaction::Transaction(std::unique_ptr<TransactionState> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&& other) noexcept {
  if (state_ != nullptr && state_->handles->in_child()) (void)state_.release();
  state_ = std::move(other.state_);
  return *this;
}
Transaction::~Transaction() {
  if (state_ != nullptr && state_->handles->in_child()) (void)state_.release();
}

template <typename Call>
auto Transaction::InState(Call&& call)
    -> decltype(call(std::declval<const Snapshot&>(), std::declval<TransactionState*>())) {
  using Returned = decltype(call(std::declval<const Snapshot&>(), state_.get()));
  if (state_->handles->in_child()) [[unlikely]] {
    return Guarded([]() -> Returned {
      return Status::Busy("this process is a forked child: the database is open in its parent");
    });
  }
  return Guarded([&]() -> Returned {
    if (state_->open == nullptr) return HasEnded();
    const Entry entry(state_->open);
    const Result<const Snapshot*> snapshot = entry.snapshot();
    if (!snapshot.has_value()) return snapshot.error();
    return call(**snapshot, state_.get());
  });
}

template <typename Add>
Status Transaction::Write(Add&& add) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) {
    WriteBatch batch;
    add(&batch);
    return state->engine->AddToTransaction(snapshot, batch, state);
  });
}

// Values are those of `columns` columns of the row.
template <typename Add>
Result<std::vector<std::string>> Transaction::Update(std::string_view table, std::string_view row,
                                                     size_t columns, Add&& add) {
  using Values = std::vector<std::string>;
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Values> {
    ASSIGN_OR_RETURN(RowNames names, RowsToNote(table, {&row, 1}, columns, *state));
    WriteBatch batch;
    add(&batch);
    ASSIGN_OR_RETURN(Values values, state->engine->UpdateInTransaction(snapshot, batch, state));
    NoteRows(std::move(names), state);
    return values;
  });
}

Result<std::optional<Row>> Transaction::Get(const ReadOptions& options, std::string_view table,
                                            std::string_view row) {
  return InState(
      [&](const Snapshot& snapshot, TransactionState* state) -> Result<std::optional<Row>> {
        ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
        RETURN_IF_ERROR(BringUpToDate(snapshot, state));
        ASSIGN_OR_RETURN(RowNames names, RowsToNote(table, {&row, 1}, 0, *state));
        ASSIGN_OR_RETURN(std::optional<Row> found, state->engine->Get(at, table, row));
        NoteRows(std::move(names), state);
        return found;
      });
}

Result<std::optional<Row>> Transaction::GetForUpdate(const ReadOptions& options,
                                                     std::string_view table, std::string_view row) {
  return InState(
      [&](const Snapshot& snapshot, TransactionState* state) -> Result<std::optional<Row>> {
        ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
        RETURN_IF_ERROR(BringUpToDate(snapshot, state));
        ASSIGN_OR_RETURN(RowNames names, RowsToNote(table, {&row, 1}, 0, *state));
        const TransactionState::RowName name(table, row);
        Result<std::optional<Row>> found = GetUnchanged(at, table, row, *state);
        // Who goes on after a conflict conflicts again when the transaction commits.
        if (!found.has_value() && found.error().code() != StatusCode::kConflict) return found;
        NoteRows(std::move(names), state);
        state->rows_read.find(name)->second = true;
        return found;
      });
}

Result<std::vector<std::optional<Row>>> Transaction::MultiGet(
    const ReadOptions& options, std::string_view table, std::span<const std::string_view> rows) {
  using Rows = std::vector<std::optional<Row>>;
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Rows> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    ASSIGN_OR_RETURN(RowNames names, RowsToNote(table, rows, 0, *state));
    ASSIGN_OR_RETURN(Rows found, state->engine->MultiGet(at, table, rows));
    NoteRows(std::move(names), state);
    return found;
  });
}

Result<Cursor> Transaction::Scan(const ReadOptions& options, std::string_view table,
                                 const ScanOptions& scan) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Cursor> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    ASSIGN_OR_RETURN(KeyRanges ranges, RangesToNote(scan, *state));
    ASSIGN_OR_RETURN(Cursor cursor, state->engine->Scan(at, table, scan));
    NoteRanges(table, std::move(ranges), state);
    return cursor;
  });
}

Result<Cursor> Transaction::Query(const ReadOptions& options, std::string_view table,
                                  const Predicate& predicate, const QueryOptions& query) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Cursor> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    ASSIGN_OR_RETURN(KeyRanges ranges, RangesToNote({at, table, predicate, query}, *state));
    ASSIGN_OR_RETURN(Cursor cursor, state->engine->Query(at, table, predicate, query));
    NoteRanges(table, std::move(ranges), state);
    return cursor;
  });
}

Result<uint64_t> Transaction::Count(const ReadOptions& options, std::string_view table,
                                    const Predicate& predicate, const QueryOptions& query) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<uint64_t> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    ASSIGN_OR_RETURN(KeyRanges ranges, RangesToNote({at, table, predicate, query}, *state));
    ASSIGN_OR_RETURN(const uint64_t count, state->engine->Count(at, table, predicate, query));
    NoteRanges(table, std::move(ranges), state);
    return count;
  });
}

Status Transaction::Put(std::string_view table, std::string_view row, std::string_view family,
                        std::string_view qualifier, std::string_view value,
                        std::optional<int64_t> timestamp) {
  return Write(
      [&](WriteBatch* batch) { batch->Put(table, row, family, qualifier, value, timestamp); });
}

Status Transaction::PutColumns(std::string_view table, std::string_view row,
                               std::string_view family, std::span<const ColumnValue> columns,
                               std::optional<int64_t> timestamp) {
  return Write(
      [&](WriteBatch* batch) { batch->PutColumns(table, row, family, columns, timestamp); });
}

Status Transaction::DeleteCell(std::string_view table, std::string_view row,
                               std::string_view family, std::string_view qualifier,
                               std::optional<int64_t> timestamp) {
  return Write(
      [&](WriteBatch* batch) { batch->DeleteCell(table, row, family, qualifier, timestamp); });
}

Status Transaction::DeleteColumn(std::string_view table, std::string_view row,
                                 std::string_view family, std::string_view qualifier,
                                 std::optional<int64_t> timestamp) {
  return Write(
      [&](WriteBatch* batch) { batch->DeleteColumn(table, row, family, qualifier, timestamp); });
}

Status Transaction::DeleteFamily(std::string_view table, std::string_view row,
                                 std::string_view family, std::optional<int64_t> timestamp) {
  return Write([&](WriteBatch* batch) { batch->DeleteFamily(table, row, family, timestamp); });
}

Status Transaction::DeleteRow(std::string_view table, std::string_view row,
                              std::optional<int64_t> timestamp) {
  return Write([&](WriteBatch* batch) { batch->DeleteRow(table, row, timestamp); });
}

Result<int64_t> Transaction::Increment(std::string_view table, std::string_view row,
                                       std::string_view family, std::string_view qualifier,
                                       int64_t delta) {
  const ColumnDelta column{.qualifier = qualifier, .delta = delta};
  ASSIGN_OR_RETURN(const std::vector<int64_t> sums,
                   IncrementColumns(table, row, family, {&column, 1}));
  return sums.front();
}

// The sums have room before anything is written: afterwards no allocation fails.
Result<std::vector<int64_t>> Transaction::IncrementColumns(std::string_view table,
                                                           std::string_view row,
                                                           std::string_view family,
                                                           std::span<const ColumnDelta> columns) {
  std::vector<int64_t> sums;
  const auto add = [&](WriteBatch* batch) {
    sums.reserve(columns.size());
    batch->IncrementColumns(table, row, family, columns);
  };
  ASSIGN_OR_RETURN(const std::vector<std::string> values, Update(table, row, columns.size(), add));
  for (const std::string& value : values) sums.push_back(format::ParseInt64(value).value_or(0));
  return sums;
}

Result<std::string> Transaction::Append(std::string_view table, std::string_view row,
                                        std::string_view family, std::string_view qualifier,
                                        std::string_view value) {
  const ColumnValue column{.qualifier = qualifier, .value = value};
  ASSIGN_OR_RETURN(std::vector<std::string> values,
                   AppendColumns(table, row, family, {&column, 1}));
  return std::move(values.front());
}

Result<std::vector<std::string>> Transaction::AppendColumns(std::string_view table,
                                                            std::string_view row,
                                                            std::string_view family,
                                                            std::span<const ColumnValue> columns) {
  return Update(table, row, columns.size(),
                [&](WriteBatch* batch) { batch->AppendColumns(table, row, family, columns); });
}

Status Transaction::SetSavepoint() {
  return InState([](const Snapshot&, TransactionState* state) {
    state->writes.emplace_back();
    return Status();
  });
}

Status Transaction::RollbackToSavepoint() {
  return InState([](const Snapshot&, TransactionState* state) {
    if (state->writes.size() == 1) {
      return Status::InvalidArgument("the transaction has no savepoint");
    }
    state->own_is_stale |= state->writes.back().operation_count() > 0;
    state->writes.pop_back();
    return Status();
  });
}

Status Transaction::Commit(const WriteOptions& options) {
  const Status status = InState([&](const Snapshot& snapshot, TransactionState* state) {
    return state->engine->CommitTransaction(options, snapshot, *state);
  });
  const bool may_be_repeated = status.code() == StatusCode::kBusy ||
                               status.code() == StatusCode::kNoSpace ||
                               status.code() == StatusCode::kOutOfMemory;
  if (!may_be_repeated) Rollback();
  return status;
}

void Transaction::Rollback() {
  if (!state_->handles->in_child()) state_->End();
}

}  // namespace tandem
