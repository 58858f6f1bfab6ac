// A row of a file that memstores hold too is decided without them first, in a cluster of files.
#include "engine/counting/entry_counts.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/hash.h"

namespace tandem::engine {

std::vector<const MemRow*> RowsOfMemstores(const Cluster& cluster, const format::ReadPoint& point) {
  std::vector<const MemRow*> rows;
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    Memstore::Iterator row(memstore.get());
    for (row.Seek(cluster.rows.low); row.valid(); row.Next()) {
      if (cluster.rows.high.has_value() && row.key() >= *cluster.rows.high) break;
      if (Memstore::HasCells(row.row(), point.sequence)) rows.push_back(row.row());
    }
  }
  return rows;
}

Result<std::vector<uint32_t>> OrdinalsOfRows(const FileSource& source,
                                             const std::vector<const MemRow*>& rows,
                                             std::span<const char> hash_secret) {
  std::vector<format::HashedKey> keys;
  keys.reserve(rows.size());
  for (const MemRow* row : rows) keys.push_back({Memstore::Key(row), 0});
  std::ranges::sort(keys, {}, &format::HashedKey::bytes);
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [](const auto& a, const auto& b) { return a.bytes == b.bytes; }),
             keys.end());
  for (format::HashedKey& key : keys) key.hash = format::RowHash(key.bytes, hash_secret);
  std::vector<uint32_t> ordinals;
  RETURN_IF_ERROR(source.file->FindEachByHash(keys, &ordinals));
  std::erase_if(ordinals, [&](uint32_t at) { return at < source.low || at >= source.high; });
  return ordinals;
}

uint64_t CountMemstoreRows(const Cluster& cluster) {
  uint64_t rows = 0;
  for (const auto& memstore : cluster.memstores) rows += memstore->row_count();
  return rows;
}

Result<std::optional<uint64_t>> CountableEntries(const Cluster& cluster, const AccessPath& access) {
  std::optional<uint64_t> entries;
  if (access.paths.size() != 1 || access.is_intersection() || access.keys != nullptr) {
    return entries;
  }
  const IndexPath& path = access.paths[0];
  if (path.nulls || path.repeats_rows || !MayCountEntries(*path.index)) return entries;
  entries = 0;
  for (const FileSource& source : cluster.files) {
    ASSIGN_OR_RETURN(const std::optional<uint64_t> here, ExactEntries(source, path));
    if (!here.has_value()) return here;
    *entries += *here;
  }
  return entries;
}

Result<std::optional<EntryCounts>> EntryCounts::Make(ReadContext* context, const Cluster& cluster,
                                                     const format::IndexRecord& index,
                                                     uint64_t worth, std::string_view* why) {
  if (!MayCount(cluster)) {
    *why =
        "cells may have expired, files are newer than the snapshot, or the overlaps of files are "
        "not built";
    return std::optional<EntryCounts>();
  }
  EntryCounts counts(context, cluster, index);
  for (const FileSource& source : cluster.files) {
    File& file = counts.files_.emplace_back();
    file.source = &source;
    ASSIGN_OR_RETURN(file.counted, CountedEntriesOf(cluster, source, index, worth,
                                                    context->resources.overlap_memory));
    if (file.counted == nullptr) {
      *why = "the live entries of the index are not counted in every file";
      return std::optional<EntryCounts>();
    }
    ASSIGN_OR_RETURN(file.section, UsableSection(source.file, index.id));
    if (file.section != nullptr) continue;  // It was found broken meanwhile.
    *why = "a file lacks its part of the index";
    return std::optional<EntryCounts>();
  }
  return std::optional(std::move(counts));
}

Result<uint64_t> EntryCounts::File::NumberOf(std::string_view key) const {
  return section->CountEntries(format::IndexPart::kCurrent, {{}, std::string(key)});
}

const std::vector<const MemRow*>& EntryCounts::TouchedRows() const {
  if (touched_.has_value()) return *touched_;
  const format::ReadPoint& point = context_->view.point;
  touched_ = RowsOfMemstores(*cluster_, point);
  std::erase_if(*touched_, [&](const MemRow* row) {
    return !Memstore::Touches(row, index_->columns.front(), point.sequence);
  });
  return *touched_;
}

Result<EntryCounts::File::Numbers> EntryCounts::File::NumbersOf(
    const format::KeyRange& range) const {
  Numbers numbers{.high = section->summary().current_entries};
  ASSIGN_OR_RETURN(numbers.low, NumberOf(range.low));
  if (range.high.has_value()) {
    ASSIGN_OR_RETURN(numbers.high, NumberOf(*range.high));
  }
  numbers.high = std::max(numbers.low, numbers.high);
  return numbers;
}

Result<uint64_t> EntryCounts::Count(const std::vector<format::KeyRange>& ranges) const {
  uint64_t count = 0;
  for (const File& file : files_) {
    for (const format::KeyRange& range : ranges) {
      ASSIGN_OR_RETURN(const File::Numbers numbers, file.NumbersOf(range));
      count += file.counted->Count(numbers.low, numbers.high);
    }
  }
  return count;
}

Result<uint64_t> EntryCounts::CountDecided(const std::vector<format::KeyRange>& ranges) const {
  uint64_t count = 2 * TouchedRows().size();
  for (const File& file : files_) {
    if (file.counted->decided.empty()) continue;
    ASSIGN_OR_RETURN(const FileCandidates decided, DecidedOf(file, ranges));
    count += decided.ordinals.size();
  }
  return count;
}

Result<FileCandidates> EntryCounts::DecidedOf(const File& file,
                                              const std::vector<format::KeyRange>& ranges) const {
  FileCandidates candidates;
  const auto& decided = file.counted->decided;
  if (decided.empty()) return candidates;
  for (const format::KeyRange& range : ranges) {
    ASSIGN_OR_RETURN(const File::Numbers numbers, file.NumbersOf(range));
    auto at = std::ranges::lower_bound(decided, numbers.low, {}, &CountedEntries::Decided::number);
    for (; at != decided.end() && at->number < numbers.high; ++at) {
      candidates.ordinals.push_back(at->ordinal);
    }
  }
  std::ranges::sort(candidates.ordinals);
  return candidates;
}

Status EntryCounts::ForEachDecided(const std::vector<format::KeyRange>& ranges,
                                   const Visit& visit) const {
  const auto visit_all = [&](const Cluster& cluster, std::vector<FileCandidates> files,
                             std::vector<const MemRow*> rows, bool is_added) -> Status {
    const bool has_none =
        rows.empty() && std::ranges::all_of(files, [](const FileCandidates& file) {
          return file.ordinals.empty();
        });
    if (has_none) return {};
    const auto iterator =
        NewCandidateIterator(context_, cluster, std::move(files), {std::move(rows)});
    while (true) {
      ASSIGN_OR_RETURN(const bool is_row, iterator->Next());
      if (!is_row) return {};
      RETURN_IF_ERROR(visit(*iterator, is_added));
    }
  };
  Cluster of_files = *cluster_;
  of_files.memstores.clear();
  std::vector<FileCandidates> decided;
  for (const File& file : files_) {
    ASSIGN_OR_RETURN(decided.emplace_back(), DecidedOf(file, ranges));
  }
  RETURN_IF_ERROR(visit_all(of_files, std::move(decided), {}, true));
  const std::vector<const MemRow*>& rows = TouchedRows();
  if (rows.empty()) return {};
  std::vector<FileCandidates> former;
  for (const File& file : files_) {
    ASSIGN_OR_RETURN(former.emplace_back().ordinals,
                     OrdinalsOfRows(*file.source, rows, context_->view.table->hash_secret));
  }
  RETURN_IF_ERROR(visit_all(of_files, std::move(former), {}, false));
  return visit_all(*cluster_, std::vector<FileCandidates>(files_.size()), rows, true);
}

}  // namespace tandem::engine
