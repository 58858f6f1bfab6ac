// A file that no catalog edit names is deleted at once; nobody else knows it.
#include "engine/jobs/run_writer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/region_runs.h"
#include "engine/region/size_rules.h"

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
  std::vector<FileSlice> slices;
  for (const FinishedFile& file : files) {
    slices.push_back({.file = file.file, .low = 0, .high = file.record.rows});
  }
  InsertRun(std::move(slices), join_bytes, at, version);
}

void InsertRun(std::vector<FileSlice> slices, uint64_t join_bytes, size_t at,
               RegionVersion* version) {
  std::vector<uint64_t> sizes;
  for (const FileSlice& slice : slices) sizes.push_back(slice.file->store().size_bytes());
  const bool is_after_run =
      !slices.empty() &&
      IsAfterRun(*version, at,
                 std::max(slices.front().file->store().statistics().min_key, version->start_key));
  const bool joins = JoinsRun(is_after_run, sizes, join_bytes);
  const uint32_t run = joins ? version->files[at - 1].run : NewRun(*version);
  for (FileSlice& slice : slices) slice.run = run;
  version->files.insert(version->files.begin() + static_cast<ptrdiff_t>(at), slices.begin(),
                        slices.end());
}

void AddFiles(const FinishedRun& files, format::CatalogEdit* edit) {
  for (const FinishedFile& file : files) edit->add_files.push_back(file.record);
}

RunWriter::~RunWriter() {
  DiscardUnfinished();
  for (OpenFile& file : held_) {
    file.writer.reset();
    work_.files->Discard(file.number);
  }
  for (FinishedFile& file : finished_) {
    file.file.reset();
    work_.files->Discard(file.record.number);
  }
}

Result<format::StoreFileWriter*> RunWriter::NextFile() {
  DiscardUnfinished();
  ASSIGN_OR_RETURN(NewFile created, work_.files->Create());
  current_.number = created.number;
  current_.id = created.id;
  const uint32_t alignment = expected_bytes_ < kSmallRunBytes
                                 ? std::min(work_.section_alignment, kSmallAlignment)
                                 : work_.section_alignment;
  current_.writer = std::make_unique<format::StoreFileWriter>(
      std::move(created.file), format::StoreFileSpec{.number = created.number,
                                                     .id = created.id,
                                                     .database = work_.database,
                                                     .table = table_.get(),
                                                     .region_start = region_start_,
                                                     .alignment = alignment,
                                                     .one_sequence = one_sequence_,
                                                     .synced = unsynced_ == nullptr,
                                                     .cache = work_.files->cache(),
                                                     .parallel = parallel_});
  return &*current_.writer;
}

Status RunWriter::Finished(const format::StoreFileSummary& summary) {
  RETURN_IF_ERROR(AddFinished(current_, summary));
  if (unsynced_ != nullptr) unsynced_->push_back(current_.writer->TakeFile());
  current_.writer.reset();
  work_.files->cache()->Freed(summary.size_bytes);
  if (unsynced_ == nullptr) return {};
  // While the next file is written, the disk does most of what the sync would wait for.
  return unsynced_->back()->StartWriteBack(0, summary.size_bytes);
}

Status RunWriter::AddFinished(const OpenFile& file, const format::StoreFileSummary& summary) {
  FinishedFile finished;
  finished.record = RecordOf(file.number, file.id, table_->id, summary);
  ASSIGN_OR_RETURN(finished.file, work_.files->Open(finished.record));
  finished_.push_back(std::move(finished));
  return {};
}

Status RunWriter::Hold() {
  RETURN_IF_ERROR(current_.writer->FinishRows());
  std::list<OpenFile> held;
  held.emplace_back().number = current_.number;
  held.back().id = current_.id;
  held.back().writer = std::move(current_.writer);
  current_.writer.reset();
  held_.splice(held_.end(), held);
  return {};
}

Status RunWriter::FinishHeld(format::SequenceNumber sequence) {
  while (!held_.empty()) {
    OpenFile& file = held_.front();
    ASSIGN_OR_RETURN(const format::StoreFileSummary summary, file.writer->FinishAt(sequence));
    RETURN_IF_ERROR(AddFinished(file, summary));
    held_.pop_front();
  }
  return {};
}

FinishedRun RunWriter::Take() {
  DiscardUnfinished();
  return std::exchange(finished_, {});
}

void RunWriter::DiscardUnfinished() {
  if (current_.writer == nullptr) return;
  current_.writer.reset();
  work_.files->Discard(current_.number);
}

}  // namespace tandem::engine
