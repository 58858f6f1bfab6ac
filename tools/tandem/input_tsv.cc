// The tsv reader: a line is cut at its tabs and the escapes of its fields are undone in place.
#include <cstring>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input_lines.h"
#include "tools/tandem/record_reader.h"
#include "tools/tandem/separated_header.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kAbsent = "\\N";

/// Reads the escape at `*next`, moves past it and returns its byte; -1 if there is none.
int TakeEscape(const char** next, const char* end) {
  const std::string_view rest(*next, static_cast<size_t>(end - *next));
  if (rest.starts_with("\\x")) {
    const Result<std::string> byte = ParseEscaped(rest.substr(0, 4));
    *next += byte.has_value() ? 4 : 0;
    return byte.has_value() ? static_cast<uint8_t>((*byte)[0]) : -1;
  }
  constexpr std::string_view kLetters = "tnr\\";
  constexpr std::string_view kBytes = "\t\n\r\\";
  const size_t letter = rest.size() < 2 ? kLetters.npos : kLetters.find(rest[1]);
  if (letter == kLetters.npos) return -1;
  *next += 2;
  return kBytes[letter];
}

/// Undoes the escapes of a field in place. False: a backslash begins none.
bool Unescape(std::span<char> bytes, SeparatedField* field) {
  char* to = bytes.data();
  const char* const end = bytes.data() + bytes.size();
  for (const char* next = bytes.data(); next != end;) {
    const int byte = *next == '\\' ? TakeEscape(&next, end) : static_cast<uint8_t>(*next++);
    if (byte < 0) return false;
    *to++ = static_cast<char>(byte);
  }
  field->text = std::string_view(bytes.data(), static_cast<size_t>(to - bytes.data()));
  return true;
}

class TsvReader : public RecordReader {
 public:
  TsvReader(InputBuffer* input, bool exported_rows)
      : name_(input->name()), lines_(input), header_(exported_rows, false) {}

  Result<bool> Next(Record* record) override {
    record->Clear();
    while (true) {
      ASSIGN_OR_RETURN(const bool more, lines_.Next());
      if (!more) return false;
      if (!lines_.too_long() && (lines_.text().empty() || lines_.text() == "\r")) continue;
      record->line = lines_.line();
      record->problem = lines_.too_long() ? TooLongProblem() : Split();
      if (!header_.known()) {
        RETURN_IF_ERROR(SetHeader(record));
        continue;
      }
      if (record->problem.empty()) header_.Read(fields_, record);
      return true;
    }
  }

 private:
  /// Cuts the line into fields_. Returns what is wrong, or an empty string.
  std::string Split();
  Status SetHeader(Record* record);

  std::string name_;
  LineReader lines_;
  std::vector<SeparatedField> fields_;
  SeparatedHeader header_;
};

std::string TsvReader::Split() {
  fields_.clear();
  std::string_view line = lines_.text();
  if (line.ends_with('\r')) line.remove_suffix(1);
  char* begin = lines_.Terminate();
  for (size_t left = line.size();;) {
    const void* tab = std::memchr(begin, '\t', left);
    const size_t length =
        tab == nullptr ? left : static_cast<size_t>(static_cast<const char*>(tab) - begin);
    SeparatedField& field = fields_.emplace_back();
    field.present = std::string_view(begin, length) != kAbsent;
    if (field.present && !Unescape({begin, length}, &field)) {
      return Format(
          "field {}: a backslash that begins no escape (\\t \\n \\r \\xNN); write it \\\\",
          fields_.size());
    }
    if (tab == nullptr) return {};
    begin += length + 1;
    left -= length + 1;
  }
}

Status TsvReader::SetHeader(Record* record) {
  const std::string where = Format("{}:{}", name_, lines_.line());
  if (record->problem.empty()) return header_.Set(fields_, where);
  return Status::InvalidArgument(Format("{}: header: {}", where, record->problem));
}

}  // namespace

std::unique_ptr<RecordReader> NewTsvReader(InputBuffer* input, bool exported_rows) {
  return std::make_unique<TsvReader>(input, exported_rows);
}

}  // namespace tandem::tools
