// Exported rows in JSON, as scan and export print them:
//
//   {"row":KEY,"cells":[{"family":F,"column":C,"timestamp":T,"value":V},...],"continues":true}
//
// Each of row, family, column and value is NAME_b64 with base64 where the bytes are no plain text.
// "continues" is there when more cells of the row follow in the next object. "key", the fields of a
// typed row key, may be there and is not read: they are those of "row".
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tools/tandem/json.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {

/// Threads: one at a time.
class ExportedJsonReader {
 public:
  /// Whether an object has the members of an exported row and no others.
  static bool Matches(std::span<const Field> members);
  /// Turns the members of such an object into the record's row key and cells. Returns what is
  /// wrong, or an empty string. Lifetime of the record: until the next call, and that of `members`.
  std::string Read(std::span<const Field> members, Record* record);

 private:
  std::string ReadCell(std::span<const Field> members, Cell* cell);
  std::string ReadBytes(std::span<const Field> members, std::string_view name,
                        std::string_view* bytes);

  JsonObjectReader parser_;
  std::string text_;
  std::vector<std::vector<Field>> objects_;
  std::deque<std::string> decoded_;
};

}  // namespace tandem::tools
