// W1 as Tandem keeps it, for every measurement that uses its API.
#pragma once

#include <tandem/tandem.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/peer.h"
#include "tools/bench/workload.h"

namespace tandem::bench {

/// The table of W1.
inline constexpr const char* kRowsTable = "rows";

inline void Check(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

/// Opens or creates a database, by default with as much cache as the peers have: a fifth is for
/// memstores.
inline std::unique_ptr<Database> OpenTandem(
    const std::string& path, uint64_t memory_bytes = cache_bytes + cache_bytes / 4,
    const std::shared_ptr<EventListener>& listener = nullptr) {
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = memory_bytes;
  options.listener = listener;
  auto opened = Database::Open(path, options);
  Check(opened.status());
  return std::move(*opened);
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
