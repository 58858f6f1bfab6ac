// One file at a time, by kind.
#include "tools/tandem/file_check.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/backup/record.h"
#include "engine/salvage/verify_files.h"
#include "engine/storage/manifest.h"
#include "engine/verify/findings.h"
#include "format/frame_chain.h"
#include "format/root.h"
#include "tools/tandem/chain_end.h"
#include "tools/tandem/format_text.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::tools {
namespace {

using format::Findings;

/// Follows a chain of frames to its end. Errors: what is wrong with it.
Status CheckChain(ProbedFile* probed, uint64_t begin, uint64_t header_checksum,
                  const std::function<Status(const format::Frame&)>& visit) {
  format::FrameReader reader(probed->file.get(), probed->header.id, begin, probed->size_bytes);
  format::FrameChain chain;
  chain.last_checksum = header_checksum;
  ASSIGN_OR_RETURN(const uint64_t end,
                   format::FollowChain(&reader, probed->file->name(), visit, &chain));
  return CheckChainEnd(probed->file.get(), reader, end);
}

Status CheckLogSegment(ProbedFile* probed, VerifyReport* report) {
  ASSIGN_OR_RETURN(const wal::SegmentHeader header, wal::ReadSegmentHeader(probed->file.get()));
  return CheckChain(
      probed, wal::kSegmentHeaderBytes, header.checksum, [&](const format::Frame& frame) {
        wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                               frame.timestamp);
        wal::Operation operation;
        while (group.Next(&operation)) report->cells += operation.cells.size();
        return group.status();
      });
}

Status CheckManifest(ProbedFile* probed) {
  // A manifest has to agree with ROOT; alone, it vouches for itself.
  char bytes[sizeof(uint64_t)] = {};
  constexpr uint64_t kChecksumOffset = format::kFileHeaderBytes - sizeof(uint64_t);
  ASSIGN_OR_RETURN(const size_t count, probed->file->Read(kChecksumOffset, bytes));
  format::ByteReader checksum({bytes, count});
  format::Catalog catalog;
  RETURN_IF_ERROR(CheckChain(
      probed, format::kFileHeaderBytes, checksum.U64(), [&](const format::Frame& frame) -> Status {
        ASSIGN_OR_RETURN(const format::CatalogEdit edit, format::DecodeEditOf(frame));
        return format::ApplyEditInPlace(edit, &catalog);
      }));
  return format::CheckCatalog(catalog);
}

Status CheckRoot(ProbedFile* probed) {
  ASSIGN_OR_RETURN(const format::RootFile root, format::ReadRoot(probed->file.get()));
  if (!root.record.closed) return {};  // A crash may have torn the slot that is not current.
  ASSIGN_OR_RETURN(const auto slots, format::ReadRootSlots(probed->file.get()));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].has_value() && slots[i]->generation == root.record.generation) continue;
    return Status::Corruption(
        Format("{}: offset {}: slot {}: expected generation {}, as in the other slot of a closed "
               "database, found {}",
               probed->file->name(), (i + 1) * 4096, i, root.record.generation,
               slots[i].has_value() ? Format("{}", slots[i]->generation) : "a wrong checksum"));
  }
  return {};
}

}  // namespace

Status CheckFile(ProbedFile* probed, bool deep, VerifyReport* report) {
  if (probed->header.kind == format::FileKind::kStore) {
    return engine::VerifyStoreFile(
        {.directory = probed->directory.get(), .name = probed->file->name(), .known = {}}, deep,
        report);
  }
  ++report->files;
  report->bytes += probed->size_bytes;
  Findings findings(probed->file->name(), report);
  const bool is_log = probed->header.kind == format::FileKind::kLog;
  findings.set_topic(
      {is_log ? "log" : "catalog", is_log ? FindingEffect::kRows : FindingEffect::kAccess});
  switch (probed->header.kind) {
    case format::FileKind::kLog:
      return findings.AddError(CheckLogSegment(probed, report));
    case format::FileKind::kManifest:
      return findings.AddError(CheckManifest(probed));
    case format::FileKind::kRoot: {
      const bool is_readable = format::ReadRoot(probed->file.get()).has_value();
      findings.set_topic({"root", is_readable ? FindingEffect::kNothing : FindingEffect::kAccess});
      return findings.AddError(CheckRoot(probed));
    }
    case format::FileKind::kBackup:
      return findings.AddError(
          format::ReadBackupRecord(probed->file.get(), probed->header.number.value).status());
    case format::FileKind::kStore:
    case format::FileKind::kDead:
      break;
  }
  return Status::Unsupported(
      Format("{}: this build does not check files of dead bitmaps", probed->file->name()));
}

}  // namespace tandem::tools
