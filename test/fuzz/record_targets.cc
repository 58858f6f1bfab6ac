// Records that stand outside blocks: file header, table, catalog edits, manifest, log, ROOT. Where
// a checksum guards the bytes it is made right first, so that the decoder behind it is reached.
#include <algorithm>
#include <memory>
#include <utility>

#include "format/catalog.h"
#include "format/coding.h"
#include "format/file_header.h"
#include "format/footer.h"
#include "format/frame.h"
#include "format/hash.h"
#include "format/manifest.h"
#include "format/root.h"
#include "format/schema.h"
#include "test/fuzz/target.h"
#include "test/support/memory_file.h"
#include "test/support/sample_records.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::fuzz {
namespace {

const format::DatabaseId kDatabase = test::SampleId(1);
const format::FileId kFile = test::SampleId(40);

// Decoding what was encoded gives the same bytes again.
void RunTable(std::string_view input) {
  const auto table = format::DecodeTable(input);
  if (!table) return;
  std::string first, second;
  format::EncodeTable(*table, &first);
  const auto again = format::DecodeTable(first);
  Expect(again.has_value(), "an encoded table decodes");
  format::EncodeTable(*again, &second);
  Expect(first == second, "a decoded table encodes as before");
}

std::vector<std::string> TableSeeds() {
  std::string bytes;
  format::EncodeTable(test::SampleTable(), &bytes);
  return {bytes};
}

void RunEdit(std::string_view input) {
  const auto edit = format::DecodeEdit(input);
  if (!edit) return;
  std::string encoded;
  format::EncodeEdit(*edit, &encoded);
  Expect(format::DecodeEdit(encoded).has_value(), "an encoded edit decodes");
  format::Catalog catalog;
  catalog.database = kDatabase;
  const bool applied = format::ApplyEdit(*edit, &catalog).ok();
  Expect(!applied || format::CheckCatalog(catalog).ok(), "an edit leaves a sound catalog");
}

std::vector<std::string> EditSeeds() {
  format::CatalogEdit edit = test::SampleTableEdit();
  std::string plain, full;
  format::EncodeEdit(edit, &plain);
  edit.add_files.push_back(test::SampleFile(7));
  edit.put_regions[0].files.push_back({format::FileNumber(7), 1, 0, 100});
  edit.add_segments.push_back({format::FileNumber(9), test::SampleId(9)});
  format::EncodeEdit(edit, &full);
  return {plain, full};
}

// Header and footer of a file, each with its checksum made right.
void RunFileEnds(std::string_view input) {
  std::string header(input.substr(0, format::kFileHeaderBytes));
  if (header.size() == format::kFileHeaderBytes) {
    const size_t at = header.size() - sizeof(uint64_t);
    format::StoreAt(&header, at, format::Hash64(std::string_view(header).substr(0, at)));
    for (const auto kind : {format::FileKind::kRoot, format::FileKind::kManifest,
                            format::FileKind::kLog, format::FileKind::kStore}) {
      (void)format::DecodeFileHeader(header, kind, "input");
    }
  }
  std::string footer(input.substr(std::min(input.size(), format::kFileHeaderBytes)));
  footer.resize(format::kFooterBytes);
  const uint64_t size = 4096;
  for (const size_t copy : {size_t{0}, format::kFooterBytes / 2}) {
    const size_t bytes = format::kFooterBytes / 2 - sizeof(uint64_t);
    const uint64_t offset = size - format::kFooterBytes + copy;
    format::StoreAt(&footer, copy + bytes,
                    format::Hash64(std::string_view(footer).substr(copy, bytes),
                                   format::ChecksumSeed(kFile, offset)));
  }
  const auto decoded = format::DecodeFooter(footer, kFile, size, "input");
  Expect(!decoded || decoded->file_size == size, "a footer is of its file's size");
}

std::vector<std::string> FileEndSeeds() {
  format::FileHeader header;
  header.kind = format::FileKind::kStore;
  header.database = kDatabase;
  header.number = format::FileNumber(5);
  header.id = kFile;
  std::string bytes;
  format::AppendFileHeader(header, &bytes);
  format::Footer footer;
  footer.file_size = 4096;
  footer.table_offsets[0] = 640;
  footer.table_offsets[1] = 1280;
  footer.table_bytes = 464;
  footer.sections = 9;
  footer.number = header.number;
  format::AppendFooter(footer, kFile, &bytes);
  return {bytes};
}

// The payload of a group of operations.
void RunOperations(std::string_view input) {
  wal::GroupReader reader(input, format::SequenceNumber(5), -3);
  wal::Operation operation;
  uint32_t count = 0;
  while (reader.Next(&operation)) ++count;
  Expect(!reader.status().ok() || count == reader.sequences(), "every operation is counted");
}

std::vector<std::string> OperationSeeds() {
  wal::BatchEncoder batch;
  batch.BeginOperation(format::TableId(1), "row");
  format::Cell cell;
  cell.qualifier = "column";
  cell.value = "value";
  batch.AddCell(cell, std::nullopt);
  batch.AddCell(cell, -7);
  batch.BeginOperation(format::TableId(2), "other");
  cell = {};
  cell.kind = format::CellKind::kDeleteFamily;
  batch.AddCell(cell, 9);
  std::string payload;
  wal::AppendBatch(batch, &payload);
  wal::AppendBatch(batch, &payload);
  return {payload};
}

// Cuts the input into frames (a byte of length each), chains them behind `head` and appends them.
void AppendFrames(std::string_view input, uint64_t previous, std::string* file) {
  uint64_t sequence = 1;
  while (!input.empty()) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(input[0]) * 4, input.size() - 1);
    format::Frame frame;
    frame.previous = previous;
    frame.first_sequence = sequence;
    frame.count = 1;
    frame.payload = input.substr(1, length);
    previous = format::EncodeFrame(kFile, file->size(), frame, file);
    ++sequence;
    input.remove_prefix(1 + length);
  }
}

std::string SegmentHead(uint64_t* checksum) {
  wal::SegmentSpec spec;
  spec.database = kDatabase;
  spec.number = format::FileNumber(3);
  spec.id = kFile;
  std::string bytes;
  *checksum = wal::AppendSegmentHeader(spec, &bytes);
  return bytes;
}

void ReplayBytes(std::string bytes) {
  std::vector<wal::ReplaySegment> segments(1);
  segments[0].number = format::FileNumber(3);
  segments[0].id = kFile;
  segments[0].file = std::make_unique<test::MemoryFile>(std::move(bytes));
  (void)wal::Replay(std::move(segments), kDatabase, [](const format::Frame& frame) {
    RunOperations(frame.payload);
    return Status();
  });
}

// A segment as it is, and one whose frames are sound around any payload. The first byte chooses.
void RunLog(std::string_view input) {
  if (input.empty()) return;
  uint64_t checksum = 0;
  std::string bytes = SegmentHead(&checksum);
  if (input[0] % 2 == 0) {
    bytes.append(input.substr(1));
  } else {
    AppendFrames(input.substr(1), checksum, &bytes);
  }
  ReplayBytes(std::move(bytes));
}

std::vector<std::string> LogSeeds() {
  uint64_t checksum = 0;
  const std::string head = SegmentHead(&checksum);
  std::string file = head;
  AppendFrames("\4some payload", checksum, &file);
  std::string sound = "\1\x20" + OperationSeeds()[0];
  return {std::string(1, '\0') + file.substr(head.size()), sound};
}

// A manifest that is sound up to the edits, which are the input.
void RunManifest(std::string_view input) {
  auto memory = std::make_unique<test::MemoryFile>();
  test::MemoryFile* file = memory.get();
  format::Catalog catalog;
  catalog.database = kDatabase;
  format::BoundFile identity;
  identity.number = format::FileNumber(1);
  identity.id = kFile;
  auto writer = format::ManifestWriter::Create(std::move(memory), identity, catalog, {});
  Expect(writer.has_value(), "an empty catalog makes a manifest");
  format::RootFile root;
  root.database = kDatabase;
  root.record.manifest = (*writer)->end();
  std::string bytes = file->bytes();
  AppendFrames(input, (*writer)->end().last_checksum, &bytes);
  test::MemoryFile whole(std::move(bytes));
  (void)format::ReadManifest(&whole, root);
}

std::vector<std::string> ManifestSeeds() {
  std::vector<std::string> seeds;
  for (const std::string& edit : EditSeeds()) {
    seeds.push_back(std::string(1, static_cast<char>(edit.size() / 4 + 1)) + edit);
  }
  return seeds;
}

void RunRoot(std::string_view input) {
  test::MemoryFile file{std::string(input)};
  (void)format::ReadRoot(&file);
  (void)format::ReadRootSlots(&file);
}

std::vector<std::string> RootSeeds() {
  test::MemoryFile file;
  format::RootFile root;
  root.database = kDatabase;
  root.record.generation = 1;
  root.record.closed = true;
  root.record.segments.push_back({format::FileNumber(2), kFile, 160, 5});
  Expect(format::CreateRoot(&file, root).ok(), "a root can be written");
  return {file.bytes()};
}

}  // namespace

std::span<const Target> RecordTargets() {
  static const Target kTargets[] = {{"table", RunTable, TableSeeds},
                                    {"catalog_edit", RunEdit, EditSeeds},
                                    {"file_ends", RunFileEnds, FileEndSeeds},
                                    {"operations", RunOperations, OperationSeeds},
                                    {"log", RunLog, LogSeeds},
                                    {"manifest", RunManifest, ManifestSeeds},
                                    {"root", RunRoot, RootSeeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
