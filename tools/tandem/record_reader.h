// Streams of records in the formats that import reads. A record is a list of named values, or a row
// as export writes it; its views point into the reader's buffers, so that reading allocates nothing
// per value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/row.h"
#include "tandem/status.h"
#include "tools/tandem/field.h"
#include "tools/tandem/input.h"

namespace tandem::tools {

/// One record, or what is wrong with it. Lifetime: until the next call of Next().
struct Record {
  uint64_t line = 0;          ///< From 1: where it starts, or where it is wrong.
  std::vector<Field> fields;  ///< Names differ.
  /// The format names the row itself; without it the user's template does.
  std::optional<std::string_view> row_key;
  std::optional<int64_t> timestamp;  ///< Of all fields; without it the time of the import.
  /// An exported row or a piece of one: cells with families and times of their own. Then there are
  /// a row_key and no fields.
  std::vector<Cell> cells;
  std::string problem;  ///< Not empty: malformed; only `line` says more.

  void Clear() {
    fields.clear();
    row_key.reset();
    timestamp.reset();
    cells.clear();
    problem.clear();
  }
};

/// Threads: one at a time.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  /// The next record, well-formed or not; false at the end. Errors: kIoError; kCancelled when a
  /// signal came; kInvalidArgument when the rest of the stream cannot be read at all.
  virtual Result<bool> Next(Record* record) = 0;
  /// Lines so far that are well-formed and hold no record.
  virtual uint64_t skipped() const { return 0; }
};

struct RecordFormat {
  std::string name;  ///< One of kRecordFormats.
  /// jsonl, csv and tsv: what has the shape of an export is read as exported rows. Off: never.
  bool exported_rows = true;
};

/// Each takes an input that outlives it.
/// Paragraphs of `Name: value` lines, between blank lines. A line that starts with a blank
/// continues the value before it and is kept with its line end and blank; a line that starts with #
/// is left out.
std::unique_ptr<RecordReader> NewDeb822Reader(InputBuffer* input);
/// One JSON object a line; blank lines are left out. See JsonObjectReader for values. An object
/// with the members of an exported row (exported_json.h) is one.
std::unique_ptr<RecordReader> NewJsonLinesReader(InputBuffer* input, bool exported_rows);
/// RFC 4180: fields separated by commas, quoted where they hold commas, quotes (doubled) or line
/// ends. The first record names the fields. An empty field without quotes is absent.
std::unique_ptr<RecordReader> NewCsvReader(InputBuffer* input, bool exported_rows);
/// A line a record, fields separated by tabs; the first line names them. `\t` `\n` `\r` `\\` and
/// `\xNN` stand for a byte, a field that is `\N` is absent.
std::unique_ptr<RecordReader> NewTsvReader(InputBuffer* input, bool exported_rows);
/// Lines `PATH SECTION/PACKAGE,...` of Debian's Contents files, cut at the last run of blanks. Each
/// package is a record of its own: row key PATH, a NUL and PACKAGE; fields package, section (absent
/// without one), extension (after the last dot of the path's last component; absent without one).
std::unique_ptr<RecordReader> NewAptContentsReader(InputBuffer* input);
/// dpkg's log: `DATE TIME status STATE PACKAGE VERSION` and `DATE TIME ACTION PACKAGE OLD NEW`. Row
/// key PACKAGE as it is there; fields state and version, or action, old_version and version,
/// absent where the log has <none>. The time is read as UTC; the lines of one second get
/// microseconds 0, 1, 2... in their order. Lines without a package (startup, conffile) are skipped.
std::unique_ptr<RecordReader> NewDpkgLogReader(InputBuffer* input);

inline constexpr std::string_view kRecordFormats[] = {"jsonl",  "csv",          "tsv",
                                                      "deb822", "apt-contents", "dpkg-log"};
/// Whether records of the format come with row keys of their own.
bool MakesRowKeys(std::string_view format);
/// Errors: kInvalidArgument.
Result<std::unique_ptr<RecordReader>> NewRecordReader(const RecordFormat& format,
                                                      InputBuffer* input);

/// The name that occurs twice among `fields`, or nullptr.
const Field* FindRepeated(std::span<const Field> fields);
/// What is wrong with a record or line that passes kRecordBytesMax.
std::string TooLongProblem();

}  // namespace tandem::tools
