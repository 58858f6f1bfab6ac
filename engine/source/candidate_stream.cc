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
                        std::vector<CandidateStream::Row>* located) {
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
      located->push_back({.ordinal = ordinal, .is_shared = true, .memstore_row = row});
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
                                 std::vector<Row> located)
    : CandidateStream(context, cluster, source, std::move(candidates),
                      std::span<const format::HashedKey>()) {
  located_ = std::move(located);
}

bool CandidateStream::is_done() const {
  return at_ == sifted_.size() && candidates_at_ == candidates_.size() &&
         located_at_ == located_.size() && memstore_rows_.empty();
}

// Takes the smaller of the two next rows; equal ones are one row.
bool CandidateStream::Take(Row* row) {
  const bool is_sifted = at_ < sifted_.size();
  const bool is_located = located_at_ < located_.size();
  if (!is_located || (is_sifted && sifted_[at_].ordinal < located_[located_at_].ordinal)) {
    if (!is_sifted) return false;
    *row = sifted_[at_++];
    return true;
  }
  *row = located_[located_at_++];
  if (is_sifted && sifted_[at_].ordinal == row->ordinal) ++at_;
  return true;
}

// Fills sifted_ unless no candidate is left.
Status CandidateStream::Sift() {
  sifted_.clear();
  at_ = 0;
  while (sifted_.empty() && candidates_at_ < candidates_.size()) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    RETURN_IF_ERROR(SiftSome(std::span(candidates_).subspan(candidates_at_)));
  }
  return {};
}

// Sifts the first of the candidates that are left.
Status CandidateStream::SiftSome(std::span<const uint32_t> left) {
  std::array<MemstoreVerdict, kTogether> verdicts;
  const size_t count = std::min(kTogether, left.size());
  RETURN_IF_ERROR(memstores_.Ask(left, {verdicts.data(), count}));
  const size_t first = sifted_.size();
  for (size_t i = 0; i < count; ++i) {
    if (verdicts[i] == MemstoreVerdict::kSuperseded) continue;
    bool is_shared = verdicts[i] != MemstoreVerdict::kAbsent;
    if (!is_shared && FindNext(ruled_out_, left[i], &ruled_out_at_)) {
      ASSIGN_OR_RETURN(is_shared, elsewhere_.MayHold(left[i]));
      if (!is_shared) continue;
    }
    sifted_.push_back({left[i], is_shared, verdicts[i] == MemstoreVerdict::kUntouched});
  }
  candidates_at_ += count;
  if (cluster_.memstores.size() == 1) return FindMemstoreRows(first);
  return {};
}

// Finds the memstore's rows of those that are shared, among the sifted ones from `first` on, so
// that they are on their way to the CPU cache when they are read.
Status CandidateStream::FindMemstoreRows(size_t first) {
  std::array<uint32_t, kTogether> shared;
  std::array<const MemRow*, kTogether> rows;
  size_t count = 0;
  for (size_t i = first; i < sifted_.size(); ++i) {
    if (sifted_[i].is_shared) shared[count++] = sifted_[i].ordinal;
  }
  if (count == 0) return {};
  RETURN_IF_ERROR(memstores_.FindRows({shared.data(), count}, {rows.data(), count}));
  count = 0;
  for (size_t i = first; i < sifted_.size(); ++i) {
    if (sifted_[i].is_shared) sifted_[i].memstore_row = rows[count++];
  }
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
      located_.push_back({.ordinal = ordinal, .is_shared = true});
      low = ordinal + 1;
    }
  }
  return {};
}

}  // namespace tandem::engine
