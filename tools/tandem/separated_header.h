// What the first line of a csv or tsv file says, and the records made of the lines after it.
//
// Names of any kind make records of fields. The names row, family, column, timestamp and value, in
// this order and no others, make exported rows: a line a cell, as scan and export print them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {

struct SeparatedField {
  std::string_view text;
  bool present = true;
};

inline constexpr std::string_view kCellColumns[] = {"row", "family", "column", "timestamp",
                                                    "value"};

/// Threads: one at a time.
class SeparatedHeader {
 public:
  /// `exported_rows` as in RecordFormat; `escaped`: the fields of exported rows hold `\xNN`, which
  /// is still to be undone.
  SeparatedHeader(bool exported_rows, bool escaped)
      : exported_rows_(exported_rows), escaped_(escaped) {}

  bool known() const { return known_; }
  /// An input without any line has no names.
  void SetNone() { known_ = true; }
  /// Takes the first line; `where` is for messages. Errors: kInvalidArgument.
  Status Set(std::span<const SeparatedField> fields, const std::string& where);
  /// A later line: sets the record's fields or cells, or its problem. Lifetime of the record: until
  /// the next call, and that of `fields`.
  void Read(std::span<const SeparatedField> fields, Record* record);

 private:
  void ReadCell(std::span<const SeparatedField> fields, Record* record);

  bool exported_rows_, escaped_;
  bool known_ = false;
  bool cells_ = false;
  std::vector<std::string> names_;
  std::array<std::string, std::size(kCellColumns)> unescaped_;
};

}  // namespace tandem::tools
