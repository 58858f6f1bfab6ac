// The logical keys of one index of one store file.
//
// Physically the region's start key is stored once in the file, the index's name is a section and
// the row key is an ordinal. Here the four parts are put together again: both parts of the section
// are walked value by value, smallest first, the ordinals of a value in slices, and each ordinal is
// turned into its row key.
#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "format/block/block_cache.h"
#include "index/section.h"
#include "tools/dump/names.h"
#include "tools/dump/store_file.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

using format::IndexPart;

constexpr size_t kCacheBytes = 8 * 1024 * 1024;
// Ordinals of one value that are held at a time.
constexpr uint32_t kSliceRows = 1 << 18;

class IndexDump {
 public:
  IndexDump(Dump& dump, format::StoreFile* file, const format::IndexRecord& index)
      : dump_(dump), file_(file), index_(index) {}
  Status Run();

 private:
  Status ChooseRows();
  Status WriteValues(format::IndexSection* section);
  Status WriteValue(std::string_view key, uint64_t entries);
  Status WriteSlice(const format::KeyRange& value, format::OrdinalRange rows);
  Result<std::string> RowKey(uint32_t ordinal);

  struct Entry {
    uint32_t ordinal;
    IndexPart part;
    auto operator<=>(const Entry&) const = default;
  };
  Dump& dump_;
  format::StoreFile* file_;
  const format::IndexRecord& index_;
  format::IndexSection* section_ = nullptr;
  const format::DataSection* keys_ = nullptr;
  format::OrdinalRange rows_;  // That are wanted.
  format::RowBlockRef block_;  // Of the last row key.
  std::vector<Entry> entries_;
  std::vector<uint32_t> ordinals_;
  std::optional<std::string> value_;  // As text.
};

Status IndexDump::Run() {
  ASSIGN_OR_RETURN(section_, file_->Index(index_.id));
  dump_.writer.Begin("index_key", {"region_start", "index", "value", "row", "part"});
  Status status;
  if (section_ != nullptr) {
    status = ChooseRows();
    if (status.ok()) status = WriteValues(section_);
  }
  dump_.writer.End();
  return status;
}

// A range of keys is a range of ordinals.
Status IndexDump::ChooseRows() {
  ASSIGN_OR_RETURN(keys_, file_->Carrier());
  rows_ = {0, file_->row_count()};
  if (!dump_.filter.selects_rows()) return {};
  ASSIGN_OR_RETURN(rows_.low, file_->LowerBound(dump_.filter.low()));
  uint32_t high = file_->row_count();
  // The first row that is past the wanted ones, by bisection.
  for (uint32_t low = rows_.low; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(const std::string key, RowKey(middle));
    if (dump_.filter.IsPast(key)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  rows_.high = high;
  return {};
}

Status IndexDump::WriteValues(format::IndexSection* section) {
  const auto current = section->NewCursor(IndexPart::kCurrent);
  const auto older = section->NewCursor(IndexPart::kOlder);
  RETURN_IF_ERROR(current->Seek({}));
  RETURN_IF_ERROR(older->Seek({}));
  while ((current->valid() || older->valid()) && !dump_.writer.is_full()) {
    const bool current_first =
        current->valid() && (!older->valid() || current->key() <= older->key());
    const std::string key(current_first ? current->key() : older->key());
    uint64_t entries = 0;
    for (format::IndexValueCursor* cursor : {current.get(), older.get()}) {
      if (!cursor->valid() || cursor->key() != key) continue;
      entries += cursor->count();
      RETURN_IF_ERROR(cursor->Next());
    }
    RETURN_IF_ERROR(WriteValue(key, entries));
  }
  return {};
}

Status IndexDump::WriteValue(std::string_view key, uint64_t entries) {
  if (dump_.context.is_interrupted()) return Status::Cancelled("interrupted");
  const format::KeyRange value = format::EqualRange(std::string(key));
  ASSIGN_OR_RETURN(value_, format::DecodeEntry(index_, key));
  if (entries <= kSliceRows) return WriteSlice(value, rows_);
  for (uint32_t low = rows_.low; low < rows_.high && !dump_.writer.is_full();) {
    const uint32_t high = low + std::min(kSliceRows, rows_.high - low);
    RETURN_IF_ERROR(WriteSlice(value, {low, high}));
    low = high;
  }
  return {};
}

Status IndexDump::WriteSlice(const format::KeyRange& value, format::OrdinalRange rows) {
  entries_.clear();
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    ordinals_.clear();
    RETURN_IF_ERROR(section_->AppendOrdinals(part, value, rows, &ordinals_));
    for (const uint32_t ordinal : ordinals_) entries_.push_back({ordinal, part});
  }
  std::ranges::sort(entries_);
  for (const Entry& entry : entries_) {
    if (dump_.writer.is_full()) break;
    ASSIGN_OR_RETURN(const std::string row, RowKey(entry.ordinal));
    dump_.writer.Add({file_->region_start(), index_.name,
                      value_.has_value() ? Value(*value_) : Value(), row,
                      entry.part == IndexPart::kCurrent ? "current" : "older"});
  }
  return {};
}

Result<std::string> IndexDump::RowKey(uint32_t ordinal) {
  if (ordinal >= file_->row_count()) {
    return Status::Corruption(Format("{}: index '{}' names ordinal {}; the file has {} rows",
                                     dump_.options.file, EscapeBytes(index_.name), ordinal,
                                     file_->row_count()));
  }
  if (block_ == nullptr || ordinal < block_->first() ||
      ordinal - block_->first() >= block_->row_count()) {
    ASSIGN_OR_RETURN(const uint32_t block, keys_->BlockOf(ordinal));
    ASSIGN_OR_RETURN(block_, keys_->ReadRows(block));
  }
  std::string key;
  RETURN_IF_ERROR(block_->Key(ordinal - block_->first(), &key));
  return key;
}

}  // namespace

Status DumpIndex(Dump& dump) {
  format::BlockCache cache(kCacheBytes);
  ASSIGN_OR_RETURN(const auto file,
                   format::StoreFile::Open(std::move(dump.probed.file), {}, &cache));
  const format::IndexRecord* const index = file->table().FindIndex(dump.options.index);
  if (index != nullptr) return IndexDump(dump, file.get(), *index).Run();
  std::vector<std::string> names;
  std::string list;
  for (const format::IndexRecord& known : file->table().indexes) {
    list += (list.empty() ? "; indexes: " : ", ") + EscapeBytes(known.name);
    names.push_back(known.name);
  }
  return Status::NotFound(Format("index '{}' is not in {}{}{}", EscapeBytes(dump.options.index),
                                 dump.options.file, DidYouMean(dump.options.index, names), list));
}

}  // namespace tandem::tools
