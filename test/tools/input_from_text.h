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

/// A record as one line: "LINE [KEY]@TIME name=value|family:column@time=value", or "LINE !
/// problem"; key and time only where the format gives them.
inline std::string LineOf(const tools::Record& record) {
  std::string line = std::to_string(record.line) + " ";
  if (!record.problem.empty()) return line + "! " + record.problem;
  if (record.row_key.has_value()) line.append("[").append(*record.row_key).append("]");
  if (record.timestamp.has_value()) line += "@" + std::to_string(*record.timestamp);
  if (record.row_key.has_value()) line += " ";
  const size_t head = line.size();
  for (const tools::Field& field : record.fields) {
    if (line.size() > head) line += "|";
    line.append(field.name).append("=").append(field.value);
  }
  for (const Cell& cell : record.cells) {
    if (line.size() > head) line += "|";
    line.append(cell.family).append(":").append(cell.qualifier);
    line.append("@" + std::to_string(cell.timestamp) + "=").append(cell.value);
  }
  return line;
}

/// Every record of `text` as LineOf; an error of the reader is the last line.
inline std::vector<std::string> ReadAll(const tools::RecordFormat& format,
                                        const std::string& text) {
  TextStream stream(text);
  tools::InputBuffer input(stream.file(), "text");
  auto reader = tools::NewRecordReader(format, &input);
  if (!reader.has_value()) return {reader.error().ToString()};
  std::vector<std::string> lines;
  tools::Record record;
  while (true) {
    const auto more = (*reader)->Next(&record);
    if (!more.has_value()) lines.push_back(more.error().ToString());
    if (!more.has_value() || !*more) return lines;
    lines.push_back(LineOf(record));
  }
}
inline std::vector<std::string> ReadAll(const char* format, const std::string& text) {
  return ReadAll(tools::RecordFormat{format}, text);
}

}  // namespace tandem::test
