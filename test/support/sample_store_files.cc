// Writing the sample files.
#include "test/support/sample_store_files.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/cell/overflow_value.h"
#include "format/schema.h"
#include "index/postings.h"
#include "store_file/writer.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {
namespace {

// Builds one file row by row. The bytes of cells live as long as the writer.
class Sample {
 public:
  explicit Sample(uint32_t families) {
    table_.id = format::TableId(1);
    table_.name = "t";
    table_.hash_secret.fill('s');
    for (uint32_t i = 0; i < families; ++i) {
      FamilyOptions family;
      family.name = std::string(1, static_cast<char>('d' + i));
      family.max_versions = 3;
      family.compression = Compression::kNone;
      family.block_size_bytes = 512;
      table_.families.push_back({format::FamilyId(static_cast<uint8_t>(i)), family});
    }
    for (const char* column : {"city", "rank"}) {
      format::IndexRecord index;
      index.id = format::IndexId(static_cast<uint32_t>(table_.indexes.size() + 1));
      index.name = column;
      index.columns.push_back({format::FamilyId(0), column, ColumnType::kText, false});
      table_.indexes.push_back(index);
    }
  }

  void Add(format::CellKind kind, uint8_t family, std::string qualifier, std::string value = {}) {
    format::Cell cell;
    cell.kind = kind;
    cell.family = format::FamilyId(family);
    cell.qualifier = bytes_.emplace_back(std::move(qualifier));
    cell.value = bytes_.emplace_back(std::move(value));
    cell.timestamp = static_cast<int64_t>(cells_.size() % 5) * 100;
    cell.sequence = format::SequenceNumber(++sequence_);
    cells_.push_back(cell);
  }
  void Put(uint8_t family, std::string qualifier, std::string value) {
    Add(format::CellKind::kPut, family, std::move(qualifier), std::move(value));
  }

  /// Ends the row, which gets the next key.
  void EndRow() {
    std::sort(cells_.begin(), cells_.end(), format::CellLess);
    if (writer_ == nullptr) Open();
    char key[16];
    std::snprintf(key, sizeof(key), "k%04u", row_++);
    CHECK(writer_->AddRow(key, cells_).has_value());
    cells_.clear();
  }

  std::string Finish() {
    CHECK(writer_->Finish().has_value());
    return std::move(memory_->bytes());
  }

 private:
  void Open() {
    auto file = std::make_unique<test::MemoryFile>();
    memory_ = file.get();
    format::StoreFileSpec spec;
    spec.number = format::FileNumber(4);
    spec.id = kSampleId;
    spec.table = &table_;
    spec.alignment = 64;
    writer_ = std::make_unique<format::StoreFileWriter>(std::move(file), spec);
  }

  format::TableRecord table_;
  std::unique_ptr<format::StoreFileWriter> writer_;
  test::MemoryFile* memory_ = nullptr;
  std::deque<std::string> bytes_;
  std::vector<format::Cell> cells_;
  uint64_t sequence_ = 0;
  uint32_t row_ = 0;
};

std::string OneFamily(uint32_t rows) {
  Sample sample(1);
  for (uint32_t row = 0; row < rows; ++row) {
    sample.Put(0, "city", std::string(1 + row % 7, static_cast<char>('a' + row % 3)));
    sample.Put(0, "rank", std::to_string(row * row));
    if (row % 4 == 0) sample.Put(0, "city", "older");
    if (row % 5 == 0) sample.Add(format::CellKind::kDeleteColumn, 0, "city");
    if (row % 9 == 0) sample.Add(format::CellKind::kDeleteFamily, 0, "");
    sample.EndRow();
  }
  return sample.Finish();
}

// Values of 1, 40, 100 and most rows: every form of postings.
std::string ManyRows() {
  Sample sample(1);
  for (uint32_t row = 0; row < 3300; ++row) {
    sample.Put(0, "city", row % 33 == 0 ? "blocks" : row % 82 == 1 ? "list" : "most");
    if (row % 100 == 0) sample.Put(0, "rank", std::to_string(row));
    sample.EndRow();
  }
  return sample.Finish();
}

std::string SeveralFamilies(uint32_t rows) {
  Sample sample(3);
  for (uint32_t row = 0; row < rows; ++row) {
    if (row % 3 != 0) sample.Put(0, "city", std::to_string(row % 6));
    if (row % 3 != 1) sample.Put(1, "text", std::string(row, 'x'));
    if (row % 7 == 0 || row % 3 == 2) sample.Put(2, "", "empty name");
    sample.EndRow();
  }
  return sample.Finish();
}

std::string LargeRows() {
  Sample sample(2);
  for (uint32_t row = 0; row < 2; ++row) {
    sample.Put(0, "city", "wide");
    for (uint32_t cell = 0; cell < 1700; ++cell) {
      sample.Put(0, "column-" + std::to_string(cell * 7), std::string(20, 'v'));
    }
    if (row == 1) sample.Add(format::CellKind::kDeleteFamily, 0, "");
    sample.Put(1, "far", std::string(70'000 + row, 'f'));
    sample.EndRow();
    sample.Put(0, "city", "narrow");
    sample.EndRow();
  }
  return sample.Finish();
}

}  // namespace

std::vector<std::string> SampleStoreFiles() {
  return {OneFamily(60), ManyRows(), SeveralFamilies(80), LargeRows()};
}

std::vector<std::string> SmallStoreFiles() { return {OneFamily(12), SeveralFamilies(9)}; }

std::string RoaringPostings() {
  Sample sample(1);
  for (uint32_t row = 0; row < format::kSmallListMax + 2; ++row) {
    sample.Put(0, row == 7 ? "rank" : "city", "v");
    sample.EndRow();
  }
  return sample.Finish();
}

std::string SmallWideRow() {
  Sample sample(1);
  for (uint32_t cell = 0; cell < 10; ++cell) {
    sample.Put(0, "column-" + std::to_string(cell * 7), std::string(7000, 'v'));
  }
  sample.Add(format::CellKind::kDeleteFamily, 0, "");
  sample.EndRow();
  sample.Put(0, "city", "narrow");
  sample.EndRow();
  return sample.Finish();
}

std::string SmallOverflowValue() {
  Sample sample(1);
  sample.Put(0, "city", "near");
  sample.Put(0, "far", std::string(format::kInlineValueBytesMax + 1, 'f'));
  sample.EndRow();
  return sample.Finish();
}

std::string BlockedPostings() {
  Sample sample(1);
  constexpr uint32_t kListed = format::kSmallListMax + 1, kEvery = 33;
  for (uint32_t row = 0; row < kListed * kEvery; ++row) {
    sample.Put(0, row % kEvery == 0 ? "city" : "x", "");
    sample.EndRow();
  }
  return sample.Finish();
}

Status ReadCells(format::RowStream* rows, std::vector<format::Cell>* cells) {
  ASSIGN_OR_RETURN(const std::unique_ptr<format::CellStream> stream, rows->Stream());
  std::string value;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next());
    if (!more) return {};
    cells->assign(stream->cells().begin(), stream->cells().end());
    for (const format::Cell& cell : *cells) {
      value.clear();
      if (cell.is_overflow()) RETURN_IF_ERROR(format::ReadOverflowValue(cell, &value));
    }
  }
}

}  // namespace tandem::test
