// Runs that must be a pair cut both lists into stretches, in which runs are paired in order.
#include "engine/jobs/joined_files.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

using Run = std::span<const FileSlice>;

std::vector<Run> RunsOf(std::span<const FileSlice> files) {
  std::vector<Run> runs;
  while (!files.empty()) {
    const auto of_next = std::find_if(files.begin(), files.end(), [&](const FileSlice& slice) {
      return slice.run != files.front().run;
    });
    const auto count = static_cast<size_t>(of_next - files.begin());
    runs.push_back(files.first(count));
    files = files.subspan(count);
  }
  return runs;
}

// Whether the slice of `right` goes on where that of `left` ends.
bool AreOne(const FileSlice& left, const FileSlice& right) {
  return left.file == right.file && left.high == right.low;
}

const FileSlice* FindPart(const RegionVersion& region, const FileSlice& of) {
  const auto found = std::find_if(region.files.begin(), region.files.end(),
                                  [&of](const FileSlice& slice) { return slice.file == of.file; });
  return found == region.files.end() ? nullptr : &*found;
}

// Whether `right` refers to all rows of the file that lie in its range.
Result<bool> HasTheRest(const FileSlice& slice, const RegionVersion& right) {
  format::StoreFile& file = slice.file->store();
  uint32_t end = file.row_count();
  if (slice.high == end) return true;
  if (!right.end_key.empty()) {
    ASSIGN_OR_RETURN(end, file.LowerBound(right.end_key));
  }
  if (end <= slice.high) return true;
  const FileSlice* const rest = FindPart(right, slice);
  return rest != nullptr && AreOne(slice, *rest) && rest->high == end;
}

// The same for the rows before the slice.
Result<bool> HasTheBeginning(const RegionVersion& left, const FileSlice& slice) {
  if (slice.low == 0) return true;
  uint32_t begin = 0;
  if (!left.start_key.empty()) {
    ASSIGN_OR_RETURN(begin, slice.file->store().LowerBound(left.start_key));
  }
  if (begin >= slice.low) return true;
  const FileSlice* const part = FindPart(left, slice);
  return part != nullptr && AreOne(*part, slice) && part->low == begin;
}

Result<bool> HaveAllRows(const RegionVersion& left, const RegionVersion& right) {
  for (const FileSlice& slice : left.files) {
    ASSIGN_OR_RETURN(const bool has, HasTheRest(slice, right));
    if (!has) return false;
  }
  for (const FileSlice& slice : right.files) {
    ASSIGN_OR_RETURN(const bool has, HasTheBeginning(left, slice));
    if (!has) return false;
  }
  return true;
}

// Which run of `right` has a part of a file of the run.
std::optional<size_t> FindPartner(Run run, std::span<const Run> right) {
  for (size_t i = 0; i < right.size(); ++i) {
    for (const FileSlice& slice : right[i]) {
      const auto is_same = [&slice](const FileSlice& part) { return part.file == slice.file; };
      if (std::any_of(run.begin(), run.end(), is_same)) return i;
    }
  }
  return std::nullopt;
}

// A run of the merged region; one of the two may be empty.
using Pair = std::pair<Run, Run>;

// The runs [first, end) of both sides, in order.
struct Stretch {
  std::span<const Run> left, right;
};

void AppendPairs(const Stretch& stretch, std::vector<Pair>* pairs) {
  for (size_t i = 0; i < std::max(stretch.left.size(), stretch.right.size()); ++i) {
    pairs->emplace_back(i < stretch.left.size() ? stretch.left[i] : Run(),
                        i < stretch.right.size() ? stretch.right[i] : Run());
  }
}

// nullopt: two files that both refer to are in the opposite order, or one of them has another file
// of its run between its parts.
std::optional<std::vector<Pair>> PairRuns(std::span<const Run> left, std::span<const Run> right) {
  std::vector<Pair> pairs;
  size_t left_at = 0, right_at = 0;  // What is paired.
  for (size_t i = 0; i < left.size(); ++i) {
    const std::optional<size_t> partner = FindPartner(left[i], right);
    if (!partner.has_value()) continue;
    if (*partner < right_at) return std::nullopt;
    if (!AreOne(left[i].back(), right[*partner].front())) return std::nullopt;
    AppendPairs({left.subspan(left_at, i - left_at), right.subspan(right_at, *partner - right_at)},
                &pairs);
    pairs.emplace_back(left[i], right[*partner]);
    left_at = i + 1;
    right_at = *partner + 1;
  }
  AppendPairs({left.subspan(left_at), right.subspan(right_at)}, &pairs);
  return pairs;
}

// `united` are the places of files whose parts became one.
void AppendRun(const Pair& pair, uint32_t run, std::vector<FileSlice>* files,
               std::vector<size_t>* united) {
  const auto& [left, right] = pair;
  files->insert(files->end(), left.begin(), left.end());
  const bool goes_on = !left.empty() && !right.empty() && AreOne(left.back(), right.front());
  if (goes_on) {
    files->back().high = right.front().high;
    united->push_back(files->size() - 1);
  }
  files->insert(files->end(), right.begin() + (goes_on ? 1 : 0), right.end());
  for (size_t i = files->size() - left.size() - right.size() + (goes_on ? 1 : 0); i < files->size();
       ++i) {
    (*files)[i].run = run;
  }
}

bool KeysOverlap(const format::FileStatistics& a, const format::FileStatistics& b) {
  return a.min_key <= b.max_key && b.min_key <= a.max_key;
}

// Whether the file at `place` is apart in sequence from all that lie between its parts, as the rows
// of a third region may that was between them, and in the order of the list.
bool IsInOrder(std::span<const FileSlice> files, size_t place) {
  const format::FileStatistics& here = files[place].file->store().statistics();
  for (size_t i = 0; i < files.size(); ++i) {
    const format::FileStatistics& other = files[i].file->store().statistics();
    if (i == place || !KeysOverlap(here, other)) continue;
    const bool is_apart =
        i < place ? other.max_sequence < here.min_sequence : here.max_sequence < other.min_sequence;
    if (!is_apart) return false;
  }
  return true;
}

}  // namespace

Result<std::optional<std::vector<FileSlice>>> JoinFiles(const RegionVersion& left,
                                                        const RegionVersion& right,
                                                        size_t runs_max) {
  const std::optional<std::vector<FileSlice>> cannot;
  ASSIGN_OR_RETURN(const bool have_all, HaveAllRows(left, right));
  if (!have_all) return cannot;
  const std::vector<Run> left_runs = RunsOf(left.files), right_runs = RunsOf(right.files);
  const auto pairs = PairRuns(left_runs, right_runs);
  if (!pairs.has_value()) return cannot;
  if (pairs->size() > std::max({left_runs.size(), right_runs.size(), runs_max})) return cannot;
  std::vector<FileSlice> files;
  std::vector<size_t> united;
  for (size_t i = 0; i < pairs->size(); ++i) {
    AppendRun((*pairs)[i], static_cast<uint32_t>(i + 1), &files, &united);
  }
  for (const size_t place : united) {
    if (!IsInOrder(files, place)) return cannot;
  }
  return std::optional(std::move(files));
}

}  // namespace tandem::engine
