// The rows of all files count as one sequence; every n-th of it is looked at.
#include "engine/parallel/cached_blocks.h"

#include <algorithm>

namespace tandem::engine {
namespace {

constexpr uint64_t kSampledRows = 64;
// To unpack a block costs so much more than to find it that one of this many decides.
constexpr uint64_t kBlocksPerMissing = 16;

// Asks for no block, so that none counts as used.
bool IsCached(const format::DataSection& data, uint32_t position) {
  const uint32_t piece = data.index().PieceOf(position, 0);
  if (!data.index().HasPiece(piece)) return false;
  const Result<uint32_t> block = data.BlockOf(position, data.index().FirstBlockOf(piece));
  return block.has_value() && data.RememberedRows(*block) != nullptr;
}

}  // namespace

bool SeemCached(std::span<const Cluster> clusters) {
  uint64_t rows = 0;
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) rows += source.high - source.low;
  }
  const uint64_t stride = std::max<uint64_t>(rows / kSampledRows, 1);
  uint64_t next = stride / 2, blocks = 0, missing = 0;  // From the first row of the file.
  for (const Cluster& cluster : clusters) {
    for (const FileSource& source : cluster.files) {
      const uint64_t here = source.high - source.low;
      for (; next < here; next += stride) {
        const uint32_t ordinal = source.low + static_cast<uint32_t>(next);
        for (const format::DataSection* const data : source.families) {
          if (!data->Has(ordinal)) continue;
          ++blocks;
          missing += IsCached(*data, data->RankOf(ordinal)) ? 0 : 1;
        }
      }
      next -= here;
    }
  }
  return missing * kBlocksPerMissing <= blocks;
}

bool PaysToPass(std::span<const Cluster> clusters) {
  return !std::ranges::all_of(clusters, &Cluster::has_one_file) || !SeemCached(clusters);
}

}  // namespace tandem::engine
