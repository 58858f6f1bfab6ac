// Chunks are written as they fill, the head at the end. Only the fences of chunks are kept in
// memory, at most kFencesMax, so memory does not grow with the row.
#include "format/row/wide_row_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/cell/overflow_value.h"
#include "format/coding.h"
#include "format/row/chunk.h"
#include "format/row/wide_head.h"

namespace tandem::format {
namespace {

// A fence that owns its name.
struct KeptFence {
  BlockHandle chunk;
  std::string qualifier;
  int64_t timestamp = 0;
  uint64_t sequence = 0;
};

// The fences of chunks 0, 2^stride, 2 * 2^stride, ...
class Fences {
 public:
  // Keeps the fence of chunk `number` if it is one of those. Requires: numbers ascend by 1.
  void Add(uint32_t number, KeptFence fence) {
    if ((number & ((1u << stride_) - 1)) != 0) return;
    if (kept_.size() == kFencesMax) {
      DropEverySecond();
      if ((number & ((1u << stride_) - 1)) != 0) return;
    }
    kept_.push_back(std::move(fence));
  }
  const std::vector<KeptFence>& kept() const { return kept_; }
  uint32_t stride() const { return stride_; }
  void Append(std::string* raw) const;

 private:
  void DropEverySecond() {
    for (size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = std::move(kept_[2 * i]);
    kept_.resize((kept_.size() + 1) / 2);
    ++stride_;
  }

  std::vector<KeptFence> kept_;
  uint32_t stride_ = 0;
};

void Fences::Append(std::string* raw) const {
  uint32_t name_end = 0;
  for (const KeptFence& fence : kept_) {
    name_end += static_cast<uint32_t>(fence.qualifier.size());
    AppendU64(raw, fence.chunk.offset);
    AppendU64(raw, static_cast<uint64_t>(fence.timestamp));
    AppendU64(raw, fence.sequence);
    AppendU32(raw, fence.chunk.stored_bytes);
    AppendU32(raw, name_end);
  }
  for (const KeptFence& fence : kept_) raw->append(fence.qualifier);
}

// The DeleteFamily markers of a row, as the head holds them.
struct EncodedMarkers {
  uint64_t base_timestamp = 0;
  uint64_t base_sequence = 0;
  std::string bytes;
};

EncodedMarkers EncodeMarkers(std::span<const Cell> deletes) {
  EncodedMarkers markers;
  if (deletes.empty()) return markers;
  // Sorted: the last one is the oldest.
  markers.base_timestamp = static_cast<uint64_t>(deletes.back().timestamp);
  markers.base_sequence = deletes.front().sequence.value;
  for (const Cell& marker : deletes) {
    markers.base_sequence = std::min(markers.base_sequence, marker.sequence.value);
  }
  for (const Cell& marker : deletes) {
    AppendVarint(&markers.bytes, static_cast<uint64_t>(marker.timestamp) - markers.base_timestamp);
    AppendVarint(&markers.bytes, marker.sequence.value - markers.base_sequence);
  }
  return markers;
}

}  // namespace

struct WideRowWriter::Impl {
  Status EndChunk();
  std::string EncodeHead(std::span<const Cell> deletes) const;

  std::string key;
  uint64_t key_hash;
  uint32_t position;
  Compression compression;
  SectionWriter* out;
  ChunkBuilder chunk = {};
  Fences fences = {};
  WideRowTotals totals = {};
  std::string raw = {};  // Of the block being written.
};

WideRowWriter::WideRowWriter(std::string_view key, uint64_t key_hash, uint32_t position,
                             Compression compression, SectionWriter* out)
    : impl_(std::make_unique<Impl>(Impl{std::string(key), key_hash, position, compression, out})) {}

WideRowWriter::~WideRowWriter() = default;

Status WideRowWriter::Add(std::span<const Cell> cells) {
  Impl& impl = *impl_;
  for (const Cell& cell : cells) {
    if (cell.value.size() > kInlineValueBytesMax) {
      return Status::InvalidArgument("a value of " + std::to_string(cell.value.size()) +
                                     " bytes within a chunk; the limit kInlineValueBytesMax is " +
                                     std::to_string(kInlineValueBytesMax));
    }
    if (impl.chunk.IsFullFor(cell)) RETURN_IF_ERROR(impl.EndChunk());
    impl.chunk.Add(cell);
    ASSIGN_OR_RETURN(const uint64_t value_bytes, ValueBytes(cell));
    ++impl.totals.cells;
    impl.totals.bytes += cell.qualifier.size() + value_bytes;
  }
  return {};
}

Status WideRowWriter::Impl::EndChunk() {
  const Cell first = chunk.first();
  KeptFence fence{{}, std::string(first.qualifier), first.timestamp, first.sequence.value};
  BlockContent content{.kind = BlockKind::kChunk, .compression = compression};
  content.count = chunk.cell_count();
  content.first = position;
  chunk.Finish(key_hash, totals.chunks, &raw);
  content.raw = raw;
  ASSIGN_OR_RETURN(fence.chunk, out->Append(content));
  if (totals.chunks == 0) totals.first_chunk = fence.chunk.offset;
  fences.Add(totals.chunks, std::move(fence));
  ++totals.chunks;
  return {};
}

Result<BlockHandle> WideRowWriter::Finish(std::span<const Cell> deletes) {
  Impl& impl = *impl_;
  if (impl.chunk.cell_count() > 0) RETURN_IF_ERROR(impl.EndChunk());
  CHECK(impl.totals.cells > 0 || !deletes.empty());
  impl.raw = impl.EncodeHead(deletes);
  if (impl.raw.size() > kBlockRawBytesMax) {
    return Status::Unsupported("a row with " + std::to_string(deletes.size()) +
                               " deletes of all of a family: more than a block holds");
  }
  BlockContent content{.kind = BlockKind::kWideHead, .raw = impl.raw};
  content.count = 1;
  content.first = impl.position;
  content.compression = impl.compression;
  return impl.out->Append(content);
}

std::string WideRowWriter::Impl::EncodeHead(std::span<const Cell> deletes) const {
  const EncodedMarkers markers = EncodeMarkers(deletes);
  std::string head;
  AppendU64(&head, markers.base_timestamp);
  AppendU64(&head, markers.base_sequence);
  AppendU64(&head, key_hash);
  AppendU64(&head, totals.cells);
  AppendU64(&head, totals.bytes);
  AppendU64(&head, totals.first_chunk);
  AppendU32(&head, totals.chunks);
  AppendU32(&head, static_cast<uint32_t>(fences.kept().size()));
  AppendU32(&head, static_cast<uint32_t>(deletes.size()));
  AppendU16(&head, static_cast<uint16_t>(key.size()));
  AppendU8(&head, static_cast<uint8_t>(fences.stride()));
  AppendU8(&head, 0);
  CHECK(head.size() == kWideHeadFixedBytes);
  fences.Append(&head);
  head.append(key);
  head.append(markers.bytes);
  return head;
}

}  // namespace tandem::format
