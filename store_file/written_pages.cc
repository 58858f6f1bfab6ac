// A row lies in the block that is written when it is added, or in the next one; so one that stays
// keeps both.
#include "store_file/written_pages.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::format {
namespace {

// The bytes whose write-back begins together. The disk has two such steps to do at most; so a merge
// is not much faster than the disk, and does not fill the cache with what that has not taken yet.
constexpr uint64_t kStepBytes = 8 << 20;
// Fewer bytes between two that stay are not worth a call.
constexpr uint64_t kDroppedBytesMin = 32 << 10;

}  // namespace

Status WrittenPages::AddRow(bool is_kept, const SectionWriter& out) {
  keeps_next_ |= is_kept;
  keeps_any_ |= is_kept;
  if (out.offset() == rows_end_) return {};
  AddRun(out.offset(), std::exchange(keeps_next_, is_kept));
  return Advance(out);
}

Status WrittenPages::Advance(const SectionWriter& out) {
  const uint64_t written = out.written_bytes();
  if (written < begun_to_ + kStepBytes) return {};
  RETURN_IF_ERROR(file_->StartWriteBack(begun_to_, written - begun_to_));
  const uint64_t before = begun_to_ - begun_to_before_;
  if (before > 0) RETURN_IF_ERROR(file_->AwaitWriteBack(begun_to_before_, before));
  DropRows(begun_to_before_, begun_to_);
  begun_to_before_ = std::exchange(begun_to_, written);
  return {};
}

void WrittenPages::AddRun(uint64_t end, bool is_kept) {
  rows_end_ = end;
  if (!runs_.empty() && runs_.back().is_kept == is_kept) {
    runs_.back().end = end;
    return;
  }
  if (is_kept && !runs_.empty()) {
    const uint64_t begin = runs_.size() > 1 ? runs_[runs_.size() - 2].end : 0;
    if (runs_.back().end - begin < kDroppedBytesMin) {
      runs_.pop_back();
      if (!runs_.empty()) {
        runs_.back().end = end;
        return;
      }
    }
  }
  runs_.push_back({.end = end, .is_kept = is_kept});
}

// Those that do not stay and lie in [begin, end).
void WrittenPages::DropRows(uint64_t begin, uint64_t end) {
  const auto ends_before = [](const Run& run, uint64_t at) { return run.end <= at; };
  auto run = std::lower_bound(runs_.begin(), runs_.end(), begin, ends_before);
  for (; run != runs_.end() && begin < end; ++run) {
    const uint64_t run_end = std::min(run->end, end);
    if (!run->is_kept) file_->DropCached(begin, run_end - begin);
    begin = run_end;
  }
}

void WrittenPages::Finish(std::span<const SectionEntry> sections) {
  DropRows(0, rows_end_);
  for (const SectionEntry& section : sections) {
    if (section.kind == SectionKind::kData) continue;
    const bool is_kept = IsIndexSection(section.kind) ? keeps_indexes_ : keeps_any_;
    if (!is_kept) file_->DropCached(section.offset, section.size_bytes);
  }
}

}  // namespace tandem::format
