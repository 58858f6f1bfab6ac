// Rows of W1 for engines of plain keys and values: the row as one value, and for each index an
// entry (column, value, row key), whose own value is what the index covers.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "tools/bench/peer.h"

namespace tandem::bench {

inline constexpr size_t kKeyBytes = 16;  ///< Of a row key, which ends every index entry.

/// Columns in the order in which a value holds them.
struct RowColumns {
  std::string_view city, payload, status, ts;
};

/// Each column's length in two bytes, then its bytes. `*value` is overwritten.
inline void EncodeRow(const RowColumns& row, std::string* value) {
  value->clear();
  for (const std::string_view column : {row.city, row.payload, row.status, row.ts}) {
    value->push_back(static_cast<char>(column.size() & 0xff));
    value->push_back(static_cast<char>(column.size() >> 8));
    value->append(column);
  }
}

inline void EncodeRow(const W1Row& row, std::string* value) {
  EncodeRow(RowColumns{row.city, row.payload, row.status, row.ts}, value);
}

/// Views into `value`.
inline RowColumns DecodeRow(std::string_view value) {
  RowColumns row;
  for (std::string_view* column : {&row.city, &row.payload, &row.status, &row.ts}) {
    const size_t length = static_cast<uint8_t>(value[0]) | static_cast<uint8_t>(value[1]) << 8;
    *column = value.substr(2, length);
    value.remove_prefix(2 + length);
  }
  return row;
}

inline void ConsumeRow(std::string_view value, Consumer* consumer) {
  ++consumer->rows;
  const RowColumns row = DecodeRow(value);
  for (const std::string_view column : {row.city, row.payload, row.status, row.ts})
    consumer->Value(column);
}

/// Consumes the row when its city or status equals `wanted`.
inline void ConsumeMatch(std::string_view value, std::string_view column, std::string_view wanted,
                         Consumer* consumer) {
  const RowColumns row = DecodeRow(value);
  if ((column == "city" ? row.city : row.status) == wanted) ConsumeRow(value, consumer);
}

/// The entry of a city or status.
inline std::string IndexEntry(char column, std::string_view value, std::string_view key) {
  return std::string(1, column).append(value).append(1, '\0').append(key);
}

inline std::string CityTimeEntry(std::string_view city, std::string_view ts, std::string_view key) {
  return IndexEntry('b', city, ts).append(key);
}

inline std::string TimeEntry(const W1Row& row) { return 't' + row.ts + row.key; }

/// Calls `use(entry, covered)` for each entry of the row.
template <typename Use>
void ForEachEntry(IndexSet indexes, const W1Row& row, Use use) {
  switch (indexes) {
    case IndexSet::kNone:
      return;
    case IndexSet::kThree:
      use(IndexEntry('c', row.city, row.key), "");
      use(IndexEntry('s', row.status, row.key), "");
      use(TimeEntry(row), "");
      return;
    case IndexSet::kCity:
      return use(IndexEntry('c', row.city, row.key), "");
    case IndexSet::kCityTime:
      return use(CityTimeEntry(row.city, row.ts, row.key), "");
    case IndexSet::kCityCoversStatus:
      return use(IndexEntry('c', row.city, row.key), row.status);
    case IndexSet::kTime:
      return use(TimeEntry(row), "");
    case IndexSet::kUniqueTime:
      return use('t' + row.ts, row.key);
  }
}

/// The index entries [low, high) of a value of city or status.
inline std::pair<std::string, std::string> EntriesOf(const std::string& column,
                                                     const std::string& value) {
  return {column[0] + value + '\0', column[0] + value + '\1'};
}

/// Those of a city and low <= ts < high in the index over both.
inline std::pair<std::string, std::string> CityTimeEntries(const std::string& city,
                                                           const std::string& low,
                                                           const std::string& high) {
  return {CityTimeEntry(city, low, ""), CityTimeEntry(city, high, "")};
}

inline void ConsumeStatus(std::string_view status, Consumer* consumer) {
  ++consumer->rows;
  consumer->Value(status);
}

/// The status of a row that was read.
inline void ConsumeStatusOf(std::string_view row, Consumer* consumer) {
  ConsumeStatus(DecodeRow(row).status, consumer);
}

/// Values of a unique index that are being inserted. Whoever looks for a value and then inserts it
/// has locked it meanwhile, beside other writers of other values. Threads: any.
class ValueLocks {
 public:
  std::unique_lock<std::mutex> Lock(std::string_view value) {
    return std::unique_lock(mutexes_[std::hash<std::string_view>()(value) % mutexes_.size()]);
  }

 private:
  std::array<std::mutex, 256> mutexes_;
};

/// What an update does to the entries of the row's old values: calls `replace(old entry, new
/// entry)` for each value that changes.
template <typename Replace>
void ReplaceEntries(const RowColumns& old, const W1Update& update, Replace replace) {
  if (old.city != update.city) {
    replace(IndexEntry('c', old.city, update.key), IndexEntry('c', update.city, update.key));
  }
  if (old.status != update.status) {
    replace(IndexEntry('s', old.status, update.key), IndexEntry('s', update.status, update.key));
  }
}

}  // namespace tandem::bench
