// Pinning blocks and opening windows over the candidates of one file.
#include "engine/window_file.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// Candidates in one window, but at least those of one block: each can need a block elsewhere.
constexpr size_t kCandidatesMax = 1024;

}  // namespace

WindowFile::WindowFile(ReadJob* job, const FileSource& source, FileCandidates candidates)
    : job_(job),
      source_(source),
      columns_(job->shape, source),
      candidates_(std::move(candidates)),
      walk_(source, &job->queue, {.admit = true, .cautious = job->may_end_early}) {
  walk_.Start(candidates_.ordinals);
}

Status WindowFile::Load(size_t blocks) {
  while (has_more() && block_ends_.size() < blocks &&
         (block_ends_.empty() || loaded_ - opened_ < kCandidatesMax)) {
    WalkedBlock block;
    ASSIGN_OR_RETURN(const bool more, walk_.Next(&block));
    if (!more) break;
    Pin(block);
    loaded_ += block.ordinals.size();
    block_ends_.push_back(loaded_);
  }
  return {};
}

Status WindowFile::LastLoadedKey(std::string* key) const {
  return Key(candidates_.ordinals[loaded_ - 1], key);
}

Status WindowFile::Open(const std::optional<std::string>& bound) {
  size_t end = loaded_;
  if (bound.has_value()) {
    size_t begin = opened_;
    std::string key;
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      RETURN_IF_ERROR(Key(candidates_.ordinals[middle], &key));
      if (key <= *bound) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
  }
  for (; opened_ < end; ++opened_) {
    const uint32_t ordinal = candidates_.ordinals[opened_];
    items_.push_back({ordinal, source_.IsSettledHere(ordinal)});
  }
  std::erase_if(block_ends_, [this](size_t block_end) { return block_end <= opened_; });
  return {};
}

Status WindowFile::Complete() {
  std::sort(extras_.begin(), extras_.end());
  extras_.erase(std::unique(extras_.begin(), extras_.end()), extras_.end());
  std::vector<uint32_t> missing;  // Extra rows whose blocks are not pinned yet.
  for (const uint32_t ordinal : extras_) {
    if (!IsPinned(ordinal)) missing.push_back(ordinal);
  }
  if (!missing.empty()) {
    BlockWalk walk(source_, &job_->queue);
    walk.Start(missing);
    WalkedBlock block;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, walk.Next(&block));
      if (!more) break;
      Pin(block);
    }
    std::sort(pinned_.begin(), pinned_.end(),
              [](const Pinned& a, const Pinned& b) { return a.block < b.block; });
  }
  // Candidates come before extra rows of the same ordinal, which add nothing.
  for (const uint32_t ordinal : extras_) items_.push_back({ordinal, false});
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.ordinal < b.ordinal; });
  items_.erase(std::unique(items_.begin(), items_.end(),
                           [](const Item& a, const Item& b) { return a.ordinal == b.ordinal; }),
               items_.end());
  extras_.clear();
  job_->figures.rows += items_.size();
  return {};
}

void WindowFile::Close() {
  if (items_.empty()) return;
  // Later windows hold larger keys, so larger ordinals.
  const uint32_t last = FindPinned(items_.back().ordinal)->block;
  std::erase_if(pinned_, [=](const Pinned& pinned) { return pinned.block < last; });
  items_.clear();
}

Status WindowFile::Key(uint32_t ordinal, std::string* key) const {
  const format::RowBlock& rows = BlockOf(ordinal);
  return rows.Key(ordinal - rows.first(), key);
}

void WindowFile::Pin(const WalkedBlock& block) {
  pinned_.push_back({block.block, block.rows});
  ++job_->figures.blocks;
  job_->figures.bytes += source_.data->BlockAt(block.block).handle.stored_bytes;
}

// The pinned block that holds `ordinal`; nullptr when there is none.
const WindowFile::Pinned* WindowFile::FindPinned(uint32_t ordinal) const {
  if (last_found_ < pinned_.size() && pinned_[last_found_].Holds(ordinal)) {
    return &pinned_[last_found_];
  }
  const auto after =
      std::partition_point(pinned_.begin(), pinned_.end(),
                           [=](const Pinned& pinned) { return pinned.rows->first() <= ordinal; });
  if (after == pinned_.begin() || !(after - 1)->Holds(ordinal)) return nullptr;
  last_found_ = static_cast<size_t>(after - 1 - pinned_.begin());
  return &pinned_[last_found_];
}

bool WindowFile::IsPinned(uint32_t ordinal) const { return FindPinned(ordinal) != nullptr; }

}  // namespace tandem::engine
