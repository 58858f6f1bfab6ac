// Look-ups in the sources, then the blocks of what was found.
#include "engine/read/few_rows_finder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "engine/source/candidates.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"
#include "format/hash.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {
namespace {

// Of the blocks that a query keeps.
constexpr size_t kPinnedBytesMax = 1 << 20;

}  // namespace

bool FewRowsFinder::Find(TableView* view) {
  table_ = view->table.get();
  point_ = view->point;
  const Result<bool> is_found = FindInSources(view);
  return is_found.has_value() && *is_found;
}

Result<bool> FewRowsFinder::FindInSources(TableView* view) {
  for (const std::shared_ptr<const RegionVersion>& region : view->regions) {
    for (const FileSlice& slice : region->files) {
      ASSIGN_OR_RETURN(const bool are_few, AddHits(*region, slice));
      if (!are_few) return false;
    }
    for (const std::shared_ptr<const Memstore>& memstore : region->memstores) {
      if (!IsSeen(*memstore)) continue;
      ASSIGN_OR_RETURN(const bool are_few, AddEntries(*region, *memstore));
      if (!are_few) return false;
    }
  }
  if (region_ == nullptr) return true;
  if (file_ != nullptr) {
    SortUnique(&rows_.ordinals, file_->row_count());
    ASSIGN_OR_RETURN(const bool are_clean, AreClean());
    if (!are_clean) return false;
  }
  if (entries_.empty()) {
    ASSIGN_OR_RETURN(const bool are_alone, AreAlone());
    if (are_alone) return FindBlocks();
  }
  return AddUpdates(view);
}

// Adds the rows of the slice that match. False: that is not known.
Result<bool> FewRowsFinder::AddHits(const RegionVersion& region, const FileSlice& slice) {
  format::StoreFile& file = slice.file->store();
  if (!IsSeen(file)) return true;
  // Else its older entries count as well.
  if (!file.ShowsCurrentEntries(table_->families, point_.sequence)) return false;
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(&file, index_->id));
  if (section == nullptr) return false;
  const size_t before = rows_.ordinals.size();
  const format::IndexSection::Few few{{slice.low, std::min(slice.high, file.row_count())},
                                      kFewRowsMax - before};
  for (const format::KeyRange& range : ranges_) {
    ASSIGN_OR_RETURN(const bool are_few,
                     section->AppendFew(format::IndexPart::kCurrent, range, few, &rows_.ordinals));
    if (!are_few || rows_.ordinals.size() > kFewRowsMax) return false;
  }
  if (rows_.ordinals.size() == before) return true;
  if (region_ != nullptr) return false;  // Rows of several files, or regions, have to be merged.
  region_ = &region;
  file_ = &file;
  return !file.MayHaveExpired(table_->families, point_.now_micros);
}

// Adds the rows of the memstore with an entry. False: it may have too many, or lacks the index.
Result<bool> FewRowsFinder::AddEntries(const RegionVersion& region, const Memstore& memstore) {
  const std::optional<size_t> index = memstore.FindIndex(index_->id);
  if (!index.has_value()) return false;
  const size_t before = entries_.size();
  for (const format::KeyRange& range : ranges_) {
    const size_t most = kFewRowsMax - entries_.size();
    if (!memstore.CollectFew(*index, range, point_.sequence, most, &entries_)) return false;
  }
  if (entries_.size() == before) return true;
  if (region_ != nullptr && region_ != &region) return false;
  region_ = &region;
  return true;
}

Result<bool> FewRowsFinder::AreClean() const {
  if (file_->all_clean()) return true;
  ASSIGN_OR_RETURN(const format::Bitmap* clean, file_->CleanRows());
  return std::ranges::all_of(rows_.ordinals,
                             [clean](uint32_t ordinal) { return clean->Test(ordinal); });
}

// Whether no other source holds one of the rows.
Result<bool> FewRowsFinder::AreAlone() const {
  std::vector<const Memstore*> memstores;
  std::vector<format::StoreFile*> files;
  for (const std::shared_ptr<const Memstore>& memstore : region_->memstores) {
    if (IsSeen(*memstore)) memstores.push_back(memstore.get());
  }
  for (const FileSlice& other : region_->files) {
    format::StoreFile* const store = &other.file->store();
    if (store != file_ && IsSeen(*store)) files.push_back(store);
  }
  if (memstores.empty() && files.empty()) return true;
  std::array<uint64_t, kFewRowsMax> hashes;
  ASSIGN_OR_RETURN(format::KeyHashesReader reader, format::KeyHashesReader::Open(file_));
  for (size_t i = 0; i < rows_.ordinals.size(); ++i) {
    ASSIGN_OR_RETURN(hashes[i], reader.At(rows_.ordinals[i]));
  }
  const std::span<const uint64_t> sought(hashes.data(), rows_.ordinals.size());
  std::array<const MemRow*, kFewRowsMax> found;
  for (const Memstore* memstore : memstores) {
    memstore->FindEach(sought, {found.data(), sought.size()});
    for (size_t i = 0; i < sought.size(); ++i) {
      if (found[i] != nullptr) return false;
    }
  }
  for (format::StoreFile* other : files) {
    for (const uint64_t hash : sought) {
      ASSIGN_OR_RETURN(const bool may_hold, other->MayContain(hash));
      if (may_hold) return false;
    }
  }
  return true;
}

// The context has the view, unless the query has to be planned.
Result<bool> FewRowsFinder::AddUpdates(TableView* view) {
  if (region_->files.size() != 1) return false;
  ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::Make(*view, options_));
  if (!schema.ShowsNewestPuts()) return false;
  context_ = std::make_unique<ReadContext>(resources_, std::move(*view), std::move(schema));
  const Result<bool> is_known = MergeUpdates();
  if (is_known.has_value() && *is_known) return true;
  *view = std::move(context_->view);
  context_.reset();
  return is_known;
}

Result<bool> FewRowsFinder::MergeUpdates() {
  format::KeyRange all{region_->start_key, std::nullopt};
  if (!region_->end_key.empty()) all.high = region_->end_key;
  ASSIGN_OR_RETURN(std::vector<Cluster> clusters, FindClusters(context_->view, all));
  // One for both, even if their keys do not interleave.
  Cluster cluster;
  cluster.rows = std::move(all);
  for (Cluster& part : clusters) {
    std::ranges::move(part.files, std::back_inserter(cluster.files));
    std::ranges::move(part.memstores, std::back_inserter(cluster.memstores));
  }
  if (cluster.files.size() != 1 || cluster.memstores.size() != 1) return false;
  const FileSource& source = cluster.files.front();
  if (file_ != nullptr && source.file != file_) return false;
  file_ = source.file;
  std::vector<LocatedRow> located;
  if (!entries_.empty()) {
    AccessPath access{.paths = {{.index = index_, .ranges = std::move(ranges_)}}, .exact = true};
    std::optional<MemstoreMatches> matches =
        MatchesAmong(cluster, access, context_->view, std::move(entries_));
    if (!matches.has_value() || !matches->others.empty()) return false;
    entries_ = std::move(matches->known);
    ASSIGN_OR_RETURN(const bool are_located, LocateRows(*context_, cluster, &entries_, &located));
    if (!are_located) RETURN_IF_ERROR(LocateByKey(source, &entries_, &located));
    SortByKey(&entries_);
  }
  FileCandidates candidates{.ordinals = std::move(rows_.ordinals), .decided = true};
  candidates.index = index_;
  candidates.index_decides = true;
  CandidateStream stream(context_.get(), cluster, source, std::move(candidates),
                         std::move(located));
  rows_.Clear();
  RETURN_IF_ERROR(stream.Take(kFewRowsMax, &rows_));
  if (!stream.is_done() || !AreDecided(source)) return false;
  ASSIGN_OR_RETURN(const bool are_cached, FindBlocks());
  if (!are_cached) return false;
  RETURN_IF_ERROR(MergeByKey());
  return true;
}

// As LocateRows, for an overlap that is not known.
Status FewRowsFinder::LocateByKey(const FileSource& source, std::vector<const MemRow*>* rows,
                                  std::vector<LocatedRow>* located) const {
  size_t kept = 0;
  for (const MemRow* row : *rows) {
    const std::string_view key = Memstore::Key(row);
    ASSIGN_OR_RETURN(const auto found,
                     source.file->FindByHash(key, format::RowHash(key, table_->hash_secret)));
    const uint32_t ordinal = found.has_value() ? found->ordinal.value : source.high;
    if (ordinal < source.low || ordinal >= source.high) {
      (*rows)[kept++] = row;
    } else {
      located->push_back({ordinal, row});
    }
  }
  rows->resize(kept);
  std::ranges::sort(*located, {}, &LocatedRow::ordinal);
  return {};
}

// Whether each row is known to match, and is what its block and the memstore's Puts make of it.
bool FewRowsFinder::AreDecided(const FileSource& source) const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (!source.MayBeSingleSource(rows_.ordinals[i])) return false;
    const uint8_t mark = rows_.marks[i];
    if (mark == 0) continue;
    if (rows_.memstore_rows[i] == nullptr) return false;
    if ((mark & (CandidateRows::kUntouched | CandidateRows::kInMemstore)) == 0) return false;
  }
  return true;
}

// Each loop prefetches what the next one needs.
Result<bool> FewRowsFinder::FindBlocks() {
  const std::vector<uint32_t>& ordinals = rows_.ordinals;
  ASSIGN_OR_RETURN(data_, file_->Family(table_->families[0].id));
  if (data_ == nullptr || !data_->is_full()) return false;
  std::array<uint32_t, kFewRowsMax> blocks;
  uint32_t block = 0, piece = 0;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    piece = data_->index().PieceOf(ordinals[i], piece);
    if (!data_->index().HasPiece(piece)) return false;  // The walk reads many at a time.
    ASSIGN_OR_RETURN(block, data_->BlockOf(ordinals[i], block));
    blocks[i] = block;
    data_->PrefetchRows(block);
  }
  found_.reserve(ordinals.size() + entries_.size());
  size_t pinned_bytes = 0;
  for (size_t i = 0; i < ordinals.size(); ++i) {
    format::RowBlockRef rows;
    if (i > 0 && blocks[i] == blocks[i - 1]) {
      rows = found_.back().rows;
    } else {
      rows = data_->UsedRows(blocks[i]);
    }
    if (rows == nullptr) {
      ASSIGN_OR_RETURN(const format::DataBlock place, data_->BlockAt(blocks[i]));
      rows = data_->CachedRows(place);
    }
    if (rows == nullptr || rows->is_wide()) return false;
    pinned_bytes += rows->raw_bytes;
    if (pinned_bytes > kPinnedBytesMax) return false;
    const uint32_t slot = ordinals[i] - rows->first();
    rows->PrefetchPlace(slot);
    const MemRow* const newer = context_ == nullptr ? nullptr : rows_.memstore_rows[i];
    if (newer != nullptr) Memstore::PrefetchRow(newer);
    found_.push_back({std::move(rows), slot, newer});
  }
  return true;
}

// Merges the rows that the memstore alone has into those of the file.
Status FewRowsFinder::MergeByKey() {
  if (entries_.empty()) return {};
  std::vector<FoundRow> of_file;
  of_file.reserve(found_.size() + entries_.size());
  of_file.swap(found_);
  std::string key;
  size_t at = 0;
  for (const MemRow* row : entries_) {
    for (; at < of_file.size(); ++at) {
      RETURN_IF_ERROR(of_file[at].rows->Key(of_file[at].slot, &key));
      if (key > Memstore::Key(row)) break;
      found_.push_back(std::move(of_file[at]));
    }
    found_.push_back({.newer = row});
  }
  std::move(of_file.begin() + static_cast<ptrdiff_t>(at), of_file.end(),
            std::back_inserter(found_));
  return {};
}

}  // namespace tandem::engine
