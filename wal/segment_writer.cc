// The writer of one segment. Frames gather in a buffer; Write puts them at the end of the file,
// Sync makes them durable. States:
//   open      takes frames.
//   sealed    after kNoSpace (cut back to the last good frame) or Close: takes none; Close may
//             follow.
//   poisoned  after any other failed write, cut or sync: every call returns that first error.
#include <algorithm>

#include "base/status_macros.h"
#include "wal/log.h"

namespace tandem::wal {

struct SegmentWriter::Parts {
  std::unique_ptr<base::File> file;
  SegmentSpec spec;
  std::string buffer;
  SegmentEnd buffered;  // With what is in `buffer`.
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

  // Drops the buffer and what the failed write left in the file.
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

SegmentWriter::SegmentWriter(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SegmentWriter::~SegmentWriter() = default;

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(std::unique_ptr<base::File> file,
                                                             const SegmentSpec& spec) {
  auto parts = std::make_unique<Parts>();
  parts->file = std::move(file);
  parts->spec = spec;
  RETURN_IF_ERROR(parts->file->Preallocate(spec.preallocate_bytes));
  std::string header;
  parts->written.last_checksum = AppendSegmentHeader(spec, &header);
  parts->written.length_bytes = header.size();
  parts->written.last_sequence = spec.predecessor.last_sequence;
  parts->buffered = parts->written;
  RETURN_IF_ERROR(parts->file->Write(0, header));
  RETURN_IF_ERROR(parts->file->DataSync());
  parts->synced = parts->written;
  return std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(parts)));
}

void SegmentWriter::Append(format::Frame frame) {
  Parts& parts = *parts_;
  if (parts.sealed || !parts.poison.ok()) return;
  SegmentEnd& end = parts.buffered;
  frame.previous = end.last_checksum;
  end.last_checksum = format::EncodeFrame(parts.spec.id, end.length_bytes, frame, &parts.buffer);
  end.length_bytes += format::FrameBytes(frame.payload.size());
  end.last_sequence = frame.first_sequence + std::max(frame.count, 1u) - 1;
}

Status SegmentWriter::Write() {
  Parts& parts = *parts_;
  RETURN_IF_ERROR(parts.poison);
  if (parts.sealed) return Status::NoSpace(parts.file->name() + ": the segment is sealed");
  if (parts.buffer.empty()) return Status();
  const Status status = parts.file->Write(parts.written.length_bytes, parts.buffer);
  if (status.code() == StatusCode::kNoSpace) return parts.CutBack(status);
  if (!status.ok()) return parts.Poison(status);
  parts.buffer.clear();
  parts.written = parts.buffered;
  return status;
}

Status SegmentWriter::Sync() {
  RETURN_IF_ERROR(Write());
  if (parts_->synced.length_bytes == parts_->written.length_bytes) return Status();
  return parts_->DataSync();
}

SegmentEnd SegmentWriter::end() const { return parts_->written; }
SegmentEnd SegmentWriter::synced_end() const { return parts_->synced; }
uint64_t SegmentWriter::size_bytes() const { return parts_->buffered.length_bytes; }
bool SegmentWriter::sealed() const { return parts_->sealed; }
const Status& SegmentWriter::status() const { return parts_->poison; }

Status SegmentWriter::Close() {
  Parts& parts = *parts_;
  RETURN_IF_ERROR(parts.poison);
  if (parts.closed) return Status();
  if (!parts.sealed) RETURN_IF_ERROR(Write());
  parts.sealed = true;
  const Status cut = parts.file->Truncate(parts.written.length_bytes);
  if (!cut.ok()) return parts.Poison(cut);
  RETURN_IF_ERROR(parts.DataSync());
  parts.closed = true;
  return Status();
}

}  // namespace tandem::wal
