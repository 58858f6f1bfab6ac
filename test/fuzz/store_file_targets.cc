// Store files: a target for the blocks of each decoder. The input says how blocks of these kinds
// are changed; then everything that reads store files reads this one. What it holds may be wrong,
// but an answer comes, in bounded memory and time.
#include <map>
#include <memory>
#include <utility>

#include "format/index_section.h"
#include "format/row_stream.h"
#include "format/store_file.h"
#include "format/store_file_writer.h"
#include "format/verify_blocks.h"
#include "format/verify_rows.h"
#include "test/fuzz/target.h"
#include "test/support/damaged_file.h"
#include "test/support/memory_file.h"
#include "test/support/sample_store_files.h"

namespace tandem::fuzz {
namespace {

using format::BlockKind;

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

void ReadRowsOf(format::StoreFile* file) {
  format::RowStream rows(file, 0, file->row_count());
  std::vector<format::Cell> cells;
  uint32_t count = 0;
  while (rows.Next().ok() && rows.valid()) {
    cells.clear();
    (void)test::ReadCells(&rows, &cells);
    Expect(++count <= file->row_count(), "a stream has no more rows than its file");
  }
}

void ReadEverything(std::string bytes) {
  auto file =
      format::StoreFile::Open(std::make_unique<test::MemoryFile>(std::move(bytes)), {}, nullptr);
  if (!file) return;
  VerifyReport report;
  {
    format::Findings findings("file", &report);
    (void)format::VerifyBlocks(**file, &findings);
    (void)format::VerifyRows(file->get(), /*deep=*/true, &findings);
  }
  (void)(*file)->VerifyBytes();
  ReadRowsOf(file->get());
  for (const std::string_view key : {"a", "k0007", "zz"}) {
    (void)(*file)->LowerBound(key);
    (void)(*file)->FindByHash(key, 7);
    (void)(*file)->MayContain(7);
  }
  for (const format::IndexRecord& record : (*file)->table().indexes) {
    const auto index = (*file)->Index(record.id);
    if (!index || *index == nullptr) continue;
    ReadPart(*index, format::IndexPart::kCurrent, (*file)->row_count());
    ReadPart(*index, format::IndexPart::kOlder, (*file)->row_count());
  }
}

// The first byte of the input chooses the sample.
void Run(const std::set<BlockKind>& kinds, std::string_view input) {
  static const std::vector<test::DamageableFile> kSamples = [] {
    std::vector<test::DamageableFile> samples;
    for (std::string& bytes : test::SampleStoreFiles())
      samples.emplace_back(std::move(bytes), test::kSampleId);
    return samples;
  }();
  if (input.empty()) return;
  const test::DamageableFile& sample = kSamples[static_cast<uint8_t>(input[0]) % kSamples.size()];
  ReadEverything(sample.Change(kinds, input.substr(1)));
}

template <BlockKind... kKinds>
void RunKinds(std::string_view input) {
  Run({kKinds...}, input);
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (char sample = 0; sample < 4; ++sample) {
    seeds.push_back(std::string(1, sample));
    seeds.push_back(std::string(1, sample) + std::string("\1\0\2\0\1\3\0\0", 8));
    seeds.push_back(std::string(1, sample) +
                    std::string("\0\0\10\0\3\0\1\0\2\0\60\0\0\377\0\0", 16));
  }
  return seeds;
}

}  // namespace

std::span<const Target> StoreFileTargets() {
  using enum BlockKind;
  static const Target kTargets[] = {{"rows", RunKinds<kRows, kDictionary>, Seeds},
                                    {"wide_rows", RunKinds<kWideHead, kChunk>, Seeds},
                                    {"far_values", RunKinds<kValue, kRows>, Seeds},
                                    {"block_index", RunKinds<kBlockIndex, kBlockIndexTop>, Seeds},
                                    {"bitmaps", RunKinds<kBitmap, kKeyHashes, kFilter>, Seeds},
                                    {"index_leaves", RunKinds<kIndexLeaf, kIndexDirectory>, Seeds},
                                    {"postings", RunKinds<kPostings, kIndexLeaf>, Seeds},
                                    {"schema", RunKinds<kSchema>, Seeds},
                                    {"statistics", RunKinds<kStatistics, kDigests>, Seeds},
                                    {"section_table", RunKinds<kSectionTable>, Seeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
