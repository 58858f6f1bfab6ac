// See back_ends.h.
#include "test/base/back_ends.h"

#include <sys/wait.h>

#include <cstdio>

#include "base/check.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

std::unique_ptr<base::FileSystem> NewBackEnd(const std::string& name) {
  if (name == "posix") return base::NewPosixFileSystem();
  if (name == "simulated") return std::make_unique<SimulatedDisk>();
  if (name == "emulated_ring") {
    auto disk = std::make_unique<SimulatedDisk>();
    disk->UseRings();
    return disk;
  }
  std::string reason;
  auto file_system = base::NewUringFileSystem(&reason);
  if (reason.empty()) return file_system;
  static bool is_printed = false;
  if (!is_printed) std::printf("tests over rings are skipped: %s\n", reason.c_str());
  is_printed = true;
  return nullptr;
}

}  // namespace

TestDisk::TestDisk(const std::string& back_end) : file_system(NewBackEnd(back_end)) {
  skipped = file_system == nullptr;
  if (skipped) return;
  auto opened = file_system->OpenDirectory(temporary.path(), true);
  CHECK(opened.has_value());
  directory = std::move(*opened);
}

std::string ReadAll(base::File& file) {
  const auto size = file.Size();
  CHECK(size.has_value());
  std::string content(*size + 1, '\0');
  const auto count = file.Read(0, content);
  CHECK(count.has_value());
  content.resize(*count);
  return content;
}

int WaitForChild(int pid) {
  int state = 0;
  CHECK(waitpid(pid, &state, 0) == pid);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

}  // namespace tandem::test
