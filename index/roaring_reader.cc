// Reads the portable form of a Roaring bitmap and checks every byte:
//
// 1. Cookie u32: 12346 and then the container count u32 (no run containers), or 12347 in the low
//    half and the container count - 1 in the high half, then one bit per container: set for a run
//    container.
// 2. Per container its key u16 (the high half of its ordinals) and cardinality - 1 u16.
// 3. With cookie 12346, or from four containers on, the offset u32 of each container.
// 4. The containers: runs as u16 count and pairs of first u16, length - 1 u16; else an array of u16
//    when the cardinality is at most 4,096; else a bitset of 65,536 bits.
#include <bit>

#include "index/postings.h"

namespace tandem::format {
namespace {

constexpr uint32_t kCookieWithoutRuns = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kContainerRows = 65'536;
constexpr uint32_t kArrayRowsMax = 4'096;
constexpr uint32_t kOffsetsFrom = 4;  // Containers, with kCookieWithRuns.
constexpr size_t kBitsetWords = kContainerRows / 64;

// Appends ordinals to a buffer sized for exactly the expected number.
class OrdinalSink {
 public:
  explicit OrdinalSink(std::span<uint32_t> room) : room_(room) {}

  size_t left() const { return room_.size() - used_; }
  // Requires: left() > 0 for Put, left() >= count for PutRun.
  void Put(uint32_t ordinal) { room_[used_++] = ordinal; }
  void PutRun(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) room_[used_ + i] = first + i;
    used_ += count;
  }

 private:
  std::span<uint32_t> room_;
  size_t used_ = 0;
};

struct Container {
  uint32_t base = 0;  // The smallest ordinal that it can hold.
  uint32_t count = 0;
  bool of_runs = false;
};

bool ReadArray(const Container& container, ByteReader* reader, OrdinalSink* sink) {
  const std::string_view values = reader->Bytes(size_t{container.count} * 2);
  if (!reader->ok()) return false;
  uint32_t next = 0;
  for (uint32_t i = 0; i < container.count; ++i) {
    const uint32_t value = LoadAt<uint16_t>(values, size_t{i} * 2);
    if (value < next) return false;
    next = value + 1;
    sink->Put(container.base + value);
  }
  return true;
}

bool ReadBitset(const Container& container, ByteReader* reader, OrdinalSink* sink) {
  const std::string_view words = reader->Bytes(kBitsetWords * 8);
  if (!reader->ok()) return false;
  uint32_t ones = 0;
  for (size_t i = 0; i < kBitsetWords; ++i) {
    ones += static_cast<uint32_t>(std::popcount(LoadAt<uint64_t>(words, i * 8)));
  }
  if (ones != container.count) return false;
  for (size_t i = 0; i < kBitsetWords; ++i) {
    const uint32_t base = container.base + static_cast<uint32_t>(i * 64);
    for (uint64_t word = LoadAt<uint64_t>(words, i * 8); word != 0; word &= word - 1) {
      sink->Put(base + static_cast<uint32_t>(std::countr_zero(word)));
    }
  }
  return true;
}

bool ReadRuns(const Container& container, ByteReader* reader, OrdinalSink* sink) {
  const uint32_t runs = reader->U16();
  uint32_t next = 0;
  uint32_t left = container.count;
  for (uint32_t i = 0; i < runs; ++i) {
    const uint32_t first = reader->U16();
    const uint32_t count = uint32_t{reader->U16()} + 1;
    if (!reader->ok() || first < next || first + count > kContainerRows || count > left) {
      return false;
    }
    sink->PutRun(container.base + first, count);
    next = first + count;
    left -= count;
  }
  return reader->ok() && left == 0;
}

bool ReadContainer(const Container& container, ByteReader* reader, OrdinalSink* sink) {
  if (container.count > sink->left()) return false;
  if (container.of_runs) return ReadRuns(container, reader, sink);
  if (container.count <= kArrayRowsMax) return ReadArray(container, reader, sink);
  return ReadBitset(container, reader, sink);
}

// Skips a container without decoding its ordinals.
void SkipContainer(const Container& container, ByteReader* reader) {
  if (container.of_runs) {
    reader->Skip(size_t{reader->U16()} * 4);
  } else if (container.count <= kArrayRowsMax) {
    reader->Skip(size_t{container.count} * 2);
  } else {
    reader->Skip(kBitsetWords * 8);
  }
}

// Appends the container's wanted ordinals.
bool ReadWanted(const Container& container, ListBounds bounds, ByteReader* reader,
                std::vector<uint32_t>* out) {
  const uint64_t end = uint64_t{container.base} + kContainerRows;
  if (container.base >= bounds.wanted.high || end <= bounds.wanted.low) {
    SkipContainer(container, reader);
    return reader->ok();
  }
  const size_t before = out->size();
  out->resize(before + container.count);
  OrdinalSink sink(std::span<uint32_t>(*out).subspan(before));
  if (!ReadContainer(container, reader, &sink) || sink.left() != 0) return false;
  if (out->back() >= bounds.row_count) return false;
  const bool is_edge = container.base < bounds.wanted.low || end > bounds.wanted.high;
  if (is_edge) KeepWanted(bounds.wanted, before, out);
  return true;
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
  return chunk.count <= kArrayRowsMax ? uint64_t{chunk.count} * 2 : kBitsetWords * 8;
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

bool ReadRoaringChunk(const ListChunk& chunk, std::string_view bytes, std::vector<uint32_t>* out) {
  const Container container{.base = chunk.low, .count = chunk.count, .of_runs = chunk.of_runs};
  const size_t before = out->size();
  out->resize(before + chunk.count);
  OrdinalSink sink(std::span<uint32_t>(*out).subspan(before));
  ByteReader reader(bytes);
  return ReadContainer(container, &reader, &sink) && sink.left() == 0 && reader.done();
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
    if (!ReadWanted(container, bounds, &reader, out)) return false;
    next_base = uint64_t{container.base} + kContainerRows;
  }
  return reader.done() && count == bounds.count && count > 0;
}

}  // namespace tandem::format
