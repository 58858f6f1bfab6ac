// Appends sections and blocks to a buffer, which is written to the file piece by piece. A group of
// blocks waits outside it while they are compressed in parallel; it goes into the buffer before
// anything that follows it.
#include "format/block/section_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace tandem::format {
namespace {

// Larger writes are no faster.
constexpr size_t kBufferBytes = 256 * 1024;

}  // namespace

SectionWriter::SectionWriter(base::File* file, FileId id, uint32_t alignment,
                             base::Parallel* parallel)
    : file_(file), id_(id), alignment_(alignment), parallel_(parallel) {
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
  RETURN_IF_ERROR(FinishGroup());
  return EmitBlock(content, PayloadOf(content, &scratch_));
}

Status SectionWriter::AppendGroup(BlockGroup* group, Placed placed) {
  CHECK(open_);
  RETURN_IF_ERROR(FinishGroup());
  std::swap(*group, group_);
  placed_ = std::move(placed);
  std::string_view left = group_.raw;
  contents_.clear();
  for (const BlockGroup::Member& block : group_.blocks) {
    contents_.push_back(block.content);
    contents_.back().raw = left.substr(0, block.raw_bytes);
    left.remove_prefix(block.raw_bytes);
  }
  if (parallel_ != nullptr) return BeginGroup();
  for (size_t i = 0; i < contents_.size(); ++i) {
    ASSIGN_OR_RETURN(const BlockHandle handle, EmitMember(i, Payload(i, &scratch_)));
    placed_(handle);
  }
  group_.Clear();
  return {};
}

// What a block of the group is written with.
std::string_view SectionWriter::Payload(size_t member, std::string* scratch) const {
  if (group_.blocks[member].is_stored) return contents_[member].raw;
  return PayloadOf(contents_[member], scratch);
}

Result<BlockHandle> SectionWriter::EmitMember(size_t member, std::string_view payload) {
  const BlockContent& content = contents_[member];
  if (group_.blocks[member].is_stored) return EmitStored(payload, content.first);
  return EmitBlock(content, payload);
}

Status SectionWriter::BeginGroup() {
  const size_t count = contents_.size();
  scratches_.resize(std::max(scratches_.size(), count));
  payloads_.resize(count);
  loop_ = parallel_->Begin(count, [this](size_t i) {
    payloads_[i] = Payload(i, &scratches_[i]);
    return Status();
  });
  return {};
}

Status SectionWriter::FinishGroup() {
  if (loop_ == nullptr) return {};
  RETURN_IF_ERROR(loop_->Finish());
  loop_.reset();
  scratches_bytes_ = 0;
  for (const std::string& scratch : scratches_) scratches_bytes_ += scratch.capacity();
  for (size_t i = 0; i < contents_.size(); ++i) {
    ASSIGN_OR_RETURN(const BlockHandle handle, EmitMember(i, payloads_[i]));
    placed_(handle);
  }
  group_.Clear();
  return {};
}

Status SectionWriter::AppendStored(std::string_view stored) {
  CHECK(open_);
  RETURN_IF_ERROR(FinishGroup());
  return EmitStored(stored, std::nullopt).status();
}

Result<BlockHandle> SectionWriter::AppendAlone(const BlockContent& content) {
  RETURN_IF_ERROR(PadTo(alignment_));
  return EmitBlock(content, PayloadOf(content, &scratch_));
}

Result<BlockHandle> SectionWriter::EmitBlock(const BlockContent& content,
                                             std::string_view payload) {
  const size_t begin = buffer_.size();
  AppendBlock(content, payload, ChecksumSeed(id_, offset_), &buffer_);
  return Emit(begin);
}

Result<BlockHandle> SectionWriter::EmitStored(std::string_view stored,
                                              std::optional<uint32_t> first) {
  const size_t begin = buffer_.size();
  AppendStoredBlock(stored, first, ChecksumSeed(id_, offset_), &buffer_);
  return Emit(begin);
}

// Accounts for the block in the buffer from `begin` on, and pads it.
Result<BlockHandle> SectionWriter::Emit(size_t begin) {
  const BlockHandle handle{offset_, static_cast<uint32_t>(buffer_.size() - begin)};
  RETURN_IF_ERROR(Emitted(handle.stored_bytes));
  RETURN_IF_ERROR(Pad(kBlockAlignment));
  return handle;
}

Status SectionWriter::End(uint64_t count) {
  CHECK(open_);
  RETURN_IF_ERROR(FinishGroup());
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
  RETURN_IF_ERROR(FinishGroup());
  group_ = {};
  scratches_ = {};
  scratches_bytes_ = 0;
  return WriteBuffer();
}

Status SectionWriter::WriteBuffer() {
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
  return buffer_.size() >= kBufferBytes ? WriteBuffer() : Status();
}

}  // namespace tandem::format
