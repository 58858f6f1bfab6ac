// Reads one part. Figures stored in two places (totals, entries before a leaf) must agree; the
// counts within a leaf are bounded by the leaf's total, and each list has exactly its count.
#include "index/part_reader.h"

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "format/corruption.h"

namespace tandem::format {

Result<std::unique_ptr<IndexPartReader>> IndexPartReader::Open(
    const BlockFile& file, const std::vector<SectionEntry>& sections, const Spec& spec) {
  const IndexSummary& summary = spec.summary;
  const bool older = spec.part == IndexPart::kOlder;
  const uint32_t owner = summary.index.value;
  std::unique_ptr<IndexPartReader> reader(new IndexPartReader(file, spec.row_count));
  reader->totals_ = older ? Totals{summary.older_entries, summary.older_values}
                          : Totals{summary.current_entries, summary.current_values};
  const SectionEntry* leaves = FindSection(sections, SectionKind::kIndexLeaves, owner, older);
  const SectionEntry* directory = FindSection(sections, SectionKind::kIndexDirectory, owner, older);
  const SectionEntry* postings = FindSection(sections, SectionKind::kIndexPostings, owner, older);
  if ((leaves != nullptr) == reader->empty() || (directory != nullptr) == reader->empty()) {
    return Status::Corruption(file.file().name() + ": the sections of index " +
                              std::to_string(owner) + " do not agree with its digests");
  }
  // A value has an entry of each row at most, which bounds the memory that reading it can take.
  const Totals& totals = reader->totals_;
  const bool has_rows = spec.row_count > 0;
  if (leaves != nullptr && (!has_rows || (totals.entries - 1) / spec.row_count >= totals.values)) {
    return file.Corrupt(leaves->offset,
                        Mismatch("entries of " + std::to_string(totals.values) + " values, at most",
                                 totals.values * spec.row_count, totals.entries));
  }
  if (leaves != nullptr) reader->leaves_ = *leaves;
  if (directory != nullptr) reader->directory_ = *directory;
  if (postings != nullptr) reader->postings_ = *postings;
  return reader;
}

Result<const IndexDirectory*> IndexPartReader::Directory() const {
  ASSIGN_OR_RETURN(const Leaves* leaves, LoadedLeaves());
  return &leaves->directory;
}

Result<const IndexPartReader::Leaves*> IndexPartReader::LoadedLeaves() const {
  ASSIGN_OR_RETURN(const base::Charged<Leaves>* loaded,
                   loaded_leaves_.Get([this] { return LoadLeaves(); }));
  return &loaded->value;
}

Result<base::Charged<IndexPartReader::Leaves>> IndexPartReader::LoadLeaves() const {
  ASSIGN_OR_RETURN(std::string bytes,
                   ReadWholeStream(file_, directory_, BlockKind::kIndexDirectory));
  std::optional<IndexDirectory> directory = IndexDirectory::Decode(std::move(bytes));
  if (!directory.has_value()) {
    return file_.Corrupt(directory_.offset, "index directory breaks its layout");
  }
  if (directory->entries() != totals_.entries || directory->values() != totals_.values) {
    return file_.Corrupt(directory_.offset, Mismatch("entries of index directory", totals_.entries,
                                                     directory->entries()));
  }
  const uint32_t count = directory->leaf_count();
  const uint64_t size = directory->memory_bytes() + count * sizeof(BlockSlot);
  return base::Charged<Leaves>{{*std::move(directory), std::make_unique<BlockSlot[]>(count)},
                               file_.Charge(base::MemoryPart::kIndexDirectories, size)};
}

Result<BlockRef> IndexPartReader::ReadLeaf(const Leaves& leaves, uint32_t number,
                                           Through through) const {
  BlockSlot& slot = leaves.slots[number];
  if (BlockRef kept = through == Through::kCache ? slot.Get() : nullptr; kept != nullptr) {
    kept->CountUse();
    return kept;
  }
  const BlockHandle handle = leaves.directory.Leaf(number);
  if (handle.offset < leaves_.offset || handle.stored_bytes > leaves_.size_bytes ||
      handle.offset - leaves_.offset > leaves_.size_bytes - handle.stored_bytes) {
    return file_.Corrupt(directory_.offset, "index directory names a leaf outside its section");
  }
  if (through == Through::kFile) return file_.ReadUncached(handle, BlockKind::kIndexLeaf);
  ASSIGN_OR_RETURN(BlockRef block, file_.Read(handle, BlockKind::kIndexLeaf));
  BlockSlot::Set({leaves.slots, &slot}, block);
  return block;
}

Result<LoadedLeaf> IndexPartReader::Leaf(uint32_t number, Through through) const {
  ASSIGN_OR_RETURN(const Leaves* leaves, LoadedLeaves());
  ASSIGN_OR_RETURN(BlockRef block, ReadLeaf(*leaves, number, through));
  const IndexDirectory& directory = leaves->directory;
  const uint64_t offset = block->offset;
  std::optional<IndexLeaf> leaf = IndexLeaf::Parse(std::move(block));
  if (!leaf.has_value()) return file_.Corrupt(offset, "index leaf breaks its layout");
  const uint64_t before = directory.EntriesBefore(number);
  const uint64_t after = before + leaf->EntriesBefore(leaf->value_count());
  if (leaf->entries_before() != before || after != directory.EntriesBefore(number + 1)) {
    return file_.Corrupt(offset, Mismatch("entries up to the end of index leaf",
                                          directory.EntriesBefore(number + 1), after));
  }
  return LoadedLeaf{std::move(*leaf), number, offset};
}

Result<ValuePlace> IndexPartReader::Find(std::string_view key, Through through) const {
  ASSIGN_OR_RETURN(const IndexDirectory* directory, Directory());
  const uint32_t number = directory->LeafOf(key);
  ASSIGN_OR_RETURN(LoadedLeaf leaf, Leaf(number, through));
  uint32_t position = leaf.leaf.LowerBound(key);
  if (position == leaf.leaf.value_count() && number + 1 < directory->leaf_count()) {
    ASSIGN_OR_RETURN(leaf, Leaf(number + 1, through));
    position = 0;
  }
  return ValuePlace{std::move(leaf), position};
}

// Entries of the part before a position of the leaf.
Result<uint64_t> IndexPartReader::EntriesBefore(const LoadedLeaf& leaf, uint32_t position) const {
  const uint32_t before = leaf.leaf.EntriesBefore(position);
  if (before > leaf.leaf.EntriesBefore(leaf.leaf.value_count())) return BadLeaf(leaf);
  return leaf.leaf.entries_before() + before;
}

Result<uint64_t> IndexPartReader::EntriesAtMost(const KeyRange& range) const {
  if (empty()) return 0;
  ASSIGN_OR_RETURN(const IndexDirectory* directory, Directory());
  const uint32_t first = directory->LeafOf(range.low);
  const uint32_t last =
      range.high.has_value() ? directory->LeafOf(*range.high, first) : directory->leaf_count() - 1;
  if (last < first) return 0;
  return directory->EntriesBefore(last + 1) - directory->EntriesBefore(first);
}

Result<uint64_t> IndexPartReader::CountEntries(const KeyRange& range) const {
  if (empty()) return 0;
  ASSIGN_OR_RETURN(ValuePlace place, Find(range.low, Through::kCache));
  ASSIGN_OR_RETURN(const uint64_t low, EntriesBefore(place.leaf, place.position));
  uint64_t high = totals_.entries;
  if (range.high.has_value()) {
    ASSIGN_OR_RETURN(const IndexDirectory* directory, Directory());
    if (directory->LeafOf(*range.high, place.leaf.number) == place.leaf.number) {
      place.position = place.leaf.leaf.LowerBound(*range.high);
    } else {
      ASSIGN_OR_RETURN(place, Find(*range.high, Through::kCache));
    }
    ASSIGN_OR_RETURN(high, EntriesBefore(place.leaf, place.position));
  }
  return high > low ? high - low : 0;
}

Result<uint32_t> IndexPartReader::CountAt(const LoadedLeaf& leaf, uint32_t position) const {
  const uint32_t before = leaf.leaf.EntriesBefore(position);
  const uint32_t after = leaf.leaf.EntriesBefore(position + 1);
  if (before >= after || after > leaf.leaf.EntriesBefore(leaf.leaf.value_count())) {
    return BadLeaf(leaf);
  }
  return after - before;
}

StreamReader IndexPartReader::Postings(Through through) const {
  return StreamReader(file_, postings_, BlockKind::kPostings, through);
}

Status IndexPartReader::AppendOrdinals(const LoadedLeaf& leaf, Positions positions,
                                       const Source& source, std::vector<uint32_t>* out) const {
  if (leaf.leaf.all_single()) return AppendSingles(leaf, positions, source.rows, out);
  for (uint32_t position = positions.begin; position < positions.end; ++position) {
    RETURN_IF_ERROR(AppendValue(leaf, position, source, out));
  }
  return {};
}

Status IndexPartReader::AppendSingles(const LoadedLeaf& leaf, Positions positions,
                                      OrdinalRange rows, std::vector<uint32_t>* out) const {
  for (uint32_t position = positions.begin; position < positions.end; ++position) {
    const uint32_t ordinal = leaf.leaf.Reference(position);
    if (ordinal >= row_count_) return BadLeaf(leaf);
    if (rows.Contains(ordinal)) out->push_back(ordinal);
  }
  return {};
}

Status IndexPartReader::AppendValue(const LoadedLeaf& leaf, uint32_t position, const Source& source,
                                    std::vector<uint32_t>* out) const {
  ASSIGN_OR_RETURN(const uint32_t count, CountAt(leaf, position));
  if (count == 1) return AppendSingles(leaf, {position, position + 1}, source.rows, out);
  const ListBounds bounds{count, row_count_, source.rows};
  ByteReader list = leaf.leaf.ListAt(leaf.leaf.Reference(position));
  if (count <= kSmallListMax) return ReadSmallList(bounds, &list, out) ? Status() : BadLeaf(leaf);
  ListPlace place;
  if (!ReadListPlace(bounds, &list, &place)) return BadLeaf(leaf);
  return AppendStreamList(bounds, place, source.postings, out);
}

// Where a part of a long list is wanted, only the chunks with that part are read.
Status IndexPartReader::AppendStreamList(ListBounds bounds, const ListPlace& place,
                                         StreamReader* postings, std::vector<uint32_t>* out) const {
  const bool is_whole = bounds.wanted.low == 0 && bounds.wanted.high >= bounds.row_count;
  if (!is_whole && place.size_bytes >= kChunkedBytesMin) {
    // Does not own it.
    const std::shared_ptr<StreamReader> shared(std::shared_ptr<void>(), postings);
    ASSIGN_OR_RETURN(ValueOrdinals list, OpenList(bounds, place, shared));
    return list.Append(bounds.wanted, out);
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, postings->Read(place.position, place.size_bytes));
  const bool read = place.form == ListForm::kRoaring ? ReadRoaringList(bounds, bytes, out)
                                                     : ReadBlockedList(bounds, bytes, out);
  return read ? Status() : BadList(place);
}

Result<ValueOrdinals> IndexPartReader::OpenList(
    ListBounds bounds, const ListPlace& place,
    const std::shared_ptr<StreamReader>& postings) const {
  return ValueOrdinals::Open(
      place, bounds,
      [postings, at = place.position](uint64_t offset, uint64_t size_bytes) {
        return postings->Read(at + offset, size_bytes);
      },
      [this, place] { return BadList(place); });
}

Result<ValueOrdinals> IndexPartReader::OrdinalsAt(const LoadedLeaf& leaf, uint32_t position) const {
  ASSIGN_OR_RETURN(const uint32_t count, CountAt(leaf, position));
  const ListBounds bounds{count, row_count_, {}};
  ListPlace place;
  bool is_long = count > kSmallListMax;
  if (is_long) {
    ByteReader list = leaf.leaf.ListAt(leaf.leaf.Reference(position));
    if (!ReadListPlace(bounds, &list, &place)) return BadLeaf(leaf);
    is_long = place.size_bytes >= kChunkedBytesMin;
  }
  const auto postings = std::make_shared<StreamReader>(Postings(Through::kCache));
  if (!is_long) {
    std::vector<uint32_t> ordinals;
    RETURN_IF_ERROR(
        AppendOrdinals(leaf, {position, position + 1}, {postings.get(), {}}, &ordinals));
    return ValueOrdinals(std::move(ordinals));
  }
  return OpenList(bounds, place, postings);
}

Status IndexPartReader::BadList(const ListPlace& place) const {
  return file_.Corrupt(postings_.offset, "the list at " + std::to_string(place.position) +
                                             " of the postings breaks its layout");
}

Status IndexPartReader::BadLeaf(const LoadedLeaf& leaf) const {
  return file_.Corrupt(leaf.offset, "index leaf has malformed values");
}

}  // namespace tandem::format
