// Finding out which rows a file shares with older ones, and which postings of theirs it makes dead
// (rules 12 and 13), in one walk over its rows. No data block of an older file is read.
//
// 1. The key hashes of each block of the newer file are checked against the older files' filters; a
//    block of which no older file can hold a row is skipped.
// 2. The keys of the others, from the record of the flush or from the newer file, lead to the one
//    block of an older file that may hold each, by galloping through its block index. Rows that
//    lead to one block form a group.
// 3. The key hashes of that block are scanned once and compared with those of the group. So no row
//    that both files hold is missed; two rows with the same hash can only set one bit too many.
// 4. For each match, what the newer row supersedes is looked up: a column's postings in the older
//    file die where the newer row is not older than the column's largest timestamp there.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/region/flushed_rows.h"
#include "engine/region/overlaps.h"
#include "engine/runtime/background.h"
#include "format/schema.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

struct OverlapRequest {
  const format::TableRecord& table;  ///< Its single-column indexes get dead bitmaps.
  format::StoreFile* newer = nullptr;
  const FlushedRows* record = nullptr;  ///< Of the rows of `newer`; null: they are read.
  std::span<format::StoreFile* const> older;
  const std::atomic<bool>* cancelled = nullptr;  ///< Polled once a block; may be null.
  /// Whose urgent tasks the walk runs, at its beginning and between blocks; may be null.
  BackgroundJobs* jobs = nullptr;
};

/// The pairs of `older`, in their order, without charges. Requires: every older file is older by
/// sequence for each row that both hold. Errors: kCorruption, kIoError, kCancelled.
Result<std::vector<PairOverlap>> FindOverlaps(const OverlapRequest& request);

/// An upper bound for the size of the pair's bitmaps, in bytes.
uint64_t OverlapBytesMax(const format::TableRecord& table, const format::StoreFile& older,
                         const format::StoreFile& newer);

}  // namespace tandem::engine
