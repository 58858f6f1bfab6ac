// The size of the next block comes from its header, which is read first and believed only as far as
// the section reaches.
#include "format/section_reader.h"

#include <array>

#include "base/status_macros.h"
#include "format/block_codec.h"
#include "format/byte_reader.h"
#include "format/corruption.h"

namespace tandem::format {

Result<BlockRef> SectionReader::Next(BlockKind expected) {
  const uint64_t left = section_.offset + section_.size_bytes - offset_;
  std::array<char, kBlockHeaderBytes> header;
  if (left < header.size()) {
    return file_.Corrupt(offset_, Mismatch("bytes left in section, at least", header.size(), left));
  }
  ASSIGN_OR_RETURN(const size_t size, file_.file().Read(offset_, header));
  if (size != header.size()) {
    return file_.Corrupt(offset_, Mismatch("bytes of block header", header.size(), size));
  }
  const uint64_t stored =
      kBlockHeaderBytes + uint64_t{LoadAt<uint32_t>({header.data(), header.size()}, 8)};
  const uint64_t padded = (stored + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (padded > left) {
    return file_.Corrupt(offset_, Mismatch("size of block, at most", left, padded));
  }
  const BlockHandle handle{offset_, static_cast<uint32_t>(stored)};
  ASSIGN_OR_RETURN(BlockRef block, file_.ReadUncached(handle, expected));
  offset_ += padded;
  return block;
}

}  // namespace tandem::format
