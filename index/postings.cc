// Small lists, blocked lists and the places of lists. The decoders check the last ordinal of every
// block against its maximum; the ordinals ascend, so this bounds them all.
#include "index/postings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "format/coding.h"

namespace tandem::format {
namespace {

// A block of gaps, with room for an eight-byte load at its last byte.
constexpr size_t kPackedBytesMax = kPostingsBlockRows * 32 / 8;
using PackedBlock = std::array<char, kPackedBytesMax + 8>;

size_t PackedBytes(size_t count, uint32_t width) { return (count * width + 7) / 8; }

uint32_t BlockCount(uint32_t count) {
  return count / kPostingsBlockRows + (count % kPostingsBlockRows != 0 ? 1 : 0);
}

// Calls visit(gap - 1) for each ordinal; `*next` is the smallest value that the first ordinal can
// have.
template <typename Visit>
void ForEachGap(std::span<const uint32_t> ordinals, uint32_t* next, Visit visit) {
  for (const uint32_t ordinal : ordinals) {
    visit(ordinal - *next);
    *next = ordinal + 1;
  }
}

void AppendPacked(std::span<const uint32_t> gaps, uint32_t width, std::string* out) {
  PackedBlock packed{};
  size_t bit = 0;
  for (const uint32_t gap : gaps) {
    uint64_t word;
    std::memcpy(&word, &packed[bit / 8], sizeof(word));
    word |= uint64_t{gap} << (bit % 8);
    std::memcpy(&packed[bit / 8], &word, sizeof(word));
    bit += width;
  }
  out->append(packed.data(), PackedBytes(gaps.size(), width));
}

// Unpacks a block into out[0..count) and returns the smallest ordinal that may follow.
uint64_t Unpack(std::string_view bytes, uint32_t width, std::span<uint32_t> out, uint64_t next) {
  PackedBlock packed;
  std::memcpy(packed.data(), bytes.data(), bytes.size());
  const std::string_view view(packed.data(), packed.size());
  const uint64_t mask = (uint64_t{1} << width) - 1;
  size_t bit = 0;
  for (uint32_t& ordinal : out) {
    next += (LoadAt<uint64_t>(view, bit / 8) >> (bit % 8)) & mask;
    ordinal = static_cast<uint32_t>(next++);
    bit += width;
  }
  return next;
}

// Whether the bits after the last gap of a block are zero.
bool TailIsZero(std::string_view bytes, size_t bits) {
  return bits % 8 == 0 || static_cast<uint8_t>(bytes.back()) >> (bits % 8) == 0;
}

uint64_t ListBytesMax(ListForm form, ListBounds bounds) {
  if (form == ListForm::kBlocked) return uint64_t{BlockCount(bounds.count)} * (5 + kPackedBytesMax);
  constexpr uint64_t kContainerRows = 65'536;
  constexpr uint64_t kContainerBytesMax = kContainerRows / 8 + 9;  // With its share of the headers.
  return 16 + (bounds.row_count / kContainerRows + 1) * kContainerBytesMax;
}

}  // namespace

void AppendSmallList(std::span<const uint32_t> ordinals, std::string* out) {
  uint32_t next = 0;
  ForEachGap(ordinals, &next, [out](uint32_t gap) { AppendVarint(out, gap); });
}

bool ReadSmallList(ListBounds bounds, ByteReader* reader, std::vector<uint32_t>* out) {
  uint64_t next = 0;
  if (out->empty()) out->reserve(bounds.count);
  for (uint32_t i = 0; i < bounds.count; ++i) {
    const uint64_t ordinal = next + reader->VarintUpTo(bounds.row_count);
    if (!reader->ok() || ordinal >= bounds.row_count) return false;
    const auto found = static_cast<uint32_t>(ordinal);
    if (bounds.wanted.Contains(found)) out->push_back(found);
    next = ordinal + 1;
  }
  return true;
}

void AppendBlockedList(std::span<const uint32_t> ordinals, std::string* out) {
  std::string widths;
  std::string packed;
  uint32_t next = 0;
  for (size_t first = 0; first < ordinals.size(); first += kPostingsBlockRows) {
    const auto block =
        ordinals.subspan(first, std::min<size_t>(kPostingsBlockRows, ordinals.size() - first));
    std::array<uint32_t, kPostingsBlockRows> gaps;
    size_t count = 0;
    uint32_t bits = 0;
    ForEachGap(block, &next, [&](uint32_t gap) {
      gaps[count++] = gap;
      bits |= gap;
    });
    const uint32_t width = static_cast<uint32_t>(std::bit_width(bits));
    AppendU32(out, block.back());
    AppendU8(&widths, static_cast<uint8_t>(width));
    AppendPacked(std::span(gaps).first(count), width, &packed);
  }
  out->append(widths).append(packed);
}

void KeepWanted(OrdinalRange wanted, size_t from, std::vector<uint32_t>* ordinals) {
  const auto begin = ordinals->begin() + static_cast<ptrdiff_t>(from);
  ordinals->erase(std::lower_bound(begin, ordinals->end(), wanted.high), ordinals->end());
  ordinals->erase(begin, std::lower_bound(begin, ordinals->end(), wanted.low));
}

bool ReadBlockedList(ListBounds bounds, std::string_view bytes, std::vector<uint32_t>* out) {
  const uint32_t blocks = BlockCount(bounds.count);
  ByteReader reader(bytes);
  const std::string_view maxima = reader.Bytes(size_t{blocks} * 4);
  const std::string_view widths = reader.Bytes(blocks);
  if (!reader.ok() || bounds.count > bounds.row_count) return false;
  uint64_t next = 0;
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t count = std::min(kPostingsBlockRows, bounds.count - i * kPostingsBlockRows);
    const uint32_t width = static_cast<uint8_t>(widths[i]);
    const uint32_t maximum = LoadAt<uint32_t>(maxima, size_t{i} * 4);
    if (width > 32 || maximum >= bounds.row_count) return false;
    if (next >= bounds.wanted.high) return true;
    const std::string_view packed = reader.Bytes(PackedBytes(count, width));
    if (!reader.ok() || !TailIsZero(packed, size_t{count} * width)) return false;
    if (maximum < bounds.wanted.low) {
      if (maximum < next) return false;
      next = uint64_t{maximum} + 1;
      continue;
    }
    const size_t before = out->size();
    out->resize(before + count);
    next = Unpack(packed, width, std::span(*out).subspan(before), next);
    if (next != uint64_t{maximum} + 1) return false;
    const bool is_edge = (*out)[before] < bounds.wanted.low || maximum >= bounds.wanted.high;
    if (is_edge) KeepWanted(bounds.wanted, before, out);
  }
  return reader.done();
}

uint64_t BlockedHeadersBytes(uint32_t count) { return uint64_t{BlockCount(count)} * 5; }

bool ReadBlockedChunks(ListBounds bounds, uint64_t size_bytes, std::string_view front,
                       std::vector<ListChunk>* chunks) {
  const uint32_t blocks = BlockCount(bounds.count);
  ByteReader reader(front);
  const std::string_view maxima = reader.Bytes(size_t{blocks} * 4);
  const std::string_view widths = reader.Bytes(blocks);
  if (!reader.ok() || bounds.count > bounds.row_count) return false;
  chunks->reserve(chunks->size() + blocks);
  uint64_t low = 0, offset = reader.offset();
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t before = i * kPostingsBlockRows;
    const uint32_t count = std::min(kPostingsBlockRows, bounds.count - before);
    const auto width = static_cast<uint8_t>(widths[i]);
    const uint32_t maximum = LoadAt<uint32_t>(maxima, size_t{i} * 4);
    if (width > 32 || maximum < low || maximum >= bounds.row_count) return false;
    const uint64_t size = PackedBytes(count, width);
    chunks->push_back({.low = static_cast<uint32_t>(low),
                       .before = before,
                       .count = count,
                       .offset = offset,
                       .size_bytes = size,
                       .width = width});
    low = uint64_t{maximum} + 1;
    offset += size;
  }
  return offset == size_bytes;
}

bool ReadBlockedChunk(const ListChunk& chunk, std::string_view bytes, std::vector<uint32_t>* out) {
  const size_t bits = size_t{chunk.count} * chunk.width;
  if (bytes.size() != chunk.size_bytes || !TailIsZero(bytes, bits)) return false;
  const size_t before = out->size();
  out->resize(before + chunk.count);
  const uint64_t next = Unpack(bytes, chunk.width, std::span(*out).subspan(before), chunk.low);
  return next <= uint64_t{std::numeric_limits<uint32_t>::max()} + 1;
}

void AppendListPlace(const ListPlace& place, std::string* out) {
  AppendU8(out, static_cast<uint8_t>(place.form));
  AppendVarint(out, place.position);
  AppendVarint(out, place.size_bytes);
}

bool ReadListPlace(ListBounds bounds, ByteReader* reader, ListPlace* place) {
  place->form = static_cast<ListForm>(reader->U8());
  place->position = reader->Varint();
  place->size_bytes = reader->Varint();
  const bool known = place->form == ListForm::kBlocked || place->form == ListForm::kRoaring;
  return reader->ok() && known && bounds.count <= bounds.row_count &&
         place->size_bytes <= ListBytesMax(place->form, bounds);
}

}  // namespace tandem::format
