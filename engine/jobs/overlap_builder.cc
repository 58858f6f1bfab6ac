// One thread at a time works on a region, and it walks one newer file at a time.
#include "engine/jobs/overlap_builder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/jobs/overlap_walk.h"

namespace tandem::engine {
namespace {

// The files of the version, oldest first, each once.
std::vector<std::shared_ptr<LiveFile>> FilesOf(const RegionVersion& version) {
  std::vector<std::shared_ptr<LiveFile>> files;
  for (const FileSlice& slice : version.files) {
    const format::FileNumber number = slice.file->store().number();
    const bool is_known = std::any_of(files.begin(), files.end(), [number](const auto& file) {
      return file->store().number() == number;
    });
    if (!is_known) files.push_back(slice.file);
  }
  return files;
}

bool KeysMayOverlap(const LiveFile& a, const LiveFile& b) {
  const format::FileStatistics& one = a.store().statistics();
  const format::FileStatistics& other = b.store().statistics();
  return one.min_key <= other.max_key && other.min_key <= one.max_key;
}

Overlaps::Key KeyOf(const LiveFile& older, const LiveFile& newer) {
  return {older.store().number(), newer.store().number()};
}

// Drops the records of a version's files when a search ends, whether or not it succeeded.
struct RecordRelease {
  RecordRelease() = default;
  RecordRelease(const RecordRelease&) = delete;
  RecordRelease& operator=(const RecordRelease&) = delete;
  ~RecordRelease() { OverlapWorker::DropRecords(version); }
  RegionVersion version;
};

}  // namespace

std::unique_ptr<FlushedRows::Recorder> OverlapWorker::NewRecorder(const RegionVersion& version,
                                                                  const Memstore& memstore) const {
  Memstore::Iterator first(&memstore), last(&memstore);
  first.SeekToFirst();
  last.SeekToLast();
  const bool may_share =
      first.valid() &&
      std::any_of(version.files.begin(), version.files.end(), [&](const FileSlice& slice) {
        const format::FileStatistics& older = slice.file->store().statistics();
        return older.min_key <= last.key() && first.key() <= older.max_key;
      });
  if (!may_share) return nullptr;
  return std::make_unique<FlushedRows::Recorder>(memstore.table(), record_memory_);
}

Status OverlapWorker::BuildMissing(Region& region, BackgroundJobs* jobs) {
  std::vector<format::FileNumber> seen;  // The files when the last search began.
  while (seen != FileNumbers(*region.version()) && region.TryBegin(Region::Work::kOverlaps)) {
    const Status status = Guarded([&] {
      seen = FileNumbers(*region.version());
      return BuildInTurn(region, jobs);
    });
    region.End(Region::Work::kOverlaps);
    RETURN_IF_ERROR(status);
  }
  return {};
}

Status OverlapWorker::BuildInTurn(Region& region, BackgroundJobs* jobs) {
  std::set<format::FileNumber> walked;
  RecordRelease at_end;  // A file flushed later has a job of its own.
  bool found = true;
  while (found) {
    at_end.version =
        WithoutMemstores(*region.version());  // They may have changed since the last walk.
    ASSIGN_OR_RETURN(found, BuildNext(region, at_end.version, jobs, &walked));
  }
  return {};
}

void OverlapWorker::DropRecords(const RegionVersion& version) {
  for (const FileSlice& slice : version.files) slice.file->DropRecord();
}

// Builds and publishes the pairs of the first newer file not yet walked; false: none is left.
Result<bool> OverlapWorker::BuildNext(Region& region, const RegionVersion& version,
                                      BackgroundJobs* jobs, std::set<format::FileNumber>* walked) {
  const std::vector<Missing> all = FindMissing(version);
  const auto next = std::find_if(all.begin(), all.end(), [walked](const Missing& missing) {
    return walked->insert(missing.newer->store().number()).second;
  });
  if (next == all.end()) return false;
  const int64_t began_micros = monitor_ == nullptr ? 0 : monitor_->NowMicros();
  ASSIGN_OR_RETURN(const Overlaps::Pairs pairs, Build(*region.table(), *next, jobs));
  next->newer->DropRecord();
  if (pairs.empty()) return true;
  region.Update([&pairs](RegionVersion* changed) {
    changed->overlaps = WithPairs(changed->overlaps, pairs);
  });
  Tell(region, pairs, began_micros);
  return true;
}

void OverlapWorker::Tell(const Region& region, const Overlaps::Pairs& pairs, int64_t began_micros) {
  if (monitor_ == nullptr) return;
  OverlapsEvent event{.table = region.table()->name, .region_id = region.id().value};
  event.pairs = pairs.size();
  for (const auto& [key, pair] : pairs) event.bytes += pair->size_bytes();
  monitor_->OverlapsBuilt(event, began_micros);
}

std::vector<OverlapWorker::Missing> OverlapWorker::FindMissing(const RegionVersion& version) {
  const std::vector<std::shared_ptr<LiveFile>> files = FilesOf(version);
  std::vector<Missing> all;
  for (size_t i = 1; i < files.size(); ++i) {
    Missing missing{.newer = files[i], .older = {}};
    for (size_t j = 0; j < i; ++j) {
      if (!KeysMayOverlap(*files[j], *files[i])) continue;
      const bool is_built = version.overlaps != nullptr &&
                            version.overlaps->Find(KeyOf(*files[j], *files[i])) != nullptr;
      if (!is_built) missing.older.push_back(files[j]);
    }
    if (!missing.older.empty()) all.push_back(std::move(missing));
  }
  return all;
}

// Pairs that another region has are shared; others are built if their worst case fits in memory.
Result<Overlaps::Pairs> OverlapWorker::Build(const format::TableRecord& table,
                                             const Missing& missing, BackgroundJobs* jobs) {
  Overlaps::Pairs pairs;
  std::vector<format::StoreFile*> older;
  std::vector<OverlapCharge> charges;
  charges.reserve(missing.older.size());
  format::StoreFile& newer = missing.newer->store();
  for (const std::shared_ptr<LiveFile>& file : missing.older) {
    const Overlaps::Key key = KeyOf(*file, *missing.newer);
    if (auto built = FindBuilt(key); built != nullptr) {
      pairs.emplace(key, std::move(built));
      continue;
    }
    const uint64_t bytes = OverlapBytesMax(table, file->store(), newer);
    if (!ReserveFor(missing, bytes)) continue;
    charges.emplace_back(memory_, bytes);
    older.push_back(&file->store());
  }
  if (older.empty()) return pairs;
  const std::shared_ptr<const FlushedRows> record = missing.newer->record();
  ASSIGN_OR_RETURN(std::vector<PairOverlap> found, FindOverlaps({.table = table,
                                                                 .newer = &newer,
                                                                 .record = record.get(),
                                                                 .older = older,
                                                                 .cancelled = &cancelled_,
                                                                 .jobs = jobs}));
  for (size_t i = 0; i < found.size(); ++i) {
    charges[i].ShrinkTo(found[i].size_bytes());
    found[i].charge = std::move(charges[i]);
    pairs.emplace(Overlaps::Key{older[i]->number(), newer.number()},
                  std::make_shared<const PairOverlap>(std::move(found[i])));
  }
  Remember(pairs);
  return pairs;
}

// Bitmaps take precedence over the record, which only makes building them faster.
bool OverlapWorker::ReserveFor(const Missing& missing, uint64_t bytes) {
  if (memory_->Reserve(bytes)) return true;
  missing.newer->DropRecord();
  return memory_->Reserve(bytes);
}

std::shared_ptr<const PairOverlap> OverlapWorker::FindBuilt(const Overlaps::Key& key) {
  base::MutexLock lock(mutex_);
  const auto found = built_.find(key);
  return found == built_.end() ? nullptr : found->second.lock();
}

void OverlapWorker::Remember(const Overlaps::Pairs& pairs) {
  base::MutexLock lock(mutex_);
  std::erase_if(built_, [](const auto& pair) { return pair.second.expired(); });
  for (const auto& [key, pair] : pairs) built_[key] = pair;
}

}  // namespace tandem::engine
