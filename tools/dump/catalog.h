// The state of a database as a manifest or a backup records it, as records and as differences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "tandem/status.h"
#include "tools/dump/records.h"
#include "tools/tandem/file_probe.h"

namespace tandem::tools {

/// What a manifest says after its last good edit.
struct ManifestState {
  format::ManifestContents contents;
  uint64_t size_bytes = 0;  ///< Of the file.
  std::string damage;       ///< Why it ends before the end of the file; empty: it does not.
};
/// Errors: kCorruption (not one good edit), kUnsupported, kIoError.
Result<ManifestState> ReadManifestState(ProbedFile* probed);

/// How much of everything there is: one record.
void DumpSummary(const ManifestState& state, RecordWriter* writer);
/// Epoch and counters, tables, regions, files, segments, snapshots.
void DumpCatalog(const format::Catalog& catalog, RecordWriter* writer);
/// Named snapshots with their tables and regions; `edit` is the number of the edit, 0: none.
void DumpSequences(const std::vector<const format::SequenceRecord*>& sequences, uint64_t edit,
                   RecordWriter* writer);
void DumpSnapshots(const std::vector<const format::SnapshotRecord*>& snapshots, uint64_t edit,
                   RecordWriter* writer);
/// The files of a region, run by run, as text.
std::vector<std::string> ReferenceTexts(const format::RegionRecord& region);

/// What is in one of two catalogs only, or not the same in both: a record for each property.
void DumpDifferences(const format::Catalog& before, const format::Catalog& after,
                     RecordWriter* writer);

}  // namespace tandem::tools
