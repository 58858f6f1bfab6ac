// Every byte of a file is covered: header, blocks, padding between them, table and footer.
#include "engine/verify/blocks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "engine/verify/references.h"
#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/file_window.h"
#include "format/hash.h"
#include "format/row/block_places.h"

namespace tandem::format {
namespace {

// Padding, and the second copies of what leads to the sections.
constexpr FindingTopic kSpare = {"spare", FindingEffect::kNothing};

bool SectionHolds(SectionKind section, BlockKind block) {
  switch (section) {
    case SectionKind::kSchema:
      return block == BlockKind::kSchema;
    case SectionKind::kDictionary:
      return block == BlockKind::kDictionary;
    case SectionKind::kData:
      return block == BlockKind::kRows || block == BlockKind::kChunk ||
             block == BlockKind::kWideHead || block == BlockKind::kValue;
    case SectionKind::kBlockIndex:
      return block == BlockKind::kBlockIndex;
    case SectionKind::kBlockIndexTop:
      return block == BlockKind::kBlockIndexTop;
    case SectionKind::kKeyHashes:
      return block == BlockKind::kKeyHashes;
    case SectionKind::kCleanRows:
    case SectionKind::kIndexPresent:
    case SectionKind::kIndexTouched:
    case SectionKind::kPresence:
      return block == BlockKind::kBitmap;
    case SectionKind::kFilter:
      return block == BlockKind::kFilter;
    case SectionKind::kIndexLeaves:
      return block == BlockKind::kIndexLeaf;
    case SectionKind::kIndexPostings:
      return block == BlockKind::kPostings;
    case SectionKind::kIndexDirectory:
      return block == BlockKind::kIndexDirectory;
    case SectionKind::kStatistics:
      return block == BlockKind::kStatistics;
    case SectionKind::kDigests:
      return block == BlockKind::kDigests;
    case SectionKind::kIndexRecords:
      return block == BlockKind::kIndexRecords;
    case SectionKind::kIndexRecordDirectory:
      return block == BlockKind::kIndexRecordDirectory;
  }
  return true;  // A section of a later version whose feature bit says that it may be ignored.
}

class BlocksVerifier {
 public:
  BlocksVerifier(const StoreFile& file, Findings* findings)
      : file_(file),
        findings_(*findings),
        name_(std::make_shared<const std::string>(file.blocks().file().name())),
        window_(&file.blocks().file(), file.size_bytes()),
        references_(file.blocks(), findings) {}

  Status Run();

 private:
  Status OpenFamilies();
  Status VerifyPieces(const DataSection& data);
  Status VerifySection(const SectionEntry& section);
  /// Decodes the block at `at` of `section` and returns where the next one starts; its bytes go to
  /// `*hash`.
  Result<uint64_t> VerifyBlock(const SectionEntry& section, uint64_t at, StreamingHash64* hash);
  Status VerifyZeros(uint64_t begin, uint64_t end);
  /// The data section holds a row block at `at`: it must be the next one of exactly one family,
  /// which is returned (nullptr: it is not).
  Result<const DataSection*> MatchRowBlock(uint64_t at, uint64_t stored);
  /// Checks what a good block of the data section says of others. `family`: of a row block.
  Status VerifyReferences(const BlockRef& block, std::string_view stored,
                          const DataSection* family);
  void CompareBlockCounts();

  /// A family or the keys, and how many of its blocks were seen.
  struct Family {
    const DataSection* data = nullptr;
    std::unique_ptr<BlockPlaces> places;
    uint32_t next = 0;
  };

  const StoreFile& file_;
  Findings& findings_;
  std::shared_ptr<const std::string> name_;
  FileWindow window_;
  std::vector<Family> families_;
  bool families_are_known_ = true;  ///< All of them could be loaded.
  ReferenceVerifier references_;
};

Status BlocksVerifier::Run() {
  findings_.set_sections(file_.sections());
  findings_.set_topic(kSpare);
  RETURN_IF_ERROR(OpenFamilies());
  uint64_t end = kFileHeaderBytes;
  for (const SectionEntry& section : file_.sections()) {  // Open checked that they ascend.
    Status status = VerifyZeros(end, section.offset);
    if (status.ok()) status = VerifySection(section);
    if (!status.ok()) RETURN_IF_ERROR(findings_.AddError(status));
    end = section.offset + section.size_bytes;
  }
  references_.Finish();
  if (families_are_known_) CompareBlockCounts();
  return {};
}

Status BlocksVerifier::OpenFamilies() {
  std::vector<FamilyId> owners = file_.families();
  owners.push_back(FamilyId(kKeysOwner));
  for (const FamilyId owner : owners) {
    const Result<DataSection*> data = file_.Family(owner);
    Status status = data.status();
    if (status.ok() && *data != nullptr) status = VerifyPieces(**data);
    if (!status.ok()) {
      families_are_known_ = false;
      RETURN_IF_ERROR(findings_.AddError(status));
    } else if (*data != nullptr) {
      families_.push_back({*data, std::make_unique<BlockPlaces>(**data)});
    }
  }
  return {};
}

// Every piece is compared with what the top says of it.
Status BlocksVerifier::VerifyPieces(const DataSection& data) {
  BlockPlaces places(data);
  for (uint32_t piece = 0; piece < data.index().piece_count(); ++piece) {
    RETURN_IF_ERROR(places.MoveTo(data.index().FirstBlockOf(piece)).status());
  }
  return {};
}

Result<const DataSection*> BlocksVerifier::MatchRowBlock(uint64_t at, uint64_t stored) {
  uint32_t owners = 0;
  const DataSection* owner = nullptr;
  for (Family& family : families_) {
    if (family.next == family.data->block_count()) continue;
    ASSIGN_OR_RETURN(const DataBlock place, family.places->MoveTo(family.next));
    const BlockHandle& handle = place.handle;
    if (handle.offset != at) continue;
    ++owners;
    owner = family.data;
    ++family.next;
    if (handle.stored_bytes != stored) {
      findings_.AddAt(at, Mismatch("bytes of row block", stored, handle.stored_bytes));
    }
  }
  if (owners != 1 && families_are_known_) {
    findings_.AddAt(at, Mismatch("families that list the row block", 1, owners));
  }
  return owner;
}

Status BlocksVerifier::VerifyReferences(const BlockRef& block, std::string_view stored,
                                        const DataSection* family) {
  switch (block->kind) {
    case BlockKind::kValue:
      references_.AddValueBlock(*block, static_cast<uint32_t>(stored.size()));
      return {};
    case BlockKind::kChunk:
      return references_.AddChunk(block);
    case BlockKind::kRows:
    case BlockKind::kWideHead:
      return family == nullptr ? Status() : references_.AddRows(block->offset, stored, *family);
    default:
      return {};
  }
}

void BlocksVerifier::CompareBlockCounts() {
  findings_.set_topic({"block-index", FindingEffect::kAccess});
  for (const Family& family : families_) {
    findings_.Compare("row blocks found of family " + std::to_string(family.data->family().value),
                      family.next, family.data->block_count());
  }
}

Status BlocksVerifier::VerifySection(const SectionEntry& section) {
  StreamingHash64 hash;
  const uint64_t end = section.offset + section.size_bytes;
  for (uint64_t at = section.offset; at < end;) {
    ASSIGN_OR_RETURN(at, VerifyBlock(section, at, &hash));
  }
  if (hash.Finish() != section.checksum) {
    // The finding of the broken block says what is lost; if no block is broken, nothing is.
    const FindingTopic topic{TopicOf(section).kind, FindingEffect::kNothing, section.offset};
    findings_.AddOn(topic, HashMismatch("section checksum", section.checksum, hash.Finish()));
  }
  return {};
}

Result<uint64_t> BlocksVerifier::VerifyBlock(const SectionEntry& section, uint64_t at,
                                             StreamingHash64* hash) {
  const uint64_t left = section.offset + section.size_bytes - at;
  if (left < kBlockHeaderBytes) return CorruptionAt(*name_, at, "a section ends in a block header");
  ASSIGN_OR_RETURN(const std::string_view header, window_.Read(at, kBlockHeaderBytes));
  const uint64_t stored = kBlockHeaderBytes + uint64_t{LoadAt<uint32_t>(header, 8)};
  const auto kind = static_cast<BlockKind>(header[16]);
  const uint64_t padded = (stored + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (stored > kBlockHeaderBytes + kBlockStoredBytesMax || padded > left) {
    return CorruptionAt(*name_, at, Mismatch("bytes of a block, at most", left, padded));
  }
  if (!SectionHolds(section.kind, kind)) {
    findings_.AddAt(at, "a section of kind " + std::to_string(static_cast<int>(section.kind)) +
                            " holds a block of kind " + std::to_string(static_cast<int>(kind)));
  }
  const DataSection* family = nullptr;
  if (kind == BlockKind::kRows || kind == BlockKind::kWideHead) {
    ASSIGN_OR_RETURN(family, MatchRowBlock(at, stored));
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at, padded));
  hash->Add(bytes);
  const Result<BlockRef> block =
      DecodeBlock({name_, file_.id(), at}, kind, bytes.substr(0, stored));
  if (!block.has_value() && section.kind == SectionKind::kDictionary) {
    // One of two copies. If both are broken, the checks that need one report it.
    RETURN_IF_ERROR(findings_.AddErrorOn(kSpare, block.error()));
  } else if (!block.has_value()) {
    RETURN_IF_ERROR(findings_.AddError(block.error()));
  } else if (section.kind == SectionKind::kData) {
    RETURN_IF_ERROR(VerifyReferences(*block, bytes.substr(0, stored), family));
  }
  const size_t nonzero = bytes.find_first_not_of('\0', stored);
  if (nonzero != std::string_view::npos) {
    findings_.AddOn({kSpare.kind, kSpare.effect, at + nonzero}, "padding is not zero");
  }
  return at + padded;
}

Status BlocksVerifier::VerifyZeros(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t piece = std::min(FileWindow::kReadBytes, end - at);
    ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at, piece));
    const size_t nonzero = bytes.find_first_not_of('\0');
    if (nonzero != std::string_view::npos) {
      findings_.AddAt(at + nonzero, "padding is not zero");
      return {};
    }
    at += piece;
  }
  return {};
}

}  // namespace

Status VerifyBlocks(const StoreFile& file, Findings* findings) {
  RETURN_IF_ERROR(BlocksVerifier(file, findings).Run());
  findings->set_topic(kSpare);
  if (findings->count() > 0) return {};
  // What no section holds: header, section tables, footer and the padding between them.
  const Status end = file.VerifyBytes().status();
  return end.ok() ? end : findings->AddError(end);
}

}  // namespace tandem::format
