// See differential_operation.h.
#include "test/reliability/differential_operation.h"

#include <array>
#include <random>

#include "tools/simulation/model.h"

namespace tandem::reliability {
namespace {

using DiffKind = DiffOperation::Kind;

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed), keys_(40 + Below(400)) {}

  DiffOperation Next() {
    const uint64_t number = Below(202);
    if (number >= 200) return OfRegion(number == 200 ? DiffKind::kSplit : DiffKind::kMergeRegions);
    const uint64_t choice = number / 2;
    if (choice < 42) return Batch();
    if (choice < 62) return Read(DiffKind::kGet);
    if (choice < 70) return Scan();
    if (choice < 86) return Query(DiffKind::kQuery);
    if (choice < 92) return Query(DiffKind::kCount);
    if (choice < 96) return Slot(Below(2) == 0 ? DiffKind::kSnapshot : DiffKind::kRelease);
    DiffOperation operation;
    operation.kind =
        choice < 98 ? DiffKind::kFlush : (choice < 99 ? DiffKind::kCompact : DiffKind::kReopen);
    return operation;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string Key() {
    const uint64_t number = Below(keys_);
    std::string key = "k" + std::to_string(number * number % keys_);
    if (number % 5 == 0) key += std::string(number % 3 + 1, '\xff');
    if (number % 7 == 0) key += "\x01";
    return key;
  }
  std::string Value(char column) {
    if (column == 'a') return std::to_string(static_cast<int64_t>(Below(60)) - 30);
    if (column == 'b') return std::string(Below(4), static_cast<char>('m' + Below(4)));
    return std::string(Below(12) == 0 ? Below(2000) : Below(20),
                       static_cast<char>('A' + Below(26)));
  }
  RowChange Change() {
    RowChange change;
    change.key = Key();
    const uint64_t choice = Below(20);
    if (choice == 0) {
      change.kind = RowChange::Kind::kDeleteRow;
    } else if (choice < 3) {
      change.kind = RowChange::Kind::kDeleteColumn;
      change.columns = {{kColumns[Below(kColumnCount)], ""}};
    } else {
      for (const char column : kColumns) {
        if (Below(3) != 0) change.columns.emplace_back(column, Value(column));
      }
      if (change.columns.empty()) change.columns.emplace_back('a', Value('a'));
    }
    return change;
  }
  DiffOperation Batch() {
    DiffOperation operation;
    operation.kind = DiffKind::kBatch;
    for (uint64_t left = 1 + Below(6); left > 0; --left) operation.changes.push_back(Change());
    return operation;
  }
  DiffOperation Read(DiffKind kind) {
    DiffOperation operation;
    operation.kind = kind;
    operation.key = Key();
    if (Below(4) == 0) operation.snapshot = Below(kSnapshotSlots);
    return operation;
  }
  DiffOperation Scan() {
    DiffOperation operation = Read(DiffKind::kScan);
    operation.end = Below(3) == 0 ? "" : Key();
    operation.descending = Below(3) == 0;
    operation.limit = Below(4) == 0 ? 0 : 1 + Below(20);
    operation.offset = Offset(operation.limit);
    return operation;
  }
  DiffOperation Query(DiffKind kind) {
    DiffOperation operation = Read(kind);
    operation.condition = NewCondition(2);
    operation.hint = Below(6);
    if (kind == DiffKind::kCount) return operation;
    operation.limit = Below(3) == 0 ? 0 : 1 + Below(20);
    operation.offset = Offset(operation.limit);
    if (Below(3) == 0) operation.order_by = Below(2) == 0 ? 'a' : 'b';
    operation.descending = operation.order_by != '\0' && Below(2) == 0;
    return operation;
  }
  uint64_t Offset(uint64_t limit) { return limit == 0 || Below(2) == 0 ? 0 : Below(60); }
  DiffOperation OfRegion(DiffKind kind) {
    DiffOperation operation;
    operation.kind = kind;
    operation.key = Key();
    return operation;
  }
  DiffOperation Slot(DiffKind kind) {
    DiffOperation operation;
    operation.kind = kind;
    operation.slot = Below(kSnapshotSlots);
    return operation;
  }
  Condition NewCondition(int depth) {
    Condition condition;
    const uint64_t choice = Below(depth > 0 ? 10 : 6);
    condition.column = Below(12) == 0 ? 'c' : (Below(2) == 0 ? 'a' : 'b');
    if (choice < 3) {
      static constexpr const char* kComparisons[] = {"=", "<", "<=", ">", ">=", "!="};
      condition.comparison = kComparisons[Below(6)];
      condition.values = {Value(condition.column)};
    } else if (choice == 3) {
      condition.kind = Condition::Kind::kBetween;
      condition.values = {Value(condition.column), Value(condition.column)};
    } else if (choice == 4) {
      condition.kind = Condition::Kind::kIn;
      for (uint64_t left = 1 + Below(3); left > 0; --left) {
        condition.values.push_back(Value(condition.column));
      }
    } else if (choice == 5) {
      condition.kind = Condition::Kind::kIsNull;
    } else {
      condition.kind = choice < 8 ? Condition::Kind::kAnd
                                  : (choice == 8 ? Condition::Kind::kOr : Condition::Kind::kNot);
      condition.children.push_back(NewCondition(depth - 1));
      if (choice < 9) condition.children.push_back(NewCondition(depth - 1));
    }
    return condition;
  }

  std::mt19937_64 random_;
  uint64_t keys_;
};

/// A literal of the column's type: Tandem reads all of them as text.
std::string Literal(char column, const std::string& value, bool for_sqlite) {
  if (column == 'c' && for_sqlite) return "CAST(" + Quoted(value) + " AS BLOB)";
  return column == 'a' ? value : Quoted(value);
}

std::string List(const Condition& condition, bool for_sqlite) {
  std::string text;
  for (const std::string& value : condition.values) {
    text += (text.empty() ? "" : ", ") + Literal(condition.column, value, for_sqlite);
  }
  return text;
}

}  // namespace

std::string Condition::Text(bool for_sqlite) const {
  const std::string name(1, column);
  std::string text;
  switch (kind) {
    case Kind::kCompare:
      text = name + " " + comparison + " " + Literal(column, values[0], for_sqlite);
      break;
    case Kind::kBetween:
      text = name + " BETWEEN " + Literal(column, values[0], for_sqlite) + " AND " +
             Literal(column, values[1], for_sqlite);
      break;
    case Kind::kIn:
      text = name + " IN (" + List(*this, for_sqlite) + ")";
      break;
    case Kind::kIsNull:
      text = name + " IS NULL";
      break;
    case Kind::kAnd:
    case Kind::kOr:
      text = children[0].Text(for_sqlite) + (kind == Kind::kAnd ? " AND " : " OR ") +
             children[1].Text(for_sqlite);
      break;
    case Kind::kNot:
      // A comparison with nothing is false in Tandem and NULL in SQL; it matters under NOT alone.
      text = for_sqlite ? "NOT ifnull(" + children[0].Text(true) + ", 0)"
                        : "NOT " + children[0].Text(false);
      break;
  }
  return "(" + text + ")";
}

std::string DiffOperation::Describe() const {
  static constexpr const char* kNames[] = {"batch",   "get",      "scan",    "query",
                                           "count",   "snapshot", "release", "flush",
                                           "compact", "reopen",   "split",   "merge regions"};
  std::string text = kNames[static_cast<size_t>(kind)];
  for (const RowChange& change : changes) {
    static constexpr const char* kChanges[] = {"put", "delete column", "delete row"};
    text += std::string("; ") + kChanges[static_cast<size_t>(change.kind)] + " " +
            test::Shown(change.key);
    for (const auto& [column, value] : change.columns) {
      text += std::string(" ") + column + "=" + test::Shown(value);
    }
  }
  if (!key.empty() && kind != DiffKind::kQuery && kind != DiffKind::kCount)
    text += " " + test::Shown(key);
  if (kind == DiffKind::kScan) text += " to " + test::Shown(end);
  if (kind == DiffKind::kQuery || kind == DiffKind::kCount) {
    text += " " + condition.Text(false) + " hint " + std::to_string(hint);
  }
  if (order_by != '\0') text += std::string(" by ") + order_by;
  if (descending) text += " descending";
  if (limit != 0) text += " limit " + std::to_string(limit);
  if (offset != 0) text += " offset " + std::to_string(offset);
  if (kind == DiffKind::kSnapshot || kind == DiffKind::kRelease) text += " " + std::to_string(slot);
  if (snapshot.has_value()) text += " at snapshot " + std::to_string(*snapshot);
  return text;
}

std::vector<DiffOperation> NewOperations(uint64_t seed, uint64_t count) {
  Maker maker(seed);
  std::vector<DiffOperation> operations;
  for (uint64_t total = 0; total < count; total += operations.back().weight()) {
    operations.push_back(maker.Next());
  }
  return operations;
}

void AppendRow(std::string_view key,
               const std::array<std::optional<std::string>, kColumnCount>& row, std::string* text) {
  text->append(key).push_back('{');
  for (size_t i = 0; i < kColumnCount; ++i) {
    if (row[i].has_value()) text->append(1, kColumns[i]).append("=").append(*row[i]).append(",");
  }
  text->append("}\n");
}

}  // namespace tandem::reliability
