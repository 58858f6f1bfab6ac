// See peers.h.
#include "tools/bench/peers.h"

namespace tandem::bench {

std::vector<Engine> Engines() {
  return {{"tandem", NewTandemPeer, ""},
          {"rocksdb", NewRocksDbPeer, "librocksdb-dev"},
          {"leveldb", NewLevelDbPeer, "libleveldb-dev"},
          {"lmdb", NewLmdbPeer, "liblmdb-dev"},
          {"sqlite", NewSqlitePeer, "libsqlite3-dev"}};
}

std::vector<std::string> BuiltEngines() {
  std::vector<std::string> names;
  for (const Engine& engine : Engines()) {
    if (engine.open != nullptr) names.push_back(engine.name);
  }
  return names;
}

bool CanGrow(const std::string& engine) { return engine == "tandem" || engine == "rocksdb"; }

std::unique_ptr<Peer> OpenPeer(const std::string& engine, const PeerOptions& options) {
  for (const Engine& known : Engines()) {
    if (engine != known.name) continue;
    if (known.open != nullptr) return known.open(options);
    Fail(engine + " was not built: install " + known.package + " and make again");
  }
  Fail("unknown engine '" + engine + "': expected tandem, rocksdb, leveldb, lmdb or sqlite");
}

}  // namespace tandem::bench
