// What a user's other files, other users and files made on purpose have to fear from a database,
// and what it has to fear from them.
#define BOOST_TEST_DYN_LINK
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/catalog.h"
#include "tandem/backup.h"
#include "tandem/tandem.h"
#include "test/support/damaged_file.h"
#include "test/support/print.h"
#include "test/support/sample_store_files.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

TableOptions SmallTable(const std::string& name) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "f"}};
  table.indexes = {{"by_v", {{"f", "v"}}}};
  return table;
}

Result<std::unique_ptr<Database>> OpenAt(const std::string& path, bool read_only = false) {
  Options options;
  options.create_if_missing = !read_only;
  options.read_only = read_only;
  return Database::Open(path, options);
}

void PutOne(Database* database, const std::string& row) {
  WriteBatch batch;
  batch.Put("t", row, "f", "v", "value");
  RequireOk(database->Write({.durability = Durability::kSynced}, batch));
}

/// A closed database of two store files; its log segments have seen writes.
void MakeDatabase(const std::string& path) {
  auto opened = OpenAt(path);
  RequireOk(opened.status());
  Database& database = **opened;
  RequireOk(database.CreateTable(SmallTable("t")));
  for (const char* row : {"a", "b"}) {
    PutOne(&database, row);
    RequireOk(database.Flush("t"));
  }
  RequireOk(database.Close());
}

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> NamesIn(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

unsigned ModeOf(const fs::path& path) {
  struct stat attributes {};
  BOOST_REQUIRE_EQUAL(lstat(path.c_str(), &attributes), 0);
  return attributes.st_mode & 07777;
}

/// Names that would be something else if they ever became a part of a path, a format or a command.
std::vector<std::string> HostileNames() {
  std::vector<std::string> names = {"..",
                                    ".",
                                    "/",
                                    "//",
                                    "../x",
                                    "../../etc/passwd",
                                    "/tmp/x",
                                    "a/b",
                                    "ROOT",
                                    "store-1",
                                    "log-1",
                                    "manifest-1",
                                    "CON",
                                    "nul",
                                    "aux.txt",
                                    "a\\b",
                                    "~",
                                    "~root",
                                    "$HOME",
                                    "`id`",
                                    "$(id)",
                                    "%s%n",
                                    "a;b",
                                    "a|b",
                                    "a b",
                                    " ",
                                    "\t",
                                    "a\nb",
                                    "\r",
                                    "\x7f",
                                    "\x1b[31m",
                                    "'",
                                    "\"",
                                    "a'b",
                                    "a\"b",
                                    "<a>",
                                    "&amp;",
                                    "*",
                                    "?",
                                    "[a-z]",
                                    "{a,b}",
                                    "-rf",
                                    "--help",
                                    "#",
                                    "!",
                                    "\xff",
                                    "\xfe\xff",
                                    "\xc0\xaf",
                                    "\xe2\x80\xae",
                                    "\xef\xbb\xbf",
                                    "\xcc\x81",
                                    "\xe0\xa4\xb9",
                                    "\xf0\x9f\x98\x80",
                                    "caf\xc3\xa9",
                                    "cafe\xcc\x81",
                                    "\xd0\xb0",
                                    "a:b",
                                    "a,b",
                                    "a=b",
                                    "NULL"};
  names.push_back(std::string(1, '\0'));
  names.push_back(std::string("a\0b", 3));
  names.push_back(std::string("../\0", 4));
  for (const size_t size : {1, 64, 254, 255}) names.emplace_back(size, 'x');
  for (int byte = 1; byte < 256; byte += 2) names.push_back({'n', static_cast<char>(byte)});
  return names;
}

class BindMount {
 public:
  BindMount(const std::string& directory, std::string place) : place_(std::move(place)) {
    fs::create_directory(place_);
    is_mounted_ = mount(directory.c_str(), place_.c_str(), nullptr, MS_BIND, nullptr) == 0;
  }
  BindMount(const BindMount&) = delete;
  BindMount& operator=(const BindMount&) = delete;
  ~BindMount() { umount2(place_.c_str(), MNT_DETACH); }
  bool is_mounted() const { return is_mounted_; }

 private:
  std::string place_;
  bool is_mounted_ = false;
};

/// What `question` says in a child process, which gets copies of all that is open here.
template <typename Question>
bool InChild(Question&& question) {
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) _exit(question() ? 0 : 1);
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The program's exit code within half a gibibyte of address space; 128 and more: it died.
int RunConfined(const std::string& arguments) {
  const char* program = std::getenv("TANDEM");
  const std::string command = "ulimit -v 524288; exec " +
                              std::string(program == nullptr ? "build/tandem" : program) + " " +
                              arguments + " >/dev/null 2>&1";
  const int status = std::system(("sh -c '" + command + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

BOOST_AUTO_TEST_SUITE(security)

BOOST_AUTO_TEST_CASE(FilesAreTheOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0077}) {
    const TemporaryDirectory place;
    const std::string path = place.Path("db");
    const mode_t before = umask(mask);
    MakeDatabase(path);
    // And what is made of it.
    {
      const auto database = OpenAt(path);
      RequireOk((*database)->Checkpoint(place.Path("checkpoint")));
      RequireOk((*database)->Backup(place.Path("backups")).status());
    }
    RequireOk(RestoreBackup(place.Path("backups"), place.Path("restored")));
    BOOST_TEST(RunProgram({"salvage", path, place.Path("salvaged")}).exit_code == 0);
    umask(before);
    BOOST_TEST(NamesIn(place.path()).size() == 5u);
    for (const std::string& name : NamesIn(place.path())) {
      BOOST_TEST(ModeOf(place.Path(name)) == 0700u, name);
      for (const auto& entry : fs::directory_iterator(place.Path(name))) {
        BOOST_TEST(ModeOf(entry.path()) == 0600u, entry.path());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AFileThatIsALinkIsRefused) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  MakeDatabase(path);
  for (const std::string& name : NamesIn(path)) {
    const fs::path file = fs::path(path) / name, elsewhere = place.Path("elsewhere");
    fs::rename(file, elsewhere);
    fs::create_symlink(elsewhere, file);
    const std::string content = ContentOf(elsewhere);
    for (const bool read_only : {true, false}) {
      const auto opened = OpenAt(path, read_only);
      BOOST_TEST(!opened.has_value(), name);
    }
    BOOST_TEST((ContentOf(elsewhere) == content), name);
    fs::remove(file);
    fs::rename(elsewhere, file);
  }
  RequireOk(OpenAt(path).status());
}

BOOST_AUTO_TEST_CASE(NothingIsWrittenThroughALinkThatWaitsThere) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db"), victim = place.Path("victim");
  MakeDatabase(path);
  for (const char* kind : {"store-", "log-", "manifest-", "ROOT"}) {
    for (int number = 0; number < 400; ++number) {
      const fs::path link = fs::path(path) / (kind + std::to_string(number));
      if (!fs::exists(link)) fs::create_symlink(victim, link);
    }
  }
  auto opened = OpenAt(path);
  if (opened.has_value()) {
    WriteBatch batch;
    batch.Put("t", "c", "f", "v", "value");
    (void)(*opened)->Write({.durability = Durability::kSynced}, batch);
    (void)(*opened)->Flush("t");
    (void)(*opened)->Close();
  }
  BOOST_TEST(!fs::exists(victim));
}

// Nor by what copies, and none is read as if it were the file.
BOOST_AUTO_TEST_CASE(CopiesFollowNoLinks) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db"), victim = place.Path("victim");
  const std::string backups = place.Path("backups");
  MakeDatabase(path);
  const auto database = OpenAt(path);
  RequireOk((*database)->Backup(backups).status());
  for (int number = 2; number < 20; ++number) {
    fs::create_symlink(victim, fs::path(backups) / ("unfinished-" + std::to_string(number)));
    fs::create_symlink(victim, fs::path(backups) / ("backup-" + std::to_string(number)));
  }
  PutOne(database->get(), "c");
  (void)(*database)->Backup(backups).has_value();
  BOOST_TEST(!fs::exists(victim));
  // A link to the very file that it stands for is no file of a backup, a database or its salvage.
  for (const std::string& name : NamesIn(backups)) {
    if (!name.starts_with("store-")) continue;
    fs::rename(fs::path(backups) / name, place.Path("elsewhere"));
    fs::create_symlink(place.Path("elsewhere"), fs::path(backups) / name);
  }
  BOOST_TEST(!RestoreBackup(backups, place.Path("restored"), 1).ok());
  BOOST_TEST(!fs::exists(place.Path("restored")));
  RequireOk((*database)->Close());
  for (const std::string& name : NamesIn(path)) {
    if (!name.starts_with("store-")) continue;
    fs::rename(fs::path(path) / name, place.Path(name));
    fs::create_symlink(place.Path(name), fs::path(path) / name);
  }
  BOOST_TEST(RunProgram({"salvage", path, place.Path("salvaged")}).exit_code == 8);
}

BOOST_AUTO_TEST_CASE(NamesNeverBecomePaths) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  auto opened = OpenAt(path);
  RequireOk(opened.status());
  Database& database = **opened;
  std::vector<std::string> accepted;
  for (const std::string& name : HostileNames()) {
    TableOptions table = SmallTable(name);
    table.families.push_back({.name = name});
    table.indexes.push_back({name, {{name, name}}});
    const Status status = database.CreateTable(table);
    if (!status.ok()) {
      BOOST_TEST(status.code() == StatusCode::kInvalidArgument, status);
      continue;
    }
    accepted.push_back(name);
    WriteBatch batch;
    batch.Put(name, name, name, name, name);
    RequireOk(database.Write({}, batch));
    RequireOk(database.Flush(name));
  }
  BOOST_TEST(accepted.size() > 50u);
  BOOST_TEST(database.CreateTable(SmallTable("")).code() == StatusCode::kInvalidArgument);
  BOOST_TEST(database.CreateTable(SmallTable(std::string(256, 'x'))).code() ==
             StatusCode::kInvalidArgument);
  // What was accepted is what is stored.
  for (const std::string& name : accepted) {
    const auto row = database.Get({}, name, name);
    RequireOk(row.status());
    BOOST_TEST(row->has_value());
  }
  RequireOk(database.Close());
  BOOST_TEST(NamesIn(place.path()).size() == 1u);
  for (const std::string& name : NamesIn(path)) {
    BOOST_TEST(
        name.find_first_not_of("ROTabcdefghijklmnopqrstuvwxyz-0123456789") == std::string::npos,
        name);
  }
}

BOOST_AUTO_TEST_CASE(ASecondWriterIsRefusedHoweverItComes) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db"), link = place.Path("link");
  MakeDatabase(path);
  auto first = OpenAt(path);
  RequireOk(first.status());
  const auto is_busy = [](const std::string& as) {
    return OpenAt(as).status().code() == StatusCode::kBusy;
  };
  fs::create_directory_symlink(path, link);
  BOOST_TEST(is_busy(path));
  BOOST_TEST(is_busy(path + "/"));
  BOOST_TEST(is_busy(path + "/../db/."));
  BOOST_TEST(is_busy(link));
  BOOST_TEST(InChild([&] { return is_busy(path) && is_busy(link); }));
  {
    const BindMount mounted(path, place.Path("mounted"));
    if (mounted.is_mounted()) {
      BOOST_TEST(is_busy(place.Path("mounted")));
      BOOST_TEST(InChild([&] { return is_busy(place.Path("mounted")); }));
    } else {
      std::cout << "skipped: a bind mount needs rights that are not here" << std::endl;
    }
  }
  // A reader is let in.
  RequireOk(OpenAt(link, true).status());
  PutOne(first->get(), "c");
  RequireOk((*first)->Close());
  RequireOk(OpenAt(link).status());
}

// A child that uses what it inherited must not keep the lock of a parent that closed.
BOOST_AUTO_TEST_CASE(AChildThatLivesOnDoesNotHoldTheLock) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  MakeDatabase(path);
  auto first = OpenAt(path);
  RequireOk(first.status());
  int hold[2];
  BOOST_REQUIRE_EQUAL(pipe(hold), 0);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    close(hold[1]);
    char byte = 0;
    [[maybe_unused]] const auto ended = read(hold[0], &byte, 1);
    _exit(0);
  }
  close(hold[0]);
  RequireOk((*first)->Close());
  RequireOk(OpenAt(path).status());
  close(hold[1]);
  waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(FilesMadeOnPurposeNeedNeitherMuchMemoryNorKillTheProgram) {
  TestRandom random("security/FilesMadeOnPurpose");
  const TemporaryDirectory place;
  std::vector<DamageableFile> samples;
  for (std::string& bytes : SampleStoreFiles()) samples.emplace_back(std::move(bytes), kSampleId);
  std::set<format::BlockKind> kinds;
  for (int kind = 1; kind <= 16; ++kind) kinds.insert(static_cast<format::BlockKind>(kind));
  const size_t trials = Trials(150);
  for (size_t i = 0; i < trials; ++i) {
    std::string edits(8 * (1 + random.Below(3)), '\0');
    for (char& byte : edits) byte = static_cast<char>(random.Next());
    const std::string file = place.Path("hostile");
    std::ofstream(file, std::ios::binary) << samples[i % samples.size()].Change(kinds, edits);
    for (const char* verb : {"verify ", "dump "}) {
      const int code = RunConfined(verb + file);
      const bool is_answer = code == 0 || code == 4 || code == 7 || code == 8;
      BOOST_TEST(is_answer, verb << i << " ended with " << code);
      if (is_answer) continue;
      fs::copy_file(file, fs::temp_directory_path() / "hostile-file",
                    fs::copy_options::overwrite_existing);
      BOOST_FAIL("the file is kept as " << fs::temp_directory_path() / "hostile-file");
    }
  }
}

/// A closed database without files whose catalog is `catalog`, checksums and all.
void MakeHostileDatabase(const std::string& path, const format::Catalog& catalog) {
  const auto file_system = base::NewPosixFileSystem();
  const auto random = base::NewSeededRandom(5);
  const auto draft = engine::StagedDatabase::Begin(file_system.get(), path);
  RequireOk(draft.status());
  RequireOk((*draft)->Finish(catalog, {}, random.get()));
}

/// A table of that many regions, whose records are as small as possible.
format::Catalog ManyRegions(uint32_t count) {
  format::Catalog catalog;
  format::TableRecord table;
  table.id = format::TableId(1);
  table.name = "t";
  table.families.push_back({format::FamilyId(0), {.name = "f"}});
  catalog.tables.Put(table.id, table);
  catalog.counters.next_file_number = 2;
  catalog.counters.next_table_id = 2;
  catalog.counters.next_region_id = count + 1;
  const auto key = [](uint32_t number) {
    std::string key;
    for (int shift = 24; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
    return key;
  };
  for (uint32_t i = 1; i <= count; ++i) {
    format::RegionRecord region;
    region.id = format::RegionId(i);
    region.table = table.id;
    if (i > 1) region.start_key = key(i);
    if (i < count) region.end_key = key(i + 1);
    catalog.regions.Put(region.id, region);
  }
  return catalog;
}

// A manifest is read by every verb; its largest frame would fill memory many times over.
BOOST_AUTO_TEST_CASE(AHostileManifestNeedsNoMoreThanItsCap) {
  const TemporaryDirectory place;
  MakeHostileDatabase(place.Path("db"), ManyRegions(1'900'000));
  for (const auto& entry : fs::directory_iterator(place.Path("db"))) {
    if (entry.path().filename().string().starts_with("manifest-")) {
      BOOST_TEST(entry.file_size() > 40u << 20);
      const int code = RunConfined("dump " + entry.path().string());
      BOOST_TEST((code == 0 || code == 4 || code == 7 || code == 8), "dump ended with " << code);
    }
  }
  for (const char* verb : {"info ", "verify ", "verify --deep "}) {
    const int code = RunConfined(verb + place.Path("db"));
    BOOST_TEST((code == 4 || code == 7 || code == 8), verb << "ended with " << code);
  }
  // A large one that is within the cap is none of it.
  MakeHostileDatabase(place.Path("large"), ManyRegions(50'000));
  BOOST_TEST(RunConfined("info " + place.Path("large")) == 0);
  const int salvaged = RunConfined("salvage " + place.Path("db") + " " + place.Path("copy"));
  BOOST_TEST((salvaged == 4 || salvaged == 7 || salvaged == 8), "salvage ended with " << salvaged);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
