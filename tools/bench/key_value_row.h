// Rows of W1 for engines of plain keys and values: the row as one value, and an index entry
// (column, value, row key) for each of the three indexes.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "tools/bench/workload.h"

namespace tandem::bench {

inline constexpr size_t kKeyBytes = 16;  ///< Of a row key, which ends every index entry.

/// Each column's length in two bytes, then its bytes. `*value` is overwritten.
inline void EncodeRow(const W1Row& row, std::string* value) {
  value->clear();
  for (const auto* column : {&row.city, &row.payload, &row.status, &row.ts}) {
    value->push_back(static_cast<char>(column->size() & 0xff));
    value->push_back(static_cast<char>(column->size() >> 8));
    value->append(*column);
  }
}

inline void ConsumeRow(std::string_view value, Consumer* consumer) {
  ++consumer->rows;
  size_t at = 0;
  while (at + 2 <= value.size()) {
    const size_t length = static_cast<uint8_t>(value[at]) | static_cast<uint8_t>(value[at + 1])
                                                                << 8;
    consumer->Value(value.substr(at + 2, length));
    at += 2 + length;
  }
}

inline std::array<std::string, 3> IndexEntries(const W1Row& row) {
  return {'c' + row.city + '\0' + row.key, 's' + row.status + '\0' + row.key,
          't' + row.ts + row.key};
}

/// The index entries [low, high) of a value of city or status.
inline std::pair<std::string, std::string> EntriesOf(const std::string& column,
                                                     const std::string& value) {
  return {column[0] + value + '\0', column[0] + value + '\1'};
}

}  // namespace tandem::bench
