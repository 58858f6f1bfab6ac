// Typed row keys (tandem/row_key.h) on the command line: fields as words, FIELD=VALUE, and as text.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/row_key.h"
#include "tandem/schema.h"
#include "tools/tandem/field.h"
#include "tools/tandem/json.h"

namespace tandem::tools {

/// nullopt: the table's row keys are bytes.
using OptionalRowKey = std::optional<RowKeyEpochs>;

/// Errors: kUnsupported (the declaration is none that this build knows).
Result<OptionalRowKey> RowKeyOf(const TableOptions& table);

/// The fields at the front of `words`, each value as ParseBytes reads it. There are none if the
/// first word is not FIELD=VALUE. Errors: kInvalidArgument (it has a name of no field before its
/// `=`), and those of ParseBytes.
Result<std::vector<RowKeyField>> FieldsOf(const RowKeySchema& schema,
                                          std::span<const std::string> words);

/// A row key, and how many words say it.
struct RowWords {
  std::string key;                       ///< The newest, where there are fields.
  std::vector<RowKeyField> fields = {};  ///< Empty: the key is bytes.
  size_t count = 0;
};
/// The row key at the front of `words`: one word of bytes, or a word a field. Requires: there is a
/// word. Errors: those of ParseBytes, FieldsOf and RowKeySchema::Encode.
Result<RowWords> TakeRowKey(const OptionalRowKey& schema, std::span<const std::string> words);
/// The same where no word may follow. Errors: also kInvalidArgument (one does).
Result<RowWords> OnlyRowKey(const OptionalRowKey& schema, std::span<const std::string> words);
/// The keys that a row may have, the newest first.
Result<std::vector<std::string>> KeysOf(const OptionalRowKey& schema, const RowWords& row);

/// Sets `*key` from the fields of a record that have the names of the key's. Returns what is wrong,
/// or an empty string.
std::string KeyOfRecord(const RowKeySchema& schema, std::span<const Field> record,
                        std::string* key);

/// "user=ann at=2026-01-01T00:00:00Z"; nullopt: the key has no fields.
std::optional<std::string> FieldsText(const OptionalRowKey& schema, std::string_view key);
/// The member `"key":{"user":"ann",...}`; nothing where the key has no fields.
void WriteFields(const OptionalRowKey& schema, std::string_view key, JsonWriter* json);

}  // namespace tandem::tools
