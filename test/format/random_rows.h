// Random rows for tests of the row side of the format: keys that share prefixes and hold 0x00 and
// 0xFF, columns that repeat, several versions, every kind of delete, empty and long values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "format/cell/cell.h"

namespace tandem::test {

/// A cell that owns its bytes.
struct OwnedCell {
  format::CellKind kind = format::CellKind::kPut;
  std::string qualifier;
  int64_t timestamp = 0;
  uint64_t sequence = 0;
  std::string value;
  uint8_t family = 0;
  bool operator==(const OwnedCell&) const = default;

  /// Lifetime: views into this.
  format::Cell View() const {
    return {kind,      format::FamilyId(family),         qualifier,
            timestamp, format::SequenceNumber(sequence), value};
  }
};

using OwnedRow = std::vector<OwnedCell>;
using Rows = std::map<std::string, OwnedRow>;

inline std::vector<format::Cell> Views(const OwnedRow& row) {
  std::vector<format::Cell> cells;
  for (const OwnedCell& cell : row) cells.push_back(cell.View());
  return cells;
}

inline OwnedRow Owned(const std::vector<format::Cell>& cells) {
  OwnedRow row;
  for (const format::Cell& cell : cells) {
    row.push_back({cell.kind, std::string(cell.qualifier), cell.timestamp, cell.sequence.value,
                   std::string(cell.value), cell.family.value});
  }
  return row;
}

inline void SortCells(OwnedRow* row) {
  std::sort(row->begin(), row->end(), [](const OwnedCell& a, const OwnedCell& b) {
    return format::CellLess(a.View(), b.View());
  });
}

class RandomRows {
 public:
  explicit RandomRows(uint64_t seed) : random_(seed) {}

  /// A number in [0, limit).
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string Key() {
    static const std::string kPrefixes[] = {"",
                                            "a",
                                            "user:",
                                            "user:0000",
                                            std::string(9, '\0'),
                                            std::string(12, '\xff'),
                                            std::string(700, 'p')};
    std::string key = kPrefixes[Below(std::size(kPrefixes))];
    const size_t size = Below(12) + (key.empty() ? 1 : 0);
    for (size_t i = 0; i < size; ++i) key.push_back("\0\1ab\xfe\xff"[Below(6)]);
    return key;
  }

  OwnedRow Row() {
    OwnedRow row;
    const uint64_t shape = Below(4);
    const int64_t timestamp = Timestamp();
    const uint64_t sequence = Below(1000000);
    const size_t count = 1 + Below(shape == 3 ? 40 : 6);
    for (size_t i = 0; i < count; ++i) {
      OwnedCell cell;
      const uint64_t kind = shape < 2 ? 0 : Below(8);
      cell.kind = static_cast<format::CellKind>(kind < 4 ? kind : 0);
      if (cell.kind != format::CellKind::kDeleteFamily) cell.qualifier = Qualifier();
      cell.timestamp = shape == 0 ? timestamp : Timestamp();
      cell.sequence = shape < 2 ? sequence : Below(1000000);
      if (cell.kind == format::CellKind::kPut) cell.value = Value();
      row.push_back(std::move(cell));
    }
    SortCells(&row);
    return row;
  }

  /// A row over those of `families` (ids with the percentage of the rows that have cells of them)
  /// that it happens to have; some row may come without cells.
  OwnedRow RowOver(const std::map<uint8_t, uint64_t>& families) {
    OwnedRow row;
    for (const auto& [family, percentage] : families) {
      if (Below(100) >= percentage) continue;
      for (OwnedCell& cell : Row()) {
        cell.family = family;
        const bool repeats = !row.empty() && !format::CellLess(row.back().View(), cell.View());
        if (!repeats) row.push_back(std::move(cell));
      }
    }
    return row;
  }

  /// As Many; a row that happened to get no cell is left out.
  Rows ManyOver(size_t count, const std::map<uint8_t, uint64_t>& families) {
    Rows rows;
    for (size_t i = 0; i < count; ++i) {
      OwnedRow row = RowOver(families);
      if (!row.empty()) rows[Key()] = std::move(row);
    }
    return rows;
  }

  Rows Many(size_t count) {
    Rows rows;
    while (rows.size() < count) rows[Key()] = Row();
    return rows;
  }

 private:
  int64_t Timestamp() {
    switch (Below(8)) {
      case 0:
        return INT64_MIN;
      case 1:
        return INT64_MAX;
      case 2:
        return -static_cast<int64_t>(Below(1000));
      default:
        return static_cast<int64_t>(1'700'000'000'000'000 + Below(1000));
    }
  }
  std::string Qualifier() {
    const uint64_t number = Below(30);
    if (number == 0) return "";
    if (number == 1) return std::string(2048, 'q');
    return "column" + std::to_string(number);
  }
  std::string Value() {
    const uint64_t shape = Below(20);
    if (shape == 0) return std::string(Below(5000), 'v');
    if (shape < 4) return "";
    std::string value(Below(30), '\0');
    for (char& byte : value) byte = static_cast<char>(Below(256));
    return value;
  }

  std::mt19937_64 random_;
};

}  // namespace tandem::test
