// The test of damage that every engine can take: 121 keys, of which 80 are flushed to a file and
// the others follow, the last of them synced, closed cleanly. Then the files are damaged, and what
// the engine reads is compared with what it acknowledged. All through public interfaces and on real
// files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tandem::reliability {

inline constexpr uint64_t kPeerKeys = 121;
inline constexpr uint64_t kPeerKeysFlushed = 80;

/// The key and the value that are written `number`-th.
std::string PeerKey(uint64_t number);
std::string PeerValue(uint64_t number);

struct PeerRead {
  std::string error{};  ///< Empty: opened and scanned to the end.
  std::map<std::string, std::string> rows{};
};

class DamagePeer {
 public:
  virtual ~DamagePeer() = default;
  virtual std::string name() const = 0;
  /// Makes the database in a directory that does not exist. Empty, or what went wrong.
  virtual std::string Make(const std::string& path) = 0;
  /// Opens for writing as a program does, with all checks that reads can make, and scans.
  virtual PeerRead Read(const std::string& path) = 0;
};

std::unique_ptr<DamagePeer> NewTandemPeer();
// Those whose library was there when this was built; nullptr otherwise.
[[gnu::weak]] std::unique_ptr<DamagePeer> NewRocksDbPeer();
[[gnu::weak]] std::unique_ptr<DamagePeer> NewLevelDbPeer();

}  // namespace tandem::reliability
