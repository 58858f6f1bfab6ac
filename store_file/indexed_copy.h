// A copy of a store file with the indexes that its table has now, for an index that was made after
// the file was written, or that was unusable then (format/registry/registered.h).
//
// All sections up to the first that goes are copied block by block as they are stored, at the same
// offsets, with checksums for the new file. Nothing is compressed, and only the blocks of families
// with a column to index are decompressed, each once, while they are copied. The sections of new
// indexes follow; statistics, digests, schema, section tables and footer are written for the copy.
// Rows and ordinals are the same, so that postings, bitmaps and parts of the file mean the same.
#pragma once

#include <cstdint>
#include <functional>

#include "base/file_system.h"
#include "format/schema.h"
#include "format/types.h"
#include "store_file/end_writer.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

struct IndexedCopySpec {
  FileNumber number = {};
  FileId id = {};
  const TableRecord* table = nullptr;     ///< As it is now.
  uint64_t entry_bytes_max = UINT64_MAX;  ///< The memory that the entries of new indexes may take.
  /// Called now and then with the bytes read since the last call; an error ends the copy.
  std::function<Status(uint64_t bytes)> passed = {};
};

/// Whether a copy of the file would get a section of the table's index that it lacks: the file was
/// written before the index was made, or while a function that it calls was not registered.
bool NeedsCopyFor(const StoreFile& file, const IndexRecord& index);

/// False: the file has a section that this code does not know, or one of an index that goes before
/// one that stays; or a new index has columns of several families, included ones among them.
bool CanCopyWithIndexes(const StoreFile& from, const TableRecord& table);

/// Writes the copy to `to`, which is empty, and syncs it. Memory: the entries of the new indexes, a
/// window of each file. Requires: CanCopyWithIndexes. Errors: kOverBudget (entry_bytes_max),
/// kCorruption of what is read, kIoError, kNoSpace; those of `passed`.
Result<StoreFileSummary> CopyWithIndexes(StoreFile* from, base::File* to,
                                         const IndexedCopySpec& spec);

}  // namespace tandem::format
