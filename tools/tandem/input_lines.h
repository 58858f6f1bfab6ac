// Lines of an input, as views.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/status.h"
#include "tools/tandem/input.h"

namespace tandem::tools {

/// Threads: one at a time. Lifetime: text() until the next call of Next().
class LineReader {
 public:
  /// `input` outlives the reader and is read by nobody else.
  explicit LineReader(InputBuffer* input) : input_(input) {}

  /// Moves to the next line; false at the end of the input. Errors: those of InputBuffer::Fill.
  Result<bool> Next();
  /// Without its line end.
  std::string_view text() const { return text_; }
  /// Longer than kRecordBytesMax; text() is empty.
  bool too_long() const { return too_long_; }
  uint64_t line() const { return line_; }
  /// Puts a NUL after the text and returns its start, for parsers that write into their input.
  char* Terminate();

 private:
  InputBuffer* input_;
  std::string_view text_;
  size_t held_ = 0;  ///< Bytes of the window that the current line takes, its end included.
  bool too_long_ = false;
  uint64_t line_ = 0;
};

}  // namespace tandem::tools
