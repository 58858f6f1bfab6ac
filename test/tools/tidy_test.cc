// The script of the rules of style finds units that include each other, in a tree of a few files.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "test/support/temporary_directory.h"
#include "test/tools/shell.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

/// Files of base/, each with the files of base/ that it includes.
using Includes = std::map<std::string, std::vector<std::string>>;

/// What the script says about such a tree, and its exit code as the last line.
std::string Tidied(const Includes& files) {
  const TemporaryDirectory tree;
  fs::create_directory(tree.Path("base"));
  for (const auto& [name, includes] : files) {
    std::ofstream file(tree.Path("base/" + name));
    file << "// A file.\n";
    if (name.ends_with(".h")) file << "#pragma once\n";
    for (const std::string& included : includes) file << "#include \"base/" << included << "\"\n";
  }
  return OutputOf("tidy=$PWD/tools/dev/tidy.py; cd " + tree.path() +
                  " && git init -q . && python3 $tidy 2>&1; echo $?");
}

struct Case {
  std::string what;
  Includes files;
  std::string knot;  ///< Empty: there is none.
};

BOOST_AUTO_TEST_SUITE(tidy)

BOOST_AUTO_TEST_CASE(UnitsThatIncludeEachOtherAreAKnot) {
  const Case cases[] = {
      {"a unit below another", {{"a.h", {}}, {"a.cc", {"a.h"}}, {"b.h", {"a.h"}}}, ""},
      {"headers", {{"a.h", {"b.h"}}, {"b.h", {"a.h"}}}, "base/a -> base/b -> base/a"},
      {"by way of a source",
       {{"a.h", {"b.h"}}, {"b.h", {}}, {"b.cc", {"b.h", "a.h"}}},
       "base/a -> base/b -> base/a"},
      {"by way of a source without a header of its name",
       {{"a.h", {"b.h"}}, {"b.h", {}}, {"b_more.cc", {"b.h", "a.h"}}},
       "base/a -> base/b -> base/a"},
      {"three",
       {{"a.h", {"b.h"}}, {"b.h", {"c.h"}}, {"c.h", {"a.h"}}},
       "base/a -> base/b -> base/c -> base/a"},
      {"the header of an implementation",
       {{"a.h", {}}, {"a_impl.h", {"a.h"}}, {"a.cc", {"a.h", "a_impl.h"}}},
       ""},
  };
  for (const Case& tried : cases) {
    const std::string said = Tidied(tried.files);
    const bool found =
        said.find("units that include each other: " + tried.knot + "\n1\n") != std::string::npos;
    const bool right = tried.knot.empty() ? said == "tidy: no violation\n0\n" : found;
    BOOST_CHECK_MESSAGE(right, tried.what << ": " << said);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
