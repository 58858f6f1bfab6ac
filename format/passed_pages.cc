// Pages are let go in runs, with one call for each.
#include "format/passed_pages.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tandem::format {
namespace {

constexpr uint64_t kPageBytes = base::File::kCachePageBytes;
constexpr uint64_t kPagesPerStep = PassedPages::kStepBytes / kPageBytes;

// The system keeps pages that it reads ahead in folios of up to 2 MiB, or more, and drops one only
// as a whole. So a call goes back over what may have hindered the calls before.
constexpr uint64_t kFolioBytesMax = 8 << 20;

using Pages = std::vector<bool>::const_iterator;

// Of the pages [from, to), the first of which is at `offset`. Allocates nothing.
void DropMissing(base::File* file, uint64_t offset, Pages from, Pages to) {
  for (Pages at = from; at != to;) {
    const Pages begin = std::find(at, to, false);
    const Pages end = std::find(begin, to, true);
    const auto first = static_cast<uint64_t>(begin - from);
    const auto count = static_cast<uint64_t>(end - begin);
    if (count > 0) file->DropCached(offset + first * kPageBytes, count * kPageBytes);
    at = end;
  }
}

}  // namespace

void DropPagesThatCame(base::File* file, uint64_t offset, const std::vector<bool>& were_cached) {
  DropMissing(file, offset, were_cached.begin(), were_cached.end());
}

void PassedPages::Look(uint64_t offset, uint64_t size_bytes) {
  if (!std::exchange(has_begun_, true)) began_at_ = passed_to_ = offset / kPageBytes * kPageBytes;
  if (!is_known_) return;
  read_to_ = std::max(read_to_, offset + size_bytes);
  const uint64_t last = (offset + size_bytes) / kStepBytes + 1;
  for (uint64_t step = offset / kStepBytes; step <= last; ++step) {
    if (steps_.contains(step) || (step + 1) * kStepBytes <= passed_to_) continue;
    std::vector<bool> pages = file_->CachedPages(step * kStepBytes, kStepBytes);
    if (pages.size() != kPagesPerStep) {
      is_known_ = false;
      return;
    }
    steps_.emplace(step, std::move(pages));
  }
}

bool PassedPages::WereCached(uint64_t offset, uint64_t size_bytes) const {
  if (!is_known_) return true;
  for (uint64_t page = offset / kPageBytes; page * kPageBytes < offset + size_bytes; ++page) {
    const auto step = steps_.find(page / kPagesPerStep);
    if (step == steps_.end()) return true;
    if (!step->second[page % kPagesPerStep]) return false;
  }
  return true;
}

void PassedPages::Finish() { PassedTo(read_to_ + kStepBytes); }

void PassedPages::PassedTo(uint64_t end) {
  end = end / kPageBytes * kPageBytes;
  if (!is_known_ || end <= passed_to_) return;
  const uint64_t from = std::max(began_at_, passed_to_ - std::min(passed_to_, kFolioBytesMax));
  for (auto step = steps_.begin(); step != steps_.end();) {
    const uint64_t step_at = step->first * kStepBytes;
    const uint64_t begin = std::max(from, step_at);
    const uint64_t until = std::min(end, step_at + kStepBytes);
    if (begin < until) {
      const auto page = [&](uint64_t at) {
        return step->second.cbegin() + static_cast<ptrdiff_t>((at - step_at) / kPageBytes);
      };
      DropMissing(file_, begin, page(begin), page(until));
    }
    const bool is_over = step_at + kStepBytes + kFolioBytesMax <= end;
    step = is_over ? steps_.erase(step) : std::next(step);
  }
  passed_to_ = end;
}

}  // namespace tandem::format
