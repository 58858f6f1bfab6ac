// Progress of long work on a terminal: one line on stderr that is written over, from the first
// second on; rows, bytes, rate and time left.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tandem/context.h"

namespace tandem::tools {

/// Threads: one at a time.
class Progress {
 public:
  /// Shows nothing when stderr is no terminal.
  explicit Progress(const Context& context);
  /// Wipes the line.
  ~Progress();

  /// `total_bytes` 0: unknown.
  void Update(uint64_t rows, uint64_t bytes, uint64_t total_bytes);
  /// The same for files; `files_left` are not done.
  void UpdateFiles(uint64_t files_left, uint64_t bytes, uint64_t total_bytes);
  /// Wipes the line, so that a message can be written.
  void Wipe();
  double seconds() const;

 private:
  void Update(const std::string& what, uint64_t bytes, uint64_t total_bytes);

  const Context& context_;
  bool terminal_;
  int64_t begin_micros_;
  int64_t shown_micros_ = 0;
  size_t shown_width_ = 0;
};

/// Whether `file` is a terminal.
bool IsTerminal(std::FILE* file);

}  // namespace tandem::tools
