// Reading one row: each memstore and file that may hold it is searched, by filter, then by key. A
// single-source row is returned without merging; if it is also plain and all of it is requested,
// its cells are views into its blocks, and nothing is set up to decode it. Only the requested
// families of a file are read.
#include "engine/query/point_reader.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_pieces.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr size_t kUsualCells = 8;

bool IsForWholeRow(const ReadOptions& options) {
  return options.columns.empty() && options.families.empty() && options.versions > 0;
}

}  // namespace

PointReader::Decoder::Decoder(ReadSchema read_schema, const ReadOptions& options,
                              ReadCounters* counters)
    : schema(std::move(read_schema)),
      builder(schema, counters),
      columns(options.columns),
      families(options.families) {}

bool PointReader::Decoder::IsFor(const RegionView& view, const ReadOptions& options) const {
  const auto is_same = [](const ColumnName& a, const ColumnName& b) {
    return a.family == b.family && a.qualifier == b.qualifier;
  };
  return schema.table == view.table && schema.versions == options.versions &&
         families == options.families &&
         std::equal(columns.begin(), columns.end(), options.columns.begin(), options.columns.end(),
                    is_same);
}

Result<bool> PointReader::Read(RegionView view, const ReadOptions& options, std::string_view row) {
  Release();
  view_ = std::move(view);
  point_ = PointOf(view_.point, options);
  RowFinder finder(view_, row);
  finder.AddMemstores(&locations_.memstores);
  ASSIGN_OR_RETURN(std::optional<RowLocations::InFile> found, finder.NextFile());
  if (found.has_value()) {
    ASSIGN_OR_RETURN(std::optional<RowLocations::InFile> next, finder.NextFile());
    if (!next.has_value() && locations_.memstores.empty() && IsForWholeRow(options)) {
      ASSIGN_OR_RETURN(const bool is_plain, ReadPlain(*found, row));
      if (is_plain) return !row_.cells().empty();
    }
    locations_.files.push_back(*std::move(found));
    while (next.has_value()) {
      locations_.files.push_back(*std::move(next));
      ASSIGN_OR_RETURN(next, finder.NextFile());
    }
  }
  RETURN_IF_ERROR(ReadAny(options, row));
  return !row_.cells().empty();
}

// Whether the file, which is the only source that holds the row, decides it.
Result<bool> PointReader::IsSingleSource(const RowLocations::InFile& location) const {
  format::StoreFile* const file = location.file;
  if (point_.is_bounded() || file->statistics().max_sequence > point_.sequence ||
      file->MayHaveExpired(view_.table->families, point_.now_micros)) {
    return false;
  }
  if (file->all_clean()) return true;
  ASSIGN_OR_RETURN(const format::Bitmap* clean, file->CleanRows());
  return clean->Test(location.ordinal);
}

// The cells of a row in one file, straight from its blocks. False if the row is not single-source,
// not plain, or so large that its size has to be checked.
Result<bool> PointReader::ReadPlain(const RowLocations::InFile& location, std::string_view row) {
  ASSIGN_OR_RETURN(const bool is_single_source, IsSingleSource(location));
  if (!is_single_source) return false;
  if (cells_.capacity() == 0) cells_.Reserve(kUsualCells);
  for (const format::FamilyRecord& family : view_.table->families) {
    if (family.dropped) continue;
    ASSIGN_OR_RETURN(RowPart part, FindPart(location, family.id, &blocks_));
    if (part.data == nullptr) continue;
    const format::Projection all(part.data->names(), &part.data->blocks());
    const bool is_plain = part.rows->AppendPlain(part.slot, all, family.options.name, &cells_);
    if (!is_plain || part.rows->raw_bytes > kRowPieceBytes) return false;
    if (block_ == nullptr) {
      block_ = std::move(part.rows);
    } else {
      pins_.push_back(std::move(part.rows));
    }
  }
  row_ = RowView(row, cells_.all());
  return true;
}

Status PointReader::PrepareDecoder(const ReadOptions& options) {
  if (!decoder_.has_value() || !decoder_->IsFor(view_, options)) {
    decoder_.reset();
    ASSIGN_OR_RETURN(ReadSchema schema, ReadSchema::OfOneRow(view_.table, point_, options));
    decoder_.emplace(std::move(schema), options, counters_);
  }
  decoder_->schema.point = point_;
  return {};
}

Status PointReader::ReadAny(const ReadOptions& options, std::string_view row) {
  RETURN_IF_ERROR(PrepareDecoder(options));
  const ReadSchema& schema = decoder_->schema;
  RowBuilder& builder = decoder_->builder;
  RETURN_IF_ERROR(FindParts(locations_, schema.returned, &blocks_, &parts_));
  if (std::any_of(parts_.begin(), parts_.end(),
                  [](const RowPart& part) { return part.must_stream(); })) {
    return Stream(row);
  }
  builder.Begin();
  for (const MemRow* here : locations_.memstores) builder.Append(here);
  for (const RowPart& part : parts_) {
    RETURN_IF_ERROR(AppendCells(part, builder.gathered(), &pins_));
  }
  bool is_single_source = locations_.files.size() == 1 && locations_.memstores.empty();
  if (is_single_source) {
    ASSIGN_OR_RETURN(is_single_source, IsSingleSource(locations_.files[0]));
  }
  if (is_single_source) {
    builder.KeepAll();
  } else {
    builder.Merge();
  }
  if (builder.is_large()) return Stream(row);
  row_ = builder.Project(row);
  if (!builder.has_overflow_values() && builder.returned_bytes() <= kWholeRowBytesMax) return {};
  RowPieces pieces(schema);
  pieces.Begin(row, NewReturnedList(builder.ReturnedCells()));
  ASSIGN_OR_RETURN(const RowView read, pieces.Next());
  KeepCopy(read);
  return {};
}

// Reads a row that need not fit in memory, up to the size limit of a view.
Status PointReader::Stream(std::string_view row) {
  RowPieces pieces(decoder_->schema);
  ASSIGN_OR_RETURN(std::unique_ptr<ReturnedCells> cells,
                   OpenReturned(decoder_->schema, locations_, &blocks_));
  pieces.Begin(row, std::move(cells));
  ASSIGN_OR_RETURN(const RowView whole, pieces.Next());
  KeepCopy(whole);
  return {};
}

void PointReader::KeepCopy(const RowView& row) {
  copy_.emplace(row);
  row_ = copy_->view();
}

Row PointReader::TakeRow() { return copy_.has_value() ? *std::move(copy_) : Row(row_); }

void PointReader::Release() {
  row_ = {};
  copy_.reset();
  cells_.Clear();
  block_.reset();
  pins_.clear();
  parts_.clear();
  blocks_.Clear();
  locations_.Clear();
  if (decoder_.has_value()) decoder_->builder.Clear();
  view_ = {};
}

}  // namespace tandem::engine
