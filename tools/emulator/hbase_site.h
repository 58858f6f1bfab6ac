// The sizes that an hbase-site.xml gives: name and value of each property of its <configuration>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/environment.h"
#include "tandem/status.h"

namespace tandem::emulator {

/// One of the properties that count here, and where its value comes from.
struct SiteValue {
  std::string name;
  uint64_t value = 0;
  std::string note;  ///< "from the file"; or the default: why.
};

struct HBaseSite {
  uint64_t flush_bytes = 0;           ///< hbase.hregion.memstore.flush.size
  uint64_t region_bytes_max = 0;      ///< hbase.hregion.max.filesize
  uint32_t compaction_threshold = 0;  ///< hbase.hstore.compactionThreshold
  uint32_t block_multiplier = 0;      ///< hbase.hregion.memstore.block.multiplier
  std::vector<SiteValue> values;      ///< These four.
  std::vector<std::string> others;    ///< Names of properties that do not count here.
};

/// A value that is no number, or out of range, is replaced by HBase's default, and its note says
/// so. Of a name that comes again the last value counts, as in HBase. Errors: kInvalidArgument when
/// it is no well-formed XML, with the line, or no <configuration>.
Result<HBaseSite> ParseHBaseSite(std::string_view xml);

/// The same sizes for Tandem's policies: a memstore has the flush size and all together the block
/// multiplier times it; an idle region has at most as many runs as the threshold.
void Apply(const HBaseSite& site, engine::Tuning* sizes);

}  // namespace tandem::emulator
