// The rows that conditions on fields of the row key leave (`_row.user = 'ann'`), as ranges of keys.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/predicate/key_ranges.h"
#include "format/row_key/key_fields.h"

namespace tandem::engine {

/// Whether a condition in the tree is on a field.
bool NamesFields(const BoundNode& node);
/// Ranges that hold the keys of all rows that satisfy the conditions on fields; all keys where
/// there are none, where these leave too many ranges, or do not say how keys begin. Keys of none of
/// the table's declarations satisfy no condition that bounds, and may be in the ranges.
KeyRanges RowsByFields(const BoundNode& root);

/// Conditions on fields after one that has none, or not single values: RowsByFields goes no further
/// than that one. Keys are skipped by their first fields, up to those with conditions.
class FieldSkip {
 public:
  /// nullopt: there are none that every match satisfies.
  static std::optional<FieldSkip> Find(const BoundNode& root);

  /// How many first fields are skipped over, and the name of the last one.
  size_t field_count() const { return field_count_; }
  std::string_view field() const;
  /// The first bytes of a key up to the end of these; nullopt: it is none of the declaration's.
  std::optional<format::KeyPrefix> PrefixOf(std::string_view key) const {
    return key_fields_->PrefixOf(key, field_count_);
  }
  /// Appends the ranges of keys with the prefix that satisfy the conditions.
  void AddRanges(const format::KeyPrefix& prefix, KeyRanges* ranges) const;

 private:
  FieldSkip() = default;

  std::shared_ptr<const format::KeyFields> key_fields_;
  size_t field_count_ = 0;
  std::vector<const ValueSet*> after_;  // Of the fields after those, up to the first without one.
};

}  // namespace tandem::engine
