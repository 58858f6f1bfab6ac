// Appends sections and blocks to a buffer, which is written to the file piece by piece.
#include "format/block/section_writer.h"

#include <bit>

#include "base/check.h"
#include "base/status_macros.h"

namespace tandem::format {
namespace {

// Larger writes are no faster.
constexpr size_t kBufferBytes = 256 * 1024;

}  // namespace

SectionWriter::SectionWriter(base::File* file, FileId id, uint32_t alignment)
    : file_(file), id_(id), alignment_(alignment) {
  CHECK(std::has_single_bit(alignment) && alignment >= 64);
  buffer_.reserve(kBufferBytes + kBufferBytes / 4);  // Room for one more block of usual size.
}

Status SectionWriter::AppendRaw(std::string_view bytes) {
  CHECK(!open_);
  buffer_.append(bytes);
  return Emitted(bytes.size());
}

Status SectionWriter::Begin(SectionKind kind, uint32_t owner, uint32_t flags) {
  CHECK(!open_);
  RETURN_IF_ERROR(Pad(alignment_));
  SectionEntry entry;
  entry.kind = kind;
  entry.flags = flags;
  entry.owner = owner;
  entry.offset = offset_;
  sections_.push_back(entry);
  section_hash_.Reset();
  open_ = true;
  return {};
}

Result<BlockHandle> SectionWriter::Append(const BlockContent& content) {
  CHECK(open_);
  return EmitBlock(content);
}

Status SectionWriter::AppendStored(std::string_view stored) {
  CHECK(open_);
  AppendStoredBlock(stored, ChecksumSeed(id_, offset_), &buffer_);
  RETURN_IF_ERROR(Emitted(stored.size()));
  return Pad(kBlockAlignment);
}

Result<BlockHandle> SectionWriter::AppendAlone(const BlockContent& content) {
  RETURN_IF_ERROR(PadTo(alignment_));
  return EmitBlock(content);
}

Result<BlockHandle> SectionWriter::EmitBlock(const BlockContent& content) {
  BlockHandle handle;
  handle.offset = offset_;
  handle.stored_bytes = AppendBlock(content, ChecksumSeed(id_, offset_), &scratch_, &buffer_);
  RETURN_IF_ERROR(Emitted(handle.stored_bytes));
  RETURN_IF_ERROR(Pad(kBlockAlignment));
  return handle;
}

Status SectionWriter::End(uint64_t count) {
  CHECK(open_);
  SectionEntry& entry = sections_.back();
  entry.size_bytes = offset_ - entry.offset;
  entry.count = count;
  entry.checksum = section_hash_.Finish();
  open_ = false;
  return {};
}

Status SectionWriter::PadTo(uint32_t alignment) {
  CHECK(!open_);
  return Pad(alignment);
}

Status SectionWriter::Flush() {
  const Status status = file_->Write(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
  return status;
}

Status SectionWriter::Pad(uint32_t alignment) {
  const size_t padding = (alignment - offset_ % alignment) % alignment;
  buffer_.append(padding, '\0');
  return Emitted(padding);
}

// Accounts for the last `size` bytes of the buffer, which were just appended.
Status SectionWriter::Emitted(size_t size) {
  const std::string_view bytes = std::string_view(buffer_).substr(buffer_.size() - size);
  hash_.Add(bytes);
  if (open_) section_hash_.Add(bytes);
  offset_ += size;
  return buffer_.size() >= kBufferBytes ? Flush() : Status();
}

}  // namespace tandem::format
