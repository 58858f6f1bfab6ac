// Prints the header of a file, and hands on by kind.
#include "tools/dump/dump.h"

#include "base/status_macros.h"
#include "tools/dump/names.h"
#include "tools/dump/parts.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kHexRecordBytes = 16;

void DumpHeader(Dump& dump) {
  const format::FileHeader& header = dump.probed.header;
  const std::string database = IdText(header.database), file = IdText(header.id);
  const Property properties[] = {
      {"file_kind", FileKindName(header.kind)}, {"version", format::kFormatVersion},
      {"bytes", dump.probed.size_bytes},        {"alignment", uint64_t{1} << header.alignment_log2},
      {"compatible", header.compatible},        {"read_compatible", header.read_compatible},
      {"incompatible", header.incompatible},    {"database_id", database},
      {"file_number", header.number.value},     {"file_id", file},
  };
  dump.writer.AddProperties("header", properties);
}

Status DumpParts(Dump& dump) {
  ASSIGN_OR_RETURN(dump.parts, ChooseParts(dump.options, dump.probed.header.kind));
  if (dump.Wants("header")) DumpHeader(dump);
  switch (dump.probed.header.kind) {
    case format::FileKind::kStore:
      return DumpStoreFile(dump);
    case format::FileKind::kLog:
      return DumpLogSegment(dump);
    case format::FileKind::kManifest:
      return DumpManifest(dump);
    case format::FileKind::kRoot:
      return DumpRoot(dump);
    case format::FileKind::kBackup:
      return DumpBackup(dump);
    case format::FileKind::kDead:
      break;
  }
  return Status::Unsupported(
      Format("{}: this build does not read files of dead bitmaps", dump.options.file));
}

// OFFSET+LENGTH.
Status DumpBytes(Dump& dump) {
  const std::string& text = dump.options.bytes;
  const size_t plus = text.find('+');
  const auto number = [](std::string_view digits) { return ParseOffset("--bytes", digits); };
  if (plus == std::string::npos) {
    return Status::InvalidArgument(
        Format("--bytes '{}': expected OFFSET+LENGTH, as 0x1000+64", EscapeBytes(text)));
  }
  ASSIGN_OR_RETURN(const uint64_t begin, number(std::string_view(text).substr(0, plus)));
  ASSIGN_OR_RETURN(const uint64_t length, number(std::string_view(text).substr(plus + 1)));
  const uint64_t size = dump.probed.size_bytes;
  if (begin >= size) {
    return Status::InvalidArgument(
        Format("--bytes {}: {} has {} bytes", text, dump.options.file, size));
  }
  return DumpHex(dump, begin, begin + std::min(length, size - begin));
}

Status DumpHexParts(Dump& dump) {
  const bool is_store = dump.probed.header.kind == format::FileKind::kStore;
  if (dump.options.section == "header") return DumpHex(dump, 0, format::kFileHeaderBytes);
  if (dump.options.section.empty()) return DumpHex(dump, 0, dump.probed.size_bytes);
  if (is_store) return DumpStoreFile(dump);
  return Status::InvalidArgument(
      Format("--hex --section: a {} has only the section 'header'; --hex alone prints all of it",
             FileKindName(dump.probed.header.kind)));
}

Status DumpAt(Dump& dump) {
  ASSIGN_OR_RETURN(const uint64_t offset, ParseOffset("--at", dump.options.at));
  if (offset >= dump.probed.size_bytes) {
    return Status::InvalidArgument(Format("--at {}: {} has {} bytes", dump.options.at,
                                          dump.options.file, dump.probed.size_bytes));
  }
  switch (dump.probed.header.kind) {
    case format::FileKind::kStore:
      return DumpStoreFileAt(dump, offset);
    case format::FileKind::kLog:
    case format::FileKind::kManifest:
      return DumpChainAt(dump, offset);
    default:
      return Status::InvalidArgument(
          Format("--at: a {} has neither blocks nor a chain of frames; --bytes prints bytes of it",
                 FileKindName(dump.probed.header.kind)));
  }
}

Status DumpWanted(Dump& dump) {
  if (!dump.options.bytes.empty()) return DumpBytes(dump);
  if (!dump.options.at.empty()) return DumpAt(dump);
  if (dump.options.hex) return DumpHexParts(dump);
  if (dump.options.index.empty()) return DumpParts(dump);
  if (dump.probed.header.kind == format::FileKind::kStore) return DumpIndex(dump);
  return Status::InvalidArgument(Format("--index: {} is a {}; only store files have indexes",
                                        dump.options.file, FileKindName(dump.probed.header.kind)));
}

}  // namespace

Status Dump::Note(const Status& status) {
  if (status.code() != StatusCode::kCorruption) return status;
  ++damaged_places;
  if (context.err != nullptr) {
    WriteBytes(context.err, Format("tandem: dump: {}\n", status.message()));
  }
  return {};
}

Status DamageFound(const std::string& path, uint64_t places) {
  if (places == 0) return {};
  return Status::Corruption(Format("{}: damaged in {} place{}; what is good was printed", path,
                                   places, places == 1 ? "" : "s"));
}

Status DumpFile(const DumpOptions& options, const Context& context, ProbedFile* probed,
                DumpRecords* writer) {
  Dump dump{options, context, *probed, *writer};
  ASSIGN_OR_RETURN(dump.filter, RowFilter::Of(options));
  RETURN_IF_ERROR(DumpWanted(dump));
  return DamageFound(options.file, dump.damaged_places);
}

Status DumpHex(Dump& dump, uint64_t begin, uint64_t end) {
  dump.writer.Begin("bytes", {"offset", "hex", "text"});
  char buffer[kHexRecordBytes];
  for (uint64_t offset = begin; offset < end && !dump.writer.is_full(); offset += kHexRecordBytes) {
    const size_t wanted = std::min(kHexRecordBytes, end - offset);
    ASSIGN_OR_RETURN(const size_t count, dump.probed.file->Read(offset, {buffer, wanted}));
    WriteHexRecord(offset, std::string_view(buffer, count), &dump.writer);
    if (count < wanted) break;
    if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
  }
  dump.writer.End();
  return {};
}

}  // namespace tandem::tools
