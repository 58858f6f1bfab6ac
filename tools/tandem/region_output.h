// What a split and a merge of regions print: the two halves, then their indexes.
#pragma once

#include <vector>

#include "tandem/region.h"
#include "tools/tandem/record_writer.h"

namespace tandem::tools {

/// Appends what the halves are and hold.
void AddHalves(const RegionHalf& left, const RegionHalf& right, std::vector<Property>* properties);
/// A line for each index; nothing if there is none. Requires: both halves are of one table.
void WriteIndexesOf(const RegionHalf& left, const RegionHalf& right, RecordWriter* writer);

}  // namespace tandem::tools
