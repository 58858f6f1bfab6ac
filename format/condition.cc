// Sets of values: normal form, complement, membership. And the codec of conditions. A record is a
// list of fields (format/fields.h). Every field is required but where it says otherwise; one marked
// * occurs once per element of the list, in the list's order.
//
//   RECORD     TAG  FIELD         BYTES
//   condition    1  kind          varint: 1 leaf, 2 AND, 3 OR
//                3  child *       condition record, of AND and OR alone; 0 or more
//                5  column        varint, of a leaf alone: from 0, a column of the predicate record
//                7  absent        varint, 1; left out where an absent column does not satisfy it
//                9  interval *    interval record, of a leaf alone: ascending, disjoint
//               11  part          bytes; left out of a leaf without one
//               13  lacks part    varint, 1; left out of a leaf that looks for the part
//   interval     1  low           bytes as ValueBound has them; left out: it is open
//                3  without low   varint, 1; left out where `low` itself belongs to the interval
//                5  high          bytes; left out: it is open
//                7  without high  varint, 1; left out where `high` itself belongs to the interval
#include "format/condition.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "format/fields.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

// Whether `a` starts before `b`; an open side starts before everything.
bool StartsBefore(const ValueInterval& a, const ValueInterval& b) {
  if (!a.low.has_value() || !b.low.has_value()) return !a.low.has_value() && b.low.has_value();
  const int order = a.low->key.compare(b.low->key);
  return order != 0 ? order < 0 : a.low->inclusive && !b.low->inclusive;
}

// Whether `next`, which does not start before `first`, begins at or before the end of `first`.
bool Touches(const ValueInterval& first, const ValueInterval& next) {
  if (!first.high.has_value() || !next.low.has_value()) return true;
  const int order = next.low->key.compare(first.high->key);
  return order < 0 || (order == 0 && (next.low->inclusive || first.high->inclusive));
}

bool EndsBefore(const ValueInterval& a, const ValueInterval& b) {
  if (!a.high.has_value() || !b.high.has_value()) return a.high.has_value() && !b.high.has_value();
  const int order = a.high->key.compare(b.high->key);
  return order != 0 ? order < 0 : !a.high->inclusive && b.high->inclusive;
}

ValueBound Opposite(const ValueBound& bound) { return {bound.key, !bound.inclusive}; }

}  // namespace

bool ValueInterval::Contains(std::string_view key) const {
  if (low.has_value()) {
    const int order = key.compare(low->key);
    if (order < 0 || (order == 0 && !low->inclusive)) return false;
  }
  if (high.has_value()) {
    const int order = key.compare(high->key);
    if (order > 0 || (order == 0 && !high->inclusive)) return false;
  }
  return true;
}

bool ValueInterval::empty() const {
  if (!low.has_value() || !high.has_value()) return false;
  const int order = low->key.compare(high->key);
  return order > 0 || (order == 0 && !(low->inclusive && high->inclusive));
}

ValueSet::ValueSet(std::vector<ValueInterval> intervals) : intervals_(std::move(intervals)) {
  std::erase_if(intervals_, [](const ValueInterval& interval) { return interval.empty(); });
  if (intervals_.size() < 2) return;
  std::stable_sort(intervals_.begin(), intervals_.end(), StartsBefore);
  auto last = intervals_.begin();  // Of those that are in normal form.
  for (auto next = last + 1; next != intervals_.end(); ++next) {
    if (!Touches(*last, *next)) {
      if (++last != next) *last = std::move(*next);
    } else if (EndsBefore(*last, *next)) {
      last->high = std::move(next->high);
    }
  }
  intervals_.erase(last + 1, intervals_.end());
}

bool ValueSet::Contains(std::string_view key) const {
  // Only the last interval that starts at or before the key can contain it: if two intervals meet
  // at a key, neither contains it, or they would have been merged.
  const auto after = std::partition_point(
      intervals_.begin(), intervals_.end(), [&](const ValueInterval& interval) {
        return !interval.low.has_value() || std::string_view(interval.low->key) <= key;
      });
  return after != intervals_.begin() && (after - 1)->Contains(key);
}

ValueSet ValueSet::Complement() const {
  std::vector<ValueInterval> gaps;
  ValueInterval gap;
  for (const ValueInterval& interval : intervals_) {
    if (interval.low.has_value()) {
      gap.high = Opposite(*interval.low);
      gaps.push_back(std::move(gap));
    }
    if (!interval.high.has_value()) return ValueSet(std::move(gaps));
    gap = {Opposite(*interval.high), std::nullopt};
  }
  gaps.push_back(std::move(gap));
  return ValueSet(std::move(gaps));
}

ValueSet ValueSet::UnionOf(std::span<const ValueSet* const> sets) {
  std::vector<ValueInterval> intervals;
  for (const ValueSet* set : sets) {
    intervals.insert(intervals.end(), set->intervals_.begin(), set->intervals_.end());
  }
  return ValueSet(std::move(intervals));
}

// By De Morgan: the complement of the union of the complements.
ValueSet ValueSet::IntersectionOf(std::span<const ValueSet* const> sets) {
  std::vector<ValueInterval> outside;
  for (const ValueSet* set : sets) {
    std::vector<ValueInterval> gaps = set->Complement().intervals_;
    std::move(gaps.begin(), gaps.end(), std::back_inserter(outside));
  }
  return ValueSet(std::move(outside)).Complement();
}

namespace {

enum ConditionTag : uint64_t {
  kKind = 1,
  kChild = 3,
  kColumn = 5,
  kAcceptsNull = 7,
  kInterval = 9,
  kPart = 11,
  kLacksPart = 13
};
enum IntervalTag : uint64_t { kLow = 1, kWithoutLow = 3, kHigh = 5, kWithoutHigh = 7 };

std::string EncodeInterval(const ValueInterval& interval) {
  std::string out;
  if (interval.low.has_value()) {
    AppendField(&out, kLow, interval.low->key);
    if (!interval.low->inclusive) AppendNumberField(&out, kWithoutLow, 1);
  }
  if (interval.high.has_value()) {
    AppendField(&out, kHigh, interval.high->key);
    if (!interval.high->inclusive) AppendNumberField(&out, kWithoutHigh, 1);
  }
  return out;
}

Result<ValueInterval> DecodeInterval(std::string_view bytes) {
  FieldReader fields(bytes, "interval record");
  ValueInterval interval;
  bool without_low = false, without_high = false;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kLow:
        interval.low = ValueBound{std::string(fields.Bytes())};
        break;
      case kWithoutLow:
        without_low = fields.Flag();
        break;
      case kHigh:
        interval.high = ValueBound{std::string(fields.Bytes())};
        break;
      case kWithoutHigh:
        without_high = fields.Flag();
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({}));
  if ((without_low && !interval.low.has_value()) || (without_high && !interval.high.has_value())) {
    return Status::Corruption("interval record: it is without a bound that it does not have");
  }
  if (without_low) interval.low->inclusive = false;
  if (without_high) interval.high->inclusive = false;
  return interval;
}

Result<Condition> Decode(std::string_view bytes, size_t columns, uint32_t depth);

void AddChild(FieldReader* fields, size_t columns, uint32_t depth, Condition* condition) {
  if (depth == kIndexWhereDepthMax) return fields->FailCorrupt("it has too many levels");
  Result<Condition> child = Decode(fields->Repeated(), columns, depth + 1);
  if (!child) return fields->Fail(child.error());
  condition->children.push_back(*std::move(child));
}

Condition::Kind KindField(FieldReader* fields) {
  const uint64_t kind = fields->Number(UINT64_MAX);
  if (kind == 0 || kind > static_cast<uint64_t>(Condition::Kind::kOr)) {
    fields->Fail(Status::Unsupported("condition record: unknown kind " + std::to_string(kind)));
    return Condition::Kind::kAnd;
  }
  return static_cast<Condition::Kind>(kind);
}

Result<Condition> Decode(std::string_view bytes, size_t columns, uint32_t depth) {
  FieldReader fields(bytes, "condition record");
  Condition condition;
  std::vector<ValueInterval> intervals;
  bool has_column = false;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kKind:
        condition.kind = KindField(&fields);
        break;
      case kChild:
        AddChild(&fields, columns, depth, &condition);
        break;
      case kColumn:
        condition.column = fields.Number(UINT64_MAX);
        has_column = true;
        if (condition.column >= columns) fields.FailCorrupt("it names a column that is not there");
        break;
      case kAcceptsNull:
        condition.accepts_null = fields.Flag();
        break;
      case kInterval: {
        Result<ValueInterval> interval = DecodeInterval(fields.Repeated());
        if (interval) {
          intervals.push_back(*std::move(interval));
        } else {
          fields.Fail(interval.error());
        }
        break;
      }
      case kPart:
        condition.part = std::string(fields.Bytes());
        break;
      case kLacksPart:
        condition.lacks_part = fields.Flag();
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kKind}));
  if ((condition.kind == Condition::Kind::kLeaf) != has_column ||
      (has_column && !condition.children.empty())) {
    return Status::Corruption("condition record: a leaf has a column and no children");
  }
  condition.values = ValueSet(std::move(intervals));
  return condition;
}

}  // namespace

std::string EncodeCondition(const Condition& condition) {
  std::string out;
  AppendNumberField(&out, kKind, static_cast<uint64_t>(condition.kind));
  for (const Condition& child : condition.children) {
    AppendField(&out, kChild, EncodeCondition(child));
  }
  if (condition.kind != Condition::Kind::kLeaf) return out;
  AppendNumberField(&out, kColumn, condition.column);
  if (condition.accepts_null) AppendNumberField(&out, kAcceptsNull, 1);
  for (const ValueInterval& interval : condition.values.intervals()) {
    AppendField(&out, kInterval, EncodeInterval(interval));
  }
  if (condition.part.has_value()) AppendField(&out, kPart, *condition.part);
  if (condition.lacks_part) AppendNumberField(&out, kLacksPart, 1);
  return out;
}

Result<Condition> DecodeCondition(std::string_view bytes, size_t columns) {
  return Decode(bytes, columns, 0);
}

}  // namespace tandem::format
