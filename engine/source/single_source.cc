// Meetings are over whole files; a view sees of them what its sources see.
#include "engine/source/single_source.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// What the file at `here` knows of the one at `other`.
Meeting MeetingOf(const Overlaps* overlaps, const Cluster& cluster, size_t here, size_t other) {
  Meeting meeting{.other = other};
  if (overlaps == nullptr) return meeting;
  const format::FileNumber number = cluster.files[here].file->number();
  const format::FileNumber other_number = cluster.files[other].file->number();
  meeting.pair = overlaps->Find({.older = number, .newer = other_number});
  if (meeting.pair != nullptr) {
    meeting.here = meeting.pair->older_meets.get();
    meeting.there = meeting.pair->newer_meets.get();
    meeting.kills = cluster.files[other].visible;
    return meeting;
  }
  meeting.pair = overlaps->Find({.older = other_number, .newer = number});
  if (meeting.pair != nullptr) {
    meeting.here = meeting.pair->newer_meets.get();
    meeting.there = meeting.pair->older_meets.get();
  }
  return meeting;
}

}  // namespace

void FindMeetings(const Overlaps* overlaps, Cluster* cluster) {
  for (size_t i = 0; i < cluster->files.size(); ++i) {
    FileSource& here = cluster->files[i];
    for (size_t j = 0; j < cluster->files.size(); ++j) {
      const FileSource& other = cluster->files[j];
      if (other.file == here.file || other.min_key() > here.max_key() ||
          other.max_key() < here.min_key()) {
        continue;
      }
      here.meetings.push_back(MeetingOf(overlaps, *cluster, i, j));
    }
  }
}

void RemoveDead(const FileSource& source, format::IndexId index, std::vector<uint32_t>* ordinals) {
  for (const Meeting& meeting : source.meetings) {
    if (!meeting.kills) continue;
    const index::RowSet* dead = meeting.pair->Dead(index);
    if (dead != nullptr) dead->RemoveFrom(ordinals);
  }
}

bool MeetsNothing(const Cluster& cluster, const FileSource& source) {
  return cluster.memstores.empty() &&
         std::all_of(source.meetings.begin(), source.meetings.end(), [](const Meeting& meeting) {
           return meeting.is_known() && meeting.here == nullptr;
         });
}

Result<bool> RowsElsewhere::MayHold(uint32_t ordinal) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const index::RowSet* here = source_.meetings[i].here;
    if (here != nullptr && here->Find(ordinal, &ranks_[i])) return true;
  }
  if (!needs_hashes_) return false;
  if (hashes_.empty()) {
    needs_hashes_ = !cluster_.memstores.empty() || !HasAllOverlaps(source_);
    if (!needs_hashes_) return false;
    ASSIGN_OR_RETURN(hashes_, source_.file->KeyHashes());
  }
  return MayHoldByHash(hashes_[ordinal]);
}

Result<bool> RowsElsewhere::MayHoldByHash(uint64_t hash) {
  for (const std::shared_ptr<const Memstore>& memstore : cluster_.memstores) {
    if (memstore->MayContain(hash)) return true;
  }
  for (const Meeting& meeting : source_.meetings) {
    if (meeting.is_known()) continue;
    ASSIGN_OR_RETURN(const bool may, cluster_.files[meeting.other].file->MayContain(hash));
    if (may) return true;
  }
  return false;
}

bool HasAllOverlaps(const FileSource& source) {
  return std::all_of(source.meetings.begin(), source.meetings.end(),
                     [](const Meeting& meeting) { return meeting.is_known(); });
}

}  // namespace tandem::engine
