// Sections in the order of the file, block by block; then what follows them.
#include "engine/verify/incremental.h"

#include <algorithm>
#include <string>

#include "base/status_macros.h"
#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/corruption.h"
#include "format/file_header.h"

namespace tandem::format {

Result<uint64_t> IncrementalVerifier::Step(uint64_t bytes) {
  const uint64_t from = at_;
  if (at_ == 0) RETURN_IF_ERROR(Begin());
  const std::vector<SectionEntry>& sections = file_.sections();
  do {
    if (section_ == sections.size()) {
      RETURN_IF_ERROR(file_.VerifyEnd());
      RETURN_IF_ERROR(file_.VerifyEndPadding());
      at_ = file_.size_bytes();
      done_ = true;
      break;
    }
    const SectionEntry& section = sections[section_];
    if (at_ < section.offset) RETURN_IF_ERROR(ToSection(section));
    const uint64_t end = section.offset + section.size_bytes;
    if (at_ < end) {
      ASSIGN_OR_RETURN(at_, VerifyBlock(section));
    }
    if (at_ >= end) ++section_;
  } while (at_ - from < bytes);
  return at_ - from;
}

Status IncrementalVerifier::Begin() {
  const std::string& name = file_.blocks().file().name();
  ASSIGN_OR_RETURN(const std::string_view header, window_.Read(0, kFileHeaderBytes));
  RETURN_IF_ERROR(DecodeFileHeader(header, FileKind::kStore, name).status());
  at_ = kFileHeaderBytes;
  return {};
}

Status IncrementalVerifier::ToSection(const SectionEntry& section) {
  while (at_ < section.offset) {
    const uint64_t piece = std::min(FileWindow::kReadBytes, section.offset - at_);
    ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at_, piece));
    const size_t nonzero = bytes.find_first_not_of('\0');
    if (nonzero != bytes.npos) return file_.blocks().Corrupt(at_ + nonzero, "padding is not zero");
    at_ += piece;
  }
  return {};
}

// Returns where the next block starts.
Result<uint64_t> IncrementalVerifier::VerifyBlock(const SectionEntry& section) {
  const BlockFile& file = file_.blocks();
  const uint64_t left = section.offset + section.size_bytes - at_;
  if (left < kBlockHeaderBytes) return file.Corrupt(at_, "a section ends in a block header");
  ASSIGN_OR_RETURN(const std::string_view header, window_.Read(at_, kBlockHeaderBytes));
  const uint64_t stored = kBlockHeaderBytes + uint64_t{LoadAt<uint32_t>(header, 8)};
  const uint64_t padded = (stored + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (stored > kBlockHeaderBytes + kBlockStoredBytesMax || padded > left) {
    return file.Corrupt(at_, Mismatch("bytes of a block, at most", left, padded));
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at_, padded));
  const std::string_view block = bytes.substr(0, stored);
  RETURN_IF_ERROR(DecodeBlock(file.PlaceAt(at_), ClaimedKind(block), block).status());
  const size_t nonzero = bytes.find_first_not_of('\0', stored);
  if (nonzero != bytes.npos) return file.Corrupt(at_ + nonzero, "padding is not zero");
  return at_ + padded;
}

}  // namespace tandem::format
