// Collects entries row by row and assembles the section at the end.
#include "index/section_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/arena.h"
#include "base/status_macros.h"
#include "format/bitmap.h"
#include "format/block/bitmap_section.h"
#include "format/registry/registered.h"
#include "index/covering.h"
#include "index/part_writer.h"
#include "index/partial.h"
#include "index/sort.h"
#include "index/value_collector.h"

namespace tandem::format {
namespace {

// Of a column without functions.
bool HasEntry(const IndexColumnRecord& column, const ColumnCells& found) {
  return std::any_of(found.cells.begin(), found.cells.end(), [&](const Cell& cell) {
    return cell.kind == CellKind::kPut && !cell.is_overflow() && FitsIndex(column, cell.value);
  });
}

Status WriteBits(IndexId index, const Bitmap& present, const Bitmap& touched, SectionWriter* out) {
  RETURN_IF_ERROR(WriteBitmapSection(SectionKind::kIndexPresent, index.value, present, out));
  const uint32_t ones = touched.CountOnes();
  const bool equal = std::equal(present.words().begin(), present.words().end(),
                                touched.words().begin(), touched.words().end());
  if (!equal || ones == 0 || ones == touched.size()) {
    return WriteBitmapSection(SectionKind::kIndexTouched, index.value, touched, out);
  }
  RETURN_IF_ERROR(out->Begin(SectionKind::kIndexTouched, index.value, kSectionFlagEqual));
  return out->End(ones);
}

}  // namespace

struct IndexSectionWriter::Impl {
  struct Input {
    IndexSection* section;
    std::span<const uint32_t> map;
  };
  struct Part {
    CollectedEntries entries;
    // In the place of entries, if the index is multi-valued; else nullptr.
    std::unique_ptr<ValueCollector> values;
    uint64_t memory_bytes() const {
      return values != nullptr ? values->memory_bytes() : entries.memory_bytes();
    }
    uint64_t sort_bytes() const {
      return values != nullptr ? values->sort_bytes() : entries.size() * sizeof(CollectedEntry);
    }
    void Sort() {
      SortByKey(entries.all());
      if (values != nullptr) values->Sort();
    }
    std::unique_ptr<ValueSource> NewSource() {
      return values != nullptr ? values->NewSource() : NewCollectedSource(entries.all());
    }
    IndexDigest digest;
  };

  Part& part(bool current) { return current ? current_part : older_part; }

  // Sets the row's bits.
  void Mark(Ordinal ordinal, bool has_put, bool has_any) {
    if (has_put) present.Set(ordinal.value);
    if (has_any) touched.Set(ordinal.value);
  }
  /// Sets the bits of the input's rows that have an entry there and are copied.
  Status MarkCopied(const Input& input);
  /// Collects the entry of `puts`.
  void AddSinglePuts(Ordinal ordinal, std::string_view row_key);
  void Collect(Ordinal ordinal, std::string_view row_key, std::string_view key, bool current) {
    Part& to = part(current);
    to.digest.Add(key, row_key);
    if (to.values != nullptr) return to.values->Add(key, ordinal.value);
    const std::string_view copy = keys.Copy(key);
    to.entries.Add({copy.data(), static_cast<uint32_t>(copy.size()), ordinal.value, 0});
  }
  /// Finds `puts` if each column has at most one Put in the row, which nothing there can hide, of
  /// one value: the common case.
  bool FindSinglePuts(std::string_view row_key, std::span<const Cell> cells);
  std::optional<size_t> AppendSinglePuts();
  /// Of the row that FindSinglePuts found: whether the index is of it.
  bool MaySatisfy() const {
    return !index.where.has_value() || TruthOf(*index.where, where_puts) != Truth::kFalse;
  }
  bool HasHiddenPut() const;
  template <typename Change>
  void ForEachEntry(std::string_view row_key, std::span<const Cell> cells, Change change);
  Status WritePart(IndexPart which, uint32_t row_count, SectionWriter* out, IndexSummary* summary);
  Status WriteRecords(SectionWriter* out);

  IndexRecord index;
  bool is_multi_valued = false;
  Compression compression = Compression::kZstd;
  base::Arena keys;
  Part current_part, older_part;
  GrowingBitmap present, touched;
  bool is_complete = true;
  // Entries are not taken from sections of inputs: it calls functions of the program, and what they
  // returned once need not be what they return now. Then digests would not be those of the entries.
  bool is_recomputed = false;
  bool is_sorted = false;
  std::vector<Input> inputs;
  RowIndexFacts facts;
  std::string key;
  std::vector<const Cell*> puts;                // Of a row, by place; nullptr: none.
  Cell row_put;                                 // Of its key.
  std::vector<const Cell*> where_puts;          // Likewise, of those of the predicate.
  std::optional<IndexRecordCollector> records;  // nullopt: the index includes no columns.
  std::vector<uint32_t> order;                  // Of the current entries, if there are records.
};

IndexSectionWriter::IndexSectionWriter(const IndexRecord& index, Compression compression)
    : impl_(std::make_unique<Impl>()) {
  impl_->index = index;
  impl_->is_multi_valued = IsMultiValued(index.columns.front());
  if (impl_->is_multi_valued) {
    impl_->current_part.values = std::make_unique<ValueCollector>();
    impl_->older_part.values = std::make_unique<ValueCollector>();
  }
  impl_->puts.resize(index.places());
  if (index.where.has_value()) impl_->where_puts.resize(index.where->columns.size());
  if (!index.included.empty()) impl_->records.emplace(CoveredColumns(index));
  impl_->compression = compression;
  impl_->is_complete = !IsUnusable(index);
  impl_->is_recomputed = HasCalls(index);
}
IndexSectionWriter::~IndexSectionWriter() = default;

void IndexSectionWriter::AddRow(Ordinal ordinal, std::string_view row_key,
                                std::span<const Cell> cells) {
  if (!impl_->is_complete) return;
  if (impl_->records.has_value()) impl_->records->Add(ordinal, row_key, cells);
  if (impl_->FindSinglePuts(row_key, cells)) return impl_->AddSinglePuts(ordinal, row_key);
  FactsOfRow(impl_->index, row_key, cells, &impl_->facts);
  impl_->is_complete &= impl_->facts.complete;
  impl_->Mark(ordinal, impl_->facts.present, impl_->facts.touched);
  for (const IndexEntry& entry : impl_->facts.entries) {
    impl_->Collect(ordinal, row_key, entry.key, entry.current);
  }
}

void IndexSectionWriter::CopyRow(Ordinal ordinal, std::string_view row_key,
                                 std::span<const Cell> cells) {
  if (impl_->is_recomputed) return AddRow(ordinal, row_key, cells);
  if (impl_->records.has_value()) impl_->records->Add(ordinal, row_key, cells);
  const IndexColumnRecord& column = impl_->index.columns.front();
  const Cell row_put = RowKeyPut(row_key);
  const ColumnCells found = FindColumn(column, row_put, cells);
  // Functions are not computed again: the input knows which rows have an entry.
  const bool is_known_here = column.functions.empty();
  impl_->Mark(ordinal, is_known_here && HasEntry(column, found), !found.empty());
}

Status IndexSectionWriter::Impl::MarkCopied(const Input& input) {
  ASSIGN_OR_RETURN(const Bitmap* present_there, input.section->Present());
  for (uint32_t ordinal = 0; ordinal < input.map.size(); ++ordinal) {
    const uint32_t mapped = input.map[ordinal];
    if (mapped != kNotCopied && present_there->Test(ordinal)) present.Set(mapped);
  }
  return {};
}

bool IndexSectionWriter::Impl::FindSinglePuts(std::string_view row_key,
                                              std::span<const Cell> cells) {
  if (is_multi_valued) return false;
  row_put = RowKeyPut(row_key);
  const auto find = [this, cells](const IndexColumnRecord& column, const Cell** put) {
    const ColumnCells found = FindColumn(column, row_put, cells);
    *put = found.empty() ? nullptr : found.cells.data();
    return found.empty() || found.is_single_put();
  };
  bool are_single = true;
  index.ForEachPlace([&](const IndexColumnRecord& column, size_t place) {
    are_single = are_single && find(column, &puts[place]);
  });
  if (!are_single) return false;
  for (size_t i = 0; i < where_puts.size(); ++i) {
    if (!find(index.where->columns[i], &where_puts[i])) return false;
  }
  return true;
}

void IndexSectionWriter::Impl::AddSinglePuts(Ordinal ordinal, std::string_view row_key) {
  const std::optional<size_t> keys = AppendSinglePuts();
  if (!keys.has_value()) return;
  if (*keys < index.columns.size()) is_complete &= !HasHiddenPut();
  const bool has_first = !key.empty() && !StartsAbsent(index.columns.front(), key);
  Mark(ordinal, has_first, puts.front() != nullptr);
  if (!key.empty() && MaySatisfy()) Collect(ordinal, row_key, key, true);
}

// Makes `key` the entry of `puts`, empty if they have none. Returns how many have a key; nullopt:
// there are no Puts.
std::optional<size_t> IndexSectionWriter::Impl::AppendSinglePuts() {
  key.clear();
  const auto is_put = [](const Cell* put) { return put != nullptr; };
  if (std::ranges::none_of(puts, is_put) && std::ranges::none_of(where_puts, is_put)) {
    return std::nullopt;
  }
  const size_t keys = AppendEntry(index, puts, &key);
  if (keys == 0 && (!index.is_of_several() || index.is_of_row_key_alone())) key.clear();
  return keys;
}

bool IndexSectionWriter::Impl::HasHiddenPut() const {
  for (size_t i = 0; i < index.columns.size(); ++i) {
    if (puts[i] != nullptr && IsHiddenFrom(index.columns[i], *puts[i])) return true;
  }
  return false;
}

// Calls change(digest, key) for each entry of the row, with the digest of its part.
template <typename Change>
void IndexSectionWriter::Impl::ForEachEntry(std::string_view row_key, std::span<const Cell> cells,
                                            Change change) {
  if (FindSinglePuts(row_key, cells)) {
    if (AppendSinglePuts().has_value() && !key.empty() && MaySatisfy()) {
      change(&current_part.digest, key);
    }
    return;
  }
  FactsOfRow(index, row_key, cells, &facts);
  for (const IndexEntry& entry : facts.entries) change(&part(entry.current).digest, entry.key);
}

void IndexSectionWriter::SubtractRow(std::string_view row_key, std::span<const Cell> cells) {
  if (impl_->is_recomputed) return;
  impl_->ForEachEntry(row_key, cells, [row_key](IndexDigest* digest, std::string_view key) {
    digest->Subtract(key, row_key);
  });
}

void IndexSectionWriter::CountRow(std::string_view row_key, std::span<const Cell> cells) {
  if (impl_->is_recomputed) return;
  impl_->ForEachEntry(row_key, cells, [row_key](IndexDigest* digest, std::string_view key) {
    digest->Add(key, row_key);
  });
}

void IndexSectionWriter::AddSection(IndexSection* section, std::span<const uint32_t> map,
                                    CopiedDigest digest) {
  if (impl_->is_recomputed) return;
  impl_->inputs.push_back({section, map});
  if (digest == CopiedDigest::kByRow) return;
  impl_->current_part.digest.AddAll(section->summary().current_digest);
  impl_->older_part.digest.AddAll(section->summary().older_digest);
}

bool IndexSectionWriter::is_complete() const { return impl_->is_complete; }

uint64_t IndexSectionWriter::memory_bytes() const {
  return impl_->keys.size_bytes() + impl_->current_part.memory_bytes() +
         impl_->older_part.memory_bytes() +
         (impl_->records.has_value() ? impl_->records->memory_bytes() : 0);
}

uint64_t IndexSectionWriter::sort_bytes() const {
  const uint64_t order = impl_->records.has_value() ? impl_->records->rows() : 0;
  return std::max(impl_->current_part.sort_bytes(), impl_->older_part.sort_bytes()) +
         order * sizeof(impl_->order[0]);
}

void IndexSectionWriter::Sort() {
  if (std::exchange(impl_->is_sorted, true)) return;
  impl_->current_part.Sort();
  impl_->older_part.Sort();
}

Result<IndexSummary> IndexSectionWriter::Write(SectionWriter* out, uint32_t row_count) {
  Sort();
  IndexSummary summary;
  summary.index = impl_->index.id;
  RETURN_IF_ERROR(impl_->WritePart(IndexPart::kCurrent, row_count, out, &summary));
  RETURN_IF_ERROR(impl_->WritePart(IndexPart::kOlder, row_count, out, &summary));
  if (!impl_->index.columns.front().functions.empty()) {
    for (const Impl::Input& input : impl_->inputs) RETURN_IF_ERROR(impl_->MarkCopied(input));
  }
  RETURN_IF_ERROR(WriteBits(impl_->index.id, impl_->present.ToBitmap(row_count),
                            impl_->touched.ToBitmap(row_count), out));
  if (impl_->records.has_value()) RETURN_IF_ERROR(impl_->WriteRecords(out));
  return summary;
}

// A row has at most one current entry.
Status IndexSectionWriter::Impl::WriteRecords(SectionWriter* out) {
  IndexRecordsWriter writer(index.id, compression, out);
  for (const uint32_t ordinal : order) RETURN_IF_ERROR(writer.Add(records->Of(ordinal)));
  RETURN_IF_ERROR(writer.Finish());
  records->Clear();
  order = std::vector<uint32_t>();
  return {};
}

Status IndexSectionWriter::Impl::WritePart(IndexPart which, uint32_t row_count, SectionWriter* out,
                                           IndexSummary* summary) {
  const bool current = which == IndexPart::kCurrent;
  Part& from = part(current);
  std::vector<std::unique_ptr<ValueSource>> sources;
  sources.push_back(from.NewSource());
  for (const Input& input : inputs) {
    sources.push_back(NewMappedSource(input.section->NewUncachedCursor(which), input.map));
  }
  IndexPartWriter writer({index.id, which, row_count, compression}, out);
  RETURN_IF_ERROR(MergeValues(sources, &writer, current && records.has_value() ? &order : nullptr));
  RETURN_IF_ERROR(writer.Finish());
  if (writer.entries() != from.digest.count) {
    return Status::Corruption("index '" + index.name + "': " + std::to_string(writer.entries()) +
                              " entries were merged, but the digests of the inputs imply " +
                              std::to_string(from.digest.count));
  }
  from.entries = {};
  from.values.reset();
  (current ? summary->current_entries : summary->older_entries) = writer.entries();
  (current ? summary->current_values : summary->older_values) = writer.values();
  (current ? summary->current_digest : summary->older_digest) = from.digest;
  return {};
}

}  // namespace tandem::format
