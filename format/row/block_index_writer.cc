// Separators, pieces and the top of the block index.
#include "format/row/block_index_writer.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/coding.h"
#include "format/key_head.h"

namespace tandem::format {
namespace {

size_t PrefixOf(std::span<const SeparatorEntry> entries) {
  return CommonPrefix(entries.front().separator, entries.back().separator);
}

// The part common to pieces and tops, from the heads on.
void AppendTable(std::span<const SeparatorEntry> entries, std::string* raw) {
  const size_t prefix = PrefixOf(entries);
  for (const SeparatorEntry& entry : entries)
    AppendU64(raw, KeyHead(entry.separator.substr(prefix)));
  for (const SeparatorEntry& entry : entries) AppendU64(raw, entry.handle.offset);
  for (const SeparatorEntry& entry : entries) AppendU32(raw, entry.handle.stored_bytes);
  for (const SeparatorEntry& entry : entries) AppendU32(raw, entry.first);
  size_t end = 0;
  for (const SeparatorEntry& entry : entries) {
    end += entry.separator.size() - prefix;
    AppendU32(raw, static_cast<uint32_t>(end));
  }
  raw->append(entries.front().separator.substr(0, prefix));
  for (const SeparatorEntry& entry : entries) raw->append(entry.separator.substr(prefix));
}

}  // namespace

std::string EncodeIndexPiece(std::span<const SeparatorEntry> entries) {
  std::string raw;
  AppendU16(&raw, static_cast<uint16_t>(PrefixOf(entries)));
  raw.append(kBlockIndexFixedBytes - raw.size(), '\0');
  AppendTable(entries, &raw);
  return raw;
}

std::string EncodeIndexTop(std::span<const SeparatorEntry> pieces, std::span<const TopEntry> tops,
                           uint32_t bits) {
  std::string raw;
  AppendU16(&raw, static_cast<uint16_t>(PrefixOf(pieces)));
  AppendU8(&raw, static_cast<uint8_t>(bits));
  raw.append(kBlockIndexFixedBytes - raw.size(), '\0');
  for (const TopEntry& top : tops) AppendU64(&raw, top.data_offset);
  for (const TopEntry& top : tops) AppendU64(&raw, top.data_bytes);
  AppendTable(pieces, &raw);
  return raw;
}

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
  Top top;
  RETURN_IF_ERROR(out->Begin(SectionKind::kBlockIndex, owner.value));
  for (size_t begin = 0; begin < entries_.size();) {
    const size_t end = std::min(entries_.size(), begin + (size_t{1} << kBlockIndexPieceBits));
    RETURN_IF_ERROR(WritePiece(begin, end, out, &top));
    begin = end;
  }
  RETURN_IF_ERROR(out->End(entries_.size()));
  if (top.pieces.size() < 2) return {};
  const std::string raw = EncodeIndexTop(top.pieces, top.entries, kBlockIndexPieceBits);
  if (raw.size() > kBlockRawBytesMax) return {};
  BlockContent content{.kind = BlockKind::kBlockIndexTop, .raw = raw};
  content.count = static_cast<uint32_t>(top.pieces.size());
  RETURN_IF_ERROR(out->Begin(SectionKind::kBlockIndexTop, owner.value));
  RETURN_IF_ERROR(out->Append(content).status());
  return out->End(top.pieces.size());
}

Status BlockIndexWriter::WritePiece(size_t begin, size_t end, SectionWriter* out, Top* top) const {
  std::vector<SeparatorEntry> entries;
  uint64_t data_bytes = top->entries.empty() ? 0 : top->entries.back().data_bytes;
  for (size_t i = begin; i < end; ++i) {
    entries.push_back({Separator(i), entries_[i].handle, entries_[i].first});
    data_bytes += entries_[i].handle.stored_bytes;
  }
  const std::string raw = EncodeIndexPiece(entries);
  BlockContent content{.kind = BlockKind::kBlockIndex, .raw = raw};
  content.count = static_cast<uint32_t>(end - begin);
  content.first = static_cast<uint32_t>(begin);
  ASSIGN_OR_RETURN(const BlockHandle handle, out->Append(content));
  top->pieces.push_back({entries.front().separator, handle, entries.front().first});
  top->entries.push_back({entries.front().handle.offset, data_bytes});
  return {};
}

std::string_view BlockIndexWriter::Separator(size_t entry) const {
  const size_t begin = entry == 0 ? 0 : entries_[entry - 1].separator_end;
  return std::string_view(separators_).substr(begin, entries_[entry].separator_end - begin);
}

}  // namespace tandem::format
