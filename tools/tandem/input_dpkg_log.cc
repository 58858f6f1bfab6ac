// The reader of dpkg's log: `DATE TIME VERB ...`, words between single blanks.
//
// What a line says hangs on its verb:
//   status STATE PACKAGE VERSION                       fields state, version
//   install|upgrade|remove|... PACKAGE OLD NEW         fields action, old_version, version
//   startup ..., conffile ...                          no package: skipped
// Several lines of one second get microseconds in their order, also when the clock went back and
// the second comes again, so that no two lines of a log have the same time.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input_lines.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kActions[] = {"install",   "upgrade",  "remove",   "purge",
                                         "configure", "trigproc", "disappear"};
constexpr std::string_view kWithoutPackage[] = {"startup", "conffile"};
constexpr size_t kTimeLength = std::string_view("2026-11-20 10:11:12").size();
constexpr int64_t kSecondMicros = 1'000'000;

class DpkgLogReader : public RecordReader {
 public:
  explicit DpkgLogReader(InputBuffer* input) : lines_(input) {}

  Result<bool> Next(Record* record) override {
    while (true) {
      record->Clear();
      ASSIGN_OR_RETURN(const bool more, lines_.Next());
      if (!more) return false;
      record->line = lines_.line();
      record->problem = lines_.too_long() ? TooLongProblem() : Read(record);
      if (!record->problem.empty() || record->row_key.has_value()) return true;
    }
  }
  uint64_t skipped() const override { return skipped_; }

 private:
  /// Sets the record; a line without a package leaves it as it is. Returns what is wrong, or an
  /// empty string.
  std::string Read(Record* record);
  std::string ReadPackage(std::span<const std::string_view> words, Record* record);
  std::string TakeTime(std::string_view line, Record* record);

  LineReader lines_;
  uint64_t skipped_ = 0;
  std::vector<std::string_view> words_;
  std::string time_;
  std::unordered_map<int64_t, int64_t> lines_of_second_;
};

/// A word of the log as a field; the log writes <none> for a version that there is none of.
void AddField(std::string_view name, std::string_view value, Record* record) {
  if (value != "<none>") record->fields.push_back({name, value});
}

std::string DpkgLogReader::Read(Record* record) {
  std::string_view line = lines_.text();
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return {};
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return "holds a NUL byte";
  if (line.size() <= kTimeLength || line[kTimeLength] != ' ') {
    return Format("expected 'DATE TIME VERB ...', found '{}'", EscapeBytes(line.substr(0, 40)));
  }
  words_ = SplitText(line.substr(kTimeLength + 1), ' ');
  const bool skipped = !words_.empty() && std::ranges::count(kWithoutPackage, words_[0]) > 0;
  std::string problem = skipped ? std::string() : ReadPackage(words_, record);
  if (problem.empty()) problem = TakeTime(line.substr(0, kTimeLength), record);
  skipped_ += skipped && problem.empty() ? 1 : 0;
  return problem;
}

std::string DpkgLogReader::ReadPackage(std::span<const std::string_view> words, Record* record) {
  const std::string_view verb = words.empty() ? std::string_view() : words[0];
  const bool is_status = verb == "status";
  if (!is_status && std::ranges::count(kActions, verb) == 0) {
    return Format("'{}' is no verb of dpkg's log", EscapeBytes(verb.substr(0, 40)));
  }
  if (words.size() != 4 || std::ranges::count(words, std::string_view()) > 0) {
    return Format("expected '{}', found {} words",
                  is_status ? "status STATE PACKAGE VERSION" : Format("{} PACKAGE OLD NEW", verb),
                  words.size());
  }
  if (is_status) {
    AddField("state", words[1], record);
  } else {
    AddField("action", verb, record);
    AddField("old_version", words[2], record);
  }
  AddField("version", words[3], record);
  record->row_key = words[is_status ? 2 : 1];
  return {};
}

std::string DpkgLogReader::TakeTime(std::string_view line, Record* record) {
  time_.assign(line).push_back('Z');
  const std::optional<int64_t> second = format::ParseTimestamp(time_);
  if (!second.has_value() || line[10] != ' ') {
    record->row_key.reset();
    return Format("expected a time such as 2026-11-20 10:11:12, found '{}'", EscapeBytes(line));
  }
  if (!record->row_key.has_value()) return {};
  int64_t& lines = lines_of_second_[*second];
  if (lines == kSecondMicros) return "more than 1,000,000 lines of one second";
  record->timestamp = *second + lines++;
  return {};
}

}  // namespace

std::unique_ptr<RecordReader> NewDpkgLogReader(InputBuffer* input) {
  return std::make_unique<DpkgLogReader>(input);
}

}  // namespace tandem::tools
