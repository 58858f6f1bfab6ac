// Indexes as records: for info, index list and index stats.
#pragma once

#include <string>
#include <vector>

#include "tandem/database.h"
#include "tools/tandem/context.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Writes a record of each index of the table, if it has one.
void WriteIndexes(const TableInfo& table, RecordWriter* writer);

/// Says on the error stream that a check leaves the index out, if it is unusable.
void TellIfUnusable(const std::string& table, const IndexInfo& index, const Context& context);

struct NamedStatistics {
  std::string index;
  IndexStatistics statistics;
};
/// Writes a record of each; nothing where there are none.
/// What a write of a row costs by each index.
void WriteCosts(const std::string& table, const std::vector<NamedStatistics>& indexes,
                RecordWriter* writer);
void WriteStatistics(const std::string& table, const std::vector<NamedStatistics>& indexes,
                     RecordWriter* writer);

}  // namespace tandem::tools
