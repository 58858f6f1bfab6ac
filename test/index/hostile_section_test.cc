// Index sections whose content was changed and whose checksums are correct: every call answers or
// reports corruption; ordinals stay below the row count; nothing else happens (run it under
// sanitizers).
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>

#include "format/block/sequential_reader.h"
#include "format/coding.h"
#include "index/key.h"
#include "test/index/section_file.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::SectionFile;
using test::TestRandom;
using test::TextIndex;

struct RawBlock {
  BlockKind kind{};
  uint16_t flags = 0;
  uint32_t count = 0;
  uint32_t first = 0;
  std::string raw;
};
struct RawSection {
  SectionEntry entry;
  std::vector<RawBlock> blocks;
};
using RawFile = std::vector<RawSection>;

BlockKind KindOf(SectionKind kind) {
  static const std::map<SectionKind, BlockKind> kKinds = {
      {SectionKind::kIndexLeaves, BlockKind::kIndexLeaf},
      {SectionKind::kIndexPostings, BlockKind::kPostings},
      {SectionKind::kIndexDirectory, BlockKind::kIndexDirectory},
      {SectionKind::kIndexPresent, BlockKind::kBitmap},
      {SectionKind::kIndexTouched, BlockKind::kBitmap},
      {SectionKind::kDigests, BlockKind::kDigests}};
  return kKinds.at(kind);
}

RawFile TakeApart(const SectionFile& file) {
  RawFile raw;
  for (const SectionEntry& entry : file.sections) {
    RawSection section{entry, {}};
    SequentialReader reader(*file.blocks, entry);
    while (!reader.done()) {
      const auto block = reader.Next(KindOf(entry.kind));
      BOOST_REQUIRE(block.has_value());
      const Block& b = **block;
      section.blocks.push_back({b.kind, b.flags, b.count, b.first, std::string(b.raw())});
    }
    raw.push_back(std::move(section));
  }
  return raw;
}

// Points the directory at where the leaves are now.
void PatchDirectory(const std::vector<BlockHandle>& leaves, RawSection* directory) {
  std::string& bytes = directory->blocks.front().raw;
  for (size_t i = 0; i < leaves.size(); ++i) {
    StoreAt(&bytes, 24 + 8 * i, leaves[i].offset);
    StoreAt(&bytes, 24 + 16 * leaves.size() + 4 * i, leaves[i].stored_bytes);
  }
}

BlockContent ContentOf(const RawBlock& block) {
  BlockContent content;
  content.kind = block.kind;
  content.flags = block.flags;
  content.count = block.count;
  content.first = block.first;
  content.raw = block.raw;
  return content;
}

// Writes the blocks without compression. `change(i, section)` is called with each section just
// before it is written, the directories with their new handles.
template <typename Change>
void PutTogether(RawFile raw, Change change, SectionFile* file) {
  test::MemoryFile memory;
  SectionWriter out(&memory, test::kTestFileId, 64);
  std::vector<BlockHandle> leaves;
  for (size_t i = 0; i < raw.size(); ++i) {
    RawSection& section = raw[i];
    const bool has_leaves = section.entry.kind == SectionKind::kIndexLeaves;
    if (has_leaves) leaves.clear();
    if (section.entry.kind == SectionKind::kIndexDirectory) PatchDirectory(leaves, &section);
    change(i, &section);
    BOOST_REQUIRE(out.Begin(section.entry.kind, section.entry.owner, section.entry.flags).ok());
    for (const RawBlock& block : section.blocks) {
      const auto handle = out.Append(ContentOf(block));
      BOOST_REQUIRE(handle.has_value());
      if (has_leaves) leaves.push_back(*handle);
    }
    BOOST_REQUIRE(out.End(section.entry.count).ok());
  }
  BOOST_REQUIRE(out.Flush().ok());
  file->sections = out.sections();
  file->bytes = memory.bytes();
}

void ChangeBytes(TestRandom* random, std::string* bytes) {
  if (random->OneIn(12)) bytes->resize(random->Below(bytes->size() + 1));
  if (random->OneIn(20)) bytes->append(random->Below(20), static_cast<char>(random->Next()));
  for (uint64_t n = 1 + random->Below(3); n > 0 && !bytes->empty(); --n) {
    // The front has the sizes, so half of the changes go there.
    const size_t span = random->OneIn(2) ? bytes->size() : std::min<size_t>(bytes->size(), 64);
    char& byte = (*bytes)[random->Below(span)];
    byte = static_cast<char>(random->OneIn(2) ? random->Next() : byte ^ (1 << random->Below(8)));
  }
}

void ChangeSection(TestRandom* random, RawSection* section) {
  if (random->OneIn(10)) section->entry.count += random->Below(3) - 1;
  if (random->OneIn(20)) section->entry.flags ^= uint32_t{1} << random->Below(4);
  if (section->blocks.empty()) return;
  RawBlock& block = section->blocks[random->Below(section->blocks.size())];
  switch (random->Below(8)) {
    case 0:
      block.count = static_cast<uint32_t>(random->OneIn(2) ? random->Next() : block.count + 1);
      break;
    case 1:
      block.first += 1;
      break;
    case 2:
      block.flags ^= static_cast<uint16_t>(1 << random->Below(16));
      break;
    default:
      ChangeBytes(random, &block.raw);
  }
}

void CheckStatus(const Status& status) {
  BOOST_REQUIRE_MESSAGE(status.ok() || status.code() == StatusCode::kCorruption, status.ToString());
}

void CheckOrdinals(const std::vector<uint32_t>& ordinals, uint32_t row_count) {
  const bool below = std::all_of(ordinals.begin(), ordinals.end(),
                                 [=](uint32_t ordinal) { return ordinal < row_count; });
  BOOST_REQUIRE(below);
}

void UseCursor(TestRandom* random, IndexValueCursor* cursor, uint32_t row_count) {
  std::vector<uint32_t> ordinals;
  Status status = random->OneIn(2) ? cursor->Seek(random->Text(4, "\2abcpv"))
                                   : cursor->SeekBefore(std::nullopt);
  const bool forward = random->OneIn(2);
  while (status.ok() && cursor->valid()) {
    ordinals.clear();
    const Status read = cursor->AppendOrdinals(&ordinals);
    CheckStatus(read);
    if (read.ok()) CheckOrdinals(ordinals, row_count);
    BOOST_REQUIRE(cursor->key().size() < 100'000);
    (void)cursor->entries_before();
    (void)cursor->OrdinalAhead(3);
    status = forward ? cursor->Next() : cursor->Previous();
  }
  CheckStatus(status);
}

void UseSection(TestRandom* random, IndexSection* section, uint32_t row_count) {
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    for (int i = 0; i < 4; ++i) {
      KeyRange range{random->Text(4, "\2abcpv"), random->Text(4, "\2abcpv")};
      if (random->OneIn(3)) range = {"", std::nullopt};
      CheckStatus(section->CountEntries(part, range).status());
      std::vector<uint32_t> ordinals;
      const Status status = section->AppendOrdinals(part, range, &ordinals);
      CheckStatus(status);
      if (status.ok()) CheckOrdinals(ordinals, row_count);
    }
    UseCursor(random, section->NewCursor(part).get(), row_count);
    UseCursor(random, section->NewUncachedCursor(part).get(), row_count);
  }
  CheckStatus(section->Present().status());
  CheckStatus(section->Touched().status());
}

// Merges the section with itself, which is what a compaction would do with it.
void MergeSection(IndexSection* section, uint32_t row_count) {
  std::vector<uint32_t> even(row_count), odd(row_count);
  for (uint32_t i = 0; i < row_count; ++i) {
    even[i] = i % 3 == 0 ? kNotCopied : 2 * i;
    odd[i] = 2 * i + 1;
  }
  IndexSectionWriter writer(TextIndex());
  writer.AddSection(section, even);
  writer.AddSection(section, odd);
  SectionFile merged;
  CheckStatus(test::WriteSection(&writer, 2 * row_count, &merged));
}

// A section with values of every kind of list in both parts.
void BuildSection(uint32_t row_count, SectionFile* file) {
  IndexSectionWriter writer(TextIndex());
  for (uint32_t i = 0; i < row_count; ++i) {
    const std::string unique = "value-of-row-" + std::to_string(i * 7919);
    const std::string some = "s" + std::to_string(i % (row_count / 100));
    const std::string few = "p" + std::to_string(i % (row_count / 5));
    std::vector<Cell> cells;
    for (const std::string_view value : {std::string_view(unique), std::string_view(some),
                                         std::string_view("b"), std::string_view(few)}) {
      if (i % 3 == 1 && value == "b") continue;
      const int64_t timestamp = 9 - static_cast<int64_t>((cells.size() + i) % 4);
      cells.push_back(
          {CellKind::kPut, FamilyId(0), "c", timestamp, SequenceNumber(cells.size() + 1), value});
    }
    std::sort(cells.begin(), cells.end(), CellLess);
    writer.AddRow(Ordinal(i), "row", cells);
  }
  BOOST_REQUIRE(test::WriteSection(&writer, row_count, file).ok());
}

BOOST_AUTO_TEST_SUITE(HostileSectionSuite)

BOOST_AUTO_TEST_CASE(UnchangedContentIsReadAsBefore) {
  constexpr uint32_t kRows = 4000;
  SectionFile file, again;
  BuildSection(kRows, &file);
  PutTogether(
      TakeApart(file), [](size_t, RawSection*) {}, &again);
  BOOST_REQUIRE(test::OpenSection(kRows, file.summary.index, &again).ok());
  for (const IndexPart part : {IndexPart::kCurrent, IndexPart::kOlder}) {
    std::vector<uint32_t> expected, found;
    BOOST_REQUIRE(file.section->AppendOrdinals(part, {"", std::nullopt}, &expected).ok());
    BOOST_REQUIRE(again.section->AppendOrdinals(part, {"", std::nullopt}, &found).ok());
    BOOST_TEST((expected == found));
    BOOST_TEST(!found.empty());
  }
}

BOOST_AUTO_TEST_CASE(ChangedContentIsAnsweredOrRefused) {
  TestRandom random("ChangedContentIsAnsweredOrRefused");
  constexpr uint32_t kRows = 400;
  SectionFile file;
  BuildSection(kRows, &file);
  const RawFile raw = TakeApart(file);
  int opened = 0;
  for (int i = 0; i < 3000; ++i) {
    SectionFile changed;
    const size_t at = random.Below(raw.size());
    PutTogether(
        raw,
        [&](size_t section, RawSection* content) {
          if (section == at) ChangeSection(&random, content);
        },
        &changed);
    const Status status = test::OpenSection(kRows, file.summary.index, &changed);
    CheckStatus(status);
    if (!status.ok() || changed.section == nullptr) continue;
    ++opened;
    UseSection(&random, changed.section.get(), kRows);
    if (i % 4 == 0) MergeSection(changed.section.get(), kRows);
  }
  BOOST_TEST(opened > 1000);
}

BOOST_AUTO_TEST_CASE(SectionTablesThatLieAreRefused) {
  TestRandom random("SectionTablesThatLieAreRefused");
  constexpr uint32_t kRows = 400;
  SectionFile file;
  BuildSection(kRows, &file);
  for (int i = 0; i < 1000; ++i) {
    SectionFile changed;
    changed.bytes = file.bytes;
    changed.sections = file.sections;
    SectionEntry& entry = changed.sections[random.Below(changed.sections.size())];
    const uint64_t delta = random.OneIn(2) ? random.Next() : 8 * (1 + random.Below(20));
    switch (random.Below(4)) {
      case 0:
        entry.offset += delta;
        break;
      case 1:
        entry.size_bytes = random.OneIn(2) ? entry.size_bytes + delta : entry.size_bytes / 2;
        break;
      case 2:
        entry.count += delta;
        break;
      default:
        entry.kind = changed.sections[random.Below(changed.sections.size())].kind;
    }
    const Status status = test::OpenSection(kRows, file.summary.index, &changed);
    CheckStatus(status);
    if (status.ok() && changed.section != nullptr) {
      UseSection(&random, changed.section.get(), kRows);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
