// A window that slides over a file: one read serves many adjacent requests.
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
    held_ = {};  // If the read fails, too.
    const std::span<char> bytes =
        buffer_.Resize(std::min(std::max(size, read_bytes_), limit_ - offset));
    charge_.Set(buffer_.memory_bytes());
    ASSIGN_OR_RETURN(const size_t count, file_->Read(offset, bytes));
    held_ = {.offset = offset, .bytes = {bytes.data(), count}};
    if (count < size) {
      return CorruptionAt(file_->name(), offset,
                          Mismatch("bytes before the file's end", size, count));
    }
  }
  return held_.At(offset, size);
}

}  // namespace tandem::format
