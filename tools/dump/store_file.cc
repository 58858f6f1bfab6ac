// The parts of a store file that are read whole: schema, statistics, sections.
#include "tools/dump/store_file.h"

#include "base/status_macros.h"
#include "tools/dump/names.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

void DumpStatistics(const format::StoreFile& file, RecordWriter* writer) {
  const format::FileStatistics& statistics = file.statistics();
  const Property properties[] = {
      {"region_start", file.region_start()},
      {"rows", statistics.rows},
      {"clean_rows", statistics.clean_rows},
      {"cells", statistics.cells},
      {"deletes", statistics.deletes},
      {"raw_bytes", statistics.raw_bytes},
      {"min_sequence", statistics.min_sequence.value},
      {"max_sequence", statistics.max_sequence.value},
      {"min_timestamp", statistics.min_timestamp},
      {"max_timestamp", statistics.max_timestamp},
      {"min_key", statistics.min_key},
      {"max_key", statistics.max_key},
  };
  writer->AddProperties("statistics", properties);
}

void DumpSections(const format::StoreFile& file, RecordWriter* writer) {
  writer->Begin("section", {"section", "owner", "owner_name", "flags", "offset", "bytes", "count",
                            "checksum"});
  for (const format::SectionEntry& section : file.sections()) {
    writer->Add({SectionName(section.kind), section.owner, OwnerName(file.table(), section),
                 SectionFlagNames(section.flags), section.offset, section.size_bytes, section.count,
                 HashText(section.checksum)});
  }
  writer->End();
}

/// The bytes of every section of the kind that was asked for.
Status DumpSectionBytes(Dump& dump, const format::StoreFile& file) {
  const std::vector<std::string> names = SectionNames();
  if (std::ranges::find(names, dump.options.section) == names.end()) {
    std::string list = "header";
    for (const std::string& name : names) list += ", " + name;
    return Status::InvalidArgument(Format("--section '{}' is no part of this file{}; parts: {}",
                                          EscapeBytes(dump.options.section),
                                          DidYouMean(dump.options.section, names), list));
  }
  for (const format::SectionEntry& section : file.sections()) {
    if (SectionName(section.kind) != dump.options.section) continue;
    RETURN_IF_ERROR(DumpHex(dump, section.offset, section.offset + section.size_bytes));
  }
  return {};
}

/// Opens the file and leaves a handle of it with `dump`, for its bytes.
Result<std::shared_ptr<format::StoreFile>> OpenBesideBytes(Dump& dump) {
  ASSIGN_OR_RETURN(auto file, OpenProbedStoreFile(&dump.probed));
  ASSIGN_OR_RETURN(dump.probed.file, dump.probed.directory->Open(file->blocks().file().name(),
                                                                 base::OpenMode::kReadOnly));
  return file;
}

}  // namespace

Result<std::shared_ptr<format::StoreFile>> OpenProbedStoreFile(ProbedFile* probed) {
  return format::StoreFile::Open(std::move(probed->file), {}, nullptr);
}

Status DumpStoreFile(Dump& dump) {
  if (dump.options.hex) {
    ASSIGN_OR_RETURN(const auto file, OpenBesideBytes(dump));
    return DumpSectionBytes(dump, *file);
  }
  const bool header_alone = dump.parts.size() == 1 && dump.Wants("header");
  if (header_alone) return {};
  ASSIGN_OR_RETURN(const auto file, OpenProbedStoreFile(&dump.probed));
  if (dump.Wants("schema")) DumpTable(file->table(), &dump.writer);
  if (dump.Wants("statistics")) DumpStatistics(*file, &dump.writer);
  if (dump.Wants("sections")) DumpSections(*file, &dump.writer);
  if (dump.Wants("blocks")) RETURN_IF_ERROR(DumpBlocks(dump, *file));
  if (dump.Wants("cells")) RETURN_IF_ERROR(DumpCells(dump, *file));
  return dump.Wants("histograms") ? DumpHistograms(dump, file.get()) : Status();
}

Status DumpStoreFileAt(Dump& dump, uint64_t offset) {
  ASSIGN_OR_RETURN(const auto file, OpenBesideBytes(dump));
  bool is_found = false;
  for (const format::SectionEntry& section : file->sections()) {
    if (offset < section.offset || offset >= section.offset + section.size_bytes) continue;
    RETURN_IF_ERROR(WalkSection(*file, section, [&](const WalkedBlock& walked) -> Result<bool> {
      if (offset >= format::BlockEnd(walked.handle)) return true;
      is_found = true;
      RETURN_IF_ERROR(DumpBlockContent(dump, *file, walked));
      return false;
    }));
  }
  if (is_found) return {};
  // Header, footer, section table, or padding: there are no blocks to be taken apart.
  constexpr uint64_t kShownBytes = 256;
  const uint64_t begin = offset - offset % 16;
  return DumpHex(dump, begin, std::min(begin + kShownBytes, dump.probed.size_bytes));
}

}  // namespace tandem::tools
