// See the header.
#include "engine/jobs/load_files.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// A file ends with its region if it has that size: smaller ones would be many in a table of many
// regions, and regions may share a file.
constexpr uint64_t kFileBytesMin = 4 << 20;
// A load may collect this many times the entries of a merge: it has no windows of inputs.
constexpr uint64_t kEntriesOfMerges = 4;

}  // namespace

Result<format::StoreFileWriter*> LoadFiles::WriterFor(std::string_view key) {
  const bool enters_region = empty() || (!region_.end.empty() && key >= region_.end);
  const bool is_full =
      writer_ != nullptr && (work_.limits.AreReached(*writer_) ||
                             writer_->entry_bytes() > kEntriesOfMerges * work_.merge_entry_bytes);
  if (is_full || (enters_region && writer_ != nullptr && writer_->size_bytes() >= kFileBytesMin)) {
    RETURN_IF_ERROR(Hold());
  }
  if (writer_ == nullptr || enters_region) {
    ASSIGN_OR_RETURN(region_, region_of_(key));
  }
  if (writer_ == nullptr) {
    run_.SetRegionStart(region_.start);
    ASSIGN_OR_RETURN(writer_, run_.NextFile());
  }
  if (enters_region) spans_.push_back({.first = std::string(key), .last = {}});
  spans_.back().last = key;
  return writer_;
}

Status LoadFiles::Complete() { return writer_ == nullptr ? Status() : Hold(); }

Status LoadFiles::Hold() {
  writer_ = nullptr;
  return run_.Hold();
}

Result<std::vector<FileSlice>> LoadFiles::SlicesOf(const std::string& start,
                                                   const std::string& end) const {
  std::vector<FileSlice> slices;
  for (const FinishedFile& file : run_.finished()) {
    format::StoreFile& store = file.file->store();
    const format::FileStatistics& statistics = store.statistics();
    FileSlice slice{.file = file.file, .low = 0, .high = file.record.rows};
    if (statistics.min_key < start) {
      ASSIGN_OR_RETURN(slice.low, store.LowerBound(start));
    }
    if (!end.empty() && statistics.max_key >= end) {
      ASSIGN_OR_RETURN(slice.high, store.LowerBound(end));
    }
    if (slice.low < slice.high) slices.push_back(std::move(slice));
  }
  return slices;
}

}  // namespace tandem::engine
