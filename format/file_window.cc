// A window that slides over a file: one read serves many neighbouring requests.
#include "format/file_window.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/corruption.h"

namespace tandem::format {

Result<std::string_view> FileWindow::Read(uint64_t offset, uint64_t size) {
  if (offset > limit_ || size > limit_ - offset) {
    return CorruptionAt(file_->name(), offset,
                        Mismatch("bytes up to the end", size, limit_ - std::min(limit_, offset)));
  }
  if (!Holds(offset, size)) {
    start_ = offset;
    buffer_.resize(std::min(std::max(size, kReadBytes), limit_ - offset));
    ASSIGN_OR_RETURN(const size_t count, file_->Read(offset, buffer_));
    buffer_.resize(count);
    if (count < size) {
      return CorruptionAt(file_->name(), offset,
                          Mismatch("bytes before the file's end", size, count));
    }
  }
  return std::string_view(buffer_).substr(offset - start_, size);
}

}  // namespace tandem::format
