// The logical keys of one index of one store file.
//
// Physically the region's start key stands once in the file, the index's name is a section and the
// row key is an ordinal. Here the four parts are put together again: both parts of the section are
// walked value by value, smallest first, and each ordinal is turned into its row key.
#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "format/block_cache.h"
#include "format/index_section.h"
#include "format/store_file.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/dump.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

constexpr size_t kCacheBytes = 64 * 1024 * 1024;

class IndexDump {
 public:
  IndexDump(Dump& dump, format::StoreFile* file, const format::IndexRecord& index)
      : dump_(dump), file_(file), index_(index) {}
  Status Run();

 private:
  Status WriteValue(std::string_view key);
  Status Take(format::IndexPart part, format::IndexValueCursor* cursor);
  Result<std::string> RowKey(uint32_t ordinal);

  struct Entry {
    uint32_t ordinal;
    format::IndexPart part;
    auto operator<=>(const Entry&) const = default;
  };
  Dump& dump_;
  format::StoreFile* file_;
  const format::IndexRecord& index_;
  const format::DataSection* keys_ = nullptr;
  std::vector<Entry> entries_;  ///< Of the value at hand.
};

Status IndexDump::Run() {
  ASSIGN_OR_RETURN(format::IndexSection* const section, file_->Index(index_.id));
  dump_.writer.Begin("index_key", {"region_start", "index", "value", "row", "part"});
  if (section != nullptr) {
    ASSIGN_OR_RETURN(keys_, file_->Carrier());
    const auto current = section->NewCursor(format::IndexPart::kCurrent);
    const auto older = section->NewCursor(format::IndexPart::kOlder);
    RETURN_IF_ERROR(current->Seek({}));
    RETURN_IF_ERROR(older->Seek({}));
    while (current->valid() || older->valid()) {
      const bool current_first =
          current->valid() && (!older->valid() || current->key() <= older->key());
      const std::string key(current_first ? current->key() : older->key());
      entries_.clear();
      if (current->valid() && current->key() == key) {
        RETURN_IF_ERROR(Take(format::IndexPart::kCurrent, current.get()));
      }
      if (older->valid() && older->key() == key) {
        RETURN_IF_ERROR(Take(format::IndexPart::kOlder, older.get()));
      }
      RETURN_IF_ERROR(WriteValue(key));
    }
  }
  dump_.writer.End();
  return {};
}

Status IndexDump::Take(format::IndexPart part, format::IndexValueCursor* cursor) {
  std::vector<uint32_t> ordinals;
  RETURN_IF_ERROR(cursor->AppendOrdinals(&ordinals));
  for (const uint32_t ordinal : ordinals) entries_.push_back({ordinal, part});
  return cursor->Next();
}

Status IndexDump::WriteValue(std::string_view key) {
  if (dump_.context.is_interrupted()) return Status::Cancelled("interrupted");
  std::vector<std::optional<std::string>> columns;
  for (const format::IndexColumnRecord& column : index_.columns) {
    ASSIGN_OR_RETURN(columns.emplace_back(), format::DecodeIndexKey(column, &key));
  }
  std::ranges::sort(entries_);
  for (const Entry& entry : entries_) {
    ASSIGN_OR_RETURN(const std::string row, RowKey(entry.ordinal));
    dump_.writer.Add({file_->region_start(), index_.name,
                      columns[0].has_value() ? Value(*columns[0]) : Value(), row,
                      entry.part == format::IndexPart::kCurrent ? "current" : "older"});
  }
  return {};
}

Result<std::string> IndexDump::RowKey(uint32_t ordinal) {
  if (ordinal >= file_->row_count()) {
    return Status::Corruption(Format("{}: index '{}' names ordinal {}; the file has {} rows",
                                     dump_.options.file, EscapeBytes(index_.name), ordinal,
                                     file_->row_count()));
  }
  ASSIGN_OR_RETURN(const uint32_t block, keys_->BlockOf(ordinal));
  ASSIGN_OR_RETURN(const format::RowBlockRef rows, keys_->ReadRows(block));
  std::string key;
  RETURN_IF_ERROR(rows->Key(ordinal - rows->first(), &key));
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
