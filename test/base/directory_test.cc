// Directories: names, links, modes, and the lock. What has no meaning in memory runs on real disks
// only.
#define BOOST_TEST_DYN_LINK
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "test/base/back_ends.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using base::OpenMode;

std::vector<std::string> SortedNames(base::Directory& directory) {
  std::vector<std::string> names = *directory.List();
  std::sort(names.begin(), names.end());
  return names;
}

mode_t ModeOf(const std::string& path) {
  struct stat attributes {};
  BOOST_REQUIRE(stat(path.c_str(), &attributes) == 0);
  return attributes.st_mode & 07777;
}

BOOST_AUTO_TEST_SUITE(DirectorySuite)

BOOST_DATA_TEST_CASE(ListHasTheFilesThatExist, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(disk.directory->Create("b").has_value());
  BOOST_TEST(disk.directory->Create("a").has_value());
  BOOST_TEST(disk.directory->Create("c").has_value());
  BOOST_TEST(disk.directory->Remove("b").ok());
  BOOST_TEST(disk.directory->Sync().ok());
  mkdir(disk.temporary.Path("folder").c_str(), 0700);
  const std::vector<std::string> expected = {"a", "c"};
  BOOST_TEST((SortedNames(*disk.directory) == expected));
  BOOST_TEST((SortedNames(*disk.directory) == expected));
}

BOOST_DATA_TEST_CASE(ALinkIsASecondNameOfTheFile, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto other = disk.file_system->CreateDirectory(disk.temporary.Path("other"));
  BOOST_REQUIRE(other.has_value());
  BOOST_TEST(ModeOf(disk.temporary.Path("other")) == 0700u);
  BOOST_TEST((*disk.directory->Create("f"))->Write(0, "bytes").ok());
  BOOST_TEST((*other)->Link(*disk.directory, "f", "g").ToString() == "OK");
  BOOST_TEST((*other)->Link(*disk.directory, "f", "g").code() == StatusCode::kAlreadyExists);
  BOOST_TEST((*other)->Link(*disk.directory, "h", "h").code() == StatusCode::kNotFound);
  BOOST_TEST((*other)->Link(*disk.directory, "../f", "h").code() == StatusCode::kInvalidArgument);
  BOOST_TEST((*other)->Link(*disk.directory, "f", "../h").code() == StatusCode::kInvalidArgument);
  BOOST_TEST(disk.directory->Remove("f").ok());
  BOOST_TEST(ReadAll(**(*other)->Open("g", OpenMode::kReadOnly)) == "bytes");
  // A link is neither followed nor passed on.
  BOOST_REQUIRE(symlink("g", disk.temporary.Path("other/soft").c_str()) == 0);
  BOOST_TEST(disk.directory->Link(**other, "soft", "s").code() == StatusCode::kIoError);
}

BOOST_DATA_TEST_CASE(ADirectoryIsMadeOnceAndKnowsWhereItLies, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  base::FileSystem& files = *disk.file_system;
  const std::string path = disk.temporary.Path("outer");
  const auto outer = files.CreateDirectory(path);
  const auto inner = files.CreateDirectory(path + "/inner");
  BOOST_REQUIRE((outer.has_value() && inner.has_value()));
  BOOST_TEST(files.CreateDirectory(path).error().code() == StatusCode::kAlreadyExists);
  BOOST_TEST(files.CreateDirectory(path + "/a/b").error().code() == StatusCode::kNotFound);
  BOOST_REQUIRE(symlink("nowhere", disk.temporary.Path("soft").c_str()) == 0);
  BOOST_TEST(files.CreateDirectory(disk.temporary.Path("soft")).error().code() ==
             StatusCode::kAlreadyExists);
  BOOST_TEST(*(*inner)->IsWithin(**outer));
  BOOST_TEST(*(*inner)->IsWithin(**inner));
  BOOST_TEST(!*(*outer)->IsWithin(**inner));
  BOOST_TEST(files.RemoveDirectory(path).code() == StatusCode::kIoError);
  BOOST_TEST(files.RemoveDirectory(path + "/inner").ok());
  BOOST_TEST(files.RemoveDirectory(path).ok());
  BOOST_TEST(files.RemoveDirectory(path).code() == StatusCode::kNotFound);
}

BOOST_DATA_TEST_CASE(ErrorsNameWhatIsMissingOrThere, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(disk.directory->Create("f").has_value());
  BOOST_TEST(disk.directory->Create("f").error().code() == StatusCode::kAlreadyExists);
  const Status missing = disk.directory->Open("g", OpenMode::kReadWrite).error();
  BOOST_TEST(missing.code() == StatusCode::kNotFound);
  BOOST_TEST(missing.message() == "cannot open 'g': No such file or directory");
  BOOST_TEST(disk.directory->Remove("g").code() == StatusCode::kNotFound);
  const std::string nowhere = disk.temporary.Path("x/y");
  BOOST_TEST(disk.file_system->OpenDirectory(nowhere, true).error().code() ==
             StatusCode::kNotFound);
}

BOOST_DATA_TEST_CASE(NamesThatLeaveTheDirectoryAreRefused, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("/etc/passwd"), std::string("../f"), std::string("f\0g", 3)}) {
    BOOST_TEST(disk.directory->Create(name).error().code() == StatusCode::kInvalidArgument);
    BOOST_TEST(disk.directory->Open(name, OpenMode::kReadOnly).error().code() ==
               StatusCode::kInvalidArgument);
    BOOST_TEST(disk.directory->Remove(name).code() == StatusCode::kInvalidArgument);
  }
  BOOST_TEST(disk.directory->Create(std::string(300, 'n')).error().code() == StatusCode::kIoError);
}

BOOST_DATA_TEST_CASE(LinksAreNeverFollowed, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto target = *disk.directory->Create("target");
  BOOST_TEST(target->Write(0, "secret").ok());
  BOOST_REQUIRE(symlink("target", disk.temporary.Path("link").c_str()) == 0);
  BOOST_REQUIRE(symlink("nowhere", disk.temporary.Path("dangling").c_str()) == 0);
  BOOST_TEST(disk.directory->Open("link", OpenMode::kReadOnly).error().code() ==
             StatusCode::kIoError);
  BOOST_TEST(disk.directory->Open("link", OpenMode::kReadWrite).error().code() ==
             StatusCode::kIoError);
  BOOST_TEST(disk.directory->Create("dangling").error().code() == StatusCode::kAlreadyExists);
  BOOST_TEST(access(disk.temporary.Path("nowhere").c_str(), F_OK) != 0);
  BOOST_TEST((SortedNames(*disk.directory) == std::vector<std::string>{"target"}));
}

BOOST_DATA_TEST_CASE(OnlyRegularFilesOpen, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_REQUIRE(mkdir(disk.temporary.Path("folder").c_str(), 0700) == 0);
  BOOST_REQUIRE(mkfifo(disk.temporary.Path("pipe").c_str(), 0600) == 0);
  for (const char* name : {"folder", "pipe"}) {
    for (OpenMode mode : {OpenMode::kReadOnly, OpenMode::kReadWrite}) {
      BOOST_TEST(disk.directory->Open(name, mode).error().code() == StatusCode::kIoError);
    }
  }
  BOOST_TEST(disk.directory->Remove("folder").code() == StatusCode::kIoError);
}

BOOST_DATA_TEST_CASE(ModesAreNarrowUnderAnyUmask, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const mode_t before = umask(0);
  const std::string path = disk.temporary.Path("database");
  auto directory = disk.file_system->OpenDirectory(path, true);
  const bool is_created = directory.has_value() && (*directory)->Create("f").has_value();
  umask(before);
  BOOST_REQUIRE(is_created);
  BOOST_TEST(ModeOf(path) == 0700u);
  BOOST_TEST(ModeOf(path + "/f") == 0600u);
}

BOOST_DATA_TEST_CASE(OpenDirectoryMakesOnlyWhenAsked, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const std::string path = disk.temporary.Path("database");
  BOOST_TEST(disk.file_system->OpenDirectory(path, false).error().code() == StatusCode::kNotFound);
  BOOST_TEST(disk.file_system->OpenDirectory(path, true).has_value());
  BOOST_TEST(disk.file_system->OpenDirectory(path, true).has_value());
  BOOST_TEST(disk.file_system->OpenDirectory(path, false).has_value());
  BOOST_TEST(disk.directory->Create("plain").has_value());
  BOOST_TEST(disk.file_system->OpenDirectory(disk.temporary.Path("plain"), true).error().code() ==
             StatusCode::kIoError);
}

BOOST_DATA_TEST_CASE(ADirectoryFollowsItsInodeNotItsPath, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const std::string path = disk.temporary.Path("database");
  const auto directory = *disk.file_system->OpenDirectory(path, true);
  BOOST_REQUIRE(rename(path.c_str(), (path + "2").c_str()) == 0);
  BOOST_TEST(directory->Create("f").has_value());
  BOOST_TEST(access((path + "2/f").c_str(), F_OK) == 0);
}

BOOST_DATA_TEST_CASE(ASecondLockInTheSameProcessIsBusy, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(!disk.directory->HoldsLock());
  BOOST_TEST(disk.directory->Lock().ok());
  BOOST_TEST(disk.directory->Lock().ok());
  BOOST_TEST(disk.directory->HoldsLock());
  const auto second = *disk.file_system->OpenDirectory(disk.temporary.path(), false);
  const Status status = second->Lock();
  BOOST_TEST(status.code() == StatusCode::kBusy);
  BOOST_TEST(
      status.message().find("this process, " + std::to_string(getpid())) != std::string_view::npos,
      status.message());
  BOOST_TEST(!second->HoldsLock());
  disk.directory.reset();
  BOOST_TEST(second->Lock().ok());
  BOOST_TEST(SortedNames(*second).empty());
}

BOOST_DATA_TEST_CASE(ALockInAnotherProcessIsBusyWithItsPid, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  int ready[2];
  BOOST_REQUIRE(pipe(ready) == 0);
  const int child = fork();
  if (child == 0) {
    const auto directory = base::NewPosixFileSystem()->OpenDirectory(disk.temporary.path(), false);
    const bool is_locked = directory.has_value() && (*directory)->Lock().ok();
    const char answer = is_locked ? 'y' : 'n';
    if (write(ready[1], &answer, 1) == 1) pause();
    _exit(0);
  }
  char answer = 0;
  BOOST_TEST(read(ready[0], &answer, 1) == 1);
  BOOST_TEST(answer == 'y');
  const Status status = disk.directory->Lock();
  BOOST_TEST(status.code() == StatusCode::kBusy);
  BOOST_TEST(status.message().find("by process " + std::to_string(child)) != std::string_view::npos,
             status.message());
  kill(child, SIGKILL);
  WaitForChild(child);
  BOOST_TEST(disk.directory->Lock().ok());
  close(ready[0]);
  close(ready[1]);
}

BOOST_DATA_TEST_CASE(AnInheritedHandleDoesNotHoldTheLock, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(disk.directory->Lock().ok());
  const std::string parent = std::to_string(getpid());
  const int outcome = RunInChild([&] {
    if (disk.directory->HoldsLock()) return 1;
    const Status status = disk.directory->Lock();
    if (status.code() != StatusCode::kBusy) return 2;
    if (status.message().find("by process " + parent) == std::string_view::npos) return 3;
    disk.directory.reset();
    return 0;
  });
  BOOST_TEST(outcome == 0);
  // The child's end of the handle has not given the parent's lock away.
  const auto second = *disk.file_system->OpenDirectory(disk.temporary.path(), false);
  BOOST_TEST(second->Lock().code() == StatusCode::kBusy);
}

BOOST_DATA_TEST_CASE(ALivingChildDoesNotKeepTheLock, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(disk.directory->Lock().ok());
  const int child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  disk.directory.reset();
  const auto second = *disk.file_system->OpenDirectory(disk.temporary.path(), false);
  BOOST_TEST(second->Lock().ok());
  kill(child, SIGKILL);
  WaitForChild(child);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
