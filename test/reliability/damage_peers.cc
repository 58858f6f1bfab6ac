// See damage_peer.h and damage_peers.h. Each trial copies the files into a directory of its own,
// changes one of them, and opens the database in a worker, which may die.
#include "test/reliability/damage_peers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "test/reliability/damage_peer.h"
#include "test/reliability/trial_workers.h"
#include "test/support/temporary_directory.h"

namespace tandem::reliability {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

Files ReadFiles(const std::string& path) {
  Files files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files[entry.path().filename().string()] = bytes.str();
  }
  return files;
}

void WriteFiles(const std::string& path, const Files& files) {
  fs::remove_all(path);
  fs::create_directory(path);
  for (const auto& [name, bytes] : files) {
    std::ofstream(path + "/" + name, std::ios::binary) << bytes;
  }
}

/// What the rows say about the order in which they were written.
Outcome Judge(const PeerRead& read) {
  uint64_t found = 0;
  bool is_prefix = true;
  for (uint64_t i = 0; i < kPeerKeys; ++i) {
    const auto row = read.rows.find(PeerKey(i));
    if (row == read.rows.end()) continue;
    if (row->second != PeerValue(i)) return Outcome::kWrong;
    is_prefix = is_prefix && found == i;
    ++found;
  }
  if (found != read.rows.size()) return Outcome::kWrong;
  if (!read.error.empty()) return Outcome::kReported;
  if (found == kPeerKeys) return Outcome::kHarmless;
  return is_prefix ? Outcome::kSuffixLost : Outcome::kHole;
}

/// The files of one engine, and every place in them.
class PeerTrials {
 public:
  PeerTrials(DamagePeer* peer, const Plan& plan) : peer_(*peer), directory_(plan.directory) {
    const std::string path = directory_.Path("made");
    // In a child, so that no thread of an engine is there when workers are forked.
    made_ = RunInChild([&] {
      const std::string wrong = peer_.Make(path);
      if (!wrong.empty()) std::fprintf(stderr, "damage_peers: %s\n", wrong.c_str());
      return wrong.empty();
    });
    if (!made_) return;
    files_ = ReadFiles(path);
    for (const auto& [name, bytes] : files_) {
      if (name.starts_with("LOG")) continue;  // Text for people, which no engine reads.
      for (size_t at = 0; at < bytes.size(); ++at) places_.push_back({&name, at});
    }
    // In no order, so that a part of the trials represents all of them.
    std::shuffle(places_.begin(), places_.end(), std::mt19937_64(plan.seed));
  }

  bool is_made() const { return made_ && Try(places_.size(), false).outcome == Outcome::kHarmless; }
  TrialRun Run(bool cuts, double seconds) const {
    return RunTrials(
        {.count = places_.size(), .seconds = seconds},
        [&](uint64_t number) { return Try(number, cuts); },
        [&](uint64_t number) { return Describe(number, cuts); });
  }

 private:
  struct Place {
    const std::string* name;
    size_t at;
  };

  /// A place after the last one: nothing is changed.
  TrialResult Try(uint64_t number, bool cuts) const {
    Files files = files_;
    if (number < places_.size()) {
      std::string& bytes = files[*places_[number].name];
      const size_t at = places_[number].at;
      if (cuts) {
        bytes.resize(at);
      } else {
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      }
    }
    const std::string path = directory_.Path("trial" + std::to_string(getpid()));
    WriteFiles(path, files);
    TrialResult result{Judge(peer_.Read(path))};
    if (IsSilent(result.outcome)) result.note = Describe(number, cuts);
    return result;
  }
  static bool IsSilent(Outcome outcome) {
    return outcome == Outcome::kSuffixLost || outcome == Outcome::kHole ||
           outcome == Outcome::kWrong;
  }
  std::string Describe(uint64_t number, bool cuts) const {
    return peer_.name() + ": " + *places_[number].name + (cuts ? " cut to " : " bit flipped at ") +
           std::to_string(places_[number].at);
  }

  DamagePeer& peer_;
  test::TemporaryDirectory directory_;
  bool made_ = false;
  Files files_;
  std::vector<Place> places_;
};

uint64_t SilentCount(const TrialRun& run) {
  return run.count(Outcome::kSuffixLost) + run.count(Outcome::kHole) + run.count(Outcome::kWrong);
}

void PrintHead() {
  std::printf("%-8s %-6s %8s %9s %9s %7s %6s %6s %7s %8s %8s %7s\n", "engine", "damage", "trials",
              "error", "harmless", "suffix", "hole", "wrong", "silent", "silent %", "crashes",
              "hangs");
}

void PrintLine(const std::string& name, const char* damage, const TrialRun& run) {
  const auto count = [&](Outcome outcome) {
    return static_cast<unsigned long long>(run.count(outcome));
  };
  const auto silent = static_cast<unsigned long long>(SilentCount(run));
  std::printf("%-8s %-5s %8llu %9llu %9llu %7llu %6llu %6llu %7llu %7.2f%% %8llu %7llu\n",
              name.c_str(), damage, static_cast<unsigned long long>(run.ran),
              count(Outcome::kReported), count(Outcome::kHarmless), count(Outcome::kSuffixLost),
              count(Outcome::kHole), count(Outcome::kWrong), silent,
              run.ran == 0 ? 0 : 100 * static_cast<double>(silent) / static_cast<double>(run.ran),
              count(Outcome::kCrash), count(Outcome::kHang));
  std::fflush(stdout);
}

void Examine(DamagePeer* peer, const Plan& plan, Report* report) {
  const PeerTrials trials(peer, plan);
  bool fine = false;
  // The undamaged files are read in a child, too.
  fine = RunInChild([&] { return trials.is_made(); });
  if (!fine) {
    report->failures.push_back(peer->name() + ": the undamaged database is not read back");
    return;
  }
  for (const bool cuts : {false, true}) {
    const TrialRun run = trials.Run(cuts, plan.seconds);
    PrintLine(peer->name(), cuts ? "cut" : "flip", run);
    if (peer->name() != "Tandem") continue;
    report->failures.insert(report->failures.end(), run.notes.begin(), run.notes.end());
  }
}

}  // namespace

std::string PeerKey(uint64_t number) {
  char key[16];
  // Not in the order of writing, so that a hole is not an end of the key space.
  std::snprintf(key, sizeof(key), "key%06u", static_cast<unsigned>(number * 37 % kPeerKeys));
  return key;
}

std::string PeerValue(uint64_t number) {
  return "value of " + std::to_string(number) +
         std::string(20, static_cast<char>('a' + number % 26));
}

Report RunPeers(const Plan& plan) {
  Report report;
  std::vector<std::unique_ptr<DamagePeer>> peers;
  peers.push_back(NewTandemPeer());
  if (&NewRocksDbPeer != nullptr) peers.push_back(NewRocksDbPeer());
  if (&NewLevelDbPeer != nullptr) peers.push_back(NewLevelDbPeer());
  PrintHead();
  for (const auto& peer : peers) Examine(peer.get(), plan, &report);
  return report;
}

}  // namespace tandem::reliability
