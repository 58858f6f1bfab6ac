// Somebody who watches what is done with a simulated disk and says what is wrong with it. The disk
// knows nothing of what its files mean; trace_linter.h does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/simulation/simulated_control.h"

namespace tandem::test {

class DiskImage;
struct Inode;

/// An operation that succeeds. Writes are seen before they change the file, all others when they
/// are done.
struct Observation {
  DiskOperation operation = DiskOperation::kRead;
  const std::string& directory;
  const std::string& name;
  const Inode* inode = nullptr;  ///< Null for kList and kDirectorySync.
  uint64_t offset = 0;
  uint64_t size = 0;        ///< kRead: bytes returned. kTruncate: the new size.
  std::string_view data{};  ///< kWrite.
};

/// Threads: one at a time; the disk calls with its lock held.
class DiskObserver {
 public:
  virtual ~DiskObserver() = default;
  /// Returns what is wrong, empty when nothing is.
  virtual std::string Observe(const Observation& seen, DiskImage* image) = 0;
  /// The test changed files of `directory` behind the program's back.
  virtual void Tampered(const std::string& directory) = 0;
  /// From now on syncs may lie, so nothing durable can be asked for.
  virtual void Distrust() = 0;
};

}  // namespace tandem::test
