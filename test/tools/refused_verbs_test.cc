// A verb that cannot open a database leaves its directory as it was: names, bytes, times.
#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "format/file_header.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

std::string Bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void SetBytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

std::string Times(const fs::path& path) {
  struct stat found {};
  BOOST_TEST_REQUIRE(stat(path.c_str(), &found) == 0);
  return std::to_string(found.st_ino) + " " + std::to_string(found.st_blocks) + " " +
         std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec) + " " +
         std::to_string(found.st_ctim.tv_sec) + "." + std::to_string(found.st_ctim.tv_nsec);
}

// Name to bytes and times; the directory itself is ".".
std::map<std::string, std::string> StateOf(const fs::path& directory) {
  std::map<std::string, std::string> state = {{".", Times(directory)}};
  for (const auto& entry : fs::directory_iterator(directory)) {
    state[entry.path().filename()] = Times(entry.path()) + Bytes(entry.path());
  }
  return state;
}

struct Refused {
  Refused() {
    BOOST_TEST_REQUIRE(Run({"create", path, "t", "--family", "d", "--index", "by_c=d:c"}) == 0);
    for (const char* row : {"a", "b"}) {
      BOOST_TEST_REQUIRE(Run({"put", path, "t", row, "d:c=1"}) == 0);
    }
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("store-")) store = entry.path();
      if (name.starts_with("manifest-")) manifest = entry.path();
      if (name.starts_with("log-")) log = entry.path();
    }
    SetBytes(rows, "{\"key\":\"c\",\"d:c\":\"2\"}\n");
  }
  int Run(const std::vector<std::string>& arguments) {
    const ProgramRun run = RunProgram(arguments);
    said = run.err;
    return run.exit_code;
  }
  // Every verb that opens a database to write.
  void CheckVerbs(const std::string& what, int exit_code) {
    const std::vector<std::vector<std::string>> verbs = {
        {"put", path, "t", "c", "d:c=2"},
        {"delete", path, "t", "a"},
        {"create", path, "u", "--family", "d"},
        {"import", path, "t", rows, "--format", "jsonl", "--row", "key"},
        {"flush", path},
        {"compact", path},
    };
    const auto before = StateOf(path);
    for (const auto& verb : verbs) {
      const int code = Run(verb);
      BOOST_TEST(code == exit_code,
                 what << ": " << verb.front() << " exits " << code << ": " << said);
      BOOST_TEST((StateOf(path) == before), what << ": " << verb.front() << " changed something");
    }
  }

  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  const std::string rows = directory.Path("rows.jsonl");
  fs::path store, manifest, log;
  std::string said;
};

// The header of `file` with another feature, and its right checksum.
void MakeTooNew(const fs::path& file, format::FileKind kind) {
  std::string bytes = Bytes(file);
  format::FileHeader header = *format::DecodeFileHeader(bytes, kind, "file");
  header.read_compatible = 1 << 20;
  std::string changed;
  format::AppendFileHeader(header, &changed);
  SetBytes(file, bytes.replace(0, changed.size(), changed));
}

BOOST_FIXTURE_TEST_SUITE(refused_verbs, Refused)

BOOST_AUTO_TEST_CASE(ADamagedStoreFileIsFoundBeforeAnyWrite) {
  std::string bytes = Bytes(store);
  bytes[9] ^= 1;
  SetBytes(store, bytes);
  CheckVerbs("a header", 4);
}

BOOST_AUTO_TEST_CASE(ALostStoreFileIsFoundBeforeAnyWrite) {
  fs::remove(store);
  CheckVerbs("no store file", 4);
}

BOOST_AUTO_TEST_CASE(ATooNewStoreFileIsFoundBeforeAnyWrite) {
  MakeTooNew(store, format::FileKind::kStore);
  CheckVerbs("a later version's store file", 7);
}

BOOST_AUTO_TEST_CASE(ADamagedLogIsFoundBeforeAnyWrite) {
  std::string bytes = Bytes(log);
  bytes[100] ^= 1;
  SetBytes(log, bytes);
  CheckVerbs("a log", 4);
}

BOOST_AUTO_TEST_CASE(ADamagedCatalogIsFoundBeforeAnyWrite) {
  std::string bytes = Bytes(manifest);
  bytes[bytes.size() - 10] ^= 1;
  SetBytes(manifest, bytes);
  CheckVerbs("a manifest", 4);
  fs::remove(manifest);
  CheckVerbs("no manifest", 4);
}

BOOST_AUTO_TEST_CASE(ADamagedRootIsFoundBeforeAnyWrite) {
  const fs::path root = fs::path(path) / "ROOT";
  std::string bytes = Bytes(root);
  bytes[4100] ^= 1, bytes[8200] ^= 1;
  SetBytes(root, bytes);
  CheckVerbs("ROOT", 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
