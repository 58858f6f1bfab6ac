// See read_world.h.
#include "test/engine/read_world.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/random.h"
#include "compaction/merge.h"
#include "engine/jobs/overlap_walk.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "memstore/row_states.h"
#include "store_file/writer.h"
#include "tandem/limits.h"

namespace tandem::test {

class ReadWorld::WorldFile final : public engine::LiveFile {
 public:
  explicit WorldFile(std::shared_ptr<format::StoreFile> file) : file_(std::move(file)) {}
  format::StoreFile& store() const override { return *file_; }

 private:
  std::shared_ptr<format::StoreFile> file_;
};

namespace {

std::string FileName(uint64_t number) { return "store-" + std::to_string(number); }

template <typename T>
T Must(Result<T> result) {
  if (!result.has_value()) std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
  CHECK(result.has_value());
  return std::move(result).value();
}

}  // namespace

ReadWorld::ReadWorld(const WorldOptions& options)
    : chain_cells_max_(options.chain_cells_max),
      directory_(Must(disk_.OpenDirectory("/db", true))),
      table_(std::make_shared<format::TableRecord>()) {
  if (options.cache_bytes > 0) cache_ = std::make_unique<format::BlockCache>(options.cache_bytes);
  table_->id = format::TableId(1);
  table_->name = kWorldTable;
  const auto random = base::NewSeededRandom(options.file_ids);
  random->Fill(table_->hash_secret);
  for (const FamilyOptions& family : options.families) {
    // Ids need not follow one another.
    const auto id = static_cast<uint8_t>(table_->families.size() * 3);
    table_->families.push_back({format::FamilyId(id), family});
  }
  uint32_t id = 0;
  for (const IndexOptions& index : options.indexes) {
    format::IndexRecord record;
    record.id = format::IndexId(++id);
    record.name = index.name;
    for (const IndexColumn& column : index.columns) {
      record.columns.push_back({FamilyOf(column.family).id, column.qualifier, column.type,
                                column.descending, column.functions});
    }
    table_->indexes.push_back(std::move(record));
  }
  model_.CreateTable({kWorldTable, options.families, options.indexes, {}});
  auto region = std::make_shared<engine::RegionVersion>();
  regions_.push_back(std::move(region));
  memstores_.emplace_back();
  SwitchMemstore(0);
}

const format::FamilyRecord& ReadWorld::FamilyOf(const std::string& name) const {
  if (name.empty()) return table_->families[0];
  const format::FamilyRecord* family = table_->FindFamily(name);
  CHECK(family != nullptr);
  return *family;
}

void ReadWorld::SwitchMemstore(size_t region) {
  auto memstore = std::make_shared<engine::Memstore>(table_, nullptr, 0, chain_cells_max_);
  memstores_[region].push_back(memstore);
  regions_[region]->memstores.push_back(std::move(memstore));
}

std::shared_ptr<engine::RegionVersion> ReadWorld::RegionOf(const std::string& row) {
  for (const auto& region : regions_) {
    if (region->end_key.empty() || row < region->end_key) return region;
  }
  CHECK(false);
  return nullptr;
}

void ReadWorld::Apply(const ModelOperation& asked) {
  ModelOperation operation = asked;
  // What increments and appends make is decided by a commit, which this world has not.
  if (operation.reads() && operation.kind != ModelOperation::Kind::kDeleteCell) {
    operation.kind = ModelOperation::Kind::kPut;
  }
  const int64_t timestamp = operation.timestamp.value_or(now_);
  ++sequence_;
  std::vector<format::Cell> cells;
  format::Cell cell;
  cell.timestamp = timestamp;
  cell.sequence = format::SequenceNumber(sequence_);
  cell.family = FamilyOf(operation.family).id;
  switch (operation.kind) {
    case ModelOperation::Kind::kPut:
      for (const auto& [qualifier, value] : operation.columns) {
        cell.qualifier = qualifier;
        cell.value = value;
        cells.push_back(cell);
      }
      break;
    case ModelOperation::Kind::kIncrement:
    case ModelOperation::Kind::kAppend:
      CHECK(false);  // Apply made it a Put.
      break;
    case ModelOperation::Kind::kDeleteCell:
      DeleteCell(operation, timestamp, &cells);
      break;
    case ModelOperation::Kind::kDeleteColumn:
      cell.kind = format::CellKind::kDeleteColumn;
      cell.qualifier = operation.columns[0].first;
      cells.push_back(cell);
      break;
    case ModelOperation::Kind::kDeleteFamily:
      cell.kind = format::CellKind::kDeleteFamily;
      cells.push_back(cell);
      break;
    case ModelOperation::Kind::kDeleteRow:
      cell.kind = format::CellKind::kDeleteFamily;
      for (const format::FamilyRecord& family : table_->families) {
        cell.family = family.id;
        cells.push_back(cell);
      }
  }
  model_.Apply(operation, timestamp, now_);
  if (cells.empty()) return;
  const auto region = RegionOf(operation.row);
  const size_t at =
      static_cast<size_t>(std::find(regions_.begin(), regions_.end(), region) - regions_.begin());
  memstores_[at].back()->Apply(operation.row, cells);
}

// Rule 3.
void ReadWorld::DeleteCell(const ModelOperation& operation, int64_t timestamp,
                           std::vector<format::Cell>* cells) {
  std::vector<std::shared_ptr<const void>> pins;
  std::string revealed_value;
  format::Cell marker;
  marker.kind = format::CellKind::kDeleteCell;
  const format::FamilyRecord& family = FamilyOf(operation.family);
  marker.family = family.id;
  marker.qualifier = operation.columns[0].first;
  engine::ColumnWanted wanted{
      .column = marker,
      .timestamp = operation.timestamp.has_value() ? std::optional(timestamp) : std::nullopt};
  const engine::RegionView view = View(Moments()[0]).RegionOf(operation.row);
  std::vector<format::Cell> in_files;
  BOOST_REQUIRE(engine::AppendFileCells(view, operation.row, marker, &in_files, &pins).ok());
  wanted.others = in_files;
  const auto read = engine::CellsOfColumn(view, operation.row, wanted);
  std::vector<format::Cell> visible;
  const format::ReadPoint point{format::kSequenceMax, now_};
  format::VisibleCells(read.cells, table_->families, point, &visible);
  if (visible.empty()) return;
  marker.timestamp = operation.timestamp.has_value() ? timestamp : visible[0].timestamp;
  marker.sequence = format::SequenceNumber(sequence_);
  const bool hits = std::any_of(visible.begin(), visible.end(), [&](const format::Cell& cell) {
    return cell.timestamp == marker.timestamp;
  });
  if (!hits) return;
  cells->push_back(marker);
  if (visible.size() == family.options.max_versions) {
    format::Cell cut = marker;
    cut.kind = format::CellKind::kDeleteColumn;
    cut.timestamp = visible.back().timestamp - 1;
    cells->push_back(cut);
  }
  if (marker.timestamp == visible[0].timestamp && visible.size() > 1) {
    format::Cell revealed = visible[1];
    revealed.sequence = marker.sequence;
    if (revealed.is_overflow()) {
      BOOST_REQUIRE(format::ReadOverflowValue(revealed, &revealed_value).ok());
      revealed.value = revealed_value;
      revealed.overflow_file = nullptr;
    }
    cells->push_back(revealed);
  }
  std::sort(cells->begin(), cells->end(), format::CellLess);
  // Apply copies the bytes while the pins hold; the memstore takes what it is given at once.
  const auto region = RegionOf(operation.row);
  const size_t at =
      static_cast<size_t>(std::find(regions_.begin(), regions_.end(), region) - regions_.begin());
  memstores_[at].back()->Apply(operation.row, *cells);
  cells->clear();
}

void ReadWorld::DropSnapshot(size_t which) {
  if (snapshots_.empty()) return;
  snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(which % snapshots_.size()));
}

std::vector<format::SequenceNumber> ReadWorld::Snapshots() const {
  std::vector<format::SequenceNumber> sequences;
  for (const Moment& moment : snapshots_) sequences.emplace_back(moment.sequence);
  return sequences;
}

bool ReadWorld::OlderMayHold(const engine::RegionVersion& region, size_t files,
                             const std::string& key) {
  const uint64_t hash = format::RowHash(key, table_->hash_secret);
  for (size_t i = 0; i < files; ++i) {
    if (Must(region.files[i].file->store().MayContain(hash))) return true;
  }
  return false;
}

std::unique_ptr<base::File> ReadWorld::NewFile(uint64_t number, bool create) {
  if (create) return Must(directory_->Create(FileName(number)));
  return Must(directory_->Open(FileName(number), base::OpenMode::kReadOnly));
}

engine::FileSlice ReadWorld::OpenFile(uint64_t number) {
  format::ExpectedFile expected;
  expected.number = format::FileNumber(number);
  auto file = Must(format::StoreFile::Open(NewFile(number, false), expected, cache_.get()));
  const uint32_t rows = file->row_count();
  return {std::make_shared<WorldFile>(std::move(file)), 0, rows, static_cast<uint32_t>(number)};
}

namespace {

format::StoreFileSpec SpecOf(uint64_t number, const format::TableRecord& table) {
  format::StoreFileSpec spec;
  spec.number = format::FileNumber(number);
  spec.id.bytes[0] = static_cast<uint8_t>(number);
  spec.id.bytes[1] = static_cast<uint8_t>(number >> 8);
  spec.table = &table;
  spec.alignment = 64;
  return spec;
}

}  // namespace

void ReadWorld::Flush(size_t at) {
  if (memstores_[at].size() == 1) SwitchMemstore(at);
  const std::shared_ptr<engine::Memstore> memstore = memstores_[at].front();
  auto version = std::make_shared<engine::RegionVersion>(*regions_[at]);
  version->memstores.erase(version->memstores.begin());
  memstores_[at].erase(memstores_[at].begin());
  const auto snapshots = Snapshots();
  std::unique_ptr<format::StoreFileWriter> writer;
  engine::FlushedRows::Recorder recorder(*table_, record_memory_);
  if (!memstore->empty()) {
    engine::Memstore::Iterator row(memstore.get());
    for (row.SeekToFirst(); row.valid(); row.Next()) {
      std::vector<format::Cell> cells, kept;
      engine::RowStates(row.row(), snapshots).Append(&cells);
      const std::string key(row.key());
      format::Retention retention;
      retention.families = table_->families;
      retention.snapshots = snapshots;
      retention.now_micros = now_;
      retention.older_sources_may_hold_row =
          OlderMayHold(*regions_[at], regions_[at]->files.size(), key);
      format::RetainCells(cells, retention, &kept);
      if (kept.empty()) continue;
      if (writer == nullptr) {
        ++files_;
        writer = std::make_unique<format::StoreFileWriter>(NewFile(files_, true),
                                                           SpecOf(files_, *table_));
      }
      Must(writer->AddRow(key, kept));
      recorder.AddRow(key, kept);
    }
  }
  if (writer != nullptr) {
    writer->WidenSequences(memstore->min_sequence(), memstore->max_sequence());
    Must(writer->Finish());
    version->files.push_back(OpenFile(files_));
    version->files.back().file->KeepRecord(recorder.Finish());
  }
  regions_[at] = std::move(version);
}

void ReadWorld::Merge(size_t at, size_t first, size_t count) {
  auto version = std::make_shared<engine::RegionVersion>(*regions_[at]);
  std::vector<engine::FileSlice>& files = version->files;
  count = std::min(count, files.size() - std::min(first, files.size()));
  if (count == 0) return;
  std::vector<compaction::MergeInput> inputs;
  for (size_t i = first; i < first + count; ++i) {
    inputs.push_back({&files[i].file->store(), files[i].low, files[i].high});
  }
  compaction::MergeOptions options;
  options.table = table_;
  options.snapshots = Snapshots();
  options.now_micros = now_;
  if (first > 0) {
    options.older_may_contain = [&](uint64_t hash) -> Result<bool> {
      for (size_t i = 0; i < first; ++i) {
        if (Must(files[i].file->store().MayContain(hash))) return true;
      }
      return false;
    };
  }
  ++files_;
  format::StoreFileWriter writer(NewFile(files_, true), SpecOf(files_, *table_));
  const compaction::MergeResult result = Must(compaction::MergeFiles(inputs, options, &writer));
  files.erase(files.begin() + static_cast<ptrdiff_t>(first),
              files.begin() + static_cast<ptrdiff_t>(first + count));
  if (!result.empty) files.insert(files.begin() + static_cast<ptrdiff_t>(first), OpenFile(files_));
  regions_[at] = std::move(version);
}

void ReadWorld::BuildOverlaps(size_t at, TestRandom* random, uint64_t leaves_out_one_in) {
  auto version = std::make_shared<engine::RegionVersion>(*regions_[at]);
  for (size_t i = 1; i < version->files.size(); ++i) {
    if (leaves_out_one_in > 0 && random->OneIn(leaves_out_one_in)) continue;
    format::StoreFile& newer = version->files[i].file->store();
    std::vector<format::StoreFile*> older;
    for (size_t j = 0; j < i; ++j) {
      format::StoreFile& file = version->files[j].file->store();
      const bool is_built = version->overlaps != nullptr &&
                            version->overlaps->Find({file.number(), newer.number()}) != nullptr;
      if (!is_built) older.push_back(&file);
    }
    const auto record = version->files[i].file->record();
    auto found = Must(engine::FindOverlaps(
        {.table = *table_, .newer = &newer, .record = record.get(), .older = older}));
    engine::Overlaps::Pairs pairs;
    for (size_t j = 0; j < older.size(); ++j) {
      pairs.emplace(engine::Overlaps::Key{older[j]->number(), newer.number()},
                    std::make_shared<const engine::PairOverlap>(std::move(found[j])));
    }
    version->overlaps = engine::WithPairs(version->overlaps, std::move(pairs));
  }
  regions_[at] = std::move(version);
}

void ReadWorld::Split(const std::string& key) {
  const auto parent = RegionOf(key);
  if (key <= parent->start_key) return;
  const size_t at =
      static_cast<size_t>(std::find(regions_.begin(), regions_.end(), parent) - regions_.begin());
  do {
    Flush(at);
  } while (memstores_[at].size() > 1);
  if (!memstores_[at][0]->empty()) Flush(at);
  auto left = std::make_shared<engine::RegionVersion>(*regions_[at]);
  auto right = std::make_shared<engine::RegionVersion>(*regions_[at]);
  left->end_key = right->start_key = key;
  left->files.clear();
  right->files.clear();
  right->memstores.clear();
  for (const engine::FileSlice& slice : regions_[at]->files) {
    const uint32_t middle =
        std::clamp(Must(slice.file->store().LowerBound(key)), slice.low, slice.high);
    engine::FileSlice low = slice, high = slice;
    low.high = high.low = middle;
    if (low.low < low.high) left->files.push_back(low);
    if (high.low < high.high) right->files.push_back(high);
  }
  const auto place = static_cast<ptrdiff_t>(at);
  regions_[at] = std::move(left);
  regions_.insert(regions_.begin() + place + 1, std::move(right));
  memstores_.emplace(memstores_.begin() + place + 1);
  SwitchMemstore(at + 1);
}

std::vector<ReadWorld::Moment> ReadWorld::Moments() const {
  std::vector<Moment> moments{{sequence_, model_}};
  moments.insert(moments.end(), snapshots_.begin(), snapshots_.end());
  return moments;
}

engine::TableView ReadWorld::View(const Moment& moment) const {
  engine::TableView view;
  view.table = table_;
  view.regions.assign(regions_.begin(), regions_.end());
  view.point = {format::SequenceNumber(moment.sequence), now_};
  return view;
}

namespace {

// Calls `use(view, is_first)` for each view, which is the first one of its row or not.
template <typename Use>
void ForEachView(Result<std::unique_ptr<engine::RowSource>> source, Use&& use) {
  engine::RowReader reader(Must(std::move(source)));
  RowView row;
  bool continues = false;
  std::string key;
  while (Must(reader.Next(&row))) {
    CHECK(!continues || row.key() == key);
    use(row, !continues);
    continues = row.continues();
    key = row.key();
  }
  CHECK(!continues);
}

}  // namespace

std::vector<ModelRow> Drain(Result<std::unique_ptr<engine::RowSource>> source) {
  std::vector<ModelRow> rows;
  ForEachView(std::move(source), [&](const RowView& view, bool is_first) {
    ModelRow row(view);
    if (is_first) {
      rows.push_back(std::move(row));
    } else {
      std::move(row.cells.begin(), row.cells.end(), std::back_inserter(rows.back().cells));
    }
  });
  return rows;
}

std::vector<ModelRow> DrainViews(Result<std::unique_ptr<engine::RowSource>> source) {
  std::vector<ModelRow> views;
  ForEachView(std::move(source), [&](const RowView& view, bool) { views.emplace_back(view); });
  return views;
}

std::vector<ModelRow> CutIntoPieces(const std::vector<ModelRow>& rows) {
  std::vector<ModelRow> pieces;
  for (const ModelRow& row : rows) {
    pieces.emplace_back().key = row.key;
    uint64_t bytes = 0;
    for (const ModelCell& cell : row.cells) {
      const uint64_t more = cell.qualifier.size() + cell.value.size();
      if (bytes + more > kRowPieceBytes && !pieces.back().cells.empty()) {
        pieces.emplace_back().key = row.key;
        bytes = 0;
      }
      pieces.back().cells.push_back(cell);
      bytes += more;
    }
  }
  return pieces;
}

std::string DescribeRows(const std::vector<ModelRow>& rows) {
  std::string text;
  for (const ModelRow& row : rows) text += row.Describe() + "; ";
  return text;
}

}  // namespace tandem::test
