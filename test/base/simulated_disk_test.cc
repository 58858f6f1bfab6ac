// The simulated disk: what a crash keeps and loses, and how handles die.
#define BOOST_TEST_DYN_LINK
#include "tools/simulation/simulated_disk.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "test/base/back_ends.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using base::OpenMode;

constexpr CrashPolicy kLoseAll{.kept = CrashPolicy::Kept::kNone};
constexpr CrashPolicy kKeepAll{.kept = CrashPolicy::Kept::kAll};

CrashPolicy Random(uint64_t seed) { return {.kept = CrashPolicy::Kept::kRandom, .seed = seed}; }

// A disk with one directory, which is reopened after a crash.
struct Machine {
  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory = *disk.OpenDirectory("/db", true);

  void Crash(const CrashPolicy& policy) {
    disk.Crash(policy);
    directory = *disk.OpenDirectory("/db", false);
  }
  // A file whose content and name are durable.
  std::unique_ptr<base::File> Durable(const std::string& name, std::string_view content) {
    auto file = *directory->Create(name);
    BOOST_REQUIRE(file->Write(0, content).ok());
    BOOST_REQUIRE(file->DataSync().ok());
    BOOST_REQUIRE(directory->Sync().ok());
    return file;
  }
  std::string Content(const std::string& name) { return *disk.Content("/db", name); }
  bool Exists(const std::string& name) { return disk.Content("/db", name).has_value(); }
};

BOOST_AUTO_TEST_SUITE(SimulatedDiskSuite)

BOOST_AUTO_TEST_CASE(BytesNeedADataSyncAndNamesADirectorySync) {
  Machine machine;
  const auto named = *machine.directory->Create("named");
  BOOST_TEST(named->Write(0, "lost").ok());
  BOOST_TEST(machine.directory->Sync().ok());
  const auto synced = *machine.directory->Create("synced");
  BOOST_TEST(synced->Write(0, "no name").ok());
  BOOST_TEST(synced->DataSync().ok());
  machine.Durable("both", "kept");
  BOOST_TEST(machine.Exists("synced"));
  const auto late = *machine.directory->Create("late");
  BOOST_TEST(late->DataSync().ok());

  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("named") == "");
  // The sync of the directory for "both" covered the name of "synced" too.
  BOOST_TEST(machine.Content("synced") == "no name");
  BOOST_TEST(machine.Content("both") == "kept");
  BOOST_TEST(!machine.Exists("late"));
}

BOOST_AUTO_TEST_CASE(ClosingSyncsNothing) {
  Machine machine;
  auto file = machine.Durable("f", "one");
  BOOST_TEST(file->Write(3, " two").ok());
  file.reset();
  BOOST_TEST(machine.Content("f") == "one two");
  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("f") == "one");
}

BOOST_AUTO_TEST_CASE(ARemovalWithoutADirectorySyncIsUndone) {
  Machine machine;
  auto file = machine.Durable("f", "back");
  BOOST_TEST(file->Write(0, "BACK").ok());
  BOOST_TEST(machine.directory->Remove("f").ok());
  file.reset();
  BOOST_TEST(!machine.Exists("f"));
  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("f") == "back");
  BOOST_TEST(machine.directory->Remove("f").ok());
  BOOST_TEST(machine.directory->Sync().ok());
  machine.Crash(kLoseAll);
  BOOST_TEST(!machine.Exists("f"));
}

BOOST_AUTO_TEST_CASE(KeepingAllKeepsWhatWasVisible) {
  Machine machine;
  const auto file = machine.Durable("f", "0123456789");
  BOOST_TEST(file->Write(8, "abc").ok());
  BOOST_TEST(file->Truncate(10).ok());
  BOOST_TEST((*machine.directory->Create("g"))->Write(2, "x").ok());
  machine.Crash(kKeepAll);
  BOOST_TEST(machine.Content("f") == "01234567ab");
  BOOST_TEST(machine.Content("g") == std::string("\0\0x", 3));
}

BOOST_AUTO_TEST_CASE(EffectsSurviveIndependentlyAndOneSeedRepeats) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string twice[2];
    for (std::string& outcome : twice) {
      Machine machine;
      const auto file = machine.Durable("f", "");
      BOOST_REQUIRE(file->Write(0, "a").ok());
      BOOST_REQUIRE(file->Write(1, "b").ok());
      BOOST_REQUIRE(machine.directory->Create("new").has_value());
      CrashPolicy policy = Random(seed);
      policy.unwritten = CrashPolicy::Unwritten::kZeros;
      machine.Crash(policy);
      outcome = machine.Content("f") + (machine.Exists("new") ? "+" : "-");
    }
    BOOST_TEST(twice[0] == twice[1]);
    outcomes.insert(twice[0]);
  }
  // Nothing; one byte, there or as a zero; two bytes, each there or as a zero.
  for (const std::string& content :
       {std::string(), std::string("a"), std::string(1, '\0'), std::string("ab"),
        std::string("a\0", 2), std::string("\0b", 2), std::string(2, '\0')}) {
    BOOST_TEST(outcomes.count(content + "+") == 1u);
    BOOST_TEST(outcomes.count(content + "-") == 1u);
  }
  BOOST_TEST(outcomes.size() == 14u);
}

BOOST_AUTO_TEST_CASE(WritesTearAtSectorsOnly) {
  int torn_count = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Machine machine;
    const auto file = machine.Durable("f", std::string(4096, 'o'));
    BOOST_REQUIRE(file->Write(300, std::string(3000, 'n')).ok());
    CrashPolicy policy = Random(seed);
    policy.torn = seed < 200;
    machine.Crash(policy);
    const std::string content = machine.Content("f");
    BOOST_REQUIRE(content.size() == 4096u);
    bool has_old = false;
    bool has_new = false;
    for (size_t at = 300; at < 3300; ++at) {
      const bool is_border = at == 300 || at % 512 == 0;
      BOOST_REQUIRE((is_border || content[at] == content[at - 1]));
      has_old = has_old || content[at] == 'o';
      has_new = has_new || content[at] == 'n';
    }
    BOOST_TEST(content.substr(0, 300) == std::string(300, 'o'));
    BOOST_TEST(content.substr(3300) == std::string(796, 'o'));
    const bool is_torn = has_old && has_new;
    BOOST_TEST((!is_torn || policy.torn));
    torn_count += is_torn;
  }
  BOOST_TEST(torn_count > 5);
}

BOOST_AUTO_TEST_CASE(HandlesDieInACrash) {
  Machine machine;
  const auto file = machine.Durable("f", "content");
  const auto directory = std::move(machine.directory);
  const auto queue = machine.disk.NewQueue(2);
  BOOST_TEST(directory->Lock().ok());
  machine.disk.Crash(kKeepAll);
  const uint64_t count = machine.disk.control().operation_count();
  std::string buffer(4, ' ');
  BOOST_TEST(file->Read(0, buffer).error().code() == StatusCode::kIoError);
  BOOST_TEST(file->Write(0, "x").code() == StatusCode::kIoError);
  BOOST_TEST(file->DataSync().code() == StatusCode::kIoError);
  BOOST_TEST(file->Size().error().code() == StatusCode::kIoError);
  BOOST_TEST(file->Truncate(0).code() == StatusCode::kIoError);
  BOOST_TEST(file->Preallocate(9).code() == StatusCode::kIoError);
  BOOST_TEST(file->Extend(9).code() == StatusCode::kIoError);
  BOOST_TEST(directory->Create("g").error().code() == StatusCode::kIoError);
  BOOST_TEST(directory->Open("f", OpenMode::kReadOnly).error().code() == StatusCode::kIoError);
  BOOST_TEST(directory->Remove("f").code() == StatusCode::kIoError);
  BOOST_TEST(directory->List().error().code() == StatusCode::kIoError);
  BOOST_TEST(directory->Sync().code() == StatusCode::kIoError);
  BOOST_TEST(directory->Lock().code() == StatusCode::kIoError);
  BOOST_TEST(directory->FreeSpace().error().code() == StatusCode::kIoError);
  BOOST_TEST(!directory->HoldsLock());
  BOOST_TEST(machine.disk.control().operation_count() == count);
  BOOST_TEST(machine.Content("f") == "content");
  const auto reopened = *machine.disk.OpenDirectory("/db/", false);
  BOOST_TEST(reopened->Lock().ok());
}

BOOST_AUTO_TEST_CASE(AKilledProcessLosesHandlesButNoEffects) {
  Machine machine;
  const auto file = machine.Durable("f", "synced");
  BOOST_TEST(machine.directory->Lock().ok());
  BOOST_TEST(file->Write(6, " and not").ok());
  machine.disk.KillProcess();
  BOOST_TEST(file->DataSync().code() == StatusCode::kIoError);
  machine.directory = *machine.disk.OpenDirectory("/db", false);
  BOOST_TEST(machine.directory->Lock().ok());
  BOOST_TEST(machine.Content("f") == "synced and not");
  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("f") == "synced");
}

BOOST_AUTO_TEST_CASE(ACrashedCopyLeavesTheOriginalAlone) {
  Machine machine;
  const auto file = machine.Durable("f", "old");
  BOOST_TEST(file->Write(0, "new").ok());
  BOOST_TEST(machine.directory->Create("g").has_value());
  const auto copy = machine.disk.CrashedCopy(kLoseAll);
  BOOST_TEST(*copy->Content("/db", "f") == "old");
  BOOST_TEST(!copy->Content("/db", "g").has_value());
  copy->SetContent("/db", "f", "changed in the copy");
  BOOST_TEST(file->DataSync().ok());
  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("f") == "new");
}

BOOST_AUTO_TEST_CASE(PlantedContentIsDurable) {
  Machine machine;
  const auto file = machine.Durable("f", "good");
  BOOST_TEST(file->Write(0, "pending").ok());
  machine.disk.SetContent("/db", "f", "bad");
  machine.disk.SetContent("/db/", "planted", "here");
  machine.Durable("gone", "");
  BOOST_TEST(machine.disk.RemoveDurably("/db", "gone").ok());
  BOOST_TEST(machine.disk.RemoveDurably("/db", "gone").code() == StatusCode::kNotFound);
  BOOST_TEST(ReadAll(*file) == "bad");
  machine.Crash(kLoseAll);
  BOOST_TEST(machine.Content("f") == "bad");
  BOOST_TEST(machine.Content("planted") == "here");
  BOOST_TEST(!machine.Exists("gone"));
}

// A second, plain account of the same rules: per file a visible and a durable string, per directory
// a visible and a durable set of names.
struct Model {
  struct Content {
    std::string visible;
    std::string durable;
  };
  std::map<std::string, std::shared_ptr<Content>> visible;
  std::map<std::string, std::shared_ptr<Content>> durable;

  static std::map<std::string, std::string> Flat(const auto& names, auto member) {
    std::map<std::string, std::string> flat;
    for (const auto& [name, content] : names) flat[name] = (*content).*member;
    return flat;
  }
};

std::map<std::string, std::string> FilesOf(SimulatedDisk& disk) {
  std::map<std::string, std::string> files;
  const auto directory = *disk.OpenDirectory("/db", false);
  for (const std::string& name : *directory->List()) files[name] = *disk.Content("/db", name);
  return files;
}

void RandomStep(base::RandomSource& random, Machine& machine, Model& model) {
  const std::string name(1, static_cast<char>('a' + random.Next64() % 5));
  const auto found = model.visible.find(name);
  if (random.Next64() % 8 == 0) {
    BOOST_REQUIRE(machine.directory->Sync().ok());
    model.durable = model.visible;
    return;
  }
  if (found == model.visible.end()) {
    BOOST_REQUIRE(machine.directory->Create(name).has_value());
    model.visible[name] = std::make_shared<Model::Content>();
    return;
  }
  const auto file = *machine.directory->Open(name, OpenMode::kReadWrite);
  Model::Content& content = *found->second;
  const uint64_t at = random.Next64() % 2000;
  switch (random.Next64() % 6) {
    case 0:
      BOOST_REQUIRE(machine.directory->Remove(name).ok());
      model.visible.erase(found);
      break;
    case 1:
      BOOST_REQUIRE(file->DataSync().ok());
      content.durable = content.visible;
      break;
    case 2:
      BOOST_REQUIRE(file->Truncate(at).ok());
      content.visible.resize(at);
      break;
    default: {
      std::string data(1 + random.Next64() % 1500, '\0');
      random.Fill(data);
      BOOST_REQUIRE(file->Write(at, data).ok());
      content.visible.resize(std::max(content.visible.size(), at + data.size()));
      content.visible.replace(at, data.size(), data);
    }
  }
}

BOOST_AUTO_TEST_CASE(VisibleAndDurableStatesAgreeWithAPlainModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto random = base::NewSeededRandom(seed);
      Machine machine;
      Model model;
      for (int step = 0; step < 200; ++step) {
        RandomStep(*random, machine, model);
        const auto none = machine.disk.CrashedCopy(kLoseAll);
        const auto all = machine.disk.CrashedCopy(kKeepAll);
        BOOST_REQUIRE((FilesOf(*none) == Model::Flat(model.durable, &Model::Content::durable)));
        BOOST_REQUIRE((FilesOf(*all) == Model::Flat(model.visible, &Model::Content::visible)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ALinkSharesBytesAndEndsWithItsOwnName) {
  SimulatedDisk disk;
  const auto from = *disk.OpenDirectory("from", true);
  const auto to = *disk.OpenDirectory("to", true);
  {
    const auto file = *from->Create("f");
    BOOST_TEST(file->Write(0, "bytes").ok());
    BOOST_TEST(file->DataSync().ok());
  }
  BOOST_TEST(from->Sync().ok());
  BOOST_TEST(to->Link(*from, "f", "g").ok());
  BOOST_TEST(disk.used_bytes() == 5u);
  BOOST_TEST(from->Remove("f").ok());
  BOOST_TEST(disk.used_bytes() == 5u);
  BOOST_TEST(*disk.Content("to", "g") == "bytes");
  // The name is durable by a sync of its directory alone.
  BOOST_TEST(!disk.CrashedCopy({})->Content("to", "g").has_value());
  BOOST_TEST(to->Sync().ok());
  BOOST_TEST(*disk.CrashedCopy({})->Content("to", "g") == "bytes");
  BOOST_TEST(to->Remove("g").ok());
  BOOST_TEST(disk.used_bytes() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
