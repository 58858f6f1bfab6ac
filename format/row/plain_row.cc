// Decoding plain rows straight into what a read returns: the hot path of scans and queries. A row
// that it does not take is left to RowBlock::Cells, which also says what is wrong with a malformed
// one.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "format/cell/column_places.h"
#include "format/row/row_block.h"
#include "format/row/row_fields.h"
#include "tandem/limits.h"

namespace tandem::format {

template <bool kAll>
bool RowBlock::DecodePlain(ByteReader* row, const Projection& columns, std::string_view family,
                           PodArray<tandem::Cell>* out) const {
  const Dictionary& names = columns.names();
  RowVersions versions(base_timestamp_, base_sequence_, row);
  return ForEachPlainCell(
      row, &versions, names,
      [&](uint32_t id, std::string_view name, const RowVersions& of_cell, std::string_view value) {
        if (!kAll && !(id == 0 ? columns.WantsName(name) : columns.WantsId(id))) {
          return true;
        }
        // In place: reading back a temporary would stall on its pending stores.
        tandem::Cell& cell = *out->Extend(1);
        cell.family = family;
        cell.qualifier = id == 0 ? name : names.Name(id);
        cell.timestamp = of_cell.timestamp();
        cell.value = value;
        return true;
      });
}

bool RowBlock::AppendPlain(uint32_t slot, const Projection& columns, std::string_view family,
                           PodArray<tandem::Cell>* out) const {
  if (is_wide()) return false;
  ByteReader row(RowBytes(slot));
  (void)ReadKeyTail(&row);
  return columns.all() ? DecodePlain<true>(&row, columns, family, out)
                       : DecodePlain<false>(&row, columns, family, out);
}

// Reads the key's tail and appends the key. False: it is malformed. Whole words are copied and what
// is too much is cut off: cheaper than lengths that vary.
[[gnu::always_inline]] inline bool RowBlock::AppendKeyOf(uint32_t slot, ByteReader* row,
                                                         PodArray<char>* keys) const {
  const KeyTail tail = ReadKeyTail(row);
  if (!row->ok() || prefix_.size() + tail.suffix_bytes > kRowKeyBytesMax) return false;
  const size_t begin = keys->size(), prefix_bytes = prefix_.size();
  char* to =
      keys->Extend(std::max(prefix_bytes, prefix_copy_.size()) + kRowHeadBytes + tail.tail.size());
  if (prefix_bytes <= prefix_copy_.size()) {
    std::memcpy(to, prefix_copy_.data(), prefix_copy_.size());
  } else {
    std::memcpy(to, prefix_.data(), prefix_bytes);
  }
  to += prefix_bytes;
  const uint64_t head = __builtin_bswap64(Head(slot));
  std::memcpy(to, &head, kRowHeadBytes);
  if (!tail.tail.empty()) std::memcpy(to + kRowHeadBytes, tail.tail.data(), tail.tail.size());
  keys->Truncate(begin + prefix_bytes + tail.suffix_bytes);
  return true;
}

bool RowBlock::AppendPlainRow(uint32_t slot, const Projection& columns, std::string_view family,
                              PodArray<char>* keys, PodArray<tandem::Cell>* out) const {
  if (is_wide()) return false;
  ByteReader row(RowBytes(slot));
  if (!AppendKeyOf(slot, &row, keys)) return false;
  return columns.all() ? DecodePlain<true>(&row, columns, family, out)
                       : DecodePlain<false>(&row, columns, family, out);
}

bool RowBlock::AppendKey(uint32_t slot, PodArray<char>* keys) const {
  if (is_wide()) {
    const std::string_view key = wide_->key();
    std::memcpy(keys->Extend(key.size()), key.data(), key.size());
    return true;
  }
  ByteReader row(RowBytes(slot));
  return AppendKeyOf(slot, &row, keys);
}

bool RowBlock::FindPlain(uint32_t slot, const ColumnPlaces& columns,
                         std::span<std::string_view> values) const {
  if (is_wide()) return false;
  std::fill(values.begin(), values.end(), std::string_view());
  ByteReader row(RowBytes(slot));
  (void)ReadKeyTail(&row);
  size_t left = values.size();
  RowVersions versions(base_timestamp_, base_sequence_, &row);
  return ForEachPlainCell(
      &row, &versions, columns.names(),
      [&](uint32_t id, std::string_view name, const RowVersions&, std::string_view value) {
        const size_t place = id == 0 ? columns.Find(name) : columns.Of(id);
        if (place == ColumnPlaces::kNone) return true;
        values[place] = value;
        return --left > 0;
      });
}

}  // namespace tandem::format
