// Finding a row and reading it alone.
#include "engine/read/row_locations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "format/cell/overflow_value.h"
#include "format/hash.h"
#include "format/row/wide_row.h"

namespace tandem::engine {
namespace {

// Keeps only the cells of `columns`. Cells that no read point shows do no harm.
void KeepColumns(const ColumnSet& columns, std::vector<format::Cell>* cells) {
  std::erase_if(*cells, [&](const format::Cell& cell) {
    const ColumnSet::Family* family = columns.Find(cell.family);
    return family == nullptr ||
           (cell.kind != format::CellKind::kDeleteFamily && !family->Contains(cell.qualifier));
  });
}

}  // namespace

RowFinder::RowFinder(const RegionView& view, std::string_view row)
    : view_(view), row_(row), hash_(format::RowHash(row, view.table->hash_secret)) {}

void RowFinder::AddMemstores(std::vector<const MemRow*>* found) const {
  for (const std::shared_ptr<const Memstore>& memstore : view_.region->memstores) {
    const MemRow* row = memstore->Find(row_, hash_);
    if (row != nullptr) found->push_back(row);
  }
}

Result<std::optional<RowLocations::InFile>> RowFinder::NextFile() {
  const std::vector<FileSlice>& files = view_.region->files;
  while (next_ < files.size()) {
    const FileSlice& slice = files[next_++];
    if (slice.file->store().statistics().min_sequence > view_.point.sequence) continue;
    ASSIGN_OR_RETURN(const std::optional<RowLocations::InFile> found, FindInFile(slice));
    if (found.has_value()) return found;
  }
  return std::optional<RowLocations::InFile>();
}

Result<std::optional<RowLocations::InFile>> RowFinder::FindInFile(const FileSlice& slice) const {
  const std::optional<RowLocations::InFile> nowhere;
  format::StoreFile& file = slice.file->store();
  const format::FileStatistics& statistics = file.statistics();
  if (row_ < statistics.min_key || row_ > statistics.max_key) return nowhere;
  // With a single file the key hashes say as much as the filter, which would be one more cache
  // miss.
  if (view_.region->files.size() > 1) {
    ASSIGN_OR_RETURN(const bool may, file.MayContain(hash_));
    if (!may) return nowhere;
  }
  ASSIGN_OR_RETURN(auto found, file.FindByHash(row_, hash_));
  if (!found.has_value()) return nowhere;
  const uint32_t ordinal = found->ordinal.value;
  if (ordinal < slice.low || ordinal >= slice.high) return nowhere;
  return std::optional(
      RowLocations::InFile{&file, ordinal, found->carrier_block, std::move(found->carrier_rows)});
}

Result<RowLocations> FindRow(const RegionView& view, std::string_view row) {
  RowFinder finder(view, row);
  RowLocations locations;
  finder.AddMemstores(&locations.memstores);
  while (true) {
    ASSIGN_OR_RETURN(std::optional<RowLocations::InFile> found, finder.NextFile());
    if (!found.has_value()) return locations;
    locations.files.push_back(*std::move(found));
  }
}

Result<format::RowBlockRef> BlockMemo::Read(const format::DataSection& data, uint32_t position,
                                            uint32_t hint) {
  auto last = std::find_if(blocks_.begin(), blocks_.end(),
                           [&](const LastBlock& block) { return block.data == &data; });
  if (last == blocks_.end()) last = blocks_.insert(last, {&data, nullptr});
  if (last->rows == nullptr || position - last->rows->first() >= last->rows->row_count()) {
    ASSIGN_OR_RETURN(const uint32_t block, data.BlockOf(position, hint));
    ASSIGN_OR_RETURN(last->rows, data.ReadRows(block));
    if (counters_ != nullptr) {
      ASSIGN_OR_RETURN(const format::DataBlock place, data.BlockAt(block));
      counters_->CountBlock(place);
    }
  }
  return last->rows;
}

namespace {

// The block of a family that holds the row.
Result<format::RowBlockRef> ReadRows(const RowLocations::InFile& location,
                                     const format::DataSection& data, bool is_carrier,
                                     BlockMemo* blocks) {
  const uint32_t position = data.RankOf(location.ordinal);
  if (!is_carrier) return blocks->Read(data, position, 0);
  if (location.carrier_rows == nullptr) return blocks->Read(data, position, location.carrier_block);
  location.carrier_rows->CountUse();
  return location.carrier_rows;
}

}  // namespace

Result<RowPart> FindPart(const RowLocations::InFile& location, format::FamilyId family,
                         BlockMemo* blocks) {
  ASSIGN_OR_RETURN(const format::DataSection* data, location.file->Family(family));
  RowPart part;
  if (data == nullptr || !data->Has(location.ordinal)) return part;
  ASSIGN_OR_RETURN(const format::DataSection* carrier, location.file->Carrier());
  part.data = data;
  ASSIGN_OR_RETURN(part.rows, ReadRows(location, *data, data == carrier, blocks));
  part.slot = data->RankOf(location.ordinal) - part.rows->first();
  return part;
}

Result<std::vector<RowPart>> FindParts(const RowLocations& locations, const ColumnSet& columns,
                                       BlockMemo* blocks) {
  std::vector<RowPart> parts;
  RETURN_IF_ERROR(FindParts(locations, columns, blocks, &parts));
  return parts;
}

Status FindParts(const RowLocations& locations, const ColumnSet& columns, BlockMemo* blocks,
                 std::vector<RowPart>* parts) {
  for (const RowLocations::InFile& location : locations.files) {
    for (const ColumnSet::Family& family : columns.families()) {
      ASSIGN_OR_RETURN(RowPart part, FindPart(location, family.id, blocks));
      if (part.data == nullptr) continue;
      part.wanted = &family;
      parts->push_back(std::move(part));
    }
  }
  return {};
}

Status AppendCells(const RowPart& part, std::vector<format::Cell>* cells, CellPins* pins) {
  if (part.rows->is_wide()) {
    return format::AppendWideColumns(part.data->blocks(), part.rows, part.wanted->qualifiers, cells,
                                     pins);
  }
  pins->push_back(part.rows);
  const format::Projection wanted(part.data->names(),
                                  part.wanted->all ? nullptr : &part.wanted->qualifiers,
                                  &part.data->blocks());
  return part.rows->Cells(part.slot, wanted, cells);
}

namespace {

// Gathers the sources of a stream.
class ColumnSources {
 public:
  ColumnSources(const ReadSchema& schema, const ColumnSet& columns)
      : schema_(schema), columns_(columns), trees_(std::make_shared<RowTrees>(*schema.table)) {}

  // Adds all memstores. Requires: no part of a file has been added.
  void AddMemstores(std::span<const MemRow* const> rows);
  Status Add(const RowPart& part);
  RowColumns Open();

 private:
  Status Add(std::vector<format::Cell> cells, std::shared_ptr<CellPins> pins);

  const ReadSchema& schema_;
  const ColumnSet& columns_;
  const std::shared_ptr<RowTrees> trees_;
  std::vector<std::unique_ptr<format::CellStream>> sources_;
  uint64_t bytes_ = 0;
};

void ColumnSources::AddMemstores(std::span<const MemRow* const> rows) {
  std::vector<format::Cell> recent;
  uint64_t looked_at = 0;
  for (const MemRow* row : rows) {
    const RowTreeView tree =
        Memstore::RecentCells(row, schema_.point.sequence, &recent, &looked_at);
    if (tree.root != nullptr) trees_->Add(tree);
  }
  KeepColumns(columns_, &recent);
  if (!trees_->empty()) trees_->RemoveHidden(&recent);
  format::SortCells(recent);
  for (const format::Cell& cell : recent) bytes_ += cell.qualifier.size() + cell.value.size();
  sources_.push_back(format::NewCellStream(std::move(recent), nullptr));
  const uint32_t versions = schema_.point.older_decide ? UINT32_MAX : schema_.versions;
  const VersionsWanted wanted{schema_.table.get(), schema_.point, versions};
  for (size_t tree = 0; tree < trees_->count(); ++tree) {
    sources_.push_back(NewTreeStream(trees_, tree, wanted, columns_));
  }
}

Status ColumnSources::Add(const RowPart& part) {
  if (!part.must_stream()) {
    std::vector<format::Cell> cells;
    auto pins = std::make_shared<CellPins>();
    RETURN_IF_ERROR(AppendCells(part, &cells, pins.get()));
    return Add(std::move(cells), std::move(pins));
  }
  bytes_ += part.rows->wide_totals().bytes;
  auto stream = format::NewWideRowStream(part.data->blocks(), part.rows);
  if (!trees_->empty()) stream = NewShadowedStream(trees_, std::move(stream));
  sources_.push_back(std::move(stream));
  return {};
}

Status ColumnSources::Add(std::vector<format::Cell> cells, std::shared_ptr<CellPins> pins) {
  ASSIGN_OR_RETURN(const uint64_t bytes, BytesOf(cells));
  bytes_ += bytes;
  std::vector<format::Cell> kept;
  kept.reserve(cells.size());
  for (const format::Cell& cell : cells) trees_->Keep(cell, &kept);
  sources_.push_back(format::NewCellStream(std::move(kept), std::move(pins)));
  return {};
}

RowColumns ColumnSources::Open() {
  return {std::make_unique<format::ColumnStream>(std::move(sources_)), trees_, bytes_};
}

}  // namespace

Result<RowColumns> OpenColumns(const ReadSchema& schema, const RowLocations& locations,
                               const ColumnSet& columns, BlockMemo* blocks) {
  ColumnSources sources(schema, columns);
  sources.AddMemstores(locations.memstores);
  ASSIGN_OR_RETURN(const std::vector<RowPart> parts, FindParts(locations, columns, blocks));
  for (const RowPart& part : parts) RETURN_IF_ERROR(sources.Add(part));
  return sources.Open();
}

Result<uint64_t> BytesOf(std::span<const format::Cell> cells) {
  uint64_t bytes = 0;
  for (const format::Cell& cell : cells) {
    ASSIGN_OR_RETURN(const uint64_t value_bytes, format::ValueBytes(cell));
    bytes += cell.qualifier.size() + value_bytes;
  }
  return bytes;
}

}  // namespace tandem::engine
