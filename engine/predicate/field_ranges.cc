// Keys with the same first fields lie together, after the same leading bytes. So:
//
// 1. Conditions that every match satisfies are sets of values of fields. An OR in an AND has those
//    of the AND as well as its own.
// 2. The first fields whose sets are a few single values make prefixes, one for each combination;
//    so do fields that a hash or a modulus is made of, wherever they are.
// 3. The next field's set bounds what follows each prefix.
// 4. Each declaration of the table makes ranges of its own, since other bytes lead its keys.
#include "engine/predicate/field_ranges.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "tandem/limits.h"

namespace tandem::engine {
namespace {

using Kind = BoundNode::Kind;

// More would be dearer to look up than rows between them to pass over.
constexpr size_t kCombinationsMax = 1024;
constexpr size_t kRangesMax = kRowKeyRangesMax;

// By place of the field; nullopt: any value.
using FieldSets = std::vector<std::optional<ValueSet>>;

bool Bounds(const BoundLeaf& leaf) {
  return leaf.key_fields != nullptr && leaf.has_ranges() && !leaf.accepts_null;
}

bool IsOfSingleValues(const ValueSet& set) {
  return std::ranges::all_of(set.intervals(),
                             [](const ValueInterval& each) { return each.is_single(); });
}

// The smallest interval that has all of them.
ValueInterval HullOf(const std::vector<ValueInterval>& intervals) {
  return {intervals.front().low, intervals.back().high};
}

void Narrow(const BoundLeaf& leaf, FieldSets* sets) {
  std::optional<ValueSet>& set = (*sets)[leaf.field];
  if (!set.has_value()) {
    set = leaf.values;
    return;
  }
  const ValueSet* const both[] = {&*set, &leaf.values};
  set = ValueSet::IntersectionOf(both);
}

const format::KeyFields* FieldsNamedIn(const BoundNode& node) {
  if (node.kind == Kind::kLeaf) return node.leaf.key_fields.get();
  for (const BoundNode& child : node.children) {
    if (const format::KeyFields* const fields = FieldsNamedIn(child)) return fields;
  }
  return nullptr;
}

format::KeyRange KeysOf(RowRange range) {
  format::KeyRange keys{.low = std::move(range.start), .high = std::nullopt};
  if (!range.end.empty()) keys.high = std::move(range.end);
  return keys;
}

/// Values of some fields for which keys begin in one way.
class Combinations {
 public:
  explicit Combinations(size_t fields) : all_{format::KnownFields(fields)} {}

  /// Gives each of them each value of the field. False: there would be too many, or the set is not
  /// of single values.
  bool Multiply(size_t field, const std::optional<ValueSet>& set) {
    if (!set.has_value() || !IsOfSingleValues(*set)) return false;
    const std::vector<ValueInterval>& values = set->intervals();
    if (all_.size() * values.size() > kCombinationsMax) return false;
    std::vector<format::KnownFields> multiplied;
    for (const format::KnownFields& known : all_) {
      for (const ValueInterval& value : values) {
        multiplied.emplace_back(known)[field] = value.low->key;
      }
    }
    all_ = std::move(multiplied);
    is_known_ = true;
    return true;
  }
  const std::vector<format::KnownFields>& all() const { return all_; }
  /// Whether some field is.
  bool is_known() const { return is_known_; }

 private:
  std::vector<format::KnownFields> all_;
  bool is_known_ = false;
};

class FieldRanges {
 public:
  explicit FieldRanges(const format::KeyFields& fields) : fields_(fields) {}

  // `sets`: of what is around the node.
  KeyRanges Of(const BoundNode& node, FieldSets sets) const {
    if (node.kind == Kind::kOr) {
      KeyRanges any;
      for (const BoundNode& child : node.children) {
        KeyRanges rows = Of(child, sets);
        std::ranges::move(rows, std::back_inserter(any));
      }
      return Unite(std::move(any));
    }
    const auto narrow = [&sets](const BoundNode& each) {
      if (each.kind == Kind::kLeaf && Bounds(each.leaf)) Narrow(each.leaf, &sets);
    };
    narrow(node);
    std::ranges::for_each(node.children, narrow);
    KeyRanges all = Under(sets);
    for (const BoundNode& child : node.children) {
      if (child.kind == Kind::kOr) all = Intersect(all, Of(child, sets));
    }
    return all;
  }

 private:
  KeyRanges Under(const FieldSets& sets) const {
    KeyRanges all;
    for (const RowKeySchema& schema : fields_.keys().schemas()) {
      std::optional<std::vector<RowRange>> ranges = Under(schema, sets);
      if (!ranges.has_value()) ranges.emplace(1);  // All keys.
      fields_.ClipTo(schema, &*ranges);
      for (RowRange& range : *ranges) all.push_back(KeysOf(std::move(range)));
    }
    return Unite(std::move(all));
  }

  // nullopt: too many, or not known.
  static std::optional<std::vector<RowRange>> Under(const RowKeySchema& schema,
                                                    const FieldSets& sets) {
    const std::vector<const RowKeyPart*> fields = format::FieldsOf(schema.parts());
    Combinations combinations(fields.size());
    size_t count = 0;
    while (count < fields.size() && combinations.Multiply(count, sets[count])) ++count;
    for (const RowKeyPart& part : schema.parts()) {
      const bool is_made =
          part.kind == RowKeyPart::Kind::kHash || part.kind == RowKeyPart::Kind::kMod;
      if (!is_made) continue;
      const auto field = static_cast<size_t>(
          std::ranges::find(fields, part.field, &RowKeyPart::field) - fields.begin());
      if (field >= count) combinations.Multiply(field, sets[field]);
    }
    std::vector<ValueInterval> next(1);
    if (count < fields.size() && sets[count].has_value() && !fields[count]->reversed) {
      next = sets[count]->intervals();
      if (next.size() > kCombinationsMax) next = {HullOf(next)};
    }
    const bool is_bounded = next.size() != 1 || next[0].low.has_value() || next[0].high.has_value();
    if (!combinations.is_known() && !is_bounded) return std::nullopt;
    std::vector<RowRange> ranges;
    for (const format::KnownFields& known : combinations.all()) {
      const auto leads = format::LeadsOf(schema.parts(), known);
      if (!leads.has_value() || ranges.size() + leads->size() * next.size() > kRangesMax) {
        return std::nullopt;
      }
      for (const std::string& lead : *leads) {
        format::KeyPrefix prefix{.bytes = lead};
        for (size_t i = 0; i < count; ++i) format::AddField(fields, *known[i], &prefix);
        for (const ValueInterval& bounds : next) {
          std::optional<RowRange> range = format::RangeUnder(fields, prefix, bounds);
          if (range.has_value()) ranges.push_back(*std::move(range));
        }
      }
    }
    return ranges;
  }

  const format::KeyFields& fields_;
};

}  // namespace

bool NamesFields(const BoundNode& node) { return FieldsNamedIn(node) != nullptr; }

KeyRanges RowsByFields(const BoundNode& root) {
  const format::KeyFields* const fields = FieldsNamedIn(root);
  if (fields == nullptr) return {format::KeyRange()};
  return FieldRanges(*fields).Of(root, FieldSets(fields->fields().size()));
}

std::optional<FieldSkip> FieldSkip::Find(const BoundNode& root) {
  FieldSkip skip;
  std::vector<const ValueSet*> sets;
  const auto add = [&](const BoundNode& node) {
    if (node.kind != Kind::kLeaf || !Bounds(node.leaf)) return;
    skip.key_fields_ = node.leaf.key_fields;
    sets.resize(skip.key_fields_->fields().size());
    sets[node.leaf.field] = &node.leaf.values;  // Binding has combined those of one field.
  };
  add(root);
  if (root.kind == Kind::kAnd) std::ranges::for_each(root.children, add);
  size_t& count = skip.field_count_;
  while (count < sets.size() && sets[count] != nullptr && IsOfSingleValues(*sets[count])) ++count;
  for (++count; count < sets.size(); ++count) {
    const bool is_ordered = !skip.key_fields_->fields()[count]->reversed;
    if (sets[count] != nullptr && (is_ordered || IsOfSingleValues(*sets[count]))) break;
  }
  if (count >= sets.size()) return std::nullopt;
  skip.after_.assign(sets.begin() + static_cast<ptrdiff_t>(count), sets.end());
  skip.after_.erase(std::ranges::find(skip.after_, nullptr), skip.after_.end());
  return skip;
}

std::string_view FieldSkip::field() const { return key_fields_->fields()[field_count_ - 1]->field; }

void FieldSkip::AddRanges(const format::KeyPrefix& prefix, KeyRanges* ranges) const {
  const std::vector<const RowKeyPart*>& fields = key_fields_->fields();
  std::vector<format::KeyPrefix> prefixes = {prefix};
  for (const ValueSet* const set : after_) {
    const size_t place = prefixes.empty() ? 0 : prefixes.front().fields;
    const std::vector<ValueInterval>& values = set->intervals();
    const bool is_single = IsOfSingleValues(*set);
    const bool is_few = prefixes.size() * values.size() <= kCombinationsMax;
    if (is_single && is_few) {
      std::vector<format::KeyPrefix> longer;
      for (const format::KeyPrefix& each : prefixes) {
        for (const ValueInterval& value : values) {
          format::AddField(fields, value.low->key, &longer.emplace_back(each));
        }
      }
      prefixes = std::move(longer);
      continue;
    }
    if (fields[place]->reversed) break;
    const std::vector<ValueInterval> bounds =
        is_few ? values : std::vector<ValueInterval>{HullOf(values)};
    for (const format::KeyPrefix& each : prefixes) {
      for (const ValueInterval& bound : bounds) {
        std::optional<RowRange> range = format::RangeUnder(fields, each, bound);
        if (range.has_value()) ranges->push_back(KeysOf(*std::move(range)));
      }
    }
    return;
  }
  for (const format::KeyPrefix& each : prefixes) {
    std::optional<RowRange> range = format::RangeUnder(fields, each, {});
    if (range.has_value()) ranges->push_back(KeysOf(*std::move(range)));
  }
}

}  // namespace tandem::engine
