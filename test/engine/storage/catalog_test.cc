// The catalog: edits come back as they were encoded and apply whole or not at all.
#define BOOST_TEST_DYN_LINK
#include "engine/storage/catalog.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "format/fields.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::SampleFile;
using test::SampleId;
using test::SampleRegion;
using test::SampleTable;
using test::SampleTableEdit;

std::string Encoded(const CatalogEdit& edit) {
  std::string bytes;
  EncodeEdit(edit, &bytes);
  return bytes;
}

std::string Encoded(const Catalog& catalog) { return Encoded(FullEdit(catalog)); }

// Table 1 with regions 1 ["", "m") and 2 ["m", ""), which share file 10; segment 11.
Catalog SampleCatalog() {
  CatalogEdit edit = SampleTableEdit();
  edit.add_files.push_back(SampleFile(10));
  edit.put_regions = {SampleRegion(1, 1, "", "m"), SampleRegion(2, 1, "m", "")};
  edit.put_regions[0].files.push_back({FileNumber(10), 0, 0, 60});
  edit.put_regions[1].files.push_back({FileNumber(10), 0, 60, 100});
  edit.put_regions[1].flushed_through = SequenceNumber(500);
  edit.add_segments.push_back({FileNumber(11), SampleId(3)});
  Catalog catalog;
  BOOST_TEST_REQUIRE(ApplyEdit(edit, &catalog).ToString() == "OK");
  return catalog;
}

// The message of what an edit of the sample catalog comes to; the catalog must not change.
std::string Refusal(const std::function<void(CatalogEdit*)>& fill) {
  Catalog catalog = SampleCatalog();
  const std::string before = Encoded(catalog);
  CatalogEdit edit;
  fill(&edit);
  const Status status = ApplyEdit(edit, &catalog);
  BOOST_TEST((status.code() == StatusCode::kCorruption));
  BOOST_TEST(Encoded(catalog) == before);
  return std::string(status.message());
}

BOOST_AUTO_TEST_SUITE(CatalogSuite)

BOOST_AUTO_TEST_CASE(TheFullEditRebuildsTheCatalog) {
  const Catalog catalog = SampleCatalog();
  const auto decoded = DecodeEdit(Encoded(catalog));
  BOOST_REQUIRE(decoded.has_value());
  Catalog again;
  BOOST_TEST(ApplyEdit(*decoded, &again).ToString() == "OK");
  BOOST_TEST(Encoded(again) == Encoded(catalog));
  const FileRecord& file = again.files.at(FileNumber(10));
  BOOST_TEST((file.hash == Hash128{7, 8}));
  BOOST_TEST(file.min_timestamp == -40);
  BOOST_TEST(file.indexes.at(0).older_entries == 10u);
  BOOST_TEST(again.regions.at(RegionId(2)).flushed_through.value == 500u);
  BOOST_TEST(again.regions.at(RegionId(2)).files.at(0).ordinal_low == 60u);
}

BOOST_AUTO_TEST_CASE(TheBytesAreTheGoldenOnes) {
  CatalogEdit edit;
  edit.counters.emplace();
  edit.counters->last_timestamp = -1;
  edit.remove_tables.push_back(TableId(2));
  edit.remove_files.push_back(FileNumber(300));
  edit.add_segments.push_back({FileNumber(4), SampleId(1)});
  BOOST_TEST(Hex(Encoded(edit)) ==
             "01 12 01 01 01 03 01 01 05 01 01 07 01 01 09 01 00 0B 01 00 "  // counters
             "05 01 02 0D 02 AC 02 "                                         // table, file
             "0F 15 01 01 04 03 10 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10");
}

// As every region was before the field was known.
BOOST_AUTO_TEST_CASE(ABorderThatWasAskedForHasNoField) {
  format::RegionRecord region = SampleRegion(1, 1, "m", "");
  const std::string asked = EncodeRegion(region);
  BOOST_TEST(Hex(asked) == "01 01 01 03 01 01 05 01 6D 07 00 09 01 00");
  region.start_by_size = true;
  const std::string by_size = EncodeRegion(region);
  BOOST_TEST(Hex(by_size) == Hex(asked) + " 0C 01 01");
  BOOST_TEST(!DecodeRegion(asked)->start_by_size);
  BOOST_TEST(DecodeRegion(by_size)->start_by_size);
}

// A snapshot of the sample's table, and an edit that adds it.
CatalogEdit SampleSnapshotEdit(const Catalog& catalog) {
  SnapshotRecord snapshot;
  snapshot.name = "s";
  snapshot.sequence = SequenceNumber(catalog.counters.last_sequence);
  snapshot.now_micros = 7;
  for (const auto& [id, table] : catalog.tables) snapshot.tables.push_back(table);
  for (const auto& [id, region] : catalog.regions) snapshot.regions.push_back(region);
  CatalogEdit edit;
  edit.add_snapshots.push_back(snapshot);
  return edit;
}

CatalogEdit TableRemoval() {
  CatalogEdit edit;
  edit.remove_tables.push_back(TableId(1));
  edit.remove_regions = {RegionId(1), RegionId(2)};
  return edit;
}

BOOST_AUTO_TEST_CASE(ASnapshotHasTheGoldenBytes) {
  SnapshotRecord snapshot;
  snapshot.name = "a";
  snapshot.sequence = SequenceNumber(5);
  snapshot.now_micros = 1;
  snapshot.created_micros = 2;
  BOOST_TEST(Hex(EncodeSnapshot(snapshot)) == "01 01 61 03 01 05 05 01 02 07 01 04");
  CatalogEdit edit;
  edit.add_snapshots.push_back(snapshot);
  edit.remove_snapshots.emplace_back("b");
  BOOST_TEST(Hex(Encoded(edit)) == "13 0C 01 01 61 03 01 05 05 01 02 07 01 04 15 01 62");
}

SequenceRecord SampleSequence(uint64_t next) {
  return {.options = {.name = "a", .first = 1, .last = 9}, .next = next};
}

BOOST_AUTO_TEST_CASE(ASequenceHasTheGoldenBytes) {
  BOOST_TEST(Hex(EncodeSequence(SampleSequence(4))) == "01 01 61 03 01 01 05 01 09 07 01 04");
  CatalogEdit edit;
  edit.put_sequences.push_back(SampleSequence(4));
  edit.remove_sequences.emplace_back("b");
  BOOST_TEST(Hex(Encoded(edit)) == "17 0C 01 01 61 03 01 01 05 01 09 07 01 04 19 01 62");
  for (const SequenceRecord& wrong :
       {SampleSequence(0), SampleSequence(11),
        SequenceRecord{.options = {.name = "a", .first = 3, .last = 2}, .next = 3},
        SequenceRecord{.options = {.name = ""}, .next = 1}}) {
    BOOST_TEST((DecodeSequence(EncodeSequence(wrong)).status().code() == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(ASequenceNeverGoesBack) {
  Catalog catalog = SampleCatalog();
  const uint64_t memory_before = catalog.memory_bytes;
  CatalogEdit put;
  put.put_sequences.push_back(SampleSequence(4));
  BOOST_TEST(ApplyEdit(put, &catalog).ToString() == "OK");
  put.put_sequences = {SampleSequence(3)};
  BOOST_TEST(ApplyEdit(put, &catalog).code() == StatusCode::kCorruption);
  put.put_sequences = {SampleSequence(10)};
  BOOST_TEST(ApplyEdit(put, &catalog).ToString() == "OK");
  Catalog again;
  BOOST_TEST(ApplyEdit(*DecodeEdit(Encoded(catalog)), &again).ToString() == "OK");
  BOOST_TEST(again.sequences.at("a").next == 10u);

  CatalogEdit removal;
  removal.remove_sequences.emplace_back("a");
  BOOST_TEST(ApplyEdit(removal, &catalog).ToString() == "OK");
  BOOST_TEST(catalog.memory_bytes == memory_before);
  BOOST_TEST(ApplyEdit(removal, &catalog).code() == StatusCode::kCorruption);
  put.put_sequences = {SampleSequence(1)};
  BOOST_TEST(ApplyEdit(put, &catalog).ToString() == "OK");  // Another one of that name.
}

BOOST_AUTO_TEST_CASE(ASnapshotKeepsFilesOfADroppedTable) {
  Catalog catalog = SampleCatalog();
  const uint64_t memory_before = catalog.memory_bytes;
  BOOST_TEST(ApplyEdit(SampleSnapshotEdit(catalog), &catalog).ToString() == "OK");
  BOOST_TEST(catalog.snapshot_files.at(FileNumber(10)) == 2u);
  Catalog again;
  BOOST_TEST(ApplyEdit(*DecodeEdit(Encoded(catalog)), &again).ToString() == "OK");
  BOOST_TEST(Encoded(again) == Encoded(catalog));

  CatalogEdit removal = TableRemoval();
  removal.remove_files.push_back(FileNumber(10));
  BOOST_TEST(ApplyEdit(removal, &catalog).code() == StatusCode::kCorruption);
  BOOST_TEST(ApplyEdit(TableRemoval(), &catalog).ToString() == "OK");
  BOOST_TEST(catalog.files.contains(FileNumber(10)));
  BOOST_TEST(CheckCatalog(catalog).ToString() == "OK");

  CatalogEdit drop;
  drop.remove_snapshots.emplace_back("s");
  BOOST_TEST(ApplyEdit(drop, &catalog).code() == StatusCode::kCorruption);  // The file stays.
  drop.remove_files.push_back(FileNumber(10));
  BOOST_TEST(ApplyEdit(drop, &catalog).ToString() == "OK");
  BOOST_TEST(catalog.files.empty());
  BOOST_TEST(catalog.snapshot_files.empty());
  BOOST_TEST(catalog.memory_bytes < memory_before);
}

BOOST_AUTO_TEST_CASE(SnapshotsThatDoNotFitAreNamed) {
  const auto refusal = [](const std::function<void(SnapshotRecord*)>& spoil) {
    return Refusal([&](CatalogEdit* edit) {
      *edit = SampleSnapshotEdit(SampleCatalog());
      spoil(&edit->add_snapshots.front());
    });
  };
  BOOST_TEST(refusal([](SnapshotRecord* s) { s->regions.pop_back(); }).find("gap") !=
             std::string::npos);
  BOOST_TEST(refusal([](SnapshotRecord* s) { s->tables.clear(); }).find("does not exist") !=
             std::string::npos);
  BOOST_TEST(refusal([](SnapshotRecord* s) { ++s->sequence.value; }).find("never assigned") !=
             std::string::npos);
  BOOST_TEST(refusal([](SnapshotRecord* s) {
               s->regions[0].files[0].file = FileNumber(9);
             }).find("file 9") != std::string::npos);
  BOOST_TEST(refusal([](SnapshotRecord* s) {
               s->regions[1].files[0].ordinal_high = 101;
             }).find("does not have") != std::string::npos);
  BOOST_TEST(Refusal([](CatalogEdit* edit) {
               edit->remove_snapshots.emplace_back("none");
             }).find("does not exist") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ASplitIsOneEdit) {
  Catalog catalog = SampleCatalog();
  CatalogEdit edit;
  edit.put_regions = {SampleRegion(3, 1, "m", "q"), SampleRegion(4, 1, "q", "")};
  edit.remove_regions.push_back(RegionId(2));
  BOOST_TEST(ApplyEdit(edit, &catalog).ToString() == "OK");
  BOOST_TEST(catalog.regions.size() == 3u);
}

BOOST_AUTO_TEST_CASE(ATableGoesWithItsRegionsAndFiles) {
  Catalog catalog = SampleCatalog();
  CatalogEdit edit;
  edit.remove_tables.push_back(TableId(1));
  edit.remove_regions = {RegionId(1), RegionId(2)};
  edit.remove_files.push_back(FileNumber(10));
  BOOST_TEST(ApplyEdit(edit, &catalog).ToString() == "OK");
  BOOST_TEST(catalog.files.empty());
}

// A merge removes its inputs: it cannot take a file away from another region that reads it too.
BOOST_AUTO_TEST_CASE(AFileThatTwoRegionsShareStaysUntilNeitherRefersToIt) {
  const auto merge_of = [](uint64_t region, CatalogEdit* edit) {
    edit->put_regions.push_back(region == 1 ? SampleRegion(1, 1, "", "m")
                                            : SampleRegion(2, 1, "m", ""));
    edit->add_files.push_back(SampleFile(12));
    edit->put_regions[0].files.push_back({FileNumber(12), 0, 0, 60});
    edit->remove_files.push_back(FileNumber(10));
  };
  BOOST_TEST(Refusal([&](CatalogEdit* edit) { merge_of(1, edit); }) ==
             "catalog: region 2: refers to file 10, which its table does not have");
  BOOST_TEST(Refusal([&](CatalogEdit* edit) { merge_of(2, edit); }) ==
             "catalog: region 1: refers to file 10, which its table does not have");
}

BOOST_AUTO_TEST_CASE(WhatDoesNotFitIsNamed) {
  using E = CatalogEdit*;
  BOOST_TEST(Refusal([](E e) { e->add_files.push_back(SampleFile(10)); }) ==
             "catalog: file 10: exists already");
  BOOST_TEST(Refusal([](E e) { e->add_files.push_back(SampleFile(100)); }) ==
             "catalog: file 100: its number was never given out");
  BOOST_TEST(Refusal([](E e) { e->add_files.push_back(SampleFile(12, 9)); }) ==
             "catalog: file 12: its table does not exist");
  BOOST_TEST(Refusal([](E e) { e->remove_files.push_back(FileNumber(10)); }) ==
             "catalog: region 1: refers to file 10, which its table does not have");
  BOOST_TEST(Refusal([](E e) { e->remove_files.push_back(FileNumber(12)); }) ==
             "catalog: file 12: does not exist");
  BOOST_TEST(Refusal([](E e) { e->remove_tables.push_back(TableId(1)); }) ==
             "catalog: file 10: its table does not exist");
  BOOST_TEST(Refusal([](E e) { e->remove_regions.push_back(RegionId(5)); }) ==
             "catalog: region 5: does not exist");
  BOOST_TEST(Refusal([](E e) { e->remove_segments.push_back(FileNumber(5)); }) ==
             "catalog: segment 5: does not exist");
  BOOST_TEST(Refusal([](E e) {
               e->add_segments.push_back({FileNumber(11), {}});
             }) == "catalog: segment 11: does not follow the last one");
  BOOST_TEST(Refusal([](E e) { e->counters.emplace(); }) == "catalog: a counter shrinks");
  BOOST_TEST(Refusal([](E e) { e->put_tables.push_back(SampleTable(2)); }) ==
             "catalog: table 2: has no region");
}

BOOST_AUTO_TEST_CASE(RegionsThatDoNotTileAreNamed) {
  using E = CatalogEdit*;
  const auto with_regions = [](std::vector<RegionRecord> regions) {
    return [regions](E e) { e->put_regions = regions; };
  };
  const std::string tiles = ": overlaps its neighbour or leaves a gap";
  BOOST_TEST(Refusal(with_regions({SampleRegion(1, 1, "", "l")})) == "catalog: region 1" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(1, 1, "", "n")})) == "catalog: region 1" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(1, 1, "a", "m")})) == "catalog: region 1" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(2, 1, "m", "z")})) == "catalog: region 2" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(3, 1, "m", "m")})) == "catalog: region 2" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(3, 1, "", "")})) == "catalog: region 1" + tiles);
  BOOST_TEST(Refusal(with_regions({SampleRegion(1, 7, "", "m")})) ==
             "catalog: region 1: its table does not exist");
}

BOOST_AUTO_TEST_CASE(OrdinalsBeyondAFileAreNamed) {
  for (const FileReference& reference :
       {FileReference{FileNumber(10), 0, 0, 101}, FileReference{FileNumber(10), 0, 61, 60}}) {
    BOOST_TEST(Refusal([&](CatalogEdit* e) {
                 e->put_regions = {SampleRegion(1, 1, "", "m")};
                 e->put_regions[0].files.push_back(reference);
               }) == "catalog: region 1: refers to rows that file 10 does not have");
  }
}

BOOST_AUTO_TEST_CASE(SegmentsGoOldestFirst) {
  Catalog catalog = SampleCatalog();
  CatalogEdit add;
  add.add_segments = {{FileNumber(12), SampleId(4)}, {FileNumber(13), SampleId(5)}};
  BOOST_TEST(ApplyEdit(add, &catalog).ToString() == "OK");
  CatalogEdit hole;
  hole.remove_segments.push_back(FileNumber(12));
  BOOST_TEST(ApplyEdit(hole, &catalog).message() ==
             "catalog: segment 11: is older than one that is removed");
  CatalogEdit oldest;
  oldest.remove_segments = {FileNumber(12), FileNumber(11)};
  BOOST_TEST(ApplyEdit(oldest, &catalog).ToString() == "OK");
  BOOST_TEST(catalog.segments.size() == 1u);
}

BOOST_AUTO_TEST_CASE(MalformedEditsAreRefused) {
  std::string odd = Encoded(SampleCatalog());
  AppendField(&odd, 99, "");
  BOOST_TEST((DecodeEdit(odd).status().code() == StatusCode::kUnsupported));
  const auto code_of = [](uint64_t tag, std::string_view value) {
    std::string bytes;
    AppendField(&bytes, tag, value);
    return DecodeEdit(bytes).status().code();
  };
  BOOST_TEST((code_of(100, "later") == StatusCode::kOk));
  BOOST_TEST((code_of(13, "") == StatusCode::kCorruption));
  BOOST_TEST((code_of(13, "\x01\x01") == StatusCode::kCorruption));
  BOOST_TEST((code_of(5, "\xff\xff\xff\xff\x1f") == StatusCode::kCorruption));  // Above 2^32.
  BOOST_TEST((code_of(1, "") == StatusCode::kCorruption));
  FileRecord upside_down = SampleFile(10);
  upside_down.min_key = "zz";
  CatalogEdit edit;
  edit.add_files.push_back(upside_down);
  BOOST_TEST((DecodeEdit(Encoded(edit)).status().code() == StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(DamagedEditsNeverBreakTheCatalog) {
  Catalog sample = SampleCatalog();
  BOOST_TEST(ApplyEdit(SampleSnapshotEdit(sample), &sample).ToString() == "OK");
  const std::string bytes = Encoded(sample);
  const auto random = base::NewSeededRandom(6);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes.substr(0, bytes.size() - random->Next64() % 2);
    for (uint64_t n = random->Next64() % 4; n > 0; --n) {
      damaged[random->Next64() % damaged.size()] = static_cast<char>(random->Next64());
    }
    const auto edit = DecodeEdit(damaged);
    Catalog catalog;
    if (edit && ApplyEdit(*edit, &catalog).ok())
      BOOST_TEST(CheckCatalog(catalog).ToString() == "OK");
  }
}

// An edit of any kind, which fits now and then.
class RandomEdits {
 public:
  explicit RandomEdits(uint64_t seed) : random_(base::NewSeededRandom(seed)) {}

  CatalogEdit Next(const Catalog& catalog) {
    CatalogEdit edit;
    if (Below(2) == 0) AddFlush(catalog, &edit);
    for (uint64_t n = Below(3); n > 0; --n) AddAny(&edit);
    if (Below(8) == 0) AddSnapshot(catalog, &edit);
    if (Below(12) == 0) edit.remove_snapshots.push_back(AnyName());
    return edit;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }
  TableId AnyTable() { return TableId(static_cast<uint32_t>(1 + Below(3))); }
  FileNumber AnyFile() { return FileNumber(10 + Below(8)); }
  std::string AnyName() { return Below(2) == 0 ? "s" : "z"; }
  std::string AnyKey() { return std::string("m").substr(0, Below(2)); }

  // A region as it is, with another list of files.
  void AddFlush(const Catalog& catalog, CatalogEdit* edit) {
    const auto region = catalog.regions.find(RegionId(1 + Below(4)));
    if (region == catalog.regions.end()) return;
    edit->put_regions.push_back(region->second);
    edit->put_regions.back().files = AnyReferences();
  }

  // Of all tables, usually as they are.
  void AddSnapshot(const Catalog& catalog, CatalogEdit* edit) {
    edit->add_snapshots = SampleSnapshotEdit(catalog).add_snapshots;
    edit->add_snapshots[0].name = AnyName();
    std::vector<RegionRecord>& regions = edit->add_snapshots[0].regions;
    if (!regions.empty() && Below(8) == 0) regions.front().files = AnyReferences();
    if (!regions.empty() && Below(8) == 0) regions.pop_back();
  }

  std::vector<FileReference> AnyReferences() {
    std::vector<FileReference> files;
    for (uint64_t n = Below(3); n > 0; --n) files.push_back({AnyFile(), 0, 0, 100});
    return files;
  }

  void AddAny(CatalogEdit* edit) {
    switch (Below(9)) {
      case 0:
        return edit->put_tables.push_back(SampleTable(AnyTable().value));
      case 1:
        return edit->remove_tables.push_back(AnyTable());
      case 2:
      case 3:
        return edit->add_files.push_back(SampleFile(AnyFile().value, AnyTable().value));
      case 4:
      case 5: {
        const RegionId id(1 + Below(4));
        edit->put_regions.push_back(SampleRegion(id.value, AnyTable().value, AnyKey(), AnyKey()));
        edit->put_regions.back().files = AnyReferences();
        return;
      }
      case 6:
        return edit->remove_regions.push_back(RegionId(1 + Below(4)));
      case 7:
        return edit->remove_files.push_back(AnyFile());
      default:
        return edit->add_segments.push_back({AnyFile(), SampleId(3)});
    }
  }

  std::unique_ptr<base::RandomSource> random_;
};

BOOST_AUTO_TEST_CASE(AnEditIsRefusedIfTheWholeCatalogIsWrongAfterIt) {
  RandomEdits edits(8);
  Catalog catalog = SampleCatalog();
  catalog.counters.next_file_number = 17;
  catalog.counters.next_table_id = 3;
  catalog.counters.next_region_id = 4;
  int applied = 0, with_snapshots = 0;
  for (int i = 0; i < 200'000; ++i) {
    const CatalogEdit edit = edits.Next(catalog);
    Catalog expected = catalog;
    Status status = ApplyEditInPlace(edit, &expected);
    if (status.ok()) status = CheckCatalog(expected);
    const Status found = ApplyEdit(edit, &catalog);
    BOOST_REQUIRE_MESSAGE(found.ok() == status.ok(), found.ToString()
                                                         << " != " << status.ToString());
    if (!status.ok()) continue;
    applied += edit.put_regions.empty() ? 0 : 1;
    with_snapshots += edit.add_snapshots.empty() ? 0 : 1;
    with_snapshots += edit.remove_snapshots.empty() ? 0 : 1;
    BOOST_REQUIRE(Encoded(catalog) == Encoded(expected));
    if (applied % 100 == 0) {
      const CatalogCounters counters = catalog.counters;
      catalog = SampleCatalog();
      catalog.counters = counters;
    }
  }
  BOOST_TEST(applied > 1000);
  BOOST_TEST(with_snapshots > 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
