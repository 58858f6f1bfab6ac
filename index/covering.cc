// Records, their sections, and reading them by number.
#include "index/covering.h"

#include <algorithm>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "format/block/stream_section.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "index/entries.h"

namespace tandem::format {
namespace {

// A piece of a collector's memory: twice the one before.
constexpr size_t kPieceBytesMin = 8 << 10, kPieceBytesMax = 256 << 10;
// Blocks of as many bytes are compressed in parallel while the next ones fill.
constexpr size_t kGroupBytes = 128 << 10;
constexpr size_t kDirectoryHeadBytes = 8;
constexpr size_t kDirectoryBlockBytes = 16;

bool IsBefore(const IncludedColumnRecord& a, const IncludedColumnRecord& b) {
  return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
}

}  // namespace

std::vector<IncludedColumnRecord> CoveredColumns(const IndexRecord& index) {
  std::vector<IncludedColumnRecord> columns;
  if (index.included.empty()) return columns;
  columns = index.included;
  for (const IndexColumnRecord& column : index.columns) {
    if (column.is_of_row_key()) continue;  // The record has the key.
    columns.push_back({.family = column.family, .qualifier = column.qualifier});
  }
  std::sort(columns.begin(), columns.end(), IsBefore);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

void AppendIndexRecord(std::span<const IncludedColumnRecord> columns, std::string_view row_key,
                       std::span<const Cell> cells, std::string* out) {
  const size_t before = out->size();
  AppendLengthPrefixed(out, row_key);
  uint64_t timestamp = 0;
  for (const IncludedColumnRecord& column : columns) {
    const ColumnCells found = FindColumn(column.family, column.qualifier, cells);
    if (found.empty()) {
      AppendVarint(out, 0);
      continue;
    }
    const bool fits = found.is_single_put() && !found.cells.front().is_overflow() &&
                      found.cells.front().value.size() <= kIndexRecordBytesMax;
    if (!fits) return out->resize(before);
    const Cell& put = found.cells.front();
    const auto time = static_cast<uint64_t>(put.timestamp);
    AppendVarint(out, put.value.size() + 1);
    AppendVarint(out, ZigZag(static_cast<int64_t>(time - timestamp)));
    out->append(put.value);
    timestamp = time;
  }
  if (out->size() - before > kIndexRecordBytesMax) out->resize(before);
}

std::optional<IndexRecordKey> KeyOfIndexRecord(std::string_view record) {
  ByteReader in(record);
  const std::string_view row_key = in.LengthPrefixed();
  if (!in.ok() || row_key.empty()) return std::nullopt;
  return IndexRecordKey{row_key, in.rest()};
}

bool ReadIndexRecord(std::span<const IncludedColumnRecord> columns, std::string_view record,
                     std::string_view* row_key, std::vector<Cell>* cells) {
  const std::optional<IndexRecordKey> key = KeyOfIndexRecord(record);
  if (!key.has_value()) return false;
  *row_key = key->row_key;
  IndexRecordCells in(key->cells);
  for (const IncludedColumnRecord& column : columns) {
    Cell cell;
    if (!in.Next(&cell.timestamp, &cell.value)) continue;
    cell.family = column.family;
    cell.qualifier = column.qualifier;
    cells->push_back(cell);
  }
  return in.done();
}

void IndexRecordCollector::Add(Ordinal ordinal, std::string_view row_key,
                               std::span<const Cell> cells) {
  DCHECK(ordinal.value >= places_.size());
  record_.clear();
  AppendIndexRecord(columns_, row_key, cells, &record_);
  places_.resize(ordinal.value + size_t{1});
  if (record_.empty()) return;
  if (pieces_.empty() || pieces_.back().size() + record_.size() > pieces_.back().capacity()) {
    const size_t before = pieces_.empty() ? 0 : pieces_.back().capacity();
    pieces_.emplace_back().reserve(std::clamp(2 * before, kPieceBytesMin, kPieceBytesMax));
    pieces_bytes_ += pieces_.back().capacity();
  }
  places_.back() = {static_cast<uint32_t>(pieces_.size() - 1),
                    static_cast<uint32_t>(pieces_.back().size()),
                    static_cast<uint32_t>(record_.size())};
  pieces_.back().append(record_);
}

std::string_view IndexRecordCollector::Of(uint32_t ordinal) const {
  if (ordinal >= places_.size() || places_[ordinal].size == 0) return {};
  const Place& place = places_[ordinal];
  return std::string_view(pieces_[place.piece]).substr(place.begin, place.size);
}

void IndexRecordCollector::Clear() {
  pieces_ = std::vector<std::string>();  // Which frees the memory; = {} would not.
  places_ = std::vector<Place>();
  pieces_bytes_ = 0;
}

Status IndexRecordsWriter::Add(std::string_view record) {
  if (records_ == 0) RETURN_IF_ERROR(out_->Begin(SectionKind::kIndexRecords, index_.value));
  if (!bytes_.empty() && bytes_.size() + record.size() > kIndexRecordBlockBytes) {
    RETURN_IF_ERROR(FinishBlock());
  }
  bytes_.append(record);
  AppendU32(&ends_, static_cast<uint32_t>(bytes_.size()));
  ++records_;
  // Empty records must not make a block that is too large.
  return ends_.size() < kIndexRecordBlockBytes ? Status() : FinishBlock();
}

Status IndexRecordsWriter::FinishBlock() {
  const auto count = static_cast<uint32_t>(ends_.size() / sizeof(uint32_t));
  BlockContent content{.kind = BlockKind::kIndexRecords, .count = count};
  content.first = records_ - count;
  content.compression = compression_;
  // Add finishes a block before it counts the record that has no room there.
  firsts_.push_back(content.first);
  if (!out_->is_parallel()) {
    ends_.append(bytes_);
    content.raw = ends_;
    ASSIGN_OR_RETURN(const BlockHandle handle, out_->Append(content));
    placed_.push_back(handle);
  } else {
    group_.blocks.push_back({content, ends_.size() + bytes_.size()});
    group_.raw.append(ends_).append(bytes_);
  }
  ends_.clear();
  bytes_.clear();
  return group_.raw.size() < kGroupBytes ? Status() : WriteGroup();
}

Status IndexRecordsWriter::WriteGroup() {
  return out_->AppendGroup(&group_,
                           [this](const BlockHandle& handle) { placed_.push_back(handle); });
}

Status IndexRecordsWriter::Finish() {
  if (records_ == 0) return {};
  if (!ends_.empty()) RETURN_IF_ERROR(FinishBlock());
  if (!group_.blocks.empty()) RETURN_IF_ERROR(WriteGroup());
  RETURN_IF_ERROR(out_->End(records_));
  std::string directory;
  AppendU32(&directory, records_);
  AppendU32(&directory, static_cast<uint32_t>(placed_.size()));
  for (const BlockHandle& handle : placed_) AppendU64(&directory, handle.offset);
  for (const BlockHandle& handle : placed_) AppendU32(&directory, handle.stored_bytes);
  for (const uint32_t first : firsts_) AppendU32(&directory, first);
  return WriteStream({SectionKind::kIndexRecordDirectory, BlockKind::kIndexRecordDirectory},
                     index_.value, 0, directory, out_);
}

Result<std::unique_ptr<IndexRecords>> IndexRecords::Open(const BlockFile& file,
                                                         const std::vector<SectionEntry>& sections,
                                                         IndexId index, uint64_t entries) {
  const SectionEntry* records = FindSection(sections, SectionKind::kIndexRecords, index.value);
  const SectionEntry* directory =
      FindSection(sections, SectionKind::kIndexRecordDirectory, index.value);
  if (records == nullptr && directory == nullptr) return std::unique_ptr<IndexRecords>();
  if (records == nullptr || directory == nullptr) {
    return Status::Corruption(file.file().name() + ": index " + std::to_string(index.value) +
                              " lacks one of the two sections of its records");
  }
  if (records->count != entries) {
    return file.Corrupt(records->offset,
                        Mismatch("records of an index, by its entries", entries, records->count));
  }
  return std::unique_ptr<IndexRecords>(new IndexRecords(file, *records, *directory, entries));
}

Result<const IndexRecords::Directory*> IndexRecords::Load() const {
  ASSIGN_OR_RETURN(
      const base::Charged<Directory>* loaded,
      loaded_.Get([&]() -> Result<base::Charged<Directory>> {
        ASSIGN_OR_RETURN(const std::string bytes,
                         ReadWholeStream(file_, directory_, BlockKind::kIndexRecordDirectory));
        const auto bad = [&] {
          return file_.Corrupt(directory_.offset,
                               "the directory of an index's records is malformed");
        };
        if (bytes.size() < kDirectoryHeadBytes) return bad();
        const auto count = LoadAt<uint32_t>(bytes, 0);
        const size_t blocks = LoadAt<uint32_t>(bytes, 4);
        const bool fits = count == entries_ && blocks > 0 &&
                          bytes.size() == kDirectoryHeadBytes + blocks * kDirectoryBlockBytes;
        if (!fits) return bad();
        Directory directory;
        directory.blocks.reserve(blocks);
        directory.firsts.reserve(blocks);
        uint64_t offset = records_.offset;
        for (size_t i = 0; i < blocks; ++i) {
          const BlockHandle handle{
              LoadAt<uint64_t>(bytes, kDirectoryHeadBytes + i * 8),
              LoadAt<uint32_t>(bytes, kDirectoryHeadBytes + blocks * 8 + i * 4)};
          const auto first = LoadAt<uint32_t>(bytes, kDirectoryHeadBytes + blocks * 12 + i * 4);
          const bool rises = i == 0 ? first == 0 : first > directory.firsts.back();
          if (!rises || first >= entries_ || handle.offset != offset) return bad();
          offset = BlockEnd(handle);
          directory.blocks.push_back(handle);
          directory.firsts.push_back(first);
        }
        if (offset != records_.offset + records_.size_bytes) return bad();
        const uint64_t memory = blocks * (sizeof(BlockHandle) + sizeof(uint32_t));
        return base::Charged<Directory>{std::move(directory),
                                        file_.Charge(base::MemoryPart::kIndexDirectories, memory)};
      }));
  return &loaded->value;
}

Status IndexRecords::ReadBlock(const Directory& directory, size_t number, bool cached,
                               BlockRef* block) const {
  const BlockHandle handle = directory.blocks[number];
  ASSIGN_OR_RETURN(*block, cached ? file_.Read(handle, BlockKind::kIndexRecords)
                                  : file_.ReadUncached(handle, BlockKind::kIndexRecords));
  const uint64_t first = directory.firsts[number];
  const uint64_t end =
      number + 1 == directory.blocks.size() ? entries_ : directory.firsts[number + 1];
  const std::string_view raw = (*block)->raw();
  const uint64_t count = end - first;
  bool is_sound = (*block)->first == first && (*block)->count == count &&
                  raw.size() / sizeof(uint32_t) >= count;
  if (is_sound) {
    const uint64_t bytes = raw.size() - count * sizeof(uint32_t);
    uint32_t before = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const auto record_end = LoadAt<uint32_t>(raw, i * sizeof(uint32_t));
      is_sound &= record_end >= before;
      before = record_end;
    }
    is_sound &= before == bytes;
  }
  return is_sound ? Status()
                  : file_.Corrupt(handle.offset, "a block of an index's records is malformed");
}

Status IndexRecords::ReadRange(uint64_t first, uint64_t count, std::vector<Part>* parts) const {
  if (count == 0) return {};
  if (first > entries_ || count > entries_ - first) {
    return file_.Corrupt(records_.offset, Mismatch("end of the records of a range, at most",
                                                   entries_, first + count));
  }
  ASSIGN_OR_RETURN(const Directory* directory, Load());
  const auto after = std::upper_bound(directory->firsts.begin(), directory->firsts.end(), first);
  auto number = static_cast<size_t>(after - directory->firsts.begin()) - 1;
  for (uint64_t at = first; at < first + count; ++number) {
    Part part;
    RETURN_IF_ERROR(ReadBlock(*directory, number, /*cached=*/true, &part.block));
    part.first = static_cast<uint32_t>(at - part.block->first);
    part.count = static_cast<uint32_t>(
        std::min<uint64_t>(first + count - at, part.block->count - part.first));
    at += part.count;
    parts->push_back(std::move(part));
  }
  return {};
}

Result<bool> IndexRecords::Cursor::Next(std::string_view* record) {
  if (block_ == nullptr || at_ == block_->count) {
    ASSIGN_OR_RETURN(const Directory* directory, records_.Load());
    if (number_ == directory->blocks.size()) return false;
    block_.reset();
    RETURN_IF_ERROR(records_.ReadBlock(*directory, number_++, /*cached=*/false, &block_));
    at_ = 0;
  }
  *record = RecordAt(*block_, at_++);
  return true;
}

}  // namespace tandem::format
