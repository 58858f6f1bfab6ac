// See claims.h.
#include "tools/stress/claims.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "tools/generator/dice.h"
#include "tools/stress/finding.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

/// Of each row of a thread: 1 + the number of its name, or 0. One number, kBits for each row.
class Names {
 public:
  explicit Names(uint64_t packed = 0) : packed_(packed) {}
  uint64_t packed() const { return packed_; }
  uint64_t of(uint32_t row) const { return packed_ >> (row * kBits) & kMask; }
  void Set(uint32_t row, uint64_t name) {
    packed_ = (packed_ & ~(kMask << (row * kBits))) | name << (row * kBits);
  }
  bool Have(uint64_t name) const {
    for (uint32_t row = 0; row < kClaimRows; ++row) {
      if (of(row) == name) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t kBits = 64 / kClaimRows;
  static constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  uint64_t packed_;
};

std::string NameText(uint64_t name) { return Format("name-{}", name); }

/// One step, in which names are given up and taken.
struct Change {
  uint32_t thread;
  Names from, to;
};

WriteBatch BatchFor(const Change& change) {
  WriteBatch batch;
  for (uint32_t row = 0; row < kClaimRows; ++row) {
    const uint64_t name = change.to.of(row);
    if (change.from.of(row) == name) continue;
    const std::string key = ClaimKey(change.thread, row);
    if (name == 0) {
      batch.DeleteColumn(kClaims, key, "d", "name");
    } else {
      batch.Put(kClaims, key, "d", "name", NameText(name));
    }
  }
  return batch;
}

Status WriteIn(Transaction* transaction, const Change& change) {
  for (uint32_t row = 0; row < kClaimRows; ++row) {
    const uint64_t name = change.to.of(row);
    if (change.from.of(row) == name) continue;
    const std::string key = ClaimKey(change.thread, row);
    RETURN_IF_ERROR(name == 0 ? transaction->DeleteColumn(kClaims, key, "d", "name")
                              : transaction->Put(kClaims, key, "d", "name", NameText(name)));
  }
  return {};
}

Status WriteNames(const Stressed& stressed, const Change& change, test::Dice* dice) {
  WriteOptions options;
  options.durability = dice->Chance(5) ? Durability::kSynced : Durability::kWritten;
  if (dice->Chance(70)) {
    stressed.Begin("write of a unique name");
    return stressed.database->Write(options, BatchFor(change));
  }
  stressed.Begin("write of a unique name in a transaction");
  const auto write = [&](Transaction& transaction) { return WriteIn(&transaction, change); };
  return stressed.database->Transact(write, {.write = options});
}

Result<Names> ReadNames(const Stressed& stressed, uint32_t thread) {
  Names names;
  for (uint32_t row = 0; row < kClaimRows; ++row) {
    stressed.Begin("get of a unique name");
    const std::string key = ClaimKey(thread, row);
    const auto found = stressed.database->Get({}, kClaims, key);
    if (!found.has_value()) return In("claims: get of " + key, found.error());
    if (!found->has_value()) continue;
    const std::optional<std::string_view> text = (*found)->Find("d", "name");
    for (uint64_t name = 1; text.has_value() && name <= kClaimNames; ++name) {
      if (NameText(name) == *text) names.Set(row, name);
    }
  }
  return names;
}

Result<uint64_t> CountOf(const Stressed& stressed, const Snapshot* snapshot, uint64_t name,
                         bool by_index) {
  stressed.Begin("count of a unique name");
  ReadOptions read;
  read.snapshot = snapshot;
  QueryOptions query;
  if (by_index) query.use_index = "name";
  query.no_index = !by_index;
  const auto count =
      stressed.database->Count(read, kClaims, Predicate::Equal("d:name", NameText(name)), query);
  if (!count.has_value()) return In("claims: count of " + NameText(name), count.error());
  return *count;
}

/// What the thread's rows shall have next.
Names Choose(const Names& from, test::Dice* dice) {
  Names to = from;
  const auto row = static_cast<uint32_t>(dice->Below(kClaimRows));
  const auto other = static_cast<uint32_t>(dice->Below(kClaimRows));
  if (dice->Chance(25)) {  // An exchange, or a move where one of them has none.
    to.Set(row, from.of(other));
    to.Set(other, from.of(row));
    return to;
  }
  const uint64_t name = dice->Chance(20) ? 0 : 1 + dice->Below(kClaimNames);
  if (name == 0 || !from.Have(name)) to.Set(row, name);
  return to;
}

}  // namespace

Status ChangeClaims(const Stressed& stressed, uint32_t thread, uint64_t seed) {
  test::Dice dice(seed);
  Expected& expected = *stressed.expected;
  ClaimState& state = expected.thread(thread).claims;
  const Names from(state.acked), to = Choose(from, &dice);
  if (to.packed() == from.packed()) return {};
  uint64_t taken = 0, given_up = 0;  // At most one each.
  for (uint32_t row = 0; row < kClaimRows; ++row) {
    if (to.of(row) != 0 && !from.Have(to.of(row))) taken = to.of(row);
    if (from.of(row) != 0 && !to.Have(from.of(row))) given_up = from.of(row);
  }
  stressed.log->Add(Format("{} claims {:x}, then {:x}", thread, from.packed(), to.packed()));
  // A name is open from before a row may have it until after the row has not: who finds that no
  // one else has it open, and that no one took it up meanwhile, must be given it.
  uint64_t others = 0, claims = 0;
  if (taken != 0) {
    ++expected.name(taken).open;
    claims = ++expected.name(taken).claims;
    others = expected.name(taken).open - 1;
  }
  state.begun = to.packed();
  const Status status = WriteNames(stressed, {thread, from, to}, &dice);
  const std::string where = Format("claims: write of thread {}, which takes {}", thread,
                                   taken == 0 ? "none" : NameText(taken));
  if (status.code() == StatusCode::kAlreadyExists && taken != 0) {
    state.begun = from.packed();
    const bool was_free = others == 0 && expected.name(taken).claims == claims;
    --expected.name(taken).open;
    expected.Add(Count::kRefusedClaims);
    return was_free ? Mismatch(where, "it is free", status.message()) : Status();
  }
  RETURN_IF_ERROR(In(where, status));
  state.acked = to.packed();
  if (given_up != 0) --expected.name(given_up).open;
  expected.Add(Count::kClaims);
  if (taken == 0) return {};
  ASSIGN_OR_RETURN(const uint64_t count, CountOf(stressed, nullptr, taken, true));
  return CheckBetween(where + ", rows with it", 1, 1, count);
}

Status CheckOneName(const Stressed& stressed, uint64_t seed) {
  const uint64_t name = 1 + seed % kClaimNames;
  stressed.Begin("snapshot");
  const auto snapshot = stressed.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("claims: snapshot", snapshot.error());
  ASSIGN_OR_RETURN(const uint64_t by_index, CountOf(stressed, &*snapshot, name, true));
  ASSIGN_OR_RETURN(const uint64_t scanned, CountOf(stressed, &*snapshot, name, false));
  const std::string where = "claims: rows with " + NameText(name);
  RETURN_IF_ERROR(CheckBetween(where + " by a scan", 0, 1, scanned));
  return CheckBetween(where + " by index", scanned, scanned, by_index);
}

Status CheckClaims(const Stressed& stressed) {
  for (uint32_t thread = 0; thread < stressed.workload->thread_count(); ++thread) {
    const uint64_t acked = stressed.expected->thread(thread).claims.acked;
    ASSIGN_OR_RETURN(const Names names, ReadNames(stressed, thread));
    if (names.packed() == acked) continue;
    return Mismatch(Format("claims: names of thread {}", thread), Format("{:x}", acked),
                    Format("{:x}", names.packed()));
  }
  for (uint64_t name = 0; name < kClaimNames; ++name) {
    RETURN_IF_ERROR(CheckOneName(stressed, name));
  }
  return {};
}

Status RecoverClaims(const Stressed& stressed) {
  Expected& expected = *stressed.expected;
  for (uint64_t name = 1; name <= kClaimNames; ++name) expected.name(name).open = 0;
  for (uint32_t thread = 0; thread < stressed.workload->thread_count(); ++thread) {
    ClaimState& state = expected.thread(thread).claims;
    ASSIGN_OR_RETURN(const Names names, ReadNames(stressed, thread));
    if (names.packed() != state.acked && names.packed() != state.begun) {
      return Mismatch(Format("after recovery: names of thread {}", thread),
                      Format("{:x} or {:x}", state.acked.load(), state.begun.load()),
                      Format("{:x}", names.packed()));
    }
    state.begun = state.acked = names.packed();
    for (uint32_t row = 0; row < kClaimRows; ++row) {
      if (names.of(row) != 0) ++expected.name(names.of(row)).open;
    }
  }
  return CheckClaims(stressed);
}

}  // namespace tandem::stress
