// dump: recognises the file, prints its header, and hands on by kind.
#include <algorithm>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/dump.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"
#include "tools/tandem/verbs.h"

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
  const bool hex_of_header = dump.options.hex && dump.options.section == "header";
  if (hex_of_header) return DumpHex(dump, 0, format::kFileHeaderBytes);
  if (dump.options.hex && dump.options.section.empty()) {
    return DumpHex(dump, 0, dump.probed.size_bytes);
  }
  if (dump.options.hex && dump.probed.header.kind != format::FileKind::kStore) {
    return Status::InvalidArgument(
        Format("--hex --section: a {} has only the section 'header'; --hex alone prints all of it",
               FileKindName(dump.probed.header.kind)));
  }
  if (!dump.options.index.empty()) {
    if (dump.probed.header.kind == format::FileKind::kStore) return DumpIndex(dump);
    return Status::InvalidArgument(Format("--index: {} is a {}; only store files have indexes",
                                          dump.options.file,
                                          FileKindName(dump.probed.header.kind)));
  }
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
      return Status::Unsupported(Format(
          "{}: the record of a backup; 'tandem restore DIR --list' reads it", dump.options.file));
    case format::FileKind::kDead:
      break;
  }
  return Status::Unsupported(
      Format("{}: this build does not read files of dead bitmaps", dump.options.file));
}

}  // namespace

Result<ExitCode> RunVerb(const DumpOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(ProbedFile probed, ProbeFile(options.file));
  const auto writer = NewRecordWriter(options.output, context.out);
  Dump dump{options, context, probed, *writer};
  RETURN_IF_ERROR(DumpParts(dump));
  return ExitCode::kDone;
}

Status CheckPart(const DumpOptions& options, std::span<const std::string> parts) {
  if (options.section.empty() || std::ranges::find(parts, options.section) != parts.end()) {
    return {};
  }
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ", ") + part;
  return Status::InvalidArgument(Format("--section '{}' is no part of this file{}; parts: {}",
                                        EscapeBytes(options.section),
                                        DidYouMean(options.section, parts), list));
}

Status DumpHex(Dump& dump, uint64_t begin, uint64_t end) {
  dump.writer.Begin("bytes", {"offset", "hex", "text"});
  char buffer[kHexRecordBytes];
  for (uint64_t offset = begin; offset < end; offset += kHexRecordBytes) {
    const size_t wanted = std::min(kHexRecordBytes, end - offset);
    ASSIGN_OR_RETURN(const size_t count, dump.probed.file->Read(offset, {buffer, wanted}));
    const std::string_view bytes(buffer, count);
    std::string hex, text;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) hex += i % 8 == 0 ? "  " : " ";
      hex += EncodeHex(bytes.substr(i, 1));
      text.push_back(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.');
    }
    dump.writer.Add({Format("{:#010x}", offset), hex, text});
    if (count < wanted) break;
    if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
  }
  dump.writer.End();
  return {};
}

void DumpTable(const format::TableRecord& table, RecordWriter* writer) {
  writer->Begin("family", {"table", "table_id", "family", "family_id", "versions", "ttl_micros",
                           "compression", "block_size_bytes"});
  for (const format::FamilyRecord& family : table.families) {
    writer->Add({table.name, table.id.value, family.options.name, family.id.value,
                 family.options.max_versions, family.options.ttl_micros,
                 CompressionName(family.options.compression), family.options.block_size_bytes});
  }
  writer->End();
  if (table.indexes.empty()) return;
  writer->Begin("index",
                {"table", "index", "index_id", "state", "family_id", "column", "type", "order"});
  for (const format::IndexRecord& index : table.indexes) {
    constexpr const char* kStates[] = {"?", "building", "ready", "dropping"};
    for (const format::IndexColumnRecord& column : index.columns) {
      writer->Add({table.name, index.name, index.id.value, kStates[static_cast<int>(index.state)],
                   column.family.value, column.qualifier, ColumnTypeName(column.type),
                   column.descending ? "desc" : "asc"});
    }
  }
  writer->End();
}

std::string IdText(const format::RandomId& id) {
  return EncodeHex({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

std::string HashText(uint64_t hash) { return Format("{:016x}", hash); }

std::string_view CellKindName(format::CellKind kind) {
  switch (kind) {
    case format::CellKind::kPut:
      return "put";
    case format::CellKind::kDeleteCell:
      return "delete-cell";
    case format::CellKind::kDeleteColumn:
      return "delete-column";
    case format::CellKind::kDeleteFamily:
      return "delete-family";
  }
  return "unknown";
}

}  // namespace tandem::tools
