// The JSON Lines reader: a line is found, closed with a NUL and parsed in place.
#include <cstring>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/exported_json.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input_lines.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {
namespace {

class JsonLinesReader : public RecordReader {
 public:
  JsonLinesReader(InputBuffer* input, bool exported_rows)
      : lines_(input), exported_rows_(exported_rows) {}

  Result<bool> Next(Record* record) override {
    record->Clear();
    while (true) {
      ASSIGN_OR_RETURN(const bool more, lines_.Next());
      if (!more) return false;
      record->line = lines_.line();
      if (lines_.too_long()) {
        record->problem = TooLongProblem();
        return true;
      }
      if (lines_.text().find_first_not_of(" \t\r") == std::string_view::npos) continue;
      Parse(record);
      return true;
    }
  }

 private:
  void Parse(Record* record) {
    if (std::memchr(lines_.text().data(), 0, lines_.text().size()) != nullptr) {
      record->problem = "holds a NUL byte";
      return;
    }
    record->problem = parser_.Read(lines_.Terminate(), &record->fields);
    if (!record->problem.empty()) return;
    if (const Field* repeated = FindRepeated(record->fields)) {
      record->problem = Format("field '{}' occurs twice", EscapeBytes(repeated->name));
    } else if (exported_rows_ && ExportedJsonReader::Matches(record->fields)) {
      members_.swap(record->fields);
      record->fields.clear();
      record->problem = exported_.Read(members_, record);
    }
  }

  LineReader lines_;
  bool exported_rows_;
  JsonObjectReader parser_;
  ExportedJsonReader exported_;
  std::vector<Field> members_;
};

}  // namespace

std::unique_ptr<RecordReader> NewJsonLinesReader(InputBuffer* input, bool exported_rows) {
  return std::make_unique<JsonLinesReader>(input, exported_rows);
}

}  // namespace tandem::tools
