// The section of one index: two parts and two bitmaps.
#include "index/section.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/block/section_table.h"
#include "format/lazy_once.h"
#include "index/covering.h"
#include "index/cursor.h"
#include "index/part_reader.h"

namespace tandem::format {
namespace {

using Through = StreamReader::Through;

class StoredIndexSection final : public IndexSection {
 public:
  struct Loaded {
    IndexSummary summary;
    std::unique_ptr<IndexPartReader> current, older;
    std::unique_ptr<IndexRecords> records;
    SectionEntry present, touched;
    uint32_t row_count = 0;
  };

  StoredIndexSection(const BlockFile& file, Loaded loaded)
      : file_(file), loaded_(std::move(loaded)) {}

  const IndexSummary& summary() const override { return loaded_.summary; }

  Result<uint64_t> CountEntries(IndexPart part, const KeyRange& range) override {
    return Part(part).CountEntries(range);
  }

  Result<uint64_t> EntriesAtMost(IndexPart part, const KeyRange& range) override {
    return Part(part).EntriesAtMost(range);
  }

  Status AppendOrdinals(IndexPart part, const KeyRange& range, OrdinalRange rows,
                        std::vector<uint32_t>* out) override {
    const IndexPartReader& reader = Part(part);
    if (reader.empty()) return {};
    ASSIGN_OR_RETURN(const IndexDirectory* directory, reader.Directory());
    ASSIGN_OR_RETURN(ValuePlace place, reader.Find(range.low, Through::kCache));
    StreamReader postings = reader.Postings(Through::kCache);
    const uint32_t last = range.high.has_value() ? directory->LeafOf(*range.high, place.leaf.number)
                                                 : directory->leaf_count() - 1;
    while (true) {
      const LoadedLeaf& leaf = place.leaf;
      uint32_t end = leaf.leaf.value_count();
      if (range.high.has_value() && leaf.number >= last) end = leaf.leaf.LowerBound(*range.high);
      RETURN_IF_ERROR(reader.AppendOrdinals(leaf, {place.position, end}, {&postings, rows}, out));
      if (leaf.number >= last) return {};
      ASSIGN_OR_RETURN(LoadedLeaf next, reader.Leaf(leaf.number + 1, Through::kCache));
      place = {std::move(next), 0};
    }
  }

  Result<bool> AppendFew(IndexPart part, const KeyRange& range, const Few& few,
                         std::vector<uint32_t>* out) override {
    const IndexPartReader& reader = Part(part);
    if (reader.empty()) return true;
    if (!range.high.has_value()) return false;
    ASSIGN_OR_RETURN(const IndexDirectory* directory, reader.Directory());
    ASSIGN_OR_RETURN(const ValuePlace place, reader.Find(range.low, Through::kCache));
    const IndexLeaf& leaf = place.leaf.leaf;
    leaf.PrefetchReference(place.position);
    if (directory->LeafOf(*range.high, place.leaf.number) > place.leaf.number) return false;
    const uint32_t end = leaf.LowerBound(*range.high);
    if (end <= place.position) return true;
    if (leaf.EntriesBefore(end) - leaf.EntriesBefore(place.position) > few.entries_max)
      return false;
    StreamReader postings = reader.Postings(Through::kCache);
    RETURN_IF_ERROR(
        reader.AppendOrdinals(place.leaf, {place.position, end}, {&postings, few.rows}, out));
    return true;
  }

  Result<ValueOrdinals> OrdinalsOf(IndexPart part, std::string_view key) override {
    const IndexPartReader& reader = Part(part);
    if (reader.empty()) return ValueOrdinals();
    ASSIGN_OR_RETURN(const ValuePlace place, reader.Find(key, Through::kCache));
    if (place.position >= place.leaf.leaf.value_count()) return ValueOrdinals();
    std::string found;
    if (!place.leaf.leaf.Key(place.position, &found)) return reader.BadLeaf(place.leaf);
    if (found != key) return ValueOrdinals();
    return reader.OrdinalsAt(place.leaf, place.position);
  }

  Result<EntryValue> ValueOfEntry(IndexPart part, uint64_t number) override {
    const IndexPartReader& reader = Part(part);
    ASSIGN_OR_RETURN(const IndexDirectory* directory, reader.Directory());
    ASSIGN_OR_RETURN(const LoadedLeaf leaf,
                     reader.Leaf(directory->LeafOfEntry(number), Through::kCache));
    const uint64_t before = leaf.leaf.entries_before();
    uint32_t low = 0, high = leaf.leaf.value_count();  // The value is at or after `low`.
    while (high - low > 1) {
      const uint32_t middle = low + (high - low) / 2;
      (before + leaf.leaf.EntriesBefore(middle) <= number ? low : high) = middle;
    }
    EntryValue value{.key = {}, .first = before + leaf.leaf.EntriesBefore(low)};
    if (!leaf.leaf.Key(low, &value.key)) return reader.BadLeaf(leaf);
    return value;
  }

  Status VisitEntries(IndexPart part, const EntryVisitor& visit) override {
    const IndexPartReader& reader = Part(part);
    if (reader.empty()) return {};
    ASSIGN_OR_RETURN(const IndexDirectory* directory, reader.Directory());
    StreamReader postings = reader.Postings(Through::kCache);
    std::vector<uint32_t> ordinals;
    for (uint32_t i = 0; i < directory->leaf_count(); ++i) {
      ASSIGN_OR_RETURN(const LoadedLeaf leaf, reader.Leaf(i, Through::kCache));
      ordinals.clear();
      RETURN_IF_ERROR(
          reader.AppendOrdinals(leaf, {0, leaf.leaf.value_count()}, {&postings, {}}, &ordinals));
      RETURN_IF_ERROR(visit(ordinals));
    }
    return {};
  }

  std::unique_ptr<IndexValueCursor> NewCursor(IndexPart part) override {
    return NewPartCursor(Part(part), Through::kCache);
  }
  std::unique_ptr<IndexValueCursor> NewUncachedCursor(IndexPart part) override {
    return NewPartCursor(Part(part), Through::kFile);
  }

  Result<const Bitmap*> Present() override { return Bits(loaded_.present, &present_); }
  uint32_t present_count() const override { return static_cast<uint32_t>(loaded_.present.count); }
  Result<const Bitmap*> Touched() override {
    if ((loaded_.touched.flags & kSectionFlagEqual) != 0) return Present();
    return Bits(loaded_.touched, &touched_);
  }
  const IndexRecords* records() const override { return loaded_.records.get(); }

 private:
  const IndexPartReader& Part(IndexPart part) const {
    return part == IndexPart::kCurrent ? *loaded_.current : *loaded_.older;
  }
  using LoadedBits = base::Charged<Bitmap>;

  Result<const Bitmap*> Bits(const SectionEntry& section, LazyOnce<LoadedBits>* kept) const {
    ASSIGN_OR_RETURN(const LoadedBits* loaded, kept->Get([&]() -> Result<LoadedBits> {
      ASSIGN_OR_RETURN(Bitmap bits, ReadBitmapSection(file_, section, loaded_.row_count));
      const uint64_t bytes = bits.memory_bytes();
      return LoadedBits{std::move(bits), file_.Charge(base::MemoryPart::kBitmaps, bytes)};
    }));
    return &loaded->value;
  }

  const BlockFile& file_;
  Loaded loaded_;
  LazyOnce<LoadedBits> present_, touched_;
};

}  // namespace

Result<std::unique_ptr<IndexSection>> IndexSection::Open(const BlockFile& file,
                                                         const std::vector<SectionEntry>& sections,
                                                         IndexId index, uint32_t row_count) {
  ASSIGN_OR_RETURN(const std::vector<IndexSummary> summaries, ReadSummaries(file, sections));
  const auto summary = std::find_if(summaries.begin(), summaries.end(),
                                    [&](const IndexSummary& s) { return s.index == index; });
  if (summary == summaries.end()) return std::unique_ptr<IndexSection>();
  StoredIndexSection::Loaded loaded;
  loaded.summary = *summary;
  loaded.row_count = row_count;
  ASSIGN_OR_RETURN(loaded.current, IndexPartReader::Open(
                                       file, sections, {*summary, IndexPart::kCurrent, row_count}));
  ASSIGN_OR_RETURN(loaded.older,
                   IndexPartReader::Open(file, sections, {*summary, IndexPart::kOlder, row_count}));
  ASSIGN_OR_RETURN(loaded.records,
                   IndexRecords::Open(file, sections, index, summary->current_entries));
  const SectionEntry* present = FindSection(sections, SectionKind::kIndexPresent, index.value);
  const SectionEntry* touched = FindSection(sections, SectionKind::kIndexTouched, index.value);
  if (present == nullptr || touched == nullptr) {
    return Status::Corruption(file.file().name() + ": index " + std::to_string(index.value) +
                              " lacks the bitmap of its rows");
  }
  loaded.present = *present;
  loaded.touched = *touched;
  return std::unique_ptr<IndexSection>(
      std::make_unique<StoredIndexSection>(file, std::move(loaded)));
}

uint64_t RowsWithoutEntry(const std::vector<SectionEntry>& sections, IndexId index) {
  const SectionEntry* present = FindSection(sections, SectionKind::kIndexPresent, index.value);
  const SectionEntry* touched = FindSection(sections, SectionKind::kIndexTouched, index.value);
  if (present == nullptr || touched == nullptr || touched->count < present->count) return 0;
  return touched->count - present->count;
}

}  // namespace tandem::format
