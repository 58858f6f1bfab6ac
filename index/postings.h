// Postings: the ordinals of the rows that have one value, ascending and distinct. Four forms, by
// the count c and the rows of the file n:
//
//   c = 1                    the ordinal itself, as the value's reference in the leaf
//   2 to 64                  small list, in the leaf
//   above 64 and above n/32  Roaring list, in the postings stream
//   else                     blocked list, in the postings stream
//
// Small list: c varints, the first ordinal and then each gap - 1.
//   Example, ordinals 5 6 300: 05 00 a5 02
//
// Blocked list, for b = (c + 127) / 128 blocks of 128 ordinals, the last one with the remainder:
//   OFFSET SIZE FIELD    MEANING
//        0   4b maxima   u32[]: the last ordinal of each block
//       4b    b widths   u8[]: bits of each gap - 1 of the block, 0 to 32
//       5b    - packed   per block its gaps - 1, lowest bits first, in (ordinals * width + 7) / 8
//                        bytes; unused bits are 0
//   The gap of the first ordinal is counted from the last one of the block before (from -1 in block
//   0).
//   Example, ordinals 3 4 8 (shown short; real lists are longer): 08 00 00 00 | 02 | 33 (gaps - 1
//   are 3, 0, 3, in two bits each)
//
// Roaring list: the portable serialized form of a Roaring bitmap, public at
// github.com/RoaringBitmap/RoaringFormatSpec, with array, bitset and run containers and no gaps
// between them. Written by CRoaring, read only by the checked reader here.
//
// The leaf stores a list's place in the postings stream:
//   form u8 (2 blocked, 3 Roaring), position in the stream varint, size in bytes varint
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/byte_reader.h"

namespace tandem::format {

inline constexpr uint32_t kSmallListMax = 64;        ///< Ordinals of a small list.
inline constexpr uint32_t kPostingsBlockRows = 128;  ///< Ordinals of a block of a blocked list.

/// Numbers are on disk.
enum class ListForm : uint8_t { kBlocked = 2, kRoaring = 3 };

/// A list in the postings stream.
struct ListPlace {
  ListForm form = ListForm::kBlocked;
  uint64_t position = 0;
  uint64_t size_bytes = 0;
};

/// The ordinals [low, high).
struct OrdinalRange {
  uint32_t low = 0;
  uint32_t high = std::numeric_limits<uint32_t>::max();
  bool Contains(uint32_t ordinal) const { return ordinal >= low && ordinal < high; }
};

/// What a list must satisfy to be accepted.
struct ListBounds {
  uint32_t count = 0;        ///< Ordinals in it.
  uint32_t row_count = 0;    ///< Every ordinal is below it.
  OrdinalRange wanted = {};  ///< Those to return; blocks without any are not decoded.
};

/// The form of a list with more than kSmallListMax ordinals.
inline ListForm FormOf(ListBounds bounds) {
  return bounds.count > bounds.row_count / 32 ? ListForm::kRoaring : ListForm::kBlocked;
}

/// Requires of all encoders: `ordinals` is not empty, ascending, distinct.
void AppendSmallList(std::span<const uint32_t> ordinals, std::string* out);
void AppendBlockedList(std::span<const uint32_t> ordinals, std::string* out);
void AppendRoaringList(std::span<const uint32_t> ordinals, std::string* out);
void AppendListPlace(const ListPlace& place, std::string* out);

/// The decoders append the wanted ordinals of a list to `*out`. The list must have exactly
/// bounds.count ordinals, ascending and below bounds.row_count; false when the bytes examined are
/// anything else (`*out` may then have extra ordinals at its end). A small list ends where its last
/// varint ends; the other two fill their bytes.
[[nodiscard]] bool ReadSmallList(ListBounds bounds, ByteReader* reader, std::vector<uint32_t>* out);
[[nodiscard]] bool ReadBlockedList(ListBounds bounds, std::string_view bytes,
                                   std::vector<uint32_t>* out);
[[nodiscard]] bool ReadRoaringList(ListBounds bounds, std::string_view bytes,
                                   std::vector<uint32_t>* out);
/// A part of a list that is read alone: a block of a blocked list, a container of a Roaring one. It
/// has at least one ordinal.
struct ListChunk {
  uint32_t low = 0;     ///< Its ordinals are not below it, those before it in the list are.
  uint32_t before = 0;  ///< Ordinals of the list before it.
  uint32_t count = 0;   ///< Of its ordinals.
  uint64_t offset = 0;  ///< Of its bytes, in the list.
  uint64_t size_bytes = 0;
  uint8_t width = 0;     ///< Of a block: bits of each gap - 1.
  bool of_runs = false;  ///< Of a container.
};
/// Bytes at the front of a list that have its headers: all of them, at most as many.
uint64_t BlockedHeadersBytes(uint32_t count);
uint64_t RoaringHeadersMax(uint32_t row_count);
/// Appends the chunks of a list of that size whose first bytes are `front`. False: they break the
/// layout, or they lack the offsets, which the Roaring lists of up to three containers may.
[[nodiscard]] bool ReadBlockedChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                                     std::vector<ListChunk>* chunks);
[[nodiscard]] bool ReadRoaringChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                                     std::vector<ListChunk>* chunks);
/// Appends the ordinals of a chunk, ascending: of a block all, of a container the wanted ones.
/// False: the bytes are not exactly those of such a chunk. A container without room for a wanted
/// ordinal is not looked at. Requires: a container begins below bounds.row_count.
[[nodiscard]] bool ReadBlockedChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                                     std::vector<ListChunk>* chunks);
[[nodiscard]] bool ReadRoaringChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                                     std::vector<ListChunk>* chunks);
/// Appends the ordinals of a chunk, ascending: of a block all, of a container the wanted ones.
/// False: the bytes are not exactly those of such a chunk; one of no wanted container is
/// is not looked at. Requires: a container begins below bounds.row_count.
[[nodiscard]] bool ReadBlockedChunk(const ListChunk& chunk, std::string_view bytes,
                                    std::vector<uint32_t>* out);
[[nodiscard]] bool ReadRoaringChunk(const ListChunk& chunk, ListBounds bounds,
                                    std::string_view bytes, std::vector<uint32_t>* out);
/// Whether a container of no runs has the ordinal. Requires: the bytes have the size of such a
/// container (RoaringChunkBytes).
bool RoaringChunkHas(const ListChunk& chunk, std::string_view bytes, uint32_t ordinal);
/// Bytes of a container of no runs.
uint64_t RoaringChunkBytes(const ListChunk& chunk);
/// Removes the unwanted ones of the ordinals from index `from` on. Requires: these ascend.
void KeepWanted(OrdinalRange wanted, size_t from, std::vector<uint32_t>* ordinals);
/// False also when the size is more than any list within `bounds` can have.
[[nodiscard]] bool ReadListPlace(ListBounds bounds, ByteReader* reader, ListPlace* place);

}  // namespace tandem::format
