// Crash states of the simulated disk: each policy keeps exactly what it names, and equal states are
// known by their hashes.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using Kept = CrashPolicy::Kept;

// A directory with a durable file "f" of 8 KiB, all 'o'.
struct Machine {
  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory = *disk.OpenDirectory("/db", true);
  std::unique_ptr<base::File> file = *directory->Create("f");

  Machine() {
    BOOST_REQUIRE(file->Write(0, std::string(8192, 'o')).ok());
    BOOST_REQUIRE((file->DataSync().ok() && directory->Sync().ok()));
  }
  std::string After(const CrashPolicy& policy) {
    return *disk.CrashedCopy(policy)->Content("/db", "f");
  }
};

BOOST_AUTO_TEST_SUITE(SimulatedCrashSuite)

BOOST_AUTO_TEST_CASE(EffectsAreNamedByTheirPlace) {
  Machine machine;
  BOOST_TEST(machine.disk.pending_count() == 0u);
  for (const char* letter : {"A", "B", "C"}) {
    BOOST_REQUIRE(machine.file->Write(static_cast<uint64_t>(*letter - 'A'), letter).ok());
  }
  BOOST_TEST(machine.disk.pending_count() == 3u);
  const auto head = [&](Kept kept, uint64_t at) {
    return machine.After({.kept = kept, .at = at}).substr(0, 3);
  };
  const char* const prefixes[] = {"ooo", "Aoo", "ABo", "ABC", "ABC"};
  for (uint64_t at = 0; at < 5; ++at) BOOST_TEST(head(Kept::kPrefix, at) == prefixes[at]);
  const char* const all_but[] = {"oBC", "AoC", "ABo", "ABC"};
  for (uint64_t at = 0; at < 4; ++at) BOOST_TEST(head(Kept::kAllBut, at) == all_but[at]);
  const char* const only[] = {"Aoo", "oBo", "ooC", "ooo"};
  for (uint64_t at = 0; at < 4; ++at) BOOST_TEST(head(Kept::kOnly, at) == only[at]);
}

BOOST_AUTO_TEST_CASE(AnExtensionIsPendingUntilASync) {
  Machine machine;
  const size_t size = *machine.file->Size();
  BOOST_REQUIRE(machine.file->Extend(size + 10).ok());
  BOOST_REQUIRE(machine.file->Write(size + 2, "xyz").ok());
  const std::vector<PendingEffect> effects = machine.disk.PendingEffects();
  BOOST_REQUIRE(effects.size() == 2u);
  BOOST_TEST(Describe(effects[0]) == "grow /db/f, " + std::to_string(size + 10) + " bytes");
  const auto without_size = machine.disk.CrashedCopy({.kept = Kept::kOnly, .at = 1});
  BOOST_TEST(without_size->Content("/db", "f")->size() == size);
  const auto without_bytes = machine.disk.CrashedCopy({.kept = Kept::kOnly, .at = 0});
  BOOST_TEST(without_bytes->Content("/db", "f")->substr(size) == std::string(10, '\0'));
  BOOST_REQUIRE(machine.file->DataSync().ok());
  const auto synced = machine.disk.CrashedCopy({.kept = Kept::kNone});
  BOOST_TEST(synced->Content("/db", "f")->size() == size + 10);
}

BOOST_AUTO_TEST_CASE(PlacesRunOverAllFilesAndDirectoriesInTheOrderOfTime) {
  Machine machine;
  const auto other = *machine.disk.OpenDirectory("/other", true);
  const auto made = *other->Create("g");
  BOOST_REQUIRE(made->Write(4, "0123").ok());
  BOOST_REQUIRE(machine.file->Truncate(100).ok());
  BOOST_REQUIRE(made->Preallocate(4096).ok());
  BOOST_REQUIRE(machine.directory->Remove("f").ok());
  BOOST_REQUIRE(machine.file->Write(7, "still open").ok());
  // Nothing brings a file back whose name never was durable and is gone.
  const auto gone = *other->Create("gone");
  BOOST_REQUIRE((other->Remove("gone").ok() && other->Sync().ok()));
  BOOST_REQUIRE(gone->Write(0, "never").ok());
  const char* const expected[] = {"grow /other/g, 8 bytes",
                                  "bytes /other/g at 4, 4 bytes",
                                  "resize /db/f, 100 bytes",
                                  "reserve /other/g, 4096 bytes",
                                  "remove /db/f",
                                  "bytes /db/f at 7, 10 bytes"};
  const std::vector<PendingEffect> effects = machine.disk.PendingEffects();
  BOOST_REQUIRE(effects.size() == 6u);
  for (size_t i = 0; i < 6; ++i) BOOST_TEST(Describe(effects[i]) == expected[i]);
  BOOST_TEST(machine.disk.pending_count() == 6u);
  const auto without_removal = machine.disk.CrashedCopy({.kept = Kept::kAllBut, .at = 4});
  BOOST_TEST(without_removal->Content("/db", "f")->substr(6, 12) == "ostill openo");
  BOOST_TEST(without_removal->Content("/db", "f")->size() == 100u);
  const auto grown = machine.disk.CrashedCopy({.kept = Kept::kOnly, .at = 0});
  BOOST_TEST(*grown->Content("/other", "g") == std::string(8, '\0'));
  const auto bytes_alone = machine.disk.CrashedCopy({.kept = Kept::kOnly, .at = 1});
  BOOST_TEST(*bytes_alone->Content("/other", "g") == "");
}

BOOST_AUTO_TEST_CASE(AWriteTearsIntoTheUnitsThatAreNamed) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(0, "B").ok());
  BOOST_REQUIRE(machine.file->Write(300, std::string(1000, 'n')).ok());
  BOOST_REQUIRE(machine.file->Write(8000, "A").ok());
  const auto torn = [&](Kept kept, uint32_t unit_bytes, uint64_t units) {
    return machine.After({.kept = kept, .at = 1, .unit_bytes = unit_bytes, .units = units});
  };
  const auto expected = [](std::vector<std::pair<size_t, size_t>> ranges, char before, char after) {
    std::string content(8192, 'o');
    for (const auto& [from, to] : ranges) content.replace(from, to - from, to - from, 'n');
    content[0] = before;
    content[8000] = after;
    return content;
  };
  BOOST_TEST((torn(Kept::kTorn, 512, 0b001) == expected({{300, 512}}, 'B', 'o')));
  BOOST_TEST((torn(Kept::kTorn, 512, 0b110) == expected({{512, 1300}}, 'B', 'o')));
  BOOST_TEST((torn(Kept::kTornAmongAll, 512, 0b010) == expected({{512, 1024}}, 'B', 'A')));
  BOOST_TEST((torn(Kept::kTorn, 512, 0) == expected({}, 'B', 'o')));
  BOOST_TEST((torn(Kept::kTorn, 4096, 0b1) == expected({{300, 1300}}, 'B', 'o')));
  BOOST_TEST((torn(Kept::kTorn, 10, 0b11) == expected({{300, 320}}, 'B', 'o')));
  // The last bit speaks for the units from the 63rd on: 300 + 63 * 10.
  BOOST_TEST((torn(Kept::kTorn, 10, uint64_t{1} << 63) == expected({{930, 1300}}, 'B', 'o')));
}

BOOST_AUTO_TEST_CASE(EqualStatesHaveEqualHashes) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(5, "x").ok());
  BOOST_REQUIRE(machine.file->Write(5, "y").ok());
  BOOST_REQUIRE(machine.file->Write(5, "y").ok());
  BOOST_REQUIRE(machine.directory->Create("g").has_value());
  // By content: which states are equal is known from what is in them.
  std::map<std::string, std::set<uint64_t>> hashes;
  size_t policy_count = 0;
  for (const Kept kept : {Kept::kNone, Kept::kAll, Kept::kPrefix, Kept::kAllBut, Kept::kOnly}) {
    for (uint64_t at = 0; at <= machine.disk.pending_count(); ++at, ++policy_count) {
      const auto crashed = machine.disk.CrashedCopy({.kept = kept, .at = at});
      const std::string names = crashed->Content("/db", "g").has_value() ? "fg" : "f";
      hashes[names + *crashed->Content("/db", "f")].insert(crashed->ImageHash());
    }
  }
  BOOST_TEST(policy_count == 25u);
  // 'o', 'x' or 'y', with and without "g"; 'x' never with it.
  BOOST_TEST(hashes.size() == 5u);
  std::set<uint64_t> all;
  for (const auto& [content, of_content] : hashes) {
    BOOST_TEST(of_content.size() == 1u);
    all.insert(of_content.begin(), of_content.end());
  }
  BOOST_TEST(all.size() == hashes.size());
  BOOST_TEST(machine.disk.CrashedCopy({.kept = Kept::kAll})->ImageHash() ==
             machine.disk.ImageHash());
}

BOOST_AUTO_TEST_CASE(NamesAndSizesCountInTheHash) {
  std::set<uint64_t> hashes;
  const std::pair<const char*, std::string> files[] = {
      {"a", "bc"}, {"ab", "c"}, {"a", "b"}, {"a", std::string("b\0", 2)}, {"a", ""}, {"b", ""}};
  for (const auto& [name, content] : files) {
    SimulatedDisk disk;
    disk.SetContent("/db", name, content);
    hashes.insert(disk.ImageHash());
  }
  SimulatedDisk elsewhere;
  elsewhere.SetContent("/d", "a", "");
  hashes.insert(elsewhere.ImageHash());
  BOOST_TEST(hashes.size() == 7u);
}

BOOST_AUTO_TEST_CASE(APolicySaysWhatItIs) {
  BOOST_TEST(Describe(CrashPolicy{}) == "none");
  BOOST_TEST(Describe({.kept = Kept::kRandom, .seed = 9, .torn = false}) ==
             "random, seed 9, not torn");
  BOOST_TEST(Describe({.kept = Kept::kAllBut, .at = 3}) == "all but at 3");
  BOOST_TEST(Describe({.kept = Kept::kTorn, .at = 3, .unit_bytes = 4096, .units = 5}) ==
             "torn at 3, unit 4096, units 0x5");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
