// Log segments and manifests: chains of frames. A dump follows the chain until the bytes are no
// frame any more; the reserve of zeros behind the last frame of an open segment is its normal end.
#include <functional>

#include "base/status_macros.h"
#include "format/frame.h"
#include "format/manifest.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/chain_end.h"
#include "tools/tandem/dump.h"
#include "tools/tandem/dump_edit.h"
#include "tools/tandem/format_text.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::tools {
namespace {

const std::vector<std::string> kLogParts = {"header", "frames", "operations"};
const std::vector<std::string> kManifestParts = {"header", "frames", "edits"};

/// Gives every frame from `begin` on to `visit`. Errors: kCorruption when bytes that are neither
/// frame nor zero follow.
Status WalkFrames(Dump& dump, uint64_t begin,
                  const std::function<Status(const format::DecodedFrame&)>& visit) {
  format::FrameReader reader(dump.probed.file.get(), dump.probed.header.id, begin,
                             dump.probed.size_bytes);
  while (true) {
    if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
    ASSIGN_OR_RETURN(const auto frame, reader.Next());
    if (!frame.has_value()) break;
    RETURN_IF_ERROR(visit(*frame));
  }
  return CheckChainEnd(dump.probed.file.get(), reader, reader.offset());
}

Status DumpFrames(Dump& dump, uint64_t begin) {
  dump.writer.Begin("frame", {"offset", "bytes", "first_sequence", "count", "durable_mark",
                              "timestamp", "previous", "checksum"});
  const Status status = WalkFrames(dump, begin, [&](const format::DecodedFrame& decoded) {
    const format::Frame& frame = decoded.frame;
    dump.writer.Add({decoded.offset, format::FrameBytes(frame.payload.size()), frame.first_sequence,
                     frame.count, frame.durable_mark, frame.timestamp, HashText(frame.previous),
                     HashText(decoded.checksum)});
    return Status();
  });
  dump.writer.End();
  return status;
}

Status DumpOperationsOf(Dump& dump, const format::DecodedFrame& decoded) {
  wal::GroupReader group(decoded.frame.payload,
                         format::SequenceNumber(decoded.frame.first_sequence),
                         decoded.frame.timestamp);
  wal::Operation operation;
  while (group.Next(&operation)) {
    for (const format::Cell& cell : operation.cells) {
      const bool put = cell.kind == format::CellKind::kPut;
      const bool column = cell.kind != format::CellKind::kDeleteFamily;
      dump.writer.Add({operation.sequence.value, operation.table.value, operation.row,
                       CellKindName(cell.kind), cell.family.value,
                       column ? Value(cell.qualifier) : Value(), cell.timestamp,
                       put ? Value(cell.value) : Value()});
    }
  }
  if (group.status().ok()) return {};
  return Status::Corruption(
      Format("{}: offset {}: {}", dump.options.file, decoded.offset, group.status().message()));
}

Status DumpOperations(Dump& dump) {
  dump.writer.Begin("operation", {"sequence", "table_id", "row", "operation", "family_id", "column",
                                  "timestamp", "value"});
  const Status status = WalkFrames(
      dump, wal::kSegmentHeaderBytes,
      [&](const format::DecodedFrame& decoded) { return DumpOperationsOf(dump, decoded); });
  dump.writer.End();
  return status;
}

}  // namespace

Status DumpLogSegment(Dump& dump) {
  RETURN_IF_ERROR(CheckPart(dump.options, kLogParts));
  ASSIGN_OR_RETURN(const wal::SegmentHeader header, wal::ReadSegmentHeader(dump.probed.file.get()));
  if (dump.Wants("header")) {
    const std::string checksum = HashText(header.spec.predecessor.last_checksum);
    const Property properties[] = {
        {"predecessor_bytes", header.spec.predecessor.length_bytes},
        {"predecessor_checksum", checksum},
        {"predecessor_sequence", header.spec.predecessor.last_sequence},
    };
    dump.writer.AddProperties("segment", properties);
  }
  if (dump.Wants("frames")) RETURN_IF_ERROR(DumpFrames(dump, wal::kSegmentHeaderBytes));
  return dump.Wants("operations") ? DumpOperations(dump) : Status();
}

Status DumpManifest(Dump& dump) {
  RETURN_IF_ERROR(CheckPart(dump.options, kManifestParts));
  if (dump.Wants("frames")) RETURN_IF_ERROR(DumpFrames(dump, format::kFileHeaderBytes));
  if (!dump.Wants("edits")) return {};
  return WalkFrames(dump, format::kFileHeaderBytes, [&](const format::DecodedFrame& decoded) {
    return DumpManifestFrame(dump, decoded);
  });
}

}  // namespace tandem::tools
