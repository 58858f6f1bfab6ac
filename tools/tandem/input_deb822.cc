// The deb822 reader.
//
// 1. Skip blank lines and lines of comment; what follows is a paragraph.
// 2. Find its end, a blank line or the end of the input, and have it in the window as a whole.
// 3. Cut it into lines: a name up to the colon opens a field, a line that starts with a blank makes
//    the field's view longer. Only a comment inside a value makes a copy.
#include <cstring>
#include <deque>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kDeb822Blanks = " \t\r";

bool IsBlankLine(std::string_view line) {
  if (!line.empty() && static_cast<unsigned char>(line[0]) > ' ') return false;
  return line.find_first_not_of(kDeb822Blanks) == std::string_view::npos;
}

std::string_view TrimBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(kDeb822Blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kDeb822Blanks) + 1 - begin);
}

/// Takes the first line off `*text`, without its line end.
std::string_view TakeLine(std::string_view* text) {
  const void* end = text->empty() ? nullptr : std::memchr(text->data(), '\n', text->size());
  const size_t length = end == nullptr
                            ? text->size()
                            : static_cast<size_t>(static_cast<const char*>(end) - text->data());
  const std::string_view line = text->substr(0, length);
  text->remove_prefix(end == nullptr ? length : length + 1);
  return line;
}

class Deb822Reader : public RecordReader {
 public:
  explicit Deb822Reader(InputBuffer* input) : input_(input) {}
  Result<bool> Next(Record* record) override;

 private:
  Result<bool> FindParagraph();
  void Parse(Record* record);
  void AddField(std::string_view line, Record* record);
  void ContinueField(std::string_view line, Record* record);
  void SkipComment(Record* record);

  InputBuffer* input_;
  uint64_t line_ = 1;           ///< Of the first byte of the window.
  size_t paragraph_bytes_ = 0;  ///< Of the window, without the blank line after it.
  uint64_t paragraph_lines_ = 0;
  bool too_long_ = false;
  std::deque<std::string> joined_;  ///< Values that a comment interrupts; the last while joining_.
  bool joining_ = false;
};

Result<bool> Deb822Reader::Next(Record* record) {
  input_->Consume(paragraph_bytes_);
  line_ += paragraph_lines_;
  record->Clear();
  joined_.clear();
  ASSIGN_OR_RETURN(const bool found, FindParagraph());
  if (!found) return false;
  record->line = line_;
  if (too_long_) {
    record->problem = TooLongProblem();
  } else {
    Parse(record);
  }
  return true;
}

/// Brings a paragraph to the front of the window. Its lines are looked at once, also when it takes
/// several reads to complete it.
Result<bool> Deb822Reader::FindParagraph() {
  paragraph_bytes_ = 0;
  paragraph_lines_ = 0;
  too_long_ = false;
  bool ended = false;
  while (true) {
    const std::span<char> window = input_->window();
    std::string_view rest(window.data() + paragraph_bytes_, window.size() - paragraph_bytes_);
    const size_t line_end = rest.find('\n');
    if (line_end == std::string_view::npos && !ended) {
      if (window.size() > kRecordBytesMax) {
        too_long_ = true;
        input_->Consume(paragraph_bytes_);
        paragraph_bytes_ = 0;
      }
      ASSIGN_OR_RETURN(const bool more, input_->Fill());
      ended = !more;
      continue;
    }
    if (rest.empty()) return paragraph_lines_ > 0;
    const std::string_view line = TakeLine(&rest);
    const size_t length = window.size() - rest.size() - paragraph_bytes_;
    const bool blank = IsBlankLine(line);
    if (blank && paragraph_lines_ > 0) return true;
    if (blank || (paragraph_lines_ == 0 && line.starts_with('#'))) {
      input_->Consume(length);
      ++line_;
      continue;
    }
    paragraph_bytes_ += length;
    ++paragraph_lines_;
  }
}

void Deb822Reader::Parse(Record* record) {
  std::string_view text(input_->window().data(), paragraph_bytes_);
  for (uint64_t number = line_; !text.empty(); ++number) {
    const std::string_view line = TakeLine(&text);
    if (line[0] == '#') {
      SkipComment(record);
    } else if (line[0] == ' ' || line[0] == '\t') {
      ContinueField(line, record);
    } else {
      AddField(line, record);
    }
    if (!record->problem.empty()) {
      record->line = number;
      return;
    }
  }
  if (const Field* repeated = FindRepeated(record->fields)) {
    record->problem = Format("field '{}' occurs twice", EscapeBytes(repeated->name));
  }
}

void Deb822Reader::AddField(std::string_view line, Record* record) {
  joining_ = false;
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon == std::string_view::npos ? 0 : colon);
  if (name.empty() || name.find_first_of(kDeb822Blanks) != std::string_view::npos) {
    record->problem = Format("expected 'Name: value', found '{}'", EscapeBytes(line.substr(0, 40)));
    return;
  }
  const std::string_view value = TrimBlanks(line.substr(colon + 1));
  record->fields.push_back({name, value.empty() ? line.substr(line.size()) : value});
}

void Deb822Reader::ContinueField(std::string_view line, Record* record) {
  if (record->fields.empty()) {
    record->problem = "starts with a continuation line";
    return;
  }
  std::string_view& value = record->fields.back().value;
  if (joining_) {
    joined_.back().append("\n").append(line);
    value = joined_.back();
    return;
  }
  const char* const begin = value.data();
  value = std::string_view(begin, static_cast<size_t>(line.data() + line.size() - begin));
}

/// A comment inside a value ends the view over it: what follows is joined in a copy.
void Deb822Reader::SkipComment(Record* record) {
  if (record->fields.empty() || joining_) return;
  joined_.emplace_back(record->fields.back().value);
  joining_ = true;
}

}  // namespace

std::unique_ptr<RecordReader> NewDeb822Reader(InputBuffer* input) {
  return std::make_unique<Deb822Reader>(input);
}

}  // namespace tandem::tools
