// Candidates are looked up some at a time, each stage asking memory for what the next one needs.
#include "engine/candidate_sieve.h"

#include <algorithm>
#include <array>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

constexpr size_t kTogether = 64;
constexpr size_t kHashesAhead = 16;

// The Puts behind the postings of the file's index; nullopt when their timestamps are not known.
std::optional<OlderPuts> PutsOf(const format::StoreFile& file,
                                const format::IndexColumnRecord& column) {
  const format::FileStatistics& statistics = file.statistics();
  for (const format::ColumnTimes& times : statistics.column_times) {
    if (times.family == column.family && times.qualifier == column.qualifier) {
      return OlderPuts{&column, statistics.max_sequence, times.max_timestamp};
    }
  }
  return std::nullopt;
}

}  // namespace

CandidateSieve::CandidateSieve(ReadJob* job, const Cluster& cluster, const FileSource& source,
                               const format::IndexRecord* index)
    : job_(job), cluster_(cluster), source_(source) {
  if (is_idle() || index == nullptr || index->columns.size() != 1) return;
  if (job->view.point.is_bounded()) return;  // Rule 22.
  puts_ = PutsOf(*source.file, index->columns.front());
}

Status CandidateSieve::Sift(std::span<const uint32_t> candidates, std::vector<uint32_t>* kept,
                            std::vector<uint8_t>* met) {
  if (hashes_.empty()) {
    ASSIGN_OR_RETURN(hashes_, source_.file->KeyHashes());
  }
  std::array<uint64_t, kTogether> hashes;
  std::array<Fate, kTogether> fates;
  for (size_t first = 0; first < candidates.size(); first += kTogether) {
    const size_t count = std::min(kTogether, candidates.size() - first);
    for (size_t i = 0; i < count; ++i) {
      const size_t ahead = std::min(first + i + kHashesAhead, candidates.size() - 1);
      __builtin_prefetch(&hashes_[candidates[ahead]]);
      hashes[i] = hashes_[candidates[first + i]];
    }
    std::fill_n(fates.begin(), count, Fate::kAlone);
    for (const std::shared_ptr<const Memstore>& memstore : cluster_.memstores) {
      Ask(*memstore, {hashes.data(), count}, {fates.data(), count});
    }
    for (size_t i = 0; i < count; ++i) {
      job_->figures.dead_by_memstore += fates[i] == Fate::kDead;
      if (fates[i] == Fate::kDead) continue;
      kept->push_back(candidates[first + i]);
      met->push_back(fates[i] == Fate::kMet);
    }
  }
  return {};
}

void CandidateSieve::Ask(const Memstore& memstore, std::span<const uint64_t> hashes,
                         std::span<Fate> fates) const {
  std::array<const MemRow*, kTogether> found;
  const std::span<const MemRow*> rows(found.data(), hashes.size());
  memstore.FindEach(hashes, rows);
  if (puts_.has_value()) {
    for (const MemRow* row : rows) {
      if (row != nullptr) Memstore::PrefetchCells(row);
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == nullptr || fates[i] == Fate::kDead) continue;
    const bool is_dead =
        puts_.has_value() && Memstore::Supersedes(rows[i], *puts_, job_->view.point.sequence);
    fates[i] = is_dead ? Fate::kDead : Fate::kMet;
  }
}

}  // namespace tandem::engine
