// Encoding chunks of rows during a flush, and reading them in order.
#include "engine/region/flushed_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "format/coding.h"
#include "format/key_head.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

// Allocator overhead per chunk.
constexpr uint64_t kAllocationBytes = 16;

// This process wrote the bytes: nothing is checked.
uint32_t TakeVarint(const char** bytes) {
  uint32_t value = 0, shift = 0;
  while (true) {
    const auto byte = static_cast<uint8_t>(*(*bytes)++);
    value |= uint32_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
    shift += 7;
  }
}

template <typename T>
uint64_t LoadOffset(const char* bytes, uint32_t slot) {
  T value;
  std::memcpy(&value, bytes + size_t{slot} * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void AppendOffsets(std::span<const int64_t> newest, uint64_t zero, std::string* out) {
  const size_t at = out->size();
  out->resize(at + newest.size() * sizeof(T));
  char* to = out->data() + at;
  for (const int64_t timestamp : newest) {
    // Modulo 2^64, so that any two timestamps have a difference.
    const uint64_t offset =
        timestamp == kSupersedesNothing ? 0 : static_cast<uint64_t>(timestamp) - zero;
    const auto narrow = static_cast<T>(offset);
    std::memcpy(to, &narrow, sizeof(T));
    to += sizeof(T);
  }
}

}  // namespace

uint64_t FlushedRows::size_bytes() const {
  uint64_t bytes = sizeof(FlushedRows) + chunk_bytes_ + chunks_.capacity() * sizeof(Chunk) +
                   frames_.capacity() * sizeof(Frame) +
                   ranges_.capacity() * sizeof(SupersededRange);
  for (const Column& column : columns_) bytes += sizeof(Column) + column.qualifier.size();
  return bytes;
}

FlushedRows::Column FlushedRows::ColumnOf(const format::IndexColumnRecord& column) {
  return {column.family, !column.is_of_family(), column.qualifier};
}

std::optional<size_t> FlushedRows::Find(const format::IndexColumnRecord& column) const {
  const auto found = std::ranges::find(columns_, ColumnOf(column));
  if (found == columns_.end()) return std::nullopt;
  return static_cast<size_t>(found - columns_.begin());
}

// If some row supersedes nothing, offset 0 marks such rows and the other offsets start at 1.
int64_t FlushedRows::NewestOf(const Frame& frame, const char* bytes, uint32_t slot) const {
  const char* offsets = bytes + frame.at;
  uint64_t offset = 0;
  switch (frame.width) {
    case 0:
      break;
    case 1:
      offset = LoadOffset<uint8_t>(offsets, slot);
      break;
    case 2:
      offset = LoadOffset<uint16_t>(offsets, slot);
      break;
    case 4:
      offset = LoadOffset<uint32_t>(offsets, slot);
      break;
    default:
      offset = LoadOffset<uint64_t>(offsets, slot);
      break;
  }
  const auto least = static_cast<uint64_t>(frame.range.min);
  if (frame.range.every) return static_cast<int64_t>(least + offset);
  return offset == 0 ? kSupersedesNothing : static_cast<int64_t>(least + offset - 1);
}

FlushedRows::Recorder::Recorder(const format::TableRecord& table,
                                std::shared_ptr<OverlapMemory> memory)
    : memory_(std::move(memory)), record_(new FlushedRows) {
  std::vector<Column>& columns = record_->columns_;
  for (const format::IndexRecord& index : table.indexes) {
    if (!format::MayDie(index)) continue;
    columns.push_back(ColumnOf(index.columns[0]));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  record_->ranges_.resize(columns.size());
  record_->charge_ = OverlapCharge(memory_, 0);
  newest_.resize(columns.size() * kChunkRows);
}

void FlushedRows::Recorder::AddRow(std::string_view key, std::span<const format::Cell> cells) {
  if (record_ == nullptr) return;
  AddKey(key);
  AddSuperseded(cells);
  ++record_->row_count_;
  if (++chunk_rows_ == kChunkRows || bytes_.size() > kChunkKeyBytes) FinishChunk();
}

void FlushedRows::Recorder::AddKey(std::string_view key) {
  const size_t shared = chunk_rows_ == 0 ? 0 : format::CommonPrefix(last_key_, key);
  format::AppendVarint(&bytes_, shared);
  format::AppendVarint(&bytes_, key.size() - shared);
  bytes_.append(key.substr(shared));
  last_key_.assign(key);
  record_->key_bytes_max_ = std::max(record_->key_bytes_max_, key.size());
}

// Both cells and columns are sorted by family and qualifier; a family's deletes come before its
// columns, and a family as a whole before its named columns.
void FlushedRows::Recorder::AddSuperseded(std::span<const format::Cell> cells) {
  const std::vector<Column>& columns = record_->columns_;
  if (columns.empty()) return;
  int64_t* newest = newest_.data() + chunk_rows_;
  for (size_t i = 0; i < columns.size(); ++i) newest[i * kChunkRows] = kSupersedesNothing;
  size_t next = 0;
  for (const format::Cell& cell : cells) {
    if (cell.kind == format::CellKind::kDeleteCell) continue;
    while (next < columns.size() && columns[next].family < cell.family) ++next;
    const bool is_family = cell.kind == format::CellKind::kDeleteFamily;
    for (size_t i = next; i < columns.size() && columns[i].family == cell.family; ++i) {
      const int of_column = columns[i].is_named ? columns[i].qualifier.compare(cell.qualifier) : -1;
      const int order = is_family ? 0 : of_column;
      if (order > 0) break;
      if (order < 0) {
        next = i + 1;
        continue;
      }
      int64_t& known = newest[i * kChunkRows];
      known = std::max(known, cell.timestamp);
      if (!is_family) break;
    }
    if (next == columns.size()) return;
  }
}

void FlushedRows::Recorder::FinishChunk() {
  if (chunk_rows_ == 0) return;
  FlushedRows& record = *record_;
  for (size_t i = 0; i < record.columns_.size(); ++i) {
    const std::span<const int64_t> newest = NewestOf(i);
    const bool is_like_the_last =
        i > 0 && std::equal(newest.begin(), newest.end(), NewestOf(i - 1).begin());
    record.frames_.push_back(is_like_the_last ? record.frames_.back() : FrameOf(newest));
    const SupersededRange& frame = record.frames_.back().range;
    SupersededRange& all = record.ranges_[i];
    all = {std::min(all.min, frame.min), std::max(all.max, frame.max), all.every && frame.every};
  }
  Chunk& chunk = record.chunks_.emplace_back();
  chunk.first = record.row_count_ - chunk_rows_;
  chunk.bytes = std::make_unique_for_overwrite<char[]>(bytes_.size());
  std::memcpy(chunk.bytes.get(), bytes_.data(), bytes_.size());
  record.chunk_bytes_ += bytes_.size() + kAllocationBytes;
  bytes_.clear();
  chunk_rows_ = 0;
  if (!record.charge_.GrowTo(record.size_bytes())) record_.reset();
}

// Builds the frame of a column's timestamps and appends their offsets.
FlushedRows::Frame FlushedRows::Recorder::FrameOf(std::span<const int64_t> newest) {
  Frame frame;
  frame.at = static_cast<uint32_t>(bytes_.size());
  SupersededRange& range = frame.range;
  for (const int64_t timestamp : newest) {
    const bool supersedes = timestamp != kSupersedesNothing;
    range.every = range.every && supersedes;
    range.min = std::min(range.min, supersedes ? timestamp : range.min);
    range.max = std::max(range.max, timestamp);
  }
  if (range.max == kSupersedesNothing) return frame;
  const uint64_t zero = static_cast<uint64_t>(range.min) - (range.every ? 0 : 1);
  const uint64_t greatest = static_cast<uint64_t>(range.max) - zero;
  frame.width = std::bit_ceil((static_cast<uint32_t>(std::bit_width(greatest)) + 7) / 8);
  if (greatest == 0) frame.width = 0;
  switch (frame.width) {
    case 0:
      break;
    case 1:
      AppendOffsets<uint8_t>(newest, zero, &bytes_);
      break;
    case 2:
      AppendOffsets<uint16_t>(newest, zero, &bytes_);
      break;
    case 4:
      AppendOffsets<uint32_t>(newest, zero, &bytes_);
      break;
    default:
      AppendOffsets<uint64_t>(newest, zero, &bytes_);
      break;
  }
  return frame;
}

std::shared_ptr<const FlushedRows> FlushedRows::Recorder::Finish() {
  if (record_ != nullptr) FinishChunk();
  return std::shared_ptr<const FlushedRows>(std::move(record_));
}

void FlushedRows::Cursor::Enter(uint32_t chunk) {
  DCHECK(chunk < record_.chunk_count());
  bytes_ = next_ = record_.chunks_[chunk].bytes.get();
  frames_ = record_.frames_.data() + size_t{chunk} * record_.columns_.size();
  next_slot_ = 0;
  key_bytes_ = 0;
}

std::string_view FlushedRows::Cursor::Key(uint32_t slot) {
  DCHECK(slot + 1 >= next_slot_);
  while (next_slot_ <= slot) {
    const uint32_t shared = TakeVarint(&next_);
    const uint32_t rest = TakeVarint(&next_);
    std::memcpy(key_.get() + shared, next_, rest);
    next_ += rest;
    key_bytes_ = shared + rest;
    ++next_slot_;
  }
  return {key_.get(), key_bytes_};
}

}  // namespace tandem::engine
