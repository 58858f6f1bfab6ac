// Sifting the candidates of a file, and locating those of memstores in it.
#include "engine/source/candidate_stream.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/source/memstore_overlap.h"
#include "engine/source/ordinal_set.h"

namespace tandem::engine {
namespace {

constexpr size_t kTogether = MemstoreVerdicts::kTogether;

}  // namespace

Result<bool> LocateRows(const ReadContext& context, const Cluster& cluster,
                        std::vector<const MemRow*>* memstore_rows,
                        std::vector<LocatedRow>* located) {
  if (cluster.files.size() != 1 || cluster.memstores.size() != 1) return false;
  if (context.resources.overlap_memory == nullptr) return false;
  const FileSource& source = cluster.files[0];
  std::vector<const MemRow*>& rows = *memstore_rows;
  const auto overlap =
      MemstoreOverlap::Of(*cluster.memstores[0], *source.file, context.resources.overlap_memory);
  overlap->Asked(rows.size());
  const format::SequenceNumber seen =
      cluster.memstores[0]->SeenThrough(context.view.point.sequence);
  ASSIGN_OR_RETURN(const bool covers, overlap->Covers(seen, source.file));
  if (!covers) return false;
  const std::shared_ptr<const std::vector<uint32_t>> ordinals = overlap->Ordinals();
  constexpr size_t kAhead = 16;
  located->reserve(rows.size());
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    __builtin_prefetch(rows[std::min(i + kAhead, rows.size() - 1)]);
    const MemRow* row = rows[i];
    const uint32_t ordinal = (*ordinals)[Memstore::RowNumber(row)];
    if (ordinal < source.low || ordinal >= source.high) {
      rows[kept++] = row;
    } else {
      located->push_back({ordinal, row});
    }
  }
  rows.resize(kept);
  std::sort(located->begin(), located->end(),
            [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
  located->erase(std::unique(located->begin(), located->end(),
                             [](const auto& a, const auto& b) { return a.ordinal == b.ordinal; }),
                 located->end());
  return true;
}

CandidateStream::CandidateStream(ReadContext* context, const Cluster& cluster,
                                 const FileSource& source, FileCandidates candidates,
                                 std::span<const format::HashedKey> memstore_rows)
    : context_(context),
      cluster_(cluster),
      source_(source),
      memstores_(*context, cluster, source, candidates.index),
      candidates_(std::move(candidates.ordinals)),
      candidates_charge_(std::move(candidates.charge)),
      ruled_out_(std::move(candidates.ruled_out)),
      elsewhere_(cluster, source),
      memstore_rows_(memstore_rows) {}

CandidateStream::CandidateStream(ReadContext* context, const Cluster& cluster,
                                 const FileSource& source, FileCandidates candidates,
                                 std::vector<LocatedRow> located)
    : CandidateStream(context, cluster, source, std::move(candidates),
                      std::span<const format::HashedKey>()) {
  located_ = std::move(located);
}

bool CandidateStream::is_done() const {
  return at_ == sifted_.size() && candidates_at_ == candidates_.size() &&
         located_at_ == located_.size() && memstore_rows_.empty();
}

// The smaller of the two next rows comes first; equal ones are one row.
Status CandidateStream::Take(size_t rows_max, CandidateRows* rows) {
  while (rows->size() < rows_max) {
    if (at_ == sifted_.size()) RETURN_IF_ERROR(Sift());
    if (located_at_ == located_.size()) RETURN_IF_ERROR(Locate());
    if (at_ == sifted_.size() && located_at_ == located_.size()) return {};
    TakeSifted(rows_max, rows);
    if (rows->size() == rows_max || located_at_ == located_.size()) continue;
    const bool is_sifted = at_ < sifted_.size();
    if (!is_sifted && candidates_at_ < candidates_.size()) continue;
    const LocatedRow& located = located_[located_at_++];
    rows->Add(located.ordinal, CandidateRows::kShared | CandidateRows::kInMemstore,
              located.memstore_row);
    if (is_sifted && sifted_.ordinals[at_] == located.ordinal) ++at_;
  }
  return {};
}

// Takes those that come before the next located one.
void CandidateStream::TakeSifted(size_t rows_max, CandidateRows* rows) {
  const size_t most = std::min(sifted_.size(), at_ + rows_max - rows->size());
  size_t end = most;
  if (located_at_ < located_.size()) {
    const uint32_t bound = located_[located_at_].ordinal;
    for (end = at_; end < most && sifted_.ordinals[end] < bound;) ++end;
  }
  rows->Append(sifted_, at_, end);
  at_ = end;
}

// Fills sifted_ unless too few candidates are left.
Status CandidateStream::Sift() {
  sifted_.Clear();
  at_ = 0;
  while (sifted_.size() < kTogether && candidates_at_ < candidates_.size()) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    ASSIGN_OR_RETURN(const size_t sifted, SiftSome(std::span(candidates_).subspan(candidates_at_)));
    candidates_at_ += sifted;
  }
  if (cluster_.memstores.size() == 1) return FindMemstoreRows();
  return {};
}

// Sifts the first of the candidates that are left, at most as many as sifted_ has room for, and
// returns how many.
Result<size_t> CandidateStream::SiftSome(std::span<const uint32_t> left) {
  const size_t count = std::min(kTogether - sifted_.size(), left.size());
  if (ruled_out_.empty() && cluster_.memstores.size() == 1) {
    ASSIGN_OR_RETURN(const size_t sifted, memstores_.AddByBits(left.first(count), &sifted_));
    if (sifted > 0) return sifted;
  }
  return SiftByAsking(left, count);
}

// Sifts the first `count` ones.
Result<size_t> CandidateStream::SiftByAsking(std::span<const uint32_t> left, size_t count) {
  std::array<MemstoreVerdict, kTogether> verdicts;
  RETURN_IF_ERROR(memstores_.Ask(left, {verdicts.data(), count}));
  for (size_t i = 0; i < count; ++i) {
    if (verdicts[i] == MemstoreVerdict::kSuperseded) continue;
    bool is_shared = verdicts[i] != MemstoreVerdict::kAbsent;
    if (!is_shared && FindNext(ruled_out_, left[i], &ruled_out_at_)) {
      ASSIGN_OR_RETURN(is_shared, elsewhere_.MayHold(left[i]));
      if (!is_shared) continue;
    }
    const bool is_untouched = verdicts[i] == MemstoreVerdict::kUntouched;
    sifted_.Add(left[i], (is_shared ? CandidateRows::kShared : 0) |
                             (is_untouched ? CandidateRows::kUntouched : 0));
  }
  return count;
}

// Finds the memstore's rows of those that are shared, so that they are on their way to the CPU
// cache when they are read.
Status CandidateStream::FindMemstoreRows() {
  std::array<uint32_t, kTogether> shared, places;
  std::array<const MemRow*, kTogether> rows;
  size_t count = 0;
  for (uint32_t i = 0; i < sifted_.size(); ++i) {
    if (sifted_.marks[i] == 0) continue;
    places[count] = i;
    shared[count++] = sifted_.ordinals[i];
  }
  if (count == 0) return {};
  RETURN_IF_ERROR(memstores_.FindRows({shared.data(), count}, {rows.data(), count}));
  for (size_t i = 0; i < count; ++i) sifted_.memstore_rows[places[i]] = rows[i];
  return {};
}

// Fills located_ unless the file holds no more of the memstores' candidates.
Status CandidateStream::Locate() {
  const uint32_t last = located_.empty() ? 0 : located_.back().ordinal + 1;
  located_.clear();
  located_at_ = 0;
  while (located_.empty() && !memstore_rows_.empty()) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    const size_t count = std::min(kTogether, memstore_rows_.size());
    sought_.clear();
    for (const format::HashedKey& key : memstore_rows_.first(count)) {
      if (key.bytes >= source_.min_key() && key.bytes <= source_.max_key()) sought_.push_back(key);
    }
    memstore_rows_ = memstore_rows_.subspan(count);
    // With a single file the key hashes say as much as the filter.
    if (cluster_.files.size() > 1) RETURN_IF_ERROR(KeepPossible(source_.file, &sought_));
    found_.clear();
    RETURN_IF_ERROR(source_.file->FindEachByHash(sought_, &found_));
    // Ordinals ascend with the keys, unless hashes collide.
    uint32_t low = std::max(source_.low, last);
    for (const uint32_t ordinal : found_) {
      if (ordinal < low || ordinal >= source_.high) continue;
      located_.push_back({.ordinal = ordinal});
      low = ordinal + 1;
    }
  }
  return {};
}

}  // namespace tandem::engine
