// Tries the sources from the largest to the one that every Debian machine has.
#include "tools/tandem/input_packages.h"

#include <unistd.h>

#include <cstdlib>

#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

constexpr const char* kDumpAvailable = "apt-cache dumpavail 2>/dev/null";
constexpr const char* kUpdate = "apt-get update >&2";
constexpr const char* kInstalled = "/var/lib/dpkg/status";

}  // namespace

void PackageList::Close::operator()(std::FILE* file) const {
  if (is_command) {
    pclose(file);
  } else {
    std::fclose(file);
  }
}

Result<PackageList> PackageList::Open(const Context& context) {
  Stream available = Run(kDumpAvailable);
  if (!HasContent(available.get()) && geteuid() == 0) {
    WriteBytes(context.err, "tandem: demo: apt knows no packages yet; running apt-get update\n");
    if (std::system(kUpdate) == 0) available = Run(kDumpAvailable);
  }
  if (HasContent(available.get())) {
    return PackageList(std::move(available), "apt-cache dumpavail");
  }
  Stream installed(std::fopen(kInstalled, "re"), Close{false});
  if (HasContent(installed.get())) return PackageList(std::move(installed), kInstalled);
  return Status::NotFound(
      "neither apt-cache dumpavail nor /var/lib/dpkg/status lists a package; "
      "the demo needs a Debian machine");
}

PackageList::Stream PackageList::Run(const char* command) {
  return Stream(popen(command, "re"), Close{true});
}

bool PackageList::HasContent(std::FILE* file) {
  if (file == nullptr) return false;
  const int first = std::fgetc(file);
  return first != EOF && std::ungetc(first, file) != EOF;
}

}  // namespace tandem::tools
