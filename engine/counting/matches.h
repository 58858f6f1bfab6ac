// Which candidates of an exact access match for certain, without reading them: a single-source row
// by one bit or one filter look-up, and so a row of a file of which memstores hold other columns.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/source/candidates.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Whether no row of the file hides or holds old or expired cells.
inline bool AllMayBeSingleSource(const FileSource& source) {
  return source.may_be_single_source && source.clean == nullptr;
}

/// Takes out of `*candidates` those that match for certain, those that memstores make dead and
/// those that are ruled out; the others have to be read. Returns how many match; appends them,
/// ascending, to `*matches`, unless that is null. Errors: kCorruption, kIoError, kCancelled.
Result<uint64_t> TakeMatches(const ReadContext& context, const Cluster& cluster,
                             const FileSource& source, FileCandidates* candidates,
                             std::vector<uint32_t>* matches = nullptr);

}  // namespace tandem::engine
