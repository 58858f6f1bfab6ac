// What the memstores of a cluster say of candidates of a file, before a block of the file is read.
// A memstore is a newer source; a reader sees its cells up to the reader's own sequence.
//
// Rows are matched by keyed hash, in batches, so that cache misses overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/source/candidates.h"
#include "engine/source/read_job.h"
#include "engine/source/sources.h"
#include "memstore/memstore.h"
#include "store_file/key_hashes_reader.h"

namespace tandem::engine {

/// The strongest of what the memstores say.
enum class MemstoreVerdict : uint8_t {
  kAbsent,      ///< None holds the row.
  kUntouched,   ///< They hold the row, but nothing that changes the index's column.
  kShared,      ///< They may hold the row.
  kSuperseded,  ///< They make the posting dead (rules 13 and 15).
};

/// Threads: one at a time. Lifetime: job, cluster and source outlive it.
class MemstoreVerdicts {
 public:
  static constexpr size_t kTogether = 64;

  /// `index`: see FileCandidates.
  MemstoreVerdicts(const ReadJob& job, const Cluster& cluster, const FileSource& source,
                   const format::IndexRecord* index);

  /// Puts the verdicts on the first candidates, at most kTogether, in `verdicts`; the others will
  /// be asked for next. Requires: as many verdicts as candidates to ask for. Errors: kCorruption,
  /// kIoError.
  Status Ask(std::span<const uint32_t> candidates, std::span<MemstoreVerdict> verdicts);

 private:
  void Ask(const Memstore& memstore, std::span<const uint64_t> hashes,
           std::span<MemstoreVerdict> verdicts) const;
  MemstoreVerdict VerdictOn(const MemRow* row) const;

  const Cluster& cluster_;
  const FileSource& source_;
  const format::SequenceNumber sequence_;
  std::optional<OlderPuts> puts_;  // Of the file; nullopt: none can be dead.
  std::optional<format::KeyHashesReader> hashes_;
};

}  // namespace tandem::engine
