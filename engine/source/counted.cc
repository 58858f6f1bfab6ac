// What was derived is kept for the last few sets of files and bounds that readers had: regions that
// were split share files.
#include "engine/source/counted.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "engine/source/candidates.h"
#include "format/bitmap.h"
#include "index/put_key.h"

namespace tandem::engine {
namespace {

// Looking up all entries of a section costs about as much as looking at this part of them in a
// query, which reads those that files share.
constexpr uint64_t kEntriesPerLookedAt = 32;
// The same of rows, whose bitmaps are united, and of reading rows.
constexpr uint64_t kRowsPerRead = 256;
// Sets of files and bounds that are kept of a file.
constexpr size_t kKeptMax = 4;

// What counts depends on: the part of the file, and the files that share rows with it.
struct Among {
  uint32_t low = 0, high = 0;
  std::vector<std::pair<format::FileNumber, bool>> files;  // And whether they are newer.
  std::optional<format::IndexId> index;                    // nullopt: rows by key.

  bool operator==(const Among&) const = default;
};

template <typename Counted>
struct Kept {
  Among among;
  uint64_t credit = 0;                     // Entries or rows that were looked at for want of them.
  std::shared_ptr<const Counted> counted;  // Null: they are not built.
};

template <typename Counted>
Kept<Counted>& FindOrAdd(const Among& among, std::vector<Kept<Counted>>* all) {
  const auto found = std::ranges::find(*all, among, &Kept<Counted>::among);
  if (found != all->end()) {
    std::rotate(all->begin(), found, found + 1);
  } else {
    if (all->size() == kKeptMax) all->pop_back();
    all->insert(all->begin(), {among, 0, nullptr});
  }
  return all->front();
}

// Of one file. Threads: any.
class KeptCounts final : public LiveFile::Derived {
 public:
  /// `*pays`: whether they should be built, after a read that would read `worth` of `all` rows.
  std::shared_ptr<const CountedRows> Rows(const Among& among, uint64_t worth, uint64_t all,
                                          bool* pays) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    Kept<CountedRows>& kept = FindOrAdd(among, &rows_);
    if (kept.counted != nullptr) return kept.counted;
    kept.credit += worth;
    *pays = kept.credit >= all / kRowsPerRead;
    return nullptr;
  }
  void Keep(const Among& among, std::shared_ptr<const CountedRows> counted) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    FindOrAdd(among, &rows_).counted = std::move(counted);
  }
  /// `*pays`: whether they should be built, after a read that looks at `worth` of `all` entries.
  std::shared_ptr<const CountedEntries> Entries(const Among& among, uint64_t worth, uint64_t all,
                                                bool* pays) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    Kept<CountedEntries>& kept = FindOrAdd(among, &entries_[*among.index]);
    if (kept.counted != nullptr) return kept.counted;
    kept.credit += worth;
    *pays = kept.credit >= all / kEntriesPerLookedAt;
    return nullptr;
  }
  void Keep(const Among& among, std::shared_ptr<const CountedEntries> counted) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    FindOrAdd(among, &entries_[*among.index]).counted = std::move(counted);
  }

 private:
  base::Mutex mutex_;
  std::vector<Kept<CountedRows>> rows_ GUARDED_BY(mutex_);
  std::map<format::IndexId, std::vector<Kept<CountedEntries>>> entries_ GUARDED_BY(mutex_);
};

KeptCounts& KeptOf(const FileSource& source) {
  std::shared_ptr<LiveFile::Derived> kept = source.live->derived();
  if (kept == nullptr) kept = source.live->KeepDerived(std::make_shared<KeptCounts>());
  return static_cast<KeptCounts&>(*kept);  // It lives as long as the file.
}

// Of two files that share rows. An overlap is known to be with a newer file if that can make its
// postings dead.
Among AmongOf(const Cluster& cluster, const FileSource& source) {
  Among among{.low = source.low, .high = source.high, .files = {}, .index = {}};
  for (const FileOverlap& overlap : source.file_overlaps) {
    if (overlap.here == nullptr) continue;
    among.files.emplace_back(cluster.files[overlap.other].file->number(), overlap.supersedes);
  }
  std::ranges::sort(among.files);
  return among;
}

template <typename Visit>
void ForEach(const RowSet& set, Visit&& visit) {
  for (uint32_t rank = 0; rank < set.count(); ++rank) visit(set.At(rank), rank);
}

// The rows with a bit of `bits`, which fit in what is charged.
std::shared_ptr<const RowSet> SetOf(const format::Bitmap& bits) {
  RowSet::Builder builder(bits.size());
  const std::span<const uint64_t> words = bits.words();
  for (size_t i = 0; i < words.size(); ++i) {
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      builder.Add(static_cast<uint32_t>(i * 64 + std::countr_zero(word)));
    }
  }
  return builder.Finish();
}

// False: there is no room.
bool Charge(const std::shared_ptr<OverlapMemory>& memory, uint64_t bytes, OverlapCharge* charge) {
  if (memory == nullptr) return true;
  if (!memory->Reserve(bytes)) return false;
  *charge = OverlapCharge(memory, bytes);
  return true;
}

uint64_t SizeOf(const std::shared_ptr<const RowSet>& set) {
  return set == nullptr ? 0 : set->size_bytes();
}

// What the rows of a file are in the count of an index.
struct EntryStates {
  format::Bitmap dead;     // Their entries do not count.
  format::Bitmap decided;  // Nor do these, if they are not dead: they are decided.
};

// Rows whose entries the other file has a say on. Both have the index.
Status MarkShared(const Cluster& cluster, const FileOverlap& overlap, format::IndexId index,
                  EntryStates* states) {
  ASSIGN_OR_RETURN(format::IndexSection * section,
                   UsableSection(cluster.files[overlap.other].file, index));
  ASSIGN_OR_RETURN(const format::Bitmap* touched, section->Touched());
  const RowSet* const dead = overlap.pair->Dead(index);
  const bool is_aligned = overlap.pair->is_aligned && overlap.there != nullptr &&
                          overlap.there->count() == overlap.here->count();
  ForEach(*overlap.here, [&](uint32_t ordinal, uint32_t rank) {
    if (overlap.supersedes && dead != nullptr && dead->Contains(ordinal)) {
      states->dead.Set(ordinal);
      return;
    }
    if (!is_aligned) return states->decided.Set(ordinal);
    const uint32_t other = overlap.there->At(rank);
    const bool is_older_dead = !overlap.supersedes && dead != nullptr && dead->Contains(other);
    if (!is_older_dead && touched->Test(other)) states->decided.Set(ordinal);
  });
  return {};
}

Result<std::shared_ptr<const CountedEntries>> BuildEntries(
    const Cluster& cluster, const FileSource& source, format::IndexSection* section,
    format::IndexId index, const std::shared_ptr<OverlapMemory>& memory) {
  const uint32_t rows = source.file->row_count();
  const uint64_t entries = section->summary().current_entries;
  auto counted = std::make_shared<CountedEntries>();
  // At most: two bitmaps of rows, one of entries.
  const uint64_t bitmap_bytes = (rows + entries) / 8 + rows / 8;
  if (!Charge(memory, bitmap_bytes, &counted->charge)) {
    return std::shared_ptr<const CountedEntries>();
  }
  EntryStates states{format::Bitmap(rows), format::Bitmap(rows)};
  for (const FileOverlap& overlap : source.file_overlaps) {
    if (overlap.here == nullptr) continue;
    RETURN_IF_ERROR(MarkShared(cluster, overlap, index, &states));
  }
  if (source.clean != nullptr) {
    const std::span<const uint64_t> clean = source.clean->words();
    const std::span<uint64_t> decided = states.decided.mutable_words();
    for (size_t i = 0; i < clean.size(); ++i) decided[i] |= ~clean[i];
  }
  RowSet::Builder others(static_cast<uint32_t>(entries));
  uint32_t number = 0;
  RETURN_IF_ERROR(section->VisitEntries(
      format::IndexPart::kCurrent, [&](std::span<const uint32_t> ordinals) -> Status {
        for (const uint32_t ordinal : ordinals) {
          const bool is_here = ordinal >= source.low && ordinal < source.high;
          const bool is_dead = !is_here || states.dead.Test(ordinal);
          const bool is_decided = !is_dead && states.decided.Test(ordinal);
          if (is_decided) counted->decided.push_back({number, ordinal});
          if (is_dead || is_decided) others.Add(number);
          ++number;
        }
        return {};
      }));
  counted->decided.shrink_to_fit();
  counted->others = others.Finish();
  const uint64_t bytes = sizeof(CountedEntries) + SizeOf(counted->others) +
                         counted->decided.size() * sizeof(CountedEntries::Decided);
  if (memory != nullptr) {
    counted->charge.ShrinkTo(bytes);
    if (!counted->charge.GrowTo(bytes)) return std::shared_ptr<const CountedEntries>();
  }
  return std::shared_ptr<const CountedEntries>(std::move(counted));
}

}  // namespace

bool MayCount(const Cluster& cluster) {
  return std::ranges::all_of(cluster.files, [](const FileSource& source) {
    return source.may_be_single_source &&
           std::ranges::all_of(source.file_overlaps, &FileOverlap::is_known);
  });
}

// A row that a newer file shares counts there, or is decided there.
Result<std::shared_ptr<const CountedRows>> CountedRowsOf(
    const Cluster& cluster, const FileSource& source, uint64_t worth,
    const std::shared_ptr<OverlapMemory>& memory) {
  static const auto all = std::make_shared<const CountedRows>();
  const bool is_shared = std::ranges::any_of(source.file_overlaps, [](const auto& overlap) {
    return overlap.supersedes && overlap.here != nullptr;
  });
  if (!is_shared && source.clean == nullptr) return all;
  Among among = AmongOf(cluster, source);
  among.low = 0;  // Ranks are of the whole file.
  among.high = source.file->row_count();
  std::erase_if(among.files, [](const auto& file) { return !file.second; });
  KeptCounts& kept = KeptOf(source);
  const uint32_t rows = source.file->row_count();
  bool pays = false;
  std::shared_ptr<const CountedRows> found = kept.Rows(among, worth, rows, &pays);
  if (found != nullptr || !pays) return found;
  auto counted = std::make_shared<CountedRows>();
  if (!Charge(memory, rows / 4 + sizeof(CountedRows), &counted->charge)) return found;
  format::Bitmap others(rows), decided(rows);
  for (const FileOverlap& overlap : source.file_overlaps) {
    if (!overlap.supersedes || overlap.here == nullptr) continue;
    ForEach(*overlap.here, [&](uint32_t ordinal, uint32_t) { others.Set(ordinal); });
  }
  if (source.clean != nullptr) {
    for (uint32_t i = 0; i < rows; ++i) {
      if (source.clean->Test(i) || others.Test(i)) continue;
      decided.Set(i);
      others.Set(i);
    }
  }
  counted->others = SetOf(others);
  counted->decided = SetOf(decided);
  if (memory != nullptr) {
    counted->charge.ShrinkTo(sizeof(CountedRows) + SizeOf(counted->others) +
                             SizeOf(counted->decided));
  }
  kept.Keep(among, counted);
  return std::shared_ptr<const CountedRows>(std::move(counted));
}

bool MayCountEntries(const format::IndexRecord& index) {
  return !index.is_of_several() && !format::IsMultiValued(index.columns.front());
}

Result<std::shared_ptr<const CountedEntries>> CountedEntriesOf(
    const Cluster& cluster, const FileSource& source, const format::IndexRecord& index,
    uint64_t worth, const std::shared_ptr<OverlapMemory>& memory) {
  static const auto all = std::make_shared<const CountedEntries>();
  const std::shared_ptr<const CountedEntries> none;
  for (const FileSource& file : cluster.files) {
    ASSIGN_OR_RETURN(const format::IndexSection* section, UsableSection(file.file, index.id));
    if (section == nullptr) return none;
  }
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index.id));
  Among among = AmongOf(cluster, source);
  const bool is_whole = source.low == 0 && source.high == source.file->row_count();
  if (is_whole && among.files.empty() && source.clean == nullptr) return all;
  among.index = index.id;
  KeptCounts& kept = KeptOf(source);
  bool pays = false;
  std::shared_ptr<const CountedEntries> found =
      kept.Entries(among, worth, section->summary().current_entries, &pays);
  if (found != nullptr || !pays) return found;
  Result<std::shared_ptr<const CountedEntries>> built =
      BuildEntries(cluster, source, section, index.id, memory);
  if (!built.has_value()) {
    if (GoesOnWithoutIndex(source.file, index.id, built.error())) return none;
    return built;
  }
  if (*built != nullptr) kept.Keep(among, *built);
  return built;
}

}  // namespace tandem::engine
