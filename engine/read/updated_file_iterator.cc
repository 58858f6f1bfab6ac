// The candidates of a cluster of one file and memstores, the usual state of a table that is written
// to. No other file may share a row, so the rows of the file are walked as those of a file alone;
// what the memstores say of them is known before a block is read
// (engine/source/candidate_stream.h). A row that a memstore holds as well is merged when the walk
// comes to it, and the memstore's rows are prefetched some rows ahead of it. Rows that the file has
// not are merged in by key.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"
#include "engine/source/candidate_stream.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

// Candidates that are taken together: few at first if the read may end early.
constexpr size_t kTakenCautious = 128, kTakenMax = 1024;
// Rows of the memstore on their way to the CPU cache, and those of them whose cells are.
constexpr size_t kRowsAhead = 24, kCellsAhead = 12;

class UpdatedFileIterator final : public RowIterator {
 public:
  UpdatedFileIterator(ReadContext* context, const Cluster& cluster, FileCandidates candidates,
                      MemstoreHits hits)
      : RowIterator(context),
        cluster_(cluster),
        source_(cluster.files[0]),
        secret_(context->view.table->hash_secret),
        decided_(candidates.decided),
        index_decides_(candidates.decided && candidates.index_decides),
        returns_plain_(ReturnsPlain(*context, candidates.decided)),
        asks_nothing_(!context->predicate.has_value()),
        candidates_(std::move(candidates)),
        memstore_rows_(std::move(hits.rows)),
        hits_match_(hits.match),
        walk_(context, source_, decided_),
        take_next_(context->may_end_early ? kTakenCautious : kTakenMax) {}

 private:
  Status Open();
  Status TakeMore();
  Status MoveWalk();
  Result<bool> Find() override;
  bool Take(size_t rows_max, format::RowBatch* batch) override;
  bool TakeUpdated(format::RowBatch* batch);
  Result<bool> Read() override;
  void Prefetch(size_t at) const;
  const MemRow* TakeMemstoreRow();

  bool MemstoreHasMore() const { return memstore_at_ < memstore_rows_.size(); }
  // Of the row that the walk is at.
  uint8_t mark() const { return rows_.marks[walk_.at()]; }
  // Whether the index says that it matches, and no memstore changes what it says of the row.
  bool IsUntouchedMatch() const {
    return index_decides_ && (mark() & CandidateRows::kUntouched) != 0;
  }
  // Whether it is a hit of the memstore, which matches.
  bool IsHit() const { return hits_match_ && (mark() & CandidateRows::kInMemstore) != 0; }
  // Whether no other source has it.
  bool IsSingleSource() const { return mark() == 0 && source_.MayBeSingleSource(walk_.ordinal()); }

  const Cluster& cluster_;
  const FileSource& source_;
  const std::span<const char> secret_;
  const bool decided_;        // A single-source candidate matches.
  const bool index_decides_;  // So does one whose column memstores leave as it is.
  const bool returns_plain_;
  const bool asks_nothing_;                       // There is no predicate.
  FileCandidates candidates_;                     // Until the stream has them.
  std::vector<const MemRow*> memstore_rows_;      // By key. Some of them may be in the file.
  const bool hits_match_;                         // They, and those that the file has, match.
  std::vector<format::HashedKey> memstore_keys_;  // Of them.
  size_t memstore_at_ = 0;                        // The next of them.
  std::optional<CandidateStream> stream_;
  RowWalk walk_;
  size_t take_next_;
  // What the walk goes over.
  CandidateRows rows_;
  bool is_at_row_ = false;         // The walk is at a row that was neither taken nor read.
  bool memstore_is_next_ = false;  // A row of the memstore comes before it, or is the same one.
  std::string file_key_;           // Of the walk's row, if the memstore has rows left.
};

Status UpdatedFileIterator::Open() {
  std::vector<LocatedRow> located;
  ASSIGN_OR_RETURN(const bool is_located,
                   LocateRows(*context_, cluster_, &memstore_rows_, &located));
  SortByKey(&memstore_rows_);
  if (is_located) {
    stream_.emplace(context_, cluster_, source_, std::move(candidates_), std::move(located));
    return {};
  }
  memstore_keys_.reserve(memstore_rows_.size());
  for (const MemRow* row : memstore_rows_) {
    const std::string_view key = Memstore::Key(row);
    memstore_keys_.push_back({key, format::RowHash(key, secret_)});
  }
  stream_.emplace(context_, cluster_, source_, std::move(candidates_),
                  std::span<const format::HashedKey>(memstore_keys_));
  return {};
}

// Starts the walk, which has ended, over the next candidates of the file.
Status UpdatedFileIterator::TakeMore() {
  rows_.Clear();
  RETURN_IF_ERROR(stream_->Take(take_next_, &rows_));
  take_next_ = std::min(take_next_ * 2, kTakenMax);
  walk_.Start(rows_.ordinals, rows_.marks);
  for (size_t at = 0; at < std::min(kRowsAhead, rows_.size()); ++at) {
    const MemRow* const row = rows_.memstore_rows[at];
    if (row != nullptr) Memstore::PrefetchRow(row);
  }
  for (size_t at = 0; at < std::min(kCellsAhead, rows_.size()); ++at) {
    const MemRow* const row = rows_.memstore_rows[at];
    if (row != nullptr) Memstore::PrefetchCells(row);
  }
  return {};
}

// Starts to load what the walk comes to some rows later.
void UpdatedFileIterator::Prefetch(size_t at) const {
  if (at + kRowsAhead < rows_.size()) {
    const MemRow* row = rows_.memstore_rows[at + kRowsAhead];
    if (row != nullptr) Memstore::PrefetchRow(row);
  }
  if (at + kCellsAhead < rows_.size()) {
    const MemRow* row = rows_.memstore_rows[at + kCellsAhead];
    if (row != nullptr) Memstore::PrefetchCells(row);
  }
}

// The next of the memstore's own rows.
const MemRow* UpdatedFileIterator::TakeMemstoreRow() {
  const size_t at = memstore_at_++;
  if (at + kCellsAhead < memstore_rows_.size()) {
    Memstore::PrefetchCells(memstore_rows_[at + kCellsAhead]);
  }
  return memstore_rows_[at];
}

// Moves to the next row of the file, if there is one.
Status UpdatedFileIterator::MoveWalk() {
  while (!is_at_row_) {
    ASSIGN_OR_RETURN(is_at_row_, walk_.Next());
    if (is_at_row_) {
      Prefetch(walk_.at());
    } else if (stream_->is_done()) {
      return {};
    } else {
      RETURN_IF_ERROR(context_->CheckGoOn());
      RETURN_IF_ERROR(TakeMore());
    }
  }
  if (MemstoreHasMore()) return walk_.Key(&file_key_);
  return {};
}

Result<bool> UpdatedFileIterator::Find() {
  if (!stream_.has_value()) RETURN_IF_ERROR(Open());
  if (!is_at_row_) RETURN_IF_ERROR(MoveWalk());
  memstore_is_next_ = MemstoreHasMore() &&
                      (!is_at_row_ || Memstore::Key(memstore_rows_[memstore_at_]) <= file_key_);
  return is_at_row_ || memstore_is_next_;
}

bool UpdatedFileIterator::Take(size_t /*rows_max*/, format::RowBatch* batch) {
  if (memstore_is_next_ || !returns_plain_) return false;
  const bool is_single_source = IsSingleSource();
  const bool taken = is_single_source ? walk_.AddPlain(batch) : TakeUpdated(batch);
  (is_single_source ? context_->counters.single_source_by_bitmap : context_->counters.merged) +=
      taken;
  is_at_row_ = !taken;
  return taken;
}

// Takes a row that the memstore has nothing but Puts of, if it is known to match.
bool UpdatedFileIterator::TakeUpdated(format::RowBatch* batch) {
  const MemRow* const newer = rows_.memstore_rows[walk_.at()];
  if (newer == nullptr || cluster_.memstores.size() != 1) return false;
  if (!source_.MayBeSingleSource(walk_.ordinal())) return false;
  const bool matches = asks_nothing_ || IsUntouchedMatch() || IsHit();
  if (!matches) return false;
  const Result<bool> is_row = walk_.KeyEquals(Memstore::Key(newer));
  return is_row.has_value() && *is_row && walk_.AddUpdated(newer, &row_, batch);
}

Result<bool> UpdatedFileIterator::Read() {
  row_.Begin();
  locations_.Clear();
  const MemRow* known = nullptr;
  if (memstore_is_next_) {
    known = TakeMemstoreRow();
    key_ = Memstore::Key(known);
  } else {
    RETURN_IF_ERROR(walk_.Key(&key_));
  }
  bool single_source = false, decided = known != nullptr && hits_match_;
  if (is_at_row_ && (!memstore_is_next_ || key_ == file_key_)) {
    is_at_row_ = false;
    single_source = !memstore_is_next_ && IsSingleSource();
    const MemRow* const row = rows_.memstore_rows[walk_.at()];
    decided |= (single_source ? decided_ : IsUntouchedMatch()) &&
               source_.MayBeSingleSource(walk_.ordinal());
    if (known == nullptr && row != nullptr && Memstore::Key(row) == key_) {
      known = row;
      decided |= IsHit();
    }
    RETURN_IF_ERROR(walk_.Append(single_source, &row_));
    locations_.files.push_back({source_.file, walk_.ordinal()});
  }
  if (single_source) {
    ++context_->counters.single_source_by_bitmap;
  } else {
    ++context_->counters.merged;
    GatherMemstores(cluster_, known);
  }
  return Accept(single_source, decided);
}

}  // namespace

std::unique_ptr<RowIterator> NewUpdatedFileIterator(ReadContext* context, const Cluster& cluster,
                                                    FileCandidates candidates, MemstoreHits hits) {
  return std::make_unique<UpdatedFileIterator>(context, cluster, std::move(candidates),
                                               std::move(hits));
}

}  // namespace tandem::engine
