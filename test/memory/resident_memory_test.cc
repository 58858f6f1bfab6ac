// Options::memory_bytes is a promise: a process with an open database takes the budget and 48 MiB
// at most, whatever is done with it, and the account says where it goes.
//
// A child of this process, whose memory nothing else has touched, loads rows with three indexes,
// flushes, merges, asks with four threads, verifies, closes and opens again; then it ends without a
// close, and another child opens what it left. A thread of the child samples what is resident
// (anonymous pages: the mapped program does not count) and what is accounted. One child may map the
// budget and 512 MiB, and no allocation of it may fail.
//
// TANDEM_MEMORY_ROWS and TANDEM_MEMORY_MIB choose another shape, TANDEM_MEMORY_SHOW shows figures.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "test/growth/growth.h"
#include "test/memory/memory_child.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kAboveBudgetMax = 48 * kMiB;
constexpr uint64_t kEmptyMax = 24 * kMiB;
constexpr uint64_t kApartMax = 8 * kMiB;

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / kMiB; }

void Show(const MemoryShape& shape, const MemoryReport& report) {
  std::printf("note: budget %.0f MiB, %llu rows; empty %.1f MiB\n", MiB(shape.budget_bytes),
              static_cast<unsigned long long>(shape.rows), MiB(report.empty_bytes));
  for (const MemoryPhase& phase : report.phases) {
    if (phase.name[0] == 0) continue;
    std::printf("note: %-7s peak %6.1f (accounted %6.1f), at the end %6.1f (%6.1f), %5.1f s CPU\n",
                phase.name, MiB(phase.peak_bytes), MiB(phase.peak_accounted), MiB(phase.end_bytes),
                MiB(phase.end_accounted), phase.cpu_seconds);
    if (phase.parts[0] != 0) std::printf("note:         %s\n", phase.parts);
  }
}

MemoryReport ReportOf(const MemoryShape& shape) {
  const TemporaryDirectory directory;
  MemoryReport report;
  BOOST_REQUIRE(RunMemoryChild(directory.Path("db"), shape, &report));
  return report;
}

MemoryReport Run(MemoryShape shape) {
  const char* const rows = std::getenv("TANDEM_MEMORY_ROWS");
  const char* const budget = std::getenv("TANDEM_MEMORY_MIB");
  if (rows != nullptr) shape.rows = std::strtoull(rows, nullptr, 10);
  if (budget != nullptr) shape.budget_bytes = std::strtoull(budget, nullptr, 10) * kMiB;
  const MemoryReport report = ReportOf(shape);
  if (std::getenv("TANDEM_MEMORY_SHOW") != nullptr) Show(shape, report);
  BOOST_TEST(report.empty_bytes <= kEmptyMax);
  for (const MemoryPhase& phase : report.phases) {
    BOOST_TEST(phase.peak_bytes <= shape.budget_bytes + kAboveBudgetMax, phase.name);
  }
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ResidentMemoryTest)

BOOST_AUTO_TEST_CASE(ASmallBudgetIsKeptAndWhatIsResidentIsAccounted) {
  const MemoryReport report = Run({.budget_bytes = 16 * kMiB, .rows = 100'000});
  for (const MemoryPhase& phase : report.phases) {
    if (phase.end_accounted == 0) continue;  // None was open, or it held nothing.
    const uint64_t explained = phase.end_accounted + report.empty_bytes;
    const uint64_t apart =
        std::max(explained, phase.end_bytes) - std::min(explained, phase.end_bytes);
    BOOST_TEST(apart <= std::max(kApartMax, phase.end_accounted / 10), phase.name);
  }
}

// Its heap keeps more of what was freed.
BOOST_AUTO_TEST_CASE(ASmallBudgetIsKeptInAHostThatSetsNothing) {
  Run({.budget_bytes = 16 * kMiB, .rows = 50'000, .fixes_threshold = false});
}

// Address space is more than memory: heaps and stacks of threads reserve it.
BOOST_AUTO_TEST_CASE(NoAllocationFailsWhereTheBudgetAndHalfAGibibyteCanBeMapped) {
  ReportOf({.budget_bytes = 16 * kMiB, .rows = 50'000, .mapped_above_budget_max = 512 * kMiB});
}

BOOST_AUTO_TEST_CASE(WhatIsResidentDoesNotGrowWithTheRows) {
  Check(
      {.cost = "resident bytes at most while n rows are loaded, merged, asked and verified, 16 MiB",
       .n = 12500,
       .bound = AtMost(16 * kMiB + kAboveBudgetMax),
       .measure = [](uint64_t n) {
         uint64_t peak = 0;
         for (const MemoryPhase& phase : ReportOf({.budget_bytes = 16 * kMiB, .rows = n}).phases) {
           peak = std::max(peak, phase.peak_bytes);
         }
         return static_cast<double>(peak);
       }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
