// The shape of the regions, then each file once.
#include "engine/verify/view.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/region/slice_keys.h"
#include "engine/verify/blocks.h"
#include "engine/verify/findings.h"
#include "engine/verify/indexes.h"
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

std::string RowsText(uint32_t low, uint32_t high) {
  return "rows " + std::to_string(low) + " to " + std::to_string(high);
}

/// The keys of a slice; nullopt where it has no rows, or they cannot be read, which is a finding
/// elsewhere.
std::optional<SliceKeys> CheckedKeysOf(const FileSlice& slice, Findings* findings) {
  const format::StoreFile& file = slice.file->store();
  if (slice.low >= slice.high || slice.high > file.row_count()) {
    findings->Add(RowsText(slice.low, slice.high) + " of a file of " +
                  std::to_string(file.row_count()));
    return std::nullopt;
  }
  Result<SliceKeys> keys = KeysOf(slice);
  if (!keys.has_value()) return std::nullopt;
  return *std::move(keys);
}

/// The slice has the rows of its file that lie in the region, and no other.
void VerifyBounds(const RegionVersion& region, const FileSlice& slice, const SliceKeys& keys,
                  Findings* findings) {
  format::StoreFile& file = slice.file->store();
  if (!region.MayHold(keys.min) || !region.MayHold(keys.max)) {
    findings->Add("keys " + base::Quote(keys.min) + " to " + base::Quote(keys.max) +
                  " pass the bounds of region " + std::to_string(region.id.value));
    return;
  }
  if (slice.low == 0 && slice.high == file.row_count()) return;
  const Result<uint32_t> low = file.LowerBound(region.start_key);
  Result<uint32_t> high = file.row_count();
  if (!region.end_key.empty()) high = file.LowerBound(region.end_key);
  // Damage in the block index is a finding elsewhere.
  if (!low.has_value() || !high.has_value()) return;
  if (*low == slice.low && *high == slice.high) return;
  findings->Add(RowsText(slice.low, slice.high) + " in region " + std::to_string(region.id.value) +
                ", which " + RowsText(*low, *high) + " lie in");
}

/// Of two files that share keys in their region, all operations of the later one in the list are
/// newer; files of one run share none.
void VerifyOrder(const FileSlice& before, const FileSlice& slice, Findings* findings) {
  if (before.run == slice.run) {
    findings->Add("overlaps " + before.file->store().blocks().file().name() +
                  ", of the same run, in keys");
    return;
  }
  const format::FileStatistics& older = before.file->store().statistics();
  const format::FileStatistics& newer = slice.file->store().statistics();
  if (older.max_sequence < newer.min_sequence) return;
  findings->Add(
      Mismatch("its first sequence, above those of " + before.file->store().blocks().file().name(),
               older.max_sequence.value + 1, newer.min_sequence.value));
}

Status VerifyStoreFile(format::StoreFile* file, const VerifyRun& run, Findings* findings) {
  ++findings->report()->files;
  findings->report()->bytes += file->size_bytes();
  RETURN_IF_ERROR(format::VerifyBlocks(*file, findings));
  const format::RowChecks checks{.deep = run.deep, .functions = run.functions};
  return format::VerifyRows(file, checks, findings);
}

struct PlacedSlice {
  size_t place = 0;  ///< In the region's list.
  SliceKeys keys;
};

/// Compares each slice with those that share keys with it, by walking all in key order.
void VerifyOrderOf(const RegionVersion& region, std::vector<PlacedSlice> slices,
                   VerifyReport* report) {
  std::sort(slices.begin(), slices.end(),
            [](const PlacedSlice& a, const PlacedSlice& b) { return a.keys.min < b.keys.min; });
  std::vector<const PlacedSlice*> open;  // They begin before the current one and may reach it.
  for (const PlacedSlice& slice : slices) {
    std::erase_if(open, [&](const PlacedSlice* other) { return other->keys.max < slice.keys.min; });
    for (const PlacedSlice* other : open) {
      const auto [before, after] = std::minmax(other->place, slice.place);
      const FileSlice& newer = region.files[after];
      Findings findings(newer.file->store().blocks().file().name(), report);
      findings.set_topic({"order", FindingEffect::kAccess});
      VerifyOrder(region.files[before], newer, &findings);
    }
    open.push_back(&slice);
  }
}

Status VerifyRegion(const RegionVersion& region, VerifyRun* run) {
  VerifyReport* const report = run->report;
  std::vector<PlacedSlice> placed;
  for (size_t i = 0; i < region.files.size(); ++i) {
    const FileSlice& slice = region.files[i];
    format::StoreFile& file = slice.file->store();
    Findings findings(file.blocks().file().name(), report);
    findings.set_topic({"order", FindingEffect::kAccess});
    std::optional<SliceKeys> keys = CheckedKeysOf(slice, &findings);
    if (keys.has_value()) {
      VerifyBounds(region, slice, *keys, &findings);
      placed.push_back({i, *std::move(keys)});
    }
    if (run->verified.insert(file.number()).second) {
      RETURN_IF_ERROR(VerifyStoreFile(&file, *run, &findings));
    }
  }
  VerifyOrderOf(region, std::move(placed), report);
  return {};
}

}  // namespace

Status VerifyView(const TableView& view, VerifyRun* run) {
  {
    Findings findings("table " + base::Quote(view.table->name), run->report);
    findings.set_topic({"catalog", FindingEffect::kAccess});
    VerifyTiling(view, &findings);
  }
  for (const auto& region : view.regions) {
    RETURN_IF_ERROR(VerifyRegion(*region, run));
  }
  return {};
}

Status VerifyIndex(const ReadResources& resources, const TableView& view,
                   const format::IndexRecord& index, VerifyReport* report) {
  std::set<format::FileNumber> verified;
  for (const auto& region : view.regions) {
    for (const FileSlice& slice : region->files) {
      format::StoreFile& file = slice.file->store();
      if (!verified.insert(file.number()).second) continue;
      Findings findings(file.blocks().file().name(), report);
      ++report->files;
      report->bytes += file.size_bytes();
      RETURN_IF_ERROR(format::VerifyIndexes(
          &file, {.only = index.id, .functions = resources.functions}, &findings));
    }
  }
  return VerifyReadsBy(resources, view, index, report);
}

}  // namespace tandem::engine
