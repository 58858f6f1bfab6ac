// See region_output.h.
#include "tools/tandem/region_output.h"

namespace tandem::tools {

void AddHalves(const RegionHalf& left, const RegionHalf& right, std::vector<Property>* properties) {
  const Property halves[] = {
      {"left_region", left.region_id},   {"left_rows", left.rows},
      {"left_bytes", left.bytes},        {"left_data_bytes", left.data_bytes},
      {"right_region", right.region_id}, {"right_rows", right.rows},
      {"right_bytes", right.bytes},      {"right_data_bytes", right.data_bytes}};
  properties->insert(properties->end(), std::begin(halves), std::end(halves));
}

void WriteIndexesOf(const RegionHalf& left, const RegionHalf& right, RecordWriter* writer) {
  if (left.indexes.empty()) return;
  writer->Begin("index", {"index", "left_bytes", "right_bytes"});
  for (size_t i = 0; i < left.indexes.size(); ++i) {
    writer->Add({left.indexes[i].name, left.indexes[i].bytes, right.indexes[i].bytes});
  }
  writer->End();
}

}  // namespace tandem::tools
