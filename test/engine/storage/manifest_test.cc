// Manifests: edits come back in order; a torn edit is forgotten, a damaged one is reported.
#define BOOST_TEST_DYN_LINK
#include "engine/storage/manifest.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "format/coding.h"
#include "format/file_header.h"
#include "format/frame.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

using test::MemoryFile;
using test::SampleFile;
using test::SampleId;
using test::SampleTableEdit;

// Bytes that outlive the writer, which owns its file.
class SharedBytes final : public test::ForwardingFile {
 public:
  explicit SharedBytes(std::shared_ptr<MemoryFile> file) : ForwardingFile(std::move(file)) {}
  Status Write(uint64_t offset, std::string_view data) override {
    if (fails) return Status::NoSpace("full");
    return ForwardingFile::Write(offset, data);
  }

  bool fails = false;
};

// A manifest of the sample table and three more edits, each a file: 10, 11, 12.
struct Fixture {
  const std::shared_ptr<MemoryFile> kept = std::make_shared<MemoryFile>();
  MemoryFile& file = *kept;
  SharedBytes* handle = nullptr;
  std::unique_ptr<ManifestWriter> writer;
  RootFile root;
  std::vector<uint64_t> ends;

  Fixture() {
    Catalog catalog;
    catalog.database = root.database = SampleId(1);
    BOOST_TEST_REQUIRE(ApplyEdit(SampleTableEdit(), &catalog).ToString() == "OK");
    BoundFile identity;
    identity.number = FileNumber(2);
    identity.id = SampleId(32);
    auto owned = std::make_unique<SharedBytes>(kept);
    handle = owned.get();
    auto created = ManifestWriter::Create(std::move(owned), identity, catalog, {});
    BOOST_TEST_REQUIRE(created.has_value());
    writer = std::move(*created);
    root.record.manifest = writer->end();
    ends.push_back(writer->end().length_bytes);
    for (uint64_t number = 10; number < 13; ++number) AddFile(number);
  }
  void AddFile(uint64_t number) {
    CatalogEdit edit;
    edit.add_files.push_back(SampleFile(number));
    BOOST_TEST(writer->Append(edit, 1, {FileNumber(3), number * 100}).ToString() == "OK");
    ends.push_back(writer->end().length_bytes);
  }
  void Close() {
    root.record.closed = true;
    root.record.manifest = writer->end();
  }
  // Adds a frame whose payload is made by hand.
  void AddRaw(uint64_t edit_number, std::string_view payload) {
    Frame frame;
    frame.previous = writer->end().last_checksum;
    frame.first_sequence = edit_number;
    frame.durable_mark = edit_number - 1;
    frame.count = 1;
    frame.payload = payload;
    EncodeFrame(SampleId(32), file.bytes().size(), frame, &file.bytes());
  }
};

BOOST_AUTO_TEST_SUITE(ManifestSuite)

BOOST_AUTO_TEST_CASE(EditsComeBackInOrder) {
  Fixture fixture;
  const auto contents = ReadManifest(&fixture.file, fixture.root);
  BOOST_TEST_REQUIRE(contents.status().ToString() == "OK");
  BOOST_TEST(contents->catalog.files.size() == 3u);
  BOOST_TEST(contents->catalog.tables.size() == 1u);
  BOOST_TEST((contents->catalog.database == SampleId(1)));
  BOOST_TEST(contents->log.segment.value == 3u);
  BOOST_TEST(contents->log.length_bytes == 1200u);
  BOOST_TEST(contents->last_edit == 4u);
  BOOST_TEST(contents->first_frame_end == fixture.ends[0]);
  BOOST_TEST(contents->end.length_bytes == fixture.writer->end().length_bytes);
  BOOST_TEST(contents->end.last_checksum == fixture.writer->end().last_checksum);
}

BOOST_AUTO_TEST_CASE(AManifestGoesOnWhereItEnded) {
  Fixture fixture;
  const auto before = ReadManifest(&fixture.file, fixture.root);
  fixture.writer = ManifestWriter::Resume(std::make_unique<SharedBytes>(fixture.kept), *before);
  BOOST_TEST(fixture.writer->first_frame_end() == fixture.ends[0]);
  fixture.AddFile(13);
  fixture.Close();
  BOOST_TEST(ReadManifest(&fixture.file, fixture.root)->catalog.files.size() == 4u);
}

BOOST_AUTO_TEST_CASE(ATornEditIsForgottenWhileOpen) {
  Fixture fixture;
  const std::string whole = fixture.file.bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    MemoryFile cut(whole.substr(0, length));
    const auto contents = ReadManifest(&cut, fixture.root);
    if (length < fixture.ends[0]) {
      BOOST_TEST((contents.status().code() == StatusCode::kCorruption), "length " << length);
    } else {
      BOOST_TEST_REQUIRE(contents.status().ToString() == "OK");
      BOOST_TEST(fixture.ends[contents->catalog.files.size()] <= length);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoDamageIsSilentOnceClosed) {
  Fixture fixture;
  fixture.Close();
  const std::string whole = fixture.file.bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    MemoryFile cut(whole.substr(0, length));
    BOOST_TEST((ReadManifest(&cut, fixture.root).status().code() == StatusCode::kCorruption));
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    MemoryFile flipped(whole);
    flipped.bytes()[at] ^= 1;
    BOOST_TEST((ReadManifest(&flipped, fixture.root).status().code() == StatusCode::kCorruption));
  }
  for (const std::string& tail : {std::string(1, '\0'), std::string(8, '\0'), whole}) {
    MemoryFile longer(whole + tail);
    BOOST_TEST((ReadManifest(&longer, fixture.root).status().code() == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(DamageBeforeALaterEditIsToldWhileOpen) {
  Fixture fixture;
  for (size_t at = kFileHeaderBytes; at < fixture.ends[2]; ++at) {
    MemoryFile flipped(fixture.file.bytes());
    flipped.bytes()[at] ^= 1;
    BOOST_TEST((ReadManifest(&flipped, fixture.root).status().code() == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(AnotherManifestIsRefused) {
  Fixture fixture;
  for (int field = 0; field < 3; ++field) {
    RootFile root = fixture.root;
    if (field == 0) root.database = SampleId(2);
    if (field == 1) root.record.manifest.number = FileNumber(3);
    if (field == 2) root.record.manifest.id = SampleId(2);
    BOOST_TEST((ReadManifest(&fixture.file, root).status().code() == StatusCode::kCorruption));
  }
}

BOOST_AUTO_TEST_CASE(AFailedWriterTakesNothingMore) {
  Fixture fixture;
  fixture.handle->fails = true;
  BOOST_TEST((fixture.writer->Append({}, 1, {}).code() == StatusCode::kNoSpace));
  fixture.handle->fails = false;
  BOOST_TEST(!fixture.writer->usable());
  BOOST_TEST((fixture.writer->Append({}, 1, {}).code() == StatusCode::kIoError));
}

BOOST_AUTO_TEST_CASE(HostilePayloadsWithTheRightChecksumAreRefused) {
  std::string head;
  AppendU64(&head, 1);
  AppendU64(&head, 0);
  AppendU64(&head, 0);
  std::string old_epoch = head;
  old_epoch[0] = 0;
  CatalogEdit misfit;
  misfit.remove_files.push_back(FileNumber(77));
  std::string misfit_bytes = head;
  EncodeEdit(misfit, &misfit_bytes);
  for (const std::string& payload : {std::string(), std::string(23, '\1'), head + "\x01",
                                     head + "\x07\xff\xff\xff\xff\x0f", old_epoch, misfit_bytes}) {
    Fixture fixture;
    fixture.AddRaw(5, payload);
    BOOST_TEST(
        (ReadManifest(&fixture.file, fixture.root).status().code() == StatusCode::kCorruption));
  }
  Fixture skipping;
  skipping.AddRaw(6, head);
  BOOST_TEST(
      (ReadManifest(&skipping.file, skipping.root).status().code() == StatusCode::kCorruption));
  Fixture later;
  later.AddRaw(5, head + "\x65\x01x");
  BOOST_TEST((ReadManifest(&later.file, later.root).status().code() == StatusCode::kUnsupported));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
