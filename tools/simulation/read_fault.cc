// See read_fault.h.
#include "tools/simulation/read_fault.h"

#include <algorithm>

namespace tandem::test {
namespace {

// The byte that the fault shows at `position`.
char Shown(const ReadFault& fault, const Inode& inode, uint64_t position, char pristine) {
  switch (fault.kind) {
    case ReadFault::Kind::kBitFlip:
      return position == fault.offset ? static_cast<char>(pristine ^ (1 << fault.from % 8))
                                      : pristine;
    case ReadFault::Kind::kZeros:
      return '\0';
    case ReadFault::Kind::kStale: {
      const auto old = inode.old_sectors.find(position / kSectorBytes);
      return old == inode.old_sectors.end() ? '\0' : old->second[position % kSectorBytes];
    }
    case ReadFault::Kind::kMisdirected: {
      const uint64_t source = fault.from + (position - fault.offset);
      return source < inode.visible.bytes.size() ? inode.visible.bytes[source] : '\0';
    }
    case ReadFault::Kind::kLatentError:
    case ReadFault::Kind::kShort:
      return pristine;
  }
  return pristine;
}

}  // namespace

Result<size_t> ReadThroughFaults(const std::vector<ReadFault>& faults, const Inode& inode,
                                 uint64_t offset, std::span<char> bytes) {
  size_t count = bytes.size();
  for (const ReadFault& fault : faults) {
    const uint64_t begin = std::max(offset, fault.offset);
    const uint64_t end = std::min(offset + bytes.size(), fault.offset + fault.size);
    if (fault.kind == ReadFault::Kind::kLatentError && begin < end) {
      return Status::IoError("injected: the disk cannot read at " + std::to_string(begin));
    }
    if (fault.kind == ReadFault::Kind::kShort && begin < offset + count) count = begin - offset;
    for (uint64_t at = begin; at < end; ++at) {
      bytes[at - offset] = Shown(fault, inode, at, bytes[at - offset]);
    }
  }
  return count;
}

}  // namespace tandem::test
