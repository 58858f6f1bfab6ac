// What is sorted are pointers to encoded operations, which are copied as they are: into a frame of
// a run, or into a batch for the sink.
#include "engine/jobs/bulk_sorter.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/loser_tree.h"
#include "base/status_macros.h"
#include "format/block/block_cache.h"
#include "format/coding.h"
#include "format/frame.h"

namespace tandem::engine {
namespace {

// A batch of sorted operations; one frame of a run.
constexpr size_t kBatchBytes = 64 << 10;
// What reading a run takes (FrameReader).
constexpr uint64_t kReaderBytes = 256 << 10;
constexpr uint64_t kMergedMin = 4, kMergedMax = 256;

size_t CommonBytes(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

// Sequences and timestamps do not matter here.
wal::GroupReader ReaderOf(std::string_view bytes, uint32_t operations) {
  return wal::GroupReader::OfBatch(bytes, operations, format::SequenceNumber(1), 0);
}

/// Collects operations into batches for a sink.
class BatchFiller {
 public:
  explicit BatchFiller(const BulkSorter::Sink& sink) : sink_(sink) {}

  Status Add(std::string_view operation) {
    batch_.AddEncoded(operation);
    return batch_.bytes().size() < kBatchBytes ? Status() : sink_(batch_.Take());
  }
  Status End() { return batch_.operation_count() == 0 ? Status() : sink_(batch_.Take()); }

 private:
  const BulkSorter::Sink& sink_;
  wal::BatchEncoder batch_;
};

}  // namespace

/// A sorted file of frames, with one batch in each.
class BulkSorter::Run {
 public:
  Run(StoreFiles* files, int level) : level_(level), files_(files) {}
  ~Run() {
    if (file_.file == nullptr) return;
    file_.file.reset();
    files_->Discard(file_.number);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Status Create() {
    ASSIGN_OR_RETURN(file_, files_->Create());
    return {};
  }
  Status Write(const wal::BatchEncoder& batch) {
    std::string frame;
    checksum_ = format::EncodeFrame(
        file_.id, size_bytes_,
        {.previous = checksum_, .count = batch.operation_count(), .payload = batch.bytes()},
        &frame);
    RETURN_IF_ERROR(file_.file->Write(size_bytes_, frame));
    size_bytes_ += frame.size();
    return {};
  }
  int level() const { return level_; }
  format::FrameReader NewReader() const {
    return format::FrameReader(file_.file.get(), file_.id, 0, size_bytes_);
  }
  const std::string& name() const { return file_.file->name(); }

 private:
  const int level_;
  StoreFiles* const files_;
  NewFile file_;
  uint64_t size_bytes_ = 0;
  uint64_t checksum_ = 0;  // Of the last frame.
};

/// Threads: one at a time.
class BulkSorter::RunReader {
 public:
  explicit RunReader(const Run& run) : run_(run), frames_(run.NewReader()) {}

  /// False at the end. Errors: kCorruption, kIoError.
  Result<bool> Next() {
    while (true) {
      const std::string_view rest = operations_.rest_of_batch();
      if (operations_.Next(&operation_)) {
        bytes_ = rest.substr(0, rest.size() - operations_.rest_of_batch().size());
        return true;
      }
      RETURN_IF_ERROR(operations_.status());
      if (frames_.offset() == frames_.limit()) {
        is_at_end_ = true;
        return false;
      }
      RETURN_IF_ERROR(NextFrame());
    }
  }
  bool is_at_end() const { return is_at_end_; }
  std::string_view row() const { return operation_.row; }
  std::string_view bytes() const { return bytes_; }  ///< Of the operation.

 private:
  Status NextFrame() {
    ASSIGN_OR_RETURN(const auto frame, frames_.Next());
    if (!frame.has_value() || frame->frame.previous != checksum_) {
      return Status::Corruption(run_.name() + ": offset " + std::to_string(frames_.offset()) +
                                ": sorted rows do not read back as they were written");
    }
    checksum_ = frame->checksum;
    operations_ = ReaderOf(frame->frame.payload, frame->frame.count);
    return {};
  }

  const Run& run_;
  format::FrameReader frames_;
  wal::GroupReader operations_ = ReaderOf({}, 0);
  wal::Operation operation_;
  std::string_view bytes_;
  uint64_t checksum_ = 0;
  bool is_at_end_ = false;
};

BulkSorter::BulkSorter(StoreFiles* files, uint64_t memory_bytes)
    : files_(files),
      memory_bytes_(memory_bytes),
      charge_(files->cache()->Charge(base::MemoryPart::kFileWriters, 0)) {}
BulkSorter::~BulkSorter() = default;

Status BulkSorter::Add(wal::BatchEncoder batch) {
  if (batch.operation_count() == 0) return {};
  const wal::BatchEncoder& kept = batches_.emplace_back(std::move(batch));
  wal::GroupReader reader = ReaderOf(kept.bytes(), kept.operation_count());
  wal::Operation operation;
  std::string_view rest = reader.rest_of_batch();
  while (reader.Next(&operation)) {
    const size_t size = rest.size() - reader.rest_of_batch().size();
    common_bytes_ = entries_.empty() ? operation.row.size()
                                     : CommonBytes(operation.row.substr(0, common_bytes_),
                                                   entries_.front().key_view());
    entries_.push_back({.key = operation.row.data(),
                        .begin = rest.data(),
                        .size = static_cast<uint32_t>(size),
                        .key_size = static_cast<uint32_t>(operation.row.size())});
    rest = reader.rest_of_batch();
  }
  RETURN_IF_ERROR(reader.status());
  bytes_ += kept.bytes().capacity() + kept.operation_count() * sizeof(Entry);
  charge_.Set(bytes_);
  files_->cache()->Shrink();
  return bytes_ < memory_bytes_ ? Status() : WriteRun();
}

// Equal keys stay in the order of arrival.
void BulkSorter::Sort() {
  for (Entry& entry : entries_)
    entry.head = format::KeyHead(entry.key_view().substr(common_bytes_));
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.head != b.head ? a.head < b.head : a.key_view() < b.key_view();
  });
}

Status BulkSorter::PassEntries(const Sink& sink) {
  Sort();
  BatchFiller filler(sink);
  for (const Entry& entry : entries_) RETURN_IF_ERROR(filler.Add({entry.begin, entry.size}));
  return filler.End();
}

void BulkSorter::Forget() {
  entries_.clear();
  batches_.clear();
  bytes_ = 0;
  charge_.Set(0);
}

Status BulkSorter::WriteRun() {
  Run& run = runs_.emplace_back(files_, 0);
  RETURN_IF_ERROR(run.Create());
  RETURN_IF_ERROR(PassEntries([&run](const auto& batch) { return run.Write(batch); }));
  Forget();
  return MergeLevels();
}

Status BulkSorter::MergeLevels() {
  const auto merged = std::clamp(memory_bytes_ / kReaderBytes, kMergedMin, kMergedMax);
  while (true) {
    const int level = runs_.back().level();
    auto first = runs_.end();
    uint64_t count = 0;
    while (first != runs_.begin() && std::prev(first)->level() == level) {
      --first;
      ++count;
    }
    if (count < merged) return {};
    const auto run = runs_.emplace(first, files_, level + 1);
    RETURN_IF_ERROR(run->Create());
    RETURN_IF_ERROR(Merge(first, [&run](const auto& batch) { return run->Write(batch); }));
  }
}

// Merges the runs from `first` on and deletes them.
Status BulkSorter::Merge(std::list<Run>::iterator first, const Sink& sink) {
  std::vector<RunReader> readers;
  readers.reserve(static_cast<size_t>(std::distance(first, runs_.end())));
  for (auto run = first; run != runs_.end(); ++run) {
    RETURN_IF_ERROR(readers.emplace_back(*run).Next().status());
  }
  base::LoserTree tree(readers.size(), [&readers](size_t a, size_t b) {
    const RunReader &left = readers[a], &right = readers[b];
    if (left.is_at_end() || right.is_at_end()) {
      return left.is_at_end() == right.is_at_end() ? a < b : right.is_at_end();
    }
    const int order = left.row().compare(right.row());
    return order != 0 ? order < 0 : a < b;
  });
  BatchFiller filler(sink);
  while (!readers[tree.top()].is_at_end()) {
    RunReader& reader = readers[tree.top()];
    RETURN_IF_ERROR(filler.Add(reader.bytes()));
    RETURN_IF_ERROR(reader.Next().status());
    tree.Replay();
  }
  RETURN_IF_ERROR(filler.End());
  readers.clear();
  runs_.erase(first, runs_.end());
  return {};
}

Status BulkSorter::Finish(const Sink& sink) {
  if (runs_.empty()) {
    RETURN_IF_ERROR(PassEntries(sink));
    Forget();
    return {};
  }
  if (!entries_.empty()) RETURN_IF_ERROR(WriteRun());
  return Merge(runs_.begin(), sink);
}

}  // namespace tandem::engine
