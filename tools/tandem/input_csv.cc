// The csv reader (RFC 4180, with LF as good as CRLF).
//
// A record is scanned by a machine of four states before it is cut into fields, so that the
// whole record is in the window:
//   kStart     at the start of a field      quote -> kQuoted; comma stays; other -> kPlain
//   kPlain     in a field without quotes    comma -> kStart
//   kQuoted    in a field with quotes       quote -> kClosed
//   kClosed    after a quote in a quoted    quote (doubled) -> kQuoted; comma -> kStart; other ->
//              field                        kPlain, and the record is malformed
// A line end outside kQuoted ends the record.
#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/record_reader.h"
#include "tools/tandem/separated_header.h"

namespace tandem::tools {
namespace {

enum class State { kStart, kPlain, kQuoted, kClosed };

State Step(State state, char byte) {
  if (byte == '"') {
    if (state == State::kStart || state == State::kClosed) return State::kQuoted;
    return state == State::kQuoted ? State::kClosed : State::kPlain;
  }
  if (state == State::kQuoted) return State::kQuoted;
  return byte == ',' ? State::kStart : State::kPlain;
}

/// Takes one field off `*rest`, undoing doubled quotes in place. Returns what is wrong, or nullptr.
/// `*more`: whether a comma follows.
const char* TakeField(std::span<char>* rest, SeparatedField* field, bool* more) {
  char* const begin = rest->data();
  char* const end = begin + rest->size();
  char* next = begin;
  const bool quoted = next != end && *next == '"';
  if (quoted) {
    char* to = ++next;
    while (next != end && (*next != '"' || (next + 1 != end && next[1] == '"'))) {
      if (*next == '"') ++next;
      *to++ = *next++;
    }
    if (next == end) return "a quote is opened and not closed";
    field->text = std::string_view(begin + 1, static_cast<size_t>(to - begin - 1));
    if (++next != end && *next != ',') return "text behind a closing quote";
  } else {
    next = std::find(begin, end, ',');
    field->text = std::string_view(begin, static_cast<size_t>(next - begin));
    if (field->text.find('"') != std::string_view::npos)
      return "a quote inside a field without quotes";
  }
  field->present = quoted || !field->text.empty();
  *more = next != end;
  *rest = std::span<char>(*more ? next + 1 : end, end);
  return nullptr;
}

class CsvReader : public RecordReader {
 public:
  CsvReader(InputBuffer* input, bool exported_rows) : input_(input), header_(exported_rows, true) {}
  Result<bool> Next(Record* record) override;

 private:
  Result<bool> FindRecord();
  void Split(std::string* problem);
  Status ReadHeader();

  InputBuffer* input_;
  uint64_t line_ = 1;  ///< Of the first byte of the window.
  size_t held_ = 0;    ///< Bytes of the window that the record takes, its line end included.
  uint64_t held_lines_ = 0;
  size_t record_bytes_ = 0;  ///< Without the line end.
  bool too_long_ = false;
  std::vector<SeparatedField> fields_;
  SeparatedHeader header_;
};

Result<bool> CsvReader::Next(Record* record) {
  record->Clear();
  if (!header_.known()) RETURN_IF_ERROR(ReadHeader());
  ASSIGN_OR_RETURN(const bool found, FindRecord());
  if (!found) return false;
  record->line = line_;
  if (too_long_) {
    record->problem = TooLongProblem();
    return true;
  }
  Split(&record->problem);
  if (record->problem.empty()) header_.Read(fields_, record);
  return true;
}

/// Brings the next record that is no blank line to the front of the window.
Result<bool> CsvReader::FindRecord() {
  State state = State::kStart;
  size_t scanned = 0;
  input_->Consume(held_);
  line_ += held_lines_;
  held_ = 0;
  held_lines_ = 0;
  too_long_ = false;
  while (true) {
    const std::span<char> window = input_->window();
    for (; scanned < window.size(); ++scanned) {
      const char byte = window[scanned];
      if (byte != '\n') {
        state = Step(state, byte);
        continue;
      }
      ++held_lines_;
      if (state == State::kQuoted && !too_long_) continue;
      record_bytes_ = scanned - (scanned > 0 && window[scanned - 1] == '\r' ? 1 : 0);
      held_ = scanned + 1;
      if (record_bytes_ > 0 || too_long_) return true;
      break;
    }
    if (held_ > 0) {  // A blank line.
      input_->Consume(held_);
      line_ += held_lines_;
      held_ = held_lines_ = scanned = 0;
      state = State::kStart;
      continue;
    }
    if (window.size() > kRecordBytesMax) {
      too_long_ = true;
      input_->Consume(window.size());
      scanned = 0;
    }
    ASSIGN_OR_RETURN(const bool more, input_->Fill());
    if (more) continue;
    record_bytes_ = held_ = scanned;
    return scanned > 0 || too_long_;
  }
}

void CsvReader::Split(std::string* problem) {
  fields_.clear();
  std::span<char> rest = input_->window().first(record_bytes_);
  bool more = true;
  while (more) {
    const char* const wrong = TakeField(&rest, &fields_.emplace_back(), &more);
    if (wrong == nullptr) continue;
    *problem = Format("field {}: {}", fields_.size(), wrong);
    return;
  }
}

Status CsvReader::ReadHeader() {
  ASSIGN_OR_RETURN(const bool found, FindRecord());
  if (!found) {
    header_.SetNone();
    return {};
  }
  const std::string where = Format("{}:{}", input_->name(), line_);
  std::string problem = too_long_ ? TooLongProblem() : "";
  if (problem.empty()) Split(&problem);
  if (problem.empty()) return header_.Set(fields_, where);
  return Status::InvalidArgument(Format("{}: header: {}", where, problem));
}

}  // namespace

std::unique_ptr<RecordReader> NewCsvReader(InputBuffer* input, bool exported_rows) {
  return std::make_unique<CsvReader>(input, exported_rows);
}

}  // namespace tandem::tools
