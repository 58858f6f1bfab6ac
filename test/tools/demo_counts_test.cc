// The demo on this machine's package list: each of its queries against awk over the same input.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

#include "tandem/limits.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/shell.h"
#include "tools/tandem/demo_queries.h"

namespace tandem::test {
namespace {

/// What awk prints when it runs `body` on every paragraph and `end` at the end; `f` holds the
/// fields of a paragraph. A package with a value beyond the engine's limit is left out: the import
/// refuses and counts it.
std::string Awk(const std::string& list, const std::string& body, const std::string& end) {
  return OutputOf(list + " | LC_ALL=C awk -v limit=" + std::to_string(kValueBytesMax) +
                  R"( 'BEGIN { RS = ""; FS = "\n" }
    { delete f; longest = size = 0
      for (i = 1; i <= NF; i++) {
        if ($i ~ /^[^ \t:]+:/) {
          c = index($i, ":"); v = substr($i, c + 1); gsub(/^[ \t]+|[ \t]+$/, "", v)
          f[substr($i, 1, c - 1)] = v; size = length(v)
        } else { size += 1 + length($i) }
        if (size > longest) longest = size
      }
      if (longest > limit) next
    } )" + body + " END { " +
                  end + " }'");
}

std::string AwkCount(const std::string& list, const std::string& body) {
  return Awk(list, body, "print n + 0");
}

/// The same questions as DemoQueries(), in order, in awk.
const char* const kBodies[] = {
    R"(f["Section"] == "games" { n++ })",
    R"({ s = f["Installed-Size"] + 0 } s >= 100000 && s <= 200000 { n++ })",
    R"(f["Section"] == "editors" || f["Section"] == "shells" || f["Section"] == "kernel" { n++ })",
    R"(index(f["Maintainer"], "Debian Games Team") == 1 { n++ })",
    R"(!("Installed-Size" in f) { n++ })",
};

class DemoRun {
 public:
  DemoRun() : path_(directory_.Path("demo")) {
    const bool lists = OutputOf("apt-cache dumpavail 2>/dev/null | head -c 1") != "";
    list_ = "cat " + directory_.Path("list");
    OutputOf((lists ? "apt-cache dumpavail" : "cat /var/lib/dpkg/status") +
             (" >" + directory_.Path("list")));
    if (!lists) std::printf("note: apt knows no packages; the demo runs on those installed\n");
    run_ = RunProgram({"demo", path_});
  }
  std::string Query(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments = {words[0], path_, "packages"};
    arguments.insert(arguments.end(), words.begin() + 1, words.end());
    return RunProgram(arguments).out;
  }
  const ProgramRun& run() const { return run_; }
  const std::string& list() const { return list_; }
  const std::string& path() const { return path_; }

 private:
  TemporaryDirectory directory_;
  std::string path_;
  std::string list_;
  ProgramRun run_;
};

BOOST_AUTO_TEST_SUITE(demo_counts)

BOOST_AUTO_TEST_CASE(EveryQueryCountsWhatAwkCounts) {
  if (OutputOf("test -e /var/lib/dpkg/status && echo yes").empty()) {
    std::printf("skipped: no Debian package list on this machine\n");
    return;
  }
  const DemoRun demo;
  BOOST_REQUIRE_MESSAGE(demo.run().exit_code == 0, demo.run().err);
  BOOST_CHECK_EQUAL(demo.Query({"count", "--output", "raw"}), AwkCount(demo.list(), "{ n++ }"));
  const auto queries = tools::DemoQueries();
  for (size_t i = 0; i < std::size(kBodies); ++i) {
    const std::string expected = AwkCount(demo.list(), kBodies[i]);
    BOOST_TEST_CONTEXT(queries[i].predicate) {
      BOOST_CHECK_EQUAL(demo.Query({"count", queries[i].predicate, "--output", "raw"}), expected);
      BOOST_CHECK_EQUAL(
          demo.Query({"count", queries[i].predicate, "--no-index", "--output", "raw"}), expected);
    }
  }
  // The order: the sizes that sort finds largest.
  const tools::DemoQuery& ordered = queries.back();
  const std::string top =
      demo.Query({"query", "--order-by", std::string(ordered.order_by) + ":desc", "--limit",
                  std::to_string(ordered.limit), "--select", "Installed-Size", "--output", "raw"});
  BOOST_CHECK_EQUAL(std::count(top.begin(), top.end(), '\n'), ordered.limit);
  BOOST_CHECK_EQUAL(
      top, Awk(demo.list(), R"("Installed-Size" in f { print f["Installed-Size"] | "sort -nr" })",
               "close(\"sort -nr\")")
               .substr(0, top.size()));
  BOOST_CHECK_EQUAL(RunProgram({"verify", demo.path(), "--deep"}).exit_code, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
