// The last 128 bytes of a store file: two copies of one record of 64 bytes, each with a checksum of
// its own, so that one damaged copy does not lose the file.
//
//   OFFSET SIZE FIELD           MEANING
//        0    8 magic           89 46 4F 4F 54 45 52 0A (0x89 "FOOTER" newline)
//        8    8 file size       up to and including the footer
//       16    8 first table     offset of the first section table
//       24    8 second table    offset of the second one
//       32    4 table size      stored bytes of each, with the block header, without padding
//       36    4 sections        entries of each
//       40    8 file number     as in the header
//       48    8 zero
//       56    8 checksum        XXH3-64 of bytes 0 to 55, seeded by ChecksumSeed with the
//                               offset of this copy in the file
//
// Example: file 5 of 1,024 bytes with 9 sections and tables of 464 bytes at 128 and 640:
//   89 46 4F 4F 54 45 52 0A  00 04 00 00 00 00 00 00  80 00 00 00 00 00 00 00
//   80 02 00 00 00 00 00 00  D0 01 00 00  09 00 00 00  05 00 00 00 00 00 00 00
//   00 00 00 00 00 00 00 00  checksum
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kFooterBytes = 128;

struct Footer {
  uint64_t file_size = 0;
  uint64_t table_offsets[2] = {0, 0};
  uint32_t table_bytes = 0;
  uint32_t sections = 0;
  FileNumber number;
  bool operator==(const Footer&) const = default;
};

/// Appends both copies, the first at footer.file_size - kFooterBytes.
void AppendFooter(const Footer& footer, const FileId& id, std::string* out);
/// Decodes the last kFooterBytes of a file of `file_size` bytes. Errors: kCorruption when neither
/// copy is sound.
Result<Footer> DecodeFooter(std::string_view bytes, const FileId& id, uint64_t file_size,
                            std::string_view file_name);

}  // namespace tandem::format
