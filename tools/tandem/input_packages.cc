// Tries the sources from the largest to the one that every Debian machine has.
#include "tools/tandem/input_packages.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

constexpr const char* kDumpAvailable = "apt-cache dumpavail 2>/dev/null";
constexpr const char* kAvailableName = "apt-cache dumpavail";
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

PackageList::PackageList(Stream file, const char* name) : file_(std::move(file)) {
  if (file_ != nullptr) input_ = std::make_unique<InputBuffer>(file_.get(), name);
}

Result<PackageList> PackageList::Open(const Context& context) {
  PackageList available = OfCommand(kDumpAvailable, kAvailableName);
  if (available.HasContent()) return available;
  if (geteuid() == 0) {
    WriteBytes(context.err, "tandem: demo: apt knows no packages yet; running apt-get update\n");
    const bool updated = std::system(kUpdate) == 0;
    if (updated) available = OfCommand(kDumpAvailable, kAvailableName);
    if (updated && available.HasContent()) return available;
  }
  PackageList installed(Stream(std::fopen(kInstalled, "re"), Close{false}), kInstalled);
  if (installed.HasContent()) return installed;
  return Status::NotFound(
      "neither apt-cache dumpavail nor /var/lib/dpkg/status lists a package; the demo needs a "
      "Debian machine");
}

PackageList PackageList::OfCommand(const char* command, const char* name) {
  return PackageList(Stream(popen(command, "re"), Close{true}), name);
}

bool PackageList::HasContent() {
  if (input_ == nullptr) return false;
  const Result<bool> filled = input_->Fill();
  return filled.has_value() && *filled;
}

}  // namespace tandem::tools
