// The first 128 bytes of every file: its type, its database, and the features that a reader must
// know.
//
//   OFFSET SIZE FIELD            MEANING
//        0    8 magic            89 54 41 4E 44 45 4D 0A (0x89 "TANDEM" newline)
//        8    1 kind             FileKind
//        9    1 alignment        log2 of the alignment of sections, 3 to 20
//       10    2 version          1
//       12    4 header size      128
//       16    8 compatible       features a reader may ignore
//       24    8 read-compatible  features without which a file is read, but not written
//       32    8 incompatible     features without which a file is refused
//       40   16 database id
//       56    8 file number      grows, never reused
//       64   16 file id          128 random bits; seeds the checksums in the file
//       80   40 zero
//      120    8 checksum         XXH3-64, seed 0, of bytes 0 to 119
// Little-endian. The checksum is verified before the version and the masks are used.
//
// Example: store file 5 with sections at multiples of 64, database id 01 to 10, file id 21 to 30
// (hex)
//   89 54 41 4E 44 45 4D 0A  04 06 01 00 80 00 00 00  00 (24 times)  01 02 .. 10
//   05 00 00 00 00 00 00 00  21 22 .. 30  00 (40 times)  75 B7 4B 02 B9 E6 33 C9
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kFileHeaderBytes = 128;
inline constexpr uint16_t kFormatVersion = 1;

/// Numbers are on disk.
enum class FileKind : uint8_t {
  kRoot = 1,
  kManifest = 2,
  kLog = 3,
  kStore = 4,
  kDead = 5,
  kBackup = 6
};

/// Feature of `compatible`: a store file's block indexes have tops
/// (format/row/block_index_writer.h).
inline constexpr uint64_t kCompatibleBlockIndexTops = 1;
/// Feature of `incompatible`: all cells of a store file have one sequence, the smallest of its
/// statistics, and are stored with sequence 0.
inline constexpr uint64_t kIncompatibleOneSequence = 1;
/// Features of `incompatible` and `read_compatible` that this build knows.
inline constexpr uint64_t kKnownIncompatible = kIncompatibleOneSequence;
inline constexpr uint64_t kKnownReadCompatible = 0;

struct FileHeader {
  FileKind kind{};
  uint8_t alignment_log2 = 12;
  uint64_t compatible = 0;
  uint64_t read_compatible = 0;
  uint64_t incompatible = 0;
  DatabaseId database;
  FileNumber number;
  FileId id;

  /// False: written by a later version that this build can read but must not write to.
  bool writable() const { return (read_compatible & ~kKnownReadCompatible) == 0; }
  bool operator==(const FileHeader&) const = default;
};

/// Appends kFileHeaderBytes.
void AppendFileHeader(const FileHeader& header, std::string* out);
/// The checksum at the end of a header. Requires: at least kFileHeaderBytes bytes.
uint64_t HeaderChecksum(std::string_view header);
/// Appends the bytes of an id.
void AppendId(const RandomId& id, std::string* out);
/// Decodes the start of a file; `bytes` may be longer than the header. `file_name` is for messages.
/// Errors: kCorruption (short, magic, checksum, kind, a field out of its range), kUnsupported
/// (version, an unknown incompatible feature).
Result<FileHeader> DecodeFileHeader(std::string_view bytes, FileKind expected,
                                    std::string_view file_name);

}  // namespace tandem::format
