// Finds line ends in the input's window and asks for more when there is none.
#include "tools/tandem/input_lines.h"

#include <cstring>

#include "base/status_macros.h"

namespace tandem::tools {

Result<bool> LineReader::Next() {
  input_->Consume(held_);
  held_ = 0;
  text_ = {};
  too_long_ = false;
  size_t searched = 0;
  while (true) {
    const std::span<char> window = input_->window();
    const void* end = searched == window.size()
                          ? nullptr
                          : std::memchr(window.data() + searched, '\n', window.size() - searched);
    const bool found = end != nullptr;
    size_t length =
        found ? static_cast<size_t>(static_cast<const char*>(end) - window.data()) : window.size();
    if (!found) {
      if (length > kRecordBytesMax) {
        too_long_ = true;
        input_->Consume(length);
        length = 0;
      }
      searched = length;
      ASSIGN_OR_RETURN(const bool more, input_->Fill());
      if (more) continue;
      if (length == 0 && !too_long_) return false;
    }
    ++line_;
    held_ = length + (found ? 1 : 0);
    too_long_ = too_long_ || length > kRecordBytesMax;
    if (!too_long_) text_ = std::string_view(input_->window().data(), length);
    return true;
  }
}

char* LineReader::Terminate() {
  char* const start = input_->window().data();
  start[text_.size()] = '\0';
  return start;
}

}  // namespace tandem::tools
