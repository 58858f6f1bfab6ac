// Files that this build did not write for this database: of another one, or of a later version.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "format/file_header.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct ForeignFixture : TestEngine {
  ForeignFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
    BOOST_REQUIRE(Put("a", "c", "1").ok());
    BOOST_REQUIRE(engine().Flush("t").ok());
    name = "store-" + std::to_string(engine().Info().tables[0].regions[0].files[0].number);
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  // Rewrites the header of the store file, with a right checksum.
  void ChangeHeader(const std::function<void(format::FileHeader*)>& change) {
    std::string content = *disk.Content("db", name);
    format::FileHeader header = *format::DecodeFileHeader(content, format::FileKind::kStore, name);
    change(&header);
    std::string bytes;
    format::AppendFileHeader(header, &bytes);
    content.replace(0, bytes.size(), bytes);
    disk.SetContent("db", name, content);
  }

  std::string name;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ForeignFiles, ForeignFixture)

BOOST_AUTO_TEST_CASE(AStoreFileOfAnotherDatabaseIsCorruption) {
  ChangeHeader([](format::FileHeader* header) { header->database.bytes[3] ^= 1; });
  for (const bool read_only : {false, true}) {
    options.read_only = read_only;
    BOOST_CHECK_EQUAL(
        Open().ToString(),
        "Corruption: " + name + ": offset 40: database id is that of another database");
  }
}

BOOST_AUTO_TEST_CASE(AFileThatMayOnlyBeReadMakesTheDatabaseSo) {
  ChangeHeader([](format::FileHeader* header) { header->read_compatible = 4; });
  BOOST_CHECK_EQUAL(Open().ToString(),
                    "Unsupported: a later version made " + name + "; this one can only read it");
  options.read_only = true;
  options.create_if_missing = false;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
