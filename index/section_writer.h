// Writes the section of one index. Entries are collected while rows are written, or merged from the
// sections of input files through ordinal maps, or both; they are written sorted by (key, ordinal).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/section_writer.h"
#include "index/entries.h"
#include "index/merge.h"
#include "index/section.h"
#include "index/summary.h"

namespace tandem::format {

/// How the digest of a copied section reaches the file.
enum class CopiedDigest : uint8_t {
  kWhole,  ///< As it is; SubtractRow takes out the rows that are not copied.
  kByRow,  ///< CountRow adds each row that is copied.
};

/// Collects the entries of one index of one file and writes its section. Of an index that calls
/// functions of the program all entries are collected, and those of sections are left out.
/// Threads: one at a time.
class IndexSectionWriter {
 public:
  /// `compression` applies to the leaves; an index uses that of its column's family.
  explicit IndexSectionWriter(const IndexRecord& index,
                              Compression compression = Compression::kZstd);
  ~IndexSectionWriter();

  /// Collects the entries of row `ordinal` (ascending over calls; a row may be skipped when CopyRow
  /// was called for it).
  void AddRow(Ordinal ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Declares that the entries of row `ordinal` come with a copied section: only its bits (present,
  /// touched) are taken from `cells`.
  void CopyRow(Ordinal ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Takes the entries of a row that are NOT copied out of the digest of its input, which
  /// AddSection adds as a whole. `cells` is the row in that input.
  void SubtractRow(std::string_view row_key, std::span<const Cell> cells);
  /// Adds the entries of the copied row `cells` to the digest, for an input with kByRow.
  void CountRow(std::string_view row_key, std::span<const Cell> cells);
  /// Adds an input section: its postings are mapped through `map` at Write, its digest is added at
  /// once unless it is kByRow. Requires: the maps of different inputs have disjoint images, and
  /// each preserves order. Lifetime: `section` and `map` live until Write returns.
  void AddSection(IndexSection* section, std::span<const uint32_t> map,
                  CopiedDigest digest = CopiedDigest::kWhole);

  /// False: some row has a Put that IsHiddenFrom the index (entries.h), or the index is unusable
  /// (format/registry/registered.h), so the file must have no section of it.
  bool is_complete() const;

  /// Sorts the collected entries, which Write does otherwise. Nothing may be added afterwards.
  void Sort();
  /// Sorts, merges and writes the section: leaves, postings, directory for each part that has
  /// entries, then present and touched. `row_count` is that of the finished file.
  Result<IndexSummary> Write(SectionWriter* out, uint32_t row_count);
  /// The memory that the collected entries take,
  uint64_t memory_bytes() const;
  /// and that sorting them takes on top.
  uint64_t sort_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::format
