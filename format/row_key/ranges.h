// Keys of a schema when some fields are known: what leads them, and the range that they are in.
// Everything that turns values of fields into ranges of keys goes through RangeUnder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/condition.h"
#include "tandem/options.h"
#include "tandem/row_key.h"
#include "tandem/status.h"

namespace tandem::format {

/// The fields of a schema, in the order of the key. Lifetime: that of the parts.
std::vector<const RowKeyPart*> FieldsOf(const std::vector<RowKeyPart>& parts);

/// That none of the fields has the name: kInvalidArgument, which lists them.
Status NoField(const std::vector<const RowKeyPart*>& fields, std::string_view name);

/// By the place of the field: its plain bytes (field.h); nullopt: it may have any value.
using KnownFields = std::vector<std::optional<std::string>>;

/// The key. Requires: all fields are known.
std::string KeyOf(const std::vector<RowKeyPart>& parts, const KnownFields& fields);
/// All bytes that may lead keys with these fields; no bytes, once, where nothing leads them.
/// Errors: kInvalidArgument (a hash of a field that is not known; more than kRowKeyRangesMax).
Result<std::vector<std::string>> LeadsOf(const std::vector<RowKeyPart>& parts,
                                         const KnownFields& known);

/// The first bytes of keys: what leads them and their first fields.
struct KeyPrefix {
  std::string bytes;
  size_t fields = 0;
};
/// Adds the next field, which has these plain bytes.
void AddField(const std::vector<const RowKeyPart*>& fields, std::string_view plain,
              KeyPrefix* prefix);
/// The keys that begin with the prefix and have the plain bytes of their next field within
/// `bounds`, whatever its direction. nullopt: there is none. Requires: the bounds are open where
/// the prefix has all fields or the next one is reversed.
std::optional<RowRange> RangeUnder(const std::vector<const RowKeyPart*>& fields,
                                   const KeyPrefix& prefix, const ValueInterval& bounds);

}  // namespace tandem::format
