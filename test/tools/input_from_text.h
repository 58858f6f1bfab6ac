// A stream over a text, for the tests of readers.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/tandem/record_reader.h"

namespace tandem::test {

/// Lifetime: the text is copied.
class TextStream {
 public:
  explicit TextStream(std::string text) : text_(std::move(text)) {
    file_ =
        text_.empty() ? std::fopen("/dev/null", "r") : fmemopen(text_.data(), text_.size(), "r");
  }
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;
  ~TextStream() { std::fclose(file_); }
  std::FILE* file() { return file_; }

 private:
  std::string text_;
  std::FILE* file_;
};

/// Every record of `text` as one line: "LINE name=value|name=value", or "LINE ! problem".
inline std::vector<std::string> ReadAll(const char* format, const std::string& text) {
  TextStream stream(text);
  tools::InputBuffer input(stream.file(), "text");
  auto reader = tools::NewRecordReader(format, &input);
  if (!reader.has_value()) return {reader.error().ToString()};
  std::vector<std::string> lines;
  tools::Record record;
  while (true) {
    const auto more = (*reader)->Next(&record);
    if (!more.has_value()) {
      lines.push_back(more.error().ToString());
      return lines;
    }
    if (!*more) return lines;
    std::string line = std::to_string(record.line) + " ";
    if (!record.problem.empty()) {
      lines.push_back(line + "! " + record.problem);
      continue;
    }
    for (size_t i = 0; i < record.fields.size(); ++i) {
      if (i > 0) line += "|";
      line.append(record.fields[i].name).append("=").append(record.fields[i].value);
    }
    lines.push_back(line);
  }
}

}  // namespace tandem::test
