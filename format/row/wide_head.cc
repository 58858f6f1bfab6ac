// A head is checked once when it is parsed, so that its fences can be searched without further
// checks.
#include "format/row/wide_head.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/corruption.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr size_t kFenceTimestampAt = 8, kFenceSequenceAt = 16, kFenceStoredAt = 24,
                 kFenceEndAt = 28;
constexpr size_t kMarkerBytesMin = 2;

// Whether the first cell of the chunk of `a` may come before that of `b`.
bool InOrder(const Fence& a, const Fence& b) {
  const int order = a.qualifier.compare(b.qualifier);
  if (order != 0) return order < 0;
  if (a.timestamp != b.timestamp) return a.timestamp > b.timestamp;
  return a.sequence >= b.sequence;
}

}  // namespace

Result<WideHead> WideHead::Parse(const Block& block, FamilyId family, uint64_t first_sequence) {
  if (block.count != 1 || block.flags != 0) return block.Corrupt("head of a wide row: wrong count");
  WideHead head;
  head.family_ = family;
  ByteReader reader(block.raw());
  head.base_timestamp_ = reader.U64();
  head.base_sequence_ = reader.U64() + first_sequence;
  head.first_sequence_ = first_sequence;
  head.key_hash_ = reader.U64();
  head.totals_.cells = reader.U64();
  head.totals_.bytes = reader.U64();
  head.totals_.first_chunk = reader.U64();
  head.totals_.chunks = reader.U32();
  head.fence_count_ = reader.U32();
  head.marker_count_ = reader.U32();
  const uint16_t key_bytes = reader.U16();
  head.stride_ = reader.U8();
  const uint8_t zero = reader.U8();
  if (!reader.ok() || zero != 0 || key_bytes == 0 || head.stride_ > kStrideMax) {
    return block.Corrupt("head of a wide row is malformed");
  }
  const uint64_t step = uint64_t{1} << head.stride_;
  const uint64_t fences = (head.totals_.chunks + step - 1) >> head.stride_;
  if (head.fence_count_ > kFencesMax || head.fence_count_ != fences) {
    return block.Corrupt(Mismatch("fences of a wide row", fences, head.fence_count_));
  }
  if (head.totals_.chunks > head.totals_.cells ||
      (head.totals_.chunks == 0) != (head.totals_.cells == 0)) {
    return block.Corrupt("a wide row has other chunks than its cells need");
  }
  head.fences_ = reader.Bytes(fences * kFenceBytes);
  if (fences > 0 && reader.ok()) {
    head.names_ =
        reader.Bytes(LoadAt<uint32_t>(head.fences_, head.fences_.size() - sizeof(uint32_t)));
  }
  head.key_ = reader.Bytes(key_bytes);
  head.markers_ = reader.Bytes(reader.remaining());
  if (!reader.ok() || head.marker_count_ > head.markers_.size() / kMarkerBytesMin ||
      (head.marker_count_ == 0) != head.markers_.empty()) {
    return block.Corrupt("head of a wide row is shorter than its counts need");
  }
  if (head.marker_count_ == 0 && fences == 0) return block.Corrupt("a wide row without cells");
  RETURN_IF_ERROR(head.CheckFences(block));
  return head;
}

// Checks that names are within their bytes, that chunks ascend up to the head without overlapping,
// and that cells ascend.
Status WideHead::CheckFences(const Block& block) const {
  uint32_t name_begin = 0;
  uint64_t chunk_min = totals_.first_chunk;
  for (uint32_t i = 0; i < fence_count_; ++i) {
    const uint32_t name_end = LoadAt<uint32_t>(fences_, i * kFenceBytes + kFenceEndAt);
    if (name_end < name_begin || name_end - name_begin > kQualifierBytesMax ||
        name_end > names_.size()) {
      return block.Corrupt("names of the fences of a wide row do not fill their bytes");
    }
    name_begin = name_end;
    const Fence fence = FenceAt(i);
    const BlockHandle chunk = fence.chunk;
    if (chunk.offset < chunk_min || (i == 0 && chunk.offset != chunk_min) ||
        chunk.offset % kBlockAlignment != 0 || chunk.stored_bytes < kBlockHeaderBytes ||
        chunk.offset >= block.offset || chunk.stored_bytes > block.offset - chunk.offset) {
      return block.Corrupt("a fence of a wide row leads to " + std::to_string(chunk.offset) +
                           ", where its chunk cannot be");
    }
    chunk_min = BlockEnd(chunk);
    if (i > 0 && !InOrder(FenceAt(i - 1), fence)) {
      return block.Corrupt("fences of a wide row do not rise");
    }
  }
  if (fence_count_ == 0 && totals_.first_chunk != 0) {
    return block.Corrupt("a wide row without chunks says where the first one lies");
  }
  return {};
}

Fence WideHead::FenceAt(uint32_t i) const {
  const size_t at = size_t{i} * kFenceBytes;
  const uint32_t begin = i == 0 ? 0 : LoadAt<uint32_t>(fences_, at - sizeof(uint32_t));
  const uint32_t end = LoadAt<uint32_t>(fences_, at + kFenceEndAt);
  Fence fence;
  fence.chunk.offset = LoadAt<uint64_t>(fences_, at);
  fence.chunk.stored_bytes = LoadAt<uint32_t>(fences_, at + kFenceStoredAt);
  fence.timestamp = LoadAt<int64_t>(fences_, at + kFenceTimestampAt);
  fence.sequence =
      SequenceNumber(first_sequence_ + LoadAt<uint64_t>(fences_, at + kFenceSequenceAt));
  fence.qualifier = names_.substr(begin, end - begin);
  return fence;
}

Status WideHead::AppendFamilyDeletes(const Block& block, std::vector<Cell>* out) const {
  ByteReader reader(markers_);
  const size_t begin = out->size();
  out->reserve(begin + marker_count_);
  for (uint32_t i = 0; i < marker_count_; ++i) {
    Cell marker;
    marker.kind = CellKind::kDeleteFamily;
    marker.family = family_;
    marker.timestamp = static_cast<int64_t>(base_timestamp_ + reader.Varint());
    marker.sequence = SequenceNumber(base_sequence_ + reader.Varint());
    const bool in_order = i == 0 || !CellLess(marker, out->back());
    if (!reader.ok() || !in_order) return block.Corrupt("markers of a wide row are malformed");
    out->push_back(marker);
  }
  return reader.done() ? Status() : block.Corrupt("markers of a wide row are malformed");
}

}  // namespace tandem::format
