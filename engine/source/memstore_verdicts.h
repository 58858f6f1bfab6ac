// What the memstores of a cluster say of candidates of a file, before a block of the file is read.
// A memstore is a newer source; a reader sees its cells up to the reader's own sequence.
//
// Where the overlap of a memstore with the file is known, one bit answers for most rows
// (memstore_overlap.h). The others are matched by keyed hash, in batches, so that cache misses
// overlap.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/source/candidates.h"
#include "engine/source/memstore_overlap.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "memstore/memstore.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {

/// Rows of a file that a read through an index must look at, side by side: the i-th element of each
/// list is of the same row.
struct CandidateRows {
  /// A memstore may hold it, or the file must not decide it alone. Every other mark comes with it.
  static constexpr uint8_t kShared = 1;
  static constexpr uint8_t kUntouched = 2;   ///< No memstore changes the column of its posting.
  static constexpr uint8_t kInMemstore = 4;  ///< It is a candidate of a memstore.

  std::vector<uint32_t> ordinals;
  std::vector<uint8_t> marks;
  /// Where the cluster has a single memstore, perhaps its row, if the keys are equal.
  std::vector<const MemRow*> memstore_rows;

  size_t size() const { return ordinals.size(); }
  void Clear() { Resize(0); }
  void Resize(size_t size) {
    ordinals.resize(size);
    marks.resize(size);
    memstore_rows.resize(size);
  }
  /// Adds those of `others` from `begin` to `end`.
  void Append(const CandidateRows& others, size_t begin, size_t end) {
    const size_t before = size(), count = end - begin;
    Resize(before + count);
    std::copy_n(others.ordinals.data() + begin, count, ordinals.data() + before);
    std::copy_n(others.marks.data() + begin, count, marks.data() + before);
    std::copy_n(others.memstore_rows.data() + begin, count, memstore_rows.data() + before);
  }
  void RemoveFirst(size_t count) {
    const auto end = static_cast<ptrdiff_t>(count);
    ordinals.erase(ordinals.begin(), ordinals.begin() + end);
    marks.erase(marks.begin(), marks.begin() + end);
    memstore_rows.erase(memstore_rows.begin(), memstore_rows.begin() + end);
  }
  void Add(uint32_t ordinal, uint8_t mark, const MemRow* memstore_row = nullptr) {
    ordinals.push_back(ordinal);
    marks.push_back(mark);
    memstore_rows.push_back(memstore_row);
  }
};

/// Threads: one at a time. Lifetime: context, cluster and source outlive it.
class MemstoreVerdicts {
 public:
  static constexpr size_t kTogether = 64;

  /// `index`: see FileCandidates.
  MemstoreVerdicts(const ReadContext& context, const Cluster& cluster, const FileSource& source,
                   const format::IndexRecord* index);

  /// Puts the verdicts on the first candidates, at most kTogether, in `verdicts`; the others will
  /// be asked for next. Requires: as many verdicts as candidates to ask for. Errors: kCorruption,
  /// kIoError.
  Status Ask(std::span<const uint32_t> candidates, std::span<MemstoreVerdict> verdicts);
  /// Adds those of the first candidates to `*rows` that are not superseded, and returns how many
  /// candidates they are of; the next one has to be asked. Leaves their rows of memstores open.
  /// Requires: at least one candidate. Errors: as Ask.
  Result<size_t> AddByBits(std::span<const uint32_t> candidates, CandidateRows* rows);
  /// For each candidate a row of the memstore that has its key hash, or nullptr. Requires: there is
  /// one memstore; at most kTogether candidates, as many rows. Errors: as Ask.
  Status FindRows(std::span<const uint32_t> candidates, std::span<const MemRow*> rows);

  /// Leaves in `*candidates`, which ascend, those that no memstore touches, and appends those that
  /// are shared to `*shared`; the others are superseded. Errors: as Ask, and kCancelled.
  Status Sift(std::vector<uint32_t>* candidates, std::vector<uint32_t>* shared);

 private:
  Status Begin();
  struct AddedInto {
    uint32_t* ordinals;
    uint8_t* marks;
    size_t kept = 0;

    void Add(uint32_t ordinal, uint32_t is_shared, uint32_t is_untouched) {
      ordinals[kept] = ordinal;
      marks[kept++] = static_cast<uint8_t>(is_shared * CandidateRows::kShared |
                                           is_untouched * CandidateRows::kUntouched);
    }
  };
  size_t AddOfGroup(std::span<const uint32_t> candidates, AddedInto* into) const;
  struct SiftedInto {
    size_t* kept;
    std::vector<uint32_t>* shared;
  };
  bool SiftByBits(std::span<uint32_t> all, size_t* at, SiftedInto into) const;
  Status SiftByAsking(std::span<uint32_t> all, size_t begin, size_t count, SiftedInto into);
  Result<std::span<const uint64_t>> HashesOf(std::span<const uint32_t> candidates, size_t count);
  Status AskRows(const Memstore& memstore, std::span<const uint32_t> candidates,
                 std::span<MemstoreVerdict> verdicts);
  MemstoreVerdict VerdictOn(const MemRow* row) const;

  // What is known of a memstore beforehand; null: nothing.
  struct Known {
    std::shared_ptr<MemstoreOverlap> overlap;
    std::optional<MemstoreOverlap::Bits> bits;
    format::SequenceNumber seen_through;
  };

  const ReadContext& context_;
  const Cluster& cluster_;
  const FileSource& source_;
  const format::IndexRecord* const index_;
  const format::SequenceNumber sequence_;
  std::optional<OlderPuts> puts_;  // Of the file; nullopt: none can be dead.
  bool has_begun_ = false;
  std::vector<Known> known_;  // By memstore.
  std::optional<format::KeyHashesReader> hashes_;
  std::array<uint64_t, kTogether> sought_;
};

}  // namespace tandem::engine
