// Writing rows to a store file in memory and opening it again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/cell/overflow_value.h"
#include "store_file/scanner.h"
#include "store_file/store_file.h"
#include "store_file/writer.h"
#include "test/format/random_rows.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {

/// A table of one family "f" (id 0) without indexes.
inline format::TableRecord PlainTable(uint32_t block_size_bytes = 512) {
  format::TableRecord table;
  table.id = format::TableId(3);
  table.name = "t";
  for (size_t i = 0; i < table.hash_secret.size(); ++i) {
    table.hash_secret[i] = static_cast<char>(i * 37 + 11);
  }
  FamilyOptions family;
  family.name = "f";
  family.block_size_bytes = block_size_bytes;
  table.families.push_back({format::FamilyId(0), family});
  return table;
}

inline void AddTextIndex(format::TableRecord* table, uint32_t id, std::string qualifier) {
  format::IndexRecord index;
  index.id = format::IndexId(id);
  index.name = "by_" + qualifier;
  index.columns.push_back({format::FamilyId(0), std::move(qualifier), ColumnType::kBytes, false});
  table->indexes.push_back(std::move(index));
}

struct WrittenFile {
  std::string bytes;
  format::StoreFileSummary summary;
};

inline constexpr format::FileId kStoreFileId{{7, 7, 7, 1, 2, 3}};

inline format::StoreFileSpec SpecOf(const format::TableRecord& table) {
  format::StoreFileSpec spec;
  spec.number = format::FileNumber(12);
  spec.id = kStoreFileId;
  spec.table = &table;
  spec.region_start = "from here";
  spec.alignment = 64;
  return spec;
}

inline Result<WrittenFile> WriteRows(const format::TableRecord& table, const Rows& rows,
                                     base::Parallel* parallel = nullptr) {
  auto file = std::make_unique<MemoryFile>();
  MemoryFile* memory = file.get();
  format::StoreFileSpec spec = SpecOf(table);
  spec.parallel = parallel;
  format::StoreFileWriter writer(std::move(file), std::move(spec));
  for (const auto& [key, row] : rows) {
    auto added = writer.AddRow(key, Views(row));
    if (!added) return added.error();
  }
  auto summary = writer.Finish();
  if (!summary) return summary.error();
  return WrittenFile{memory->bytes(), *std::move(summary)};
}

inline Result<std::shared_ptr<format::StoreFile>> OpenBytes(
    std::string bytes, format::BlockCache* cache = nullptr,
    const format::ExpectedFile& expected = {}) {
  return format::StoreFile::Open(std::make_unique<MemoryFile>(std::move(bytes)), expected, cache);
}

/// Appends the cells of a row of any width, overflow values read.
inline Status AppendOwnedCells(const format::RowStream& row, OwnedRow* out) {
  auto stream = row.Stream();
  if (!stream) return stream.error();
  while (true) {
    auto more = (*stream)->Next();
    if (!more) return more.error();
    if (!*more) return {};
    for (format::Cell cell : (*stream)->cells()) {
      std::string value;
      if (cell.is_overflow()) {
        Status status = format::ReadOverflowValue(cell, &value);
        if (!status.ok()) return status;
        cell.value = value;
      }
      const OwnedRow owned = Owned({cell});
      out->push_back(owned.front());
    }
  }
}

/// The rows [low, high) as RowStream gives them. Errors: those of the file.
inline Result<Rows> StreamRows(format::StoreFile* file, uint32_t low, uint32_t high) {
  format::RowStream stream(file, low, high);
  Rows rows;
  while (true) {
    Status status = stream.Next();
    if (!status.ok()) return status;
    if (!stream.valid()) return rows;
    status = AppendOwnedCells(stream, &rows[stream.key()]);
    if (!status.ok()) return status;
  }
}

inline Result<Rows> ReadAllRows(format::StoreFile* file) {
  return StreamRows(file, 0, file->row_count());
}

}  // namespace tandem::test
