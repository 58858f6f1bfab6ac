// The fields of the row keys of a table, whichever of its declarations a key is of: what conditions
// on fields are made of. Fields are plain bytes (field.h), which compare as their values do.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/row_key/ranges.h"
#include "format/schema.h"
#include "tandem/options.h"
#include "tandem/row_key.h"
#include "tandem/status.h"

namespace tandem::format {

/// What rows of the table may have as keys. Errors: kInvalidArgument (they are bytes).
Result<RowKeyEpochs> KeysOf(const TableRecord& table);

/// Why a key is none of a declaration.
struct KeyFlaw {
  size_t offset = 0;
  std::string problem;
};
/// Puts the fields of a key into `*plain`; nullopt: it has them.
std::optional<KeyFlaw> DecodeKey(const std::vector<RowKeyPart>& parts, std::string_view key,
                                 std::vector<std::string>* plain);

/// Threads: any number.
class KeyFields {
 public:
  explicit KeyFields(RowKeyEpochs keys);
  KeyFields(const KeyFields&) = delete;
  KeyFields& operator=(const KeyFields&) = delete;

  const RowKeyEpochs& keys() const { return keys_; }
  /// All declarations have the same ones, in other bytes at most.
  const std::vector<const RowKeyPart*>& fields() const { return fields_; }
  /// The place of a field. Errors: kInvalidArgument (there is none of that name; the message lists
  /// them).
  Result<size_t> PlaceOf(std::string_view name) const;

  /// Puts the fields of a key into `*plain`; false: the key is of none of the declarations.
  bool Decode(std::string_view key, std::vector<std::string>* plain) const;
  /// The first bytes of a key up to the end of its first `count` fields. nullopt: these are not
  /// there. The key may be none of the declarations for all that.
  std::optional<KeyPrefix> PrefixOf(std::string_view key, size_t count) const;
  /// Takes the ranges of keys that only another declaration makes out of those of `schema`.
  void ClipTo(const RowKeySchema& schema, std::vector<RowRange>* ranges) const;

 private:
  const RowKeyEpochs keys_;
  const std::optional<std::string> end_of_leads_;
  const std::vector<const RowKeyPart*> fields_;  // Of the newest.
};

}  // namespace tandem::format
