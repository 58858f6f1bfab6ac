// What is known of all rows is gathered before any is decided.
#include "engine/counting/all_rows.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/counting/entry_counts.h"
#include "engine/read/row_iterator.h"
#include "engine/source/memstore_overlap.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

// To decide on a row costs about as much as reading this many, or adding as many that are known.
constexpr uint64_t kReadPerLook = 4;
// Rows of a memstore are decided by two looks, each of which costs more than a question.
constexpr uint64_t kQuestionsPerRow = 4;

using Absent = MemstoreOverlap::Absent;

/// The rows of memstores that no file has. Each is there if it is in one of them.
class AddedRows {
 public:
  AddedRows(const ReadContext& context, const Cluster& cluster)
      : context_(context), cluster_(cluster), sequence_(context.view.point.sequence) {}

  /// Their number. If `rows` is not null, `*rows` becomes the rows, in no order. nullopt: they are
  /// not known, and `*rows` stays as it is. Errors: kCorruption, kIoError.
  Result<std::optional<uint64_t>> Find(std::vector<const MemRow*>* rows) {
    const std::optional<uint64_t> none;
    if (!AreAllThere()) return none;
    uint64_t count = 0;
    std::vector<const MemRow*> found;
    for (size_t i = 0; i < cluster_.memstores.size(); ++i) {
      RETURN_IF_ERROR(context_.CheckGoOn());
      ASSIGN_OR_RETURN(const auto overlaps, OverlapsOf(*cluster_.memstores[i]));
      if (overlaps.empty()) return none;
      const format::SequenceNumber seen = cluster_.memstores[i]->SeenThrough(sequence_);
      if (rows == nullptr && overlaps.size() == 1 && cluster_.memstores.size() == 1) {
        return overlaps[0]->CountAbsent(seen);
      }
      std::vector<Absent> absent;
      if (!overlaps[0]->AppendAbsent(seen, &absent)) return none;
      for (const auto& other : std::span(overlaps).subspan(1)) {
        const auto ordinals = other->Ordinals();
        std::erase_if(absent, [&ordinals](const Absent& row) {
          return (*ordinals)[row.number] != MemstoreOverlap::kNowhere;
        });
      }
      std::erase_if(absent, [this, i](const Absent& row) { return HasBefore(i, row.row); });
      count += absent.size();
      if (rows == nullptr) continue;
      std::ranges::transform(absent, std::back_inserter(found), &Absent::row);
    }
    if (rows != nullptr) *rows = std::move(found);
    return std::optional(count);
  }

 private:
  // Whether no reader has to look at a row of a memstore to know that it is there.
  bool AreAllThere() const {
    const bool may_expire = std::ranges::any_of(
        context_.view.table->families,
        [](const format::FamilyRecord& family) { return family.options.ttl_micros != 0; });
    if (may_expire || context_.view.point.is_bounded() || cluster_.files.empty()) return false;
    return context_.resources.overlap_memory != nullptr &&
           std::ranges::all_of(cluster_.memstores, [this](const auto& memstore) {
             return memstore->has_only_puts() && HoldsAllRows(cluster_.rows, *memstore);
           });
  }

  // With each file of the cluster; none if one of them is not known.
  Result<std::vector<std::shared_ptr<MemstoreOverlap>>> OverlapsOf(const Memstore& memstore) const {
    std::vector<std::shared_ptr<MemstoreOverlap>> overlaps;
    for (const FileSource& source : cluster_.files) {
      auto overlap = MemstoreOverlap::Of(memstore, *source.file, context_.resources.overlap_memory);
      overlap->Asked(memstore.row_count() * kQuestionsPerRow);
      ASSIGN_OR_RETURN(const bool is_known,
                       overlap->Covers(memstore.SeenThrough(sequence_), source.file));
      if (!is_known) return std::vector<std::shared_ptr<MemstoreOverlap>>();
      overlaps.push_back(std::move(overlap));
    }
    return overlaps;
  }

  // Whether a memstore before that one has the row as well.
  bool HasBefore(size_t memstore, const MemRow* row) const {
    if (memstore == 0) return false;
    const std::string_view key = Memstore::Key(row);
    const uint64_t hash = format::RowHash(key, context_.view.table->hash_secret);
    return std::ranges::any_of(
        std::span(cluster_.memstores).first(memstore), [&](const auto& other) {
          const MemRow* const same = other->Find(key, hash);
          return same != nullptr && Memstore::HasCells(same, other->SeenThrough(sequence_));
        });
  }

  const ReadContext& context_;
  const Cluster& cluster_;
  const format::SequenceNumber sequence_;
};

/// What is known of the rows of a cluster.
struct KnownRows {
  std::vector<std::shared_ptr<const CountedRows>> counted;  // By file.
  uint64_t to_decide = 0;                                   // Rows of files that do not count.
  // That memstores add. nullopt: each of their rows has to be decided.
  std::optional<uint64_t> added;
};

// nullopt: rows cannot be counted; `*why` says why not. `rows`, if not null, get those that
// memstores add.
Result<std::optional<KnownRows>> FindKnown(const ReadContext& context, const Cluster& cluster,
                                           uint64_t worth, std::vector<const MemRow*>* rows,
                                           std::string_view* why) {
  if (!MayCount(cluster)) {
    *why =
        "cells may have expired, files are newer than the snapshot, or the overlaps of files are "
        "not built";
    return std::optional<KnownRows>();
  }
  KnownRows known{.counted = {}, .to_decide = 0, .added = 0};
  for (const FileSource& source : cluster.files) {
    ASSIGN_OR_RETURN(known.counted.emplace_back(),
                     CountedRowsOf(cluster, source, worth, context.resources.overlap_memory));
    if (known.counted.back() == nullptr) {
      *why = "the rows that files share are not counted yet";
      return std::optional<KnownRows>();
    }
    const RowSet* const decided = known.counted.back()->decided.get();
    if (decided == nullptr) continue;
    known.to_decide += decided->RankOf(source.high) - decided->RankOf(source.low);
  }
  if (!cluster.memstores.empty()) {
    ASSIGN_OR_RETURN(known.added, AddedRows(context, cluster).Find(rows));
  }
  return std::optional(std::move(known));
}

// The rows of files that have to be decided.
std::vector<FileCandidates> ToDecide(const Cluster& cluster, const KnownRows& known) {
  std::vector<FileCandidates> decided(cluster.files.size());
  for (size_t i = 0; i < decided.size(); ++i) {
    const FileSource& source = cluster.files[i];
    const RowSet* const rows = known.counted[i]->decided.get();
    if (rows == nullptr) continue;
    const uint32_t end = rows->RankOf(source.high);
    for (uint32_t rank = rows->RankOf(source.low); rank < end; ++rank) {
      decided[i].ordinals.push_back(rows->At(rank));
    }
  }
  return decided;
}

// The ranks of what is known and of what is decided; nullopt: to read the rows costs less. `added`
// are the rows that memstores add.
Result<std::optional<ClusterRanks>> RanksOf(ReadContext* context, const Cluster& cluster,
                                            const KnownRows& known,
                                            std::vector<const MemRow*> added, Skipped* skipped) {
  const uint64_t to_decide =
      known.to_decide + (known.added.has_value() ? 0 : CountMemstoreRows(cluster));
  const uint64_t costs = to_decide + known.added.value_or(0) / kReadPerLook;
  if (!skipped->PaysToDecide(costs, kReadPerLook)) {
    skipped->ReadInsteadOf(costs);
    return std::optional<ClusterRanks>();
  }
  std::vector<const MemRow*> rows;
  if (!known.added.has_value()) rows = RowsOfMemstores(cluster, context->view.point);
  ClusterRanks ranks(cluster);
  for (size_t i = 0; i < cluster.files.size(); ++i) {
    std::vector<uint32_t> left_out;
    if (!rows.empty()) {
      ASSIGN_OR_RETURN(left_out,
                       OrdinalsOfRows(cluster.files[i], rows, context->view.table->hash_secret));
    }
    ranks.AddFile(known.counted[i], std::move(left_out));
  }
  std::vector<std::string> keys;
  if (to_decide > 0) {
    skipped->decided += to_decide;
    ASSIGN_OR_RETURN(keys, Decide(context, cluster, ToDecide(cluster, known), std::move(rows)));
  }
  const auto decided = static_cast<ptrdiff_t>(keys.size());
  SortByKey(&added);
  for (const MemRow* const row : added) keys.emplace_back(Memstore::Key(row));
  std::inplace_merge(keys.begin(), keys.begin() + decided, keys.end());
  ranks.AddDecided(std::move(keys));
  return std::optional(std::move(ranks));
}

}  // namespace

Result<std::vector<std::string>> Decide(ReadContext* context, const Cluster& cluster,
                                        std::vector<FileCandidates> files,
                                        std::vector<const MemRow*> rows) {
  std::vector<std::string> keys;
  const auto iterator = NewCandidateIterator(context, cluster, std::move(files), {std::move(rows)});
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, iterator->Next());
    if (!is_row) return keys;
    keys.emplace_back(iterator->key());
  }
}

Result<std::optional<ClusterRanks>> RanksOfRows(ReadContext* context, const Cluster& cluster,
                                                Skipped* skipped) {
  std::string_view why;
  std::vector<const MemRow*> added;
  ASSIGN_OR_RETURN(const std::optional<KnownRows> known,
                   FindKnown(*context, cluster, skipped->left, &added, &why));
  if (known.has_value()) return RanksOf(context, cluster, *known, std::move(added), skipped);
  skipped->why_read = why;
  return std::optional<ClusterRanks>();
}

Result<std::optional<uint64_t>> CountAllRows(ReadContext* context, const Cluster& cluster) {
  const std::optional<uint64_t> none;
  Skipped all{.left = CountMemstoreRows(cluster)};
  for (const FileSource& source : cluster.files) all.left += source.high - source.low;
  std::string_view why;
  ASSIGN_OR_RETURN(const std::optional<KnownRows> known,
                   FindKnown(*context, cluster, all.left, /*rows=*/nullptr, &why));
  if (!known.has_value()) return none;
  if (!known->added.has_value()) {
    ASSIGN_OR_RETURN(const std::optional<ClusterRanks> ranks,
                     RanksOf(context, cluster, *known, {}, &all));
    return ranks.has_value() ? std::optional(ranks->count()) : none;
  }
  if (!all.PaysToDecide(known->to_decide, kReadPerLook)) return none;
  uint64_t count = *known->added;
  for (size_t i = 0; i < cluster.files.size(); ++i) {
    count += known->counted[i]->Count(cluster.files[i].low, cluster.files[i].high);
  }
  if (known->to_decide > 0) {
    ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                     Decide(context, cluster, ToDecide(cluster, *known), {}));
    count += keys.size();
  }
  return std::optional(count);
}

}  // namespace tandem::engine
