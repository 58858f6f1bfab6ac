// An open that is refused for what it read has written nothing: no byte, no name, no size. Random
// databases, closed and killed, under damage of every kind.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "format/file_header.h"
#include "test/engine/salvage/salvage_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

// Whether the operation can change what is on a disk.
bool Changes(const DiskEvent& event) {
  return event.operation != DiskOperation::kRead && event.operation != DiskOperation::kList &&
         event.operation != DiskOperation::kOpen;
}

// Opens a database of `files` to write and kills the process.
struct Attempt {
  explicit Attempt(const FileContents& files, bool create = true) : engine(2, nullptr) {
    for (const auto& [name, content] : files) engine.disk.SetContent("db", name, content);
    engine.options.create_if_missing = create;
    Again();
  }
  void Again() {
    const uint64_t before = engine.disk.ImageHash();
    engine.disk.control().SetHook([this](const DiskEvent& event) {
      if (Changes(event)) changes.push_back(Describe(event));
    });
    status = engine.Open();
    engine.disk.control().SetHook(nullptr);
    is_same = engine.disk.ImageHash() == before;
    engine.Kill();
  }
  // Empty: it was opened, or refused without a change.
  std::string Fault() const {
    if (status.ok() || (changes.empty() && is_same)) return "";
    return status.ToString() + ", after " +
           (changes.empty() ? "no operation" : changes.front() + " and others");
  }

  TestEngine engine;
  Status status;
  std::vector<std::string> changes;
  bool is_same = false;
};

FileContents WorldFiles(TestRandom* random, int steps, bool closed) {
  SalvageWorld world(random);
  for (int i = 0; i < steps; ++i) world.Step();
  if (closed) {
    BOOST_TEST_REQUIRE(world.engine.Close().ToString() == "OK");
  } else {
    world.engine.Kill();
  }
  return world.Files();
}

// With another header, whose checksum is right.
void ChangeHeader(std::string* content, const std::function<void(format::FileHeader*)>& change) {
  if (content->size() < format::kFileHeaderBytes) return;
  for (int kind = 1; kind <= 4; ++kind) {
    auto header = format::DecodeFileHeader(*content, static_cast<format::FileKind>(kind), "file");
    if (!header) continue;
    change(&*header);
    std::string bytes;
    format::AppendFileHeader(*header, &bytes);
    content->replace(0, bytes.size(), bytes);
  }
}

class Damager {
 public:
  Damager(TestRandom* random, const FileContents& twin) : random_(*random), twin_(twin) {}

  // Damages one file in one of the ways; says which.
  std::string Damage(FileContents* files) {
    const std::string name = Pick(*files);
    std::string& bytes = files->at(name);
    const uint64_t way = random_.Below(11);
    const std::string what = "way " + std::to_string(way) + " on " + name;
    if (way <= 2 && !bytes.empty()) {
      // Both ends are what most checks are about.
      const uint64_t range = way == 0 ? bytes.size() : std::min<uint64_t>(bytes.size(), 400);
      const uint64_t at = random_.Below(range);
      bytes[way == 2 ? bytes.size() - 1 - at : at] ^= static_cast<char>(1 << random_.Below(8));
    }
    if (way == 3) bytes.resize(random_.Below(bytes.size() + 1));
    if (way == 4) bytes += std::string(1 + random_.Below(5000), random_.OneIn(2) ? '\0' : 'g');
    if (way == 5) std::swap(bytes, files->at(Pick(*files)));
    if (way == 6) bytes = files->at(Pick(*files));
    if (way == 7) bytes = twin_.at(Pick(twin_));
    if (way == 8) ChangeHeader(&bytes, [](auto* header) { header->read_compatible = 1 << 30; });
    if (way == 9) ChangeHeader(&bytes, [](auto* header) { header->incompatible = 1 << 30; });
    if (way == 10) files->erase(name);
    return what;
  }

 private:
  std::string Pick(const FileContents& files) {
    return std::next(files.begin(), static_cast<ptrdiff_t>(random_.Below(files.size())))->first;
  }

  TestRandom& random_;
  const FileContents& twin_;
};

BOOST_AUTO_TEST_SUITE(RefusedOpen)

BOOST_AUTO_TEST_CASE(WhateverOpenRefusesIsAsItWas) {
  TestRandom random("refused opens");
  size_t refused = 0, trials = 0;
  std::map<StatusCode, size_t> codes;
  for (size_t world = 0; world < Trials(12); ++world) {
    const bool closed = random.OneIn(2);
    const FileContents files = WorldFiles(&random, 10 + static_cast<int>(world % 4) * 15, closed);
    const FileContents twin = WorldFiles(&random, 10, closed);
    BOOST_TEST_REQUIRE(Attempt(files).status.ToString() == "OK");
    for (int i = 0; i < 60; ++i) {
      FileContents damaged = files;
      Damager damager(&random, twin);
      std::string what = damager.Damage(&damaged);
      if (random.OneIn(4) && !damaged.empty()) what += ", " + damager.Damage(&damaged);
      const Attempt attempt(damaged, random.OneIn(2));
      BOOST_TEST(attempt.Fault() == "",
                 what << (closed ? ", closed: " : ", killed: ") << attempt.Fault());
      ++trials;
      if (attempt.status.ok()) continue;
      ++refused;
      ++codes[attempt.status.code()];
    }
  }
  BOOST_TEST(refused * 4 > trials);
  BOOST_TEST(codes.contains(StatusCode::kCorruption));
  BOOST_TEST(codes.contains(StatusCode::kUnsupported));
}

BOOST_AUTO_TEST_CASE(EachStoreFileThatIsNotTheNamedOneIsFoundBeforeAnyWrite) {
  for (const bool closed : {true, false}) {
    TestRandom random("refused store files");
    SalvageWorld world(&random);
    for (int i = 0; i < 40; ++i) {
      world.Put("row-" + std::to_string(i), "d", "c1", "value");
      if (i % 2 == 1) world.Flush();
    }
    if (closed) {
      BOOST_TEST_REQUIRE(world.engine.Close().ToString() == "OK");
    } else {
      world.engine.Kill();
    }
    const FileContents files = world.Files();
    size_t store_files = 0;
    for (const auto& [name, bytes] : files) {
      if (!name.starts_with("store-")) continue;
      ++store_files;
      std::map<std::string, FileContents> variants;
      variants["gone"] = files;
      variants["gone"].erase(name);
      variants["shorter"] = files;
      variants["shorter"][name].pop_back();
      variants["longer"] = files;
      variants["longer"][name] += std::string(8, '\0');
      variants["foreign"] = files;
      ChangeHeader(&variants["foreign"][name],
                   [](auto* header) { header->database.bytes[0] ^= 1; });
      variants["too new"] = files;
      ChangeHeader(&variants["too new"][name], [](auto* header) { header->read_compatible = 4; });
      variants["without footer"] = files;
      std::string& cut = variants["without footer"][name];
      cut.replace(cut.size() - 128, 128, std::string(128, '\0'));
      for (const auto& [what, damaged] : variants) {
        const Attempt attempt(damaged);
        BOOST_TEST(!attempt.status.ok(), name << " " << what);
        BOOST_TEST(attempt.Fault() == "", name << " " << what << ": " << attempt.Fault());
      }
    }
    BOOST_TEST(store_files > 2u);
  }
}

BOOST_AUTO_TEST_CASE(ManyRefusedOpensLeaveTheSameFiles) {
  TestRandom random("many refused opens");
  SalvageWorld world(&random);
  world.Put("row", "d", "c1", "value");
  world.Flush();
  world.Put("row", "d", "c1", "other");
  world.engine.Kill();
  FileContents files = world.Files();
  for (auto& [name, bytes] : files) {
    if (name.starts_with("store-")) bytes.back() ^= 1, bytes[bytes.size() - 70] ^= 1;
  }
  Attempt attempt(files);
  for (int i = 0; i < 250; ++i) {
    BOOST_TEST_REQUIRE((attempt.status.code() == StatusCode::kCorruption));
    BOOST_TEST_REQUIRE(attempt.Fault() == "");
    attempt.Again();
  }
  for (const auto& [name, bytes] : files) {
    BOOST_TEST(*attempt.engine.disk.Content("db", name) == bytes, name);
  }
}

// A ROOT "being created" beside files that are no trace of that.
BOOST_AUTO_TEST_CASE(AHalfMadeDatabaseBesideOtherFilesIsLeftAlone) {
  TestEngine engine(1, nullptr);
  FileContents half;
  engine.disk.control().SetHook([&](const DiskEvent& event) {
    const bool is_named = event.operation == DiskOperation::kWrite && event.name == "ROOT" &&
                          engine.disk.Content("db", "manifest-1").has_value();
    if (!is_named || !half.empty()) return;
    for (const char* name : {"ROOT", "manifest-1"}) half[name] = *engine.disk.Content("db", name);
  });
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  engine.disk.control().SetHook(nullptr);
  BOOST_TEST_REQUIRE(half.size() == 2u);
  BOOST_TEST(Attempt(half).status.ToString() == "OK");
  for (const char* name : {"store-7", "manifest-2", "log-3"}) {
    FileContents files = half;
    files[name] = "what somebody may want back";
    const Attempt attempt(files);
    BOOST_TEST((attempt.status.code() == StatusCode::kCorruption), attempt.status.ToString());
    BOOST_TEST(attempt.Fault() == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
