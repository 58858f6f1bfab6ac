// Verifies a whole store file against its checksums. Apart from padding, the bytes that no section
// checksum covers (header, section tables, footer) were verified by Open.
#include <algorithm>
#include <memory>

#include "base/status_macros.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/file_window.h"
#include "store_file/store_file_impl.h"

namespace tandem::format {
namespace {

constexpr size_t kReadBytes = 1024 * 1024;

// Reads the bytes of a file front to back and hashes them.
class ChecksumScan {
 public:
  // Of `size_bytes` from `begin` on.
  ChecksumScan(const BlockFile& file, uint64_t begin, uint64_t size_bytes)
      : file_(file),
        buffer_bytes_(std::min<uint64_t>(kReadBytes, size_bytes)),
        buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes_)),
        offset_(begin) {}

  uint64_t offset() const { return offset_; }
  Hash128 hash() const { return hash_.Finish(); }

  // Calls `visit` with the bytes up to `end`, in pieces; it returns a Status.
  template <typename Visit>
  Status To(uint64_t end, Visit visit) {
    while (offset_ < end) {
      const size_t wanted = std::min<uint64_t>(buffer_bytes_, end - offset_);
      ASSIGN_OR_RETURN(const size_t count, file_.file().Read(offset_, {buffer_.get(), wanted}));
      if (count != wanted) return file_.Corrupt(offset_, Mismatch("bytes", wanted, count));
      const std::string_view bytes(buffer_.get(), count);
      hash_.Add(bytes);
      RETURN_IF_ERROR(visit(bytes));
      offset_ += count;
    }
    return {};
  }
  Status Zeros(uint64_t end) {
    return To(end, [&](std::string_view bytes) {
      const size_t bad = bytes.find_first_not_of('\0');
      return bad == bytes.npos ? Status() : file_.Corrupt(offset_ + bad, "padding is not zero");
    });
  }
  Status Any(uint64_t end) {
    return To(end, [](std::string_view) { return Status(); });
  }

 private:
  const BlockFile& file_;
  const size_t buffer_bytes_;
  std::unique_ptr<char[]> buffer_;
  uint64_t offset_;
  StreamingHash128 hash_;
};

}  // namespace

Result<bool> StoreFile::IsSectionSound(const SectionEntry& section) const {
  ChecksumScan scan(impl_->blocks, section.offset, section.size_bytes);
  StreamingHash64 hash;
  RETURN_IF_ERROR(scan.To(section.offset + section.size_bytes, [&](std::string_view bytes) {
    hash.Add(bytes);
    return Status();
  }));
  return hash.Finish() == section.checksum;
}

Result<Hash128> StoreFile::VerifyBytes() const {
  const BlockFile& file = impl_->blocks;
  ChecksumScan scan(file, 0, impl_->size_bytes);
  RETURN_IF_ERROR(scan.Any(kFileHeaderBytes));
  StreamingHash64 section_hash;
  for (const SectionEntry& section : impl_->sections) {
    RETURN_IF_ERROR(scan.Zeros(section.offset));
    section_hash.Reset();
    RETURN_IF_ERROR(scan.To(section.offset + section.size_bytes, [&](std::string_view bytes) {
      section_hash.Add(bytes);
      return Status();
    }));
    if (section_hash.Finish() != section.checksum) {
      return file.Corrupt(section.offset, HashMismatch("checksum of section", section.checksum,
                                                       section_hash.Finish()));
    }
  }
  RETURN_IF_ERROR(VerifyEnd());
  for (const uint64_t offset : impl_->footer.table_offsets) {
    RETURN_IF_ERROR(scan.Zeros(offset));
    RETURN_IF_ERROR(scan.Any(offset + impl_->footer.table_bytes));
  }
  RETURN_IF_ERROR(scan.Zeros(impl_->size_bytes - kFooterBytes));
  RETURN_IF_ERROR(scan.Any(impl_->size_bytes));
  return scan.hash();
}

// The padding between what VerifyEnd reads.
Status StoreFile::VerifyEndPadding() const {
  const BlockFile& file = impl_->blocks;
  uint64_t from = kFileHeaderBytes;
  if (!impl_->sections.empty()) {
    from = impl_->sections.back().offset + impl_->sections.back().size_bytes;
  }
  FileWindow window(&file.file(), impl_->size_bytes);
  const auto zeros = [&](uint64_t end) -> Status {
    for (; from < end; from += std::min(FileWindow::kReadBytes, end - from)) {
      const uint64_t piece = std::min(FileWindow::kReadBytes, end - from);
      ASSIGN_OR_RETURN(const std::string_view bytes, window.Read(from, piece));
      const size_t bad = bytes.find_first_not_of('\0');
      if (bad != bytes.npos) return file.Corrupt(from + bad, "padding is not zero");
    }
    return {};
  };
  for (const uint64_t offset : impl_->footer.table_offsets) {
    RETURN_IF_ERROR(zeros(offset));
    from = offset + impl_->footer.table_bytes;
  }
  return zeros(impl_->size_bytes - kFooterBytes);
}

// Both copies of the section table and of the footer; Open needs only one.
Status StoreFile::VerifyEnd() const {
  const BlockFile& file = impl_->blocks;
  std::string table;
  AppendSectionTable(impl_->sections, &table);
  for (const uint64_t offset : impl_->footer.table_offsets) {
    ASSIGN_OR_RETURN(const BlockRef block, file.ReadUncached({offset, impl_->footer.table_bytes},
                                                             BlockKind::kSectionTable));
    if (block->raw() != table) return block->Corrupt("the copies of the section table differ");
  }
  std::string expected;
  AppendFooter(impl_->footer, id(), &expected);
  const uint64_t offset = impl_->size_bytes - kFooterBytes;
  char found[kFooterBytes];
  ASSIGN_OR_RETURN(const size_t count, file.file().Read(offset, found));
  if (std::string_view(found, count) != expected) {
    return file.Corrupt(offset, "a copy of the footer is damaged");
  }
  return {};
}

}  // namespace tandem::format
