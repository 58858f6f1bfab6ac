// Each stage of a look-up prefetches the memory that the next one needs.
#include "engine/source/memstore_verdicts.h"

#include <algorithm>
#include <array>

#include "base/status_macros.h"
#include "index/entries.h"

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

MemstoreVerdicts::MemstoreVerdicts(const ReadContext& context, const Cluster& cluster,
                                   const FileSource& source, const format::IndexRecord* index)
    : context_(context),
      cluster_(cluster),
      source_(source),
      index_(index),
      sequence_(context.view.point.sequence) {
  const bool may_die = !cluster.memstores.empty() && !context.view.point.is_bounded();  // Rule 22.
  // Each row of a memstore without the index is a candidate of its own.
  if (may_die && index != nullptr && format::MayDie(*index) && MemstoresHave(cluster, *index)) {
    puts_ = PutsOf(*source.file, index->columns.front());
  }
}

// Asks what the memstores know. No posting counts as dead in a read of the past, or if its index or
// its timestamps are not known: then each row that a memstore holds is shared.
Status MemstoreVerdicts::Begin() {
  has_begun_ = true;
  known_.resize(cluster_.memstores.size());
  if (context_.resources.overlap_memory == nullptr) return {};
  for (size_t i = 0; i < known_.size(); ++i) {
    known_[i].overlap = MemstoreOverlap::Of(*cluster_.memstores[i], *source_.file,
                                            context_.resources.overlap_memory);
    known_[i].seen_through = cluster_.memstores[i]->SeenThrough(sequence_);
    ASSIGN_OR_RETURN(const bool covers,
                     known_[i].overlap->Covers(known_[i].seen_through, source_.file));
    if (covers) known_[i].bits = known_[i].overlap->BitsFor(puts_.has_value() ? index_ : nullptr);
  }
  return {};
}

Status MemstoreVerdicts::Ask(std::span<const uint32_t> candidates,
                             std::span<MemstoreVerdict> verdicts) {
  std::fill(verdicts.begin(), verdicts.end(), MemstoreVerdict::kAbsent);
  if (cluster_.memstores.empty()) return {};
  if (!has_begun_) RETURN_IF_ERROR(Begin());
  for (size_t i = 0; i < known_.size(); ++i) {
    const Known& known = known_[i];
    if (known.overlap != nullptr) known.overlap->Asked(verdicts.size());
    if (!known.bits.has_value()) {
      RETURN_IF_ERROR(AskRows(*cluster_.memstores[i], candidates, verdicts));
      continue;
    }
    for (size_t j = 0; j < verdicts.size(); ++j) {
      const std::optional<MemstoreVerdict> here = known.bits->At(candidates[j], known.seen_through);
      if (here.has_value()) {
        verdicts[j] = std::max(verdicts[j], *here);
      } else {
        RETURN_IF_ERROR(
            AskRows(*cluster_.memstores[i], candidates.subspan(j, 1), verdicts.subspan(j, 1)));
      }
    }
  }
  return {};
}

Result<size_t> MemstoreVerdicts::AddByBits(std::span<const uint32_t> candidates,
                                           CandidateRows* rows) {
  if (!has_begun_) RETURN_IF_ERROR(Begin());
  if (known_.size() != 1 || !known_[0].bits.has_value()) return size_t{0};
  const size_t before = rows->size();
  rows->Resize(before + candidates.size());
  AddedInto into{rows->ordinals.data() + before, rows->marks.data() + before};
  size_t taken = 0;
  while (taken < candidates.size()) {
    const size_t count = AddOfGroup(candidates.subspan(taken), &into);
    if (count == 0) break;
    taken += count;
  }
  rows->Resize(before + into.kept);
  known_[0].overlap->Asked(taken);
  return taken;
}

// Adds those of the first candidates that are in one group of the bits, and returns how many these
// are: 0 if rows have to be asked.
size_t MemstoreVerdicts::AddOfGroup(std::span<const uint32_t> candidates, AddedInto* into) const {
  const Known& known = known_[0];
  const uint32_t group = candidates[0] / StampedBits::kGroupBits;
  const uint32_t first = group * StampedBits::kGroupBits;
  const bool is_alone = candidates.size() == 1 || candidates[1] - first >= StampedBits::kGroupBits;
  if (is_alone) {  // The rule where hits are few.
    const auto verdict = known.bits->At(candidates[0], known.seen_through);
    if (!verdict.has_value()) return 0;
    if (*verdict == MemstoreVerdict::kSuperseded) return 1;
    const bool is_untouched = *verdict == MemstoreVerdict::kUntouched;
    into->Add(candidates[0], *verdict != MemstoreVerdict::kAbsent, is_untouched);
    return 1;
  }
  StampedBits::Words dead, touched, held;
  if (!known.bits->ReadGroup(group, known.seen_through, &dead, &touched) ||
      !known.bits->ReadHeld(group, known.seen_through, &held)) {
    return 0;
  }
  size_t taken = 0;
  // As SiftByBits, a row is stored before it is known whether it stays.
  for (; taken < candidates.size(); ++taken) {
    const uint32_t bit = candidates[taken] - first;
    if (bit >= StampedBits::kGroupBits) break;
    const auto is_set = [bit](const StampedBits::Words& words) {
      return static_cast<uint32_t>(words[bit / 64] >> (bit % 64) & 1);
    };
    const uint32_t is_held = is_set(held);
    into->Add(candidates[taken], is_held, is_held & ~is_set(touched));
    into->kept -= is_set(dead);
  }
  return taken;
}

Status MemstoreVerdicts::Sift(std::vector<uint32_t>* candidates, std::vector<uint32_t>* shared) {
  const std::span<uint32_t> all(*candidates);
  size_t kept = 0;
  if (!has_begun_) RETURN_IF_ERROR(Begin());
  if (known_.empty()) return {};
  const bool has_bits = known_.size() == 1 && known_[0].bits.has_value();
  if (has_bits) known_[0].overlap->Asked(all.size());
  for (size_t at = 0; at < all.size();) {
    RETURN_IF_ERROR(context_.cancellation.Check());
    if (has_bits && SiftByBits(all, &at, {&kept, shared})) continue;
    const size_t count = std::min(kTogether, all.size() - at);
    RETURN_IF_ERROR(SiftByAsking(all, at, count, {&kept, shared}));
    at += count;
  }
  candidates->resize(kept);
  return {};
}

// Sifts the candidates from `*at` on that are in one group of the bits, and moves `*at` after them.
// False, and nothing changes: rows have to be asked. A candidate is stored before it is known
// whether it stays, so that no branch depends on it.
bool MemstoreVerdicts::SiftByBits(std::span<uint32_t> all, size_t* at, SiftedInto into) const {
  const uint32_t group = all[*at] / StampedBits::kGroupBits;
  const uint32_t first = group * StampedBits::kGroupBits;
  StampedBits::Words dead, touched;
  if (!known_[0].bits->ReadGroup(group, known_[0].seen_through, &dead, &touched)) return false;
  size_t next = *at, kept = *into.kept;
  const bool has_touched =
      std::any_of(touched.begin(), touched.end(), [](uint64_t word) { return word != 0; });
  if (!has_touched) {  // Usual where indexed columns are updated: each posting is dead or not.
    for (; next < all.size() && all[next] - first < StampedBits::kGroupBits; ++next) {
      const uint32_t bit = all[next] - first;
      all[kept] = all[next];
      kept += ~dead[bit / 64] >> (bit % 64) & 1;
    }
  }
  for (; next < all.size() && all[next] - first < StampedBits::kGroupBits; ++next) {
    const uint32_t bit = all[next] - first;
    const uint64_t is_dead = dead[bit / 64] >> (bit % 64) & 1;
    const uint64_t is_touched = touched[bit / 64] >> (bit % 64) & 1;
    if (is_touched != 0) into.shared->push_back(all[next]);
    all[kept] = all[next];
    kept += 1 - (is_dead | is_touched);
  }
  *into.kept = kept;
  *at = next;
  return true;
}

// Sifts the candidates [begin, begin + count), at most kTogether; those before `*kept` stay.
Status MemstoreVerdicts::SiftByAsking(std::span<uint32_t> all, size_t begin, size_t count,
                                      SiftedInto into) {
  std::array<MemstoreVerdict, kTogether> verdicts;
  RETURN_IF_ERROR(Ask(all.subspan(begin), {verdicts.data(), count}));
  for (size_t i = 0; i < count; ++i) {
    if (verdicts[i] == MemstoreVerdict::kSuperseded) continue;
    if (verdicts[i] == MemstoreVerdict::kShared) {
      into.shared->push_back(all[begin + i]);
    } else {
      all[(*into.kept)++] = all[begin + i];
    }
  }
  return {};
}

// The key hashes of the first `count` candidates; some of the others are prefetched.
Result<std::span<const uint64_t>> MemstoreVerdicts::HashesOf(std::span<const uint32_t> candidates,
                                                             size_t count) {
  if (!hashes_.has_value()) {
    ASSIGN_OR_RETURN(hashes_, format::KeyHashesReader::Open(source_.file));
  }
  for (size_t i = 0; i < count; ++i) {
    hashes_->Prefetch(candidates[std::min(i + kHashesAhead, candidates.size() - 1)], 1);
    ASSIGN_OR_RETURN(sought_[i], hashes_->At(candidates[i]));
  }
  return std::span<const uint64_t>(sought_.data(), count);
}

Status MemstoreVerdicts::FindRows(std::span<const uint32_t> candidates,
                                  std::span<const MemRow*> rows) {
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, HashesOf(candidates, rows.size()));
  cluster_.memstores.front()->FindEach(hashes, rows);
  return {};
}

// Raises the verdicts by what the memstore's rows say.
Status MemstoreVerdicts::AskRows(const Memstore& memstore, std::span<const uint32_t> candidates,
                                 std::span<MemstoreVerdict> verdicts) {
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, HashesOf(candidates, verdicts.size()));
  std::array<const MemRow*, kTogether> found;
  const std::span<const MemRow*> rows(found.data(), verdicts.size());
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
  return {};
}

MemstoreVerdict MemstoreVerdicts::VerdictOn(const MemRow* row) const {
  if (!puts_.has_value()) return MemstoreVerdict::kShared;
  if (Memstore::Supersedes(row, *puts_, sequence_)) return MemstoreVerdict::kSuperseded;
  return Memstore::Touches(row, *puts_->column, sequence_) ? MemstoreVerdict::kShared
                                                           : MemstoreVerdict::kUntouched;
}

}  // namespace tandem::engine
