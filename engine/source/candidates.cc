// Collecting candidates. If the view sees all of a file, only the current part of a section is
// read, otherwise both parts (rules 6 and 18).
#include "engine/source/candidates.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/status_macros.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"
#include "format/coding.h"
#include "format/hash.h"
#include "index/entries.h"
#include "index/section.h"

namespace tandem::engine {
namespace {

using format::IndexPart;

// Smaller lists of candidates are not charged.
constexpr uint64_t kCountedBytesMin = 64 << 10;
// Of more keys all postings are read.
constexpr size_t kKeysLookedForMax = 8;
// Of a memstore as many entries are looked at in the time that one of its rows is walked to.
constexpr uint64_t kEntriesPerWalkedRow = 8;
// As many postings are read and intersected in the time that a row is looked for in a list.
constexpr size_t kPostingsPerSearch = 32;

void AddAll(format::OrdinalRange rows, std::vector<uint32_t>* ordinals) {
  const size_t begin = ordinals->size();
  ordinals->resize(begin + (rows.high - rows.low));
  std::iota(ordinals->begin() + static_cast<ptrdiff_t>(begin), ordinals->end(), rows.low);
}

format::OrdinalRange BoundsOf(const FileSource& source) { return {source.low, source.high}; }

// Rule 18: rows that lack the column in this file, and rows that this file alone does not decide.
Status AddNulls(const FileSource& source, format::OrdinalRange rows, format::IndexSection* section,
                std::vector<uint32_t>* ordinals) {
  if (!source.may_be_single_source) {
    AddAll(rows, ordinals);
    return {};
  }
  const bool has_all = section->present_count() == source.file->row_count();
  if (rows.low >= rows.high || (has_all && source.clean == nullptr)) return {};
  ASSIGN_OR_RETURN(const format::Bitmap* present, section->Present());
  // 64 rows at a time: usually all of them are present and decided here.
  for (uint32_t first = rows.low & ~63u; first < rows.high; first += 64) {
    const uint32_t word = first / 64;
    uint64_t found = ~present->words()[word];
    if (source.clean != nullptr) found |= ~source.clean->words()[word];
    if (first < rows.low) found &= ~uint64_t{0} << (rows.low - first);
    if (rows.high - first < 64) found &= (uint64_t{1} << (rows.high - first)) - 1;
    for (; found != 0; found &= found - 1) {
      ordinals->push_back(first + static_cast<uint32_t>(std::countr_zero(found)));
    }
  }
  return {};
}

// Adds those of `rows` with an entry in a range that has more entries than the file has rows, so
// that memory is needed for the rows alone.
Status AddRepeated(IndexPart part, const format::KeyRange& range, format::OrdinalRange rows,
                   uint32_t row_count, format::IndexSection* section, std::vector<uint32_t>* hits) {
  std::vector<uint32_t> entries;
  const std::unique_ptr<format::IndexValueCursor> value = section->NewCursor(part);
  RETURN_IF_ERROR(value->Seek(range.low));
  while (value->valid() && range.Contains(value->key())) {
    RETURN_IF_ERROR(value->AppendOrdinals(&entries));
    // At least half of them go, so that each is looked at a few times.
    if (entries.size() > 2 * size_t{row_count}) SortUnique(&entries, row_count);
    RETURN_IF_ERROR(value->Next());
  }
  SortUnique(&entries, row_count);
  hits->insert(hits->end(), std::ranges::lower_bound(entries, rows.low),
               std::ranges::lower_bound(entries, rows.high));
  return {};
}

Status AddPostings(const FileSource& source, const IndexPath& path, format::OrdinalRange rows,
                   format::IndexSection* section, std::vector<uint32_t>* hits) {
  const uint32_t row_count = source.file->row_count();
  for (const format::KeyRange& range : path.RangesIn(source.in_order)) {
    for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
      if (part == IndexPart::kOlder && source.visible) continue;
      if (path.repeats_rows) {
        ASSIGN_OR_RETURN(const uint64_t entries, section->CountEntries(part, range));
        if (entries > row_count) {
          RETURN_IF_ERROR(AddRepeated(part, range, rows, row_count, section, hits));
          continue;
        }
      }
      RETURN_IF_ERROR(section->AppendOrdinals(part, range, rows, hits));
    }
    // An IN of many values.
    if (path.repeats_rows && hits->size() > 2 * size_t{row_count}) SortUnique(hits, row_count);
  }
  return {};
}

Status AddPath(const FileSource& source, const IndexPath& path, format::IndexSection* section,
               std::vector<uint32_t>* ordinals) {
  std::vector<uint32_t> hits;
  RETURN_IF_ERROR(AddPostings(source, path, BoundsOf(source), section, &hits));
  if (!source.file_overlaps.empty()) {
    SortUnique(&hits, source.file->row_count());
    RemoveDead(source, path.index->id, &hits);
  }
  if (ordinals->empty()) {
    *ordinals = std::move(hits);
  } else {
    ordinals->insert(ordinals->end(), hits.begin(), hits.end());
  }
  return path.nulls ? AddNulls(source, BoundsOf(source), section, ordinals) : Status();
}

Result<uint64_t> EntriesOf(const FileSource& source, const IndexPath& path, Precision precision,
                           format::IndexSection* section) {
  const auto count = [&](IndexPart part, const format::KeyRange& range) {
    return precision == Precision::kExact ? section->CountEntries(part, range)
                                          : section->EntriesAtMost(part, range);
  };
  uint64_t entries = 0;
  for (const format::KeyRange& range : path.RangesIn(source.in_order)) {
    ASSIGN_OR_RETURN(const uint64_t current, count(IndexPart::kCurrent, range));
    entries += current;
    if (source.visible) continue;
    ASSIGN_OR_RETURN(const uint64_t older, count(IndexPart::kOlder, range));
    entries += older;
  }
  if (!path.nulls) return entries;
  const uint64_t rows = source.high - source.low;
  const uint64_t absent = source.file->row_count() - section->present_count();
  return entries + (source.may_be_single_source ? std::min(rows, absent) : rows);
}

// Of an index over one column, whose keys are no prefixes of each other.
bool IsOfOneKey(const format::KeyRange& range) {
  return range.high.has_value() && (*range.high == *format::EqualRange(range.low).high ||
                                    range.high == format::Successor(range.low));
}

// The postings of each key of the path; nullopt: they are of many.
Result<std::optional<std::vector<format::ValueOrdinals>>> ListsOf(const FileSource& source,
                                                                  const IndexPath& path,
                                                                  format::IndexSection* section) {
  const std::vector<format::KeyRange>& ranges = path.RangesIn(source.in_order);
  const bool has_few_keys = path.index->columns.size() == 1 && !path.nulls &&
                            ranges.size() <= kKeysLookedForMax &&
                            std::ranges::all_of(ranges, IsOfOneKey);
  if (!has_few_keys) return std::optional<std::vector<format::ValueOrdinals>>();
  std::vector<format::ValueOrdinals> lists;
  for (const format::KeyRange& range : ranges) {
    ASSIGN_OR_RETURN(lists.emplace_back(), section->OrdinalsOf(IndexPart::kCurrent, range.low));
    if (source.visible) continue;
    ASSIGN_OR_RETURN(lists.emplace_back(), section->OrdinalsOf(IndexPart::kOlder, range.low));
  }
  return std::optional(std::move(lists));
}

Result<std::optional<std::vector<uint32_t>>> LookForIn(const FileSource& source,
                                                       const IndexPath& path,
                                                       format::IndexSection* section,
                                                       std::span<const uint32_t> sought) {
  std::optional<std::vector<uint32_t>> found;
  ASSIGN_OR_RETURN(auto lists, ListsOf(source, path, section));
  if (!lists.has_value()) return found;
  uint64_t postings = 0;
  for (const format::ValueOrdinals& list : *lists) postings += list.count();
  // As many as there are between the rows, if they lie anywhere.
  const uint64_t read = postings * (sought.back() - sought.front() + 1) / source.file->row_count();
  if (read < lists->size() * sought.size() * kPostingsPerSearch) return found;
  found.emplace();
  for (format::ValueOrdinals& list : *lists) RETURN_IF_ERROR(list.AppendCommon(sought, &*found));
  SortUnique(&*found, source.file->row_count());
  return found;
}

// A row with the head of its key, which usually decides a comparison without touching the row.
struct HeadedRow {
  uint64_t head;
  const MemRow* row;

  bool operator<(const HeadedRow& other) const {
    return head != other.head ? head < other.head : Memstore::Key(row) < Memstore::Key(other.row);
  }
  bool operator==(const HeadedRow& other) const {
    return row == other.row ||
           (head == other.head && Memstore::Key(row) == Memstore::Key(other.row));
  }
};

// Rows of a memstore whose postings in a range cannot match: the newest Put of the column that the
// memstore shows is not in the range, or another memstore, being a newer source, makes that Put
// dead (rule 13). A row that matches by an older version is a candidate of another source. Of an
// index over a family: each Put of the family is hidden by a DeleteFamily, here or in a newer
// memstore (rule 32).
class DeadRows {
 public:
  DeadRows(const Cluster& cluster, const IndexPath& path, const format::ReadPoint& point)
      : memstores_(cluster.memstores),
        column_(path.index->columns.front()),
        sequence_(point.sequence),
        may_die_(format::MayDie(*path.index) && !point.is_bounded()),
        by_puts_(format::DiesByPuts(*path.index)) {}

  /// Calls `use(row, put)` for each row that is not dead: `put`, if not nullptr, is its newest one
  /// and has an entry in a range. Requires: `ranges` ascend.
  template <typename Use>
  void ForEachLive(std::span<const format::KeyRange> ranges, std::span<const MemRow* const> rows,
                   Use&& use) {
    constexpr size_t kRowsAhead = 16, kCellsAhead = 8;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + kRowsAhead < rows.size()) __builtin_prefetch(rows[i + kRowsAhead]);
      if (i + kCellsAhead < rows.size()) Memstore::PrefetchCells(rows[i + kCellsAhead]);
      const std::optional<LivePut> put = Memstore::NewestPut(rows[i], column_, sequence_);
      if (!put.has_value()) continue;
      const std::span<const std::string_view> entries =
          keys_.Of(column_, put->value, put->timestamp);
      if (!entries.empty()) {
        const bool is_in_range = std::ranges::any_of(
            entries, [&](std::string_view entry) { return IsInOne(ranges, entry); });
        if (!is_in_range || IsDeadByOthers(rows[i], {put->timestamp, put->sequence})) continue;
      }
      use(rows[i], entries.empty() ? nullptr : &*put);
    }
  }
  /// The rows of the memstore with keys in `keys` that are not dead and have an entry in one of the
  /// ranges, and perhaps others. False, and `*rows` is undefined: there are more than `most` rows
  /// with such keys, or rows do not tell.
  bool CollectByKey(const Memstore& memstore, std::span<const format::KeyRange> ranges,
                    const format::KeyRange& keys, uint64_t most, std::vector<const MemRow*>* rows) {
    rows->clear();
    if (!may_die_ || !by_puts_) return false;
    Memstore::Iterator row(&memstore);
    for (row.Seek(keys.low); row.valid(); row.Next()) {
      if (keys.high.has_value() && row.key() >= *keys.high) break;
      if (rows->size() == most) return false;
      rows->push_back(row.row());
    }
    size_t kept = 0;
    ForEachLive(ranges, *rows, [&](const MemRow* live, const LivePut*) { (*rows)[kept++] = live; });
    rows->resize(kept);
    return true;
  }
  /// The rows of the memstore with an entry in `range` that are not dead, perhaps repeated.
  void Collect(const Memstore& memstore, size_t index, const format::KeyRange& range,
               std::vector<const MemRow*>* rows) {
    rows->clear();
    const bool is_only = memstores_.size() == 1;  // No other makes its Puts dead.
    const bool knows_live = may_die_ && by_puts_ && is_only;
    if (knows_live && memstore.CollectLiveIndex(index, range, sequence_, rows)) return;
    memstore.CollectIndex(index, range, sequence_, rows);
    if (!may_die_) return;
    if (by_puts_) {
      RemoveFrom(range, rows);
    } else {
      std::erase_if(*rows, [&](const MemRow* row) { return IsWithoutFamily(row); });
    }
  }

 private:
  // Requires: the rows have entries in `range`.
  void RemoveFrom(const format::KeyRange& range, std::vector<const MemRow*>* rows) {
    size_t kept = 0;
    ForEachLive({&range, 1}, *rows,
                [&](const MemRow* row, const LivePut*) { (*rows)[kept++] = row; });
    rows->resize(kept);
  }

  static bool IsInOne(std::span<const format::KeyRange> ranges, std::string_view entry) {
    const auto after = std::ranges::upper_bound(ranges, entry, {}, &format::KeyRange::low);
    return after != ranges.begin() && (after - 1)->Contains(entry);
  }

  // Whether DeleteFamily hides all Puts of the family that the row has in its memstore.
  bool IsWithoutFamily(const MemRow* row) const {
    const std::optional<LivePuts> puts = Memstore::LivePutsOf(row, column_.family, sequence_);
    return !puts.has_value() || IsDeadByOthers(row, *puts);
  }

  bool IsDeadByOthers(const MemRow* row, const LivePuts& live) const {
    if (memstores_.size() == 1) return false;
    const std::string_view key = Memstore::Key(row);
    const uint64_t hash = format::RowHash(key, memstores_.front()->table().hash_secret);
    const OlderPuts puts{&column_, live.max_timestamp};
    return std::any_of(memstores_.begin(), memstores_.end(), [&](const auto& memstore) {
      if (memstore->min_sequence() <= live.max_sequence) return false;  // The row's own, or older.
      const MemRow* other = memstore->Find(key, hash);
      return other != nullptr && Memstore::Supersedes(other, puts, sequence_);
    });
  }

  std::span<const std::shared_ptr<const Memstore>> memstores_;
  const format::IndexColumnRecord& column_;
  format::SequenceNumber sequence_;
  bool may_die_, by_puts_;
  format::PutKeys keys_;
};

// The rows that a reader at `sequence` sees. One that is being added is in the skiplist already but
// not yet in the table that a file's rows are looked up in: it would count twice.
void AddMemstoreRows(const Memstore& memstore, const format::KeyRange& rows,
                     format::SequenceNumber sequence, std::vector<const MemRow*>* out) {
  Memstore::Iterator row(&memstore);
  for (row.Seek(rows.low); row.valid(); row.Next()) {
    if (rows.high.has_value() && row.key() >= *rows.high) return;
    if (Memstore::HasCells(row.row(), sequence)) out->push_back(row.row());
  }
}

}  // namespace

std::vector<const IndexPath*> AccessPath::AllPaths() const {
  std::vector<const IndexPath*> all;
  for (const IndexPath& path : paths) all.push_back(&path);
  for (const Condition& condition : intersected) {
    for (const IndexPath& path : condition) all.push_back(&path);
  }
  return all;
}

bool HoldsAllRows(const format::KeyRange& rows, const Memstore& memstore) {
  Memstore::Iterator row(&memstore);
  row.SeekToFirst();
  if (row.key() < rows.low) return false;
  row.SeekToLast();
  return !rows.high.has_value() || row.key() < *rows.high;
}

void SortByKey(std::vector<const MemRow*>* rows) {
  constexpr size_t kAhead = 16;
  std::vector<HeadedRow> headed;
  headed.reserve(rows->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    __builtin_prefetch((*rows)[std::min(i + kAhead, rows->size() - 1)]);
    headed.push_back({format::KeyHead(Memstore::Key((*rows)[i])), (*rows)[i]});
  }
  std::sort(headed.begin(), headed.end());
  headed.erase(std::unique(headed.begin(), headed.end()), headed.end());
  rows->clear();
  for (const HeadedRow& row : headed) rows->push_back(row.row);
}

std::optional<int64_t> NewestPutOf(const format::StoreFile& file,
                                   const format::IndexColumnRecord& column) {
  const format::FileStatistics& statistics = file.statistics();
  const bool is_of_family = column.is_of_family();  // Its times have an empty qualifier too.
  for (const format::ColumnTimes& times :
       is_of_family ? statistics.family_times : statistics.column_times) {
    if (times.family == column.family && times.qualifier == column.qualifier) {
      return times.max_timestamp;
    }
  }
  return std::nullopt;
}

bool GoesOnWithoutIndex(format::StoreFile* file, format::IndexId index, const Status& status) {
  if (status.code() != StatusCode::kCorruption) return false;
  file->MarkIndexBroken(index, status);
  const Result<format::IndexSection*> section = file->Index(index);
  return section.has_value() && *section == nullptr;
}

Result<format::IndexSection*> UsableSection(format::StoreFile* file, format::IndexId index) {
  Result<format::IndexSection*> section = file->Index(index);
  if (section.has_value() || !GoesOnWithoutIndex(file, index, section.error())) return section;
  return static_cast<format::IndexSection*>(nullptr);
}

Result<format::IndexSection*> UsableSection(const FileSource& source,
                                            const format::IndexRecord& index) {
  if (index.needs_order() && !source.in_order) return static_cast<format::IndexSection*>(nullptr);
  return UsableSection(source.file, index.id);
}

std::optional<size_t> UsableIn(const Memstore& memstore, const Cluster& cluster,
                               const format::IndexRecord& index) {
  if (index.needs_order() && !cluster.in_order) return std::nullopt;
  return memstore.FindIndex(index.id);
}

namespace {

Result<FileCandidates> CollectCandidates(const FileSource& source, const AccessPath& access) {
  FileCandidates candidates{.ordinals = {}, .decided = access.exact};
  if (access.paths.size() == 1 && !access.paths[0].nulls && access.keys == nullptr) {
    candidates.index = access.paths[0].index;
    candidates.index_decides =
        access.exact && !access.is_intersection() && format::DiesByPuts(*candidates.index);
  }
  for (const IndexPath& path : access.paths) {
    const format::IndexId index = path.index->id;
    ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
    const Status status =
        section == nullptr ? Status() : AddPath(source, path, section, &candidates.ordinals);
    if (section == nullptr || GoesOnWithoutIndex(source.file, index, status)) {
      candidates = {.ordinals = {}, .decided = false};
      AddAll(BoundsOf(source), &candidates.ordinals);
      return candidates;
    }
    RETURN_IF_ERROR(status);
  }
  if (access.keys != nullptr) {
    RETURN_IF_ERROR(
        FindRows(source, access.keys->span(), !source.file_overlaps.empty(), &candidates.ordinals));
  }
  SortUnique(&candidates.ordinals, source.file->row_count());
  return candidates;
}

}  // namespace

// A read holds them until it ends, so they are charged to the block cache.
Result<FileCandidates> CandidatesOf(const FileSource& source, const AccessPath& access) {
  ASSIGN_OR_RETURN(FileCandidates candidates, CollectCandidates(source, access));
  candidates.charge = ChargeHits(source, candidates.ordinals.capacity());
  return candidates;
}

base::MemoryCharge ChargeHits(const FileSource& source, size_t ordinals) {
  const uint64_t bytes = ordinals * sizeof(uint32_t);
  if (bytes < kCountedBytesMin) return {};
  return source.file->blocks().Charge(base::MemoryPart::kHits, bytes);
}

// Postings that are dead stay: no single-source row has one.
Result<std::optional<std::vector<uint32_t>>> OrdinalsOf(const FileSource& source,
                                                        const AccessPath::Condition& paths,
                                                        format::OrdinalRange rows) {
  std::vector<uint32_t> found;
  for (const IndexPath& path : paths) {
    const format::IndexId index = path.index->id;
    ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
    if (section == nullptr) return std::optional<std::vector<uint32_t>>();
    Status status = AddPostings(source, path, rows, section, &found);
    if (status.ok() && path.nulls) status = AddNulls(source, rows, section, &found);
    if (GoesOnWithoutIndex(source.file, index, status)) {
      return std::optional<std::vector<uint32_t>>();
    }
    RETURN_IF_ERROR(status);
  }
  return std::optional(std::move(found));
}

Result<std::optional<std::vector<uint32_t>>> LookFor(const FileSource& source,
                                                     const AccessPath::Condition& paths,
                                                     std::span<const uint32_t> sought) {
  constexpr std::optional<std::vector<uint32_t>> kNotLookedFor;
  if (paths.size() != 1 || sought.empty()) return kNotLookedFor;
  // A key has at most a posting of each row between them.
  const size_t rows = sought.back() - sought.front() + size_t{1};
  if (rows < sought.size() * kPostingsPerSearch) return kNotLookedFor;
  const IndexPath& path = paths.front();
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
  if (section == nullptr) return kNotLookedFor;
  Result<std::optional<std::vector<uint32_t>>> found = LookForIn(source, path, section, sought);
  if (!GoesOnWithoutIndex(source.file, path.index->id, found.status())) return found;
  return kNotLookedFor;
}

// Of a window of keys (row_windows.h) the rows may be few beside those with an entry.
std::vector<const MemRow*> MemstoreCandidates(const Cluster& cluster, const AccessPath& access,
                                              const format::ReadPoint& point) {
  std::vector<const MemRow*> rows, found;
  bool holds_all = true;
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    const bool is_window = !HoldsAllRows(cluster.rows, *memstore);
    holds_all &= !is_window;
    for (const IndexPath& path : access.paths) {
      const std::optional<size_t> index = UsableIn(*memstore, cluster, *path.index);
      const auto& ranges = path.RangesOfMemstores(cluster.in_order);
      DeadRows dead(cluster, path, point);
      uint64_t entries = 0;
      for (const format::KeyRange& range : ranges) {
        if (is_window && index.has_value()) entries += memstore->CountIndex(*index, range);
      }
      if (entries > kEntriesPerWalkedRow && !path.nulls &&
          dead.CollectByKey(*memstore, ranges, cluster.rows, entries / kEntriesPerWalkedRow,
                            &found)) {
        rows.insert(rows.end(), found.begin(), found.end());
        continue;
      }
      for (const format::KeyRange& range : ranges) {
        if (!index.has_value()) break;
        dead.Collect(*memstore, *index, range, &found);
        rows.insert(rows.end(), found.begin(), found.end());
      }
      if (path.nulls || !index.has_value()) {
        AddMemstoreRows(*memstore, cluster.rows, point.sequence, &rows);
      }
    }
    if (access.keys == nullptr) continue;
    FindRows(*memstore, KeysIn(access.keys->span(), cluster.rows), point.sequence, &rows);
  }
  if (holds_all) return rows;  // No key is touched.
  std::erase_if(rows,
                [&](const MemRow* row) { return !cluster.rows.Contains(Memstore::Key(row)); });
  return rows;
}

namespace {

// Where the index of the access is in the only memstore, if a Put there decides alone unless a file
// has a newer one. (Markers hide Puts of smaller sequences alone, and those of files are smaller.)
std::optional<size_t> FindDecidingIndex(const Cluster& cluster, const AccessPath& access,
                                        const TableView& view) {
  if (cluster.memstores.size() != 1 || access.paths.size() != 1 || access.paths[0].nulls) return {};
  if (access.is_intersection()) return {};  // Another column decides too.
  const format::IndexRecord& index = *access.paths[0].index;
  if (!format::DiesByPuts(index) || view.point.is_bounded()) return {};
  const bool may_expire =
      std::any_of(view.table->families.begin(), view.table->families.end(),
                  [&](const format::FamilyRecord& family) {
                    return family.id == index.columns[0].family && family.options.ttl_micros != 0;
                  });
  return may_expire ? std::nullopt : cluster.memstores[0]->FindIndex(index.id);
}

// No Put of the column in a file of the cluster has a larger timestamp.
int64_t NewestPutOfFiles(const Cluster& cluster, const format::IndexColumnRecord& column) {
  int64_t newest = INT64_MIN;
  for (const FileSource& source : cluster.files) {
    const int64_t newest_of_all = source.file->statistics().max_timestamp;
    newest = std::max(newest, NewestPutOf(*source.file, column).value_or(newest_of_all));
  }
  return newest;
}

// Where it is, if its live entries are those of rows that match: no file has a newer Put, and all
// rows of the memstore are in the cluster.
std::optional<size_t> FindIndexOfMatches(const Cluster& cluster, const AccessPath& access,
                                         const TableView& view) {
  const std::optional<size_t> index = FindDecidingIndex(cluster, access, view);
  if (!index.has_value()) return std::nullopt;
  const IndexPath& path = access.paths[0];
  if (path.repeats_rows) return std::nullopt;  // There are entries, not rows.
  const Memstore& memstore = *cluster.memstores[0];
  const bool is_newer =
      memstore.min_timestamp() >= NewestPutOfFiles(cluster, path.index->columns[0]);
  return is_newer && HoldsAllRows(cluster.rows, memstore) ? index : std::nullopt;
}

}  // namespace

MemstoreHits HitsOfMemstores(const Cluster& cluster, const AccessPath& access,
                             const TableView& view) {
  MemstoreHits hits;
  const std::optional<size_t> index =
      access.exact ? FindIndexOfMatches(cluster, access, view) : std::nullopt;
  if (index.has_value()) {
    const Memstore& memstore = *cluster.memstores[0];
    hits.match = std::ranges::all_of(access.paths[0].ranges, [&](const format::KeyRange& range) {
      return memstore.CollectLiveIndex(*index, range, view.point.sequence, &hits.rows);
    });
  }
  if (!hits.match) hits.rows = MemstoreCandidates(cluster, access, view.point);
  return hits;
}

std::optional<uint64_t> CountKnownMatches(const Cluster& cluster, const AccessPath& access,
                                          const TableView& view) {
  const std::optional<size_t> index = FindIndexOfMatches(cluster, access, view);
  if (!index.has_value()) return std::nullopt;
  const Memstore& memstore = *cluster.memstores[0];
  uint64_t count = 0;
  for (const format::KeyRange& range : access.paths[0].ranges) {
    const std::optional<uint64_t> here =
        memstore.CountLiveIndex(*index, range, view.point.sequence);
    if (!here.has_value()) return std::nullopt;
    count += *here;
  }
  return count;
}

MemstoreMatches MatchesOfMemstores(const Cluster& cluster, const AccessPath& access,
                                   const TableView& view) {
  const std::optional<size_t> index = FindDecidingIndex(cluster, access, view);
  if (!index.has_value()) {
    return {.known = {}, .others = MemstoreCandidates(cluster, access, view.point)};
  }
  std::vector<const MemRow*> found;
  for (const format::KeyRange& range : access.paths[0].ranges) {
    cluster.memstores[0]->CollectIndex(*index, range, view.point.sequence, &found);
  }
  return *MatchesAmong(cluster, access, view, std::move(found));
}

std::optional<MemstoreMatches> MatchesAmong(const Cluster& cluster, const AccessPath& access,
                                            const TableView& view,
                                            std::vector<const MemRow*> found) {
  if (!FindDecidingIndex(cluster, access, view).has_value()) return std::nullopt;
  MemstoreMatches matches;
  const IndexPath& path = access.paths[0];
  const int64_t newest_of_files = NewestPutOfFiles(cluster, path.index->columns[0]);
  DeadRows dead(cluster, path, view.point);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  dead.ForEachLive(path.ranges, found, [&](const MemRow* row, const LivePut* put) {
    if (!cluster.rows.Contains(Memstore::Key(row))) return;
    const bool is_known = put != nullptr && put->timestamp >= newest_of_files;
    (is_known ? matches.known : matches.others).push_back(row);
  });
  return matches;
}

namespace {

// nullopt: the file has no usable section.
Result<std::optional<uint64_t>> EntriesIn(const FileSource& source, const IndexPath& path,
                                          Precision precision) {
  const format::IndexId index = path.index->id;
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
  if (section == nullptr) return std::optional<uint64_t>();
  const Result<uint64_t> entries = EntriesOf(source, path, precision, section);
  if (entries.has_value()) return std::optional(*entries);
  if (!GoesOnWithoutIndex(source.file, index, entries.error())) return entries.error();
  return std::optional<uint64_t>();
}

// A key that both parts have counts twice.
Result<bool> AreKeysAtMost(const FileSource& source, const IndexPath& path, size_t most,
                           format::IndexSection* section, size_t* keys) {
  for (const format::KeyRange& range : path.RangesIn(source.in_order)) {
    for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
      if (part == IndexPart::kOlder && source.visible) continue;
      const std::unique_ptr<format::IndexValueCursor> value = section->NewCursor(part);
      RETURN_IF_ERROR(value->Seek(range.low));
      for (; value->valid() && range.Contains(value->key()); ++*keys) {
        if (*keys == most) return false;
        RETURN_IF_ERROR(value->Next());
      }
    }
  }
  return true;
}

}  // namespace

Result<std::optional<size_t>> KeysIn(const FileSource& source, const IndexPath& path, size_t most) {
  const std::optional<size_t> none;
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source, *path.index));
  if (section == nullptr) return none;
  size_t keys = 0;
  const Result<bool> are_few = AreKeysAtMost(source, path, most, section, &keys);
  if (are_few.has_value()) return *are_few ? std::optional(keys) : none;
  if (!GoesOnWithoutIndex(source.file, path.index->id, are_few.error())) return are_few.error();
  return none;
}

Result<std::optional<uint64_t>> ExactEntries(const FileSource& source, const IndexPath& path) {
  return EntriesIn(source, path, Precision::kExact);
}

Result<uint64_t> CountEntries(const FileSource& source, const IndexPath& path,
                              Precision precision) {
  ASSIGN_OR_RETURN(const std::optional<uint64_t> entries, EntriesIn(source, path, precision));
  return entries.value_or(source.high - source.low);
}

bool MemstoresHave(const Cluster& cluster, const format::IndexRecord& index) {
  return std::all_of(cluster.memstores.begin(), cluster.memstores.end(), [&](const auto& memstore) {
    return UsableIn(*memstore, cluster, index).has_value();
  });
}

uint64_t CountMemstoreEntries(const Cluster& cluster, const IndexPath& path) {
  uint64_t entries = 0;
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    const std::optional<size_t> index = UsableIn(*memstore, cluster, *path.index);
    if (!index.has_value()) entries += memstore->row_count();
    for (const format::KeyRange& range : path.RangesOfMemstores(cluster.in_order)) {
      if (index.has_value()) entries += memstore->CountIndex(*index, range);
    }
    if (path.nulls) entries += memstore->row_count();
  }
  return entries;
}

}  // namespace tandem::engine
