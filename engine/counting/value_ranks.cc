// Rows that a memstore holds are left out of their file by their ranks.
#include "engine/counting/value_ranks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/slice_keys.h"

namespace tandem::engine {
namespace {

// The rank of the row among the ordinals of the value; nullopt: it is none of them.
Result<std::optional<uint32_t>> RankOfRow(const EntryCounts::File& file, const std::string& key,
                                          format::ValueOrdinals* ordinals) {
  const std::optional<uint32_t> none;
  ASSIGN_OR_RETURN(const uint32_t at, file.source->file->LowerBound(key));
  ASSIGN_OR_RETURN(const uint32_t rank, ordinals->RankOf(at));
  if (rank == ordinals->count()) return none;
  ASSIGN_OR_RETURN(const uint32_t ordinal, ordinals->At(rank));
  if (ordinal != at) return none;
  ASSIGN_OR_RETURN(const std::string found, KeyAt(*file.source->file, at));
  return found == key ? std::optional(rank) : none;
}

}  // namespace

Result<ClusterRanks> RanksOfValue(const EntryCounts& counts, const std::string& entry,
                                  DecidedKeys decided) {
  ClusterRanks ranks(counts.cluster());
  for (const EntryCounts::File& file : counts.files()) {
    ClusterRanks::Value value;
    ASSIGN_OR_RETURN(value.ordinals, file.section->OrdinalsOf(format::IndexPart::kCurrent, entry));
    ASSIGN_OR_RETURN(value.first_number, file.NumberOf(entry));
    value.others = file.counted->others;
    for (const std::string& key : decided.subtracted) {
      ASSIGN_OR_RETURN(const std::optional<uint32_t> rank, RankOfRow(file, key, &value.ordinals));
      if (rank.has_value()) value.left_out.push_back(*rank);
    }
    RETURN_IF_ERROR(ranks.AddFile(std::move(value)));
  }
  ranks.AddDecided(std::move(decided.added));
  return ranks;
}

}  // namespace tandem::engine
