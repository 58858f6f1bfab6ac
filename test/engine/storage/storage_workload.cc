// The scripted workload over a storage; see storage_workload.h.
#include "test/engine/storage/storage_workload.h"

#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "test/support/sample_records.h"

namespace tandem::test {
namespace {

using format::Catalog;
using format::CatalogEdit;
using format::FileNumber;

// The catalog without what the storage decides itself.
std::string Fingerprint(const Catalog& catalog) {
  Catalog plain = catalog;
  plain.segments.clear();
  plain.counters.next_file_number = 0;
  std::string bytes;
  format::EncodeEdit(format::FullEdit(plain), &bytes);
  return bytes;
}

uint64_t FlushedThrough(const Catalog& catalog) {
  uint64_t flushed = 0;
  for (const auto& [id, region] : catalog.regions) {
    flushed = std::max(flushed, region.flushed_through.value);
  }
  return flushed;
}

std::string NumberText(uint64_t number) { return std::to_string(number); }

}  // namespace

OpenedForTest OpenStorage(base::FileSystem* disk, const std::string& path, const OpenForTest& how) {
  OpenedForTest opened;
  opened.random = base::NewSeededRandom(how.seed);
  engine::OpenStorageOptions options;
  options.file_system = disk;
  options.random = opened.random.get();
  options.path = path;
  options.create_if_missing = how.create;
  options.read_only = how.read_only;
  options.segment_bytes = 16 * 1024;
  options.former_segments_max = how.former_segments_max;
  auto result = engine::OpenLocalStorage(
      options,
      [&](const Catalog& catalog) {
        opened.catalog = catalog;
        opened.sequences.clear();
        return Status();
      },
      [&](const format::Frame& frame) {
        opened.sequences.push_back(frame.first_sequence);
        return Status();
      });
  opened.status = result.status();
  if (!result) return opened;
  opened.replay = result->replay;
  opened.was_closed = result->was_closed;
  if (!how.read_only) opened.status = result->storage->Start({});
  if (opened.status.ok()) opened.storage = std::move(result->storage);
  return opened;
}

void StorageModel::Committing(int64_t tag, const Catalog& result) {
  states_[tag] = Fingerprint(result);
}

void StorageModel::Failed(uint64_t sequence) {
  failed_.insert(sequence);
  appended_.erase(std::remove(appended_.begin(), appended_.end(), sequence), appended_.end());
}

void StorageModel::Recovered(const OpenedForTest& opened) {
  acknowledged_tag_ = opened.catalog.counters.last_timestamp;
  const uint64_t flushed = FlushedThrough(opened.catalog);
  const std::set<uint64_t> found(opened.sequences.begin(), opened.sequences.end());
  std::set<uint64_t> kept(found);
  for (uint64_t sequence : appended_) {
    if (sequence <= flushed) kept.insert(sequence);
  }
  appended_.assign(kept.begin(), kept.end());
  for (uint64_t sequence : found) failed_.erase(sequence);
  synced_ = appended_.empty() ? 0 : appended_.back();
}

std::string StorageModel::Contradiction(const OpenedForTest& opened, bool exact) const {
  if (!opened.status.ok()) return "does not open: " + opened.status.ToString();
  std::string reason = CatalogContradiction(opened);
  if (reason.empty()) reason = FileContradiction(opened);
  if (reason.empty()) reason = LogContradiction(opened, exact);
  return reason;
}

std::string StorageModel::CatalogContradiction(const OpenedForTest& opened) const {
  const int64_t tag = opened.catalog.counters.last_timestamp;
  if (tag < acknowledged_tag_) {
    return "commit " + std::to_string(acknowledged_tag_) + " is lost, found " + std::to_string(tag);
  }
  if (tag == 0) return opened.catalog.tables.empty() ? "" : "tables from nowhere";
  const auto state = states_.find(tag);
  if (state == states_.end()) return "commit " + std::to_string(tag) + " was never made";
  return state->second == Fingerprint(opened.catalog) ? "" : "the catalog is of no commit";
}

std::string StorageModel::FileContradiction(const OpenedForTest& opened) const {
  for (const auto& [number, record] : opened.catalog.files) {
    auto file = opened.storage->OpenFile(number);
    if (!file) return file.error().ToString();
    std::string content(*(*file)->Size(), '\0');
    if (!(*file)->Read(0, content) || content != contents_.at(number)) {
      return "store file " + NumberText(number.value) + " has other bytes";
    }
  }
  return "";
}

std::string StorageModel::LogContradiction(const OpenedForTest& opened, bool exact) const {
  const uint64_t flushed = FlushedThrough(opened.catalog);
  std::vector<uint64_t> found;
  for (uint64_t sequence : opened.sequences) {
    if (failed_.contains(sequence)) continue;
    found.push_back(sequence);
  }
  // A frame that failed may show, but only as the last thing before the crash.
  if (!std::is_sorted(opened.sequences.begin(), opened.sequences.end()))
    return "frames out of order";
  const uint64_t last = found.empty() ? flushed : std::max(found.back(), flushed);
  std::vector<uint64_t> expected;
  const uint64_t first = found.empty() ? last + 1 : found.front();
  for (uint64_t sequence : appended_) {
    if (sequence >= first && sequence <= last) expected.push_back(sequence);
    if (sequence > flushed && sequence < first) {
      if (sequence <= last || sequence <= synced_) {
        return "frame " + NumberText(sequence) + " is missing at the start";
      }
    }
  }
  if (!found.empty() && found != expected) return "the frames found are no run of those appended";
  if (last < synced_) return "synced frame " + NumberText(synced_) + " is lost";
  if (exact && !appended_.empty() && last < appended_.back()) return "a closed log lost frames";
  return "";
}

void StorageWorkload::Run() {
  Note(CommitTable());
  Note(Log(3, false));
  Note(Log(2, true));
  Note(FlushToNewFile());
  Note(storage_->RollLog());
  Note(DropOldSegments());
  Note(Log(4, true));
  Note(Log(3, false));
  Note(storage_->PrepareRoll());
  Note(storage_->RollLog());
  Note(Log(2, false));
  Note(FlushToNewFile());
  Note(Log(40, false));  // Passes the segment's reserve.
  // Regions with long keys, put again and again, until the manifest is replaced.
  for (int i = 0; i < 10; ++i) {
    Note(Commit([&](CatalogEdit* edit) {
      const std::string key(60'000, static_cast<char>('a' + i));
      const auto flushed = format::SequenceNumber(FlushedThrough(storage_->catalog()));
      edit->put_regions = {SampleRegion(1, 1, "", key), SampleRegion(2, 1, key, "")};
      for (format::RegionRecord& region : edit->put_regions) region.flushed_through = flushed;
    }));
  }
  Note(DropOldestFile());
  Note(DropOldSegments());
  Note(Log(2, true));
  Note(Log(1, false));
}

Status StorageWorkload::CommitTable() {
  return Commit([&](CatalogEdit* edit) {
    if (!storage_->catalog().tables.empty()) return;
    edit->put_tables.push_back(SampleTable());
    edit->put_regions.push_back(SampleRegion(1, 1));
  });
}

Status StorageWorkload::RunOnce() {
  RETURN_IF_ERROR(Log(1, true));
  return Commit([](CatalogEdit*) {});
}

Status StorageWorkload::Log(int frames, bool sync) {
  std::vector<uint64_t> group;
  for (int i = 0; i < frames; ++i) {
    const std::string payload(i % 2 == 0 ? 30 : 1200, static_cast<char>('a' + i % 26));
    format::Frame frame;
    frame.first_sequence = model_->Appending();
    frame.count = 1;
    frame.payload = payload;
    group.push_back(frame.first_sequence);
    storage_->AppendLog(frame);
  }
  const Status status = sync ? storage_->SyncLog() : storage_->WriteLog();
  if (status.ok() && sync) model_->Synced();
  for (uint64_t sequence : group) {
    if (!status.ok()) model_->Failed(sequence);
  }
  return status;
}

Status StorageWorkload::Commit(const std::function<void(CatalogEdit*)>& fill) {
  const Catalog before = storage_->catalog();
  CatalogEdit edit;
  edit.counters = before.counters;
  // Tags count attempts, so each names one result.
  static int64_t last_tag = 0;
  last_tag = std::max(last_tag, before.counters.last_timestamp) + 1;
  edit.counters->last_timestamp = last_tag;
  edit.counters->next_table_id = 100;
  edit.counters->next_region_id = 100;
  fill(&edit);
  Catalog after = before;
  RETURN_IF_ERROR(format::ApplyEdit(edit, &after));
  model_->Committing(last_tag, after);
  RETURN_IF_ERROR(storage_->CommitEdits(before.epoch, edit));
  model_->Committed(last_tag);
  return {};
}

Status StorageWorkload::FlushToNewFile() {
  if (storage_->catalog().regions.empty()) return Status::NotFound("the table was never made");
  RETURN_IF_ERROR(storage_->WriteLog());
  RETURN_IF_ERROR(storage_->SyncWrittenLog());
  model_->Synced();
  ASSIGN_OR_RETURN(engine::NewFile file, storage_->CreateFile());
  const std::string content = "content of " + NumberText(file.number.value);
  model_->Wrote(file.number, content);
  RETURN_IF_ERROR(file.file->Write(0, content));
  RETURN_IF_ERROR(file.file->DataSync());
  const Status status = Commit([&](CatalogEdit* edit) {
    edit->add_files.push_back(SampleFile(file.number.value));
    const Catalog catalog = storage_->catalog();
    format::RegionRecord region = catalog.regions.at(format::RegionId(1));
    region.flushed_through = format::SequenceNumber(model_->next_sequence() - 1);
    region.files.push_back({file.number, 0, 0, 10});
    edit->put_regions.push_back(region);
  });
  // Whoever fails to commit a file lets it go.
  if (!status.ok()) storage_->DeleteFile(file.number).Ignore("an orphan is removed at open");
  return status;
}

Status StorageWorkload::DropOldSegments() {
  const Catalog catalog = storage_->catalog();
  if (catalog.segments.size() < 2 || FlushedThrough(catalog) + 1 < model_->next_sequence())
    return {};
  return Commit([&](CatalogEdit* edit) {
    for (const format::SegmentRecord& segment : catalog.segments) {
      if (segment.number < storage_->current_segment()) {
        edit->remove_segments.push_back(segment.number);
      }
    }
  });
}

Status StorageWorkload::DropOldestFile() {
  const Catalog catalog = storage_->catalog();
  if (catalog.files.empty()) return {};
  const FileNumber number = catalog.files.begin()->first;
  RETURN_IF_ERROR(Commit([&](CatalogEdit* edit) {
    for (auto [id, region] : catalog.regions) {
      std::erase_if(region.files, [&](const auto& r) { return r.file == number; });
      edit->put_regions.push_back(region);
    }
    edit->remove_files.push_back(number);
  }));
  return storage_->DeleteFile(number);
}

std::string ListingContradiction(base::FileSystem* disk, const Catalog& catalog) {
  std::set<std::string> expected = {"ROOT"};
  for (const auto& [number, file] : catalog.files) expected.insert(engine::StoreFileName(number));
  for (const auto& segment : catalog.segments) expected.insert(engine::SegmentName(segment.number));
  const auto directory = disk->OpenDirectory(kDatabasePath, false);
  if (!directory) return directory.error().ToString();
  int manifests = 0;
  const std::vector<std::string> names = *(*directory)->List();
  for (const std::string& name : names) {
    if (name.starts_with("manifest-")) {
      ++manifests;
    } else if (expected.erase(name) == 0) {
      return name + " is left over";
    }
  }
  if (manifests != 1) return NumberText(manifests) + " manifests";
  return expected.empty() ? "" : *expected.begin() + " is missing";
}

}  // namespace tandem::test
