// W1 as Tandem keeps it, for every measurement that uses its API.
#pragma once

#include <tandem/tandem.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/peer.h"
#include "tools/bench/workload.h"

namespace tandem::bench {

inline void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

/// On city, on status and on ts.
inline std::vector<IndexOptions> ThreeIndexes() {
  return {{"city", {{"d", "city"}}},
          {"status", {{"d", "status"}}},
          {"ts", {{"d", "ts", ColumnType::kUint64Be}}}};
}

/// The number that eight big-endian bytes are.
inline uint64_t NumberOf(const std::string& big_endian) {
  uint64_t value = 0;
  for (const char byte : big_endian) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

/// low <= ts < high.
inline Predicate TimesBetween(const std::string& low, const std::string& high) {
  return Predicate::Between("ts", std::to_string(NumberOf(low)),
                            std::to_string(NumberOf(high) - 1));
}

inline void AddRow(const std::string& table, const W1Row& row, WriteBatch* batch) {
  const ColumnValue columns[] = {
      {"city", row.city}, {"payload", row.payload}, {"status", row.status}, {"ts", row.ts}};
  batch->PutColumns(table, row.key, "d", columns);
}

}  // namespace tandem::bench
