// A binary search over the rows of a file asks for the rank of a key in the whole cluster.
#include "engine/counting/cluster_ranks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/slice_keys.h"

namespace tandem::engine {
namespace {

uint32_t Below(const std::vector<uint32_t>& ordinals, uint32_t ordinal) {
  return static_cast<uint32_t>(std::ranges::lower_bound(ordinals, ordinal) - ordinals.begin());
}

}  // namespace

// Those of the value's first `entry` entries that count.
uint32_t ClusterRanks::File::RankOfEntry(uint32_t entry) const {
  const auto first = static_cast<uint32_t>(value.first_number);
  const uint32_t others = value.others == nullptr
                              ? 0
                              : value.others->RankOf(first + entry) - value.others->RankOf(first);
  return entry - others - Below(value.left_out, entry);
}

// Those of its rows before `ordinal` that count.
Result<uint32_t> ClusterRanks::File::Rank(uint32_t ordinal) {
  if (counted != nullptr) return counted->Count(source->low, ordinal) - Below(left_out, ordinal);
  ASSIGN_OR_RETURN(const uint32_t entry, value.ordinals.RankOf(ordinal));
  return RankOfEntry(entry);
}

// The one with `rank` before it.
Result<uint32_t> ClusterRanks::File::At(uint32_t rank) {
  // The last place with no more than `rank` of those that count before it.
  const auto place = [rank](uint32_t low, uint32_t high, const auto& rank_of) {
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (rank_of(middle) <= rank ? low : high) = middle;
    }
    return low;
  };
  if (counted == nullptr) {
    const bool all_count = value.others == nullptr && value.left_out.empty();
    return value.ordinals.At(all_count ? rank
                                       : place(0, value.ordinals.count(), [this](uint32_t entry) {
                                           return RankOfEntry(entry);
                                         }));
  }
  if (counted->others == nullptr && left_out.empty()) return source->low + rank;
  return place(source->low, source->high, [this](uint32_t ordinal) {
    return counted->Count(source->low, ordinal) - Below(left_out, ordinal);
  });
}

void ClusterRanks::AddFile(std::shared_ptr<const CountedRows> counted,
                           std::vector<uint32_t> left_out) {
  const FileSource& source = cluster_.files[files_.size()];
  std::erase_if(left_out, [&](uint32_t ordinal) {
    if (ordinal < source.low || ordinal >= source.high) return true;
    return counted->others != nullptr && counted->others->Contains(ordinal);
  });
  const uint32_t count =
      counted->Count(source.low, source.high) - static_cast<uint32_t>(left_out.size());
  files_.push_back({&source, std::move(counted), std::move(left_out), {}, count});
}

Status ClusterRanks::AddFile(Value value) {
  if (value.others != nullptr) {
    std::erase_if(value.left_out, [&](uint32_t rank) {
      return value.others->Contains(static_cast<uint32_t>(value.first_number) + rank);
    });
  }
  File& file = files_.emplace_back();
  file.source = &cluster_.files[files_.size() - 1];
  file.value = std::move(value);
  ASSIGN_OR_RETURN(file.count, file.Rank(file.source->high));
  return {};
}

uint64_t ClusterRanks::count() const {
  uint64_t count = decided_.size();
  for (const File& file : files_) count += file.count;
  return count;
}

// Rows of the cluster before the key.
Result<uint64_t> ClusterRanks::RankOf(std::string_view key) {
  auto rank = static_cast<uint64_t>(std::ranges::lower_bound(decided_, key) - decided_.begin());
  for (File& file : files_) {
    ASSIGN_OR_RETURN(const uint32_t at, file.source->file->LowerBound(key));
    ASSIGN_OR_RETURN(const uint32_t here,
                     file.Rank(std::clamp(at, file.source->low, file.source->high)));
    rank += here;
  }
  return rank;
}

Result<std::optional<uint32_t>> ClusterRanks::OrdinalOf(uint64_t number) {
  if (!cluster_.has_one_file() || !decided_.empty()) return std::optional<uint32_t>();
  ASSIGN_OR_RETURN(const uint32_t ordinal, files_[0].At(static_cast<uint32_t>(number)));
  return std::optional(ordinal);
}

// A search through one source ends at a row of the number that is sought, or between two rows; the
// others are searched between the same keys.
Result<std::string> ClusterRanks::KeyOf(uint64_t number) {
  std::optional<std::string> after, before;  // The row lies strictly between them.
  std::vector<File*> files;
  for (File& file : files_) files.push_back(&file);
  std::ranges::sort(files, [](const File* a, const File* b) { return a->count > b->count; });
  // Searches the rows [low, high), whose keys rise. True: `*found` is the row.
  const auto search = [&](uint32_t low, uint32_t high, const auto& key_at,
                          std::string* found) -> Result<bool> {
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      ASSIGN_OR_RETURN(*found, key_at(middle));
      ASSIGN_OR_RETURN(const uint64_t rank, RankOf(*found));
      if (rank == number) return true;
      if (rank < number) {
        low = middle + 1;
        after = *found;
      } else {
        high = middle;
        before = *found;
      }
    }
    return false;
  };
  std::string key;
  for (File* const file : files) {
    const FileSource& source = *file->source;
    uint32_t low = source.low, high = source.high;
    if (after.has_value()) {
      ASSIGN_OR_RETURN(low, source.file->LowerBound(*after));
      low = std::clamp(low, source.low, source.high);
    }
    if (before.has_value()) {
      ASSIGN_OR_RETURN(high, source.file->LowerBound(*before));
      high = std::clamp(high, source.low, source.high);
    }
    const auto key_at = [&](uint32_t rank) -> Result<std::string> {
      ASSIGN_OR_RETURN(const uint32_t at, file->At(rank));
      return KeyAt(*source.file, at);
    };
    // A key of another source may be in this file too, as a row that does not count here.
    ASSIGN_OR_RETURN(const uint32_t first, file->Rank(low));
    ASSIGN_OR_RETURN(const uint32_t end, file->Rank(high));
    ASSIGN_OR_RETURN(const bool is_found, search(first, end, key_at, &key));
    if (is_found) return key;
  }
  const auto decided_at = [&](uint32_t at) { return Result<std::string>(decided_[at]); };
  ASSIGN_OR_RETURN(const bool is_found,
                   search(0, static_cast<uint32_t>(decided_.size()), decided_at, &key));
  if (is_found) return key;
  return Status::Corruption("table: rows of files are not in the order of their keys; run verify");
}

}  // namespace tandem::engine
