// A file in memory that holds the sections of one index, written by an IndexSectionWriter and
// opened again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "index/section.h"
#include "index/section_writer.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {

inline format::IndexRecord TextIndex(std::string qualifier = "c") {
  format::IndexRecord index;
  index.id = format::IndexId(3);
  index.name = "by_" + qualifier;
  index.columns.push_back({format::FamilyId(0), std::move(qualifier), ColumnType::kText, false});
  return index;
}

/// Lifetime: the section reads from `blocks`.
struct SectionFile {
  format::IndexSummary summary;
  std::vector<format::SectionEntry> sections;
  std::string bytes;
  std::unique_ptr<format::BlockFile> blocks;
  std::unique_ptr<format::IndexSection> section;
};

inline constexpr format::FileId kTestFileId{
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

/// Opens the section of index `id` in `file->bytes` by `file->sections`.
inline Status OpenSection(uint32_t row_count, format::IndexId id, SectionFile* file,
                          format::BlockCache* cache = nullptr) {
  file->section.reset();
  file->blocks = std::make_unique<format::BlockFile>(std::make_unique<MemoryFile>(file->bytes),
                                                     format::FileNumber(7), kTestFileId, cache);
  auto section = format::IndexSection::Open(*file->blocks, file->sections, id, row_count);
  if (!section.has_value()) return section.error();
  file->section = std::move(*section);
  return {};
}

/// Writes the section that `writer` collected and the summaries, and opens it.
inline Status WriteSection(format::IndexSectionWriter* writer, uint32_t row_count,
                           SectionFile* file, format::BlockCache* cache = nullptr) {
  MemoryFile memory;
  format::SectionWriter out(&memory, kTestFileId, 64);
  auto summary = writer->Write(&out, row_count);
  if (!summary.has_value()) return summary.error();
  file->summary = *summary;
  Status status = format::WriteSummaries({&*summary, 1}, &out);
  if (status.ok()) status = out.Flush();
  if (!status.ok()) return status;
  file->sections = out.sections();
  file->bytes = memory.bytes();
  return OpenSection(row_count, file->summary.index, file, cache);
}

}  // namespace tandem::test
