// What a power cut that keeps nothing would leave of a database on a simulated disk, as far as it
// can be read. A manifest is read on from where it was read to, so that a test with n commits reads
// n frames, not n squared.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/storage/manifest.h"
#include "format/root.h"
#include "tools/simulation/simulated_image.h"

namespace tandem::test {

/// ROOT, if it can be read and names a manifest.
std::optional<format::RootFile> ReadDurableRoot(const DirectoryImage& directory);
/// Null: no file has this name durably.
const Inode* DurableFile(const DirectoryImage& directory, const std::string& name);

class DurableDatabases {
 public:
  struct Database {
    std::string manifest;
    const format::Catalog* catalog = nullptr;
  };
  /// The database at `path`; nullopt if none can be read. Lifetime: until the next call.
  std::optional<Database> Read(DiskImage* image, const std::string& path);
  /// The program writes to a file of `path` from `offset` on, or cuts it there. If that part of a
  /// manifest was read before, the manifest is read from the start each time from now on.
  void Changes(const std::string& path, const Inode& inode, uint64_t offset);

  uint64_t frames_read() const { return frames_read_; }

 private:
  struct Known {
    uint64_t inode = 0;
    format::ManifestContents contents;
  };

  Status ReadOn(const Inode& inode, const format::RootFile& root, Known* known);
  Status ReadWhole(const Inode& inode, const format::RootFile& root, Known* known);

  std::map<std::string, Known> known_;  // By path.
  std::set<std::string> rewritten_;     // Nothing is kept of these paths.
  uint64_t frames_read_ = 0;
};

}  // namespace tandem::test
