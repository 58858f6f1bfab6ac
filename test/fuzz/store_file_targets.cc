// Store files: a target for the blocks of each decoder. The input says how places of these kinds of
// a small sample are changed; then what reads store files reads this one. Behind right checksums it
// may hold anything, but an answer comes, in bounded memory and time. With the old checksums every
// change is found, and what salvage still gives is what was there.
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "format/damaged_file.h"
#include "format/family_survey.h"
#include "format/far_value.h"
#include "format/hash.h"
#include "format/index_section.h"
#include "format/row_stream.h"
#include "format/store_file.h"
#include "format/verify_blocks.h"
#include "format/verify_rows.h"
#include "test/fuzz/mutator.h"
#include "test/fuzz/samples.h"
#include "test/fuzz/target.h"
#include "test/support/memory_file.h"
#include "test/support/sample_store_files.h"

namespace tandem::fuzz {
namespace {

using format::BlockKind;

// What an input has the file read by: two of its flags.
enum class Reading : uint8_t { kBlocks, kDeep, kRows, kIndexes };

Reading ReadingOf(std::string_view input) { return Reading(FlagsOf(input).flags / 2 % 4); }

// Of a part of an index: its entries in both directions.
void ReadPart(format::IndexSection* index, format::IndexPart part, uint32_t row_count) {
  std::vector<uint32_t> ordinals;
  if (index->AppendOrdinals(part, {}, &ordinals).ok()) {
    for (const uint32_t ordinal : ordinals) Expect(ordinal < row_count, "a posting is an ordinal");
  }
  (void)index->CountEntries(part, {"a", "p"});
  const auto cursor = index->NewCursor(part);
  Status status = cursor->SeekBefore(std::nullopt);
  for (uint32_t steps = 0; status.ok() && cursor->valid() && steps < 1000; ++steps) {
    ordinals.clear();
    (void)cursor->AppendOrdinals(&ordinals);
    status = cursor->Previous();
  }
}

void ReadIndexes(format::StoreFile* file) {
  for (const format::IndexRecord& record : file->table().indexes) {
    const auto index = file->Index(record.id);
    if (!index || *index == nullptr) continue;
    ReadPart(*index, format::IndexPart::kCurrent, file->row_count());
    ReadPart(*index, format::IndexPart::kOlder, file->row_count());
  }
}

void ReadRows(format::StoreFile* file) {
  format::RowStream rows(file, 0, file->row_count());
  std::vector<format::Cell> cells;
  uint32_t count = 0;
  while (rows.Next().ok() && rows.valid()) {
    cells.clear();
    (void)test::ReadCells(&rows, &cells);
    Expect(++count <= file->row_count(), "a stream has no more rows than its file");
  }
  for (const std::string_view key : {"a", "k0007", "zz"}) {
    (void)file->LowerBound(key);
    (void)file->FindByHash(key, 7);
    (void)file->MayContain(7);
  }
}

// Whether something is wrong with the file.
bool FindDamage(format::StoreFile* file, bool rows) {
  VerifyReport report;
  format::Findings findings("file", &report);
  const Status status = rows ? format::VerifyRows(file, /*deep=*/true, &findings)
                             : format::VerifyBlocks(*file, &findings);
  return findings.count() > 0 || !status.ok();
}

void RunChanged(const SampleChoice& samples, std::string_view input) {
  const std::optional<ChangedSample> changed = Change(samples, input);
  if (!changed) return;
  auto file =
      format::StoreFile::Open(std::make_unique<test::MemoryFile>(changed->bytes), {}, nullptr);
  if (!file) return;
  switch (ReadingOf(input)) {
    case Reading::kBlocks:
      Expect(FindDamage(file->get(), /*rows=*/false) || !changed->is_damage,
             "a change that checksums do not know is found");
      return;
    case Reading::kDeep:
      (void)FindDamage(file->get(), /*rows=*/true);
      return;
    case Reading::kRows:
      return ReadRows(file->get());
    case Reading::kIndexes:
      return ReadIndexes(file->get());
  }
}

template <BlockKind... kKinds>
void RunSmall(std::string_view input) {
  static const SampleChoice kSamples(test::SmallStoreFiles(), {kKinds...});
  RunChanged(kSamples, input);
}

void RunWideRow(std::string_view input) {
  static const SampleChoice kSamples({test::SmallWideRow()},
                                     {BlockKind::kWideHead, BlockKind::kChunk});
  RunChanged(kSamples, input);
}

void RunFarValue(std::string_view input) {
  static const SampleChoice kSamples({test::SmallFarValue()},
                                     {BlockKind::kValue, BlockKind::kRows});
  RunChanged(kSamples, input);
}

// Of the two thousand rows of the second file only the index is read.
void RunPostings(std::string_view input) {
  static const SampleChoice kSamples({test::RoaringPostings(), test::BlockedPostings()},
                                     {BlockKind::kPostings, BlockKind::kIndexLeaf});
  std::string changed(input);
  constexpr int kIndexes = 2 * static_cast<int>(Reading::kIndexes);
  if (input.size() > 1 && input[1] % 2 != 0) changed[0] = static_cast<char>(input[0] | kIndexes);
  RunChanged(kSamples, changed);
}

// The cells of each row of each family that salvage finds, as a hash.
using FoundRows = std::map<std::pair<uint8_t, std::string>, format::Hash128>;

format::Hash128 HashOf(std::span<const format::Cell> cells) {
  format::StreamingHash128 hash;
  std::string value;
  for (const format::Cell& cell : cells) {
    const uint64_t numbers[] = {static_cast<uint64_t>(cell.kind), cell.sequence.value,
                                static_cast<uint64_t>(cell.timestamp), cell.qualifier.size()};
    hash.Add({reinterpret_cast<const char*>(numbers), sizeof(numbers)});
    hash.Add(cell.qualifier);
    value.assign(cell.is_far() ? "" : cell.value);
    if (cell.is_far()) Expect(format::ReadFarValue(cell, &value).ok(), "a good row is read");
    hash.Add(value);
  }
  return hash.Finish();
}

FoundRows Salvage(const std::string& bytes, const format::KnownFile& known) {
  FoundRows found;
  const auto file = format::DamagedFile::Open(std::make_unique<test::MemoryFile>(bytes), known);
  if (!file) return found;
  const auto families = format::SurveyFamilies(**file);
  if (!families) return found;
  for (const format::FamilySurvey& survey : *families) {
    format::GoodRows rows(**file, survey);
    std::vector<format::Cell> cells;
    while (rows.Next().ok() && rows.valid()) {
      cells.clear();
      if (rows.is_wide() || !rows.Cells(&cells).ok()) continue;
      found[{survey.family.value, rows.key()}] = HashOf(cells);
    }
  }
  return found;
}

// Every place of a file may be changed. A flag says whether the catalog knows the file.
void RunSalvage(std::string_view input) {
  using enum BlockKind;
  constexpr uint8_t kIsKnown = 2;
  static const SampleChoice kSamples(
      test::SmallStoreFiles(),
      {test::kNoBlock, kRows, kBlockIndex, kBlockIndexTop, kDictionary, kKeyHashes, kBitmap,
       kFilter, kSchema, kStatistics, kDigests, kSectionTable});
  static const std::vector<FoundRows> kSound = [] {
    std::vector<FoundRows> sound;
    for (const test::DamageableFile& sample : kSamples.files()) {
      sound.push_back(Salvage(sample.bytes(), {}));
      Expect(!sound.back().empty(), "salvage finds the rows of a sound file");
    }
    return sound;
  }();
  const std::optional<ChangedSample> changed = Change(kSamples, input);
  if (!changed) return;
  format::KnownFile known;
  if ((FlagsOf(input).flags & kIsKnown) != 0) known.id = test::kSampleId;
  const FoundRows found = Salvage(changed->bytes, known);
  if (!changed->is_damage) return;
  const FoundRows& sound = kSound[changed->sample];
  for (const auto& [row, cells] : found) {
    const auto before = sound.find(row);
    Expect(before != sound.end() && before->second == cells, "salvage gives what was written");
  }
}

}  // namespace

std::span<const Target> StoreFileTargets() {
  using enum BlockKind;
  constexpr Shape kEdits = Shape::kEdits;
  static const Target kTargets[] = {
      {"rows", RunSmall<kRows, kDictionary>, EditSeeds, kEdits},
      {"wide_rows", RunWideRow, EditSeeds, kEdits},
      {"far_values", RunFarValue, EditSeeds, kEdits},
      {"block_index", RunSmall<kBlockIndex, kBlockIndexTop>, EditSeeds, kEdits},
      {"bitmaps", RunSmall<kBitmap, kKeyHashes, kFilter>, EditSeeds, kEdits},
      {"index_leaves", RunSmall<kIndexLeaf, kIndexDirectory>, EditSeeds, kEdits},
      {"postings", RunPostings, EditSeeds, kEdits},
      {"file_facts", RunSmall<kSchema, kStatistics, kDigests, kSectionTable, test::kNoBlock>,
       EditSeeds, kEdits},
      {"salvage", RunSalvage, EditSeeds, kEdits}};
  return kTargets;
}

}  // namespace tandem::fuzz
