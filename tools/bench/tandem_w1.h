// W1 as Tandem keeps it, for every measurement that uses its API.
#pragma once

#include <tandem/tandem.h>

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

inline void AddRow(const std::string& table, const W1Row& row, WriteBatch* batch) {
  const ColumnValue columns[] = {
      {"city", row.city}, {"payload", row.payload}, {"status", row.status}, {"ts", row.ts}};
  batch->PutColumns(table, row.key, "d", columns);
}

}  // namespace tandem::bench
