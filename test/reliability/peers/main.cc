// damage_peers: flipped bits and cuts in the files of Tandem and of the engines that were there
// when this was built. Prints a table; exits 8 if Tandem did not report damage.
//
//   damage_peers [DIR [SECONDS]]   DIR: where files go; SECONDS: the most for each line
#include <cstdio>
#include <cstdlib>

#include "test/reliability/damage_peers.h"

int main(int argc, char** argv) {
  tandem::reliability::Plan plan;
  plan.directory = argc > 1 ? argv[1] : "/dev/shm";
  plan.seconds = argc > 2 ? std::atof(argv[2]) : 0;
  const tandem::reliability::Report report = tandem::reliability::RunPeers(plan);
  for (const std::string& failure : report.failures) {
    std::fprintf(stderr, "damage_peers: %s\n", failure.c_str());
  }
  return report.failures.empty() ? 0 : 8;
}
