// The section of one index in one store file: a current and an older part, each with value leaves,
// a directory with cumulative counts and postings of ordinals; bitmaps of the rows present and
// touched; a digest. The byte tables are in leaf.h, directory.h, postings.h and, for the digests,
// summary.cc.
//
// Sections of an index, each owned by its id: for every part with entries its leaves, its postings
// (unless no value has more than kSmallListMax rows) and its directory; then present and touched.
// Touched has no bytes and the flag kSectionFlagEqual where it equals present and is neither all
// zeros nor all ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/bitmap.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/key.h"
#include "index/postings.h"
#include "tandem/status.h"

namespace tandem::format {

enum class IndexPart : uint8_t { kCurrent, kOlder };

/// Count and order-independent sum, modulo 2^128, of XXH3-128(value length u32, value, row key).
struct IndexDigest {
  uint64_t count = 0;
  Hash128 sum;
  void Add(std::string_view key, std::string_view row_key);
  void Subtract(std::string_view key, std::string_view row_key);
  void AddAll(const IndexDigest& other);
  bool operator==(const IndexDigest&) const = default;
};

/// What a section says about itself without touching its leaves.
struct IndexSummary {
  IndexId index;
  uint64_t current_entries = 0, older_entries = 0;
  uint64_t current_values = 0, older_values = 0;  ///< Distinct values.
  IndexDigest current_digest, older_digest;
};

/// One distinct value of a part, while iterating.
/// Lifetime: views are valid until the cursor moves.
class IndexValueCursor {
 public:
  virtual ~IndexValueCursor() = default;
  /// Positions at the first value >= `key` (Seek) or the last one < `key` (SeekBefore; nullopt: the
  /// last of all). valid() is false beyond either end.
  virtual Status Seek(std::string_view key) = 0;
  virtual Status SeekBefore(const std::optional<std::string>& key) = 0;
  virtual Status Next() = 0;
  virtual Status Previous() = 0;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual uint32_t count() const = 0;           ///< Rows with this value.
  virtual uint64_t entries_before() const = 0;  ///< Cumulative count up to this value, exclusive.
  /// Appends the ordinals of this value, ascending.
  virtual Status AppendOrdinals(std::vector<uint32_t>* out) = 0;
  /// A prefetch hint: the first ordinal of the value `steps` ahead, if it is in memory already; it
  /// may be out of range.
  virtual std::optional<uint32_t> OrdinalAhead(uint32_t steps) const = 0;
};

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
  /// Appends the ordinals among `rows` of every entry in the range, value by value (ascending
  /// within a value).
  virtual Status AppendOrdinals(IndexPart part, const KeyRange& range, OrdinalRange rows,
                                std::vector<uint32_t>* out) = 0;
  Status AppendOrdinals(IndexPart part, const KeyRange& range, std::vector<uint32_t>* out) {
    return AppendOrdinals(part, range, {}, out);
  }
  virtual std::unique_ptr<IndexValueCursor> NewCursor(IndexPart part) = 0;
  /// As NewCursor, but bypasses the cache: for merges, which read all of a section once.
  virtual std::unique_ptr<IndexValueCursor> NewUncachedCursor(IndexPart part) = 0;
  /// Rows that have a Put of the column; rows that any cell or marker of the column concerns.
  virtual Result<const Bitmap*> Present() = 0;
  virtual Result<const Bitmap*> Touched() = 0;
};

}  // namespace tandem::format
