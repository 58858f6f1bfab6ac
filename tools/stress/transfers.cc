// See transfers.h.
#include "tools/stress/transfers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr int64_t kAll = int64_t{kAccounts} * kFirstBalance;

struct Account {
  int64_t balance = 0;
  uint64_t moves = 0;
};

template <typename Number>
bool Parse(std::optional<std::string_view> text, Number* number) {
  if (!text.has_value()) return false;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, *number);
  return error == std::errc() && rest == end;
}

Result<Account> AccountIn(const RowView& row, const std::string& where) {
  Account account;
  if (Parse(row.Find("d", "balance"), &account.balance) &&
      Parse(row.Find("d", "moves"), &account.moves)) {
    return account;
  }
  return Mismatch(where, "a balance and a number of moves", Describe(test::ModelRow(row)));
}

/// All accounts, of one scan.
Result<std::vector<Account>> AccountsOf(Result<Cursor> cursor, const std::string& where) {
  if (!cursor.has_value()) return In(where, cursor.error());
  std::vector<Account> accounts;
  int64_t sum = 0;
  while (cursor->Next()) {
    ASSIGN_OR_RETURN(const Account account, AccountIn(cursor->row(), where));
    accounts.push_back(account);
    sum += account.balance;
  }
  if (!cursor->status().ok()) return In(where, cursor->status());
  const std::string expected = Format("{} in {} accounts", kAll, kAccounts);
  const std::string found = Format("{} in {} accounts", sum, accounts.size());
  if (found != expected) return Mismatch(where, expected, found);
  return accounts;
}

/// What a transfer leaves, of the account that gives and of the one that takes.
struct Moved {
  Account from, to;
};

Result<Account> AddTo(Transaction* transaction, const std::string& key, int64_t amount) {
  const std::array<ColumnDelta, 2> deltas = {ColumnDelta{"balance", amount},
                                             ColumnDelta{"moves", 1}};
  ASSIGN_OR_RETURN(const std::vector<int64_t> sums,
                   transaction->IncrementColumns(kBank, key, "d", deltas));
  return Account{.balance = sums[0], .moves = static_cast<uint64_t>(sums[1])};
}

Result<Account> PutInto(Transaction* transaction, const std::optional<Row>& row,
                        const std::string& key, int64_t amount) {
  const std::string where = "transfers: account " + key + " in a transaction";
  if (!row.has_value()) return Mismatch(where, "a row", "none");
  ASSIGN_OR_RETURN(Account account, AccountIn(row->view(), where));
  account.balance += amount;
  ++account.moves;
  const std::string balance = std::to_string(account.balance);
  const std::string moves = std::to_string(account.moves);
  const std::array<ColumnValue, 2> columns = {ColumnValue{"balance", balance},
                                              ColumnValue{"moves", moves}};
  RETURN_IF_ERROR(transaction->PutColumns(kBank, key, "d", columns));
  return account;
}

/// A transaction sees the sum that never changes before and after its own writes.
Status MoveIn(Transaction* transaction, const Transfer& transfer, Moved* moved) {
  const std::string from = AccountKey(transfer.from), to = AccountKey(transfer.to);
  if (transfer.by_increments) {
    ASSIGN_OR_RETURN(moved->from, AddTo(transaction, from, -transfer.amount));
    ASSIGN_OR_RETURN(moved->to, AddTo(transaction, to, transfer.amount));
  } else {
    const std::array<std::string_view, 2> keys = {from, to};
    ASSIGN_OR_RETURN(const auto rows, transaction->MultiGet({}, kBank, keys));
    ASSIGN_OR_RETURN(moved->from, PutInto(transaction, rows[0], from, -transfer.amount));
    ASSIGN_OR_RETURN(moved->to, PutInto(transaction, rows[1], to, transfer.amount));
  }
  return AccountsOf(transaction->Scan({}, kBank, {}), "transfers: scan in a transaction").status();
}

Result<Moved> Move(const Stressed& stressed, const Transfer& transfer) {
  constexpr uint32_t kAttemptsMax = 1'000'000;  // Others may be faster for long.
  stressed.Begin("transfer");
  Moved moved;
  Status found;  // A mismatch is no conflict to try again after.
  const auto move = [&](Transaction& transaction) {
    found = MoveIn(&transaction, transfer, &moved);
    return IsMismatch(found) ? Status::Cancelled("a mismatch was found") : found;
  };
  TransactOptions options;
  options.write.durability = transfer.durability;
  options.attempts_max = kAttemptsMax;
  const Status status = stressed.database->Transact(move, options);
  if (IsMismatch(found)) return found;
  if (!status.ok()) return In("transfer", status);
  return moved;
}

/// The number that an account has now lies between what was acknowledged before and what has begun.
Status Acknowledge(const Stressed& stressed, uint32_t account, uint64_t low, uint64_t moves,
                   Durability durability) {
  CounterState& state = stressed.expected->account(account);
  RETURN_IF_ERROR(
      CheckBetween("transfers: moves of account " + AccountKey(account), low, state.begun, moves));
  ++state.acked;
  if (durability >= Durability::kWritten) state.KeepThrough(moves);
  return {};
}

}  // namespace

Status MoveMoney(const Stressed& stressed, const Transfer& transfer, LastMoves* last) {
  Expected& expected = *stressed.expected;
  stressed.log->Add(Format("transfer {} from {} to {}", transfer.amount, AccountKey(transfer.from),
                           AccountKey(transfer.to)));
  const auto next = [&](uint32_t account) {
    const uint64_t acked = expected.account(account).acked;
    ++expected.account(account).begun;
    return std::max(acked, (*last)[account]) + 1;
  };
  const uint64_t from = next(transfer.from), to = next(transfer.to);
  const uint64_t began = expected.NextStamp();
  ASSIGN_OR_RETURN(const Moved moved, Move(stressed, transfer));
  const uint64_t ended = expected.NextStamp();
  expected.account(transfer.from).Returned(moved.from.moves, began, ended);
  expected.account(transfer.to).Returned(moved.to.moves, began, ended);
  (*last)[transfer.from] = moved.from.moves;
  (*last)[transfer.to] = moved.to.moves;
  RETURN_IF_ERROR(
      Acknowledge(stressed, transfer.from, from, moved.from.moves, transfer.durability));
  RETURN_IF_ERROR(Acknowledge(stressed, transfer.to, to, moved.to.moves, transfer.durability));
  expected.Add(Count::kTransfers);
  return {};
}

Status CheckBalances(const Stressed& stressed, const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  stressed.Begin("scan of accounts");
  return AccountsOf(stressed.database->Scan(read, kBank, {}), "transfers: scan of all accounts")
      .status();
}

Status CheckAccounts(const Stressed& stressed) {
  stressed.Begin("scan of accounts");
  const std::string where = "transfers: scan of all accounts";
  ASSIGN_OR_RETURN(const std::vector<Account> accounts,
                   AccountsOf(stressed.database->Scan({}, kBank, {}), where));
  for (uint32_t i = 0; i < kAccounts; ++i) {
    const std::string key = AccountKey(i);
    const uint64_t acked = stressed.expected->account(i).acked;
    RETURN_IF_ERROR(
        CheckBetween("transfers: moves of account " + key, acked, acked, accounts[i].moves));
    stressed.Begin("query of an account by index");
    QueryOptions query;
    query.use_index = "balance";
    const Predicate equal =
        Predicate::And({Predicate::Equal("d:balance", std::to_string(accounts[i].balance)),
                        Predicate::Equal("_row", key)});
    const auto count = stressed.database->Count({}, kBank, equal, query);
    if (!count.has_value()) return In("transfers: " + equal.ToString(), count.error());
    RETURN_IF_ERROR(
        CheckBetween("transfers: rows of " + equal.ToString() + " by index", 1, 1, *count));
  }
  return {};
}

Status RecoverAccounts(const Stressed& stressed, Survival* survival) {
  stressed.Begin("scan of accounts after recovery");
  const std::string where = "after recovery: scan of all accounts";
  ASSIGN_OR_RETURN(const std::vector<Account> accounts,
                   AccountsOf(stressed.database->Scan({}, kBank, {}), where));
  for (uint32_t i = 0; i < kAccounts; ++i) {
    CounterState& state = stressed.expected->account(i);
    RETURN_IF_ERROR(CheckBetween("after recovery: moves of account " + AccountKey(i), state.kept,
                                 state.begun, accounts[i].moves));
    survival->Note(state, accounts[i].moves, "account " + AccountKey(i));
    state.GoOnFrom(accounts[i].moves);
  }
  return {};
}

void KeepAccounts(const Stressed& stressed) {
  for (uint32_t i = 0; i < kAccounts; ++i) {
    CounterState& state = stressed.expected->account(i);
    state.kept = state.acked.load();
  }
}

}  // namespace tandem::stress
