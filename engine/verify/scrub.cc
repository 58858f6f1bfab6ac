// A slice holds its own reference to its file. Between slices none is held, so that a file replaced
// by compaction is deleted when its readers release it.
#include "engine/verify/scrub.h"

#include <algorithm>
#include <utility>

#include "base/passing.h"
#include "engine/storage/files.h"

namespace tandem::engine {
namespace {

// Bytes per slice: a few milliseconds of decompression.
constexpr uint64_t kSliceBytesMax = 256 << 10;
constexpr uint64_t kSliceBytesMin = 4 << 10;
// Slices per second, at rates that keep a slice between these sizes.
constexpr uint64_t kSlicesPerSecond = 10;
constexpr int64_t kIdleMicros = 1'000'000;

}  // namespace

void Scrubber::Start() {
  if (deps_.bytes_per_second == 0) return;
  NoteFiles(LiveFiles(), deps_.monitor->NowMicros());
  slices_.Schedule();
}

void Scrubber::RunSlice() {
  const uint64_t passed = Slice();
  if (passed == 0) return slices_.Schedule(kIdleMicros);
  deps_.monitor->CountScrubbed(passed);
  const double micros =
      1e6 * static_cast<double>(passed) / static_cast<double>(deps_.bytes_per_second);
  slices_.Schedule(static_cast<int64_t>(std::min(micros, 3.6e9)));
}

// Returns the bytes verified; 0: there is nothing to do, or a transient error.
uint64_t Scrubber::Slice() {
  NoteFiles(LiveFiles(), deps_.monitor->NowMicros());
  const std::shared_ptr<LiveFile> file = Current();
  if (file == nullptr) return 0;
  const uint64_t bytes =
      std::clamp(deps_.bytes_per_second / kSlicesPerSecond, kSliceBytesMin, kSliceBytesMax);
  const Result<uint64_t> passed = verifier_->Step(bytes);
  if (!passed.has_value()) {
    if (base::MayPass(passed.error())) return 0;
    Report(file->store().number(), passed.error());
  }
  if (!passed.has_value() || verifier_->done()) Finish(*file);
  // A file that fails has still cost a read.
  return passed.has_value() ? *passed : bytes;
}

// The file that is being verified, or else the next one.
std::shared_ptr<LiveFile> Scrubber::Current() {
  if (std::shared_ptr<LiveFile> file = file_.lock(); file != nullptr && verifier_ != nullptr) {
    return file;
  }
  verifier_.reset();
  kept_.reset();
  const Files files = LiveFiles();
  began_micros_ = deps_.monitor->NowMicros();
  std::shared_ptr<LiveFile> next;
  format::FileNumber number;
  {
    base::MutexLock lock(mutex_);
    const auto oldest =
        std::min_element(verified_micros_.begin(), verified_micros_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (oldest == verified_micros_.end()) return nullptr;
    const auto found = files.find(oldest->first);
    if (found == files.end()) return nullptr;  // Gone since the list was made.
    number = found->first;
    next = found->second;
  }
  if (next == nullptr) next = kept_ = OpenOfSnapshot(number);
  if (next == nullptr) return nullptr;
  verifier_ = std::make_unique<format::IncrementalVerifier>(&next->store());
  file_ = next;
  return next;
}

// Null: it was dropped meanwhile, or cannot be opened. That is reported, and the next one's turn.
std::shared_ptr<LiveFile> Scrubber::OpenOfSnapshot(format::FileNumber number) {
  const format::Catalog catalog = deps_.storage->catalog();
  const auto record = catalog.files.find(number);
  if (record == catalog.files.end()) return nullptr;
  Result<std::shared_ptr<LiveFile>> file = deps_.files->OpenOnce(record->second);
  if (file.has_value()) return *std::move(file);
  if (!base::MayPass(file.error())) {
    Report(number, file.error());
    base::MutexLock lock(mutex_);
    verified_micros_[number] = began_micros_;
  }
  return nullptr;
}

void Scrubber::Finish(const LiveFile& file) {
  verifier_.reset();
  file_.reset();
  kept_.reset();
  base::MutexLock lock(mutex_);
  verified_micros_[file.store().number()] = began_micros_;
}

// A file that went meanwhile, as those of a dropped snapshot do, is not damaged.
void Scrubber::Report(format::FileNumber number, const Status& status) {
  if (!deps_.storage->catalog().files.contains(number)) return;
  const std::string name = StoreFileName(number);
  deps_.monitor->ScrubFound({.file = name, .status = status});
  deps_.health->Log("the scrub found damage: " + status.ToString());
}

Scrubber::Files Scrubber::LiveFiles() const {
  Files files;
  for (const auto& region : deps_.regions->regions()) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    for (const FileSlice& slice : version->files) {
      files.emplace(slice.file->store().number(), slice.file);
    }
  }
  const format::Catalog catalog = deps_.storage->catalog();
  for (const auto& [number, references] : catalog.snapshot_files) files.emplace(number, nullptr);
  return files;
}

// Adds new files, as verified at `for_new`, and removes those that are gone.
void Scrubber::NoteFiles(const Files& files, int64_t for_new) {
  base::MutexLock lock(mutex_);
  std::erase_if(verified_micros_,
                [&files](const auto& entry) { return !files.contains(entry.first); });
  for (const auto& [number, file] : files) verified_micros_.emplace(number, for_new);
}

uint64_t Scrubber::OldestMicros() {
  if (deps_.bytes_per_second == 0) return 0;
  const int64_t now = deps_.monitor->NowMicros();
  base::MutexLock lock(mutex_);
  int64_t oldest = now;
  for (const auto& [number, micros] : verified_micros_) oldest = std::min(oldest, micros);
  return static_cast<uint64_t>(now - oldest);
}

}  // namespace tandem::engine
