// The writer of one segment. Frames collect in a buffer; Write appends them to the file, Sync makes
// them durable. States:
//   open      accepts frames.
//   sealed    after kNoSpace (truncated to the last good frame) or Close: accepts none; Close may
//             follow.
//   poisoned  after any other failed write, truncation or sync: every call returns that first
//             error.
#include <algorithm>

#include "base/passing.h"
#include "base/status_macros.h"
#include "wal/log.h"

namespace tandem::wal {

struct SegmentWriter::Impl {
  std::unique_ptr<base::File> file;
  SegmentSpec spec;
  std::string buffer;
  SegmentEnd buffered;  // Including `buffer`.
  SegmentEnd written;
  SegmentEnd synced;
  bool sealed = false;
  bool closed = false;
  Status poison;

  Status Poison(const Status& status) {
    if (poison.ok()) {
      poison = Status::IoError("the log accepts nothing more after a failed write: " +
                               std::string(status.message()));
    }
    return poison;
  }

  // Drops the buffer and truncates what the failed write left in the file.
  Status CutBack(const Status& no_space) {
    buffer.clear();
    buffered = written;
    sealed = true;
    const Status cut = file->Truncate(written.length_bytes);
    return cut.ok() ? no_space : Poison(cut);
  }

  Status DataSync() {
    const Status status = file->DataSync();
    if (!status.ok()) return Poison(status);
    synced = written;
    return status;
  }
};

SegmentWriter::SegmentWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SegmentWriter::~SegmentWriter() = default;

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(std::unique_ptr<base::File> file,
                                                             const SegmentSpec& spec) {
  auto impl = std::make_unique<Impl>();
  impl->file = std::move(file);
  impl->spec = spec;
  RETURN_IF_ERROR(impl->file->Preallocate(spec.preallocate_bytes));
  std::string header;
  impl->written.last_checksum = AppendSegmentHeader(spec, &header);
  impl->written.length_bytes = header.size();
  impl->written.last_sequence = spec.predecessor.last_sequence;
  impl->buffered = impl->written;
  RETURN_IF_ERROR(impl->file->Write(0, header));
  RETURN_IF_ERROR(impl->file->DataSync());
  impl->synced = impl->written;
  return std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(impl)));
}

void SegmentWriter::Append(format::Frame frame) {
  Impl& impl = *impl_;
  if (impl.sealed || !impl.poison.ok()) return;
  SegmentEnd& end = impl.buffered;
  frame.previous = end.last_checksum;
  end.last_checksum = format::EncodeFrame(impl.spec.id, end.length_bytes, frame, &impl.buffer);
  end.length_bytes += format::FrameBytes(frame.payload.size());
  end.last_sequence = frame.first_sequence + std::max(frame.count, 1u) - 1;
}

Status SegmentWriter::Write() {
  Impl& impl = *impl_;
  RETURN_IF_ERROR(impl.poison);
  if (impl.sealed) return Status::NoSpace(impl.file->name() + ": the segment is sealed");
  if (impl.buffer.empty()) return Status();
  const Status status = impl.file->Write(impl.written.length_bytes, impl.buffer);
  if (base::MayPassInPlace(status)) return impl.CutBack(status);
  if (!status.ok()) return impl.Poison(status);
  impl.buffer.clear();
  impl.written = impl.buffered;
  return status;
}

Status SegmentWriter::Sync() {
  RETURN_IF_ERROR(Write());
  if (impl_->synced.length_bytes == impl_->written.length_bytes) return Status();
  return impl_->DataSync();
}

SegmentEnd SegmentWriter::end() const { return impl_->written; }
SegmentEnd SegmentWriter::synced_end() const { return impl_->synced; }
uint64_t SegmentWriter::size_bytes() const { return impl_->buffered.length_bytes; }
bool SegmentWriter::sealed() const { return impl_->sealed; }
const Status& SegmentWriter::status() const { return impl_->poison; }

Status SegmentWriter::Close() {
  Impl& impl = *impl_;
  RETURN_IF_ERROR(impl.poison);
  if (impl.closed) return Status();
  if (!impl.sealed) RETURN_IF_ERROR(Write());
  impl.sealed = true;
  const Status cut = impl.file->Truncate(impl.written.length_bytes);
  if (!cut.ok()) return impl.Poison(cut);
  RETURN_IF_ERROR(impl.DataSync());
  impl.closed = true;
  return Status();
}

}  // namespace tandem::wal
