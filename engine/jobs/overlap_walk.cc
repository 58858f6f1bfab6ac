// The walk, and what it knows of each older file.
#include "engine/jobs/overlap_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/status_macros.h"
#include "engine/jobs/overlap_rows.h"
#include "engine/source/candidates.h"
#include "index/entries.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {
namespace {

// One older file: which rows it may hold, in which blocks, and the row sets built so far.
class OlderFile {
 public:
  OlderFile(format::StoreFile* file, NewerRows* newer, uint32_t newer_row_count)
      : file_(file),
        newer_(newer),
        hashes_(file),
        older_shared_(file->row_count()),
        newer_shared_(newer_row_count) {}

  Status Open();
  /// Checks the hashes of the newer file's next rows, from ordinal `first` on, against the filter.
  void Filter(uint32_t first, std::span<const uint64_t> hashes);
  bool MayHold(uint32_t slot) const { return may_hold_[slot]; }
  /// Looks for a row of the newer file for which MayHold is true. Requires: keys ascend.
  Status Look(uint32_t slot, std::string_view key);
  /// Begins a block of the newer file, which NewerRows has entered.
  void BeginBlock();
  /// Ends the block.
  Status EndBlock() { return MatchGroup(); }
  PairOverlap Finish();

 private:
  struct Member {
    uint64_t hash = 0;
    uint32_t slot = 0;
    bool is_shared = false;
  };
  struct Dying {
    size_t index = 0;  // Of NewerRows.
    int64_t timestamp = 0;
    bool all = false;                                  // Every matching row dies.
    NewerRows::Share share = NewerRows::Share::kSome;  // Of the newer file's block.
    RowSet::Builder rows;
  };

  Status MatchGroup();
  Status MatchOne(uint32_t first, std::span<const uint64_t> hashes);
  Status MatchMany(uint32_t first, std::span<const uint64_t> hashes);
  Status Meet(uint32_t ordinal, Member* member);
  void OverlapTwins();

  format::StoreFile* file_;
  NewerRows* newer_;
  format::KeyHashesReader hashes_;
  const format::DataSection* rows_ = nullptr;    // Of the key carrier.
  const format::BloomFilter* filter_ = nullptr;  // Null: it does not fit, and any row may be here.
  std::unique_ptr<bool[]> may_hold_;
  size_t may_hold_size_ = 0;
  uint32_t newer_first_ = 0;  // Ordinal of the current block's first row.
  std::span<const uint64_t> newer_hashes_;

  bool is_placed_ = false;
  format::DataBlock place_;  // Where the group's keys lead, once it is placed.
  bool has_end_ = false;
  std::string block_end_;  // Smaller keys lead there too; without one, all greater ones.
  std::vector<Member> group_;

  RowSet::Builder older_shared_, newer_shared_;
  std::vector<Dying> dying_;
  bool is_aligned_ = true;
  int64_t last_older_ = -1, last_newer_ = -1;  // Ordinals that matched last.
};

Status OlderFile::Open() {
  ASSIGN_OR_RETURN(filter_, file_->Filter());
  ASSIGN_OR_RETURN(rows_, file_->Carrier());
  for (size_t i = 0; i < newer_->index_count(); ++i) {
    ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(file_, newer_->index(i)));
    const std::optional<int64_t> newest = NewestPutOf(*file_, newer_->column(i));
    if (section == nullptr || !newest.has_value()) continue;
    const NewerRows::Share share = newer_->ShareOfFile(i, *newest);
    if (share == NewerRows::Share::kNone) continue;
    dying_.push_back({.index = i,
                      .timestamp = *newest,
                      .all = share == NewerRows::Share::kAll,
                      .rows = RowSet::Builder(file_->row_count())});
  }
  return {};
}

void OlderFile::Filter(uint32_t first, std::span<const uint64_t> hashes) {
  newer_first_ = first;
  newer_hashes_ = hashes;
  if (may_hold_size_ < hashes.size()) {
    may_hold_size_ = hashes.size();
    may_hold_ = std::make_unique<bool[]>(may_hold_size_);
  }
  format::MayContainEach(filter_, hashes, {may_hold_.get(), hashes.size()});
}

void OlderFile::BeginBlock() {
  for (Dying& dying : dying_) dying.share = newer_->ShareOfBlock(dying.index, dying.timestamp);
}

Status OlderFile::Look(uint32_t slot, std::string_view key) {
  if (!is_placed_ || (has_end_ && key >= block_end_)) {
    ASSIGN_OR_RETURN(const uint32_t block, rows_->BlockOfKey(key, place_.number));
    ASSIGN_OR_RETURN(const format::DataBlock place, rows_->BlockAt(block));
    hashes_.Prefetch(place.first, place.count);  // Fetched while the last group is matched.
    RETURN_IF_ERROR(MatchGroup());
    place_ = place;
    has_end_ = block + 1 < rows_->block_count();
    if (has_end_) RETURN_IF_ERROR(rows_->SeparatorOf(block + 1, &block_end_));
    is_placed_ = true;
  }
  group_.push_back({newer_hashes_[slot], slot, false});
  return {};
}

// Step 3.
Status OlderFile::MatchGroup() {
  if (group_.empty()) return {};
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes,
                   hashes_.Read(place_.first, place_.count));
  if (group_.size() == 1) {
    RETURN_IF_ERROR(MatchOne(place_.first, hashes));
  } else {
    RETURN_IF_ERROR(MatchMany(place_.first, hashes));
    OverlapTwins();
  }
  group_.clear();
  return {};
}

// Compares eight hashes at a time, with a single branch.
Status OlderFile::MatchOne(uint32_t first, std::span<const uint64_t> hashes) {
  constexpr size_t kAtOnce = 8;
  const uint64_t wanted = group_.front().hash;
  for (size_t i = 0; i < hashes.size(); i += kAtOnce) {
    const size_t end = std::min(i + kAtOnce, hashes.size());
    if (end == i + kAtOnce) {
      uint32_t found = 0;
      for (size_t k = 0; k < kAtOnce; ++k) found |= hashes.data()[i + k] == wanted ? 1 : 0;
      if (found == 0) continue;
    }
    for (size_t k = i; k < end; ++k) {
      if (hashes[k] != wanted) continue;
      RETURN_IF_ERROR(Meet(first + static_cast<uint32_t>(k), &group_.front()));
    }
  }
  return {};
}

// Both sides ascend, so the member after the last match is usually the next match.
Status OlderFile::MatchMany(uint32_t first, std::span<const uint64_t> hashes) {
  // A bit for each member, by its hash; enough that few hashes share one.
  constexpr size_t kMarkWords = 64;
  std::array<uint64_t, kMarkWords> marks;
  const size_t words = std::min(kMarkWords, std::bit_ceil(group_.size() / 2 + 1));
  std::fill_n(marks.begin(), words, 0);
  const auto word = [words](uint64_t hash) { return (hash / 64) & (words - 1); };
  for (const Member& member : group_) {
    marks[word(member.hash)] |= uint64_t{1} << (member.hash % 64);
  }
  size_t next = 0;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const uint64_t hash = hashes[i];
    if (((marks[word(hash)] >> (hash % 64)) & 1) == 0) continue;
    const auto is_it = [hash](const Member& member) { return member.hash == hash; };
    const auto from = group_.begin() + static_cast<ptrdiff_t>(next);
    auto found = std::find_if(from, group_.end(), is_it);
    if (found == group_.end()) found = std::find_if(group_.begin(), from, is_it);
    if (found == group_.end() || !is_it(*found)) continue;
    next = static_cast<size_t>(found - group_.begin()) + 1;
    RETURN_IF_ERROR(Meet(first + static_cast<uint32_t>(i), &*found));
  }
  return {};
}

Status OlderFile::Meet(uint32_t ordinal, Member* member) {
  const uint32_t newer = newer_first_ + member->slot;
  member->is_shared = true;
  is_aligned_ = is_aligned_ && ordinal > last_older_ && newer > last_newer_;
  last_older_ = ordinal;
  last_newer_ = newer;
  older_shared_.Add(ordinal);
  newer_shared_.Add(newer);
  for (Dying& dying : dying_) {
    if (dying.all || dying.share == NewerRows::Share::kNone) continue;
    bool supersedes = dying.share == NewerRows::Share::kAll;
    if (!supersedes) {
      ASSIGN_OR_RETURN(supersedes, newer_->Supersedes(member->slot, dying.index, dying.timestamp));
    }
    if (supersedes) dying.rows.Add(ordinal);
  }
  return {};
}

// A member with the same hash as one that matched could be the matching row too.
void OlderFile::OverlapTwins() {
  const auto is_shared = [](const Member& member) { return member.is_shared; };
  if (std::all_of(group_.begin(), group_.end(), is_shared)) return;
  for (const Member& member : group_) {
    if (member.is_shared) continue;
    const bool is_twin = std::any_of(group_.begin(), group_.end(), [&](const Member& other) {
      return other.is_shared && other.hash == member.hash;
    });
    if (!is_twin) continue;
    newer_shared_.Add(newer_first_ + member.slot);
    is_aligned_ = false;
  }
}

PairOverlap OlderFile::Finish() {
  PairOverlap pair;
  pair.older_shared = older_shared_.Finish();
  pair.newer_shared = newer_shared_.Finish();
  pair.is_aligned = is_aligned_;
  std::vector<PairOverlap::Set> known = {pair.older_shared};
  for (Dying& dying : dying_) {
    PairOverlap::Set rows = dying.all ? pair.older_shared : dying.rows.Finish();
    if (rows == nullptr) continue;
    const auto equal = std::find_if(known.begin(), known.end(), [&](const PairOverlap::Set& set) {
      return set == rows || *set == *rows;
    });
    if (equal != known.end()) {
      rows = *equal;
    } else {
      known.push_back(rows);
    }
    pair.dead.emplace_back(newer_->index(dying.index), std::move(rows));
  }
  pair.dead.shrink_to_fit();
  return pair;
}

// A flush that becomes due waits for at most this many blocks, a few milliseconds. After it the
// walk goes on for as many, so it ends however many flushes there are.
constexpr uint32_t kBlocksBetweenTasks = 64;

class OverlapWalk {
 public:
  explicit OverlapWalk(const OverlapRequest& request) : request_(request), hashes_(request.newer) {}

  Result<std::vector<PairOverlap>> Run();

 private:
  Status OpenNewer();
  Status WalkBlock(uint32_t block);
  Status LookForRows(uint32_t count);

  const OverlapRequest& request_;
  std::unique_ptr<NewerRows> newer_;
  format::KeyHashesReader hashes_;
  std::vector<std::unique_ptr<OlderFile>> older_;
};

Status OverlapWalk::OpenNewer() {
  if (request_.record != nullptr) {
    DCHECK(request_.record->row_count() == request_.newer->row_count());
    newer_ = NewRecordedRows(request_.table, *request_.record);
  }
  if (newer_ != nullptr) return {};
  ASSIGN_OR_RETURN(newer_, NewFileRows(request_.table, request_.newer));
  return {};
}

Result<std::vector<PairOverlap>> OverlapWalk::Run() {
  RETURN_IF_ERROR(OpenNewer());
  for (format::StoreFile* file : request_.older) {
    older_.push_back(std::make_unique<OlderFile>(file, newer_.get(), request_.newer->row_count()));
    RETURN_IF_ERROR(older_.back()->Open());
  }
  for (uint32_t block = 0; block < newer_->block_count(); ++block) {
    if (request_.cancelled != nullptr && request_.cancelled->load(std::memory_order_relaxed)) {
      return Status(StatusCode::kCancelled, "the search for shared rows was cancelled");
    }
    if (request_.jobs != nullptr && block % kBlocksBetweenTasks == 0) request_.jobs->RunUrgent();
    RETURN_IF_ERROR(WalkBlock(block));
  }
  std::vector<PairOverlap> pairs;
  for (const std::unique_ptr<OlderFile>& older : older_) {
    pairs.push_back(older->Finish());
  }
  return pairs;
}

Status OverlapWalk::WalkBlock(uint32_t block) {
  ASSIGN_OR_RETURN(const NewerRows::Block place, newer_->BlockAt(block));
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, hashes_.Read(place.first, place.count));
  bool any = false;
  for (const auto& older : older_) {
    older->Filter(place.first, hashes);
    for (uint32_t slot = 0; slot < place.count && !any; ++slot) any = older->MayHold(slot);
  }
  if (!any) return {};
  RETURN_IF_ERROR(newer_->Enter(block));
  for (const auto& older : older_) older->BeginBlock();
  RETURN_IF_ERROR(LookForRows(place.count));
  for (const auto& older : older_) RETURN_IF_ERROR(older->EndBlock());
  return {};
}

Status OverlapWalk::LookForRows(uint32_t count) {
  for (uint32_t slot = 0; slot < count; ++slot) {
    std::string_view key;  // Those of rows are not empty.
    for (const auto& older : older_) {
      if (!older->MayHold(slot)) continue;
      if (key.empty()) {
        ASSIGN_OR_RETURN(key, newer_->Key(slot));
      }
      RETURN_IF_ERROR(older->Look(slot, key));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<PairOverlap>> FindOverlaps(const OverlapRequest& request) {
  return OverlapWalk(request).Run();
}

uint64_t OverlapBytesMax(const format::TableRecord& table, const format::StoreFile& older,
                         const format::StoreFile& newer) {
  const uint32_t count = std::min(older.row_count(), newer.row_count());
  const auto indexes = static_cast<uint64_t>(std::ranges::count_if(table.indexes, format::MayDie));
  return sizeof(PairOverlap) + RowSet::SizeBytesMax(count, newer.row_count()) +
         (1 + indexes) * (RowSet::SizeBytesMax(count, older.row_count()) +
                          sizeof(std::pair<format::IndexId, PairOverlap::Set>));
}

}  // namespace tandem::engine
