// Streams of files are opened where their first key is reached, so that few are open at a time.
#include "engine/advice/file_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "index/entries.h"

namespace tandem::engine {

Result<std::span<const format::Cell>> IndexedCells::Of(const format::RowStream& stream) {
  cells_.clear();
  if (!stream.is_wide()) {
    RETURN_IF_ERROR(stream.Cells(&cells_));
    return std::span<const format::Cell>(cells_);
  }
  wide_.Clear();
  ASSIGN_OR_RETURN(const std::unique_ptr<format::CellStream> pieces, stream.Stream());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, pieces->Next());
    if (!more) break;
    for (const format::Cell& cell : pieces->cells()) format::KeepIndexed(table_, cell, &wide_);
  }
  wide_.AppendSorted(&cells_);
  return std::span<const format::Cell>(cells_);
}

struct FileRows::Stream {
  Stream(std::shared_ptr<LiveFile> live_file, uint32_t low_row, uint32_t high_row,
         const format::TableRecord& indexed)
      : live(std::move(live_file)), low(low_row), high(high_row), kept(indexed) {}

  const std::shared_ptr<LiveFile> live;
  const uint32_t low, high;
  std::string first_key = {};
  std::optional<format::RowStream> rows = std::nullopt;
  IndexedCells kept;
  bool is_at_row = false;  // The row that was given last is one of it.
};

namespace {

// What the streams of one region read ahead together is bounded by the files that overlap.
constexpr uint64_t kWindowBytes = 512 << 10;

Result<std::string> KeyAt(format::StoreFile* file, uint32_t ordinal) {
  format::RowStream stream(file, ordinal, ordinal + 1, /*window_bytes=*/32 << 10);
  RETURN_IF_ERROR(stream.Next());
  return stream.key();
}

}  // namespace

FileRows::FileRows(const TableView& view, const format::TableRecord& indexed, RowSample sample,
                   const base::Cancellation& cancellation)
    : view_(view), indexed_(indexed), sample_(sample), cancellation_(cancellation) {}
FileRows::~FileRows() = default;

// The groups are cut at rows of the file that has most of them.
Status FileRows::BeginRegion(const RegionVersion& region) {
  region_ = &region;
  ranges_.clear();
  if (region.files.empty()) return {};
  if (sample_.stride == 1) {
    ranges_.emplace_back();
    return {};
  }
  const FileSlice& largest = *std::ranges::max_element(
      region.files, {}, [](const FileSlice& slice) { return slice.high - slice.low; });
  format::StoreFile* const file = &largest.file->store();
  for (uint32_t low = largest.low; low < largest.high; low += RowSample::kGroupRows) {
    RETURN_IF_ERROR(cancellation_.Check());
    if (!sample_.Has(group_++)) continue;
    format::KeyRange& range = ranges_.emplace_back();
    if (low > largest.low) {
      ASSIGN_OR_RETURN(range.low, KeyAt(file, low));
    }
    if (largest.high - low > RowSample::kGroupRows) {
      ASSIGN_OR_RETURN(range.high, KeyAt(file, low + RowSample::kGroupRows));
    }
  }
  std::ranges::reverse(ranges_);
  return {};
}

Status FileRows::BeginRange() {
  const format::KeyRange range = std::move(ranges_.back());
  ranges_.pop_back();
  for (const FileSlice& slice : region_->files) {
    RETURN_IF_ERROR(cancellation_.Check());
    format::StoreFile* const file = &slice.file->store();
    uint32_t low = slice.low, high = slice.high;
    if (!range.low.empty()) {
      ASSIGN_OR_RETURN(const uint32_t first, file->LowerBound(range.low));
      low = std::max(low, first);
    }
    if (range.high.has_value()) {
      ASSIGN_OR_RETURN(const uint32_t end, file->LowerBound(*range.high));
      high = std::min(high, end);
    }
    if (low >= high) continue;
    auto stream = std::make_unique<Stream>(slice.file, low, high, indexed_);
    stream->first_key = std::max({range.low, region_->start_key, file->statistics().min_key});
    due_.push_back(std::move(stream));
  }
  std::ranges::stable_sort(
      due_, [](const auto& a, const auto& b) { return a->first_key > b->first_key; });
  return {};
}

// Opens the streams whose rows may come next.
Status FileRows::OpenDue() {
  while (!due_.empty()) {
    const std::string* smallest = nullptr;
    for (const auto& stream : open_) {
      if (stream == nullptr) continue;
      if (smallest == nullptr || stream->rows->key() < *smallest) smallest = &stream->rows->key();
    }
    if (smallest != nullptr && due_.back()->first_key > *smallest) return {};
    std::unique_ptr<Stream> stream = std::move(due_.back());
    due_.pop_back();
    stream->rows.emplace(&stream->live->store(), stream->low, stream->high, kWindowBytes);
    RETURN_IF_ERROR(stream->rows->Next());
    if (!stream->rows->valid()) continue;
    const auto free = std::ranges::find_if(open_, [](const auto& slot) { return slot == nullptr; });
    if (free == open_.end()) {
      open_.push_back(std::move(stream));
    } else {
      *free = std::move(stream);
    }
  }
  return {};
}

Result<bool> FileRows::Next() {
  RETURN_IF_ERROR(cancellation_.Check());
  parts_.clear();
  for (std::unique_ptr<Stream>& stream : open_) {
    if (stream == nullptr || !std::exchange(stream->is_at_row, false)) continue;
    RETURN_IF_ERROR(stream->rows->Next());
    if (!stream->rows->valid()) stream.reset();
  }
  RETURN_IF_ERROR(OpenDue());
  while (std::ranges::all_of(open_, [](const auto& stream) { return stream == nullptr; })) {
    if (!ranges_.empty()) {
      RETURN_IF_ERROR(BeginRange());
      RETURN_IF_ERROR(OpenDue());
    } else if (next_region_ < view_.regions.size()) {
      RETURN_IF_ERROR(BeginRegion(*view_.regions[next_region_++]));
    } else {
      return false;
    }
  }
  const Stream* smallest = nullptr;
  for (const auto& stream : open_) {
    if (stream == nullptr) continue;
    if (smallest == nullptr || stream->rows->key() < smallest->rows->key()) smallest = stream.get();
  }
  key_ = smallest->rows->key();
  for (size_t slot = 0; slot < open_.size(); ++slot) {
    Stream* const stream = open_[slot].get();
    if (stream == nullptr || stream->rows->key() != key_) continue;
    stream->is_at_row = true;
    ASSIGN_OR_RETURN(const std::span<const format::Cell> cells, stream->kept.Of(*stream->rows));
    parts_.push_back({slot, &stream->live->store(), stream->rows->ordinal(), cells});
    ++rows_read_;
  }
  return true;
}

}  // namespace tandem::engine
