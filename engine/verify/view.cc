// The shape of the regions, then each file once, then the reads.
#include "engine/verify/view.h"

#include <set>
#include <string>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/verify/blocks.h"
#include "engine/verify/findings.h"
#include "engine/verify/reads.h"
#include "engine/verify/rows.h"
#include "format/corruption.h"

namespace tandem::engine {
namespace {

using format::Findings;
using format::Mismatch;

void VerifyTiling(const TableView& view, Findings* findings) {
  if (view.regions.empty()) return findings->Add("it has no region");
  std::string_view end;
  for (const auto& region : view.regions) {
    if (region->start_key != end || (region != view.regions.front() && end.empty())) {
      findings->Add("region " + std::to_string(region->id.value) + " starts at " +
                    base::Quote(region->start_key) + ", the one before ends at " +
                    base::Quote(end));
    }
    end = region->end_key;
  }
  if (!end.empty()) findings->Add("no region holds the keys from " + base::Quote(end) + " on");
}

/// Checks that the rows of a slice can be in its region.
void VerifyBounds(const RegionVersion& region, const FileSlice& slice, Findings* findings) {
  const format::StoreFile& file = slice.file->store();
  if (slice.low >= slice.high || slice.high > file.row_count()) {
    findings->Add("rows " + std::to_string(slice.low) + " to " + std::to_string(slice.high) +
                  " of a file of " + std::to_string(file.row_count()));
  }
  const bool whole = slice.low == 0 && slice.high == file.row_count();
  const format::FileStatistics& statistics = file.statistics();
  if (whole && (statistics.min_key < region.start_key ||
                (!region.end_key.empty() && statistics.max_key >= region.end_key))) {
    findings->Add("keys " + base::Quote(statistics.min_key) + " to " +
                  base::Quote(statistics.max_key) + " pass the bounds of region " +
                  std::to_string(region.id.value));
  }
}

/// Sources are ordered by sequence, and files of one run do not overlap in keys.
void VerifyOrder(const FileSlice& before, const FileSlice& slice, Findings* findings) {
  const format::FileStatistics& older = before.file->store().statistics();
  const format::FileStatistics& newer = slice.file->store().statistics();
  if (before.run == slice.run) {
    if (older.max_key >= newer.min_key && newer.max_key >= older.min_key) {
      findings->Add("overlaps the file before it, of the same run, in keys");
    }
  } else if (older.max_sequence >= newer.min_sequence) {
    findings->Add(Mismatch("its first sequence, above that of the file before",
                           older.max_sequence.value + 1, newer.min_sequence.value));
  }
}

Status VerifyStoreFile(format::StoreFile* file, bool deep, Findings* findings) {
  ++findings->report()->files;
  findings->report()->bytes += file->size_bytes();
  RETURN_IF_ERROR(format::VerifyBlocks(*file, findings));
  return format::VerifyRows(file, deep, findings);
}

Status VerifyRegion(const RegionVersion& region, bool deep, std::set<format::FileNumber>* verified,
                    VerifyReport* report) {
  const FileSlice* before = nullptr;
  for (const FileSlice& slice : region.files) {
    format::StoreFile& file = slice.file->store();
    Findings findings(file.blocks().file().name(), report);
    findings.set_topic({"order", FindingEffect::kAccess});
    VerifyBounds(region, slice, &findings);
    if (before != nullptr) VerifyOrder(*before, slice, &findings);
    before = &slice;
    if (verified->insert(file.number()).second) {
      RETURN_IF_ERROR(VerifyStoreFile(&file, deep, &findings));
    }
  }
  return {};
}

}  // namespace

Status VerifyView(const ReadContext& context, const TableView& view, bool deep,
                  VerifyReport* report) {
  {
    Findings findings("table " + base::Quote(view.table->name), report);
    findings.set_topic({"catalog", FindingEffect::kAccess});
    VerifyTiling(view, &findings);
  }
  std::set<format::FileNumber> verified;
  for (const auto& region : view.regions) {
    RETURN_IF_ERROR(VerifyRegion(*region, deep, &verified, report));
  }
  return deep ? VerifyReads(context, view, report) : Status();
}

}  // namespace tandem::engine
