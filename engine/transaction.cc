// The public Transaction. Each call enters what is open of it, so that the database is not closed
// meanwhile.
#include "tandem/transaction.h"

#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/engine.h"
#include "engine/transaction_state.h"
#include "tandem/limits.h"

namespace tandem {

using engine::Guarded;
using engine::OpenTransaction;
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

Status NoteRow(std::string_view table, std::string_view row, bool for_update,
               TransactionState* state) {
  TransactionState::RowName name(table, row);
  const auto found = state->rows_read.find(name);
  if (found != state->rows_read.end()) {
    found->second |= for_update;
    return {};
  }
  if (state->rows_read.size() >= kTransactionRowsMax) {
    return Status::OverBudget("a transaction reads and writes at most " +
                              std::to_string(kTransactionRowsMax) + " rows");
  }
  state->rows_read.emplace(std::move(name), for_update);
  return {};
}

}  // namespace

Result<Transaction> TransactionState::Begin(engine::Engine* engine) {
  ASSIGN_OR_RETURN(std::unique_ptr<TransactionState> state, engine->BeginTransaction());
  state->engine = engine;
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

Result<std::optional<Row>> Transaction::Get(const ReadOptions& options, std::string_view table,
                                            std::string_view row) {
  return InState(
      [&](const Snapshot& snapshot, TransactionState* state) -> Result<std::optional<Row>> {
        ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
        RETURN_IF_ERROR(BringUpToDate(snapshot, state));
        RETURN_IF_ERROR(NoteRow(table, row, false, state));
        return state->engine->Get(at, table, row);
      });
}

Result<std::optional<Row>> Transaction::GetForUpdate(const ReadOptions& options,
                                                     std::string_view table, std::string_view row) {
  return InState(
      [&](const Snapshot& snapshot, TransactionState* state) -> Result<std::optional<Row>> {
        ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
        RETURN_IF_ERROR(BringUpToDate(snapshot, state));
        RETURN_IF_ERROR(NoteRow(table, row, true, state));
        RETURN_IF_ERROR(state->engine->CheckUnchanged(snapshot, table, row));
        return state->engine->Get(at, table, row);
      });
}

Result<Cursor> Transaction::Scan(const ReadOptions& options, std::string_view table,
                                 const ScanOptions& scan) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Cursor> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    return state->engine->Scan(at, table, scan);
  });
}

Result<Cursor> Transaction::Query(const ReadOptions& options, std::string_view table,
                                  const Predicate& predicate, const QueryOptions& query) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<Cursor> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    return state->engine->Query(at, table, predicate, query);
  });
}

Result<uint64_t> Transaction::Count(const ReadOptions& options, std::string_view table,
                                    const Predicate& predicate, const QueryOptions& query) {
  return InState([&](const Snapshot& snapshot, TransactionState* state) -> Result<uint64_t> {
    ASSIGN_OR_RETURN(const ReadOptions at, At(snapshot, options));
    RETURN_IF_ERROR(BringUpToDate(snapshot, state));
    return state->engine->Count(at, table, predicate, query);
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
