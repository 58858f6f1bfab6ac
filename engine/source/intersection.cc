// Steps 2 and 3. Where all rows are single-source, the candidates are intersected in place.
#include "engine/source/intersection.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"

namespace tandem::engine {
namespace {

using Ordinals = std::vector<uint32_t>;

// Keeps those of `*ordinals` that satisfy every condition. False: the file lacks a section, so that
// others may have been kept.
Result<bool> KeepSatisfying(const FileSource& source, const AccessPath& access,
                            const base::Cancellation& cancellation, Ordinals* ordinals) {
  bool has_all = true;
  for (const AccessPath::Condition& condition : access.intersected) {
    if (ordinals->empty()) break;
    RETURN_IF_ERROR(cancellation.Check());
    ASSIGN_OR_RETURN(std::optional<Ordinals> common, LookFor(source, condition, *ordinals));
    if (common.has_value()) {
      *ordinals = *std::move(common);
      continue;
    }
    const format::OrdinalRange between{ordinals->front(), ordinals->back() + 1};
    ASSIGN_OR_RETURN(std::optional<Ordinals> others, OrdinalsOf(source, condition, between));
    has_all &= others.has_value();
    if (!others.has_value()) continue;
    const base::MemoryCharge charge = ChargeHits(source, others->capacity());
    Intersect(*std::move(others), source.file->row_count(), ordinals);
  }
  return has_all;
}

// Both ascend.
Ordinals Difference(const Ordinals& ordinals, const Ordinals& without) {
  Ordinals left;
  left.reserve(ordinals.size() - std::min(ordinals.size(), without.size()));
  std::set_difference(ordinals.begin(), ordinals.end(), without.begin(), without.end(),
                      std::back_inserter(left));
  return left;
}

}  // namespace

Result<FileCandidates> IntersectedCandidatesOf(const Cluster& cluster, const FileSource& source,
                                               const AccessPath& access,
                                               const base::Cancellation& cancellation) {
  ASSIGN_OR_RETURN(FileCandidates candidates, CandidatesOf(source, access));
  if (!access.is_intersection() || !source.may_be_single_source) return candidates;
  const bool is_alone = OverlapsNothing(cluster, source);
  const bool all_single_source = is_alone && source.clean == nullptr;
  Ordinals& all = candidates.ordinals;
  Ordinals satisfying = all_single_source ? std::move(all) : all;
  const base::MemoryCharge copied = ChargeHits(source, all.capacity());
  ASSIGN_OR_RETURN(const bool has_all, KeepSatisfying(source, access, cancellation, &satisfying));
  candidates.decided &= has_all;
  if (all_single_source) {
    all = std::move(satisfying);
  } else {
    Ordinals ruled_out = Difference(all, satisfying);
    std::erase_if(ruled_out, [&](uint32_t ordinal) { return !source.MayBeSingleSource(ordinal); });
    if (is_alone) {
      all = Difference(all, ruled_out);
    } else {
      candidates.ruled_out = std::move(ruled_out);
    }
  }
  candidates.charge = ChargeHits(source, all.capacity() + candidates.ruled_out.capacity());
  return candidates;
}

}  // namespace tandem::engine
