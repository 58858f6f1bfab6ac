// See growth.h.
#define BOOST_TEST_DYN_LINK
#include "test/growth/growth.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace tandem::test {
namespace {

constexpr uint64_t kTimes = 16;

std::string Number(double value) {
  std::ostringstream text;
  text.precision(value == std::floor(value) ? 12 : 3);
  text << value;
  return text.str();
}

/// The line of a cost in the table, or nothing.
std::string LineOf(std::string_view cost) {
  std::ifstream page("docs/performance.md");
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## Growth";
    if (inside && line.starts_with("| " + std::string(cost) + " |")) return line;
  }
  return "";
}

void CheckTable(const Growth& growth) {
  const std::string line = LineOf(growth.cost);
  BOOST_CHECK_MESSAGE(!line.empty(),
                      "docs/performance.md, \"Growth\", has no line of '" << growth.cost << "'");
  if (line.empty()) return;
  BOOST_CHECK_MESSAGE(line.find("| " + growth.bound.text) != std::string::npos,
                      "the table has another bound than '" << growth.bound.text << "': " << line);
  const bool says_missed = line.find("missed") != std::string::npos;
  BOOST_CHECK_MESSAGE(says_missed == (growth.kept == Kept::kKnownMiss),
                      "the table and the test disagree on whether the bound is missed: " << line);
}

}  // namespace

Bound AtMost(double limit) {
  return {"at most " + Number(limit), [limit](double) { return limit; }};
}

Bound AtMostLinear(double first, double each) {
  const std::string text = first == 0 ? "" : Number(first) + " + ";
  return {"at most " + text + (each == 1 ? "" : Number(each) + " ") + "n",
          [first, each](double n) { return first + each * n; }};
}

Bound AtMostLogarithmic(double first, double each) {
  const std::string text = first == 0 ? "" : Number(first) + " + ";
  return {"at most " + text + (each == 1 ? "" : Number(each) + " ") + "log2 n",
          [first, each](double n) { return first + each * std::log2(n); }};
}

void Check(const Growth& growth) {
  bool is_kept = true;
  std::string counted;
  for (const uint64_t n : {growth.n, kTimes * growth.n}) {
    const double cost = growth.measure(n);
    is_kept = is_kept && cost <= growth.bound.at(static_cast<double>(n));
    counted += " " + Number(cost) + " at " + std::to_string(n) + ",";
  }
  const std::string line = std::string(growth.cost) + ":" + counted + " " + growth.bound.text;
  std::printf("counters: %s%s\n", line.c_str(), growth.kept == Kept::kYes ? "" : ", a known miss");
  if (growth.kept == Kept::kYes) {
    BOOST_CHECK_MESSAGE(is_kept, line);
  } else {
    BOOST_CHECK_MESSAGE(!is_kept,
                        line << ": mended; the test and docs/performance.md call it missed");
  }
  CheckTable(growth);
}

}  // namespace tandem::test
