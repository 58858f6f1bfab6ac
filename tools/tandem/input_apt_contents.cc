// The reader of Debian's Contents files: a line is found, cut at its last run of blanks, and its
// packages are handed out one by one.
#include <cstring>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/input_lines.h"
#include "tools/tandem/record_reader.h"

namespace tandem::tools {
namespace {

constexpr std::string_view kBlanks = " \t";

class AptContentsReader : public RecordReader {
 public:
  explicit AptContentsReader(InputBuffer* input) : lines_(input) {}

  Result<bool> Next(Record* record) override {
    record->Clear();
    while (!more_packages_) {
      ASSIGN_OR_RETURN(const bool more, lines_.Next());
      if (!more) return false;
      record->line = lines_.line();
      record->problem = lines_.too_long() ? TooLongProblem() : Cut();
      if (!record->problem.empty()) return true;
    }
    record->line = lines_.line();
    TakePackage(record);
    return true;
  }

 private:
  /// Finds path and packages of the line. Returns what is wrong, or an empty string.
  std::string Cut();
  void TakePackage(Record* record);

  LineReader lines_;
  std::string_view path_;
  std::string_view packages_;  ///< Those of the line that are still to be handed out.
  bool more_packages_ = false;
  std::string key_;
};

std::string AptContentsReader::Cut() {
  std::string_view line = lines_.text();
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return "holds a NUL byte";
  const size_t last = line.find_last_not_of(" \t\r");
  if (last == std::string_view::npos) return {};  // A blank line.
  line = line.substr(0, last + 1);
  const size_t blank = line.find_last_of(kBlanks);
  const size_t path_end =
      blank == std::string_view::npos ? blank : line.find_last_not_of(kBlanks, blank);
  if (path_end == std::string_view::npos) {
    return Format("expected 'PATH SECTION/PACKAGE,...', found '{}'",
                  EscapeBytes(line.substr(0, 40)));
  }
  path_ = line.substr(0, path_end + 1);
  packages_ = line.substr(blank + 1);
  more_packages_ = true;
  return {};
}

void AptContentsReader::TakePackage(Record* record) {
  const size_t comma = packages_.find(',');
  const std::string_view item = packages_.substr(0, comma);
  more_packages_ = comma != std::string_view::npos;
  if (more_packages_) packages_.remove_prefix(comma + 1);
  const size_t slash = item.rfind('/');
  const std::string_view package = slash == std::string_view::npos ? item : item.substr(slash + 1);
  if (package.empty()) {
    record->problem =
        Format("a package without a name after path '{}'", EscapeBytes(path_.substr(0, 40)));
    return;
  }
  key_.assign(path_).push_back('\0');
  key_ += package;
  record->row_key = key_;
  record->fields.push_back({"package", package});
  if (slash != std::string_view::npos) record->fields.push_back({"section", item.substr(0, slash)});
  const std::string_view file = path_.substr(path_.rfind('/') + 1);  // All without a slash.
  const size_t dot = file.rfind('.');
  if (dot != std::string_view::npos) record->fields.push_back({"extension", file.substr(dot + 1)});
}

}  // namespace

std::unique_ptr<RecordReader> NewAptContentsReader(InputBuffer* input) {
  return std::make_unique<AptContentsReader>(input);
}

}  // namespace tandem::tools
