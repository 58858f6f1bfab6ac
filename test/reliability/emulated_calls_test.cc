// The POSIX back end over calls that fail: what it repeats and continues, and what it reports.
#define BOOST_TEST_DYN_LINK
#include "test/reliability/emulated_calls.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>
#include <vector>

#include "test/support/print.h"

namespace tandem::reliability {
namespace {

using test::SimulatedDisk;

struct Back {
  SimulatedDisk disk;
  EmulatedCalls calls{&disk};
  std::unique_ptr<base::FileSystem> files = base::NewPosixFileSystem();
};

BOOST_AUTO_TEST_SUITE(emulated_calls)

BOOST_AUTO_TEST_CASE(FilesAreThoseOfTheDisk) {
  Back back;
  {
    const auto directory = *back.files->OpenDirectory("db", true);
    BOOST_TEST(directory->Lock().ok());
    BOOST_TEST((*back.files->OpenDirectory("db", true))->Lock().code() == StatusCode::kBusy);
    const auto file = *directory->Create("f");
    BOOST_TEST(file->Write(0, "abcdef").ok());
    BOOST_TEST(file->Truncate(4).ok());
    BOOST_TEST(*file->Size() == 4u);
    BOOST_TEST(directory->Create("f").error().code() == StatusCode::kAlreadyExists);
    BOOST_TEST(*directory->List() == std::vector<std::string>{"f"});
    BOOST_TEST(*back.disk.Content("db", "f") == "abcd");
    BOOST_TEST(back.disk.pending_count() > 0u);
    BOOST_TEST(file->DataSync().ok());
    BOOST_TEST(directory->Sync().ok());
    BOOST_TEST(back.disk.pending_count() == 0u);
    BOOST_TEST(directory->Remove("f").ok());
    BOOST_TEST(directory->Open("f", base::OpenMode::kReadOnly).error().code() ==
               StatusCode::kNotFound);
  }
  BOOST_TEST(back.calls.open_count() == 0u);
  // The lock went with its descriptor.
  BOOST_TEST((*back.files->OpenDirectory("db", false))->Lock().ok());
}

BOOST_AUTO_TEST_CASE(ALockIsTakenAlthoughACallForItIsInterruptedOnce) {
  for (const EmulatedCall call : {EmulatedCall::kOpenDirectory, EmulatedCall::kLock}) {
    Back back;
    const auto directory = *back.files->OpenDirectory("db", true);
    back.calls.Inject({.calls = {call}, .error = EINTR});
    const Status status = directory->Lock();
    BOOST_TEST(status.ok(), status.ToString());
    BOOST_TEST(back.calls.has_struck());
  }
}

BOOST_AUTO_TEST_CASE(AShortTransferIsContinued) {
  Back back;
  const auto file = *(*back.files->OpenDirectory("db", true))->Create("f");
  back.calls.Inject(
      {.calls = {EmulatedCall::kWrite, EmulatedCall::kRead}, .sticky = true, .error = 0});
  BOOST_TEST(file->Write(0, "abcdefgh").ok());
  std::string buffer(20, ' ');
  BOOST_TEST(*file->Read(0, buffer) == 8u);
  BOOST_TEST(buffer.substr(0, 8) == "abcdefgh");
}

BOOST_AUTO_TEST_CASE(ACallThatIsRefusedForEverIsAnError) {
  Back back;
  const auto file = *(*back.files->OpenDirectory("db", true))->Create("f");
  back.calls.Inject({.calls = {EmulatedCall::kWrite, EmulatedCall::kSync},
                     .at = 2,
                     .sticky = true,
                     .error = EAGAIN});
  BOOST_TEST(file->Write(0, "a").ok());
  BOOST_TEST(file->Write(1, "b").ToString() ==
             "Unavailable: cannot write at offset 1 of 'f': Resource temporarily unavailable");
  BOOST_TEST(file->DataSync().code() == StatusCode::kUnavailable);
  back.calls.ClearFaults();
  BOOST_TEST(file->DataSync().ok());
}

BOOST_AUTO_TEST_CASE(TheDiskLearnsOfASyncThatFails) {
  Back back;
  const auto directory = *back.files->OpenDirectory("db", true);
  const auto file = *directory->Create("f");
  BOOST_TEST(directory->Sync().ok());
  BOOST_TEST(file->Write(0, "abcd").ok());
  back.calls.Inject({.calls = {EmulatedCall::kSync}, .error = EIO});
  BOOST_TEST(file->DataSync().code() == StatusCode::kIoError);
  // What it covered is lost, and no later sync brings it back.
  BOOST_TEST(file->DataSync().ok());
  const auto crashed = back.disk.CrashedCopy({.kept = test::CrashPolicy::Kept::kAll});
  BOOST_TEST(*crashed->Content("db", "f") != "abcd");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::reliability
