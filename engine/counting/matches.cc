// Memstores are asked first, then the overlaps of files.
#include "engine/counting/matches.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/memstore_verdicts.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"

namespace tandem::engine {

Result<uint64_t> TakeMatches(const ReadContext& context, const Cluster& cluster,
                             const FileSource& source, FileCandidates* candidates,
                             std::vector<uint32_t>* matches) {
  if (!candidates->decided || !source.may_be_single_source) return uint64_t{0};
  std::vector<uint32_t> read;  // Candidates that have to be read.
  std::vector<uint32_t>& ordinals = candidates->ordinals;
  MemstoreVerdicts memstores(context, cluster, source, candidates->index);
  RETURN_IF_ERROR(memstores.Sift(&ordinals, &read));
  uint64_t taken = 0;
  if (AllMayBeSingleSource(source) && OverlapsNoFile(source) && candidates->ruled_out.empty()) {
    taken = ordinals.size();
    if (matches != nullptr) *matches = std::move(ordinals);
  } else {
    const auto shared = static_cast<ptrdiff_t>(read.size());
    OverlapProbe elsewhere(cluster, source);
    size_t ruled_out_at = 0;
    for (const uint32_t ordinal : ordinals) {
      bool is_decided = source.MayBeSingleSource(ordinal);
      if (is_decided) {
        ASSIGN_OR_RETURN(const bool may_be_elsewhere, elsewhere.MayHold(ordinal));
        is_decided = !may_be_elsewhere;
      }
      if (!is_decided) {
        read.push_back(ordinal);
      } else if (!FindNext(candidates->ruled_out, ordinal, &ruled_out_at)) {
        ++taken;
        if (matches != nullptr) matches->push_back(ordinal);
      }
    }
    std::inplace_merge(read.begin(), read.begin() + shared, read.end());
  }
  ordinals = std::move(read);
  return taken;
}

}  // namespace tandem::engine
