// Which engines this program was built with. An engine whose library was missing at build time is
// left out of the link: its function is declared weak here and has no address then.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/bench/peer.h"

namespace tandem::bench {

/// Opens the database in options.path, or creates it.
std::unique_ptr<Peer> NewTandemPeer(const PeerOptions& options);
[[gnu::weak]] std::unique_ptr<Peer> NewRocksDbPeer(const PeerOptions& options);
[[gnu::weak]] std::unique_ptr<Peer> NewLevelDbPeer(const PeerOptions& options);
[[gnu::weak]] std::unique_ptr<Peer> NewLmdbPeer(const PeerOptions& options);
[[gnu::weak]] std::unique_ptr<Peer> NewSqlitePeer(const PeerOptions& options);

struct Engine {
  const char* name;
  std::unique_ptr<Peer> (*open)(const PeerOptions& options);  ///< Null: not built.
  const char* package;  ///< Debian's package to install when it was not built.
};

/// All engines that the program knows, Tandem first.
std::vector<Engine> Engines();
/// Names of those that were built, in that order.
std::vector<std::string> BuiltEngines();
/// Whether the engine heeds PeerOptions::memory_bytes and Peer::WaitForIdle.
bool CanGrow(const std::string& engine);
/// Ends the process when there is no such engine or it was not built.
std::unique_ptr<Peer> OpenPeer(const std::string& engine, const PeerOptions& options);

}  // namespace tandem::bench
