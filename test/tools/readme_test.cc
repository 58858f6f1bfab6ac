// The README's commands and programs do what it says: they are taken from it, word by word, and run
// in a directory of their own, which has links to the program and the public headers.
#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct Block {
  std::string language;
  std::string text;
};

// The text between fences of three backticks.
std::vector<Block> BlocksOfReadme() {
  std::ifstream file("README.md");
  std::vector<Block> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

void ReplaceAll(std::string* text, std::string_view from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

struct ScriptRun {
  int exit_code = 0;
  std::string output;
};

ScriptRun RunScript(const std::string& script, const TemporaryDirectory& place) {
  const std::string path = place.Path("script.sh");
  std::ofstream(path) << "set -euo pipefail\ncd '" << place.path() << "'\n" << script;
  std::FILE* const pipe = popen(("bash '" + path + "' 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  ScriptRun run;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    run.output.append(buffer, count);
  }
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

// Commands of the program, and what is piped into it.
bool IsForTheShell(const Block& block) {
  return block.language.empty() && block.text.find("build/tandem ") != std::string::npos &&
         block.text.find("make ") == std::string::npos;
}

// Lines that need what a machine may lack are left out, with a word.
std::string WithoutWhatIsMissing(const std::string& text) {
  constexpr std::string_view kLog = "/var/log/dpkg.log";
  if (std::ifstream(std::string(kLog)).good()) return text;
  std::printf("what the README does with %s is not tested: it is not here\n", kLog.data());
  std::string left;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin) + 1;
    const std::string_view line(text.data() + begin, end - begin);
    if (line.find(kLog) == std::string_view::npos) left += line;
    begin = end;
  }
  return left;
}

std::string ForThisPlace(std::string text, const TemporaryDirectory& place) {
  ReplaceAll(&text, "/tmp/", place.Path(""));
  ReplaceAll(&text, "--keys 100000000", "--keys 1000000");  // So many take a minute.
  return text;
}

// The folder in which a reader would run the commands: with a program, and nothing to spoil.
void Furnish(const TemporaryDirectory& place) {
  const char* program = std::getenv("TANDEM");
  const auto built = std::filesystem::absolute(program == nullptr ? "build/tandem" : program);
  std::filesystem::create_symlink(built.parent_path(), place.Path("build"));
  std::filesystem::create_symlink(std::filesystem::absolute("include"), place.Path("include"));
}

// The names in the folder of the tree.
std::set<std::string> NamesHere() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(".")) {
    names.insert(entry.path().filename());
  }
  return names;
}

BOOST_AUTO_TEST_SUITE(readme)

BOOST_AUTO_TEST_CASE(CommandsRunInTheirOrder) {
  const TemporaryDirectory place;
  Furnish(place);
  const std::set<std::string> names = NamesHere();
  int scripts = 0;
  std::string output;
  for (const Block& block : BlocksOfReadme()) {
    if (!IsForTheShell(block)) continue;
    ++scripts;
    const ScriptRun run = RunScript(ForThisPlace(WithoutWhatIsMissing(block.text), place), place);
    BOOST_TEST(run.exit_code == 0, block.text << "\nexits " << run.exit_code << ":\n"
                                              << run.output);
    output += run.output;
  }
  BOOST_TEST(scripts >= 4);
  // A few of the answers.
  for (const std::string_view expected : {"alice", "Bergen", "2025-17", "Oslo"}) {
    BOOST_TEST(output.find(expected) != std::string::npos, expected);
  }
  // One of the commands writes a file beside itself; none writes into the tree.
  BOOST_TEST(std::filesystem::exists(place.Path("lost.jsonl")));
  BOOST_TEST(NamesHere() == names, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(ProgramsCompileAndRun) {
  const TemporaryDirectory place;
  Furnish(place);
  // Not that of a sanitized build: the compiler is called as the README says.
  const std::string library = std::filesystem::absolute("build/libtandem.a");
  int programs = 0;
  for (const Block& block : BlocksOfReadme()) {
    if (block.language != "cpp") continue;
    ++programs;
    const bool is_whole = block.text.find("int main") != std::string::npos;
    std::ofstream(place.Path("program.cc"))
        << (is_whole ? ForThisPlace(block.text, place)
                     : "#include <tandem/tandem.h>\nvoid "
                       "Example(tandem::Result<std::unique_ptr<tandem::Database>> db) {\n" +
                           block.text + "}\n");
    const std::string command = "g++ -std=c++20 -Iinclude '" + place.Path("program.cc") + "' ";
    const ScriptRun run =
        is_whole ? RunScript(command + library +
                                 " -lzstd -lxxhash -luring -lroaring -lutf8proc -lre2 -o '" +
                                 place.Path("program") + "'\n'" + place.Path("program") + "'\n",
                             place)
                 : RunScript(command + "-fsyntax-only\n", place);
    BOOST_TEST(run.exit_code == 0, block.text << run.output);
    if (is_whole) BOOST_TEST(run.output == "alice\n");
  }
  BOOST_TEST(programs == 14);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
