// The index sections of a store file against its rows, both ways, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/verify/findings.h"
#include "index/entries.h"
#include "index/section.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Checks one index of one file. The caller gives all rows in order; now and then, when pending()
/// has grown, it calls CompareChunk, which walks the section once for the rows given since.
///
///   1. AddRow computes the entries that the row implies, compares the row's bits, and keeps the
///      entries as hashes.
///   2. CompareChunk looks up each entry of the section among them, then reports those without a
///      match.
///   3. Finish compares digests and totals, and walks the values once in each direction.
///
/// Threads: one at a time. Errors (all methods): kOutOfMemory; damage becomes findings.
class IndexVerifier {
 public:
  /// All outlive the verifier; `section` is the file's section of `index`.
  IndexVerifier(const IndexRecord& index, IndexSection* section, uint32_t row_count,
                Findings* findings);

  /// What its findings concern.
  void set_topic(const FindingTopic& topic) { topic_ = topic; }
  Status AddRow(uint32_t ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Entries kept since the last CompareChunk.
  size_t pending() const { return expected_.size(); }
  Status CompareChunk();
  Status Finish();

 private:
  struct Expected {
    uint32_t ordinal;
    bool current;
    bool found;
    Hash128 key;
  };
  struct PartTotals {
    uint64_t entries = 0, values = 0;
    Hash128 key_sum;
  };

  Status CompareBits(uint32_t ordinal);
  Status ComparePart(IndexPart part);
  void CompareValue(IndexPart part, std::string_view key, std::span<const uint32_t> ordinals);
  Status CheckForward(IndexPart part, PartTotals* totals);
  Status CheckValue(IndexPart part, IndexValueCursor* cursor, const PartTotals& before);
  Status CheckBackward(IndexPart part, const PartTotals& forward);
  std::string Describe(IndexPart part, std::string_view key) const;
  void Add(std::string_view what);

  const IndexRecord& index_;
  IndexSection* section_;
  uint32_t row_count_;
  Findings& findings_;
  FindingTopic topic_{"index", FindingEffect::kDerived};
  RowIndexFacts facts_;
  uint32_t chunk_begin_ = 0, chunk_end_ = 0;  ///< Ordinals given since the last CompareChunk.
  std::vector<Expected> expected_;            ///< By ordinal.
  std::vector<uint32_t> first_of_row_;        ///< Place in expected_ by ordinal - chunk_begin_.
  std::vector<uint32_t> ordinals_;
  IndexDigest current_, older_;
};

}  // namespace tandem::format
