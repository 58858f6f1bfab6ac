// Value blocks are read in order: the header of each says where the next one begins.
#include "format/cell/overflow_value.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/sequential_reader.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

// A file from which nothing can be read.
class NoFile final : public base::File {
 public:
  Result<size_t> Read(uint64_t, std::span<char>) override { return Refused(); }
  Status Write(uint64_t, std::string_view) override { return Refused(); }
  Status DataSync() override { return Refused(); }
  Result<uint64_t> Size() override { return Refused(); }
  Status Truncate(uint64_t) override { return Refused(); }
  Status Preallocate(uint64_t) override { return Refused(); }
  const std::string& name() const override { return name_; }

 private:
  static Status Refused() { return Status::IoError("a file is read while it is being written"); }
  const std::string name_ = "file being written";
};

// Calls `use(bytes)` for each value block in order. Verifies each block, but not the hash of the
// value.
Status ForEachValueBlock(const BlockFile& file, const OverflowReference& reference,
                         const std::function<Status(std::string_view)>& use) {
  ASSIGN_OR_RETURN(const uint64_t file_end, file.file().Size());
  uint64_t left = reference.length;
  SequentialReader blocks(file, reference.offset, file_end,
                          kBlockHeaderBytes + std::min<uint64_t>(left, kValueBlockBytes));
  for (uint32_t number = 0; left > 0; ++number) {
    const uint64_t expected = std::min<uint64_t>(left, kValueBlockBytes);
    ASSIGN_OR_RETURN(const BlockRef block, blocks.Next(BlockKind::kValue));
    if (block->first != number) {
      return block->Corrupt(Mismatch("number of value block", number, block->first));
    }
    if (block->count != expected || block->raw_bytes != expected) {
      return block->Corrupt(Mismatch("bytes of value block", expected, block->raw_bytes));
    }
    RETURN_IF_ERROR(use(block->raw()));
    left -= expected;
  }
  return {};
}

Status CheckHash(const BlockFile& file, const OverflowReference& reference, uint64_t hash) {
  if (hash == reference.hash) return {};
  return file.Corrupt(reference.offset,
                      HashMismatch("hash of overflow value", reference.hash, hash));
}

// Value blocks of one value, written piece by piece.
class ValueWriter {
 public:
  ValueWriter(Compression compression, SectionWriter* out) : compression_(compression), out_(out) {}
  Status Add(std::string_view piece) {
    BlockContent content{.kind = BlockKind::kValue, .raw = piece, .compression = compression_};
    content.count = static_cast<uint32_t>(piece.size());
    content.first = number_;
    ASSIGN_OR_RETURN(const BlockHandle handle, out_->Append(content));
    if (number_++ == 0) offset_ = handle.offset;
    return {};
  }
  uint64_t offset() const { return offset_; }

 private:
  const Compression compression_;
  SectionWriter* out_;
  uint32_t number_ = 0;
  uint64_t offset_ = 0;
};

// Cuts off what was appended to a string, unless it is kept: after an error, and where memory runs
// out in the middle.
class Appending {
 public:
  explicit Appending(std::string* out) : out_(*out), before_(out->size()) {}
  ~Appending() {
    if (!is_kept_) out_.resize(before_);
  }
  Appending(const Appending&) = delete;
  Appending& operator=(const Appending&) = delete;

  std::string_view appended() const { return std::string_view(out_).substr(before_); }
  void Keep() { is_kept_ = true; }

 private:
  std::string& out_;
  const size_t before_;
  bool is_kept_ = false;
};

}  // namespace

void AppendOverflowReference(const OverflowReference& reference, std::string* out) {
  AppendVarint(out, reference.length);
  AppendVarint(out, reference.offset);
  AppendU64(out, reference.hash);
}

std::optional<OverflowReference> DecodeOverflowReference(std::string_view bytes) {
  ByteReader reader(bytes);
  OverflowReference reference;
  reference.length = reader.VarintUpTo(kOverflowValueBytesMax);
  reference.offset = reader.Varint();
  reference.hash = reader.U64();
  if (!reader.done() || reference.length <= kInlineValueBytesMax) return std::nullopt;
  return reference;
}

Result<OverflowReference> ReadOverflowReference(const Cell& cell) {
  const BlockFile& file = *cell.overflow_file;
  const std::optional<OverflowReference> reference = DecodeOverflowReference(cell.value);
  if (!reference.has_value())
    return file.Corrupt(0, "a reference to an overflow value is malformed");
  ASSIGN_OR_RETURN(const uint64_t size, file.file().Size());
  if (reference->offset >= size) {
    return file.Corrupt(reference->offset,
                        Mismatch("offset of overflow value, below", size, reference->offset));
  }
  return *reference;
}

Result<OverflowReference> WriteOverflowValue(std::string_view value, Compression compression,
                                             SectionWriter* out) {
  CHECK(value.size() > kInlineValueBytesMax && value.size() <= kOverflowValueBytesMax);
  ValueWriter blocks(compression, out);
  for (size_t at = 0; at < value.size(); at += kValueBlockBytes) {
    RETURN_IF_ERROR(blocks.Add(value.substr(at, kValueBlockBytes)));
  }
  return OverflowReference{value.size(), blocks.offset(), Hash64(value)};
}

Result<OverflowReference> CopyOverflowValue(const Cell& cell, Compression compression,
                                            SectionWriter* out) {
  ASSIGN_OR_RETURN(const OverflowReference source, ReadOverflowReference(cell));
  ValueWriter blocks(compression, out);
  StreamingHash64 hash;
  RETURN_IF_ERROR(ForEachValueBlock(*cell.overflow_file, source, [&](std::string_view piece) {
    hash.Add(piece);
    return blocks.Add(piece);
  }));
  RETURN_IF_ERROR(CheckHash(*cell.overflow_file, source, hash.Finish()));
  return OverflowReference{source.length, blocks.offset(), source.hash};
}

const BlockFile* OverflowInFileBeingWritten() {
  static const BlockFile kFile(std::make_unique<NoFile>(), FileNumber(), FileId(), nullptr);
  return &kFile;
}

Status ReadOverflowValue(const Cell& cell, std::string* value) {
  ASSIGN_OR_RETURN(const OverflowReference reference, ReadOverflowReference(cell));
  Appending appending(value);
  RETURN_IF_ERROR(ForEachValueBlock(*cell.overflow_file, reference, [&](std::string_view piece) {
    value->append(piece);
    return Status();
  }));
  RETURN_IF_ERROR(CheckHash(*cell.overflow_file, reference, Hash64(appending.appended())));
  appending.Keep();
  return {};
}

Result<uint64_t> ValueBytes(const Cell& cell) {
  if (!cell.is_overflow()) return uint64_t{cell.value.size()};
  const std::optional<OverflowReference> reference = DecodeOverflowReference(cell.value);
  if (!reference.has_value()) {
    return cell.overflow_file->Corrupt(0, "a reference to an overflow value is malformed");
  }
  return reference->length;
}

}  // namespace tandem::format
