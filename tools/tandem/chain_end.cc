// Reads what follows the last frame.
#include "tools/tandem/chain_end.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {

Status CheckChainEnd(base::File* file, const format::FrameReader& reader, uint64_t offset) {
  constexpr size_t kReadBytes = 64 * 1024;
  std::vector<char> buffer(kReadBytes);
  for (uint64_t at = offset; at < reader.limit();) {
    ASSIGN_OR_RETURN(const size_t count, file->Read(at, buffer));
    if (count == 0) break;
    const auto end = buffer.begin() + static_cast<ptrdiff_t>(count);
    if (std::any_of(buffer.begin(), end, [](char byte) { return byte != 0; })) {
      return Status::Corruption(
          Format("{}: offset {}: expected a frame, zeros or the end, found: {}", file->name(),
                 offset, reader.reason()));
    }
    at += count;
  }
  return {};
}

}  // namespace tandem::tools
