// What the back ends do when the kernel refuses their calls, once or for ever: a child process
// forbids itself the calls (seccomp) or large files (a resource limit), and its exit code is the
// result.
#define BOOST_TEST_DYN_LINK
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

#include "base/fork_mark.h"
#include "test/base/back_ends.h"

namespace tandem::test {
namespace {

using base::IoRequest;

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz";
constexpr int kNotAllowedHere = 77;  // The child may not install a filter.

// From now on this process gets `error` from the system call `number`.
bool Refuse(unsigned number, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = 4, .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void CheckOutcome(int outcome) {
  if (outcome == kNotAllowedHere) {
    BOOST_TEST_MESSAGE("skipped: no filter of system calls is allowed here");
    return;
  }
  BOOST_TEST(outcome == 0);
}

BOOST_AUTO_TEST_SUITE(RefusedCallsSuite)

BOOST_DATA_TEST_CASE(ACallThatIsInterruptedForEverIsAnErrorAndNoHang, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  CheckOutcome(RunInChild([&] {
    for (unsigned call : {SYS_pread64, SYS_pwrite64, SYS_fdatasync, SYS_ftruncate}) {
      if (!Refuse(call, EINTR)) return kNotAllowedHere;
    }
    std::string buffer(10, ' ');
    if (file->Read(0, buffer).error().code() != StatusCode::kUnavailable) return 1;
    if (file->Write(0, "x").code() != StatusCode::kUnavailable) return 2;
    if (file->DataSync().code() != StatusCode::kUnavailable) return 3;
    return file->Truncate(0).code() == StatusCode::kUnavailable ? 0 : 4;
  }));
}

BOOST_DATA_TEST_CASE(PreallocationIsAdviceWhereItIsUnknown, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  for (unsigned error : {EOPNOTSUPP, ENOSYS}) {
    CheckOutcome(RunInChild([&] {
      if (!Refuse(SYS_fallocate, error)) return kNotAllowedHere;
      return file->Preallocate(4096).ok() ? 0 : 1;
    }));
  }
  CheckOutcome(RunInChild([&] {
    if (!Refuse(SYS_fallocate, EOPNOTSUPP)) return kNotAllowedHere;
    return file->Extend(4096).code() == StatusCode::kUnsupported ? 0 : 1;
  }));
  CheckOutcome(RunInChild([&] {
    if (!Refuse(SYS_fallocate, EDQUOT)) return kNotAllowedHere;
    return file->Preallocate(4096).code() == StatusCode::kNoSpace ? 0 : 1;
  }));
}

BOOST_AUTO_TEST_CASE(RingsThatAreForbiddenAreNamedWithTheirReason) {
  CheckOutcome(RunInChild([] {
    if (!Refuse(SYS_io_uring_setup, EPERM)) return kNotAllowedHere;
    std::string reason;
    if (base::NewUringFileSystem(&reason)->name() != "posix") return 1;
    const bool is_told =
        reason == "io_uring is refused here (Operation not permitted): using POSIX reads";
    return is_told ? 0 : 2;
  }));
}

BOOST_AUTO_TEST_CASE(AKernelThatCannotMarkForksIsNamedWithWhatItLacks) {
  CheckOutcome(RunInChild([] {
    if (!Refuse(SYS_madvise, EINVAL)) return kNotAllowedHere;
    const auto mark = base::ForkMark::Make();
    const bool is_told =
        mark.status().message() == "the kernel has no MADV_WIPEONFORK, which Linux has since 4.14";
    return is_told ? 0 : 1;
  }));
}

// Submits reads to a queue whose ring the kernel does not serve any more. Returns an exit code.
int ReadThroughDeadRing(TestDisk& disk, base::File& file, unsigned error) {
  const auto queue = disk.file_system->NewQueue(4);
  if (!Refuse(SYS_io_uring_enter, error)) return kNotAllowedHere;
  std::vector<std::string> buffers(20, std::string(5, ' '));
  std::vector<IoRequest> requests(20);
  std::vector<IoRequest*> pointers;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].file = &file;
    requests[i].offset = i;
    requests[i].buffer = buffers[i];
    pointers.push_back(&requests[i]);
  }
  queue->Submit(pointers);
  int count = 0;
  for (; queue->Wait() != nullptr; ++count) {
  }
  if (count != 20) return 1;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].status.ok() || requests[i].transferred != 5) return 2;
    if (buffers[i] != kAlphabet.substr(i, 5)) return 3;
  }
  return 0;
}

BOOST_AUTO_TEST_CASE(ARingThatDiesLeavesItsRequestsToPosix) {
  TestDisk disk("io_uring");
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, kAlphabet).ok());
  for (unsigned error : {EPERM, EAGAIN, EINTR, EBUSY, ENOMEM}) {
    BOOST_TEST_CONTEXT("error " << error) {
      CheckOutcome(RunInChild([&] { return ReadThroughDeadRing(disk, *file, error); }));
    }
  }
}

// From now on this process cannot make a file larger than `size_bytes`: a write that crosses the
// limit is short, the next one fails.
void LimitFileSize(rlim_t size_bytes) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = size_bytes, .rlim_max = size_bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

BOOST_DATA_TEST_CASE(AShortWriteIsContinuedUntilItsError, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  const std::string expected = "IoError: cannot write at offset 10000 of 'f': File too large";
  BOOST_TEST(RunInChild([&] {
               LimitFileSize(10'000);
               return file->Write(0, std::string(15'000, 'x')).ToString() == expected ? 0 : 1;
             }) == 0);
  BOOST_TEST(*file->Size() == 10'000u);
  BOOST_TEST(file->Truncate(0).ok());
  BOOST_TEST(RunInChild([&] {
               const auto queue = disk.file_system->NewQueue(1);
               LimitFileSize(10'000);
               std::string data(15'000, 'y');
               IoRequest request;
               request.kind = IoRequest::Kind::kWrite;
               request.file = file.get();
               request.buffer = data;
               IoRequest* requests[] = {&request};
               queue->Submit(requests);
               queue->Wait();
               return request.status.ToString() == expected ? 0 : 1;
             }) == 0);
  BOOST_TEST((ReadAll(*file) == std::string(10'000, 'y')));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
