// Reads the portable form of a Roaring bitmap and checks every byte:
//
// 1. Cookie u32: 12346 and then the container count u32 (no run containers), or 12347 in the low
//    half and the container count - 1 in the high half, then one bit per container: set for a run
//    container.
// 2. Per container its key u16 (the high half of its ordinals) and cardinality - 1 u16.
// 3. With cookie 12346, or from four containers on, the offset u32 of each container.
// 4. The containers: runs as u16 count and pairs of first u16, length - 1 u16; else an array of u16
//    when the cardinality is at most 4,096; else a bitset of 65,536 bits.
#include <algorithm>
#include <bit>

#include "index/postings.h"

namespace tandem::format {
namespace {

constexpr uint32_t kCookieWithoutRuns = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kContainerRows = 65'536;
constexpr uint32_t kArrayRowsMax = 4'096;
constexpr uint32_t kOffsetsFrom = 4;  // Containers, with kCookieWithRuns.
constexpr uint32_t kBitsetWords = kContainerRows / 64;

struct Container {
  uint32_t base = 0;  // The smallest ordinal that it can hold.
  uint32_t count = 0;
  bool of_runs = false;
};

// What is read of a container, counted from its base.
struct ContainerBounds {
  uint32_t rows = kContainerRows;  // Every ordinal is below it.
  uint32_t low = 0;                // Wanted are those from here on,
  uint32_t high = kContainerRows;  // and below.
};

bool AppendFromArray(const Container& container, const ContainerBounds& bounds, ByteReader* reader,
                     std::vector<uint32_t>* out) {
  const std::string_view values = reader->Bytes(size_t{container.count} * 2);
  if (!reader->ok()) return false;
  const size_t before = out->size();
  out->resize(before + container.count);
  uint32_t* end = out->data() + before;
  uint32_t next = 0;
  for (uint32_t i = 0; i < container.count; ++i) {
    const uint32_t value = LoadAt<uint16_t>(values, size_t{i} * 2);
    if (value < next) return false;
    next = value + 1;
    *end = container.base + value;
    end += value >= bounds.low && value < bounds.high ? 1 : 0;
  }
  out->resize(static_cast<size_t>(end - out->data()));
  return next <= bounds.rows;
}

// The ones of a word, without a call where the processor's own count may not be used.
uint32_t OnesOf(uint64_t word) {
  word -= (word >> 1) & 0x5555'5555'5555'5555;
  word = (word & 0x3333'3333'3333'3333) + ((word >> 2) & 0x3333'3333'3333'3333);
  word = (word + (word >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
  return static_cast<uint32_t>((word * 0x0101'0101'0101'0101) >> 56);
}

// The word without its bits below `low` and from `high` on, both counted from the word's first.
uint64_t BitsWithin(uint64_t word, uint32_t low, uint32_t high) {
  if (low > 0) word &= ~uint64_t{0} << low;
  if (high < 64) word &= ~(~uint64_t{0} << high);
  return word;
}

uint64_t WordAt(std::string_view bitset, uint32_t i) {
  return LoadAt<uint64_t>(bitset, size_t{i} * 8);
}

uint32_t CountOnes(std::string_view bitset, uint32_t first_word, uint32_t past_word) {
  uint32_t ones = 0;
  for (uint32_t i = first_word; i < past_word; ++i) ones += OnesOf(WordAt(bitset, i));
  return ones;
}

bool HasOnesFrom(std::string_view bitset, uint32_t row) {
  if (row == kContainerRows) return false;
  uint64_t ones = BitsWithin(WordAt(bitset, row / 64), row % 64, 64);
  for (uint32_t i = row / 64 + 1; i < kBitsetWords; ++i) ones |= WordAt(bitset, i);
  return ones != 0;
}

bool AppendFromBitset(const Container& container, const ContainerBounds& bounds, ByteReader* reader,
                      std::vector<uint32_t>* out) {
  const std::string_view bitset = reader->Bytes(size_t{kBitsetWords} * 8);
  if (!reader->ok() || HasOnesFrom(bitset, bounds.rows)) return false;
  const uint32_t first = bounds.low / 64, past = (bounds.high + 63) / 64;
  const uint32_t within = CountOnes(bitset, first, past);
  const uint32_t without = CountOnes(bitset, 0, first) + CountOnes(bitset, past, kBitsetWords);
  if (within + without != container.count) return false;
  const size_t before = out->size();
  out->resize(before + within);
  uint32_t* end = out->data() + before;
  for (uint32_t i = first; i < past; ++i) {
    const uint32_t begin = i * 64;
    uint64_t word = WordAt(bitset, i);
    if (begin < bounds.low || begin + 64 > bounds.high) {
      word = BitsWithin(word, bounds.low > begin ? bounds.low - begin : 0, bounds.high - begin);
    }
    for (; word != 0; word &= word - 1) {
      *end++ = container.base + begin + static_cast<uint32_t>(std::countr_zero(word));
    }
  }
  out->resize(static_cast<size_t>(end - out->data()));
  return true;
}

bool AppendFromRuns(const Container& container, const ContainerBounds& bounds, ByteReader* reader,
                    std::vector<uint32_t>* out) {
  const uint32_t runs = reader->U16();
  uint32_t next = 0;
  uint32_t left = container.count;
  for (uint32_t i = 0; i < runs; ++i) {
    const uint32_t first = reader->U16();
    const uint32_t count = uint32_t{reader->U16()} + 1;
    if (!reader->ok() || first < next || first + count > bounds.rows || count > left) return false;
    next = first + count;
    left -= count;
    const uint32_t end = std::min(next, bounds.high);
    for (uint32_t j = std::max(first, bounds.low); j < end; ++j) out->push_back(container.base + j);
  }
  return reader->ok() && left == 0;
}

// Reads and checks a container, and appends those of its ordinals that are wanted.
bool AppendFromContainer(const Container& container, const ContainerBounds& bounds,
                         ByteReader* reader, std::vector<uint32_t>* out) {
  if (container.of_runs) return AppendFromRuns(container, bounds, reader, out);
  if (container.count <= kArrayRowsMax) return AppendFromArray(container, bounds, reader, out);
  return AppendFromBitset(container, bounds, reader, out);
}

// Skips a container without decoding its ordinals.
void SkipContainer(const Container& container, ByteReader* reader) {
  if (container.of_runs) {
    reader->Skip(size_t{reader->U16()} * 4);
  } else if (container.count <= kArrayRowsMax) {
    reader->Skip(size_t{container.count} * 2);
  } else {
    reader->Skip(size_t{kBitsetWords} * 8);
  }
}

bool IsWanted(const Container& container, OrdinalRange wanted) {
  return container.base < wanted.high && uint64_t{container.base} + kContainerRows > wanted.low;
}

// Appends the container's wanted ordinals. Requires: it may have some, and begins below the rows of
// the file.
bool ReadWanted(const Container& container, ListBounds bounds, ByteReader* reader,
                std::vector<uint32_t>* out) {
  ContainerBounds here;
  here.rows = std::min(kContainerRows, bounds.row_count - container.base);
  here.low = std::max(bounds.wanted.low, container.base) - container.base;
  here.high = std::min(kContainerRows, bounds.wanted.high - container.base);
  return AppendFromContainer(container, here, reader, out);
}

// The headers of all containers. `offsets` is empty when there are none.
struct Headers {
  uint32_t count = 0;
  std::string_view run_bits;  // Empty: no run containers.
  std::string_view descriptions;
  std::string_view offsets;

  Container At(uint32_t i) const {
    Container container;
    container.base = uint32_t{LoadAt<uint16_t>(descriptions, size_t{i} * 4)} << 16;
    container.count = uint32_t{LoadAt<uint16_t>(descriptions, size_t{i} * 4 + 2)} + 1;
    container.of_runs = !run_bits.empty() && ((run_bits[i / 8] >> (i % 8)) & 1) != 0;
    return container;
  }
};

bool ReadHeaders(ByteReader* reader, Headers* headers) {
  const uint32_t cookie = reader->U32();
  const bool with_runs = (cookie & 0xffff) == kCookieWithRuns;
  if (!with_runs && cookie != kCookieWithoutRuns) return false;
  headers->count = with_runs ? (cookie >> 16) + 1 : reader->U32();
  if (headers->count == 0 || headers->count > kContainerRows) return false;
  if (with_runs) headers->run_bits = reader->Bytes((headers->count + 7) / 8);
  headers->descriptions = reader->Bytes(size_t{headers->count} * 4);
  if (!with_runs || headers->count >= kOffsetsFrom) {
    headers->offsets = reader->Bytes(size_t{headers->count} * 4);
  }
  return reader->ok();
}

}  // namespace

uint64_t RoaringHeadersMax(uint32_t row_count) {
  const uint64_t containers = uint64_t{row_count} / kContainerRows + 1;
  return 8 + containers / 8 + 1 + containers * 8;
}

bool ReadRoaringChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                       std::vector<ListChunk>* chunks) {
  ByteReader reader(front);
  Headers headers;
  if (!ReadHeaders(&reader, &headers) || headers.offsets.empty()) return false;
  uint64_t next_base = 0, next_offset = reader.offset(), before = 0;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const Container container = headers.At(i);
    const uint64_t offset = LoadAt<uint32_t>(headers.offsets, size_t{i} * 4);
    const bool is_last = i + 1 == headers.count;
    const uint64_t end =
        is_last ? size_bytes : LoadAt<uint32_t>(headers.offsets, (size_t{i} + 1) * 4);
    if (container.base < next_base || container.base >= bounds.row_count) return false;
    if (offset != next_offset || end < offset || end > size_bytes) return false;
    chunks->push_back({.low = container.base,
                       .before = static_cast<uint32_t>(before),
                       .count = container.count,
                       .offset = offset,
                       .size_bytes = end - offset,
                       .of_runs = container.of_runs});
    before += container.count;
    if (before > bounds.count) return false;
    next_base = uint64_t{container.base} + kContainerRows;
    next_offset = end;
  }
  return before == bounds.count;
}

uint64_t RoaringChunkBytes(const ListChunk& chunk) {
  return chunk.count <= kArrayRowsMax ? uint64_t{chunk.count} * 2 : uint64_t{kBitsetWords} * 8;
}

bool RoaringChunkHas(const ListChunk& chunk, std::string_view bytes, uint32_t ordinal) {
  if (ordinal < chunk.low || ordinal - chunk.low >= kContainerRows) return false;
  const uint32_t sought = ordinal - chunk.low;
  if (chunk.count > kArrayRowsMax) return ((bytes[sought / 8] >> (sought % 8)) & 1) != 0;
  uint32_t low = 0, high = chunk.count;  // What is sought is among these, or in none.
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    (LoadAt<uint16_t>(bytes, size_t{middle} * 2) <= sought ? low : high) = middle;
  }
  return LoadAt<uint16_t>(bytes, size_t{low} * 2) == sought;
}

bool ReadRoaringChunk(const ListChunk& chunk, ListBounds bounds, std::string_view bytes,
                      std::vector<uint32_t>* out) {
  const Container container{.base = chunk.low, .count = chunk.count, .of_runs = chunk.of_runs};
  if (!IsWanted(container, bounds.wanted)) return true;
  ByteReader reader(bytes);
  return ReadWanted(container, bounds, &reader, out) && reader.done();
}

bool ReadRoaringList(ListBounds bounds, std::string_view bytes, std::vector<uint32_t>* out) {
  ByteReader reader(bytes);
  Headers headers;
  if (!ReadHeaders(&reader, &headers) || bounds.count > bounds.row_count) return false;
  if (bounds.wanted.low == 0 && bounds.wanted.high >= bounds.row_count) {
    out->reserve(out->size() + bounds.count);
  }
  uint64_t next_base = 0;
  uint64_t count = 0;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const Container container = headers.At(i);
    const bool placed = headers.offsets.empty() ||
                        LoadAt<uint32_t>(headers.offsets, size_t{i} * 4) == reader.offset();
    if (container.base < next_base || !placed) return false;
    count += container.count;
    if (count > bounds.count || container.base >= bounds.row_count) return false;
    if (!IsWanted(container, bounds.wanted)) {
      SkipContainer(container, &reader);
    } else if (!ReadWanted(container, bounds, &reader, out)) {
      return false;
    }
    next_base = uint64_t{container.base} + kContainerRows;
  }
  return reader.done() && count == bounds.count && count > 0;
}

}  // namespace tandem::format
