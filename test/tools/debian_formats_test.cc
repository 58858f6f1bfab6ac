// The readers of Debian's Contents files and of dpkg's log: line by line, and against awk.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>

#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/input_from_text.h"
#include "test/tools/program.h"
#include "test/tools/shell.h"

namespace tandem::test {
namespace {

using Lines = std::vector<std::string>;

void Check(const char* format, const std::string& text, const Lines& expected) {
  const Lines found = ReadAll(format, text);
  BOOST_CHECK_EQUAL_COLLECTIONS(found.begin(), found.end(), expected.begin(), expected.end());
}

/// "PATH", a NUL and "PACKAGE" in brackets, as LineOf prints a row key.
std::string Key(const std::string& path, const std::string& package) {
  return "[" + path + std::string(1, '\0') + package + "] ";
}

BOOST_AUTO_TEST_SUITE(debian_formats)

BOOST_AUTO_TEST_CASE(EachPackageOfAPathIsARow) {
  Check("apt-contents", "bin/sh  shells/dash\nusr/x.tar.gz\tadmin/a,contrib/games/b,c\n",
        {"1 " + Key("bin/sh", "dash") + "package=dash|section=shells",
         "2 " + Key("usr/x.tar.gz", "a") + "package=a|section=admin|extension=gz",
         "2 " + Key("usr/x.tar.gz", "b") + "package=b|section=contrib/games|extension=gz",
         "2 " + Key("usr/x.tar.gz", "c") + "package=c|extension=gz"});
}

BOOST_AUTO_TEST_CASE(PathsHoldBlanksAndAreCutAtTheLastRun) {
  Check("apt-contents", "a b/c  d \t x/p\n lead/y z/q  \r\n\n \t\r\n",
        {"1 " + Key("a b/c  d", "p") + "package=p|section=x",
         "2 " + Key(" lead/y", "q") + "package=q|section=z"});
}

BOOST_AUTO_TEST_CASE(ExtensionsComeFromTheLastComponent) {
  Check("apt-contents", "x.d/file p\n.profile p\nend. p\na.b.c p\nd/.e p\n",
        {"1 " + Key("x.d/file", "p") + "package=p",
         "2 " + Key(".profile", "p") + "package=p|extension=profile",
         "3 " + Key("end.", "p") + "package=p|extension=",
         "4 " + Key("a.b.c", "p") + "package=p|extension=c",
         "5 " + Key("d/.e", "p") + "package=p|extension=e"});
}

BOOST_AUTO_TEST_CASE(MalformedContentsNameTheirLine) {
  Check("apt-contents", std::string("alone\na\0b p\nx y/,z\nlast w", 25),
        {"1 ! expected 'PATH SECTION/PACKAGE,...', found 'alone'", "2 ! holds a NUL byte",
         "3 ! a package without a name after path 'x'", "3 " + Key("x", "z") + "package=z",
         "4 " + Key("last", "w") + "package=w"});
}

BOOST_AUTO_TEST_CASE(LogLinesAreStatesOrActions) {
  Check("dpkg-log",
        "1970-01-01 00:00:01 startup archives unpack\n"
        "1970-01-01 00:00:01 install foo:amd64 <none> 1.2-3\n"
        "1970-01-01 00:00:01 status installed foo:amd64 1.2-3\n"
        "1970-01-01 00:00:02 upgrade bar 1 2\r\n"
        "\n"
        "1970-01-01 00:00:02 status not-installed bar <none>\n"
        "1970-01-01 00:00:03 conffile /etc/x keep\n",
        {"2 [foo:amd64]@1000000 action=install|version=1.2-3",
         "3 [foo:amd64]@1000001 state=installed|version=1.2-3",
         "4 [bar]@2000000 action=upgrade|old_version=1|version=2",
         "6 [bar]@2000001 state=not-installed"});
}

BOOST_AUTO_TEST_CASE(ASecondThatComesAgainGoesOnCounting) {
  const std::string first = "2026-10-25 02:59:59 trigproc a 1 <none>\n";
  const std::string second = "2026-10-25 03:00:00 trigproc a 1 <none>\n";
  const Lines found = ReadAll("dpkg-log", first + first + second + first);
  BOOST_REQUIRE_EQUAL(found.size(), 4);
  BOOST_CHECK(found[0].starts_with("1 [a]@1792897199000000 "));
  BOOST_CHECK(found[1].starts_with("2 [a]@1792897199000001 "));
  BOOST_CHECK(found[2].starts_with("3 [a]@1792897200000000 "));
  BOOST_CHECK(found[3].starts_with("4 [a]@1792897199000002 "));
}

BOOST_AUTO_TEST_CASE(MalformedLogLinesSayWhatIsExpected) {
  const std::string time = "2026-11-20 10:11:12";
  Check("dpkg-log",
        "x\n2026-13-20 10:11:12 startup a b\n2026-11-20T10:11:12 startup a b\n" + time + "\n" +
            time + " frob a\n" + time + " status installed a\n" + time + " remove a 1 2 3\n" +
            time + " install  1 2\n" + std::string("a\0\n", 3),
        {"1 ! expected 'DATE TIME VERB ...', found 'x'",
         "2 ! expected a time such as 2026-11-20 10:11:12, found '2026-13-20 10:11:12'",
         "3 ! expected a time such as 2026-11-20 10:11:12, found '2026-11-20T10:11:12'",
         "4 ! expected 'DATE TIME VERB ...', found '2026-11-20 10:11:12'",
         "5 ! 'frob' is no verb of dpkg's log",
         "6 ! expected 'status STATE PACKAGE VERSION', found 3 words",
         "7 ! expected 'remove PACKAGE OLD NEW', found 5 words",
         "8 ! expected 'install PACKAGE OLD NEW', found 4 words", "9 ! holds a NUL byte"});
}

BOOST_AUTO_TEST_CASE(EndlessLinesAreRefusedWithoutBeingKept) {
  const std::string large(tools::kRecordBytesMax + 300'000, 'x');
  for (const char* format : {"apt-contents", "dpkg-log"}) {
    Check(format, large + "\n\n" + large,
          {"1 ! " + tools::TooLongProblem(), "3 ! " + tools::TooLongProblem()});
  }
}

/// A database whose table holds what was imported.
class Imported {
 public:
  Imported(const char* format, const std::string& file) : path_(directory_.Path("db")) {
    Run({"create", path_, "t", "--family", "d,versions=100000"});
    summary_ = Run({"import", path_, "t", file, "--format", format, "--output", "csv"});
  }
  std::string Run(const std::vector<std::string>& words) const {
    const ProgramRun run = RunProgram(words);
    BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
    return run.out;
  }
  const std::string& path() const { return path_; }
  /// rows,records,cells,bytes,duplicates,skipped,rejected and their numbers.
  const std::string& summary() const { return summary_; }

 private:
  TemporaryDirectory directory_;
  std::string path_;
  std::string summary_;
};

/// Each cell of the log as awk finds it: package, column, value, sorted. A line that comes twice
/// counts twice.
constexpr const char* kCellsOfLog = R"awk( | LC_ALL=C awk '
  function cell(package, column, value) {
    if (value != "<none>") print package "\t" column "\t" value
  }
  $3 == "startup" || $3 == "conffile" { next }
  $3 == "status" { cell($5, "state", $4); cell($5, "version", $6); next }
  { cell($4, "action", $3); cell($4, "old_version", $5); cell($4, "version", $6) }
' | LC_ALL=C sort)awk";

void CheckLog(const std::string& log) {
  const Imported table("dpkg-log", log);
  TemporaryDirectory directory;
  std::ofstream(directory.Path("cells"))
      << table.Run({"export", table.path(), "t", "--format", "tsv"});
  const std::string cells =
      OutputOf("tail -n +2 " + directory.Path("cells") + " | cut -f 1,3,5 | LC_ALL=C sort");
  const std::string expected = OutputOf("cat " + log + kCellsOfLog);
  BOOST_CHECK_EQUAL(std::count(cells.begin(), cells.end(), '\n'),
                    std::count(expected.begin(), expected.end(), '\n'));
  BOOST_CHECK(cells == expected);
  // Newest first: by second, lines of one second in the order of the log, all backwards.
  const std::string package = OutputOf("cut -f 1 " + directory.Path("cells") +
                                       " | uniq -c | sort -n | tail -1 | awk '{ printf $2 }'");
  BOOST_CHECK_EQUAL(table.Run({"get", table.path(), "t", package, "--versions", "100000",
                               "--columns", "d:state", "--output", "raw"}),
                    OutputOf("awk '$3 == \"status\" && $5 == \"" + package +
                             "\" { print $1 \" \" $2 \"\\t\" NR \"\\t\" $4 }' " + log +
                             " | LC_ALL=C sort -t '\t' -k 1,1r -k 2,2nr | cut -f 3"));
}

BOOST_AUTO_TEST_CASE(EveryLineOfThisMachinesLogIsAVersion) {
  if (OutputOf("head -c 1 /var/log/dpkg.log 2>/dev/null").empty()) {
    std::printf("skipped: no /var/log/dpkg.log on this machine\n");
    return;
  }
  CheckLog("/var/log/dpkg.log");
}

BOOST_AUTO_TEST_CASE(EveryLineOfARandomLogIsAVersion) {
  TestRandom random("debian_formats");
  const char* const kStates[] = {"installed", "unpacked", "half-configured"};
  std::string log;
  for (int i = 0; i < 3000; ++i) {
    char time[32];
    std::snprintf(time, sizeof(time), "2026-11-20 10:%02d:%02d ", i / 1000,
                  static_cast<int>(random.Below(5)));
    const std::string package = "p" + std::to_string(random.Below(20)) + ":amd64";
    const std::string version = random.OneIn(5) ? "<none>" : std::to_string(random.Below(9));
    log += time;
    if (random.OneIn(10)) {
      log += "startup packages configure\n";
    } else if (random.OneIn(3)) {
      log += "upgrade " + package + " " + version + " 1:2~rc1-" + std::to_string(i) + "\n";
    } else {
      log +=
          std::string("status ") + kStates[random.Below(3)] + " " + package + " " + version + "\n";
    }
  }
  TemporaryDirectory directory;
  std::ofstream(directory.Path("log")) << log;
  CheckLog(directory.Path("log"));
}

BOOST_AUTO_TEST_CASE(RandomContentsHoldWhatAwkFinds) {
  TestRandom random("debian_formats");
  std::string list;
  for (int i = 0; i < 2000; ++i) {
    const std::string path = "usr/" + random.Text(12, "ab ./") + "x" + std::to_string(i) +
                             (random.OneIn(3) ? ".so" : "");
    list += path + (random.OneIn(2) ? "   " : " \t") + "libs/p" + std::to_string(random.Below(9));
    if (random.OneIn(4)) list += ",contrib/net/q" + std::to_string(random.Below(9));
    if (random.OneIn(9)) list += ",r";
    list += "\n";
  }
  TemporaryDirectory directory;
  std::ofstream(directory.Path("contents")) << list;
  const Imported table("apt-contents", directory.Path("contents"));
  std::ofstream(directory.Path("rows")) << table.Run(
      {"scan", table.path(), "t", "--columns", "section,package,extension", "--output", "tsv"});
  const std::string found = OutputOf("tail -n +2 " + directory.Path("rows") + " | LC_ALL=C sort");
  const std::string expected = OutputOf(R"awk(LC_ALL=C awk '{
    packages = $NF; path = $0; sub(/[ \t]+[^ \t]+$/, "", path)
    n = split(packages, items, ",")
    for (i = 1; i <= n; i++) {
      parts = split(items[i], part, "/"); package = part[parts]
      section = parts == 1 ? "\\N" : substr(items[i], 1, length(items[i]) - length(package) - 1)
      parts = split(path, part, "/"); file = part[parts]
      extension = file ~ /\./ ? file : "\\N"; sub(/.*\./, "", extension)
      print path "\\x00" package "\t" section "\t" package "\t" extension
    } }' )awk" + directory.Path("contents") +
                                        " | LC_ALL=C sort");
  BOOST_CHECK(found == expected);
  BOOST_CHECK(!found.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
