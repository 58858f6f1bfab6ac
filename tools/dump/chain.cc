// Log segments and manifests: chains of frames. The reserve of zeros after the last frame of an
// open segment is its normal end; after anything else the search for frames continues.
#include "tools/dump/chain.h"

#include "base/status_macros.h"
#include "engine/storage/manifest.h"
#include "tools/dump/catalog.h"
#include "tools/dump/names.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/chain_end.h"
#include "tools/tandem/format_text.h"
#include "wal/log.h"

namespace tandem::tools {
namespace {

void BeginFrames(DumpRecords* writer) {
  writer->Begin("frame", {"offset", "bytes", "first_sequence", "count", "durable_mark", "timestamp",
                          "previous", "checksum"});
}

void AddFrame(const format::DecodedFrame& decoded, DumpRecords* writer) {
  const format::Frame& frame = decoded.frame;
  writer->Add({decoded.offset, format::FrameBytes(frame.payload.size()), frame.first_sequence,
               frame.count, frame.durable_mark, frame.timestamp, HashText(frame.previous),
               HashText(decoded.checksum)});
}

Status DumpFrames(Dump& dump) {
  BeginFrames(&dump.writer);
  const Status status = WalkFrames(dump, [&](const format::DecodedFrame& decoded) -> Result<bool> {
    AddFrame(decoded, &dump.writer);
    return !dump.writer.is_full();
  });
  dump.writer.End();
  return status;
}

void BeginOperations(DumpRecords* writer) {
  writer->Begin("operation", {"sequence", "table_id", "row", "operation", "family_id", "column",
                              "timestamp", "value"});
}

void AddOperation(const Dump& dump, const wal::Operation& operation) {
  const std::string row(operation.row);
  if (!dump.filter.WantsRow(row)) return;
  for (const format::Cell& cell : operation.cells) {
    const bool is_put = cell.kind == format::CellKind::kPut;
    const bool has_column = cell.kind != format::CellKind::kDeleteFamily;
    // A log knows families by number alone.
    if (!dump.filter.WantsFamily(std::to_string(cell.family.value))) continue;
    dump.writer.Add({operation.sequence.value, operation.table.value, operation.row,
                     CellKindName(cell.kind), cell.family.value,
                     has_column ? Value(cell.qualifier) : Value(), cell.timestamp,
                     is_put ? Value(cell.value) : Value()});
  }
}

Status AddOperationsOf(Dump& dump, const format::DecodedFrame& decoded) {
  return dump.Note(
      VisitOperations(dump.options.file, decoded,
                      [&dump](const wal::Operation& operation) { AddOperation(dump, operation); }));
}

Status DumpOperations(Dump& dump) {
  BeginOperations(&dump.writer);
  const Status status = WalkFrames(dump, [&](const format::DecodedFrame& decoded) -> Result<bool> {
    RETURN_IF_ERROR(AddOperationsOf(dump, decoded));
    return !dump.writer.is_full();
  });
  dump.writer.End();
  return status;
}

// Behind the bytes that are no frame: the next good one, wherever it is.
Result<std::optional<format::DecodedFrame>> SkipDamage(Dump& dump, format::FrameReader* reader) {
  const uint64_t at = reader->offset();
  const Status end = CheckChainEnd(dump.probed.file.get(), *reader, at);
  if (end.ok()) return std::optional<format::DecodedFrame>();
  RETURN_IF_ERROR(dump.Note(end));
  return reader->FindNext();
}

}  // namespace

Status WalkFrames(Dump& dump, const FrameVisitor& visit) {
  const bool is_log = dump.probed.header.kind == format::FileKind::kLog;
  const uint64_t begin = is_log ? wal::kSegmentHeaderBytes : format::kFileHeaderBytes;
  format::FrameReader reader(dump.probed.file.get(), dump.probed.header.id, begin,
                             dump.probed.size_bytes);
  while (true) {
    if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
    ASSIGN_OR_RETURN(auto frame, reader.Next());
    if (!frame.has_value()) {
      ASSIGN_OR_RETURN(frame, SkipDamage(dump, &reader));
    }
    if (!frame.has_value()) return {};
    ASSIGN_OR_RETURN(const bool goes_on, visit(*frame));
    if (!goes_on) return {};
  }
}

Status VisitOperations(const std::string& file, const format::DecodedFrame& decoded,
                       const std::function<void(const wal::Operation&)>& visit) {
  wal::GroupReader group(decoded.frame.payload,
                         format::SequenceNumber(decoded.frame.first_sequence),
                         decoded.frame.timestamp);
  wal::Operation operation;
  while (group.Next(&operation)) visit(operation);
  if (group.status().ok()) return {};
  return Status::Corruption(
      Format("{}: offset {}: {}", file, decoded.offset, group.status().message()));
}

Status DumpLogSegment(Dump& dump) {
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
  if (dump.Wants("frames")) RETURN_IF_ERROR(DumpFrames(dump));
  return dump.Wants("operations") ? DumpOperations(dump) : Status();
}

Status DumpManifest(Dump& dump) {
  if (dump.Wants("frames")) RETURN_IF_ERROR(DumpFrames(dump));
  if (dump.Wants("edits")) {
    RETURN_IF_ERROR(WalkFrames(dump, [&](const format::DecodedFrame& decoded) -> Result<bool> {
      RETURN_IF_ERROR(DumpManifestFrame(dump, decoded));
      return !dump.writer.is_full();
    }));
  }
  if (!dump.Wants("state") && !dump.Wants("summary")) return {};
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(&dump.probed));
  if (!state.damage.empty()) RETURN_IF_ERROR(dump.Note(Status::Corruption(state.damage)));
  if (dump.Wants("summary")) DumpSummary(state, &dump.writer);
  if (dump.Wants("state")) DumpCatalog(state.contents.catalog, &dump.writer);
  return {};
}

Status DumpChainAt(Dump& dump, uint64_t offset) {
  bool is_found = false;
  const Status status = WalkFrames(dump, [&](const format::DecodedFrame& decoded) -> Result<bool> {
    const uint64_t end = decoded.offset + format::FrameBytes(decoded.frame.payload.size());
    if (offset >= end) return true;
    if (offset < decoded.offset) return false;
    is_found = true;
    BeginFrames(&dump.writer);
    AddFrame(decoded, &dump.writer);
    dump.writer.End();
    if (dump.probed.header.kind == format::FileKind::kManifest) {
      RETURN_IF_ERROR(DumpManifestFrame(dump, decoded));
      return false;
    }
    BeginOperations(&dump.writer);
    RETURN_IF_ERROR(AddOperationsOf(dump, decoded));
    dump.writer.End();
    return false;
  });
  RETURN_IF_ERROR(status);
  if (is_found) return {};
  constexpr uint64_t kShownBytes = 256;
  const uint64_t begin = offset - offset % 16;
  return DumpHex(dump, begin, std::min(begin + kShownBytes, dump.probed.size_bytes));
}

}  // namespace tandem::tools
