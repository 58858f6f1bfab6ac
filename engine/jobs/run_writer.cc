// A file that no catalog edit names is deleted at once; nobody else knows it.
#include "engine/jobs/run_writer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/region_runs.h"

namespace tandem::engine {
namespace {

// Below this size the dozen gaps between sections would be more than a twentieth of a file.
constexpr uint64_t kSmallRunBytes = 1 << 20;
constexpr uint32_t kSmallAlignment = 64;

}  // namespace

RunSize SizeOf(const FinishedRun& files) {
  RunSize size{.files = files.size()};
  for (const FinishedFile& file : files) {
    size.rows += file.record.rows;
    size.bytes += file.record.size_bytes;
  }
  return size;
}

void InsertRun(const FinishedRun& files, uint64_t join_bytes, size_t at, RegionVersion* version) {
  const bool joins =
      !files.empty() &&
      IsAfterRun(*version, at, files.front().file->store().statistics().min_key) &&
      std::all_of(files.begin(), files.end(), [join_bytes](const FinishedFile& file) {
        return file.file->store().size_bytes() >= join_bytes;
      });
  const uint32_t run = joins ? version->files[at - 1].run : NewRun(*version);
  std::vector<FileSlice> slices;
  for (const FinishedFile& file : files) {
    slices.push_back({.file = file.file, .low = 0, .high = file.record.rows, .run = run});
  }
  version->files.insert(version->files.begin() + static_cast<ptrdiff_t>(at), slices.begin(),
                        slices.end());
}

void AddFiles(const FinishedRun& files, format::CatalogEdit* edit) {
  for (const FinishedFile& file : files) edit->add_files.push_back(file.record);
}

RunWriter::~RunWriter() {
  DiscardUnfinished();
  for (FinishedFile& file : finished_) {
    file.file.reset();
    work_.files->Discard(file.record.number);
  }
}

Result<format::StoreFileWriter*> RunWriter::NextFile() {
  DiscardUnfinished();
  ASSIGN_OR_RETURN(NewFile created, work_.files->Create());
  number_ = created.number;
  id_ = created.id;
  const uint32_t alignment = expected_bytes_ < kSmallRunBytes
                                 ? std::min(work_.section_alignment, kSmallAlignment)
                                 : work_.section_alignment;
  writer_.emplace(std::move(created.file),
                  format::StoreFileSpec{.number = number_,
                                        .id = id_,
                                        .database = work_.database,
                                        .table = table_.get(),
                                        .region_start = region_.start_key(),
                                        .alignment = alignment,
                                        .cache = work_.files->cache()});
  return &*writer_;
}

Status RunWriter::Finished(const format::StoreFileSummary& summary) {
  FinishedFile finished;
  finished.record = RecordOf(number_, id_, table_->id, summary);
  ASSIGN_OR_RETURN(finished.file, work_.files->Open(finished.record));
  finished_.push_back(std::move(finished));
  writer_.reset();
  work_.files->cache()->Freed(summary.size_bytes);
  return {};
}

FinishedRun RunWriter::Take() {
  DiscardUnfinished();
  return std::exchange(finished_, {});
}

void RunWriter::DiscardUnfinished() {
  if (!writer_.has_value()) return;
  writer_.reset();
  work_.files->Discard(number_);
}

}  // namespace tandem::engine
