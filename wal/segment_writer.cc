// The writer of one segment. Frames collect in a buffer; Write appends them to the file, Sync makes
// them durable, SyncWritten does so while the writer goes on. The file is longer than its frames
// while space is reserved: Extend grows it ahead of them, beside the writer. States:
//   open      accepts frames.
//   sealed    after kNoSpace (truncated to the last good frame) or Close: accepts none; Close may
//             follow.
//   poisoned  after any other failed write, truncation or sync: every call returns that first
//             error.
#include <algorithm>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "wal/log.h"

namespace tandem::wal {
namespace {

// The system begins to write the log to the disk each time it has grown by this, so that a sync has
// little left to do.
constexpr uint64_t kWriteBackBytes = 512 * 1024;
// What is in a page that is being written waits until that is over.
constexpr uint64_t kPageBytes = 4096;
// The file is made longer than its frames by a quarter of them, within these bounds, and again when
// half of that is left. So few syncs have a size to make durable, and a replay reads little more
// than the frames.
constexpr uint64_t kAheadBytesMin = 32 * 1024;
constexpr uint64_t kAheadBytesMax = 4 * 1024 * 1024;

// What is reserved counts too: of a small segment, a quarter is ahead at most.
uint64_t AheadBytes(uint64_t frame_bytes, uint64_t reserved_bytes) {
  return std::min(std::clamp(frame_bytes / 4, kAheadBytesMin, kAheadBytesMax), reserved_bytes / 4);
}

}  // namespace

struct SegmentWriter::Impl {
  explicit Impl(const SegmentSpec& segment) : spec(segment) {}

  const SegmentSpec spec;
  std::unique_ptr<base::File> file;
  // The writer's.
  std::string buffer;
  SegmentEnd buffered;  // Including `buffer`.
  uint64_t write_back_end = 0;
  bool sealed = false;
  bool closed = false;

  mutable base::Mutex mutex;
  base::CondVar sync_ended;
  SegmentEnd written GUARDED_BY(mutex);
  SegmentEnd synced GUARDED_BY(mutex);
  bool syncing GUARDED_BY(mutex) = false;
  base::CondVar extension_ended;
  uint64_t size_bytes GUARDED_BY(mutex) = 0;  // Of the file, unless the frames are longer.
  bool extending GUARDED_BY(mutex) = false;
  bool may_extend GUARDED_BY(mutex) = true;
  bool failed GUARDED_BY(mutex) =
      false;  // For good; set before `poison`, which may find no memory.
  Status poison GUARDED_BY(mutex);

  Status Poison(const Status& status) EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    return PoisonLocked(status);
  }

  Status PoisonLocked(const Status& status) REQUIRES(mutex) {
    failed = true;
    if (poison.ok()) {
      poison = Status::IoError("the log accepts nothing more after a failed write: " +
                               std::string(status.message()));
    }
    return poison;
  }

  Status Check() const EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    return CheckLocked();
  }

  Status CheckLocked() const REQUIRES(mutex) {
    if (!failed || !poison.ok()) return poison;
    return Status::IoError("the log accepts nothing more after a failed write");
  }

  // Begins to write to the disk what was written since the last time, if that is much. The last
  // page is left out: the next frame is going to be written to it.
  Status StartWriteBack() {
    const uint64_t end = buffered.length_bytes / kPageBytes * kPageBytes;
    if (end < write_back_end + kWriteBackBytes) return {};
    const Status status = file->StartWriteBack(write_back_end, end - write_back_end);
    write_back_end = end;
    return status.ok() ? status : Poison(status);
  }

  SegmentEnd WrittenEnd() const EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    return written;
  }

  uint64_t AheadBytesNow() const REQUIRES(mutex) {
    return AheadBytes(written.length_bytes, spec.reserved_bytes);
  }

  bool IsExtensionDue() const REQUIRES(mutex) {
    return may_extend && !failed && size_bytes < spec.reserved_bytes &&
           size_bytes < written.length_bytes + AheadBytesNow() / 2;
  }

  void Extend() EXCLUDES(mutex) {
    uint64_t wanted;
    {
      base::MutexLock lock(mutex);
      if (extending || !IsExtensionDue()) return;
      extending = true;
      wanted = std::min(written.length_bytes + AheadBytesNow(), spec.reserved_bytes);
    }
    const Status status = engine::Guarded([&] { return file->Extend(wanted); });
    base::MutexLock lock(mutex);
    extending = false;
    extension_ended.NotifyAll();
    size_bytes = wanted;
    if (!status.ok()) may_extend = false;
  }

  // An extension that came later would undo it.
  Status CutToFrames() EXCLUDES(mutex) {
    uint64_t length_bytes;
    {
      base::MutexLock lock(mutex);
      may_extend = false;
      while (extending) extension_ended.Wait(mutex);
      length_bytes = written.length_bytes;
    }
    const Status cut = file->Truncate(length_bytes);
    return cut.ok() ? cut : Poison(cut);
  }

  // Drops the buffer and truncates what the failed write left in the file.
  Status CutBack(const Status& no_space) {
    buffer.clear();
    buffered = WrittenEnd();
    sealed = true;
    const Status cut = CutToFrames();
    return cut.ok() ? no_space : cut;
  }

  enum class When : uint8_t { kUnlessDurable, kAlways };
  // Only what was written before the system's call begins counts as durable. There is one such call
  // at a time: of two, the system may tell only one of an error, and the other says OK.
  Status DataSync(When when) EXCLUDES(mutex) {
    SegmentEnd through;
    {
      base::MutexLock lock(mutex);
      const SegmentEnd asked = written;
      while (syncing) sync_ended.Wait(mutex);
      RETURN_IF_ERROR(CheckLocked());
      if (when == When::kUnlessDurable && synced.length_bytes >= asked.length_bytes) {
        return {};
      }
      syncing = true;
      through = written;
    }
    const Status status = engine::Guarded([this] { return file->DataSync(); });
    base::MutexLock lock(mutex);
    syncing = false;
    sync_ended.NotifyAll();
    if (!status.ok()) return PoisonLocked(status);
    synced = through;
    return status;
  }
};

SegmentWriter::SegmentWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SegmentWriter::~SegmentWriter() = default;

Status SegmentWriter::Reserve(base::File* file, uint64_t size_bytes) {
  RETURN_IF_ERROR(file->Preallocate(size_bytes));
  const uint64_t ahead = AheadBytes(0, size_bytes);
  if (ahead > 0) file->Extend(ahead).Ignore("the file then grows with its frames");
  return Status();
}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(std::unique_ptr<base::File> file,
                                                             const SegmentSpec& spec) {
  auto impl = std::make_unique<Impl>(spec);
  impl->file = std::move(file);
  ASSIGN_OR_RETURN(const uint64_t size_bytes, impl->file->Size());
  std::string header;
  impl->buffered.last_checksum = AppendSegmentHeader(spec, &header);
  impl->buffered.length_bytes = header.size();
  impl->buffered.last_sequence = spec.predecessor.last_sequence;
  RETURN_IF_ERROR(impl->file->Write(0, header));
  RETURN_IF_ERROR(impl->file->DataSync());
  {
    base::MutexLock lock(impl->mutex);
    impl->written = impl->buffered;
    impl->synced = impl->buffered;
    impl->size_bytes = size_bytes;
  }
  return std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(impl)));
}

void SegmentWriter::Append(format::Frame frame) {
  Impl& impl = *impl_;
  if (impl.sealed || !impl.Check().ok()) return;
  SegmentEnd& end = impl.buffered;
  frame.previous = end.last_checksum;
  end.last_checksum = format::EncodeFrame(impl.spec.id, end.length_bytes, frame, &impl.buffer);
  end.length_bytes += format::FrameBytes(frame.payload.size());
  end.last_sequence = frame.first_sequence + std::max(frame.count, 1u) - 1;
}

Status SegmentWriter::Write() {
  Impl& impl = *impl_;
  RETURN_IF_ERROR(impl.Check());
  if (impl.sealed) return Status::NoSpace(impl.file->name() + ": the segment is sealed");
  if (impl.buffer.empty()) return {};
  const Status status =
      impl.file->Write(impl.buffered.length_bytes - impl.buffer.size(), impl.buffer);
  if (base::MayPassInPlace(status)) return impl.CutBack(status);
  if (!status.ok()) return impl.Poison(status);
  impl.buffer.clear();
  {
    base::MutexLock lock(impl.mutex);
    impl.written = impl.buffered;
  }
  return impl.StartWriteBack();
}

Status SegmentWriter::Sync() {
  RETURN_IF_ERROR(Write());
  return SyncWritten();
}

void SegmentWriter::Extend() { impl_->Extend(); }

bool SegmentWriter::is_extension_due() const {
  base::MutexLock lock(impl_->mutex);
  return impl_->IsExtensionDue();
}

Status SegmentWriter::SyncWritten() { return impl_->DataSync(Impl::When::kUnlessDurable); }

format::FileNumber SegmentWriter::number() const { return impl_->spec.number; }
SegmentEnd SegmentWriter::end() const { return impl_->WrittenEnd(); }
uint64_t SegmentWriter::size_bytes() const { return impl_->buffered.length_bytes; }
bool SegmentWriter::sealed() const { return impl_->sealed; }
Status SegmentWriter::status() const { return impl_->Check(); }

SegmentEnd SegmentWriter::synced_end() const {
  base::MutexLock lock(impl_->mutex);
  return impl_->synced;
}

Status SegmentWriter::Close() {
  Impl& impl = *impl_;
  RETURN_IF_ERROR(impl.Check());
  if (impl.closed) return {};
  if (!impl.sealed) RETURN_IF_ERROR(Write());
  impl.sealed = true;
  RETURN_IF_ERROR(impl.CutToFrames());
  RETURN_IF_ERROR(impl.DataSync(Impl::When::kAlways));
  impl.closed = true;
  return {};
}

}  // namespace tandem::wal
