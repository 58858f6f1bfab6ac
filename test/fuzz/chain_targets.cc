// Files of frames, and ROOT: the log, the manifest, the record of a backup. An input is the file,
// whose checksums are made right or not.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "engine/backup/record.h"
#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "format/coding.h"
#include "format/file_header.h"
#include "format/frame.h"
#include "format/root.h"
#include "test/fuzz/sealing.h"
#include "test/fuzz/target.h"
#include "test/support/sample_records.h"
#include "tools/simulation/memory_file.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::fuzz {
namespace {

constexpr uint8_t kIsClosed = 2;     // Flag: ROOT binds the files by length and checksum.
constexpr uint8_t kTwoSegments = 4;  // Flag: of the log.
constexpr uint8_t kAsItIs = 4;       // Flag: the bytes of ROOT are not spread.

constexpr size_t kBytesMax = 2048;
constexpr uint64_t kBackup = 7;
constexpr uint64_t kSegments[] = {3, 4};

format::DatabaseId Database() { return test::SampleId(1); }
format::FileId IdOf(uint64_t file) { return test::SampleId(static_cast<uint8_t>(40 + file)); }

// A log segment: an operation in each of two frames.
std::string SampleSegment(uint64_t number, const wal::SegmentEnd& predecessor) {
  wal::SegmentSpec spec;
  spec.database = Database();
  spec.number = format::FileNumber(number);
  spec.id = IdOf(number);
  spec.predecessor = predecessor;
  std::string file;
  format::Frame frame;
  frame.previous = wal::AppendSegmentHeader(spec, &file);
  frame.count = 1;
  for (uint64_t i = 1; i <= 2; ++i) {
    wal::BatchEncoder batch;
    batch.BeginOperation(format::TableId(1), "row");
    format::Cell cell;
    cell.qualifier = "column";
    cell.value = "value";
    batch.AddCell(cell, std::nullopt);
    std::string payload;
    wal::AppendBatch(batch, &payload);
    frame.first_sequence = predecessor.last_sequence + i;
    frame.durable_mark = frame.first_sequence - 1;
    frame.payload = payload;
    frame.previous = format::EncodeFrame(spec.id, file.size(), frame, &file);
  }
  return file;
}

// The frames of `files` after their headers, and where each ends.
std::vector<wal::SegmentEnd> SealSegments(std::vector<std::string>* files) {
  std::vector<wal::SegmentEnd> ends;
  for (size_t i = 0; i < files->size(); ++i) {
    std::string& file = (*files)[i];
    const size_t predecessor_at = format::kFileHeaderBytes;
    if (i > 0 && file.size() >= wal::kSegmentHeaderBytes) {
      format::StoreAt(&file, predecessor_at, ends[i - 1].length_bytes);
      format::StoreAt(&file, predecessor_at + 8, ends[i - 1].last_checksum);
      format::StoreAt(&file, predecessor_at + 16, ends[i - 1].last_sequence);
    }
    SealSegmentHeader(&file);
    const SealedFrames frames = SealFrames(IdOf(kSegments[i]), wal::kSegmentHeaderBytes,
                                           NumberAt(file, predecessor_at + 24), &file);
    ends.push_back({file.size(), frames.last_checksum, frames.last_sequence});
  }
  return ends;
}

// Two bytes say where the first segment ends, if there are two.
void RunLog(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  if (flagged.bytes.size() < 2) return;
  const std::string_view bytes = flagged.bytes.substr(2);
  const size_t first_bytes = (flagged.flags & kTwoSegments) == 0
                                 ? bytes.size()
                                 : format::LoadAt<uint16_t>(flagged.bytes, 0) % (bytes.size() + 1);
  std::vector<std::string> files{std::string(bytes.substr(0, first_bytes))};
  if ((flagged.flags & kTwoSegments) != 0) files.emplace_back(bytes.substr(first_bytes));
  std::vector<wal::SegmentEnd> ends(files.size());
  if (flagged.is_sealed()) ends = SealSegments(&files);
  std::vector<wal::ReplaySegment> segments(files.size());
  std::map<format::FileNumber, std::shared_ptr<base::File>> opened;
  std::vector<format::BoundFile> bounds(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    segments[i].number = format::FileNumber(kSegments[i]);
    segments[i].id = IdOf(kSegments[i]);
    bounds[i] = {segments[i].number, segments[i].id, files[i].size(), ends[i].last_checksum};
    if ((flagged.flags & kIsClosed) != 0) segments[i].bound = &bounds[i];
    opened[segments[i].number] = std::make_shared<test::MemoryFile>(std::move(files[i]));
  }
  uint64_t operations = 0;
  const auto report = wal::Replay(
      segments, Database(), [&opened](format::FileNumber number) { return opened.at(number); },
      [&operations](const format::Frame& frame) {
        wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                               frame.timestamp);
        wal::Operation operation;
        while (group.Next(&operation)) ++operations;
        return group.status();
      });
  Expect(!report || report->operations >= operations || report->frames > 0,
         "operations stand in frames");
}

std::vector<std::string> LogSeeds() {
  const std::string first = SampleSegment(3, {});
  std::vector<std::string> both{first, SampleSegment(4, {})};
  (void)SealSegments(&both);
  std::string one(3, '\0'), two(3, '\0');
  two[0] = kTwoSegments;
  format::StoreAt(&two, 1, static_cast<uint16_t>(first.size()));
  return {one + first, two + both[0] + both[1]};
}

format::BoundFile ManifestBound(const std::string& file, uint64_t last_checksum) {
  return {format::FileNumber(1), IdOf(1), file.size(), last_checksum};
}

// Read as ROOT names it, closed and open, and by itself as salvage does.
void RunManifest(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  std::string bytes(flagged.bytes);
  constexpr size_t kHeaderBytes = format::kFileHeaderBytes;
  SealedFrames frames;
  if (flagged.is_sealed()) {
    SealHeader(&bytes);
    frames = SealFrames(IdOf(1), kHeaderBytes, NumberAt(bytes, kHeaderBytes - 8), &bytes);
  }
  format::RootFile root;
  root.database = Database();
  root.record.manifest = ManifestBound(bytes, frames.last_checksum);
  root.record.closed = (flagged.flags & kIsClosed) != 0;
  test::MemoryFile whole(bytes);
  (void)format::ReadManifest(&whole, root);
  (void)format::ReadManifestPrefix(&whole, &root.record.manifest, root.database);
  root.record.closed = false;
  const auto contents = format::ReadManifest(&whole, root);
  Expect(!contents || format::CheckCatalog(contents->catalog).ok(),
         "a manifest has a sound catalog");
}

std::vector<std::string> ManifestSeeds() {
  auto memory = std::make_unique<test::MemoryFile>();
  test::MemoryFile* file = memory.get();
  format::Catalog catalog;
  catalog.database = Database();
  const format::BoundFile identity = ManifestBound({}, 0);
  auto writer = format::ManifestWriter::Create(std::move(memory), identity, catalog, {});
  Expect(writer.has_value(), "an empty catalog makes a manifest");
  format::CatalogEdit edit = test::SampleTableEdit();
  edit.add_files.push_back(test::SampleFile(7));
  edit.put_regions[0].files.push_back({format::FileNumber(7), 1, 0, 100});
  edit.add_segments.push_back({format::FileNumber(9), test::SampleId(9)});
  Expect((*writer)->Append(edit, 1, {format::FileNumber(9), 160}).ok(), "an edit is appended");
  return {std::string(1, '\0') + file->bytes()};
}

void RunRoot(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  std::string bytes =
      (flagged.flags & kAsItIs) != 0 ? std::string(flagged.bytes) : SpreadRoot(flagged.bytes);
  if (flagged.is_sealed()) SealRoot(&bytes);
  test::MemoryFile file(std::move(bytes));
  const auto slots = format::ReadRootSlots(&file);
  auto root = format::ReadRoot(&file);
  if (!root) return;
  Expect(slots.has_value(), "a ROOT that can be read has slots");
  test::MemoryFile copy;
  Expect(format::CreateRoot(&copy, *root).ok(), "a ROOT that was read can be written");
  const auto again = format::ReadRoot(&copy);
  Expect(again && again->record.generation == root->record.generation &&
             again->record.segments.size() == root->record.segments.size(),
         "a ROOT that was written is read back");
}

std::vector<std::string> RootSeeds() {
  test::MemoryFile file;
  format::RootFile root;
  root.database = Database();
  root.record.generation = 1;
  root.record.closed = true;
  root.record.segments.push_back({format::FileNumber(2), IdOf(2), 160, 5});
  Expect(format::CreateRoot(&file, root).ok(), "a root can be written");
  return {std::string(1, '\0') + GatherRoot(file.bytes())};
}

void RunBackupRecord(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  std::string bytes(flagged.bytes);
  if (flagged.is_sealed()) {
    SealHeader(&bytes);
    constexpr size_t kHeaderBytes = format::kFileHeaderBytes;
    (void)SealFrames(IdOf(kBackup), kHeaderBytes, NumberAt(bytes, kHeaderBytes - 8), &bytes);
  }
  test::MemoryFile file(std::move(bytes));
  const auto record = format::ReadBackupRecord(&file, kBackup);
  if (!record) return;
  Expect(format::CheckCatalog(record->catalog).ok(), "a backup has a sound catalog");
  test::MemoryFile copy;
  Expect(format::WriteBackupRecord(&copy, IdOf(kBackup), *record).ok(), "a record can be written");
  const auto again = format::ReadBackupRecord(&copy, kBackup);
  Expect(again && again->segments.size() == record->segments.size(), "a record is read back");
}

std::vector<std::string> BackupRecordSeeds() {
  std::vector<std::string> seeds;
  format::BackupRecord record;
  record.number = kBackup;
  record.created_micros = 1'700'000'000'000'000;
  record.catalog.database = Database();
  for (const bool full : {false, true}) {
    if (full) {
      format::CatalogEdit edit = test::SampleTableEdit();
      edit.add_files.push_back(test::SampleFile(7));
      edit.put_regions[0].files.push_back({format::FileNumber(7), 1, 0, 100});
      edit.add_segments.push_back({format::FileNumber(9), test::SampleId(9)});
      Expect(format::ApplyEdit(edit, &record.catalog).ok(), "the edit fits");
      record.segments.push_back({{format::FileNumber(9), test::SampleId(9), 160, 5}, {1, 2}});
    }
    test::MemoryFile file;
    Expect(format::WriteBackupRecord(&file, IdOf(kBackup), record).ok(), "a record is written");
    seeds.push_back(std::string(1, '\0') + file.bytes());
  }
  return seeds;
}

}  // namespace

std::span<const Target> ChainTargets() {
  static const Target kTargets[] = {
      {"log", RunLog, LogSeeds, Shape::kSealed, kBytesMax},
      {"manifest", RunManifest, ManifestSeeds, Shape::kSealed, kBytesMax},
      {"root", RunRoot, RootSeeds, Shape::kSealed, kBytesMax},
      {"backup_record", RunBackupRecord, BackupRecordSeeds, Shape::kSealed, kBytesMax}};
  return kTargets;
}

}  // namespace tandem::fuzz
