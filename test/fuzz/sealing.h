// Making the checksums of changed files right, as somebody does who makes a file on purpose.
#pragma once

#include <cstdint>
#include <string>

#include "format/types.h"

namespace tandem::fuzz {

/// The checksum of the file header that `file` begins with, unless it is shorter.
void SealHeader(std::string* file);
/// The same of the header of a log segment.
void SealSegmentHeader(std::string* file);
/// The u64 at `offset`; 0 beyond the end.
uint64_t NumberAt(const std::string& file, size_t offset);

struct SealedFrames {
  uint64_t last_checksum = 0;  ///< Of the last frame; `previous` without one.
  uint64_t last_sequence = 0;
};
/// Makes the bytes from `begin` on frames of the file `id`, one after the other, the first after
/// the checksum `previous`: links, checksums and padding; lengths where they pass the end. A frame
/// whose checksum is 0 stays broken and is left out of the chain.
SealedFrames SealFrames(const format::FileId& id, size_t begin, uint64_t previous,
                        std::string* file);

/// A ROOT of which `bytes` are the parts that say something: the header, 200 bytes of each slot,
/// then what follows in the second slot and after it.
std::string SpreadRoot(std::string_view bytes);
/// The inverse, of a sound ROOT with few segments.
std::string GatherRoot(std::string_view file);
/// Checksums of the header and of both slots.
void SealRoot(std::string* file);

}  // namespace tandem::fuzz
