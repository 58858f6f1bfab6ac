// Tables of several families, for tests that write and read their files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/verify/blocks.h"
#include "engine/verify/findings.h"
#include "engine/verify/rows.h"
#include "test/store_file/store_files.h"

namespace tandem::test {

/// A table of the families `ids`, "f<id>", of different block sizes and compressions.
inline format::TableRecord TableOf(const std::vector<uint8_t>& ids) {
  format::TableRecord table = PlainTable();
  table.families.clear();
  for (const uint8_t id : ids) {
    FamilyOptions family;
    family.name = "f" + std::to_string(id);
    family.block_size_bytes = 512u << (id % 4);
    family.compression = id % 2 == 0 ? Compression::kNone : Compression::kZstd;
    table.families.push_back({format::FamilyId(id), family});
  }
  return table;
}

/// Writes the rows that `pieces` names (by ordinal) piece by piece, the others whole.
inline Result<WrittenFile> WriteInPieces(const format::TableRecord& table, const Rows& rows,
                                         RandomRows* random) {
  auto file = std::make_unique<MemoryFile>();
  MemoryFile* memory = file.get();
  format::StoreFileWriter writer(std::move(file), SpecOf(table));
  for (const auto& [key, row] : rows) {
    Status status = writer.BeginRow(key);
    for (size_t begin = 0; begin < row.size() && status.ok();) {
      const size_t end = std::min<size_t>(row.size(), begin + 1 + random->Below(5));
      // The bytes of a piece end with the call.
      const OwnedRow piece(row.begin() + static_cast<ptrdiff_t>(begin),
                           row.begin() + static_cast<ptrdiff_t>(end));
      status = writer.AddCells(Views(piece));
      begin = end;
    }
    if (!status.ok()) return status;
    auto ended = writer.EndRow();
    if (!ended) return ended.error();
  }
  auto summary = writer.Finish();
  if (!summary) return summary.error();
  return WrittenFile{memory->bytes(), *std::move(summary)};
}

/// What verifying the file finds.
inline std::vector<std::string> FindingsOf(format::StoreFile* file) {
  VerifyReport report;
  format::Findings findings("file", &report);
  Status status = format::VerifyBlocks(*file, &findings);
  if (status.ok()) status = format::VerifyRows(file, {.deep = true}, &findings);
  std::vector<std::string> texts;
  for (const Finding& finding : report.findings) texts.push_back(finding.text);
  if (!status.ok()) texts.push_back(status.ToString());
  return texts;
}

}  // namespace tandem::test
