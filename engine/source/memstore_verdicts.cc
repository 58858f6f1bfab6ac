// Each stage of a look-up prefetches the memory that the next one needs.
#include "engine/source/memstore_verdicts.h"

#include <algorithm>
#include <array>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

constexpr size_t kHashesAhead = 16;

// The Puts that the postings of an index over the column come from; nullopt if their timestamps are
// not known.
std::optional<OlderPuts> PutsOf(const format::StoreFile& file,
                                const format::IndexColumnRecord& column) {
  const std::optional<int64_t> newest = NewestPutOf(file, column);
  if (!newest.has_value()) return std::nullopt;
  return OlderPuts{&column, *newest};
}

}  // namespace

MemstoreVerdicts::MemstoreVerdicts(const ReadJob& job, const Cluster& cluster,
                                   const FileSource& source, const format::IndexRecord* index)
    : cluster_(cluster), source_(source), sequence_(job.view.point.sequence) {
  const bool may_die = !cluster.memstores.empty() && !job.view.point.is_bounded();  // Rule 22.
  if (may_die && index != nullptr && index->columns.size() == 1) {
    puts_ = PutsOf(*source.file, index->columns.front());
  }
}

Status MemstoreVerdicts::Ask(std::span<const uint32_t> candidates,
                             std::span<MemstoreVerdict> verdicts) {
  std::fill(verdicts.begin(), verdicts.end(), MemstoreVerdict::kAbsent);
  if (cluster_.memstores.empty()) return {};
  if (!hashes_.has_value()) {
    ASSIGN_OR_RETURN(hashes_, format::KeyHashesReader::Open(source_.file));
  }
  std::array<uint64_t, kTogether> hashes;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    hashes_->Prefetch(candidates[std::min(i + kHashesAhead, candidates.size() - 1)], 1);
    ASSIGN_OR_RETURN(hashes[i], hashes_->At(candidates[i]));
  }
  for (const std::shared_ptr<const Memstore>& memstore : cluster_.memstores) {
    Ask(*memstore, {hashes.data(), verdicts.size()}, verdicts);
  }
  return {};
}

void MemstoreVerdicts::Ask(const Memstore& memstore, std::span<const uint64_t> hashes,
                           std::span<MemstoreVerdict> verdicts) const {
  std::array<const MemRow*, kTogether> found;
  const std::span<const MemRow*> rows(found.data(), hashes.size());
  memstore.FindEach(hashes, rows);
  if (puts_.has_value()) {
    for (const MemRow* row : rows) {
      if (row != nullptr) Memstore::PrefetchCells(row);
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] != nullptr && verdicts[i] != MemstoreVerdict::kSuperseded) {
      verdicts[i] = std::max(verdicts[i], VerdictOn(rows[i]));
    }
  }
}

MemstoreVerdict MemstoreVerdicts::VerdictOn(const MemRow* row) const {
  if (!puts_.has_value()) return MemstoreVerdict::kShared;
  if (Memstore::Supersedes(row, *puts_, sequence_)) return MemstoreVerdict::kSuperseded;
  return Memstore::Touches(row, *puts_->column, sequence_) ? MemstoreVerdict::kShared
                                                           : MemstoreVerdict::kUntouched;
}

}  // namespace tandem::engine
