// One part (current or older) of an index section in a file: its directory, its leaves, and the
// ordinals of a value. Look-ups, ranges and cursors are built on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/block/stream_section.h"
#include "format/lazy_once.h"
#include "index/directory.h"
#include "index/key.h"
#include "index/leaf.h"
#include "index/postings.h"
#include "index/summary.h"
#include "index/value_ordinals.h"
#include "tandem/status.h"

namespace tandem::format {

/// A leaf that agrees with its directory.
struct LoadedLeaf {
  IndexLeaf leaf;
  uint32_t number = 0;
  uint64_t offset = 0;  ///< In the file, for messages.
};

/// A value's place: a position in a leaf, which may be its value_count() in the last leaf.
struct ValuePlace {
  LoadedLeaf leaf;
  uint32_t position = 0;
};

/// Threads: const methods from any. Lifetime: `file` outlives it.
class IndexPartReader {
 public:
  using Through = StreamReader::Through;

  /// What the digests section says about the part.
  struct Totals {
    uint64_t entries = 0;
    uint64_t values = 0;
  };
  struct Spec {
    const IndexSummary& summary;
    IndexPart part = IndexPart::kCurrent;
    uint32_t row_count = 0;
  };
  /// The values at positions [begin, end) of a leaf.
  struct Positions {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  /// Where to read lists, and which of their ordinals.
  struct Source {
    StreamReader* postings = nullptr;
    OrdinalRange rows = {};
  };

  /// Errors: kCorruption when a section of the part is missing, or present without entries.
  static Result<std::unique_ptr<IndexPartReader>> Open(const BlockFile& file,
                                                       const std::vector<SectionEntry>& sections,
                                                       const Spec& spec);

  bool empty() const { return totals_.entries == 0; }
  const Totals& totals() const { return totals_; }
  /// The directory. Requires: !empty(). Errors: kCorruption, kIoError.
  Result<const IndexDirectory*> Directory() const;
  /// Leaf `number`. Requires: !empty(), number < leaf_count() of the directory.
  Result<LoadedLeaf> Leaf(uint32_t number, Through through) const;
  /// The place of the first value >= `key`. Requires: !empty().
  Result<ValuePlace> Find(std::string_view key, Through through) const;
  /// At least the entries of the values in the range: those of the leaves that may hold one. Reads
  /// no leaf.
  Result<uint64_t> EntriesAtMost(const KeyRange& range) const;
  /// Entries of the values in the range. Costs one look-up if both ends are in one leaf.
  Result<uint64_t> CountEntries(const KeyRange& range) const;
  /// Rows of the value at `position`. Errors: kCorruption.
  Result<uint32_t> CountAt(const LoadedLeaf& leaf, uint32_t position) const;
  /// A reader of this part's postings.
  StreamReader Postings(Through through) const;
  /// Appends the ordinals of the values at `positions`, value by value.
  Status AppendOrdinals(const LoadedLeaf& leaf, Positions positions, const Source& source,
                        std::vector<uint32_t>* out) const;
  /// The ordinals of the value at `position`. Lifetime: this reader's.
  Result<ValueOrdinals> OrdinalsAt(const LoadedLeaf& leaf, uint32_t position) const;
  /// kCorruption for a leaf that breaks its layout.
  Status BadLeaf(const LoadedLeaf& leaf) const;

 private:
  IndexPartReader(const BlockFile& file, uint32_t row_count) : file_(file), row_count_(row_count) {}
  // The directory, and for each leaf its block, if that was read.
  struct Leaves {
    IndexDirectory directory;
    std::shared_ptr<BlockSlot[]> slots;  // Shared with the blocks.
  };
  Result<base::Charged<Leaves>> LoadLeaves() const;
  Result<const Leaves*> LoadedLeaves() const;
  Result<BlockRef> ReadLeaf(const Leaves& leaves, uint32_t number, Through through) const;
  Result<uint64_t> EntriesBefore(const LoadedLeaf& leaf, uint32_t position) const;
  Status AppendSingles(const LoadedLeaf& leaf, Positions positions, OrdinalRange rows,
                       std::vector<uint32_t>* out) const;
  Status AppendValue(const LoadedLeaf& leaf, uint32_t position, const Source& source,
                     std::vector<uint32_t>* out) const;
  Status AppendStreamList(ListBounds bounds, const ListPlace& place, StreamReader* postings,
                          std::vector<uint32_t>* out) const;
  Result<ValueOrdinals> OpenList(ListBounds bounds, const ListPlace& place,
                                 const std::shared_ptr<StreamReader>& postings) const;
  Status BadList(const ListPlace& place) const;

  const BlockFile& file_;
  uint32_t row_count_;
  Totals totals_;
  SectionEntry leaves_, postings_, directory_;
  mutable LazyOnce<base::Charged<Leaves>> loaded_leaves_;
};

}  // namespace tandem::format
