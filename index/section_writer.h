// Writing the section of one index: entries are collected while rows are written, or merged from
// the sections of input files through ordinal maps, or both, and come out sorted by (key, ordinal).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/section_writer.h"
#include "index/entries.h"
#include "index/section.h"

namespace tandem::format {

/// The ordinal map of a merge input: new ordinal by old one, or kNotCopied for a row whose entries
/// do not survive as they are (dropped, or merged with others and collected again).
inline constexpr uint32_t kNotCopied = 0xffff'ffff;

/// How the digest of a copied section reaches the file.
enum class CopiedDigest : uint8_t {
  kWhole,  ///< As it is; SubtractRow takes out the rows that are not copied.
  kByRow,  ///< CountRow adds each row that is copied.
};

/// Collects the entries of one index of one file and writes its section.
/// Threads: one at a time.
class IndexSectionWriter {
 public:
  /// `compression`: of the leaves; an index is stored as the family of its column is.
  explicit IndexSectionWriter(const IndexRecord& index,
                              Compression compression = Compression::kZstd);
  ~IndexSectionWriter();

  /// Collects the entries of row `ordinal` (ascending over calls; a row may be skipped when CopyRow
  /// was called for it). Errors: kCorruption from FactsOfRow.
  Status AddRow(Ordinal ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Says that row `ordinal` arrives through a copied section: only its bits (present, touched) are
  /// taken from `cells`; its entries and digest come with the section.
  Status CopyRow(Ordinal ordinal, std::span<const Cell> cells);
  /// The row `cells` of an input file whose entries are NOT copied: takes them out of the digest of
  /// that input, which AddSection adds as a whole.
  Status SubtractRow(std::string_view row_key, std::span<const Cell> cells);
  /// The copied row `cells` of an input whose digest comes by row.
  Status CountRow(std::string_view row_key, std::span<const Cell> cells);
  /// Adds an input section: its postings are mapped through `map` at Write, its digest is added now
  /// unless it comes by row. Lifetime: `section` and `map` must live until Write returned. Maps of
  /// different inputs have disjoint images and each keeps the order.
  void AddSection(IndexSection* section, std::span<const uint32_t> map,
                  CopiedDigest digest = CopiedDigest::kWhole);

  /// Sorts, merges and writes the section: leaves, postings, directory for each part that has
  /// entries, then present and touched. `row_count` is that of the finished file.
  Result<IndexSummary> Write(SectionWriter* out, uint32_t row_count);
  /// What was collected takes.
  uint64_t memory_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The digests section of a file: one IndexSummary an index. Written after all index sections.
Status WriteSummaries(std::span<const IndexSummary> summaries, SectionWriter* out);
/// Errors: kCorruption.
Result<std::vector<IndexSummary>> ReadSummaries(const BlockFile& file,
                                                const std::vector<SectionEntry>& sections);

}  // namespace tandem::format
