// The file systems by name, so that one suite runs over each of them.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>

#include "base/file_system.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

inline const char* const kRealBackEnds[] = {"posix", "io_uring"};
inline const char* const kBackEnds[] = {"posix", "io_uring", "simulated", "emulated_ring"};

/// A back end over an empty directory of its own, in memory for the simulated ones. `skipped` where
/// rings are refused; the reason is printed once.
struct TestDisk {
  explicit TestDisk(const std::string& back_end);

  TemporaryDirectory temporary;
  std::unique_ptr<base::FileSystem> file_system;
  std::unique_ptr<base::Directory> directory;
  bool skipped = false;
};

/// All of `file`, read through it.
std::string ReadAll(base::File& file);

/// The exit code of the forked child `pid`, -1 when it died of a signal. Blocks until it ends.
int WaitForChild(int pid);

/// Runs `body` in a forked child, whose exit code is the int that it returns.
template <typename Body>
int RunInChild(Body body) {
  const int pid = fork();
  if (pid == 0) _exit(body());
  return WaitForChild(pid);
}

}  // namespace tandem::test
