// FileOverlaps cover whole files; a view uses what its sources see of them.
#include "engine/source/single_source.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {

void RemoveDead(const FileSource& source, format::IndexId index, std::vector<uint32_t>* ordinals) {
  for (const FileOverlap& file_overlap : source.file_overlaps) {
    if (!file_overlap.supersedes) continue;
    const RowSet* dead = file_overlap.pair->Dead(index);
    if (dead != nullptr) dead->RemoveFrom(ordinals);
  }
}

bool OverlapsNothing(const Cluster& cluster, const FileSource& source) {
  return cluster.memstores.empty() && OverlapsNoFile(source);
}

bool OverlapsNoFile(const FileSource& source) {
  return std::all_of(source.file_overlaps.begin(), source.file_overlaps.end(),
                     [](const FileOverlap& file_overlap) {
                       return file_overlap.is_known() && file_overlap.here == nullptr;
                     });
}

Result<bool> OverlapProbe::MayHold(uint32_t ordinal) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RowSet* here = source_.file_overlaps[i].here;
    if (here != nullptr && here->Find(ordinal, &ranks_[i])) return true;
  }
  if (!needs_hashes_) return false;
  if (!hashes_.has_value()) {
    needs_hashes_ = !HasAllOverlaps(source_);
    if (!needs_hashes_) return false;
    ASSIGN_OR_RETURN(hashes_, format::KeyHashesReader::Open(source_.file));
  }
  ASSIGN_OR_RETURN(const uint64_t hash, hashes_->At(ordinal));
  return MayHoldByHash(hash);
}

Result<bool> OverlapProbe::MayHoldByHash(uint64_t hash) {
  for (const FileOverlap& file_overlap : source_.file_overlaps) {
    if (file_overlap.is_known()) continue;
    ASSIGN_OR_RETURN(const bool may, cluster_.files[file_overlap.other].file->MayContain(hash));
    if (may) return true;
  }
  return false;
}

bool HasAllOverlaps(const FileSource& source) {
  return std::all_of(source.file_overlaps.begin(), source.file_overlaps.end(),
                     [](const FileOverlap& file_overlap) { return file_overlap.is_known(); });
}

}  // namespace tandem::engine
