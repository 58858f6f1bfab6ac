// Files of random rows to merge, on a simulated disk.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compaction/merge.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "store_file/store_file.h"
#include "store_file/writer.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::compaction {

using format::Cell;
using format::CellKind;
using format::SequenceNumber;

struct OwnedCell {
  CellKind kind;
  std::string qualifier;
  int64_t timestamp;
  uint64_t sequence;
  std::string value;
  bool operator==(const OwnedCell&) const = default;
  Cell view() const {
    return {kind, format::FamilyId(0), qualifier, timestamp, SequenceNumber(sequence), value};
  }
};
using Rows = std::map<std::string, std::vector<OwnedCell>>;

inline std::vector<Cell> Views(const std::vector<OwnedCell>& cells) {
  std::vector<Cell> views;
  for (const OwnedCell& cell : cells) views.push_back(cell.view());
  std::sort(views.begin(), views.end(), format::CellLess);
  return views;
}

/// A disk, a table and the store files of a trial.
class Bench {
 public:
  explicit Bench(uint64_t seed) : random_(seed) {
    directory_ = *disk_.OpenDirectory("db", true);
    table_ = std::make_shared<format::TableRecord>();
    table_->name = "t";
    for (char& byte : table_->hash_secret) byte = static_cast<char>(Below(256));
    format::FamilyRecord family;
    family.options = {.name = "f",
                      .max_versions = 1 + static_cast<uint32_t>(Below(3)),
                      .ttl_micros = Below(2) == 0 ? 0 : 4 + static_cast<int64_t>(Below(4)),
                      .compression = Below(2) == 0 ? Compression::kNone : Compression::kZstd,
                      .block_size_bytes = 512};
    table_->families.push_back(family);
    AddIndex("text", "a", ColumnType::kText, false);
    AddIndex("number", "n", ColumnType::kInt64, false);
    AddIndex("falling", "a", ColumnType::kBytes, true);
  }

  uint64_t Below(uint64_t limit) { return random_() % limit; }
  const std::shared_ptr<format::TableRecord>& table() const { return table_; }

  void AddIndex(const std::string& name, const std::string& qualifier, ColumnType type,
                bool descending) {
    format::IndexRecord index;
    index.id = format::IndexId(static_cast<uint32_t>(table_->indexes.size() + 1));
    index.name = name;
    index.columns.push_back({format::FamilyId(0), qualifier, type, descending});
    table_->indexes.push_back(index);
  }

  /// Rows of random cells with sequences (through, through + operations].
  Rows NewRows(uint64_t operations, uint64_t keys) {
    Rows rows;
    for (uint64_t i = 0; i < operations; ++i) {
      auto& cells = rows["row" + std::to_string(1000000 + Below(keys))];
      cells.push_back(NewCell(++sequence_));
    }
    return rows;
  }
  uint64_t sequence() const { return sequence_; }

  /// Adds so many cells to one of the rows that it is wide; with `overflow` also overflow
  /// values.
  void Widen(uint64_t keys, bool overflow, Rows* rows) {
    auto& cells = (*rows)["row" + std::to_string(1000000 + Below(keys))];
    for (int i = 0; i < 1200; ++i) {
      OwnedCell cell = NewCell(++sequence_);
      if (cell.kind != CellKind::kDeleteFamily && Below(50) > 0) {
        cell.qualifier = "w" + std::to_string(Below(900));
        if (cell.kind == CellKind::kPut) cell.value.assign(Below(150), 'v');
      }
      const bool is_indexed = cell.qualifier == "a" || cell.qualifier == "n";
      if (overflow && i % 400 == 0 && cell.kind == CellKind::kPut && !is_indexed) {
        cell.value.assign(format::kInlineValueBytesMax + 1 + Below(3 << 20), 'f');
      }
      cells.push_back(std::move(cell));
    }
  }

  /// Gives about half of the Puts of "z" a value larger than a block, half of it noise.
  void Enlarge(Rows* rows) {
    for (auto& [key, cells] : *rows) {
      for (OwnedCell& cell : cells) {
        if (cell.kind != CellKind::kPut || cell.qualifier != "z" || Below(2) == 0) continue;
        cell.value.assign(600 + Below(3000), 'z');
        for (size_t i = 0; i < cell.value.size() / 2; ++i) {
          cell.value[i] = static_cast<char>(Below(256));
        }
      }
    }
  }

  /// Other settings for the files to come.
  void ChangeFamily() {
    FamilyOptions& options = table_->families[0].options;
    options.compression = Below(2) == 0 ? Compression::kNone : Compression::kZstd;
    options.block_size_bytes = Below(2) == 0 ? 512 : 2048;
  }

  std::unique_ptr<format::StoreFileWriter> NewWriter(const std::string& name,
                                                     const format::TableRecord* table,
                                                     bool one_sequence = false) {
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(7);
    spec.id.bytes.fill(9);
    spec.table = table;
    spec.region_start = "r";
    spec.alignment = 64;
    spec.one_sequence = one_sequence;
    auto file = directory_->Create(name);
    BOOST_REQUIRE(file.has_value());
    return std::make_unique<format::StoreFileWriter>(std::move(*file), spec);
  }

  std::shared_ptr<format::StoreFile> Open(const std::string& name) {
    auto file = directory_->Open(name, base::OpenMode::kReadOnly);
    BOOST_REQUIRE(file.has_value());
    auto store = format::StoreFile::Open(std::move(*file), {}, nullptr);
    BOOST_REQUIRE_MESSAGE(store.has_value(), store.status().ToString());
    return *store;
  }

  std::shared_ptr<format::StoreFile> Write(const std::string& name, const Rows& rows,
                                           const format::TableRecord* table) {
    auto writer = NewWriter(name, table);
    for (const auto& [key, cells] : rows) {
      BOOST_REQUIRE(writer->AddRow(key, Views(cells)).has_value());
    }
    const auto summary = writer->Finish();
    BOOST_REQUIRE_MESSAGE(summary.has_value(), summary.status().ToString());
    return Open(name);
  }

  std::string Content(const std::string& name) { return *disk_.Content("db", name); }

 private:
  OwnedCell NewCell(uint64_t sequence) {
    const uint64_t kind = Below(12);
    const int64_t timestamp = 1 + static_cast<int64_t>(Below(7));
    constexpr const char* kQualifiers[] = {"", "a", "n", "z"};
    const std::string qualifier = kQualifiers[Below(4)];
    if (kind == 0) return {CellKind::kDeleteFamily, "", timestamp, sequence, ""};
    if (kind == 1) return {CellKind::kDeleteColumn, qualifier, timestamp, sequence, ""};
    if (kind == 2) return {CellKind::kDeleteCell, qualifier, timestamp, sequence, ""};
    return {CellKind::kPut, qualifier, timestamp, sequence, std::to_string(Below(5))};
  }

  std::mt19937_64 random_;
  test::SimulatedDisk disk_;
  std::unique_ptr<base::Directory> directory_;
  std::shared_ptr<format::TableRecord> table_;
  uint64_t sequence_ = 0;
};

inline std::string Text(const CellCounts& cells) {
  const DroppedCells& dropped = cells.dropped;
  return "in " + std::to_string(cells.in) + ", out " + std::to_string(cells.out) + ", replaced " +
         std::to_string(dropped.replaced) + ", superseded " + std::to_string(dropped.superseded) +
         ", expired " + std::to_string(dropped.expired) + ", of dropped families " +
         std::to_string(dropped.of_dropped_families) + ", deleted " +
         std::to_string(dropped.deleted) + ", markers " + std::to_string(dropped.delete_markers);
}

}  // namespace tandem::compaction
