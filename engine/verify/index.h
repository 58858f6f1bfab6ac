// The index sections of a store file against its rows, both ways, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/verify/findings.h"
#include "index/covering.h"
#include "index/entries.h"
#include "index/section.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Checks one index of one file. The section is walked once in each direction, and once more if it
/// differs from the rows.
///
///   1. AddRow, for each row in order, computes the entries that the row implies, compares the
///      row's bits, and adds the hashes of its entries to the sum of its group of rows.
///   2. Finish compares digests and totals, and subtracts what the section lists from the sums:
///      each is 0 then.
///      So it does with the records of the current entries.
///   3. Where one is not, the caller gives the rows of differing() to Expect, and CompareExpected
///      says which entries they are.
///
/// Threads: one at a time. Errors (all methods): kOutOfMemory; damage becomes findings.
class IndexVerifier {
 public:
  /// Groups of rows that have a sum each: at most.
  static constexpr uint32_t kGroupsMax = 4096;
  /// What the sums of entries and of records take: at most.
  static constexpr uint64_t kSumsBytesMax = 2 * kGroupsMax * sizeof(Hash128);
  /// What an entry that is expected takes.
  static constexpr size_t kExpectedBytes = 32;

  /// All outlive the verifier; `section` is the file's section of `index`.
  IndexVerifier(const IndexRecord& index, IndexSection* section, uint32_t row_count,
                Findings* findings);

  /// What its findings concern.
  void set_topic(const FindingTopic& topic) { topic_ = topic; }
  Status AddRow(uint32_t ordinal, std::string_view row_key, std::span<const Cell> cells);
  Status Finish();

  /// The rows [low, high) of each group whose entries are not those listed, ascending; none where
  /// the section could not be read to its end.
  const std::vector<OrdinalRange>& differing() const { return differing_; }
  /// Keeps the entries of a row of one of those groups, in order.
  void Expect(uint32_t ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Entries kept so far.
  size_t expected() const { return expected_.size(); }
  /// Says that a function of the program may be why entries differ, if the index calls one.
  void BlameCalls();
  /// Compares the entries of the rows given to Expect with the section.
  Status CompareExpected();

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
  Status CompareListed(IndexPart part);
  void CompareValue(IndexPart part, std::string_view key);
  Status CheckForward(IndexPart part, PartTotals* totals);
  Status CheckValue(IndexPart part, IndexValueCursor* cursor, const PartTotals& before);
  void SubtractListed(IndexPart part, const Hash128& key);
  Status SubtractRecords();
  void CompareRecords();
  Status CheckBackward(IndexPart part, const PartTotals& forward);
  void FindDiffering();
  uint32_t GroupOf(uint32_t ordinal) const { return ordinal / group_rows_; }
  std::string Describe(IndexPart part, std::string_view key) const;
  void Add(std::string_view what);

  const IndexRecord& index_;
  IndexSection* section_;
  uint32_t row_count_;
  uint32_t group_rows_;
  Findings& findings_;
  FindingTopic topic_{"index", FindingEffect::kDerived};
  RowIndexFacts facts_;
  /// By group of rows: the sum of what its rows imply, less what the section lists.
  std::vector<Hash128> sums_;
  bool is_walked_ = true;                            ///< The section was read to its end.
  const std::vector<IncludedColumnRecord> columns_;  ///< That records have; none: there are none.
  std::vector<Hash128> record_sums_;                 ///< As sums_, of records.
  std::unique_ptr<IndexRecords::Cursor> records_;    ///< nullptr: the section has none.
  std::string record_;
  std::vector<OrdinalRange> differing_;
  std::vector<Expected> expected_;  ///< By ordinal.
  uint32_t expected_end_ = 0;       ///< Rows from here on were not given to Expect.
  std::vector<uint32_t> ordinals_;
  IndexDigest current_, older_;
};

}  // namespace tandem::format
