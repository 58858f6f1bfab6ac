// A row's hash is that of its first piece, then of the hash so far and the next piece.
#include "engine/verify/row_hashes.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/coding.h"
#include "format/hash.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

void AppendPiece(const RowView& row, std::string* bytes) {
  format::AppendLengthPrefixed(bytes, row.key());
  for (const Cell& cell : row.cells()) {
    format::AppendLengthPrefixed(bytes, cell.family);
    format::AppendLengthPrefixed(bytes, cell.qualifier);
    format::AppendU64(bytes, static_cast<uint64_t>(cell.timestamp));
    format::AppendLengthPrefixed(bytes, cell.value);
  }
}

}  // namespace

format::Hash128 HashOfWhole(const RowView& row) {
  std::string bytes;
  AppendPiece(row, &bytes);
  return format::HashOf128(bytes);
}

Result<bool> RowHashes::Next() {
  RowView piece;
  ASSIGN_OR_RETURN(bool more, rows_.Next(&piece));
  if (!more) return false;
  row_.key = piece.key();
  row_.pieces = 0;
  row_.more_values.clear();
  row_.values.assign(columns_.size(), std::nullopt);
  has_newest_.assign(columns_.size(), false);
  of_families_.assign(columns_.size(), {});
  last_qualifiers_.assign(columns_.size(), std::nullopt);
  while (true) {
    RETURN_IF_ERROR(Add(piece));
    if (!piece.continues()) {
      NoteFamilies();
      return true;
    }
    ASSIGN_OR_RETURN(more, rows_.Next(&piece));
    if (!more || piece.key() != row_.key) {
      return Status::Corruption("a row ends before its last piece");
    }
  }
}

Status RowHashes::Add(const RowView& piece) {
  std::string bytes;
  if (row_.pieces++ > 0) {
    format::AppendU64(&bytes, row_.hash.low);
    format::AppendU64(&bytes, row_.hash.high);
  }
  AppendPiece(piece, &bytes);
  row_.hash = format::HashOf128(bytes);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (has_newest_[i]) continue;
    const format::IndexColumnRecord& column = columns_[i].record;
    if (column.is_of_family()) {
      AddFamily(i, piece);
      continue;
    }
    std::string_view value = piece.key();
    int64_t timestamp = 0;
    if (!column.is_of_row_key()) {
      const auto newest = std::ranges::find_if(piece.cells(), [&](const Cell& cell) {
        return cell.family == columns_[i].family && cell.qualifier == column.qualifier;
      });
      if (newest == piece.cells().end()) continue;
      value = newest->value;
      timestamp = newest->timestamp;
    }
    has_newest_[i] = true;
    const std::span<const std::string_view> keys = keys_.Of(column, value, timestamp);
    for (const std::string_view key : keys.subspan(std::min<size_t>(1, keys.size()))) {
      row_.more_values.emplace_back(i, key);
    }
    if (!keys.empty()) {
      row_.values[i] = keys.front();
    } else if (column.type == ColumnType::kBytes) {
      row_.values[i] = format::BoundKey(column, value);
    }
  }
  return {};
}

void RowHashes::AddFamily(size_t which, const RowView& piece) {
  std::optional<std::string>& last = last_qualifiers_[which];
  for (const Cell& cell : piece.cells()) {
    if (cell.family != columns_[which].family || last == cell.qualifier) continue;
    last = cell.qualifier;
    format::Cell put;
    put.qualifier = cell.qualifier;
    put.value = cell.value;
    put.timestamp = cell.timestamp;
    for (const std::string_view key : keys_.Of(columns_[which].record, put)) {
      of_families_[which].emplace(key);
    }
  }
}

void RowHashes::NoteFamilies() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    for (const std::string& key : of_families_[i]) {
      if (!row_.values[i].has_value()) {
        row_.values[i] = key;
      } else {
        row_.more_values.emplace_back(i, key);
      }
    }
  }
}

}  // namespace tandem::engine
