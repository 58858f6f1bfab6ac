// The section of one index in one store file: a current and an older part, each with value leaves,
// a directory with cumulative counts and postings of ordinals; bitmaps of the rows present and
// touched; a digest. The byte tables are in leaf.h, directory.h, postings.h and, for the digests,
// summary.cc.
//
// Sections of an index, each owned by its id: for every part with entries its leaves, its postings
// (unless no value has more than kSmallListMax rows) and its directory; then present and touched;
// where the index includes columns and has current entries, their records (covering.h).
// Touched has no bytes and the flag kSectionFlagEqual where it equals present and is neither all
// zeros nor all ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/bitmap.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/types.h"
#include "index/cursor.h"
#include "index/key.h"
#include "index/postings.h"
#include "index/summary.h"
#include "index/value_ordinals.h"
#include "tandem/status.h"

namespace tandem::format {

class IndexRecords;

/// Threads: any; cursors by one at a time. Everything is loaded on first use through the cache.
class IndexSection {
 public:
  /// `file` outlives the section. nullptr when the file has no section of that index. Errors:
  /// kCorruption.
  static Result<std::unique_ptr<IndexSection>> Open(const BlockFile& file,
                                                    const std::vector<SectionEntry>& sections,
                                                    IndexId index, uint32_t row_count);
  virtual ~IndexSection() = default;

  virtual const IndexSummary& summary() const = 0;
  /// Entries of `part` whose key is in the range: two look-ups in cumulative counts.
  virtual Result<uint64_t> CountEntries(IndexPart part, const KeyRange& range) = 0;
  /// As many or more, a few leaves' entries at each end, without reading a leaf.
  virtual Result<uint64_t> EntriesAtMost(IndexPart part, const KeyRange& range) = 0;
  /// Appends the ordinals among `rows` of every entry in the range, value by value (ascending
  /// within a value).
  virtual Status AppendOrdinals(IndexPart part, const KeyRange& range, OrdinalRange rows,
                                std::vector<uint32_t>* out) = 0;
  /// Rows, and the most that may have entries.
  struct Few {
    OrdinalRange rows;
    size_t entries_max = 0;
  };
  /// As AppendOrdinals if the range is in one leaf and has no more entries. False, and nothing is
  /// appended: it is not, or has more.
  virtual Result<bool> AppendFew(IndexPart part, const KeyRange& range, const Few& few,
                                 std::vector<uint32_t>* out) = 0;
  Status AppendOrdinals(IndexPart part, const KeyRange& range, std::vector<uint32_t>* out) {
    return AppendOrdinals(part, range, {}, out);
  }
  /// The ordinals of the entries of one value; none if the part has no such value. Errors:
  /// kCorruption, kIoError. Lifetime: the section's.
  virtual Result<ValueOrdinals> OrdinalsOf(IndexPart part, std::string_view key) = 0;
  /// The value that has the entry `number`, from 0, of those of the part by value and then ordinal:
  /// its key, and the number of its first entry. Requires: the part has more entries. Errors:
  /// kCorruption, kIoError. Cost: one leaf.
  struct EntryValue {
    std::string key;
    uint64_t first = 0;
  };
  virtual Result<EntryValue> ValueOfEntry(IndexPart part, uint64_t number) = 0;
  /// Calls `visit` with the ordinals of all entries of the part in the order of their numbers, leaf
  /// by leaf. Ends with the first error of `visit`.
  using EntryVisitor = std::function<Status(std::span<const uint32_t> ordinals)>;
  virtual Status VisitEntries(IndexPart part, const EntryVisitor& visit) = 0;
  virtual std::unique_ptr<IndexValueCursor> NewCursor(IndexPart part) = 0;
  /// As NewCursor, but bypasses the cache: for merges, which read all of a section once.
  virtual std::unique_ptr<IndexValueCursor> NewUncachedCursor(IndexPart part) = 0;
  /// Rows that have a Put of the column; rows that any cell or marker of the column concerns.
  virtual Result<const Bitmap*> Present() = 0;
  virtual uint32_t present_count() const = 0;  ///< Of the former, without reading them.
  virtual Result<const Bitmap*> Touched() = 0;
  /// The records of the current entries; nullptr: the index includes no columns, or has no current
  /// entry. Lifetime: that of the section.
  virtual const IndexRecords* records() const = 0;
};

/// The rows of a file that an index has no entry of though they have a cell of its column: its
/// value does not fit the index, or it is a marker. 0 when the file has no section of the index.
uint64_t RowsWithoutEntry(const std::vector<SectionEntry>& sections, IndexId index);

}  // namespace tandem::format
