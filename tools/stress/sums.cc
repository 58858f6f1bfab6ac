// See sums.h.
#include "tools/stress/sums.h"

#include <array>
#include <optional>
#include <string>

#include "base/status_macros.h"
#include "tools/stress/echoes.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr const char* kColumns[] = {"sum", "twin"};

/// Both counters of a row, which are equal; 0 where it does not exist.
Result<uint64_t> SumIn(const Result<std::optional<Row>>& row, const std::string& where) {
  if (!row.has_value()) return In(where, row.error());
  if (!row->has_value()) return uint64_t{0};
  const std::optional<std::string_view> sum = (*row)->Find("d", kColumns[0]);
  const std::optional<std::string_view> twin = (*row)->Find("d", kColumns[1]);
  if (!sum.has_value() || sum != twin) {
    return Mismatch(where, "two equal ones", Describe(test::ModelRow((*row)->view())));
  }
  return std::stoull(std::string(*sum));
}

Result<uint64_t> ReadSum(const Stressed& stressed, uint32_t counter) {
  stressed.Begin("get of counters");
  return SumIn(stressed.database->Get({}, kSums, SumKey(counter)),
               Format("sums: counters of {}", SumKey(counter)));
}

using Sums = std::array<uint64_t, 2>;

Result<Sums> AddOne(const Stressed& stressed, const std::string& key, const WriteOptions& options) {
  stressed.Begin("increment");
  const std::array<ColumnDelta, 2> deltas = {ColumnDelta{kColumns[0], 1},
                                             ColumnDelta{kColumns[1], 1}};
  const auto sums = stressed.database->IncrementColumns(options, kSums, key, "d", deltas);
  if (!sums.has_value()) return sums.error();
  return Sums{static_cast<uint64_t>((*sums)[0]), static_cast<uint64_t>((*sums)[1])};
}

// The transaction finds its own sum by the index before it commits.
Status AddOneIn(Transaction* transaction, const std::string& key, uint64_t* sum) {
  const std::string where = "sums: transaction on " + key;
  ASSIGN_OR_RETURN(const uint64_t before, SumIn(transaction->Get({}, kSums, key), where));
  *sum = before + 1;
  const std::string text = std::to_string(*sum);
  const std::array<ColumnValue, 2> columns = {ColumnValue{kColumns[0], text},
                                              ColumnValue{kColumns[1], text}};
  RETURN_IF_ERROR(transaction->PutColumns(kSums, key, "d", columns));
  QueryOptions query;
  query.use_index = "sum";
  const Predicate own =
      Predicate::And({Predicate::Equal("d:sum", text), Predicate::Equal("_row", key)});
  ASSIGN_OR_RETURN(const uint64_t count, transaction->Count({}, kSums, own, query));
  return CheckBetween(where + ": rows of its own sum by index", 1, 1, count);
}

Result<Sums> AddOneInTransaction(const Stressed& stressed, const std::string& key,
                                 const WriteOptions& options) {
  constexpr uint32_t kAttemptsMax = 1'000'000;  // Others may be faster for long.
  stressed.Begin("increment in a transaction");
  uint64_t sum = 0;
  Status found;  // A mismatch is no conflict to try again after.
  const auto add = [&](Transaction& transaction) {
    found = AddOneIn(&transaction, key, &sum);
    return IsMismatch(found) ? Status::Cancelled("a mismatch was found") : found;
  };
  const Status status =
      stressed.database->Transact(add, {.write = options, .attempts_max = kAttemptsMax});
  if (IsMismatch(found)) return found;
  if (!status.ok()) return status;
  return Sums{sum, sum};
}

// Others may be faster for long: it is tried until it applies.
Result<Sums> AddOneChecked(const Stressed& stressed, const std::string& key,
                           const WriteOptions& options) {
  const std::string where = "sums: checked increment of " + key;
  stressed.Begin("increment by a check");
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t before, SumIn(stressed.database->Get({}, kSums, key), where));
    const Predicate is_the_same = before == 0 ? Predicate::IsNull("d:sum")
                                              : Predicate::Equal("d:sum", std::to_string(before));
    const std::string text = std::to_string(before + 1);
    const std::array<ColumnValue, 2> columns = {ColumnValue{kColumns[0], text},
                                                ColumnValue{kColumns[1], text}};
    WriteBatch batch;
    batch.PutColumns(kSums, key, "d", columns);
    ASSIGN_OR_RETURN(const bool applied,
                     stressed.database->CheckAndMutate(options, kSums, key, is_the_same, batch));
    if (applied) return Sums{before + 1, before + 1};
  }
}

Result<Sums> AddOneBy(SumIncrement::Way way, const Stressed& stressed, const std::string& key,
                      const WriteOptions& options) {
  switch (way) {
    case SumIncrement::Way::kIncrement:
      break;
    case SumIncrement::Way::kTransaction:
      return AddOneInTransaction(stressed, key, options);
    case SumIncrement::Way::kCheck:
      return AddOneChecked(stressed, key, options);
  }
  return AddOne(stressed, key, options);
}

constexpr const char* kWays[] = {"", " in a transaction", " by a check"};

}  // namespace

Status IncrementSum(const Stressed& stressed, const SumIncrement& increment, uint64_t* last) {
  CounterState& state = stressed.expected->counter(increment.counter);
  const std::string key = SumKey(increment.counter);
  const char* how = kWays[static_cast<size_t>(increment.way)];
  stressed.log->Add(Format("increment {}{}", key, how));
  const uint64_t acked = state.acked;
  const uint64_t began = stressed.expected->NextStamp();
  ++state.begun;
  WriteOptions options;
  options.durability = increment.durability;
  const auto sums = AddOneBy(increment.way, stressed, key, options);
  const std::string where = "sums: increment of " + key + how;
  if (!sums.has_value()) return In(where, sums.error());
  const uint64_t sum = (*sums)[0];
  RETURN_IF_ERROR(CheckBetween(where, std::max(acked, *last) + 1, state.begun, sum));
  RETURN_IF_ERROR(CheckBetween(where + ", its twin", sum, sum, (*sums)[1]));
  *last = sum;
  state.Returned(sum, began, stressed.expected->NextStamp());
  ++state.acked;
  if (increment.durability >= Durability::kWritten) state.KeepThrough(sum);
  stressed.expected->Add(Count::kIncrements);
  return {};
}

Status CheckSums(const Stressed& stressed) {
  RETURN_IF_ERROR(CheckEchoes(stressed, nullptr));
  for (uint32_t counter = 0; counter < kCounters; ++counter) {
    const uint64_t acked = stressed.expected->counter(counter).acked;
    ASSIGN_OR_RETURN(const uint64_t sum, ReadSum(stressed, counter));
    RETURN_IF_ERROR(CheckBetween("sums: counter " + SumKey(counter), acked, acked, sum));
    if (sum == 0) continue;
    stressed.Begin("query of a counter by index");
    QueryOptions query;
    query.use_index = "sum";
    const Predicate equal = Predicate::And({Predicate::Equal("d:sum", std::to_string(sum)),
                                            Predicate::Equal("_row", SumKey(counter))});
    const auto count = stressed.database->Count({}, kSums, equal, query);
    if (!count.has_value()) return In("sums: " + equal.ToString(), count.error());
    RETURN_IF_ERROR(CheckBetween("sums: rows of " + equal.ToString() + " by index", 1, 1, *count));
  }
  return {};
}

Status RecoverSums(const Stressed& stressed, Survival* survival) {
  RETURN_IF_ERROR(CheckEchoes(stressed, nullptr));
  for (uint32_t counter = 0; counter < kCounters; ++counter) {
    CounterState& state = stressed.expected->counter(counter);
    ASSIGN_OR_RETURN(const uint64_t sum, ReadSum(stressed, counter));
    RETURN_IF_ERROR(
        CheckBetween("after recovery: counter " + SumKey(counter), state.kept, state.begun, sum));
    survival->Note(state, sum, "counter " + SumKey(counter));
    state.GoOnFrom(sum);
  }
  return {};
}

void KeepSums(const Stressed& stressed) {
  for (uint32_t counter = 0; counter < kCounters; ++counter) {
    CounterState& state = stressed.expected->counter(counter);
    state.kept = state.acked.load();
  }
}

}  // namespace tandem::stress
