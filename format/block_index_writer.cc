// Separators and pieces of the block index.
#include "format/block_index_writer.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/coding.h"
#include "format/head_search.h"

namespace tandem::format {
namespace {

constexpr size_t kPieceKeyBytesMax = 1024 * 1024;

}  // namespace

void BlockIndexWriter::Add(uint32_t first, std::string_view key_before,
                           std::string_view first_key) {
  std::string_view separator = first_key;
  if (!entries_.empty()) {
    separator = first_key.substr(0, CommonPrefix(key_before, first_key) + 1);
  }
  separators_.append(separator);
  entries_.push_back({{}, first, separators_.size()});
}

Status BlockIndexWriter::Write(FamilyId owner, SectionWriter* out) const {
  RETURN_IF_ERROR(out->Begin(SectionKind::kBlockIndex, owner.value));
  for (size_t begin = 0; begin < entries_.size();) {
    const size_t end = PieceEnd(begin);
    const std::string raw = EncodePiece(begin, end);
    BlockContent content{.kind = BlockKind::kBlockIndex, .raw = raw};
    content.count = static_cast<uint32_t>(end - begin);
    content.first = static_cast<uint32_t>(begin);
    RETURN_IF_ERROR(out->Append(content).status());
    begin = end;
  }
  return out->End(entries_.size());
}

std::string_view BlockIndexWriter::Separator(size_t entry) const {
  const size_t begin = entry == 0 ? 0 : entries_[entry - 1].separator_end;
  return std::string_view(separators_).substr(begin, entries_[entry].separator_end - begin);
}

size_t BlockIndexWriter::PieceEnd(size_t begin) const {
  const size_t limit = std::min(entries_.size(), begin + kBlockIndexPieceEntriesMax);
  size_t key_bytes = 0;
  size_t end = begin;
  while (end < limit && key_bytes < kPieceKeyBytesMax) key_bytes += Separator(end++).size();
  return end;
}

std::string BlockIndexWriter::EncodePiece(size_t begin, size_t end) const {
  const size_t prefix_bytes = CommonPrefix(Separator(begin), Separator(end - 1));
  std::string raw;
  AppendU16(&raw, static_cast<uint16_t>(prefix_bytes));
  raw.append(kBlockIndexFixedBytes - raw.size(), '\0');
  for (size_t i = begin; i < end; ++i) AppendU64(&raw, KeyHead(Separator(i).substr(prefix_bytes)));
  for (size_t i = begin; i < end; ++i) AppendU64(&raw, entries_[i].handle.offset);
  for (size_t i = begin; i < end; ++i) AppendU32(&raw, entries_[i].handle.stored_bytes);
  for (size_t i = begin; i < end; ++i) AppendU32(&raw, entries_[i].first);
  std::string heap;
  for (size_t i = begin; i < end; ++i) {
    heap.append(Separator(i).substr(prefix_bytes));
    AppendU32(&raw, static_cast<uint32_t>(heap.size()));
  }
  raw.append(Separator(begin).substr(0, prefix_bytes));
  raw.append(heap);
  return raw;
}

}  // namespace tandem::format
