// Streams of records in the formats that import reads. A record is a list of named values; its
// views point into the reader's buffer, so that reading allocates nothing per value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"
#include "tools/tandem/field.h"
#include "tools/tandem/input.h"

namespace tandem::tools {

/// One record, or what is wrong with it. Lifetime: until the next call of Next().
struct Record {
  uint64_t line = 0;          ///< From 1: where it starts, or where it is wrong.
  std::vector<Field> fields;  ///< Names differ.
  std::string problem;        ///< Not empty: malformed; `fields` say nothing.
};

/// Threads: one at a time.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// The next record, well-formed or not; false at the end. Errors: kIoError; kCancelled when a
  /// signal came; kInvalidArgument when the rest of the stream cannot be read at all.
  virtual Result<bool> Next(Record* record) = 0;
};

/// Each takes an input that outlives it.
/// Paragraphs of `Name: value` lines, between blank lines. A line that starts with a blank
/// continues the value before it and is kept with its line end and blank; a line that starts with #
/// is left out.
std::unique_ptr<RecordReader> NewDeb822Reader(InputBuffer* input);
/// One JSON object a line; blank lines are left out. See JsonObjectReader for values.
std::unique_ptr<RecordReader> NewJsonLinesReader(InputBuffer* input);
/// RFC 4180: fields separated by commas, quoted where they hold commas, quotes (doubled) or line
/// ends. The first record names the fields. An empty field without quotes is absent.
std::unique_ptr<RecordReader> NewCsvReader(InputBuffer* input);

/// `format` is deb822, jsonl or csv. Errors: kInvalidArgument.
Result<std::unique_ptr<RecordReader>> NewRecordReader(std::string_view format, InputBuffer* input);

/// The name that occurs twice among `fields`, or nullptr.
const Field* FindRepeated(std::span<const Field> fields);

}  // namespace tandem::tools
