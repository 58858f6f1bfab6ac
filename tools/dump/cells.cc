// The rows of a store file, merged by key over its families, as cells and as histograms.
#include <algorithm>
#include <bit>
#include <map>

#include "base/status_macros.h"
#include "format/cell/overflow_value.h"
#include "tools/dump/family_rows.h"
#include "tools/dump/names.h"
#include "tools/dump/store_file.h"

namespace tandem::tools {
namespace {

struct OpenFamily {
  format::FamilyId id;
  std::string_view name;
  std::unique_ptr<FamilyRows> rows;
};

Result<std::vector<OpenFamily>> OpenFamilies(Dump& dump, const format::StoreFile& file) {
  std::vector<OpenFamily> families;
  for (const format::FamilyId id : file.families()) {
    const std::string_view name = FamilyName(file.table(), id);
    if (!dump.filter.WantsFamily(name)) continue;
    const auto note = [&dump](const Status& status) { return dump.Note(status); };
    ASSIGN_OR_RETURN(auto rows, FamilyRows::Open(file, id, note));
    if (rows == nullptr) continue;
    RETURN_IF_ERROR(rows->Seek(dump.filter.low()));
    families.push_back({id, name, std::move(rows)});
  }
  return families;
}

// The smallest key that any family has now; nullptr: none has more.
const std::string* SmallestKey(const std::vector<OpenFamily>& families) {
  const std::string* smallest = nullptr;
  for (const OpenFamily& family : families) {
    if (!family.rows->valid()) continue;
    if (smallest == nullptr || family.rows->key() < *smallest) smallest = &family.rows->key();
  }
  return smallest;
}

// The pieces of one family of a row. Damage within ends them.
Result<bool> VisitPieces(Dump& dump, const OpenFamily& family, const RowVisitor& visit) {
  const DumpedRow row{family.rows->key(), family.name, family.rows->ordinal()};
  auto stream = family.rows->Stream();
  if (!stream) {
    RETURN_IF_ERROR(dump.Note(stream.error()));
    return true;
  }
  while (true) {
    if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
    const Result<bool> more = (*stream)->Next();
    if (!more) {
      RETURN_IF_ERROR(dump.Note(more.error()));
      return true;
    }
    if (!*more) return true;
    const Result<bool> goes_on = visit(row, family.id, (*stream)->cells());
    if (!goes_on && goes_on.error().code() == StatusCode::kCorruption) {
      RETURN_IF_ERROR(dump.Note(goes_on.error()));
    } else if (!goes_on || !*goes_on) {
      return goes_on;
    }
  }
}

// Counts by powers of two: bucket i holds 2^(i-1) to 2^i - 1, bucket 0 holds 0.
class Histogram {
 public:
  void Add(uint64_t value) {
    ++counts_[static_cast<size_t>(std::bit_width(value))];
    ++total_;
  }
  void Write(std::string_view name, Value owner, RecordWriter* writer) const {
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const uint64_t low = i == 0 ? 0 : uint64_t{1} << (i - 1);
      const uint64_t high = i == 0 ? 0 : low + (low - 1);
      const uint64_t tenths = counts_[i] * 1000 / total_;
      const std::string share = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
      writer->Add({name, owner, low, high, counts_[i], share});
    }
  }

 private:
  std::array<uint64_t, 65> counts_{};
  uint64_t total_ = 0;
};

// Sizes and versions of what VisitRows gives, family by family.
class RowShapes {
 public:
  Result<bool> Take(const DumpedRow& row, format::FamilyId id,
                    std::span<const format::Cell> cells) {
    Family& family = families_[id];
    family.name = row.family;
    if (!is_row_ || row.key != row_) {
      EndRow();
      row_ = row.key;
      is_row_ = true;
      keys_.Add(row.key.size());
    }
    if (id != family_) EndColumn();
    family_ = id;
    for (const format::Cell& cell : cells) RETURN_IF_ERROR(TakeCell(cell, &family));
    return true;
  }
  void Write(RecordWriter* writer) {
    EndRow();
    keys_.Write("key_bytes", Value(), writer);
    for (const auto& [id, family] : families_) {
      family.values.Write("value_bytes", family.name, writer);
      family.cells.Write("cells_of_a_row", family.name, writer);
      family.versions.Write("versions_of_a_column", family.name, writer);
    }
  }

 private:
  struct Family {
    std::string_view name;
    Histogram values, cells, versions;
    uint64_t row_cells = 0;
  };

  Status TakeCell(const format::Cell& cell, Family* family) {
    ++family->row_cells;
    if (cell.kind != format::CellKind::kPut) return {};
    ASSIGN_OR_RETURN(const uint64_t bytes, format::ValueBytes(cell));
    family->values.Add(bytes);
    if (versions_ > 0 && cell.qualifier != column_) EndColumn();
    column_ = cell.qualifier;
    ++versions_;
    return {};
  }
  void EndColumn() {
    if (versions_ > 0) families_[family_].versions.Add(versions_);
    versions_ = 0;
  }
  void EndRow() {
    EndColumn();
    for (auto& [id, family] : families_) {
      if (family.row_cells > 0) family.cells.Add(family.row_cells);
      family.row_cells = 0;
    }
  }

  Histogram keys_;
  std::map<format::FamilyId, Family> families_;
  std::string row_, column_;
  bool is_row_ = false;
  format::FamilyId family_;
  uint64_t versions_ = 0;  // Puts of the present column.
};

Status WriteEntries(const format::IndexRecord& index, format::IndexSection* section,
                    RecordWriter* writer) {
  using format::IndexPart;
  const std::pair<IndexPart, const char*> parts[] = {
      {IndexPart::kCurrent, "entries_of_a_value"}, {IndexPart::kOlder, "older_entries_of_a_value"}};
  for (const auto& [part, name] : parts) {
    Histogram entries;
    const auto cursor = section->NewUncachedCursor(part);
    RETURN_IF_ERROR(cursor->Seek({}));
    while (cursor->valid()) {
      entries.Add(cursor->count());
      RETURN_IF_ERROR(cursor->Next());
    }
    entries.Write(name, index.name, writer);
  }
  return {};
}

}  // namespace

Status VisitRows(Dump& dump, const format::StoreFile& file, const RowVisitor& visit) {
  ASSIGN_OR_RETURN(const std::vector<OpenFamily> families, OpenFamilies(dump, file));
  std::string key;
  while (const std::string* smallest = SmallestKey(families)) {
    if (dump.filter.IsPast(*smallest)) break;
    key = *smallest;
    for (const OpenFamily& family : families) {
      if (!family.rows->valid() || family.rows->key() != key) continue;
      ASSIGN_OR_RETURN(const bool goes_on, VisitPieces(dump, family, visit));
      if (!goes_on) return {};
      RETURN_IF_ERROR(family.rows->Next());
    }
  }
  return {};
}

CellRecords::CellRecords(const format::TableRecord& table, DumpRecords* writer) : writer_(writer) {
  Result<RowKeyEpochs> keys = RowKeyEpochs::Parse(table.row_key, table.former_row_keys);
  if (keys.has_value()) row_key_ = *std::move(keys);  // Else the keys are bytes.
}

void CellRecords::Begin() {
  std::vector<std::string> columns = {"ordinal",   "row",      "family",    "column",
                                      "timestamp", "sequence", "operation", "value"};
  if (row_key_.has_value()) columns.insert(columns.begin() + 2, "fields");
  writer_->Begin("cell", std::move(columns));
}

Status CellRecords::Add(const DumpedRow& row, std::span<const format::Cell> cells) {
  std::optional<std::string> fields;
  if (!row.key.empty()) fields = FieldsText(row_key_, row.key);
  std::string overflow_value;
  for (const format::Cell& cell : cells) {
    if (writer_->is_full()) break;
    const bool is_put = cell.kind == format::CellKind::kPut;
    const bool has_column = cell.kind != format::CellKind::kDeleteFamily;
    overflow_value.clear();
    if (cell.is_overflow()) RETURN_IF_ERROR(format::ReadOverflowValue(cell, &overflow_value));
    const std::string_view value = cell.is_overflow() ? overflow_value : cell.value;
    std::vector<Value> values = {row.ordinal.has_value() ? Value(*row.ordinal) : Value(), row.key};
    if (row_key_.has_value()) values.push_back(fields.has_value() ? Value(*fields) : Value());
    values.insert(values.end(),
                  {row.family.empty() ? Value() : Value(row.family),
                   has_column ? Value(cell.qualifier) : Value(), cell.timestamp,
                   cell.sequence.value, CellKindName(cell.kind), is_put ? Value(value) : Value()});
    writer_->Add(values);
  }
  return {};
}

Status DumpCells(Dump& dump, const format::StoreFile& file) {
  CellRecords records(file.table(), &dump.writer);
  records.Begin();
  const auto add = [&](const DumpedRow& row, format::FamilyId,
                       std::span<const format::Cell> cells) -> Result<bool> {
    RETURN_IF_ERROR(records.Add(row, cells));
    return !dump.writer.is_full();
  };
  const Status status = VisitRows(dump, file, add);
  dump.writer.End();
  return status;
}

Status DumpHistograms(Dump& dump, format::StoreFile* file) {
  RowShapes shapes;
  RETURN_IF_ERROR(VisitRows(
      dump, *file,
      [&shapes](const DumpedRow& row, format::FamilyId id, std::span<const format::Cell> cells) {
        return shapes.Take(row, id, cells);
      }));
  dump.writer.Begin("histogram", {"histogram", "of", "from", "to", "count", "percent"});
  shapes.Write(&dump.writer);
  // Entries are those of all rows: postings do not say whose they are without being read.
  for (const format::IndexRecord& index : file->table().indexes) {
    if (dump.filter.selects_rows()) break;
    const Result<format::IndexSection*> section = file->Index(index.id);
    if (section && *section == nullptr) continue;
    RETURN_IF_ERROR(
        dump.Note(section ? WriteEntries(index, *section, &dump.writer) : section.error()));
  }
  dump.writer.End();
  return {};
}

}  // namespace tandem::tools
