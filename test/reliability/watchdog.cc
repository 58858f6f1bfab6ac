// See watchdog.h.
#include "test/reliability/watchdog.h"

#include <cstdio>
#include <cstdlib>

namespace tandem::reliability {
namespace {

// What main() answers when a suite found something.
constexpr int kFoundExit = 8;

}  // namespace

Watchdog::Watchdog(const std::string& suite)
    : watchdog_({.slots = kSlots,
                 .limit_micros = kHangMicros,
                 .on_hang = [suite](const std::vector<test::Underway>& underway) {
                   std::fprintf(stderr, "reliability: %s: hangs for 10 s: %s\n", suite.c_str(),
                                underway.front().what.c_str());
                   std::_Exit(kFoundExit);
                 }}) {}

}  // namespace tandem::reliability
