// Store files: a target for the blocks of each decoder. The input says how places of these kinds of
// a small sample are changed; then what reads store files reads this one. Behind right checksums it
// may hold anything, but an answer comes, in bounded memory and time. With the old checksums every
// change is found, and what readers and salvage still give is what was there.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "engine/salvage/damaged_file.h"
#include "engine/salvage/family_scan.h"
#include "engine/salvage/partial_row.h"
#include "engine/verify/blocks.h"
#include "engine/verify/rows.h"
#include "format/cell/cell_stream.h"
#include "format/cell/overflow_value.h"
#include "format/hash.h"
#include "index/section.h"
#include "store_file/scanner.h"
#include "store_file/store_file.h"
#include "test/fuzz/mutator.h"
#include "test/fuzz/samples.h"
#include "test/fuzz/target.h"
#include "test/support/sample_store_files.h"
#include "tools/simulation/memory_file.h"

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

// The rows that could be read to their end, by family (0: of all) and key: a hash of their cells.
using FoundRows = std::map<std::pair<uint8_t, std::string>, format::Hash128>;

// Adds cells to `*hash`; false: an overflow value among them cannot be read.
bool AddCells(std::span<const format::Cell> cells, format::StreamingHash128* hash) {
  std::string value;
  for (const format::Cell& cell : cells) {
    const uint64_t numbers[] = {static_cast<uint64_t>(cell.kind), cell.family.value,
                                cell.sequence.value, static_cast<uint64_t>(cell.timestamp),
                                cell.qualifier.size()};
    hash->Add({reinterpret_cast<const char*>(numbers), sizeof(numbers)});
    hash->Add(cell.qualifier);
    value.assign(cell.is_overflow() ? "" : cell.value);
    if (cell.is_overflow() && !format::ReadOverflowValue(cell, &value).ok()) return false;
    hash->Add(value);
  }
  return true;
}

// Whether every cell of the stream could be read.
bool AddStream(const Result<std::unique_ptr<format::CellStream>>& stream,
               format::StreamingHash128* hash) {
  if (!stream) return false;
  while (true) {
    const Result<bool> more = (*stream)->Next();
    if (!more || !*more) return more.has_value();
    if (!AddCells((*stream)->cells(), hash)) return false;
  }
}

FoundRows ReadRows(format::StoreFile* file) {
  FoundRows found;
  format::RowStream rows(file, 0, file->row_count());
  uint32_t count = 0;
  while (rows.Next().ok() && rows.valid()) {
    format::StreamingHash128 hash;
    if (AddStream(rows.Stream(), &hash)) found[{0, std::string(rows.key())}] = hash.Finish();
    Expect(++count <= file->row_count(), "a stream has no more rows than its file");
  }
  for (const std::string_view key : {"a", "k0007", "zz"}) {
    (void)file->LowerBound(key);
    (void)file->FindByHash(key, 7);
    (void)file->MayContain(7);
  }
  return found;
}

Result<std::shared_ptr<format::StoreFile>> Open(const std::string& bytes) {
  return format::StoreFile::Open(std::make_unique<test::MemoryFile>(bytes), {}, nullptr);
}

// Samples and their rows, as `read` finds them in the bytes of a file.
struct SoundSamples {
  SoundSamples(SampleChoice samples, FoundRows (*read)(const std::string& bytes))
      : choice(std::move(samples)) {
    for (const test::DamageableFile& sample : choice.files()) {
      rows.push_back(read(sample.bytes()));
      Expect(!rows.back().empty(), "a sound file has rows");
    }
  }
  // Ends the process when a row of the damaged sample is none of the sound one.
  void ExpectSound(const ChangedSample& changed, const FoundRows& found) const {
    if (!changed.is_damage) return;
    const FoundRows& sound = rows[changed.sample];
    for (const auto& [row, cells] : found) {
      const auto before = sound.find(row);
      Expect(before != sound.end() && before->second == cells, "rows are those that were written");
    }
  }

  SampleChoice choice;
  std::vector<FoundRows> rows;  ///< Of each sample.
};

FoundRows RowsOf(const std::string& bytes) {
  const auto file = Open(bytes);
  return file ? ReadRows(file->get()) : FoundRows();
}

// Whether something is wrong with the file.
bool FindDamage(format::StoreFile* file, bool rows) {
  VerifyReport report;
  format::Findings findings("file", &report);
  const Status status = rows ? format::VerifyRows(file, {.deep = true}, &findings)
                             : format::VerifyBlocks(*file, &findings);
  return findings.count() > 0 || !status.ok();
}

void RunChanged(const SoundSamples& samples, std::string_view input) {
  const std::optional<ChangedSample> changed = Change(samples.choice, input);
  if (!changed) return;
  const auto file = Open(changed->bytes);
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
      return samples.ExpectSound(*changed, ReadRows(file->get()));
    case Reading::kIndexes:
      return ReadIndexes(file->get());
  }
}

template <BlockKind... kKinds>
void RunSmall(std::string_view input) {
  static const SoundSamples kSamples({test::SmallStoreFiles(), {kKinds...}}, RowsOf);
  RunChanged(kSamples, input);
}

void RunWideRow(std::string_view input) {
  static const SoundSamples kSamples(
      {{test::SmallWideRow()}, {BlockKind::kWideHead, BlockKind::kChunk}}, RowsOf);
  RunChanged(kSamples, input);
}

void RunOverflowValue(std::string_view input) {
  static const SoundSamples kSamples(
      {{test::SmallOverflowValue()}, {BlockKind::kValue, BlockKind::kRows}}, RowsOf);
  RunChanged(kSamples, input);
}

// Of the two thousand rows of the second file only the index is read.
void RunPostings(std::string_view input) {
  static const SoundSamples kSamples({{test::RoaringPostings(), test::BlockedPostings()},
                                      {BlockKind::kPostings, BlockKind::kIndexLeaf}},
                                     RowsOf);
  std::string changed(input);
  constexpr int kIndexes = 2 * static_cast<int>(Reading::kIndexes);
  if (input.size() > 1 && input[1] % 2 != 0) changed[0] = static_cast<char>(input[0] | kIndexes);
  RunChanged(kSamples, changed);
}

FoundRows Salvage(const std::string& bytes, const format::KnownFile& known) {
  FoundRows found;
  const auto file = format::DamagedFile::Open(std::make_unique<test::MemoryFile>(bytes), known);
  if (!file) return found;
  const auto families = format::ScanFamilies(**file);
  if (!families) return found;
  for (const format::FamilyScan& scan : *families) {
    format::IntactRows rows(**file, scan);
    std::vector<format::Cell> cells;
    while (rows.Next().ok() && rows.valid()) {
      format::StreamingHash128 hash;
      if (rows.comes_in_pieces()) {
        const auto row = rows.Stream();
        Expect(AddStream(row, &hash), "a good row is read");
        // With fewer cells it is not the row that was written.
        const auto* partial = dynamic_cast<const format::PartialRow*>(row->get());
        if (partial != nullptr && !partial->lost().empty()) continue;
      } else {
        cells.clear();
        Expect(rows.Cells(&cells).ok() && AddCells(cells, &hash), "a good row is read");
      }
      found[{scan.family.value, rows.key()}] = hash.Finish();
    }
  }
  return found;
}

// Every place of a file may be changed. A flag says whether the catalog knows the file.
void RunSalvage(std::string_view input) {
  using enum BlockKind;
  constexpr uint8_t kIsKnown = 2;
  static const SoundSamples kSamples(
      {test::SmallStoreFiles(),
       {test::kNoBlock, kRows, kBlockIndex, kBlockIndexTop, kDictionary, kKeyHashes, kBitmap,
        kFilter, kSchema, kStatistics, kDigests, kSectionTable}},
      [](const std::string& bytes) { return Salvage(bytes, {}); });
  const std::optional<ChangedSample> changed = Change(kSamples.choice, input);
  if (!changed) return;
  format::KnownFile known;
  if ((FlagsOf(input).flags & kIsKnown) != 0) known.id = test::kSampleId;
  kSamples.ExpectSound(*changed, Salvage(changed->bytes, known));
}

}  // namespace

std::span<const Target> StoreFileTargets() {
  using enum BlockKind;
  constexpr Shape kEdits = Shape::kEdits;
  static const Target kTargets[] = {
      {"rows", RunSmall<kRows, kDictionary>, EditSeeds, kEdits},
      {"wide_rows", RunWideRow, EditSeeds, kEdits},
      {"overflow_values", RunOverflowValue, EditSeeds, kEdits},
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
