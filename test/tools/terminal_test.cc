// What a terminal gets: progress that leaves no trace before the next line, and pictures.
#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "test/support/temporary_directory.h"
#include "tools/tandem/run.h"

namespace tandem::test {
namespace {

// Each look at it finds it half a second later: all work takes long.
class LateClock final : public base::Clock {
 public:
  int64_t WallMicros() override { return now_ += 500'000; }
  int64_t MonotonicMicros() override { return now_ += 500'000; }
  void SleepMicros(int64_t micros) override { now_ += micros; }

 private:
  int64_t now_ = 1'700'000'000'000'000;
};

// A terminal and what was written to it. Requires: little is written, for nobody reads meanwhile.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    BOOST_REQUIRE(master_ >= 0 && grantpt(master_) == 0 && unlockpt(master_) == 0);
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    BOOST_REQUIRE(slave >= 0);
    termios settings;
    BOOST_REQUIRE_EQUAL(tcgetattr(slave, &settings), 0);
    cfmakeraw(&settings);
    BOOST_REQUIRE_EQUAL(tcsetattr(slave, TCSANOW, &settings), 0);
    BOOST_REQUIRE_EQUAL(fcntl(master_, F_SETFL, O_NONBLOCK), 0);
    file_ = fdopen(slave, "w");
    in_ = fdopen(dup(slave), "r");
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    std::fclose(in_);
    std::fclose(file_);
    close(master_);
  }
  std::FILE* file() { return file_; }
  /// What is typed at it is read from here.
  std::FILE* in() { return in_; }
  void Type(const std::string& text) {
    BOOST_REQUIRE_EQUAL(write(master_, text.data(), text.size()), ssize_t(text.size()));
  }
  std::string Take() {
    std::fflush(file_);
    std::string text;
    char buffer[4096];
    for (ssize_t count; (count = read(master_, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int master_;
  std::FILE *file_ = nullptr, *in_ = nullptr;
};

// What a person sees in the end: a carriage return goes back to the start of the line.
std::string Seen(const std::string& written) {
  std::string seen, line;
  size_t at = 0;
  for (const char c : written) {
    if (c == '\r') {
      at = 0;
    } else if (c == '\n') {
      seen += line + '\n';
      line.clear();
      at = 0;
    } else {
      if (at == line.size()) line += ' ';
      line[at++] = c;
    }
  }
  return seen + line;
}

struct TerminalFixture {
  int Run(const std::vector<std::string>& arguments, std::FILE* in = nullptr) {
    tools::Context context;
    context.in = in != nullptr ? in : stdin;
    context.out = out.file();
    context.err = err.file();
    context.clock = &clock;
    return tools::Run(arguments, context);
  }
  std::string Database() const { return directory.Path("db"); }
  std::string WriteRows(int count) const {
    const std::string path = directory.Path("rows.csv");
    std::ofstream file(path);
    file << "id,n\n";
    for (int i = 0; i < count; ++i) file << "row" << i << "," << i << "\n";
    return path;
  }

  TemporaryDirectory directory;
  LateClock clock;
  Terminal out, err;
};

BOOST_FIXTURE_TEST_SUITE(terminal, TerminalFixture)

BOOST_AUTO_TEST_CASE(ProgressLeavesNothingBeforeTheSummary) {
  BOOST_REQUIRE_EQUAL(Run({"create", Database(), "t"}), 0);
  BOOST_REQUIRE_EQUAL(
      Run({"import", Database(), "t", WriteRows(100), "--format", "csv", "--batch", "10"}), 0);
  const std::string written = err.Take();
  BOOST_CHECK(written.find(" rows, ") != std::string::npos);
  const std::string seen = Seen(written);
  BOOST_CHECK_MESSAGE(std::regex_match(seen, std::regex(" *tandem: import: rows 100, .*\n")),
                      "seen: " << seen);
  BOOST_CHECK(written.find("\rtandem: import: rows") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(TimeLeftIsKnownOfAFileOnStandardInput) {
  BOOST_REQUIRE_EQUAL(Run({"create", Database(), "t"}), 0);
  // Somebody has read a part of it; the column names come after.
  const std::string path = directory.Path("two");
  const std::string rows = WriteRows(100);
  BOOST_REQUIRE_EQUAL(
      std::system(("head -c 100000 /dev/zero > " + path + "; cat " + rows + " >> " + path).c_str()),
      0);
  std::FILE* const in = std::fopen(path.c_str(), "r");
  BOOST_REQUIRE(in != nullptr);
  BOOST_REQUIRE_EQUAL(lseek(fileno(in), 100'000, SEEK_SET), 100'000);
  BOOST_REQUIRE_EQUAL(Run({"import", Database(), "t", "-", "--format", "csv", "--batch", "10"}, in),
                      0);
  std::fclose(in);
  const std::string written = err.Take();
  // Of a hundred rows the last batches have only seconds left, had the part before counted they
  // would have hundreds.
  std::smatch match;
  const std::regex pattern("90 rows, .*, ([0-9]+) s left");
  BOOST_REQUIRE_MESSAGE(std::regex_search(written, match, pattern), written);
  BOOST_CHECK_LE(std::stoi(match[1]), 5);
}

BOOST_AUTO_TEST_CASE(InfoDrawsRegionsRunsAndShares) {
  BOOST_REQUIRE_EQUAL(
      Run({"create", Database(), "t", "--index", "n=d:n:int64", "--split-keys", "row5"}), 0);
  for (int run = 0; run < 2; ++run) {
    BOOST_REQUIRE_EQUAL(
        Run({"import", Database(), "t", WriteRows(100), "--format", "csv", "--compact"}), 0);
    BOOST_REQUIRE_EQUAL(Run({"put", Database(), "t", "row1", "d:n=7"}), 0);
  }
  BOOST_REQUIRE_EQUAL(Run({"delete", Database(), "t", "row2"}), 0);
  BOOST_REQUIRE_EQUAL(Run({"flush", Database()}), 0);
  BOOST_REQUIRE_EQUAL(Run({"split", Database(), "t", "--at", "row7"}), 0);
  (void)out.Take();
  BOOST_REQUIRE_EQUAL(Run({"info", Database()}), 0);
  const std::string seen = out.Take();
  for (const char* part :
       {"table t: 3 regions, ", "region 1: the first key to row5, ", "of the table",
        "run 1 of 3: 1 file, 45 rows, ", "run 2 of 3: 1 file, 1 row, ", "█",
        "index entries: 46, 2 of them dead", "1 delete marker", "region 3: row5 to row7",
        "1 file shared with other regions", "region 4: row7 to the last", "index n ",
        "memory_budget_bytes"}) {
    BOOST_CHECK_MESSAGE(seen.find(part) != std::string::npos, part << " is not in\n" << seen);
  }
  BOOST_CHECK(std::regex_search(seen, std::regex("memory_budget_bytes +[0-9.]+ MiB")));
  // Elsewhere all as before.
  BOOST_REQUIRE_EQUAL(Run({"info", Database(), "--output", "jsonl"}), 0);
  BOOST_CHECK(out.Take().starts_with("{\"kind\":\"database\""));
}

BOOST_AUTO_TEST_CASE(WhatDestroysRowsAsksBefore) {
  BOOST_REQUIRE_EQUAL(Run({"create", Database(), "t"}), 0);
  BOOST_REQUIRE_EQUAL(Run({"put", Database(), "t", "row", "d:n=1"}), 0);
  BOOST_REQUIRE_EQUAL(Run({"flush", Database()}), 0);
  (void)err.Take();
  const auto count = [this] {
    (void)out.Take();
    BOOST_REQUIRE_EQUAL(Run({"count", Database(), "t", "n >= '0'"}), 0);
    return out.Take();
  };
  for (const char* verb : {"truncate", "drop"}) {
    for (const char* answer : {"no\n", "\n", "y\n", "yess\n"}) {
      err.Type(answer);
      BOOST_CHECK_EQUAL(Run({verb, Database(), "t"}, err.in()), 130);
      const std::string asked = err.Take();
      BOOST_CHECK_MESSAGE(asked.find("table 't' with 1 region, 1 file of ") != std::string::npos,
                          asked);
      BOOST_CHECK(asked.find("'yes' does it: ") != std::string::npos);
      BOOST_CHECK(asked.find("nothing was done") != std::string::npos);
      BOOST_CHECK(count().starts_with("1"));
    }
  }
  err.Type("yes\n");
  BOOST_CHECK_EQUAL(Run({"truncate", Database(), "t"}, err.in()), 0);
  BOOST_CHECK(count().starts_with("0"));
  err.Type("yes\n");
  BOOST_CHECK_EQUAL(Run({"drop", Database(), "t"}, err.in()), 0);
  BOOST_CHECK_EQUAL(Run({"count", Database(), "t", "n = '1'"}), 3);
}

BOOST_AUTO_TEST_CASE(VersionIsAnOptionToo) {
  BOOST_REQUIRE_EQUAL(Run({"version"}), 0);
  const std::string version = out.Take();
  BOOST_REQUIRE_EQUAL(Run({"--version"}), 0);
  BOOST_CHECK_EQUAL(out.Take(), version);
  BOOST_CHECK(version.starts_with("tandem "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
