// What the memstores of a cluster say of a file's candidates, before a block of the file is read
// for them: which postings are dead, a memstore being a newer source that each reader sees as far
// as its sequence goes (rules 13 and 15), and which rows lie in a memstore too. Rows are matched by
// keyed hash.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/read_job.h"
#include "engine/sources.h"
#include "format/schema.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: what it is given outlives it.
class CandidateSieve {
 public:
  /// `index`: every candidate has a posting in it that led there; nullptr: that is not known, and
  /// no candidate is dead.
  CandidateSieve(ReadJob* job, const Cluster& cluster, const FileSource& source,
                 const format::IndexRecord* index);

  /// Whether every candidate passes, met by nothing.
  bool is_idle() const { return cluster_.memstores.empty(); }
  /// Appends to `*kept` those of `candidates` whose postings are not dead, and to `*met`, beside
  /// it, whether a memstore may hold the row. Errors: kCorruption, kIoError.
  Status Sift(std::span<const uint32_t> candidates, std::vector<uint32_t>* kept,
              std::vector<uint8_t>* met);

 private:
  /// What is known of the candidates at hand.
  enum class Fate : uint8_t { kAlone, kMet, kDead };

  void Ask(const Memstore& memstore, std::span<const uint64_t> hashes, std::span<Fate> fates) const;

  ReadJob* job_;
  const Cluster& cluster_;
  const FileSource& source_;
  std::optional<OlderPuts> puts_;     // Of the file, where they may be dead.
  std::span<const uint64_t> hashes_;  // Of the file's rows.
};

}  // namespace tandem::engine
