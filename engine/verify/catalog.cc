// A file that the catalog no longer names gives kNotFound, a missing one kCorruption. Files are
// read in pieces, so that memory stays small however large they are.
#include "engine/verify/catalog.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/passing.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/storage/catalog.h"
#include "engine/storage/files.h"
#include "engine/verify/findings.h"
#include "format/block/section_table.h"
#include "format/corruption.h"
#include "format/hash.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

using format::Findings;

constexpr size_t kPieceBytes = 1 << 20;

constexpr format::FindingTopic kRecord = {"catalog", FindingEffect::kAccess};

Status CheckBytes(const format::FileRecord& record, base::File* file, Findings* findings) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  findings->set_topic(kRecord);
  findings->Compare("size in bytes, by the catalog", record.size_bytes, size);
  format::StreamingHash128 hash;
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, size));
  for (uint64_t offset = 0; offset < size;) {
    ASSIGN_OR_RETURN(const size_t count, file->Read(offset, piece));
    if (count == 0) break;
    hash.Add({piece.data(), count});
    offset += count;
  }
  if (hash.Finish() == record.hash) return {};
  // The findings of its blocks say what is lost.
  findings->AddOn({kRecord.kind, FindingEffect::kNothing},
                  "hash of the whole file, by the catalog: expected " +
                      format::HashText(record.hash) + ", found " + format::HashText(hash.Finish()));
  return {};
}

void CheckStatistics(const format::FileRecord& record, const format::StoreFile& store,
                     Findings* findings) {
  const format::FileStatistics& statistics = store.statistics();
  format::FindingTopic topic = kRecord;
  const auto* section = format::FindSection(store.sections(), format::SectionKind::kStatistics);
  if (section != nullptr) topic.offset = section->offset;
  findings->set_topic(topic);
  const auto compare = [&](const char* what, uint64_t stated, uint64_t found) {
    findings->Compare(std::string(what) + ", by the catalog", stated, found);
  };
  compare("rows", record.rows, statistics.rows);
  compare("cells", record.cells, statistics.cells);
  compare("deletes", record.deletes, statistics.deletes);
  compare("smallest sequence", record.min_sequence.value, statistics.min_sequence.value);
  compare("largest sequence", record.max_sequence.value, statistics.max_sequence.value);
  if (record.min_key != statistics.min_key || record.max_key != statistics.max_key) {
    findings->Add("first and last key, by the catalog: expected " + base::Quote(record.min_key) +
                  " and " + base::Quote(record.max_key) + ", found " +
                  base::Quote(statistics.min_key) + " and " + base::Quote(statistics.max_key));
  }
}

// A reader at the last sequence number does not see what is above it, and a writer would assign
// those numbers again.
void CheckSequence(const format::CatalogCounters& counters, uint64_t newest, Findings* findings) {
  if (newest <= counters.last_sequence) return;
  findings->AddOn({"sequence", FindingEffect::kAccess},
                  format::Mismatch("largest sequence: at most the last one of the catalog",
                                   counters.last_sequence, newest));
}

}  // namespace

Status VerifyFilesOf(const TableView& view, Storage* storage, VerifyRun* run) {
  const format::Catalog catalog = storage->catalog();
  VerifyReport* const report = run->report;
  for (const auto& region : view.regions) {
    const auto of_catalog = catalog.regions.find(region->id);
    if (of_catalog != catalog.regions.end()) {
      Findings findings("region " + std::to_string(region->id.value), report);
      CheckSequence(catalog.counters, of_catalog->second.flushed_through.value, &findings);
    }
    for (const FileSlice& slice : region->files) {
      format::StoreFile& store = slice.file->store();
      const auto record = catalog.files.find(store.number());
      if (record == catalog.files.end() || !run->compared.insert(store.number()).second) {
        continue;
      }
      Findings findings(StoreFileName(store.number()), report);
      Result<std::unique_ptr<base::File>> file = storage->OpenFile(store.number());
      if (file.has_value()) {
        RETURN_IF_ERROR(CheckBytes(record->second, file->get(), &findings));
        CheckStatistics(record->second, store, &findings);
        const uint64_t newest =
            std::max(record->second.max_sequence.value, store.statistics().max_sequence.value);
        CheckSequence(catalog.counters, newest, &findings);
      } else if (base::MayPass(file.error())) {
        return file.error();
      } else if (file.error().code() != StatusCode::kNotFound) {
        RETURN_IF_ERROR(findings.AddError(file.error()));
      }
    }
  }
  return {};
}

}  // namespace tandem::engine
