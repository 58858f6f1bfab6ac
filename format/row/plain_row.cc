// Decoding plain rows straight into what a read returns: the hot path of scans and queries. A row
// that it does not take is left to RowBlock::Cells, which also says what is wrong with a malformed
// one.
#include <algorithm>

#include "format/row/row_block.h"
#include "format/row/row_fields.h"

namespace tandem::format {

bool RowBlock::AppendPlain(uint32_t slot, const Projection& columns, std::string_view family,
                           std::vector<tandem::Cell>* out) const {
  if (is_wide()) return false;
  return columns.all() ? DecodePlain<true>(slot, columns, family, out)
                       : DecodePlain<false>(slot, columns, family, out);
}

template <bool kAll>
bool RowBlock::DecodePlain(uint32_t slot, const Projection& columns, std::string_view family,
                           std::vector<tandem::Cell>* out) const {
  constexpr uint8_t kVersionFlags = kCellSameTimestamp | kCellSameSequence;
  ByteReader row(RowBytes(slot));
  (void)ReadKeyTail(&row);
  RowVersions versions(base_timestamp_, base_sequence_, &row);
  if (!versions.is_plain() || row.remaining() == 0) return false;
  RowColumn column;
  while (row.remaining() > 0) {
    const uint8_t flags = row.U8();
    if ((flags & ~kVersionFlags) != 0) return false;  // Not a Put of the next column, near by.
    column.Read<kAll>(columns, &row);
    versions.Read(flags, &row);
    const std::string_view value = row.LengthPrefixed();
    if (!kAll && !column.wanted) continue;
    tandem::Cell& cell = out->emplace_back();
    cell.family = family;
    cell.qualifier = column.name;
    cell.timestamp = versions.timestamp();
    cell.value = value;
  }
  return row.ok();
}

}  // namespace tandem::format
